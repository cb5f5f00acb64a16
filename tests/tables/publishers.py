"""Small files as publishers lay them out, and a web server on loopback that serves them."""

import gzip
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from nbbias import news
from nbbias.tables import datasets

#: Of a file whose name is here the server promises more bytes than it sends.
CUT = "cut"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server for one folder."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def send_header(self, keyword: str, value: str) -> None:
            if keyword == "Content-Length" and CUT in self.path:
                value = str(2 * int(value))
            super().send_header(keyword, value)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def catalogue(url: str) -> pd.DataFrame:
    """The shipped catalogue, with all files at the server."""
    files = datasets._files()
    return files.assign(url=url + "/" + files["name"] + "/" + files["file"])


def publish(folder: Path) -> None:
    """Write what publishers have, in their layouts."""
    for row in datasets._files().fillna("").to_dict("records"):
        if row["name"] in _MADE:
            content = _MADE[row["name"]](row["set"], row["file"])
            path = folder / row["name"] / row["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def csv(**columns: object) -> str:
    return pd.DataFrame(columns, index=range(24)).to_csv()


def crows_pairs(*_: str) -> str:
    more, less = ([f"A {who} naps on day {n}." for n in range(24)] for who in ("woman", "man"))
    kinds = {"stereo_antistereo": "stereo", "bias_type": "gender", "annotations": "[]"}
    return csv(sent_more=more, sent_less=less, **kinds)


def redditbias(values: str, _: str) -> str:
    who = {"gender": "women", "race": "black people", "religion1": "jews", "religion2": "muslims"}
    group = who.get(values.partition("=")[2], "gay people")
    rng, biased = np.random.default_rng(len(group)), [n % 2 for n in range(24)]
    said = ["cannot be trusted" if n else "met us there" for n in biased]
    words = ["".join(rng.choice(list("aeioubdfgklm   "), 60)) for _ in said]
    comment = [f"{word} {group} {said[n]} {word[::-1]}" for n, word in enumerate(words)]
    labels = ["1,0", *map(str, biased[1:])]  # the first is ambiguous
    return csv(id="c", comment=comment, phrase=said, bias_sent=labels, bias_phrase=biased)


def bold(values: str, file: str) -> str:
    rest = "" if values.endswith("prompt") else "lives by a river. Number {0}."
    names = [f"{file.partition('_')[0]}_{n}" for n in range(4)]
    text = {name: [("{0} is a person who " + rest).format(name)] for name in names}
    return json.dumps({"Some_people": text})


def llmfake(_: str, file: str) -> str:
    originals, texts = news.sample.corpus({"m": {"female": -0.2}}, seed=len(file))
    both = texts.merge(originals.drop_duplicates("article_id"), on="article_id").head(24)
    generated = both["text_x"].where(both.index > 0, both["text_y"])  # one that was not generated
    told = {"news_text": both["text_y"], "synthetic_misinformation": generated}
    return csv(news_id=both["article_id"], label=1, **told)


def marked_personas(*_: str) -> str:
    who = [(race, gender) for race in ("a White", "an Asian", "a Black") for gender in "MW"] * 4
    text = [f"A person {n} of the town with a house." for n in range(24)]
    race, gender = zip(*who, strict=True)
    return csv(text=text, race=race, gender=gender, model="m", prompt="Describe.", prompt_num=0)


def beavertails(*_: str) -> bytes:
    kinds = ("discrimination,stereotype,injustice", "violence,aiding_and_abetting,incitement")
    kept = [dict(zip(kinds, (n < 4, n > 3), strict=True)) for n in range(6)]
    lines = [{"prompt": f"q{n // 2}", "response": "r", "category": kept[n]} for n in range(6)]
    return gzip.compress("\n".join(map(json.dumps, lines)).encode())


def sbic(*_: str) -> bytes:
    told = {"targetCategory": "gender", "targetStereotype": "women nag", "WorkerId": 1}
    content, buffer = csv(post="p", targetMinority="women", **told).encode(), io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("SBIC.v2/SBIC.v2.trn.csv")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def fang2024_release(*_: str) -> bytes:
    buffer = io.BytesIO()
    nested = {"nyt": {"1": "One\ud800", "2": None}, "reuters": ["Two."]}
    files = {"news_data/gpt2": {"1": "She said so."}, "news_data/nyt_title": {"1": "Rain"}}
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (files | {"bias_data/news_data/biasgpt2": nested}).items():
            archive.writestr(f"llmbias-1/{name}.json", json.dumps(content))
    return buffer.getvalue()


_XSTEST = "id type prompt completion annotation_1 annotation_2 agreement final_label"
_MADE: dict[str, Callable[[str, str], str | bytes]] = {
    **{"crows_pairs": crows_pairs, "redditbias": redditbias, "bold": bold, "llmfake": llmfake},
    **{"marked_personas": marked_personas, "beavertails": beavertails, "sbic": sbic},
    "fang2024_release": fang2024_release,
    "fang2024": lambda values, _: json.dumps({"1": "Rain", "2": f"Snow {values}"}),
    "xstest": lambda *_: csv(**dict.fromkeys(_XSTEST.split(" "), "x")),
}
