"""Reading tables: what pandas writes comes back, and what cannot be read says why."""

import json
import pickle
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbbias import tables
from nbbias.tables import Column, DataError, NbbiasError, columns
from tests.hostile import Trap

TABLE = pd.DataFrame(
    {"text": ["Café, “so”", 'a "b",\nc', None], "n": [1, 2, 3], "share": [0.1, 1 / 3, 2.5]}
)
WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda t, p: t.to_csv(p, index=False),
    "parquet": lambda t, p: t.to_parquet(p, index=False),
    "json": lambda t, p: t.to_json(p, orient="records", force_ascii=False, double_precision=15),
    "jsonl": lambda t, p: t.to_json(
        p, orient="records", lines=True, force_ascii=False, double_precision=15
    ),
}
FORM = {
    **{name: Column("text") for name in ("text", "model", "article_id", "group")},
    "n": Column("count"),
    "share": Column("number"),
}
ANY = pytest.mark.parametrize("kind", list(WRITERS))


def read(path: Path | str) -> pd.DataFrame:
    return tables.read_table(path, FORM)


def refusal(path: Path | str) -> str:
    with pytest.raises(NbbiasError) as caught:
        read(path)
    assert caught.value.where == str(path)
    (breach,) = caught.value.breaches
    return breach


# --- what comes back --------------------------------------------------------------------------


@ANY
def test_a_table_comes_back_as_it_was_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{kind}"
    WRITERS[kind](TABLE, path)
    pd.testing.assert_frame_equal(read(path), TABLE, check_exact=False)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_text("\ufefftext,n\nx,1\n", encoding="utf-8")
    assert list(read(path)) == ["text", "n"]
    (tmp_path / "a.jsonl").write_text('\ufeff{"model": "007"}\n', encoding="utf-8")
    assert read(tmp_path / "a.jsonl")["model"].tolist() == ["007"]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (["x", "y"], [{"article_id": "0", "text": "x"}, {"article_id": "1", "text": "y"}]),
        ({"7": "x"}, [{"article_id": "7", "text": "x"}]),
        ({"1": {"text": "x", "n": 2}}, [{"article_id": "1", "text": "x", "n": 2}]),
        ({"g": ["x", "y"], "h": []}, [{"group": "g", "text": "x"}, {"group": "g", "text": "y"}]),
    ],
)
def test_every_layout_of_json_becomes_rows(
    content: object, rows: list[dict[str, object]], tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    assert read(tmp_path / "a.json").to_dict("records") == rows


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["table.xlsx", "table"])
def test_an_unknown_ending_names_the_known_ones(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("text\nx\n")
    found = refusal(tmp_path / name)
    assert "unknown format" in found
    assert all(known in found for known in (".parquet", ".csv", ".json", ".jsonl"))


@ANY
def test_a_file_without_rows_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    path.touch()
    assert refusal(path) == "the file is empty"
    WRITERS[kind](TABLE.head(0), path)
    if kind == "jsonl":
        path.write_text("\n")
    assert refusal(path) == "holds no rows"


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "text\ncafé\n"), ("a.jsonl", '{"text": "café"}')]
)
def test_bytes_that_are_not_utf8_are_refused_with_their_place(
    name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    assert refusal(tmp_path / name).startswith(f"is not UTF-8 (byte {content.index('é')})")


# --- halves of characters -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "list.json": [{"article_id": "1", "text": "a\ud800b"}],
        "texts.json": {"1": "a\ud800b"},
        "lines.jsonl": {"article_id": "1", "text": "a\ud800b"},
    }.items(),
)
def test_half_a_character_is_read_as_a_sign_that_can_be_written(
    name: str, content: object, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(json.dumps(content))
    table = read(tmp_path / name)
    assert table["text"].to_list() == ["a\ufffdb"]
    tables.save_table(table, "texts", out=tmp_path)
    assert tables.saved_table(tmp_path, "texts")["text"].to_list() == ["a\ufffdb"]


def test_names_that_would_become_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"\\ud800": "one", "\\ud801": "two"}')
    assert "occurs twice in one object" in refusal(tmp_path / "a.json")


def test_a_column_type_of_pickled_code_is_read_as_what_it_is_stored_as(tmp_path: Path) -> None:
    """Arrow once made columns' types of pickles that stood in a file."""
    marker = tmp_path / "ran"
    for name in ("arrow.py_extension_type", "pandas.period", "x"):
        told = {"ARROW:extension:name": name}
        told["ARROW:extension:metadata"] = pickle.dumps(Trap(marker))
        field = pa.field("text", pa.string(), metadata=told)
        pq.write_table(pa.table([["a", "b"]], pa.schema([field])), tmp_path / "a.parquet")
        with suppress(DataError):
            assert list(read(tmp_path / "a.parquet")["text"]) == ["a", "b"]
        assert not marker.exists()


@pytest.mark.parametrize(
    ("cells", "size", "most"),
    [(1000, 2 * 10**9, "0 million values and 2 GB"), (10**9, 1000, "1000 million .* 1e-06 GB")],
)
def test_a_parquet_file_that_stands_for_more_than_memory_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int, size: int, most: str
) -> None:
    path = tmp_path / "bomb.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 2000), pa.array(["x" * 10]))
    pq.write_table(pa.table({"text": text, "other": text}), path)
    monkeypatch.setattr("nbbias.tables.read._CELLS", cells)
    monkeypatch.setattr("nbbias.tables.read._BYTES", size)
    with pytest.raises(DataError, match=f"holds more than is read of a file, {most}"):
        tables.read_table(path, {}, rest=True)
    monkeypatch.setattr("nbbias.tables.read._CELLS", 10**9)
    monkeypatch.setattr("nbbias.tables.read._BYTES", 10**9)
    assert len(tables.read_table(path, {}, rest=True)) == 2000


def test_numbers_are_the_texts_that_write_them() -> None:
    odd = [Decimal("1.0000000000000000000000001"), Decimal(7), Decimal("7.50"), -0.0, 7.5, 2**63]
    file = columns.FileReading("it", ["id"], {"id": Column("text")})
    told = columns.convert_columns(pd.DataFrame({"id": pd.Series(odd, dtype=object)}), file)
    written = "1.0000000000000000000000001 7 7.5 0 7.5 9223372036854775808"
    assert told["id"].tolist() == written.split()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04\x14\x00\xff\xff", "is not UTF-8"),
        (b"text" + b",x" * 20_000 + b"\ny" + b",x" * 20_000, "20,001 columns"),
    ],
)
def test_csv_that_is_none_is_called_what_it_is(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        tables.read_table(path, {"text": Column("text", needed=True)})
