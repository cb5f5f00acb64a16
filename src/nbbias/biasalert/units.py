"""The verdicts behind the judges' shares of right ones of a saved run.

Precision, F1 and naming a type are shares of texts that the verdict itself selects, and the
answers' verdicts are not saved: they have no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.biasalert import detection

#: Where a statistic is worse. Of two judges that are compared none is the better one to be.
WORSE = dict.fromkeys(("accuracy", "recall", "specificity"), "lower")

Block = tuple[dict[str, Any], pd.Series]


def values(run: Path, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return by text whether a judge was right, behind shares and differences of shares.

    Parameters
    ----------
    run
        The run's folder, with ``tables/test``, ``tables/judgements`` and ``tables/estimates``.
    parameters
        Those of the run.

    Examples
    --------
    >>> values(Path("no such run"), {}).empty
    True
    """
    test, judged, found = (
        tables.saved_table(run, name) for name in ("test", "judgements", "estimates")
    )
    if test is None or judged is None or found is None:
        return tables.units([], study=detection.STUDY)
    test = test.set_index(test["text_id"].astype(str))
    verdicts = judged.assign(text_id=judged["text_id"].astype(str)).pivot(
        index="text_id", columns="judge", values="biased"
    )
    verdicts = verdicts.reindex(test.index).astype("boolean").astype("Float64").astype(float)
    truth = test["biased"].astype(bool).astype(float)
    right = verdicts.eq(truth, axis=0).astype(float).where(verdicts.notna())
    own = found[found["measure"] == detection.MEASURE]
    clusters = test["comment_id"].where(test["comment_id"].notna(), test["text_id"]).astype(str)
    blocks = _blocks(own, right, test, truth == 1)
    return tables.units(blocks, study=detection.STUDY, clusters=clusters.to_dict())


def _blocks(
    found: pd.DataFrame, right: pd.DataFrame, test: pd.DataFrame, biased: pd.Series
) -> Iterator[Block]:
    for row in found.to_dict("records"):
        key = {name: row[name] for name in tables.UNIT_KEYS if pd.notna(row[name])}
        counted = test["bias_type"] == key["bias"] if "bias" in key else biased.notna()
        sides = [name for name in str(row["judge"]).split(" − ") if name in right]
        statistic = row["statistic"]
        if statistic == "accuracy_difference" and len(sides) == 2 and "bias" not in key:
            yield key, right[sides[0]] - right[sides[1]]
        if len(sides) != 1:
            continue
        own = right[sides[0]][counted]
        if statistic == "accuracy":
            yield key, own
        elif statistic == "recall":
            yield key, own[biased]
        elif statistic == "specificity":
            yield key, own[~biased]
