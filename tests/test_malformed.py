"""Malformed files of each kind are read as what they are, or refused in words, in milliseconds.

Every reader of a user's file goes through one door, `tables.read_table`: one stands here for all.
"""

import json
import time
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from nbbias.news import corpus as news
from nbbias.tables import NbbiasError

TEXTS = [f"She told him of the sea, and of {i} ships." for i in range(4)]

#: A table of generations that is read.
RIGHT: dict[str, Any] = {"article_id": list("abcd"), "model": "m", "prompt": "p", "sample": 1}
RIGHT |= {"text": TEXTS}

#: Cells in the place of one, or of a whole column.
CELLS: list[Any] = [
    *(["x", "y"], {"a": {"b": [1]}}, True, None, -3, 7.0, 10**30, float("inf"), float("nan")),
    *("", "  ", "a\ud800b", "a\x00b", "a\x1b[31mb", "=1+1", "word " * 20_000, "a\r\nb", "NaN"),
]
#: Columns that only Parquet can hold.
ARRAYS: list[Callable[[int], pa.Array]] = [
    lambda n: pa.array([b"\xff\x00"] * n),
    lambda n: pa.array([date(2024, 1, 1)] * n),
    lambda n: pa.array([Decimal("1.5")] * n),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    lambda n: pa.array([{"a": 1}] * n),
    lambda n: pa.array(["x"] * n).dictionary_encode(),
    lambda n: pa.nulls(n),
]
DOCUMENTS = [
    *("5", "null", "[]", "{}", "[1, 2]", "[[1], [2]]", '[{"text": "x"}, 1]', '[{"text": "x"'),
    *("[" * 100_000 + "]" * 100_000, '[{"text": "x", "text": "y"}]', "[" + "9" * 5_000 + "]"),
]


def damage(table: pd.DataFrame) -> Iterator[tuple[str, bytes | pa.Table]]:
    """Yield endings and contents of files that hold a table in a wrong way."""
    whole = pa.Table.from_pandas(table, preserve_index=False)
    for place, column in enumerate(table):
        for cell in CELLS:
            records = json.loads(table.to_json(orient="records"))
            records[1][column] = cell
            yield "json", json.dumps(records).encode()
            lines = [json.dumps(record | {column: cell}) for record in records]
            yield "jsonl", "\n".join(lines).encode()
        for array in ARRAYS:
            yield "parquet", whole.set_column(place, str(column), array(len(table)))
        yield "parquet", whole.append_column(str(column), whole.column(place))
        yield "csv", table.drop(columns=column).to_csv(index=False).encode()
        for word in ("nan", "1e400", "9" * 40, "-1", "1.5", "tru"):
            yield "csv", table.assign(**{str(column): word}).to_csv(index=False).encode()
    for document in DOCUMENTS:
        yield "json", document.encode()
        yield "jsonl", document.encode()
    text = table.to_csv(index=False)
    head = text.splitlines()[0]
    for content in ("", "\n\n", head, f"{text}a\n", f"{text}{',' * 20}\n", f'{text}"a'):
        yield "csv", content.encode()
    yield "csv", table.to_csv(index=False, sep=";").encode()
    yield "csv", text.encode("utf-16")
    yield "csv", bytes(range(256)) * 4
    sink = pa.BufferOutputStream()
    pq.write_table(whole, sink)
    content = sink.getvalue().to_pybytes()
    yield "parquet", content[: len(content) // 2]
    yield "parquet", content[:50] + content[50:80][::-1] + content[80:]
    yield "parquet", b"PAR1 not parquet PAR1"
    yield "parquet", whole.slice(0, 0)


def test_a_malformed_file_is_read_or_refused_in_words(tmp_path: Path) -> None:
    table = pd.DataFrame(RIGHT)
    table.to_parquet(tmp_path / "right.parquet")
    news.read_generations(str(tmp_path / "right.parquet"))  # undamaged, it is read
    n_read, refusals = 0, dict[str, str]()
    for number, (ending, content) in enumerate(damage(table)):
        path = tmp_path / f"{number}.{ending}"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
        start = time.process_time()
        try:
            news.read_generations(str(path))
            n_read += 1
        except NbbiasError as error:
            refusals[path.name] = str(error)
        assert time.process_time() - start < 5, (ending, content[:100])
    assert n_read > 10 and len(refusals) > 40
    assert [name for name, message in refusals.items() if name not in message] == []
    assert max(map(len, refusals.values())) < 10_000
