"""Work side by side on threads: compiled code gives the lock back, and nothing is copied.

What is done in which thread, and by how many, moves no number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from nbbias.tables.chunks import count_workers
from nbbias.tables.waiting import progress

T = TypeVar("T")
R = TypeVar("R")

#: How many threads a thread may start in its turn.
_own = threading.local()


def count_threads() -> int:
    """Return how many threads may work here: the workers of this run, or a thread's part of them.

    Examples
    --------
    >>> count_threads() > 0
    True
    """
    known: int = getattr(_own, "threads", 0)
    return known or count_workers()


def map_threads(function: Callable[[T], R], items: Sequence[T], *, what: str = "") -> list[R]:
    """Call a function on every item, as many at a time as there are threads; results in order.

    Where no run records the output, a bar says how far, if it is told of `what`.

    Examples
    --------
    >>> map_threads(abs, [-1, 2])
    [1, 2]
    """
    at_once = min(count_threads(), len(items))
    if at_once < 2:
        return [function(item) for item in (progress(items, what) if what else items)]

    def begin(each: int = count_threads() // at_once) -> None:
        _own.threads = each

    with ThreadPoolExecutor(at_once, initializer=begin) as pool:
        begun = [pool.submit(function, item) for item in items]
        return [one.result() for one in (progress(begun, what) if what else begun)]
