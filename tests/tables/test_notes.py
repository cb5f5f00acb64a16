"""How a file is written and which of its columns is which: said behind its path, or found out."""

import codecs
from pathlib import Path

import pandas as pd
import pytest

from nbbias import tables
from nbbias.tables import Column, ContractError, DataError, NbbiasError, notes, sniff

FORM = {
    "article_id": Column("text", needed=True, also=("id",)),
    "text": Column("text", needed=True, also=("body",)),
    "model": Column("text", without="file"),
}
HOSTILE = ["a&b=c", "100%41", "a?b#", "$HOME ~/../up", "naïve\nend"]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_of_a_column_comes_back_from_a_path(name: str) -> None:
    path = notes.add("essays.csv", {"text": name, "encoding": "cp1252"})
    assert notes.split(path) == ("essays.csv", {"text": name, "encoding": "cp1252"})
    assert notes.split(notes.add(path, {"text": "c"}))[1]["text"] == "c"
    start, to = Path("/studies/mine"), Path("/studies/runs/llmbi")
    moved = tables.written_from(path, start=start, to=to)
    assert notes.split(moved)[1]["text"] == name


@pytest.mark.parametrize("path", ["what?.csv", "a.csv?text", "a.txt?text=b"])
def test_what_is_no_note_is_part_of_the_path(path: str) -> None:
    assert notes.split(path) == (path, {})


@pytest.mark.parametrize(
    ("encoding", "separator"), [("cp1252", "semicolon"), ("utf-8-sig", "tab"), ("utf-16", "bar")]
)
def test_how_a_file_is_written_is_found_out(encoding: str, separator: str, tmp_path: Path) -> None:
    text = ["She said “no”, and went; so did he – " * 5] * 9
    path = tmp_path / "a.csv"
    table = pd.DataFrame({"id": range(9), "body": text, "n": 1})
    table.to_csv(path, index=False, sep=notes.SEPARATORS[separator], encoding=encoding)
    found = sniff.detect_encoding(path)
    assert codecs.lookup(found).name == codecs.lookup(encoding).name
    assert sniff.detect_separator(path.read_bytes().decode(found)) == separator


@pytest.mark.parametrize("content", [b"\0\1\2\3" * 9, b"\x81\x8d\x8f"])
def test_what_holds_no_text_has_no_encoding(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="is not text"):
        sniff.detect_encoding(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ("encoding=klingon", "there is no encoding 'klingon'"),
        ("separator=;", "no separator is called ';'; there is comma, semicolon"),
        ("text=bodi", "text: there is no column 'bodi'; did you mean body?"),
        ("txt=body", "no column 'txt' is read here; did you mean text?"),
        ("encoding=utf-16", "cannot be read as csv: UTF-16"),
        ("text=", "needs the column text"),
    ],
)
def test_a_note_that_cannot_be_kept_is_refused(noted: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,body\n1,b\n")
    with pytest.raises(NbbiasError, match=r"a\.csv") as caught:
        tables.read_table(f"{tmp_path}/a.csv?{noted}", FORM)
    assert told in str(caught.value)


# --- names of columns -------------------------------------------------------------------------


def read(tmp_path: Path, header: str, notes: str = "") -> dict[str, str]:
    path = tmp_path / "mine.csv"
    cells = [f"in {name.strip()}" for name in header.split(",")]
    path.write_text(f"{header}\n{','.join(cells)}\n")
    return tables.read_table(f"{path}{notes}", FORM).iloc[0].to_dict()


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("Article ID,TEXT", "in TEXT"),
        ("article-id,Body", "in Body"),
        ("id,Text,text", "in text"),
        ("id,body,Text", "in Text"),
    ],
)
def test_capitals_spaces_and_underscores_of_a_name_do_not_matter(
    header: str, text: str, tmp_path: Path
) -> None:
    assert read(tmp_path, header)["text"] == text


def test_of_two_columns_that_differ_in_capitals_alone_neither_is_meant(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="needs the column text; it has id, Text, TEXT"):
        read(tmp_path, "id,Text,TEXT")
    with pytest.raises(ContractError, match="needs the column article_id; it has articleid"):
        read(tmp_path, "articleid,Article ID,text")


def test_an_empty_note_leaves_a_column_unread(tmp_path: Path) -> None:
    assert read(tmp_path, "id,text,model")["model"] == "in model"
    assert read(tmp_path, "id,text,essay", "?text=essay")["text"] == "in essay"
    assert read(tmp_path, "id,text,model", "?model=")["model"] == "mine"
