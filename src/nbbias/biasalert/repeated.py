"""Judges trained several times: the paper's scores are means over three runs.

Each run has another split of the texts, and another seed. Their spread is what a training, and a
split, changes; no interval is made of it, since the runs share texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.biasalert import corpus, detection
from nbbias.biasalert.judges import bench
from nbbias.biasalert.judges.registry import Settings
from nbbias.tables import progress

SHARED = "runs share texts: their spread is no interval"

#: What is averaged.
_SCORES = ("accuracy_lost_wrong", "f1_lost_wrong")


def runs(
    names: Iterable[str], *, times: int, settings: Settings, knowledge_path: str, **texts: Any
) -> pd.DataFrame:
    """Train and test judges several times, each time on another split with another seed.

    Parameters
    ----------
    names
        Judges of `judges.registry.JUDGES`.
    times
        Runs; the first has the seed of `settings`, the next one more each.
    settings
        How judges are made.
    knowledge_path
        As in `corpus.knowledge`: of the training texts, it is made anew in each run.
    **texts
        As in `corpus.texts`, without the seed.

    Returns
    -------
    DataFrame
        One row per judge and run: `judge`, `instrument`, `run` (from 1), `n` (texts tested), and
        `accuracy` and `f1`, in which a text without a verdict counts as wrong.
    """
    chosen = list(names)
    rows = []
    for run in progress(range(times if chosen else 0), "training runs"):
        seed = settings.seed + run
        labelled, _ = corpus.texts(seed=seed, **texts)
        known, _ = corpus.knowledge(knowledge_path, labelled=labelled)
        test = labelled[labelled["split"] == "test"].reset_index(drop=True)
        made = bench.fit(chosen, labelled, known, settings=settings._replace(seed=seed))
        judgements, _ = made.judge(test, f"run {run + 1}", every=True)
        for case in detection.cases_of(judgements, test)[0]:
            scores = detection.scores(detection.hits(case).sum(axis=0))
            accuracy, f1 = (float(scores[name]) for name in _SCORES)
            instrument = made.instruments[case.judge]
            rows.append((case.judge, instrument, run + 1, len(test), accuracy, f1))
    return pd.DataFrame(rows, columns=["judge", "instrument", "run", "n", "accuracy", "f1"])


def estimates(found: pd.DataFrame, *, source: str | None = None) -> pd.DataFrame:
    """Average scores over runs.

    Parameters
    ----------
    found
        Of `runs`.
    source
        The name of the labelled texts.

    Returns
    -------
    DataFrame
        ESTIMATES: ``accuracy_over_runs`` and ``f1_over_runs``, the means, and
        ``accuracy_sd_over_runs``, ``f1_sd_over_runs``, the standard deviations. N counts runs;
        there is no interval, and `reason` says why.

    Examples
    --------
    >>> found = pd.DataFrame({"judge": "mine", "instrument": "mine", "run": [1, 2, 3], "n": 84,
    ...                       "accuracy": [0.7, 0.8, 0.75], "f1": [0.6, 0.8, 0.7]})
    >>> estimates(found).set_index("statistic")["estimate"].round(2).to_dict()["f1_sd_over_runs"]
    0.1
    """
    rows = []
    for (judge, instrument), own in found.groupby(["judge", "instrument"], sort=False):
        for score in ("accuracy", "f1"):
            for name, value in (("", own[score].mean()), ("_sd", own[score].std(ddof=1))):
                rows.append(
                    {
                        "judge": judge,
                        "instrument": instrument,
                        "n": len(own),
                        "n_lost": 0,
                        "statistic": f"{score}{name}_over_runs",
                        "estimate": float(value),
                        "reason": SHARED,
                    }
                )
    return tables.estimates(rows, study=detection.STUDY, measure=detection.MEASURE, source=source)
