"""What a judge is asked by, and what comes back for a prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Reply(NamedTuple):
    """What came back for one prompt; `text` is None where nothing did, and `error` says why."""

    text: str | None
    refusal: str = ""
    error: str | None = None


def reply(text: object, refusal: object = None, error: object = None) -> Reply:
    """Return a reply from a table's cells, in which a gap may be NaN."""
    said, refused, told = (one if isinstance(one, str) else None for one in (text, refusal, error))
    return Reply(said, refused or "", told)


#: Takes distinct prompts and returns as many replies; None where there was none.
Ask = Callable[[list[str]], Sequence[Reply | str | None]]
