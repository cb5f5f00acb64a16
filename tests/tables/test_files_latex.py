"""LaTeX tables: what is escaped, what is rounded, and that all that opens is closed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import tables

HOSTILE = r"a_b 5% R&D #1 $x$ {y} ~ ^ \input{x} <b> | [z] * “q” −1"


def latex(frame: pd.DataFrame, *, caption: str = "A caption") -> str:
    with tempfile.TemporaryDirectory() as folder:
        assert tables.save_latex(frame, "one", caption=caption, out=Path(folder)) is frame
        return Path(folder, "tables", "one.tex").read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The cells between the rules: headings first."""
    body = text.split("\\toprule")[1].split("\\bottomrule")[0].replace("\\midrule", "")
    lines = [line.removesuffix(" \\\\") for line in body.strip().splitlines() if line.strip()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines]


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("a_b 5% R&D #1 $x$ {y}", r"a\_b 5\% R\&D \#1 \$x\$ \{y\}"),
        ("~^\\$", r"\textasciitilde{}\textasciicircum{}\textbackslash{}\$"),
        ('<|>"', r"\textless{}\textbar{}\textgreater{}\textquotedbl{}"),
        ("a\n\n b", "a b"),
        ("−1 ≤ [2] *", r"$-$1 $\le$ {[}2{]} {*}"),
        ("nul\x00 \u202e", "nul{[}U+0000{]} {[}U+202E{]}"),
    ],
)
def test_texts_print_as_they_are_in_cells_headings_and_captions(plain: str, escaped: str) -> None:
    text = latex(pd.DataFrame({plain: [plain]}), caption=plain)
    assert rows(text) == [[escaped], [escaped]]
    assert f"\\caption{{{escaped}}}\n\\label{{tab:one}}" in text


@given(st.text(alphabet=st.sampled_from('ab_%&#${}~^\\[]*<>|" \n-'), max_size=12))
@settings(max_examples=40, deadline=None)
def test_braces_and_environments_close_whatever_the_text(text: str) -> None:
    plain = re.sub(r"\\[{}_%&#$]", "", latex(pd.DataFrame({text: [text, None]}), caption=text))
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in plain])
    assert depth.min() >= 0 == depth[-1]
    assert re.findall(r"\\begin\{(\w+)\}", plain) == ["table", "tabular"]
    # Nothing is left that LaTeX would act on: no command but those that the table needs.
    known = "begin|end|centering|caption|label|toprule|midrule|bottomrule|text[a-z]+"
    assert all(re.fullmatch(known, name) for name in re.findall(r"\\([a-zA-Z]+)", plain))
    assert not {"%", "#", "_"} & set(plain)


def test_numbers_are_rounded_with_a_true_minus_and_gaps_are_named() -> None:
    frame = pd.DataFrame(
        {
            "x": [-0.12349, -0.0001, -1234.5678, np.nan],
            "n": [3, 1200, -1, 0],
            "m": [3.0, np.nan, 1.0, 2.0],
            "i": [0.5, np.inf, -np.inf, 1.0],
            "b": [True, False, True, True],
            "t": ["x", None, "y", "z"],
        }
    )
    before = frame.copy()
    text = latex(frame)
    assert "\\begin{tabular}{rrrrrl}" in text
    assert rows(text)[1:] == [
        ["$-$0.123", "3", "3", "0.500", "True", "x"],
        ["0.000", "1,200", "n/m", "n/m", "False", "n/m"],
        ["$-$1,234.568", "$-$1", "1", "n/m", "True", "y"],
        ["n/m", "0", "2", "1.000", "True", "z"],
    ]
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_can_read_it(tmp_path: Path) -> None:
    table = latex(pd.DataFrame({HOSTILE: ["*[x]", HOSTILE], "x": [0.5, np.nan]}), caption=HOSTILE)
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}"
    (tmp_path / "t.tex").write_text(f"{head}\\begin{{document}}{table}\\end{{document}}", "utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True)
