"""Time every stage the plain way and ours: `python -m benchmarks --size small`.

Both ways run one after the other in one process, and again in a new one for every round, so that
nothing is known of the texts before. Rows tell medians over the rounds. Where the plain way is
timed on fewer documents (`plain_documents`) its seconds are scaled to those of ours (`documents`).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import corpus

#: Documents, and rounds.
SIZES = {"small": (corpus.PAPER // 16, 2), "paper": (corpus.PAPER, 1)}

_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a function returns, its wall seconds, and the MB that it needed at most.

    Memory is what the process grew by at its highest; NaN where the system does not tell.
    """
    gc.collect()
    before = _peak(reset=True)
    start = time.perf_counter()
    found = function()
    seconds = time.perf_counter() - start
    return found, seconds, _peak() - before


def _peak(*, reset: bool = False) -> float:
    """Return the highest memory of this process since it was last reset."""
    try:
        if reset:
            ctypes.CDLL(None).malloc_trim(0)
            _FORGET.write_text("5")
        line = next(one for one in _STATUS.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    except (OSError, AttributeError, StopIteration):
        return float("nan")


def measure(documents: int, *, only: str = "") -> list[dict[str, Any]]:
    """Time every stage once, both ways, in this process."""
    from benchmarks.given import Given, Some
    from benchmarks.peers import PEERS
    from benchmarks.stages import STAGES

    whole = Given(corpus.at(documents), documents=documents)
    small = min(documents, SIZES["small"][0])
    # What reads lists and compiles is no part of what is timed.
    tiny = whole.first(32)
    rows = []
    for stage in [*STAGES, *PEERS]:
        if only not in stage.name:
            continue
        print(f"  {stage.name}: ", file=sys.stderr, end="", flush=True)
        ours = whole.first(stage.most) if stage.most else whole
        some = ours if stage.share == 1 else Some(ours, documents=int(small * stage.share))
        for own in (tiny, ours, some):
            for name in stage.given:
                getattr(own, name)
        for way in (stage.plain, stage.ours):
            way(tiny)
        # Ours first: what it leaves in the libraries' caches is to the good of the plain way.
        second, seconds, mb = timed(partial(stage.ours, ours))
        first, plain_seconds, plain_mb = timed(partial(stage.plain, some))
        if stage.known:
            plain_seconds -= timed(partial(stage.known, some))[1]
        plain_seconds *= ours.documents / some.documents
        rows.append(
            {
                "stage": stage.name,
                "plain_seconds": plain_seconds,
                "ours_seconds": seconds,
                "ratio": plain_seconds / seconds,
                "threads": stage.threads,
                "exactness": stage.compare(first, second, some, ours),
                "peak_mb": mb,
                "plain_peak_mb": plain_mb,
                "documents": ours.documents,
                "plain_documents": some.documents,
            }
        )
        told = f"{plain_seconds:.2f} / {seconds:.2f} s, {rows[-1]['exactness']}"
        print(told, file=sys.stderr, flush=True)
    return rows


def median(rounds: list[list[dict[str, Any]]]) -> pd.DataFrame:
    """Return one row for each stage: medians of the rounds, what was compared in the last.

    Examples
    --------
    >>> row = {"stage": "a", "plain_seconds": 2.0, "ours_seconds": 1.0, "exactness": "equal"}
    >>> found = median([[row], [row | {"ours_seconds": 0.5}], [row | {"ours_seconds": 0.4}]])
    >>> found["ratio"].tolist()
    [4.0]
    """
    last = pd.DataFrame(rounds[-1])
    every = pd.concat(map(pd.DataFrame, rounds))
    numbers = every.groupby("stage", sort=False)[["plain_seconds", "ours_seconds"]].median()
    last[["plain_seconds", "ours_seconds"]] = numbers.loc[last["stage"]].to_numpy()
    return last.assign(ratio=last["plain_seconds"] / last["ours_seconds"])


def with_sum(table: pd.DataFrame, stages: tuple[str, ...], name: str) -> pd.DataFrame:
    """Add a row for some stages together."""
    own = table[table["stage"].isin(stages)]
    if len(own) < len(stages):
        return table
    row = own.iloc[-1].to_dict() | {"stage": name, "exactness": "the sum of the rows above"}
    row |= own[["plain_seconds", "ours_seconds"]].sum().to_dict()
    row |= own[["peak_mb", "plain_peak_mb"]].max().to_dict()
    row["ratio"] = row["plain_seconds"] / row["ours_seconds"]
    at = own.index[-1] + 1
    parts = [table.iloc[:at], pd.DataFrame([row]), table.iloc[at:]]
    return pd.concat(parts, ignore_index=True)


def printed(table: pd.DataFrame) -> str:
    """Return the table as Markdown."""
    shown = table.assign(
        plain_seconds=table["plain_seconds"].map("{:,.2f}".format),
        ours_seconds=table["ours_seconds"].map("{:,.2f}".format),
        ratio=table["ratio"].map("{:,.1f}×".format),
        peak_mb=table["peak_mb"].map("{:,.0f}".format),
        plain_peak_mb=table["plain_peak_mb"].map("{:,.0f}".format),
    )
    lines = [[*shown.columns], ["---"] * len(shown.columns), *shown.astype(str).values.tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> dict[str, Any]:
    """Say where and with what was measured."""
    packages = ("nbbias", "numpy", "pandas", "spacy", "gensim", "numba", "textblob")
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "load": os.getloadavg()[0],
        **{name: version(name) for name in packages},
    }


def main() -> None:
    """Run the rounds, each in a process of its own; print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="paper")
    parser.add_argument("--documents", type=int, help="instead of those of the size")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--only", default="", help="stages with these words in their names")
    parser.add_argument("--once", action="store_true", help="one round in this process, as JSON")
    given = parser.parse_args()
    documents = given.documents or SIZES[given.size][0]
    if given.once:
        print(json.dumps(measure(documents, only=given.only)))
        return
    from benchmarks.stages import TEXT

    before, start = machine(), time.perf_counter()
    corpus.at(documents)
    # One thread: with two, linear algebra waits by turning, which on few cores others pay for.
    alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    alone |= {"NBBIAS_CACHE": "off", "NBBIAS_WORKERS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "benchmarks", "--once", "--documents", str(documents)]
    command += ["--only", given.only]
    rounds = []
    for number in range(given.rounds or SIZES[given.size][1]):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ | alone)
        rounds.append(json.loads(done.stdout.splitlines()[-1]))
    table = with_sum(median(rounds), TEXT, "the text stage")
    name = str(documents) if given.documents else given.size
    told = {"size": name, "documents": documents, "rounds": len(rounds), "machine": before}
    told |= {"seconds": time.perf_counter() - start}
    rows = json.loads(table.replace({np.nan: None}).to_json(orient="records"))
    path = corpus.OUT / f"{name}.json"
    path.write_text(json.dumps(told | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(printed(table) + "\n", encoding="utf-8")
    print(printed(table))
    print(f"{told['seconds']:.0f} seconds; {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
