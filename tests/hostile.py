"""Texts that try to be more than text, and a news corpus made of them."""

import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
from bs4 import BeautifulSoup

SCRIPT = "<script>alert('x')</script>"
IMAGE = '<img src=x onerror="alert(1)">'
ADDRESS = '<a href="javascript:alert(1)">here</a>'
BREAKOUT = "\"'></mark></td></details><style>*{display:none}</style>"
MARKDOWN = "[a](javascript:alert(1)) **b** `c`"
LATEX = r"$\href{javascript:alert(1)}{x}$ and \(a\) and \begin{x}"
ANSI = "\x1b[31mred\x1b[0m"
TURNED = "\u202egnp.exe\u2066"
NUL = "nul\x00here"
FORMULA = "=1+cmd|' /C calc'!A0"
#: What templates of other programs read as their own.
UNITS = f"{{{{7*7}}}}{SCRIPT}"
TEMPLATE = """{{"{{"}} {%if%} ${7*7} <%=7*7%> #{7*7} {0.x} {theme} %(a)s"""

#: The parts that stay readable as they are typed, once mark-up is taken away.
PRINTABLE = [SCRIPT, IMAGE, ADDRESS, BREAKOUT, MARKDOWN, LATEX, FORMULA, UNITS, TEMPLATE]
ALL = [*PRINTABLE, ANSI, TURNED, NUL]

MODELS = ["plain", f"{UNITS}{IMAGE}", f"model {LATEX} {TEMPLATE} {ANSI}{TURNED}{NUL}"]


def corpus(articles: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Originals and generations in which every text, model and id is hostile."""
    originals, generations = [], []
    for i in range(articles):
        ugly = ALL[i % len(ALL)]
        key = {"source": f"paper {UNITS} {ADDRESS}", "article_id": f"{i} {ugly}"}
        said = f"{ugly} she told him that he was a man. " * (1 + i % 2)
        originals.append(key | {"text": f"{said}The woman said she was glad {ugly}."})
        for number, model in enumerate(MODELS):
            answer = f"He said {ugly} that she and the men were bad. "
            answer += "Her brother is good. " * ((i + number) % 3)
            prompt = f"p {MARKDOWN} {UNITS} {TEMPLATE} {TURNED}"
            made = {"model": model, "prompt": prompt, "sample": 1, "text": answer}
            generations.append(key | made)
    return pd.DataFrame(originals), pd.DataFrame(generations)


def lexicon() -> pd.DataFrame:
    """A word list with a hostile group, whose word stands in every text."""
    rows = [("female", word) for word in ("she", "her", "woman")]
    rows += [(f"male {UNITS} {TEMPLATE}", word) for word in ("he", "him", "man", "men", "brother")]
    table = pd.DataFrame(rows, columns=["group", "term"])
    return table.assign(bias=f"gender {UNITS} {IMAGE}", kind="word", case="any")


def harmless(html: str, *, frame_ignored: bool = False) -> BeautifulSoup:
    """Return HTML as it is read, having refused whatever a hostile text could add.

    With `frame_ignored`, signs of mathematics may stand together where the frame says that no
    program that typesets mathematics may look.
    """
    found = BeautifulSoup(html, "html.parser")
    for link in found.find_all("a", href=re.compile("^#")):  # to a part of the same page
        link.unwrap()
    assert found.find(["script", "img", "a", "object", "embed", "link", "base", "form"]) is None
    for tag in found.find_all(True):
        for name, value in tag.attrs.items():
            assert not name.lower().startswith("on"), (tag.name, name)
            assert name not in {"href", "src"}, (tag.name, name)
            assert name in {"srcdoc", "title", "data-label"} or "javascript:" not in str(value)
    # A style of theirs would hide everything.
    assert not any(style.get_text().startswith("*{") for style in found.find_all("style"))
    assert not set("\x00\x1b\u202e\u2066") & set(html + found.get_text())
    # Nothing that typesets mathematics finds two of its signs in one piece of text.
    for piece in found.find_all(string=True):
        ignored = frame_ignored and piece.find_parent(class_="mathjax_ignore")
        if piece.parent.name != "style" and not ignored:
            assert piece.count("$") < 2
            assert "\\(" not in piece
            assert "\\begin" not in piece
    return found


class Trap:
    """An object whose unpickling makes a folder: what a stranger may put in place of weights."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)
