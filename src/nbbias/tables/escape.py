"""What is not seen in a text, written out so that it is: in pages, figures, papers, terminals."""

from __future__ import annotations

import re

#: Control characters but for the tab and the line's end, lone surrogates, and marks that change
#: the direction of what stands around them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: object) -> str:
    """Write what is not seen as its code point: NUL, escapes and marks of direction.

    Lines that end as on Windows end as elsewhere.
    """
    return _UNSEEN.sub(_seen, str(text).replace("\r\n", "\n"))


def without_control(text: str) -> str:
    """Write control characters out, and leave marks of direction, which are part of a text."""
    return _CONTROL.sub(_seen, text)


def _seen(found: re.Match[str]) -> str:
    return f"[U+{ord(found[0]):04X}]"
