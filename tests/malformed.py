"""Files that are not what they should be: every malformation that a table can be saved with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
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
    "an object": {"a": 1},
    "zero": 0,
    "below zero": -3,
    "a fraction": 0.5,
    "a huge number": 10**30,
    "infinity": float("inf"),
    "no number": float("nan"),
    "empty": "",
    "blank": "  ",
    "half a character": "a\ud800b",
    "nul": "a\x00b",
    "control": "a\x1b[31mb\x07",
    "a very long text": "word " * 20_000,
    "a word that is a gap": "NaN",
}

#: Columns that Parquet can hold beside these.
_COLUMNS: dict[str, Callable[[int], pa.Array]] = {
    "bytes": lambda n: pa.array([b"\xff\x00"] * n),
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
    "decimals": lambda n: pa.array([Decimal("1.5")] * n),
    "unsigned": lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    "categories": lambda n: pa.array(["x"] * n).dictionary_encode(),
    "structs": lambda n: pa.array([{"a": 1}] * n),
    "nothing": lambda n: pa.nulls(n),
    "truth": lambda n: pa.array([True] * n),
    "infinities": lambda n: pa.array([np.inf] * n),
}

#: What a JSON file may hold in place of a table.
_JSON: dict[str, str] = {
    "a number": "5",
    "null": "null",
    "true": "true",
    "an empty list": "[]",
    "an empty object": "{}",
    "numbers": "[1, 2, 3]",
    "nulls": "[null, null]",
    "lists": "[[1], [2]]",
    "mixed": '[{"text": "x"}, 1, null, "y"]',
    "an object of numbers": '{"a": 1}',
    "an object of mixed": '{"a": "x", "b": [1], "c": {}}',
    "an object of lists of objects": '{"a": [{"b": 1}], "c": []}',
    "nested deeply": "[" * 100_000 + "]" * 100_000,
    "a name twice": '[{"text": "x", "text": "y"}]',
    "cut": '[{"text": "x"',
    "5,000 digits": "[" + "9" * 5_000 + "]",
    "many names": json.dumps([{f"n{i}_{j}": 1 for j in range(100)} for i in range(100)]),
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
    yield "split", "json", table.to_json(orient="split").encode()


def _of_csv(table: pd.DataFrame) -> Iterator[tuple[str, str, bytes]]:
    plain = table.to_csv(index=False)
    yield "with an index", "csv", table.to_csv().encode()
    yield "separated by ;", "csv", table.to_csv(index=False, sep=";").encode()
    yield "no header", "csv", table.to_csv(index=False, header=False).encode()
    yield "a header alone", "csv", plain.splitlines()[0].encode()
    yield "no byte", "csv", b""
    yield "a longer row", "csv", (plain + "a,b,c,d,e,f,g,h,i,j,k,l\n").encode()
    yield "a shorter row", "csv", (plain + "a\n").encode()
    yield "nul bytes", "csv", plain.encode() + b"\x00\x00,\x00\n"
    yield "binary", "csv", bytes(range(256)) * 4
    yield "UTF-16", "csv", plain.encode("utf-16")
    yield "Latin-1", "csv", (plain + "café\n").encode("latin-1")
    yield "old Mac's lines", "csv", plain.replace("\n", "\r").encode()
    yield "a column twice", "csv", pd.concat([table, table], axis=1).to_csv(index=False).encode()
    for column in table:
        shouted = table.rename(columns={column: f" {str(column).upper()} "})
        yield f"{column} shouted", "csv", shouted.to_csv(index=False).encode()
        yield f"{column} gone", "csv", table.drop(columns=column).to_csv(index=False).encode()
        empty = table.assign(**{str(column): ""})
        yield f"{column} empty", "csv", empty.to_csv(index=False).encode()
        for word in ("inf", "9" * 40, "-1", "tru", "None"):
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
