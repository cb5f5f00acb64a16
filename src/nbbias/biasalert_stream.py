"""Cut text into sentences while it is still coming in."""

from __future__ import annotations

import re
from itertools import pairwise

from nbbias import text

#: Characters after which text without an end of a sentence is cut all the same.
LONGEST = 1000

#: Where a sentence may have ended: a mark and a gap, or a blank line. spaCy then tells.
_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}\s+\S|[。！？]|\n\s*\n")
_LOOK_BACK = 8


class Sentences:
    """Takes pieces of text, and gives sentences back as soon as they are complete.

    Parameters
    ----------
    every
        Cut every so many characters, between words where there are any; 0 cuts at sentences.
    """

    def __init__(self, every: int = 0) -> None:
        self._every, self._held, self._looked = every, "", 0

    def take(self, piece: str) -> list[str]:
        """Take a piece and return what is now complete; nothing is lost or changed."""
        self._held += piece
        found: list[str] = []
        if not self._every and _END.search(self._held, self._looked):
            *whole, self._held = _split(self._held)
            found = [part for one in whole for part in _short(one)]
        while len(self._held) > (self._every or LONGEST):
            found.append(self._cut(self._every or LONGEST))
        self._looked = max(0, len(self._held) - _LOOK_BACK)
        return found

    def rest(self) -> list[str]:
        """Return what is left when the text has ended."""
        held, self._held, self._looked = self._held, "", 0
        if not held:
            return []
        return [held] if self._every else [part for one in _split(held) for part in _short(one)]

    def _cut(self, length: int) -> str:
        if self._held[length - 1 : length + 1].isalnum():  # in the middle of a word
            gap = max(self._held.rfind(" ", 0, length), self._held.rfind("\n", 0, length))
            length = gap + 1 if gap > 0 else length
        taken, self._held = self._held[:length], self._held[length:]
        return taken


def _split(words: str) -> list[str]:
    """Split into sentences that together are the text; a gap belongs to what follows it."""
    ends = [sentence.end_char for sentence in text.pipeline()(words).sents]
    places = [0, *ends[:-1], len(words)]
    return [words[start:end] for start, end in pairwise(places)]


def _short(sentence: str) -> list[str]:
    return [sentence[at : at + LONGEST] for at in range(0, len(sentence), LONGEST)]
