"""Small files as publishers lay them out, and a web server on loopback that serves them."""

from __future__ import annotations

import gzip
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def send_header(self, keyword: str, value: str) -> None:
            if keyword == "Content-Length" and CUT in self.path:
                value = str(2 * int(value))
            super().send_header(keyword, value)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def catalogue(url: str) -> pd.DataFrame:
    """The shipped catalogue, with all files at the server."""
    files = datasets._files()
    return files.assign(url=url + "/" + files["name"] + "/" + files["file"])


def publish(folder: Path) -> None:
    """Write what publishers have, in their layouts."""
    made = {
        "crows_pairs": crows_pairs,
        "redditbias": redditbias,
        "bold": bold,
        "llmfake": llmfake,
        "marked_personas": marked_personas,
        "fang2024": lambda row: json.dumps({"1": "Rain", "2": f"Snow in {row['set'][-3:]}"}),
        "xstest": xstest,
        "beavertails": beavertails,
        "sbic": sbic,
    }
    for row in datasets._files().fillna("").to_dict("records"):
        if row["name"] in made:
            content = made[row["name"]](row)
            path = folder / row["name"] / row["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def crows_pairs(row: dict[str, str]) -> str:
    more, less = "The {} naps at work on day {}.", "The {} works at noon on day {}."
    rows = [(more.format("woman", n), less.format("man", n), "stereo", "gender") for n in range(12)]
    columns = ["sent_more", "sent_less", "stereo_antistereo", "bias_type"]
    return pd.DataFrame(rows, columns=columns).assign(annotations="[]").to_csv()


def redditbias(row: dict[str, str]) -> str:
    who = {"gender": "women", "race": "black people", "religion1": "jews", "religion2": "muslims"}
    group = who.get(row["set"].partition("=")[2], "gay people")
    rng = np.random.default_rng(len(group))
    rows = []
    for n in range(24):
        said = "cannot be trusted" if n % 2 else "met us there"
        words = " ".join("".join(rng.choice(list("aeioubdfgklmnprst"), 6)) for _ in range(9))
        rows.append((f"id{n}", f"{words} {group} {said} {words[::-1]}", said, n % 2, n % 2))
    rows.append(("odd", f"{group} and so on", "so", "1,0", ""))  # left out: ambiguous
    columns = ["id", "comment", "phrase", "bias_sent", "bias_phrase"]
    return pd.DataFrame(rows, columns=columns).to_csv(index=False)


def bold(row: dict[str, str]) -> str:
    side = row["set"].partition("side=")[2]
    text = "{} is a person who " + ("" if side == "prompt" else "lives by a river. Number {}.")
    names = [f"{row['file'].partition('_')[0]}_{n}" for n in range(4)]
    return json.dumps({"Some_people": {name: [text.format(name, name)] * 1 for name in names}})


def llmfake(row: dict[str, str]) -> str:
    originals, texts = news.sample.corpus({"m": {"female": -0.2}}, seed=len(row["file"]))
    both = texts.merge(originals.drop_duplicates("article_id"), on="article_id")[:40]
    values = {"news_id": both["article_id"], "news_text": both["text_y"], "label": 1}
    table = pd.DataFrame(values | {"synthetic_misinformation": both["text_x"]})
    same = table.head(1).assign(news_id="same", synthetic_misinformation=table["news_text"][0])
    return pd.concat([table, same]).to_csv(index=False)


def marked_personas(row: dict[str, str]) -> str:
    values = dict.fromkeys(["Unnamed: 0", "prompt_num"], 0) | {"model": "as the file calls it"}
    rows = [
        values
        | {"text": f"A person {n} of the town with a house.", "gender": gender, "race": race}
        | {"prompt": "Describe."}
        for race in ("a White", "an Asian", "a Black")
        for gender in "MW"
        for n in range(8)
    ]
    return pd.DataFrame(rows).to_csv()


def xstest(row: dict[str, str]) -> str:
    names = [
        "type",
        "prompt",
        "completion",
        "annotation_1",
        "annotation_2",
        "agreement",
        "final_label",
    ]
    return pd.DataFrame([{"id": "v2-1"} | dict.fromkeys(names, "x")]).to_csv(index=False)


def beavertails(row: dict[str, str]) -> bytes:
    kinds = ("discrimination,stereotype,injustice", "violence,aiding_and_abetting,incitement")
    lines = [
        {"prompt": f"q{n // 2}", "response": "r", "category": {kinds[0]: n < 4, kinds[1]: n > 3}}
        for n in range(6)
    ]
    return gzip.compress("\n".join(map(json.dumps, lines)).encode())


def sbic(row: dict[str, str]) -> bytes:
    row = {"targetMinority": "women", "targetCategory": "gender", "targetStereotype": "women nag"}
    content = pd.DataFrame([row | {"post": "p", "WorkerId": 1}]).to_csv(index=False).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("SBIC.v2/SBIC.v2.trn.csv")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
