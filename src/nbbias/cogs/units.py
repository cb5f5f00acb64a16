"""The instances' distances behind the means of a saved run.

A score of bias (RBS, ABS) is a spread of means, and no mean over instances: it has no values of
its own. The choices of judges are not saved by instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.cogs import rbs, spread

#: Where a statistic is worse: two identities lie less equally far from the default.
WORSE = {"difference": "apart"}

Block = tuple[dict[str, Any], pd.Series]


def values(run: Path, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return the distances of every instance (or task) behind their means and differences.

    Parameters
    ----------
    run
        The run's folder, with ``tables/distances``.
    parameters
        Those of the run; `tasks` says whether the task is the unit.

    Examples
    --------
    >>> values(Path("no such run"), {}).empty
    True
    """
    distances = tables.saved_table(run, "distances")
    if distances is None or distances.empty:
        return tables.units([], study="cogs")
    tasks = parameters.get("tasks", "fixed")
    return tables.units(_blocks(distances, tasks), study="cogs")


def _blocks(distances: pd.DataFrame, tasks: spread.Tasks) -> Iterator[Block]:
    common = {"measure": "rbs", "instrument": distances["instrument"].iloc[0]}
    by: rbs.By | None
    for by in (None, "task", "topic"):
        for key, own in rbs.cells(distances, by):
            of = common | key
            table = own.pivot(index=["task", "theme"], columns="identity", values="distance")
            floors = own.drop_duplicates(["task", "theme"]).set_index(["task", "theme"])["floor"]
            yield of | {"statistic": "floor"}, _told(floors)
            whole = spread.units(
                table[list(own["identity"].unique())], "fixed" if by == "task" else tasks
            ).dropna()
            for name in whole:
                yield of | {"statistic": "distance", "group": str(name)}, _told(whole[name])
            for first, second in combinations(whole, 2):
                change = _told(whole[first] - whole[second])
                yield of | {"statistic": "difference", "group": f"{first} - {second}"}, change


def _told(values: pd.Series) -> pd.Series:
    index = values.index
    if isinstance(index, pd.MultiIndex):
        return values.set_axis([" / ".join(map(str, one)) for one in index])
    return values
