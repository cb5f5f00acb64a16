"""A progress bar for whoever waits at a notebook; a run has its own, and its pages show none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tqdm.auto import tqdm

T = TypeVar("T")


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items; where no run records the output, a bar says how far.

    Examples
    --------
    >>> list(progress([1, 2], "counting"))
    [1, 2]
    """
    yield from tqdm(items, desc=what, leave=False, disable=not watched() or len(items) < 2)


def watched() -> bool:
    """Tell whether somebody may be watching: a run records its output, and a bar is none.

    Examples
    --------
    >>> import os
    >>> watched() == ("NBBIAS_OUT" not in os.environ)
    True
    """
    return "NBBIAS_OUT" not in os.environ
