"""What is not seen is written out, wherever a text may go."""

from __future__ import annotations

import io
import logging

import pytest

from nbbias.reading import Format, Terminal
from nbbias.tables import DataError, visible, without_control
from tests import hostile

UNSEEN = set("\x00\x1b\u202e\u2066\u200f\r\x85")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\r\nb", "a\nb"), ("a\rb", "a[U+000D]b"), ("\u200fשלום", "[U+200F]שלום"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"), (None, "None"),
    ],
)  # fmt: skip
def test_what_is_not_seen_is_written_out(text: object, seen: str) -> None:
    assert visible(text) == seen


def test_marks_of_direction_are_part_of_a_text() -> None:
    assert without_control("\u200fשלום\x1b[31m") == "\u200fשלום[U+001B][31m"


@pytest.mark.parametrize("text", [hostile.ANSI, hostile.TURNED, hostile.NUL, ":smile: [red]x[/]"])
def test_a_terminal_shows_a_text_and_does_not_obey_it(text: str) -> None:
    heard = io.StringIO()
    Terminal(file=heard, width=200, force_terminal=True).print(text, markup=False)
    told = heard.getvalue()
    assert told.strip() == visible(text)
    assert not UNSEEN & set(told)


def test_a_log_shows_a_text_and_does_not_obey_it() -> None:
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "no %s", (hostile.ANSI,), None)
    assert Format("%(message)s").format(record) == f"no {visible(hostile.ANSI)}"


def test_a_notebook_shows_an_error_and_does_not_obey_it() -> None:
    (told,) = DataError("a file", hostile.TURNED)._render_traceback_()
    assert told == f"DataError: a file: {visible(hostile.TURNED)}"
