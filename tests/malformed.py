"""Files that are not what they should be: every malformation that a table can be saved with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

#: Cells that JSON can hold.
_CELLS: dict[str, Any] = {
    "a list": ["x", "y"],
    "an empty list": [],
    "a list of numbers": [1, 2],
    "an object": {"a": 1},
    "an object in an object": {"a": {"b": [1]}},
    "true": True,
    "false": False,
    "null": None,
    "zero": 0,
    "below zero": -3,
    "a fraction": 0.5,
    "a whole fraction": 7.0,
    "a huge number": 10**30,
    "a huge fraction": 1e308,
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "no number": float("nan"),
    "empty": "",
    "blank": "  ",
    "half a character": "a\ud800b",
    "two halves": "\ud83d\ude00",
    "the other half first": "\udc00\ud800",
    "nul": "a\x00b",
    "control": "a\x1b[31mb\x07",
    "a date as text": "2024-01-01",
    "a formula": "=1+1",
    "a very long text": "word " * 20_000,
    "a line's end": "a\r\nb\u2028c",
    "direction": "\u202eabc",
    "a word that is a gap": "NaN",
    "None": "None",
}

#: Columns that Parquet can hold beside these.
_COLUMNS: dict[str, Callable[[int], pa.Array]] = {
    "bytes": lambda n: pa.array([b"\xff\x00"] * n),
    "bytes of a fixed length": lambda n: pa.array([b"abcd"] * n, pa.binary(4)),
    "text that is no UTF-8": lambda n: pa.Array.from_buffers(
        pa.string(),
        n,
        [
            None,
            pa.py_buffer(np.arange(0, n + 1, dtype="int32").tobytes()),
            pa.py_buffer(b"\xff" * n),
        ],
    ),
    "dates": lambda n: pa.array([date(2024, 1, 1)] * n),
    "times": lambda n: pa.array([datetime(2024, 1, 1)] * n),
    "times far away": lambda n: pa.array([10**15] * n, pa.timestamp("s")),
    "durations": lambda n: pa.array([timedelta(1)] * n),
    "decimals": lambda n: pa.array([Decimal("1.5")] * n),
    "huge decimals": lambda n: pa.array([Decimal(10) ** 37] * n),
    "unsigned": lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    "categories": lambda n: pa.array(["x"] * n).dictionary_encode(),
    "categories of numbers": lambda n: pa.array([1] * n).dictionary_encode(),
    "lists": lambda n: pa.array([["x"]] * n),
    "structs": lambda n: pa.array([{"a": 1}] * n),
    "maps": lambda n: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    "nothing": lambda n: pa.nulls(n),
    "halves": lambda n: pa.array([1.5] * n, pa.float16()),
    "large text": lambda n: pa.array(["x"] * n, pa.large_string()),
    "truth": lambda n: pa.array([True] * n),
    "infinities": lambda n: pa.array([np.inf] * n),
}

#: What a JSON file may hold in place of a table.
_JSON: dict[str, str] = {
    "a number": "5",
    "a text": '"x"',
    "null": "null",
    "true": "true",
    "an empty list": "[]",
    "an empty object": "{}",
    "numbers": "[1, 2, 3]",
    "nulls": "[null, null]",
    "lists": "[[1], [2]]",
    "empty objects": "[{}, {}]",
    "mixed": '[{"text": "x"}, 1, null, "y"]',
    "texts and numbers": '["x", 2]',
    "an object of numbers": '{"a": 1}',
    "an object of nulls": '{"a": null}',
    "an object of mixed": '{"a": "x", "b": [1], "c": {}}',
    "an object of lists of objects": '{"a": [{"b": 1}], "c": []}',
    "an object of lists of nulls": '{"1": [null, 2], "2": []}',
    "objects in objects": '{"a": {"b": {"c": {"text": "x"}}}}',
    "nested deeply": "[" * 100_000 + "]" * 100_000,
    "nested less deeply": '{"a":' * 900 + "1" + "}" * 900,
    "an object nested deeply": '[{"text":' * 50_000 + "1" + "}]" * 50_000,
    "a name twice": '[{"text": "x", "text": "y"}]',
    "cut": '[{"text": "x"',
    "words": "not json",
    "5,000 digits": "[" + "9" * 5_000 + "]",
    "two documents": '{"a": "x"} {"b": "y"}',
    "many names": json.dumps([{f"n{i}_{j}": 1 for j in range(100)} for i in range(100)]),
    "names that are halves": '[{"\\ud800": 1, "\\ud801": 2}]',
    "constants": "[NaN, Infinity]",
}


def files(table: pd.DataFrame, folder: Path, *, every: int = 1) -> Iterator[tuple[str, Path]]:
    """Write a valid table in every wrong way, or each `every`th: what is wrong, and the file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, ending, content) in enumerate(_malformed(table)):
        if number % every:
            continue
        path = folder / f"{number}.{ending}"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
        yield f"{ending}: {name}", path


def _malformed(table: pd.DataFrame) -> Iterator[tuple[str, str, bytes | pa.Table]]:
    yield from _of_json(table)
    yield from _of_csv(table)
    yield from _of_parquet(table)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(table.to_json(orient="records"))


def _of_json(table: pd.DataFrame) -> Iterator[tuple[str, str, bytes]]:
    records = _records(table)
    for column in table:
        for name, cell in _CELLS.items():
            changed = [dict(record) for record in records]
            changed[1][column] = cell
            yield f"{name} in {column}", "json", json.dumps(changed).encode()
            for record in changed:
                record[column] = cell
            lines = "\n".join(map(json.dumps, changed))
            yield f"{name} all along {column}", "jsonl", lines.encode()
        del changed[2][column]
        yield f"{column} lacks once", "json", json.dumps(changed).encode()
    for name, content in _JSON.items():
        yield name, "json", content.encode()
        yield name, "jsonl", content.encode()
    plain = json.dumps(records).encode()
    yield "cut in the middle", "json", plain[: len(plain) // 2]
    yield "UTF-16", "json", plain.decode().encode("utf-16")
    yield "Latin-1", "json", '[{"text": "café"}]'.encode("latin-1")
    yield "nul bytes", "json", plain + b"\x00" * 10
    yield "a list for lines", "jsonl", plain
    yield "by column", "json", table.to_json().encode()
    yield "split", "json", table.to_json(orient="split").encode()
    yield "values", "json", table.to_json(orient="values").encode()


def _of_csv(table: pd.DataFrame) -> Iterator[tuple[str, str, bytes]]:
    plain = table.to_csv(index=False)
    yield "with an index", "csv", table.to_csv().encode()
    yield "separated by ;", "csv", table.to_csv(index=False, sep=";").encode()
    yield "separated by tabs", "csv", table.to_csv(index=False, sep="\t").encode()
    yield "no header", "csv", table.to_csv(index=False, header=False).encode()
    yield "a header alone", "csv", plain.splitlines()[0].encode()
    yield "a blank file", "csv", b"\n\n\n"
    yield "no byte", "csv", b""
    yield "a longer row", "csv", (plain + "a,b,c,d,e,f,g,h,i,j,k,l\n").encode()
    yield "a shorter row", "csv", (plain + "a\n").encode()
    yield "an open quote", "csv", (plain + '"a').encode()
    yield "nul bytes", "csv", plain.encode() + b"\x00\x00,\x00\n"
    yield "binary", "csv", bytes(range(256)) * 4
    yield "UTF-16", "csv", plain.encode("utf-16")
    yield "Latin-1", "csv", (plain + "café\n").encode("latin-1")
    yield "Windows' lines", "csv", plain.replace("\n", "\r\n").encode()
    yield "old Mac's lines", "csv", plain.replace("\n", "\r").encode()
    yield "a column twice", "csv", pd.concat([table, table], axis=1).to_csv(index=False).encode()
    for column in table:
        shouted = table.rename(columns={column: f" {str(column).upper()} "})
        yield f"{column} shouted", "csv", shouted.to_csv(index=False).encode()
        yield f"{column} gone", "csv", table.drop(columns=column).to_csv(index=False).encode()
        empty = table.assign(**{str(column): ""})
        yield f"{column} empty", "csv", empty.to_csv(index=False).encode()
        for word in ("nan", "inf", "1e400", "9" * 40, "-1", "1.5", "0x10", "\u0663", "tru", "None"):
            said = table.assign(**{str(column): word})
            yield f"{word} all along {column}", "csv", said.to_csv(index=False).encode()


def _of_parquet(table: pd.DataFrame) -> Iterator[tuple[str, str, bytes | pa.Table]]:
    whole = pa.Table.from_pandas(table, preserve_index=False)
    for column in table:
        at = whole.column_names.index(str(column))
        for name, make in _COLUMNS.items():
            yield (
                f"{name} in {column}",
                "parquet",
                whole.set_column(at, str(column), make(len(table))),
            )
        yield f"{column} twice", "parquet", whole.append_column(str(column), whole.column(at))
        if isinstance(table[column].iloc[0], list):
            continue
        yield (
            f"{column} kept as the index",
            "parquet",
            pa.Table.from_pandas(table.set_index(column)),
        )
        yield (
            f"{column} as a category",
            "parquet",
            pa.Table.from_pandas(table.astype({column: "category"})),
        )
    yield "no column", "parquet", whole.select([])
    yield "no row", "parquet", whole.slice(0, 0)
    sink = pa.BufferOutputStream()
    pq.write_table(whole, sink)
    content = sink.getvalue().to_pybytes()
    yield "cut", "parquet", content[: len(content) // 2]
    yield "turned inside", "parquet", content[:50] + content[50:80][::-1] + content[80:]
    yield "its end alone", "parquet", content[-100:]
    yield "words", "parquet", b"PAR1 not parquet PAR1"
