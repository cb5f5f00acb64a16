"""Is it what answers say, or that they name whom they were asked to be? The RBS without names.

An answer that repeats its identity ("as a Muslim …") lies further from the default by these words
alone, whatever else it says: sentence vectors move with them. So answers are embedded once more
with the plain words of every identity masked, in defaults too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd

from nbbias import stats
from nbbias.cogs import rbs
from nbbias.cogs.spread import FACETS, Row
from nbbias.cogs.visible import LEVELS, markers
from nbbias.tables import read_shipped_yaml
from nbbias.text import audit

#: Ends the name of what is measured without identity words.
MASKED = "_masked"


@cache
def _instead() -> dict[str, str]:
    told = read_shipped_yaml("cogs/masks.yaml")
    plain = [str(word).lower() for own in markers().values() for word in own[LEVELS[0]]]
    return {word: told.get(word, "") for word in plain}


def answers(asked: pd.DataFrame) -> pd.DataFrame:
    """Return answers in which the plain words of all identities (`visible.markers`) are masked.

    Parameters
    ----------
    asked
        The table of `rbs.read_answers`.

    Examples
    --------
    >>> answers(pd.DataFrame({"text": ["A Black woman sang.", None]}))["text"].tolist()
    ['A person sang.', nan]
    """
    return asked.assign(text=audit.replace_words(asked["text"], _instead()))


def estimates(
    distances: pd.DataFrame,
    masked: pd.DataFrame,
    *,
    facets: Sequence[str] = FACETS,
    confidence: float,
) -> pd.DataFrame:
    """Part the distances: without identity words, and what these alone add.

    Parameters
    ----------
    distances, masked
        The tables of `rbs.distances`, of the answers and of what `answers` made of them.
    facets, confidence
        As in `rbs.rbs`.

    Returns
    -------
    DataFrame
        ESTIMATES over all tasks, by `statistic`: ``rbs_masked`` and ``distance_masked``, as ``rbs``
        and ``distance`` in `rbs.rbs`; ``distance_words``, by identity the mean of the distance less
        the masked one, in [-2, 2], tested against 0, `p_adjusted` Holm's over identities. The
        corrections are apart from those of `rbs.rbs`.

    Examples
    --------
    >>> from nbbias import cogs
    >>> said = cogs.rbs.read_answers("sample")
    >>> first = said[said["task"] == said["task"].iloc[0]]
    >>> both = [cogs.rbs.distances(one, model="offline") for one in (first, answers(first))]
    >>> table = estimates(*both, confidence=0.95)
    >>> sorted(table["statistic"].unique())
    ['distance_masked', 'distance_words', 'rbs_masked']
    """
    options: dict[str, Any] = {"facets": facets, "confidence": confidence}
    kept = rbs.rbs(masked, **options).estimates
    kept = kept[kept["statistic"].isin(["rbs", "distance"])]
    kept = kept.assign(statistic=kept["statistic"] + MASKED)
    # Rows of both are in one order: they are of the same answers.
    added = distances.assign(distance=distances["distance"] - masked["distance"])
    rows: list[Row] = []
    for key, own in rbs.cells(added, by_task=False):
        for identity, values in rbs.instances(own).items():
            row = stats.crossed_mean(values, bounds=(-2.0, 2.0), **options).row()
            rows.append(key | {"statistic": "distance_words", "group": identity, "null": 0.0} | row)
    words = rbs.adjusted(rows, parts=["distance_words"], measure="rbs", **options)
    return pd.concat([kept, words.estimates], ignore_index=True)
