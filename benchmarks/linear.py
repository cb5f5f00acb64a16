"""How time and memory grow with the corpus, from files to estimates: `python -m benchmarks.linear`.

Words, sentences and topics (one fit, K = 250) of an eighth, a quarter, half and all of the papers'
documents, each in a process of its own. `--plain` leaves the faster ways of `nbbias.fast` out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import corpus
from nbbias.text import instruments

PARTS = (8, 4, 2, 1)
TOPICS = 250
#: Documents of a first run, which compiles what is kept from then on, and is not shown.
_COMPILES = 640


def steps(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the steps of a study of a corpus, in order, each a function of nothing."""
    from nbbias import news, stats

    inference, held = stats.InferenceSettings(), {}

    def read() -> None:
        paths = [str(folder / f"{side}.parquet") for side in ("originals", "generations")]
        lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
        held["read"] = news.annotate(news.pair(*news.read(*paths)), lexicon=lexicon)

    def score() -> None:
        how: dict[str, Any] = {"scorers": ["textblob"], "toxicity_scorer": "offline"}
        held["scored"] = news.scoring.score(held["read"], **how)

    def fit() -> None:
        number = news.fits.number(held["read"], candidates=[TOPICS], seed=1)
        how = news.fits.Fitting(TOPICS, [1])
        held["fitted"] = news.fits.fit(held["read"], number.tokens, how)

    yield "texts read: sentences, group words", read
    yield "words: estimates", lambda: news.words.level(held["read"], inference=inference)
    yield "sentences scored: tone, toxicity", score
    yield (
        "sentences: estimates",
        lambda: news.tone.level(held["read"], held["scored"], inference=inference),
    )
    yield f"topics fitted: K = {TOPICS}, one fit", fit
    yield (
        "topics: estimates",
        lambda: news.topics.level(held["read"], held["fitted"], inference=inference),
    )


def measure(documents: int) -> list[dict[str, Any]]:
    """Time the steps of one size in this process, with their highest memory (PSS).

    Processor seconds are those of this process and of its workers.
    """
    import psutil

    process, peaks, done = psutil.Process(), [0.0], threading.Event()
    spent: dict[int, float] = {}

    def watch() -> None:
        while not done.wait(0.25):
            total = 0
            for task in (process, *process.children(recursive=True)):
                try:
                    info = task.memory_full_info()
                    spent[task.pid] = sum(task.cpu_times()[:2])
                except psutil.NoSuchProcess:
                    continue
                total += getattr(info, "pss", info.uss)
            peaks[-1] = max(peaks[-1], total / 2**20)

    threading.Thread(target=watch, daemon=True).start()
    rows = []
    for name, step in steps(corpus.at(documents)):
        peaks.append(0.0)
        start, before = time.perf_counter(), sum(spent.values())
        step()
        time.sleep(0.5)  # the watcher looks once more
        seconds, cpu = time.perf_counter() - start - 0.5, sum(spent.values()) - before
        print(f"  {name}: {seconds:.1f} s, {cpu:.1f} CPU s", file=sys.stderr, flush=True)
        rows.append({"documents": documents, "step": name, "seconds": seconds, "cpu": cpu})
    done.set()
    return [row | {"peak_mb": peak} for row, peak in zip(rows, peaks[1:], strict=True)]


def exponents(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the processor seconds of each step by size, and the exponent of their growth.

    Examples
    --------
    >>> rows = pd.DataFrame({"step": "a", "documents": [8, 16], "cpu": [1.0, 2.0]})
    >>> exponents(rows)["exponent"].to_dict()
    {'a': 1.0, 'all': 1.0}
    """
    table = rows.pivot_table(index="step", columns="documents", values="cpu", sort=False)
    table.loc["all"] = table.sum()
    least, most = table.columns[0], table.columns[-1]
    exponent = np.log(table[most] / table[least]) / np.log(most / least)
    return table.assign(exponent=exponent.round(2))


def main() -> None:
    """Time all sizes, print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="*", help="instead of the four sizes")
    parser.add_argument("--plain", action="store_true", help="without nbbias.fast")
    parser.add_argument("--once", action="store_true", help="one size in this process, as JSON")
    args = parser.parse_args()
    sizes = args.documents or [corpus.PAPER // part for part in PARTS]
    if args.once:
        os.environ.update({instruments.PLAIN: "1"} if args.plain else {})
        print(json.dumps(measure(sizes[0])))
        return
    # One thread in linear algebra, and no stage is kept.
    environment = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    environment |= {"NBBIAS_CACHE": "off", "NBBIAS_OUT": str(corpus.OUT)}
    environment |= {instruments.PLAIN: "1"} if args.plain else {}
    rows = []
    for documents in [_COMPILES, *sizes]:
        corpus.at(documents)
        print(f"{documents:,} documents", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "benchmarks.linear", "--once", "--documents"]
        done = subprocess.run(
            [*command, str(documents)],
            stdout=subprocess.PIPE,
            check=True,
            env=os.environ | environment,
        )
        rows += json.loads(done.stdout.splitlines()[-1]) if documents != _COMPILES else []
    table = pd.DataFrame(rows)
    name = "linear-plain.csv" if args.plain else "linear.csv"
    table.to_csv(corpus.OUT / name, index=False)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(exponents(table).round(1).to_string())
    totals = table.groupby("documents").agg(seconds=("seconds", "sum"), mb=("peak_mb", "max"))
    print(totals.round(0).to_string())


if __name__ == "__main__":
    main()
