"""From what repeats gave to claims: does an interval hold, does a test err, as often as it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from nbbias import stats, tables
from nbbias.calibration.grid import DESIGN

#: What is estimated: its measure and statistic, the column of the share and of what it is of, and
#: whether the level is that of the intervals or what they leave out.
_ERRORS = (
    ("interval", "coverage_error", "coverage", "n_covered", True),
    ("test", "false_positive_error", "told", "n_tested", False),
    ("lead", "false_lead_error", "false", "n_false", False),
)


def estimates(outcomes: pd.DataFrame, leads: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Estimate by how much coverage, false positives and false leads miss the level they name.

    Parameters
    ----------
    outcomes, leads
        What `grid.simulate` returned of trials and of leads.
    confidence
        Level of the intervals that were calibrated, and of those on this page.

    Returns
    -------
    DataFrame
        ESTIMATES, by `source` (study), `dimension` (measure), `task` (statistic), over all designs,
        by `topic` (number of units) and by `prompt` (world):

        - ``coverage_error``: share of intervals that hold the truth, less `confidence`;
        - ``false_positive_error``: share of tests that tell something where nothing is planted,
          less 1 - `confidence`;
        - ``false_lead_error``: share of pages, with nothing planted, whose first sentence is
          false, less the same.

        0 is as it should be. `n` counts simulated studies: rows of one study, such as its groups,
        are averaged, not counted. Interval: Wilson's. `p_value`: the score test of the level,
        `p_adjusted` Holm's over the rows of a statistic that stand alike.

    Examples
    --------
    >>> design = dict(zip(DESIGN, ("s", "m", "articles", "w", False, 30, 12, 0.0), strict=True))
    >>> row = design | {"statistic": "d", "group": None, "planted": 0.0, "repeats": 100,
    ...                 "coverage": 0.8, "n_covered": 100, "told": 0.06, "n_tested": 100}
    >>> found = estimates(pd.DataFrame([row]), pd.DataFrame(), confidence=0.95)
    >>> found[found["topic"].isna() & found["prompt"].isna()]["estimate"].round(3).tolist()
    [-0.15, 0.01]
    """
    rows: list[dict[str, Any]] = []
    for measure, statistic, share, counted, nominal in _ERRORS:
        table = leads.assign(statistic="lead") if measure == "lead" else outcomes
        if table.empty or share not in table:
            continue
        own = table[table[counted] > 0]
        if not nominal:
            own = own[own["planted"] == 0]
        level = confidence if nominal else 1 - confidence
        key = {"measure": measure, "statistic": statistic}
        rows += [key | row for row in _cells(by_design(own, share, counted), level, confidence)]
    found = tables.estimates(
        rows, study="calibration", confidence=confidence, instrument="simulated studies"
    )
    families = ["measure", found["topic"].isna(), found["prompt"].isna()]
    return stats.adjust(found, family=families)


def in_words(name: str) -> str:
    """Return a name as readers meet it.

    Examples
    --------
    >>> in_words("share_difference")
    'share difference'
    """
    return name.replace("_", " ")


def by_design(own: pd.DataFrame, share: str, counted: str) -> pd.DataFrame:
    """Average the rows of a statistic within a design: groups of one study are no more studies.

    Parameters
    ----------
    own
        OUTCOMES with `DESIGN`.
    share, counted
        The columns of a share, and of what it is a share of.

    Returns
    -------
    DataFrame
        `DESIGN`, `statistic`, `share`, `count` and `repeats`.

    Examples
    --------
    >>> row = dict.fromkeys(DESIGN, 1) | {"statistic": "d", "repeats": 40, "n_covered": 40}
    >>> table = pd.DataFrame([row | {"coverage": 1.0}, row | {"coverage": 0.5}])
    >>> by_design(table, "coverage", "n_covered")[["share", "count"]].values.tolist()
    [[0.75, 40.0]]
    """
    grouped = own.groupby([*DESIGN, "statistic"], sort=False)
    table = grouped.agg(share=(share, "mean"), count=(counted, "max"), repeats=("repeats", "max"))
    return table.reset_index()


def _cells(table: pd.DataFrame, level: float, confidence: float) -> Iterator[dict[str, Any]]:
    for (study, measure, statistic), own in table.groupby(
        ["study", "measure", "statistic"], sort=False
    ):
        names = {"source": study, "dimension": measure, "task": statistic}
        key = {name: in_words(str(one)) for name, one in names.items()}
        yield key | _error(own, level, confidence)
        for n, some in own.groupby("n", sort=True):
            yield key | {"topic": f"N = {n}"} | _error(some, level, confidence)
        for world, some in own.groupby("world", sort=False):
            yield key | {"prompt": world} | _error(some, level, confidence)


def _error(own: pd.DataFrame, level: float, confidence: float) -> dict[str, Any]:
    n = int(own["count"].sum())
    share = float(np.average(own["share"], weights=own["count"]))
    row = stats.wilson(share, n, confidence=confidence).row()
    z = (share - level) / np.sqrt(level * (1 - level) / n)
    return {
        "estimate": share - level,
        "ci_low": row["ci_low"] - level,
        "ci_high": row["ci_high"] - level,
        "n": n,
        "n_lost": int(own["repeats"].sum()) - n,
        "null": 0.0,
        "test": "score test of a share",
        "statistic_value": z,
        "p_value": float(2 * norm.sf(abs(z))),
    }
