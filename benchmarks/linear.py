"""How time and memory grow with the corpus, from files to estimates: `python -m benchmarks.linear`.

Words, sentences and topics (one fit, K = 250) of an eighth, a quarter, half and all of the papers'
documents, each in a process of its own: a table of the steps, and a plot. `--profile` says instead
which functions take the time of one size.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import pstats
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
from benchmarks.__main__ import machine
from nbbias.running import run as runner

#: Parts of the papers' corpus.
PARTS = (8, 4, 2, 1)
TOPICS = 250
#: Documents of a first run, which compiles what is kept from then on, and is not told.
_COMPILES = 320


def steps(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the steps of a study of a corpus, in order, each a function of nothing."""
    from nbbias import news, stats
    from nbbias.news.fits import Fitting

    inference, held = stats.InferenceSettings(), {}

    def read() -> None:
        paths = [str(folder / f"{side}.parquet") for side in ("originals", "generations")]
        people, models = news.read(*paths)
        lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
        held["read"] = news.annotate(news.pair(people, models), lexicon=lexicon)

    def scored() -> None:
        how: dict[str, Any] = {"scorers": ["textblob"], "toxicity_scorer": "offline"}
        held["scored"] = news.tone.score(held["read"], **how)

    def fitted() -> None:
        number = news.fits.number(held["read"], candidates=[TOPICS], seed=1)
        how = Fitting(TOPICS, [1])
        held["fitted"] = news.fits.fit(held["read"], number.tokens, how)

    def dealt() -> None:
        few = inference._replace(n_permutations=20)
        held["dealt"] = news.topics.chance(
            held["read"], held["fitted"], sample_pairs=50, inference=few
        )

    yield "texts read: sentences, group words", read
    yield "words: estimates and chance", lambda: news.words.level(held["read"], inference=inference)
    yield "sentences scored: tone, toxicity", scored
    yield (
        "sentences: estimates and chance",
        lambda: news.tone.level(held["read"], held["scored"], inference=inference),
    )
    yield f"topics fitted: K = {TOPICS}, one fit", fitted
    yield "topics: chance", dealt
    yield (
        "topics: estimates",
        lambda: news.topics.level(
            held["read"], held["fitted"], news.topics.Beside(held["dealt"]), inference=inference
        ),
    )


def measured(documents: int) -> list[dict[str, Any]]:
    """Time the steps of one size in this process, and say what memory it held at most in each."""
    rows = []
    with _Watched() as watched:
        for name, step in steps(corpus.at(documents)):
            print(f"  {name}", file=sys.stderr, flush=True)
            watched.peak = 0.0
            start = time.perf_counter()
            step()
            seconds = time.perf_counter() - start
            rows.append({"documents": documents, "step": name, "seconds": seconds})
            rows[-1]["peak_mb"] = max(watched.peak, watched.look())
    return rows


class _Watched:
    """Look some times a second at the memory of this process and of those that it started."""

    def __init__(self) -> None:
        import psutil

        self.process, self.gone, self.peak = psutil.Process(), psutil.NoSuchProcess, 0.0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Watched:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def look(self) -> float:
        total = 0
        for one in (self.process, *self.process.children(recursive=True)):
            try:
                held = one.memory_full_info()
                total += getattr(held, "pss", held.uss)  # what several share is told once
            except self.gone:
                continue
        return total / 2**20

    def _watch(self) -> None:
        while not self.done.wait(0.25):
            self.peak = max(self.peak, self.look())


def profiled(documents: int, *, top: int = 30) -> str:
    """Return the functions that take most of the time of one size, by their own time."""
    profile = cProfile.Profile()
    for name, step in steps(corpus.at(documents)):
        print(f"  {name}", file=sys.stderr, flush=True)
        profile.runcall(step)
    told = io.StringIO()
    pstats.Stats(profile, stream=told).strip_dirs().sort_stats("tottime").print_stats(top)
    return told.getvalue()


def grown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each step by size, and its exponent: 1 where twice the documents take twice as long.

    Examples
    --------
    >>> rows = pd.DataFrame({"step": "a", "documents": [8, 16], "seconds": [1.0, 2.0]})
    >>> grown(rows)["exponent"].to_dict()
    {'a': 1.0, 'all': 1.0}
    """
    table = rows.pivot_table(index="step", columns="documents", values="seconds", sort=False)
    table.loc["all"] = table.sum()
    least, most = table.columns[0], table.columns[-1]
    exponent = np.log(table[most] / table[least]) / np.log(most / least)
    return table.assign(exponent=exponent.round(2))


def drawn(rows: pd.DataFrame, path: Path) -> None:
    """Draw seconds by step, and memory, over the documents; as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "nbbias"
    by_step = rows.pivot_table(index="documents", columns="step", values="seconds", sort=False)
    memory = rows.groupby("documents")["peak_mb"].max() / 1024
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    left.stackplot(by_step.index, by_step.T.to_numpy(), labels=by_step.columns)
    total = by_step.sum(axis=1)
    ends = np.array([0, total.index[-1]])
    left.plot(total.index, total, "o", color="black")
    left.plot(ends, ends * total.iloc[-1] / ends[1], "--", color="black", label="in proportion")
    left.set(xlabel="documents", ylabel="seconds", title="From files to estimates")
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles[::-1], labels[::-1], fontsize="small", loc="upper left")
    right.plot(memory.index, memory, "o-", color="black")
    right.axhline(4, color="black", linestyle=":")
    right.set(xlabel="documents", ylabel="GB", title="Memory at its highest", ylim=(0, None))
    for axes in (left, right):
        axes.set_xlim(0, None)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    metadata: dict[str, Any] = {"Date": None}
    figure.savefig(path.with_suffix(".svg"), metadata=metadata)
    figure.savefig(path.with_suffix(".png"), dpi=120)
    plt.close(figure)


def main() -> None:
    """Time all sizes, print the table, keep it with the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="*", help="instead of the four sizes")
    parser.add_argument("--once", action="store_true", help="one size in this process, as JSON")
    parser.add_argument("--profile", action="store_true", help="the functions of the first size")
    given = parser.parse_args()
    sizes = given.documents or [corpus.PAPER // part for part in PARTS]
    if given.once:
        print(json.dumps(measured(sizes[0])))
        return
    if given.profile:
        print(profiled(sizes[0]))
        return
    before, rows = machine(), []
    # One thread in linear algebra; what the package does side by side is told by NBBIAS_WORKERS.
    alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # All else as in a run of a notebook.
    alone |= runner.ENVIRONMENT | {"NBBIAS_CACHE": "off", "NBBIAS_OUT": str(corpus.OUT)}
    for documents in [_COMPILES, *sizes]:
        corpus.at(documents)
        print(f"{documents:,} documents", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "benchmarks.linear", "--once", "--documents"]
        done = subprocess.run(
            [*command, str(documents)], stdout=subprocess.PIPE, check=True, env=os.environ | alone
        )
        rows += json.loads(done.stdout.splitlines()[-1]) if documents != _COMPILES else []
    table = pd.DataFrame(rows)
    path = corpus.OUT / "linear"
    told = {"machine": before, "workers": os.environ.get("NBBIAS_WORKERS"), "rows": rows}
    path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if len(sizes) > 1:
        drawn(table, path)
    print(grown(table).round(1).to_string())
    print(table.groupby("documents")["peak_mb"].max().round(0).rename("MB").to_string())


if __name__ == "__main__":
    main()
