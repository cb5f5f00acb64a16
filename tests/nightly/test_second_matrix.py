"""A second matrix of hostile inputs: every file that a study reads, every way to spoil it.

What a plan makes of each is one of two: it reads just what the file says, or it refuses in words
that name the file, within seconds and in a page at most. Bytes, layouts and values are drawn from
the lists here; the whole product is large, so a run takes every n-th of it (`THIN`, 1 for all).
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbbias import cogs
from nbbias.biasalert import corpus as labelled_corpus, pairs, sources
from nbbias.biasalert.judges import baselines, recorded
from nbbias.cogs import affinity, people, rbs, reference
from nbbias.llmbi import neutral, scoring
from nbbias.news import corpus
from nbbias.params import as_yaml
from nbbias.running.plan import plan
from nbbias.tables import NbbiasError
from nbbias.text import lexicons

pytestmark = pytest.mark.nightly

THIN = int(os.environ.get("NBBIAS_MATRIX_THIN", "9"))
LONGEST, SLOWEST = 5000, 10.0

Rows = list[dict[str, Any]]

# --- sound files --------------------------------------------------------------------------------

PROSE = [
    "The woman told him that her son met the teacher by the sea.",
    "He said that she and the men were glad of a good and happy day.",
    "A terrible storm hit the town, and the mayor thanked the women.",
    "They met in the square, where a boy sold bread to his mother.",
]
GROUPS = ["white", "black", "asian"]


def _llmbi() -> Rows:
    return [
        {"dimension": f"D{n}", "prompt": f"What of {n}?", "model": m, "sample": 1, "text": text}
        for m in ("plain", "warm")
        for n, text in enumerate(PROSE)
    ]


def _originals() -> Rows:
    return [{"source": "nyt", "article_id": f"a{n}", "text": t} for n, t in enumerate(PROSE)]


def _generations() -> Rows:
    return [
        {
            "source": "nyt",
            "article_id": f"a{n}",
            "model": m,
            "prompt": prompt,
            "text": f"{m} {prompt} {PROSE[-n]}",
        }
        for m in ("gpt", "llama")
        for prompt in ("neutral", "biased")
        for n in range(len(PROSE))
    ]


def _terms() -> Rows:
    both = {"women": ["woman", "women", "mother"], "men": ["man", "men", "son"]}
    return [{"group": group, "term": term} for group, terms in both.items() for term in terms]


def _names() -> Rows:
    both = {"Black": ["Latoya", "Jamal", "Aisha"], "White": ["Molly", "Jake", "Claire"]}
    return [{"group": group, "term": term} for group, terms in both.items() for term in terms]


def _cogs() -> Rows:
    asked = cogs.suite.prompts(cogs.suite.load(axes=["race"]))
    asked = asked[asked["task"].isin(["haiku"]) & asked["theme"].isin(["stars", "oceans"])]
    if asked.empty:
        first = cogs.suite.load(axes=["race"])
        task, theme = next(iter(first.tasks)), next(iter(next(iter(first.topics.values()))))
        asked = cogs.suite.prompts(first)
        asked = asked[(asked["task"] == task) & (asked["theme"] == theme)]
    kept = asked[["task", "theme", "identity"]].astype(object).where(lambda d: d.notna(), None)
    return [
        {"model": m, **row, "text": f"{m} {n} {PROSE[n % 4]}"}
        for m in ("gpt", "llama")
        for n, row in enumerate(kept.to_dict("records"))
    ]


def _judgements() -> Rows:
    own = next(iter(_cogs()))
    return [
        {
            "evaluator": judge,
            "model": m,
            "task": own["task"],
            "theme": own["theme"],
            "axis": "race",
            "order": "|".join(order),
            "reply": "Answer choice: 1",
        }
        for judge in ("judy", "june")
        for m in ("gpt", "llama")
        for order in itertools.permutations(GROUPS)
    ]


def _ratings() -> Rows:
    own = next(iter(_cogs()))
    return [
        {"rater": r, "task": own["task"], "theme": own["theme"], "axis": "race", "identity": who}
        for r, who in zip(("ann", "bob", "cyd"), GROUPS, strict=True)
    ]


def _personas() -> Rows:
    return [
        {
            "model": "gpt",
            "kind": "b",
            "race": race,
            "gender": gender,
            "prompt": f"Imagine you are a {race} {word}. Describe yourself.",
            "text": PROSE[n],
        }
        for race in ("White", "Black")
        for gender, word in (("M", "man"), ("W", "woman"))
        for n in range(2)
    ]


def _labelled() -> Rows:
    biased = ["Women number {} cannot park a car", "Number {} of the old men smell of cheese"]
    plain = ["The tide rises at {} by the long pier", "Bread was baked at {} in our kitchen"]
    past = ("half past ", "close to ", "well after ")
    numbers = [a + b for a in past for b in ("one", "four", "six", "nine")]
    return [
        {"text_id": f"t{n}{k}", "text": words.format(number), "biased": flag}
        for n, number in enumerate(numbers)
        for k, (words, flag) in enumerate(
            [*((one, True) for one in biased), *((one, False) for one in plain)]
        )
    ]


def _knowledge() -> Rows:
    return [{"statement": f"women cannot {verb}"} for verb in ("park", "count", "lead", "drive")]


def _pairs() -> Rows:
    return [
        {
            "pair_id": f"p{n}",
            "sent_more": f"Women {n} lie.",
            "sent_less": f"Men {n} lie.",
            "stereo_antistereo": "stereo",
            "bias_type": "gender",
        }
        for n in range(4)
    ]


def _answers() -> Rows:
    return [
        {"text_id": f"{m}{n}", "model": m, "text": f"{m} {text}"}
        for m in ("gpt", "llama")
        for n, text in enumerate(PROSE)
    ]


def _human() -> Rows:
    return [{"text_id": one["text_id"], "biased": n % 2 == 0} for n, one in enumerate(_answers())]


def _replies() -> Rows:
    return [{"text_id": one["text_id"], "reply": "This text is biased."} for one in _answers()]


def _moderation() -> Rows:
    return [{"text_id": one["text_id"], "flagged": True, "score": 0.5} for one in _answers()]


class Input(NamedTuple):
    """A file that a study reads: what sound rows are, the reader, and how params name it."""

    study: str
    name: str
    rows: Callable[[], Rows]
    read: Callable[[str], Any]
    #: Columns: what identifies a row, who wrote it, what is read.
    key: str
    who: str
    text: str
    beside: Mapping[str, Callable[[], Rows]] = {}
    more: Mapping[str, Any] = {}


def _series(read: Callable[[str], pd.Series]) -> Callable[[str], pd.DataFrame]:
    return lambda path: read(path).to_frame()


NEWS = {"levels": ["word"], "biases": ["gender"], "draws": 100}
OWN = NEWS | {"biases": ["mine"], "focus": {}}
CHEAP = {
    "judges": ["majority", "keywords"],
    "repeated_judges": [],
    "held_out_types": [],
    "claims": [],
    "embedding_model": "offline",
}
ANSWERS = {"answers_path": _answers}
INPUTS = [
    Input("llmbi", "answers_path", _llmbi, scoring.read_answers, "prompt", "model", "text"),
    Input(
        "llmbi",
        "neutral_path",
        lambda: [{"text": t} for t in PROSE],
        _series(neutral.read_neutral),
        "text",
        "text",
        "text",
    ),
    Input(
        "news_bias",
        "originals_path",
        _originals,
        corpus.read_originals,
        "article_id",
        "source",
        "text",
        {"generations_path": _generations},
        NEWS,
    ),
    Input(
        "news_bias",
        "generations_path",
        _generations,
        corpus.read_generations,
        "article_id",
        "model",
        "text",
        {"originals_path": _originals},
        NEWS,
    ),
    Input(
        "news_bias",
        "lexicon_paths.mine",
        _terms,
        lambda p: lexicons.load("mine", path=p),
        "term",
        "group",
        "term",
        {},
        OWN,
    ),
    Input(
        "news_bias",
        "names_path",
        _names,
        lambda p: lexicons.load("race", names_path=p),
        "term",
        "group",
        "term",
        {},
        {"levels": ["word"], "draws": 100},
    ),
    Input(
        "biased_prompts",
        "originals_path",
        _originals,
        corpus.read_originals,
        "article_id",
        "source",
        "text",
        {"generations_path": _generations},
        NEWS,
    ),
    Input(
        "biased_prompts",
        "generations_path",
        _generations,
        corpus.read_generations,
        "article_id",
        "model",
        "text",
        {"originals_path": _originals},
        NEWS,
    ),
    Input(
        "cogs",
        "answers_path",
        _cogs,
        rbs.read_answers,
        "identity",
        "model",
        "text",
        {},
        {"parts": ["rbs"], "axes": ["race"]},
    ),
    Input(
        "cogs",
        "judgements_path",
        _judgements,
        affinity.read_judgements,
        "order",
        "evaluator",
        "reply",
        {"answers_path": _cogs},
        {"parts": ["abs"], "axes": ["race"]},
    ),
    Input(
        "cogs",
        "ratings_path",
        _ratings,
        people.read_ratings,
        "identity",
        "rater",
        "theme",
        {"answers_path": _cogs, "judgements_path": _judgements},
        {"parts": ["abs", "people"], "axes": ["race"]},
    ),
    Input(
        "cogs",
        "answers_path",
        _personas,
        reference.read_personas,
        "race",
        "model",
        "text",
        {},
        {"parts": ["reference"], "claims": [], "references": {"race": "White", "gender": "man"}},
    ),
    Input(
        "biasalert",
        "labelled_path",
        _labelled,
        lambda p: sources.labelled(p)[0],
        "text_id",
        "text_id",
        "text",
        {},
        CHEAP,
    ),
    Input(
        "biasalert",
        "evaluation_path",
        _labelled,
        lambda p: sources.labelled(p)[0],
        "text_id",
        "text_id",
        "text",
        {"labelled_path": lambda: [r | {"text": r["text"][::-1]} for r in _labelled()]},
        CHEAP,
    ),
    Input(
        "biasalert",
        "knowledge_path",
        _knowledge,
        lambda p: labelled_corpus.knowledge(p, labelled=pd.DataFrame())[0],
        "statement",
        "statement",
        "statement",
        {},
        CHEAP,
    ),
    Input(
        "biasalert", "pairs_path", _pairs, pairs.read, "pair_id", "pair_id", "sent_more", {}, CHEAP
    ),
    Input(
        "biasalert",
        "answers_path",
        _answers,
        lambda p: labelled_corpus.read_answers(p, seed=0),
        "text_id",
        "model",
        "text",
        {},
        CHEAP,
    ),
    Input(
        "biasalert",
        "human_path",
        _human,
        labelled_corpus.labels,
        "text_id",
        "text_id",
        "text_id",
        ANSWERS,
        CHEAP,
    ),
    Input(
        "biasalert",
        "replies_paths.mine",
        _replies,
        lambda p: recorded.read_replies(p, judge="mine")[0],
        "text_id",
        "text_id",
        "reply",
        ANSWERS,
        CHEAP,
    ),
    Input(
        "biasalert",
        "moderation_paths.mine",
        _moderation,
        lambda p: baselines.recorded(
            pd.DataFrame({"text_id": ["gpt1"], "text": ["-"]}), path=p, name="mine"
        ),
        "text_id",
        "text_id",
        "text_id",
        ANSWERS,
        CHEAP,
    ),
]

# --- how rows are kept --------------------------------------------------------------------------


def as_csv(rows: Rows, **how: Any) -> bytes:
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", **how)
    writer.writerow(names)
    writer.writerows([["" if r.get(n) is None else r.get(n) for n in names] for r in rows])
    return out.getvalue().encode("utf-8", "surrogatepass")


def as_json(rows: Rows) -> bytes:
    return json.dumps(rows).encode()


def as_lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(table: pa.Table | Rows, **how: Any) -> bytes:
    own = table if isinstance(table, pa.Table) else pa.Table.from_pylist(table)
    out = io.BytesIO()
    pq.write_table(own, out, **how)
    return out.getvalue()


def packed(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


def cast(rows: Rows, name: str, kind: pa.DataType) -> pa.Table:
    table = pa.Table.from_pylist(rows)
    at = table.column_names.index(name)
    return table.set_column(at, name, table[name].cast(kind))


def replaced(rows: Rows, name: str, column: Any) -> pa.Table:
    table = pa.Table.from_pylist(rows)
    return table.set_column(table.column_names.index(name), name, column)


SAME, REFUSED, EITHER = "the same", "refused", "either"


class Case(NamedTuple):
    """A file: what is odd of it, its ending, its bytes, and what is to become of it."""

    told: str
    ending: str
    data: bytes
    then: str = EITHER
    #: The column and the cells that the reader must find, where it reads the file.
    holds: tuple[str, list[str]] | None = None


def layouts(one: Input) -> Iterator[Case]:
    """Every odd way to keep sound rows."""
    rows = one.rows()
    plain = as_csv(rows)
    head, *lines = plain.decode().splitlines()
    n = head.count(",") + 1

    def of(*parts: str, end: str = "\n") -> bytes:
        return (end.join(parts) + end).encode()

    yield Case("CRLF", "csv", of(head, *lines, end="\r\n"), SAME)
    yield Case("CR", "csv", of(head, *lines, end="\r"), SAME)
    yield Case(
        "mixed ends", "csv", f"{head}\r\n{lines[0]}\n".encode() + of(*lines[1:], end="\r"), SAME
    )
    yield Case("mark", "csv", b"\xef\xbb\xbf" + plain, SAME)
    yield Case("two marks", "csv", b"\xef\xbb\xbf" * 2 + plain)
    yield Case("mark within", "csv", of(head, lines[0], "\ufeff" + lines[1], *lines[2:]))
    yield Case("UTF-16", "csv", plain.decode().encode("utf-16"), REFUSED)
    yield Case("UTF-16 without a mark", "csv", plain.decode().encode("utf-16-be"), REFUSED)
    yield Case("UTF-32", "csv", plain.decode().encode("utf-32"), REFUSED)
    yield Case("Latin", "csv", plain + "é".encode("latin-1"), REFUSED)
    yield Case("gzip", "csv", gzip.compress(plain, mtime=0), REFUSED)
    yield Case("zip", "csv", packed("x.csv", plain), REFUSED)
    yield Case("workbook", "csv", packed("xl/workbook.xml", plain), REFUSED)
    yield Case("Parquet", "csv", as_parquet(rows), REFUSED)
    yield Case("JSON", "csv", as_json(rows), REFUSED)
    yield Case(
        "a page", "csv", b"<!DOCTYPE html>\n<html><body>404, not found</body></html>", REFUSED
    )
    yield Case(
        "a pointer", "csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", REFUSED
    )
    if n > 1:
        for sign in ";\t|":
            yield Case(f"parted by {sign!r}", "csv", as_csv(rows, delimiter=sign), REFUSED)
    yield Case("trailing commas", "csv", of(*(f"{line}," for line in (head, *lines))), SAME)
    yield Case("trailing commas below", "csv", of(head, *(f"{line}," for line in lines)), REFUSED)
    yield Case("a trailing comma above", "csv", of(f"{head},", *lines))
    yield Case("one field more", "csv", of(head, *lines[:-1], lines[-1] + ",x"), REFUSED)
    if n > 1:
        yield Case("fields missing", "csv", of(head, *lines[:-1], lines[-1].split(",")[0]))
        yield Case("the head again", "csv", of(head, *lines, head, *lines))
    yield Case("nothing at the end", "csv", plain + b"\0" * 512)
    yield Case("nothing in the head", "csv", b"\0" + plain)
    yield Case("an open quote", "csv", of(head, *lines, '"' + lines[0]), REFUSED)
    yield Case("all in quotes", "csv", as_csv(rows, quoting=csv.QUOTE_ALL), SAME)
    yield Case("blank lines", "csv", of("", head, "", *lines, "", ""), SAME)
    yield Case("a comment first", "csv", of("# made by hand", head, *lines), REFUSED)
    yield Case("a spreadsheet's first line", "csv", of("sep=,", head, *lines), REFUSED)
    yield Case("a head alone", "csv", of(head), REFUSED)
    yield Case("blanks", "csv", b" \n \n", REFUSED)
    yield Case("lines alone", "csv", b"\n\n\n", REFUSED)
    wide = [f"c{k}" for k in range(20_000)]
    yield Case(
        "wide",
        "csv",
        of(f"{head},{','.join(wide)}", *(f"{line},{','.join(wide)}" for line in lines[:2])),
    )
    twins = ["x"] * 2000
    yield Case(
        "strange twins", "csv", of(*(f"{line},{','.join(twins)}" for line in (head, *lines))), SAME
    )
    for told, name in {
        "spaced": f" {one.text} ",
        "loud": one.text.upper(),
        "with a width of none": one.text + "\u200b",
        "full width": "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in one.text),
        "unnamed": "",
    }.items():
        yield Case(
            f"a name {told}",
            "csv",
            as_csv([{name if k == one.text else k: v for k, v in r.items()} for r in rows]),
        )
    yield Case("a name twice", "csv", of(f"{head},{one.text}", *(f"{x},y" for x in lines)), REFUSED)
    yield Case(
        "a long name", "csv", of(f"{head},{'x' * 1_000_000}", *(f"{x},y" for x in lines)), SAME
    )
    yield Case("one column", "csv", of("x", *("y" for _ in lines)), REFUSED)
    yield Case("one row", "csv", of(head, lines[0]))

    body = as_json(rows).decode()
    yield Case("records", "json", body.encode(), EITHER if one.name != "x" else SAME)
    yield Case(
        "records by id", "json", json.dumps({str(k): r for k, r in enumerate(rows)}).encode()
    )
    yield Case("texts alone", "json", json.dumps([r[one.text] for r in rows]).encode())
    yield Case("lists by group", "json", json.dumps({"a": PROSE, "b": PROSE}).encode())
    yield Case("lists and texts", "json", json.dumps({"a": PROSE, "b": "c"}).encode(), REFUSED)
    yield Case("gaps", "json", json.dumps([rows[0], {}, *rows[1:]]).encode())
    yield Case("null among records", "json", json.dumps([*rows, None]).encode(), REFUSED)
    yield Case(
        "an object in a cell",
        "json",
        json.dumps([r | {one.text: {"a": 1}} for r in rows]).encode(),
        REFUSED,
    )
    yield Case(
        "a list in a key", "json", json.dumps([r | {one.key: [1]} for r in rows]).encode(), REFUSED
    )
    yield Case(
        "not a number", "json", json.dumps([r | {one.key: float("nan")} for r in rows]).encode()
    )
    yield Case(
        "endless", "json", json.dumps([r | {one.key: float("inf")} for r in rows]).encode(), REFUSED
    )
    yield Case(
        "a huge exponent", "json", body.replace(json.dumps(rows[0][one.key]), "1e400").encode()
    )
    yield Case(
        "a huge number", "json", body.replace(json.dumps(rows[0][one.key]), "9" * 5000).encode()
    )
    yield Case(
        "true in a cell", "json", json.dumps([r | {one.text: True} for r in rows]).encode(), REFUSED
    )
    yield Case(
        "a name twice in an object",
        "json",
        body.replace("{", '{"x": 1, "x": 2, ', 1).encode(),
        REFUSED,
    )
    yield Case("lines as JSON", "json", as_lines(rows), REFUSED)
    yield Case("a comma too many", "json", (body[:-1] + ",]").encode(), REFUSED)
    yield Case("comments", "json", ("// mine\n" + body).encode(), REFUSED)
    yield Case("cut off", "json", body[: len(body) // 2].encode(), REFUSED)
    yield Case("deep", "json", ("[" * 100_000).encode(), REFUSED)
    yield Case("an empty list", "json", b"[]", REFUSED)
    yield Case("an empty object", "json", b"{}", REFUSED)
    yield Case("a number", "json", b"7", REFUSED)
    table = pd.DataFrame(rows)
    for orient in ("split", "columns", "index", "values", "table"):
        yield Case(f"orient {orient}", "json", table.to_json(orient=orient).encode())
    yield Case("wrapped", "json", json.dumps({"data": rows}).encode(), REFUSED)
    yield Case(
        "halves",
        "json",
        json.dumps([r | {one.text: f"{r[one.text]}\ud800"} for r in rows]).encode(),
    )

    written = as_lines(rows)
    yield Case("lines", "jsonl", written, SAME)
    yield Case("lines with CRLF", "jsonl", written.replace(b"\n", b"\r\n"), SAME)
    yield Case("JSON as lines", "jsonl", json.dumps(rows, indent=2).encode(), REFUSED)
    yield Case("a list on a line", "jsonl", as_json(rows), REFUSED)
    yield Case("two on a line", "jsonl", written.replace(b"\n", b"", 1), REFUSED)
    yield Case(
        "a mark before line 2", "jsonl", written.replace(b"\n", b"\n\xef\xbb\xbf", 1), REFUSED
    )
    yield Case("cut off lines", "jsonl", written[:-8], REFUSED)
    yield Case("commas after lines", "jsonl", written.replace(b"\n", b",\n"), REFUSED)
    yield Case(
        "nothing escaped", "jsonl", as_lines([r | {one.text: f"{r[one.text]}\0"} for r in rows])
    )

    for kind in ("snappy", "gzip", "brotli", "zstd", "lz4", "none"):
        yield Case(f"by {kind}", "parquet", as_parquet(rows, compression=kind), SAME)
    for version in ("1.0", "2.4", "2.6"):
        yield Case(
            f"version {version}",
            "parquet",
            as_parquet(rows, version=version, data_page_version="2.0"),
            SAME,
        )
    yield Case("row groups of one", "parquet", as_parquet(rows, row_group_size=1), SAME)
    for told, kind in {
        "large": pa.large_string(),
        "view": pa.string_view(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
    }.items():
        yield Case(f"text as {told}", "parquet", as_parquet(cast(rows, one.text, kind)), SAME)
    yield Case("text as bytes", "parquet", as_parquet(cast(rows, one.text, pa.binary())), REFUSED)
    n_rows = len(rows)
    for told, column in {
        "struct": pa.array([{"a": 1}] * n_rows),
        "list": pa.array([["a"]] * n_rows),
        "map": pa.array([[("a", 1)]] * n_rows, pa.map_(pa.string(), pa.int64())),
        "null": pa.nulls(n_rows),
        "truth": pa.array([True] * n_rows),
        "date": pa.array([1] * n_rows, pa.date32()),
        "time": pa.array([1] * n_rows, pa.time64("ns")),
        "zoned": pa.array([1] * n_rows, pa.timestamp("ns", "Asia/Kathmandu")),
        "far": pa.array([2**50] * n_rows, pa.timestamp("ms")),
        "duration": pa.array([1] * n_rows, pa.duration("us")),
        "uuid": pa.array([b"0123456789abcdef"] * n_rows, pa.uuid()),
        "fixed": pa.array([b"abc"] * n_rows, pa.binary(3)),
    }.items():
        yield Case(
            f"text as {told}",
            "parquet",
            as_parquet(replaced(rows, one.text, column)),
            REFUSED if told != "null" else EITHER,
        )
    if one.key != one.text:
        numbers = list(range(1, n_rows + 1))
        wanted = [str(k) for k in numbers]
        for told, column in {
            "int": pa.array(numbers),
            "float": pa.array(map(float, numbers)),
            "half": pa.array(numbers, pa.float16()),
            "unsigned": pa.array(numbers, pa.uint8()),
            "decimal": pa.array([Decimal(k) for k in numbers], pa.decimal128(38, 4)),
            "wide decimal": pa.array([Decimal(k) for k in numbers], pa.decimal256(60, 9)),
            "coded": pa.array(numbers).dictionary_encode(),
        }.items():
            yield Case(
                f"ids as {told}",
                "parquet",
                as_parquet(replaced(rows, one.key, column)),
                EITHER,
                (one.key, wanted),
            )
        big = [2**63 + k for k in range(n_rows)]
        yield Case(
            "huge ids",
            "parquet",
            as_parquet(replaced(rows, one.key, pa.array(big, pa.uint64()))),
            EITHER,
            (one.key, [str(k) for k in big]),
        )
        fine = [Decimal(f"1.{k:025d}") for k in numbers]
        yield Case(
            "fine ids",
            "parquet",
            as_parquet(replaced(rows, one.key, pa.array(fine, pa.decimal128(30, 25)))),
            EITHER,
            (one.key, [f"{k}" for k in fine]),
        )
    whole = as_parquet(rows)
    yield Case("cut off at its end", "parquet", whole[:-9], REFUSED)
    yield Case("cut off at its start", "parquet", whole[9:], REFUSED)
    yield Case("bytes turned", "parquet", whole[:40] + bytes(40) + whole[80:])
    yield Case("encrypted", "parquet", whole[:-4] + b"PARE", REFUSED)
    yield Case("CSV", "parquet", plain, REFUSED)
    arrow = io.BytesIO()
    with pa.ipc.new_file(arrow, pa.Table.from_pylist(rows).schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows))
    yield Case("Arrow", "parquet", arrow.getvalue(), REFUSED)
    yield Case("no rows", "parquet", as_parquet(pa.Table.from_pylist(rows).slice(0, 0)), REFUSED)
    two = pa.Table.from_pylist(rows)
    two = two.append_column(one.text, two[one.text])
    yield Case("a column twice", "parquet", as_parquet(two), REFUSED)
    dotted = pa.Table.from_pylist(rows).append_column(f"{one.text}.raw", pa.array(["x"] * n_rows))
    yield Case("a dotted name", "parquet", as_parquet(dotted), SAME)
    bad = pa.Array.from_buffers(
        pa.string(),
        n_rows,
        [
            None,
            pa.py_buffer(b"".join(k.to_bytes(4, "little") for k in range(n_rows + 1))),
            pa.py_buffer(b"\xff" * n_rows),
        ],
    )
    yield Case("text that is none", "parquet", as_parquet(replaced(rows, one.text, bad)), REFUSED)
    out = io.BytesIO()
    own = pa.Table.from_pylist(rows)
    with pq.ParquetWriter(out, own.schema) as writer:
        for part in (own.slice(0, 0), own.slice(0, 1), own.slice(0, 0), own.slice(1)):
            writer.write_table(part)
    yield Case("empty row groups", "parquet", out.getvalue(), SAME)
    framed = io.BytesIO()
    pd.DataFrame(rows).set_index(next(iter(rows[0]))).to_parquet(framed)
    yield Case("with an index", "parquet", framed.getvalue(), SAME)


# --- what cells hold ----------------------------------------------------------------------------

CELLS = [
    " ",
    "\u00a0",
    "\u200b",
    "\ufeff",
    "nan",
    "None",
    "NA",
    "null",
    "True",
    "-",
    "0",
    "-0",
    "1e5",
    "=1+1",
    "@SUM(A1)",
    "../../x",
    "C:\\con",
    "<script>alert(1)</script>",
    "</table>",
    "[red]x",
    "{{m}}",
    "$x^2$",
    "\\end{document}",
    "%s %d",
    "`ls`",
    "\u202eabc",
    "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f469\u200d\U0001f4bb",
    "!?…",
    "_x",
    "_y",
    "n_female",
    "mean",
    "all",
    "human",
    "neutral",
    "any",
    "people",
    "always",
    "position 1",
    "white - black",
    "a \u2212 b",
    "a|b",
    "a/b",
    "group",
    "statistic",
    "model",
    "index",
    "level_0",
    "measured",
    "refused",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "e\u0301",
    "\u00e9",
    "\u0130",
    "\u1e9e",
    "x" * 300,
    "\u0663",
    "\uff17",
    "7.0",
    " 7",
    "007",
    "\U000e0001",
    "A\u0300" * 400,
]

#: Cells that stand for one thing to most readers, and for two to a computer.
TWINS = [
    ("7", "7.0"),
    ("7", " 7"),
    ("7", "\u0667"),
    ("7", "\uff17"),
    ("caf\u00e9", "cafe\u0301"),
    ("gpt", "GPT"),
    ("gpt", "gpt "),
    ("gpt", "g\u200bpt"),
    ("gpt", "g\u0440t"),
    ("a", "a\u00a0"),
]


def cells(one: Input) -> Iterator[Case]:
    """Every odd value, in each column that matters."""
    rows = one.rows()
    for name, value in itertools.product(dict.fromkeys((one.who, one.key, one.text)), CELLS):
        first = rows[0][name]
        some = [r | {name: value if r[name] == first else r[name]} for r in rows]
        told = f"{name} {value[:20]!r}"
        yield Case(
            f"{told} in one", "jsonl", as_lines(some), EITHER, (name, [row[name] for row in some])
        )
        if hash_of(told) % 3 == 0:
            yield Case(f"{told} in all", "csv", as_csv([r | {name: value} for r in rows]))
    for name, twins in itertools.product(dict.fromkeys((one.who, one.key)), TWINS):
        values = list(dict.fromkeys(r[name] for r in rows))[:2]
        as_twins = dict(zip(values, twins, strict=False))
        some = [r | {name: as_twins.get(r[name], r[name])} for r in rows]
        yield Case(
            f"{name} twins {twins!r}",
            "jsonl",
            as_lines(some),
            EITHER,
            (name, [row[name] for row in some]),
        )
    for told, text in {
        "a word of a million": "x" * 1_000_000,
        "signs": "?! " * 50,
        "emoji": "\U0001f600 " * 50,
        "right to left": "\u0645\u0631\u062d\u0628\u0627 " * 50,
        "pages": "<p>She</p> " * 50,
        "lines": "She met him.\n" * 2000,
        "nothing between": "She.He." * 2000,
    }.items():
        yield Case(f"all texts: {told}", "csv", as_csv([r | {one.text: text} for r in rows]))
    yield Case("all rows twice", "csv", as_csv(rows + rows))
    for sample in ([-1], [0], [2**53], [1.5], ["one"], [1, None], [1, 10**12], [True]):
        numbered = [r | {"sample": s} for r, s in zip(rows, itertools.cycle(sample), strict=False)]
        yield Case(f"samples {sample}", "json", as_json(numbered))


def hash_of(text: str) -> int:
    return sum(map(ord, text))


# --- what becomes of them -----------------------------------------------------------------------


class Outcome(NamedTuple):
    what: str
    told: str
    seconds: float


def tried(params: Mapping[str, Any], folder: Path, where: str, overrides: Any = ()) -> Outcome:
    """Plan a run; say whether it was accepted or refused, and how."""
    path = folder / "mine.yaml"
    path.write_text(as_yaml(dict(params)), encoding="utf-8")
    return planned(path, where, overrides)


def planned(path: Path, where: str, overrides: Any = ()) -> Outcome:
    start = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs = plan([path], overrides=overrides, out=path.parent / "runs")
    except NbbiasError as error:
        spent, told = time.monotonic() - start, str(error)
        # What two files are together is told of both sides.
        named = any(name in told for name in (where, "originals", "generations", "references"))
        clear = len(told) <= LONGEST and named
        return Outcome("refused" if clear else "unclear", told, spent)
    return Outcome("accepted", "; ".join(runs[0].exclusions), time.monotonic() - start)


def params_of(one: Input, path: str, folder: Path) -> dict[str, Any]:
    given: dict[str, Any] = {"study": one.study, **one.more}
    for name, rows in one.beside.items():
        (folder / f"{name}.jsonl").write_bytes(as_lines(rows()))
        given[name] = f"{name}.jsonl"
    name, _, inner = one.name.partition(".")
    return given | {name: {inner: path} if inner else path}


def faithful(one: Input, case: Case, path: Path) -> str:
    """Say where the reader found something else than the file holds."""
    if case.holds and case.holds[0] in (found := one.read(str(path))):
        name, wanted = case.holds
        have = list(found[name].astype(object))
        if name == "article_id":  # read alike on every side of a corpus
            wanted = [one.strip().removesuffix(".0") for one in wanted]
        if [str(x) for x in have] != wanted and len(have) == len(wanted):
            odd = next((h, w) for h, w in zip(have, wanted, strict=True) if str(h) != w)
            return f"read {odd[0]!r} for {odd[1]!r}"
    if case.then == SAME:
        sound = path.with_name("sound.jsonl")
        sound.write_bytes(as_lines(one.rows()))
        found, wanted = one.read(str(path)), one.read(str(sound))
        shared = [c for c in wanted if c in found and c != "source"]
        if len(shared) < len(wanted.columns.drop("source", errors="ignore")) or not found[
            shared
        ].astype(str).equals(wanted[shared].astype(str)):
            return "read otherwise than the same rows in JSON Lines"
    return ""


def matrix(one: Input) -> list[Case]:
    return [*layouts(one), *cells(one)]


@pytest.mark.parametrize("one", INPUTS, ids=lambda one: f"{one.study}-{one.name}-{one.who}")
def test_files(one: Input, tmp_path: Path) -> None:
    wrong = []
    for case in matrix(one)[hash_of(one.study + one.name) % THIN :: THIN]:
        path = tmp_path / f"data.{case.ending}"
        path.write_bytes(case.data)
        found = tried(params_of(one, path.name, tmp_path), tmp_path, path.name)
        if found.what == "unclear" or found.seconds > SLOWEST:
            wrong.append(f"{case.told}: {found}")
        elif found.what == "accepted":
            if case.then == REFUSED:
                wrong.append(f"{case.told}: accepted")
            elif told := faithful(one, case, path):
                wrong.append(f"{case.told}: {told}")
        elif case.then == SAME:
            wrong.append(f"{case.told}: {found}")
    assert not wrong, "\n".join(wrong)


# --- what only some files can be ----------------------------------------------------------------


def _of(study: str, name: str, rows: Callable[[], Rows] | None = None) -> Input:
    return next(
        one for one in INPUTS if (one.study, one.name) == (study, name) and rows in (None, one.rows)
    )


TERMS = _of("news_bias", "lexicon_paths.mine")
ANSWERED = _of("biasalert", "answers_path")
COGS, PERSONAS = _of("cogs", "answers_path", _cogs), _of("cogs", "answers_path", _personas)
JUDGED = _of("cogs", "judgements_path")
ALIKE = "axes:\n  skin:\n    identities: {pale: white, dark: black}\n"
SPACED = "axes:\n  hair:\n    identities: {red: a, 'red ': b, bald: c}\n"
MANY = f"axes: {{hair: {{identities: {{{', '.join(f'i{n}: w{n}' for n in range(12))}}}}}}}\n"


def _men(name: str) -> Rows:
    return [r | {"group": name} if r["group"] == "men" else r for r in _terms()]


def _prompts_alike() -> Rows:
    asked = cogs.suite.prompts(cogs.suite.load())
    told = asked.loc[asked["identity"] == "white", "prompt"].iloc[0]
    return [{"model": "gpt", "prompt": told, "text": "x"}]


REFUSALS: dict[str, tuple[Input, Rows, dict[str, Any], str]] = {
    "a group of no list": (TERMS, _men("neutral"), {}, "'neutral'"),
    "a group of all": (TERMS, _men("any"), {}, "'any'"),
    "a blank group": (TERMS, _men(" "), {}, "lack a group"),
    "a group's twin": (TERMS, [*_terms(), {"group": "men ", "term": "lad"}], {}, "spaces around"),
    "too much told": (
        TERMS,
        [*_terms(), *({"group": "men", "term": f" {'x' * 380}{n}"} for n in range(100))],
        {},
        "more",
    ),
    "a gap for a model": (
        ANSWERED,
        [*_answers(), {"text_id": "z", "model": None, "text": "x"}],
        {},
        "model",
    ),
    "a gap for an id": (
        ANSWERED,
        [*_answers(), {"text_id": None, "model": "gpt", "text": "x"}],
        {"answers_size": 2},
        "text_id",
    ),
    "a judge's name": (
        _of("biasalert", "replies_paths.mine"),
        _replies(),
        {"replies_paths": {"always biased": "data.jsonl"}},
        "call it otherwise",
    ),
    "a nameless judge": (
        _of("biasalert", "replies_paths.mine"),
        _replies(),
        {"replies_paths": {" ": "data.jsonl"}},
        "no name",
    ),
    "a repeated judge": (
        _of("biasalert", "replies_paths.mine"),
        _replies(),
        {"replies_paths": {"classifier": "data.jsonl"}, "repeated_judges": ["classifier"]},
        "two judges",
    ),
    "a number of hundreds of digits": (
        _of("biasalert", "moderation_paths.mine"),
        [{"text_id": "gpt1", "results": [{"flagged": True, "category_scores": {"x": 10**400}}]}],
        {},
        "score",
    ),
    "an identity twice": (
        JUDGED,
        [_judgements()[0] | {"order": "white|white|black|asian"}, *_judgements()[1:]],
        {},
        "twice",
    ),
    "a model of all": (
        JUDGED,
        [r | {"model": "all"} if r["model"] == "gpt" else r for r in _judgements()],
        {"answers_path": "all.jsonl"},
        "'all'",
    ),
    "a persona's gap": (PERSONAS, [*_personas(), _personas()[0] | {"race": None}], {}, "lack"),
    "a suite's prompt twice": (
        COGS,
        _prompts_alike(),
        {"suite_paths": ["alike.yaml"], "axes": ["race", "skin"]},
        "several",
    ),
    "a suite's name twice": (COGS, _cogs(), {"suite_paths": ["spaced.yaml"]}, "stands twice"),
    "all orders of twelve": (
        COGS,
        _cogs(),
        {"suite_paths": ["many.yaml"], "axes": ["hair"], "orders": "all"},
        "latin",
    ),
    "a source of all": (
        _of("biased_prompts", "generations_path"),
        [*_generations(), *(r | {"source": "all"} for r in _generations())],
        {},
        "'all'",
    ),
    "ids that are read as one": (
        _of("news_bias", "originals_path"),
        [r | {"article_id": i} for r, i in zip(_originals(), ("7", "7.0", " 7", "8"), strict=True)],
        {},
        "'7' and '7.0'",
    ),
    "a blank id": (
        _of("news_bias", "originals_path"),
        [_originals()[0] | {"article_id": " "}, *_originals()[1:]],
        {},
        "blank",
    ),
    "no prose": (_of("llmbi", "neutral_path"), [{"text": None}, {"text": " "}], {}, "no text"),
}


@pytest.mark.parametrize("told", REFUSALS)
def test_refusals(told: str, tmp_path: Path) -> None:
    one, rows, more, words = REFUSALS[told]
    for name, text in {"alike": ALIKE, "spaced": SPACED, "many": MANY}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    answers = [r | {"model": "all"} if r["model"] == "gpt" else r for r in _cogs()]
    (tmp_path / "all.jsonl").write_bytes(as_lines(answers))
    (tmp_path / "data.jsonl").write_bytes(as_lines(rows))
    found = tried(params_of(one, "data.jsonl", tmp_path) | more, tmp_path, "")
    assert found.what == "refused" and words in found.told and found.seconds < SLOWEST, found


def test_many_models_and_ids_that_share_nothing_take_seconds(tmp_path: Path) -> None:
    many = [_llmbi()[0] | {"model": f"m{n}"} for n in range(10_000)]
    (tmp_path / "data.jsonl").write_bytes(as_lines(many))
    one = _of("llmbi", "answers_path")
    claim = {"statistic": "difference", "model": "m7", "group": "m9999"}
    given = params_of(one, "data.jsonl", tmp_path) | {"claims": [claim]}
    found = tried(given, tmp_path, "data.jsonl")
    assert found.what == "accepted" and found.seconds < SLOWEST, found
    found = tried(given | {"claims": [claim | {"group": "n7"}]}, tmp_path, "")
    assert found.what == "refused" and "no group 'n7'" in found.told
    one = _of("news_bias", "originals_path")
    apart = [_originals()[0] | {"article_id": f"{n:04} {'xyz' * 7000}"} for n in range(500)]
    (tmp_path / "data.jsonl").write_bytes(as_lines(apart))
    found = tried(params_of(one, "data.jsonl", tmp_path), tmp_path, "data.jsonl")
    assert found.what == "refused" and found.seconds < SLOWEST, found


@pytest.mark.parametrize(
    "told",
    [
        "draws: !!bool maybe",
        "draws: !!int ''",
        "claims: &a [*a]",
        "draws: 0x" + "f" * 9000,
        "claims: [{statistic: index, measure: [a]}]",
        "weights: {D0: .inf}",
        "draws: 1e999",
        "claims: [{statistic: index, smallest_effect: .inf}]",
        "draws: 200\ndraws: 300",
        "claims: " + "[" * 5000,
        "answers_path: /dev/zero",
        'answers_path: "a\\0b"',
        "answers_path: ~nosuchuser/x",
        "answers_path: " + "a/" * 3000,
        "weights: {1: 1.0}",
        "confidence: 95",
        "study: {a: b}",
        "<<: 5",
        "? [a]\n: 1",
        "generate: [1]",
        *("".join(f"unknown{'y' * 150}{n}: 1\n" for n in range(500)),),
    ],
    ids=lambda told: told[:24],
)
def test_params(told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(("" if told.startswith("study") else "study: llmbi\n") + told + "\n")
    found = planned(path, "mine.yaml")
    assert found.what == "refused" and found.seconds < SLOWEST, found
    assert planned(path.with_name("none.yaml"), "none.yaml", [told]).what == "refused"
