"""LaTeX tables: what is escaped, what is rounded, and that all that opens is closed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import tables

HOSTILE = r"a_b 5% R&D #1 $x$ {y} ~ ^ \input{x} <b> | [z] * “q” −1"


def written(frame: pd.DataFrame, *, decimals: int = 3) -> str:
    return tables.latex_table(frame, caption="A caption", label="tab:one", decimals=decimals)


def rows(text: str) -> list[list[str]]:
    """The cells between the rules: headings first."""
    body = text.split("\\toprule")[1].split("\\bottomrule")[0].replace("\\midrule", "")
    lines = [line.removesuffix(" \\\\") for line in body.strip().splitlines() if line.strip()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines]


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("5%", r"5\%"),
        ("R&D", r"R\&D"),
        ("#1", r"\#1"),
        ("$x$", r"\$x\$"),
        ("{y}", r"\{y\}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("\\$", r"\textbackslash{}\$"),
        ("<|>", None),
        ("a\n\n b", "a b"),
        ("−1", "$-$1"),
        ("[1]", "{[}1{]}"),
    ],
)
def test_special_characters_are_escaped_in_cells_and_headings(
    plain: str, escaped: str | None
) -> None:
    escaped = escaped or r"\textless{}\textbar{}\textgreater{}"
    assert rows(written(pd.DataFrame({plain: [plain]}))) == [[escaped], [escaped]]


def test_caption_is_escaped_too() -> None:
    text = tables.latex_table(pd.DataFrame({"x": [1]}), caption="50% of_", label="t")
    assert "\\caption{50\\% of\\_}" in text


@given(st.text(alphabet=st.sampled_from('ab_%&#${}~^\\[]*<>|" \n-'), max_size=12))
@settings(max_examples=60, deadline=None)
def test_braces_and_environments_close_whatever_the_text(text: str) -> None:
    found = tables.latex_table(pd.DataFrame({text: [text, np.nan]}), caption=text, label="t")
    plain = re.sub(r"\\[{}_%&#$]", "", found)
    assert plain.count("{") == plain.count("}")
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in plain])
    assert depth.min() >= 0
    opened = re.findall(r"\\begin\{(\w+)\}", found)
    assert opened == ["table", "tabular"]
    assert re.findall(r"\\end\{(\w+)\}", found) == opened[::-1]
    # Nothing is left that LaTeX would act on: no command but those that the table needs.
    known = "begin|end|centering|caption|label|toprule|midrule|bottomrule|text[a-z]+|par|smallskip"
    assert all(re.fullmatch(known, name) for name in re.findall(r"\\([a-zA-Z]+)", plain))
    assert "%" not in plain and "#" not in plain and "_" not in plain


def test_numbers_are_rounded_with_a_true_minus() -> None:
    frame = pd.DataFrame({"x": [-0.12349, 0.0006, 2.5, -1234.5678]})
    assert rows(written(frame))[1:] == [["$-$0.123"], ["0.001"], ["2.500"], ["$-$1,234.568"]]
    assert rows(written(frame, decimals=1))[1] == ["$-$0.1"]


def test_a_rounded_zero_has_no_sign() -> None:
    assert rows(written(pd.DataFrame({"x": [-0.0001, 0.5]})))[1] == ["0.000"]


def test_whole_numbers_have_no_decimals() -> None:
    frame = pd.DataFrame({"n": [3, 1200], "m": [3.0, np.nan], "b": [True, False]})
    assert rows(written(frame))[1:] == [["3", "3", "True"], ["1,200", "n/m", "False"]]


@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_what_was_not_measured_says_so_under_the_table(gap: float) -> None:
    text = written(pd.DataFrame({"x": [1.5, gap], "reason": [None, "n/m"]}))
    assert rows(text)[1:] == [["1.500", ""], ["n/m", "n/m"]]
    assert text.index("n/m: not measured") > text.index("\\end{tabular}")


def test_without_a_gap_there_is_no_note() -> None:
    assert "not measured" not in written(pd.DataFrame({"x": [1.5], "y": ["n/m"]}))


def test_numbers_stand_on_the_right_and_texts_on_the_left() -> None:
    frame = pd.DataFrame({"a": ["x"], "b": [1], "c": [np.nan], "d": pd.Series([None], dtype="str")})
    assert "\\begin{tabular}{lrrl}" in written(frame)


def test_numbers_among_objects_are_numbers() -> None:
    text = written(pd.DataFrame({"x": pd.Series([0.25, -1, None], dtype=object)}))
    assert rows(text)[1:] == [["0.250"], ["$-$1.000"], ["n/m"]]


def test_headings_may_repeat_and_the_index_is_left_out() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"], index=["row"])
    assert rows(written(frame)) == [["x", "x"], ["1", "2"]]


def test_an_empty_table_keeps_its_headings() -> None:
    assert rows(written(pd.DataFrame({"a": [], "b": []}))) == [["a", "b"]]


def test_the_same_table_gives_the_same_string_and_stays_as_it_was() -> None:
    frame = pd.DataFrame({"x_": [HOSTILE, None], "y": [0.5, np.nan]})
    before = frame.copy()
    assert written(frame) == written(frame.copy())
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("label", ["", "a b", "a}", "a\\b", "a%"])
def test_a_label_that_latex_cannot_take_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        tables.latex_table(pd.DataFrame({"x": [1]}), caption="c", label=label)


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="column"):
        written(pd.DataFrame(index=[0, 1]))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_can_read_it(tmp_path: Path) -> None:
    table = tables.latex_table(
        pd.DataFrame({HOSTILE: ["*[x]", HOSTILE], "x": [0.5, np.nan]}), caption=HOSTILE, label="t"
    )
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}"
    (tmp_path / "t.tex").write_text(f"{head}\\begin{{document}}{table}\\end{{document}}", "utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True)
