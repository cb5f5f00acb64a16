"""A progress bar for whoever waits at a notebook; a run has its own, and its pages show none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, *, of: int | None = None) -> Iterator[T]:
    """Go through so many items; where no run records the output, a bar says how far.

    Examples
    --------
    >>> list(progress([1, 2], "counting"))
    [1, 2]
    """
    from tqdm.auto import tqdm  # with asyncio and more, and often nobody waits

    number = len(items) if isinstance(items, Sized) else of
    silent = not is_interactive() or number == 1 or number == 0
    yield from tqdm(items, desc=what, total=number, leave=False, disable=silent)


def is_interactive() -> bool:
    """Tell whether somebody may be watching: a run records its output, and a bar is none.

    Examples
    --------
    >>> import os
    >>> is_interactive() == ("NBBIAS_OUT" not in os.environ)
    True
    """
    return "NBBIAS_OUT" not in os.environ
