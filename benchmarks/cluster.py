"""One corpus by one process, by several, and by a cluster of which a worker is killed meanwhile.

`python -m benchmarks.cluster`: what the workers read they read from the Parquet file themselves;
the tables must be equal to the last bit. What 100 nodes and 10 billion words take is computed from
what one core took here; only the price of a core is given (`--price`).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import corpus
from nbbias import news, tables, text
from nbbias.tables import Column

FORM = {"text": Column("text", needed=True)}
#: Words, nodes and cores of a node for which time and cost are told.
WORDS, NODES, CORES = 10_000_000_000, 100, 16


def measured(rows: pd.DataFrame, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Return of each text its words, sentences, group words and the mean polarity of its sentences.

    What a worker does with a chunk: a function of a module that all workers can import.

    >>> list(measured(pd.DataFrame({"text": ["She left."]}), text.lexicons.load("gender")))
    ['words', 'sentences', 'polarity', 'n_female', 'n_male']
    """
    sentences, matches = text.annotate.annotate(rows["text"], lexicon)
    whole = rows["text"].loc[sentences["text_id"]]
    places = zip(whole, sentences["start"], sentences["end"], strict=True)
    said = pd.Series([one[start:end] for one, start, end in places], dtype="str")
    polarity = text.sentiment.score(said)["polarity"].to_numpy()
    by_text = sentences.assign(polarity=polarity).groupby("text_id")
    found = pd.DataFrame(
        {
            "words": rows["text"].str.split().str.len(),
            "sentences": by_text.size(),
            "polarity": by_text["polarity"].mean(),
        },
        index=rows.index,
    )
    for bias in lexicon["bias"].unique():
        own = matches[matches["bias"] == bias]
        groups = text.lexicons.groups(lexicon, bias)
        counts = text.annotate.count(own, by=["text_id"], groups=groups).set_index("text_id")
        found = found.join(counts)
    return found.fillna({name: 0 for name in found if name.startswith("n_")})


def runs(path: Path, lexicon: pd.DataFrame, *, workers: int) -> pd.DataFrame:
    """Measure a corpus by one process, several, and a cluster; tell whether tables are equal."""
    from distributed import LocalCluster

    def whole(**how: Any) -> pd.DataFrame:
        parts = tables.map_chunks(measured, path, given=(lexicon,), form=FORM, size=4_000_000)
        return pd.concat(parts).assign(chunks=len(parts))

    rows: list[dict[str, Any]] = []
    reference = None

    def timed(engine: str, processes: int, killed: int = 0) -> None:
        nonlocal reference
        clock, cpu = time.perf_counter(), time.process_time()
        found = whole()
        seconds, cpu = time.perf_counter() - clock, time.process_time() - cpu
        reference = found if reference is None else reference
        rows.append(
            {
                "engine": engine,
                "processes": processes,
                "killed": killed,
                "seconds": seconds,
                "cpu_seconds": cpu if processes == 1 else None,
                "chunks": int(found["chunks"].iloc[0]),
                "texts": len(found),
                "words": int(found["words"].sum()),
                "equal": found.equals(reference),
            }
        )

    with tables.set_environment(NBBIAS_WORKERS="1", NBBIAS_CACHE="off"):
        measured(pd.DataFrame({"text": ["She left."]}), lexicon)  # compiled, instruments open
        timed("one process", 1)
    with tables.set_environment(NBBIAS_WORKERS=str(workers), NBBIAS_CACHE="off"):
        timed("loky", workers)
    with (
        tables.set_environment(NBBIAS_CACHE="off"),
        LocalCluster(n_workers=workers + 1, threads_per_worker=1, dashboard_address=None) as there,
        tables.use_engine("dask", there.scheduler_address),
    ):
        timed("dask", workers + 1)

        def kill() -> None:
            time.sleep(rows[-1]["seconds"] / 3)
            os.kill(there.workers[0].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        timed("dask", workers + 1, killed=1)
        killer.join()
    return pd.DataFrame(rows)


def cost(rows: pd.DataFrame, path: Path, *, price: float) -> dict[str, float]:
    """Return what many nodes take for many words, from what one core took for one word here.

    >>> one = pd.DataFrame({"cpu_seconds": [10.0], "words": [1_000_000], "chunks": [2]})
    >>> cost(one, Path(__file__), price=0.05)["core_hours"]
    27.8
    """
    first = rows.iloc[0]
    seconds = WORDS * first["cpu_seconds"] / first["words"]
    size = WORDS * path.stat().st_size / first["words"]
    minutes = seconds / 60 / (NODES * CORES)
    return {
        "words": WORDS,
        "words_a_second_and_core": round(first["words"] / first["cpu_seconds"]),
        "core_hours": round(seconds / 3600, 1),
        "minutes": round(minutes, 2),
        "price": round(seconds / 3600 * price, 2),
        "gigabytes_read": round(size / 1e9, 1),
        "megabytes_a_second_and_node": round(size / 1e6 / NODES / (60 * minutes), 1),
        "chunks": round(WORDS * first["chunks"] / first["words"]),
    }


def main() -> None:
    """Write the corpus, run it, print both tables and keep them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=corpus.PAPER // 16)
    parser.add_argument("--corpus", type=Path, help="one that was written before")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--price", type=float, default=0.05, help="of an hour of a core, in dollars"
    )
    given = parser.parse_args()
    if given.corpus is None:
        given.corpus = corpus.OUT / "cluster-corpus"
        corpus.write(given.documents, given.corpus)
    path = given.corpus / "generations.parquet"
    lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
    rows = runs(path, lexicon, workers=given.workers)
    told = cost(rows, path, price=given.price)
    print(rows.to_string(index=False))
    print(json.dumps(told, indent=2))
    content = {"runs": rows.to_dict("records"), "cost": told, "price": given.price}
    tables.write(corpus.OUT / "cluster.json", json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    from benchmarks import cluster  # what is run as a script is a module of no name

    cluster.main()
