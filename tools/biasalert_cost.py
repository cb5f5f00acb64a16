"""What a judgement costs: seconds to fit each offline judge, milliseconds to judge a text.

    NBBIAS_DATA=... python tools/biasalert_cost.py [--judges classifier tuned]

Run it on a machine that does nothing else. Times are wall clock, and the medians of several rounds,
on RedditBias' test texts; each distinct text is embedded once per process, so every round has texts
of its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import pandas as pd

from nbbias.biasalert import corpus, retrieval, twins
from nbbias.biasalert.judges import classifier, tuned
from nbbias.text import embeddings

_SEED = 20231222
_ROUNDS = {1: 60, 64: 10}

Found = TypeVar("Found")
Call = Callable[[pd.DataFrame], object]


def main() -> None:
    """Print a table: what, batch, median ms per text, and its quartiles."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judges", nargs="+", default=["classifier", "tuned"])
    given = parser.parse_args()
    table, _ = corpus.texts("${NBBIAS_DATA}/biasalert/redditbias.parquet", seed=_SEED)
    train = table[table["split"] == "train"].reset_index(drop=True)
    known, _ = corpus.knowledge("none", labelled=table)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {len(train):,} texts to fit on")
    base, seconds = timed(lambda: retrieval.prepare(known, seed=0))
    print(f"knowledge of {len(known):,} entries embedded: {seconds:.0f} s")

    def retrieve(texts: pd.DataFrame) -> pd.DataFrame:
        return retrieval.retrieve(texts, knowledge=base, k=5, progress=False)

    calls: dict[str, Call] = {"retrieval": retrieve}
    if "classifier" in given.judges:
        evidence, seconds = timed(lambda: retrieve(train))
        print(f"evidence for the training texts: {seconds:.0f} s")
        beside = twins.beside()
        _, seconds = timed(lambda: embeddings.embed(beside["text"]))
        print(f"twins embedded: {seconds:.0f} s")
        quick, seconds = timed(lambda: classifier.fit(train, evidence, beside=beside, seed=0))
        print(f"classifier fitted: {seconds:.0f} s, texts embedded before")
        calls["retrieval and classifier"] = lambda texts: classifier.judge(
            texts, retrieve(texts), fitted=quick, progress=False
        )
    if "tuned" in given.judges:
        slow, seconds = timed(lambda: tuned.fit(train, seed=_SEED, progress=False))
        print(f"tuned fitted: {seconds:.0f} s", flush=True)
        calls["tuned, without retrieval"] = lambda texts: tuned.judge(texts, tuned=slow)
    fresh = batches(table[table["split"] == "test"][["text_id", "text"]])
    for name, call in calls.items():
        call(next(fresh)(4))  # what is loaded once
        for size, rounds in _ROUNDS.items():
            spent = [timed(partial(call, next(fresh)(size)))[1] for _ in range(rounds)]
            low, middle, high = statistics.quantiles([1000 * s / size for s in spent], n=4)
            print(f"{name}, batch {size}: {middle:.1f} ms a text ({low:.1f} to {high:.1f})")


def timed(call: Callable[[], Found]) -> tuple[Found, float]:
    """Return what a call returns, and its seconds."""
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def batches(texts: pd.DataFrame) -> Iterator[Callable[[int], pd.DataFrame]]:
    """Yield functions that return the next texts, around again when all were had."""
    start = 0
    while True:

        def following(size: int) -> pd.DataFrame:
            nonlocal start
            rows = [(start + i) % len(texts) for i in range(size)]
            start += size
            return texts.iloc[rows].reset_index(drop=True)

        yield following


if __name__ == "__main__":
    main()
