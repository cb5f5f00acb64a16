"""Any text shows as itself and does nothing, wherever it may go."""

import io
import logging
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import mistune
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, strategies as st
from nbconvert.filters import markdown2html

from nbbias.reading import Format, Terminal
from nbbias.tables import DataError, escape, visible
from tests import hostile


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb\n\tc", "a[U+000D]b\n\tc"),
        ("\u200fשלום", "[U+200F]שלום"),
        *[("\U0001f469\u200d\U0001f467 \u2764\ufe0f é 女",) * 2],
        (None, "None"),
        ("\ud800", "[U+D800]"),
        ("gpt\ufeff4 so\u00adft \u3164", "gpt[U+FEFF]4 so[U+00AD]ft [U+3164]"),
    ],
)
def test_what_is_not_seen_is_written_out(text: object, seen: str) -> None:
    assert visible(text) == seen
    visible(text).encode()  # a page can be written


@pytest.mark.parametrize("text", [hostile.ANSI, hostile.TURNED, ":smile: [red]x[/] x\\[b]"])
def test_a_terminal_shows_a_text_and_does_not_obey_it(text: str) -> None:
    heard = io.StringIO()
    Terminal(file=heard, width=200).print(text)
    assert heard.getvalue().strip() == visible(text)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "no %s", (text,), None)
    assert Format("%(message)s").format(record) == f"no {visible(text)}"


def test_a_notebook_shows_an_error_and_does_not_obey_it() -> None:
    (told,) = DataError("a file", hostile.TURNED)._render_traceback_()
    assert told == f"DataError: a file: {visible(hostile.TURNED)}"


# --- HTML ---


@pytest.mark.parametrize("text", hostile.PRINTABLE)
def test_a_hostile_text_reads_as_it_was_typed(text: str) -> None:
    assert hostile.harmless(escape.html(text)).get_text() == text
    tag = BeautifulSoup(f'<p title="{escape.attribute(text)}">x</p>', "html.parser").p
    assert tag.attrs == {"title": text}


# --- Markdown ---


printable = st.text(alphabet=st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]))
marks = st.text(alphabet="ab *_`[]()<>#+-=!|~\\&;$.:\"'/1x@^{}")


@given(printable | marks)
def test_any_name_shows_as_itself_and_as_nothing_else(name: str) -> None:
    html = mistune.html(f"The index of {escape.markdown(name)} is")
    page = BeautifulSoup(html, "html.parser")
    assert page.get_text().split() == f"The index of {visible(name)} is".split()
    assert {tag.name for tag in page.find_all(True)} <= {"p", "span"}
    assert escape.without_markdown(escape.markdown(name)) == visible(" ".join(name.split()))


@pytest.mark.parametrize("text", hostile.ALL)
def test_a_hostile_name_is_text_in_markdown_and_in_a_finding(text: str) -> None:
    escaped = escape.markdown(text)
    shown = hostile.harmless(markdown2html(f"the **{escaped}** of it")).get_text().strip()
    assert shown == f"the {visible(text)} of it"
    assert escape.without_markdown(f"the **{escaped}** of it") == shown


# --- figures ---


def test_hostile_names_leave_a_figure_whole() -> None:
    figure, ax = plt.subplots()
    for text in [*hostile.ALL, "_private"]:
        ax.plot([0, 1], label=escape.drawn(text))
    assert ax.get_legend_handles_labels()[1][-1].strip() == "_private"
    ax.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    plt.close(figure)
    ElementTree.fromstring(buffer.getvalue())  # XML has no place for NUL
    assert not set("\x00\x1b\u202e") & set(buffer.getvalue().decode())
