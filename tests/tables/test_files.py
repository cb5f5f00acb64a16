"""What a run leaves behind: whole files, equal twins, the same bytes for the same figure."""

import re
from pathlib import Path
from urllib.parse import unquote

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure

from nbbias import tables
from nbbias.reading import figures
from tests import hostile
from tests.running.build import read_files

TABLE = pd.DataFrame(
    {"name": ["a", 'b "q", c', None], "share": [0.1 + 0.2, np.nan, 1 / 3], "n": [1, 2, 3]}
)


def drawn() -> Figure:
    figure, ax = plt.subplots()
    ax.plot([0.1, 0.4], [1, 0], "o", label="mean")
    figures.name_rows(ax, pd.Series(["a", "b"]))
    return figure


# --- folder and write -------------------------------------------------------------------------


def test_a_run_writes_where_it_is_told_to_and_a_notebook_to_the_lab_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tables.folder("llmbi", "seed=200") == Path("runs/llmbi/lab-seed=200")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert tables.folder("llmbi").resolve() == tmp_path / "runs" / "llmbi" / "lab"
    monkeypatch.setenv("NBBIAS_OUT", "/somewhere/run")
    assert tables.folder("llmbi", "seed=200") == Path("/somewhere/run")


def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    for content in ("a long first content", "old"):
        tables.write(tmp_path / "a", content)
    with pytest.raises(TypeError):
        tables.write(tmp_path / "a", 5)  # type: ignore[arg-type]  # no file takes a number
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644  # others can read it


# --- tables -----------------------------------------------------------------------------------


def test_the_twins_of_a_table_are_equal_to_it_to_the_last_digit(tmp_path: Path) -> None:
    before = TABLE.copy()
    assert tables.save_table(TABLE, "t", out=tmp_path) is TABLE
    pd.testing.assert_frame_equal(TABLE, before)
    parquet = pd.read_parquet(tmp_path / "tables" / "t.parquet")
    csv = pd.read_csv(tmp_path / "tables" / "t.csv")
    pd.testing.assert_frame_equal(parquet, TABLE, check_exact=True)
    pd.testing.assert_frame_equal(csv, TABLE, check_exact=True)
    tables.save_table(TABLE.head(0), "t", out=tmp_path)
    assert (tmp_path / "tables" / "t.csv").read_text() == "name,share,n\n"
    assert list(pd.read_parquet(tmp_path / "tables" / "t.parquet")) == list(TABLE)


# --- figures ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("style")
def test_a_figure_is_saved_with_its_data_the_same_bytes_each_time(tmp_path: Path) -> None:
    shown = []
    for run in ("one", "two"):
        figure = drawn()
        out, words = tmp_path / run, {"alt": hostile.BREAKOUT}
        shown += [tables.save_figure(figure, "f", data=TABLE, words=words, out=out).data]
        assert not plt.fignum_exists(figure.number)
    one, two = (read_files(tmp_path / run / "figures") for run in ("one", "two"))
    assert one == two and shown[0] == shown[1]
    assert sorted(one) == [f"f.{kind}" for kind in ("csv", "json", "pdf", "png", "svg")]
    assert one["f.png"].startswith(b"\x89PNG")
    assert one["f.csv"].decode() == TABLE.to_csv(index=False)
    encoded = re.search(r'src="data:image/svg\+xml,([^"<>&#]+)"', shown[0])
    assert encoded
    assert unquote(encoded[1]).split() == one["f.svg"].decode().split()
    page = BeautifulSoup(shown[0], "html.parser")
    assert page.find("style") is None and page.img["alt"] == hostile.BREAKOUT


# --- findings ---------------------------------------------------------------------------------


def test_a_finding_with_a_part_of_another_kind_is_not_there(tmp_path: Path) -> None:
    assert not any(tables.read_finding(tmp_path).values())
    tables.save_finding({"sentence": 1, "numbers": {}, "figure": "f"}, out=tmp_path)
    assert not any(tables.read_finding(tmp_path).values())


@pytest.mark.parametrize("text", ["=1+1", "-cmd", "\t=1", " =1", "\uff1dcmd"])
def test_a_text_that_a_spreadsheet_would_run_is_written_as_text(text: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [text, "plain", None], "b": [-1.5, 2, None]})
    tables.save_table(table, "t", out=tmp_path)
    read = pd.read_csv(tmp_path / "tables" / "t.csv", skip_blank_lines=False)
    assert read["a"].tolist()[:2] == ["'" + text, "plain"]
    assert read["a"].isna().tolist() == [False, False, True]
    assert read["b"].tolist()[:2] == [-1.5, 2]
    assert pd.read_parquet(tmp_path / "tables" / "t.parquet")["a"][0] == text


@pytest.mark.parametrize("text", ["-", "a=b", "'=1", "he left;-)", "a; - b"])
def test_other_texts_are_left_alone(text: str) -> None:
    table = pd.DataFrame({"a": [text]})
    assert tables.csv(table) == table.to_csv(index=False, lineterminator="\n")


def test_csv_writes_control_characters_out_and_parquet_keeps_them(tmp_path: Path) -> None:
    assert tables.csv(pd.DataFrame({"=a": ["x\ry\r\nz;=cmd|x"]})) == "'=a\n\"x\ny\nz;'=cmd|x\"\n"
    table = pd.DataFrame({"name": [hostile.ANSI, hostile.NUL, hostile.TURNED, hostile.FORMULA]})
    tables.save_table(table, "t", out=tmp_path)
    text = (tmp_path / "tables" / "t.csv").read_text(encoding="utf-8")
    assert "[U+001B][31mred" in text
    assert "nul[U+0000]here" in text
    assert hostile.TURNED in text  # a part of the text, which steers no terminal
    assert tables.saved_table(tmp_path, "t")["name"].tolist() == table["name"].tolist()
    (tmp_path / "tables" / "t.parquet").unlink()
    assert tables.saved_table(tmp_path, "t")["name"].tolist()[3] == f"'{hostile.FORMULA}"
    assert tables.saved_table(tmp_path, "none") is None
