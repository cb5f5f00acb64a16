"""Side by side is one after the other, on other threads."""

from __future__ import annotations

import threading

import pytest

from nbbias.tables import count_threads, map_threads


@pytest.mark.parametrize("workers", ["1", "2", "7"])
def test_results_are_in_order_whatever_ends_first(
    workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_WORKERS", workers)
    wait = threading.Event()

    def square(n: int) -> int:
        if workers == "7" and n == 0:
            wait.wait(5)
        wait.set()
        return n * n

    assert map_threads(square, range(5)) == [0, 1, 4, 9, 16]
    assert map_threads(square, []) == []


def test_threads_of_threads_are_no_more_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBBIAS_WORKERS", "6")
    assert count_threads() == 6
    assert map_threads(lambda _: count_threads(), range(3)) == [2, 2, 2]
    assert map_threads(lambda _: count_threads(), range(9)) == [1] * 9
    assert count_threads() == 6


@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_mistake_in_a_thread_is_raised(workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBBIAS_WORKERS", workers)
    with pytest.raises(ZeroDivisionError):
        map_threads(lambda n: 1 // n, [1, 0, 2])
