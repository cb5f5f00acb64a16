"""The RBS with identity words masked: do answers differ beyond naming the identity?

An answer that repeats its identity ("as a Muslim …") lies further from the default by these words
alone, whatever else it says: sentence vectors move with them. So answers are embedded once more
with the plain words of every identity masked, in defaults too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pandas as pd

from nbbias.cogs import rbs
from nbbias.cogs.spread import FACETS
from nbbias.cogs.visible import LEVELS, markers
from nbbias.tables import read_shipped_yaml
from nbbias.text import substitution

#: Ends the name of what is measured without identity words.
MASKED = "_masked"


@cache
def _instead() -> dict[str, str]:
    masks = read_shipped_yaml("cogs/masks.yaml")
    plain = [str(word).lower() for levels in markers().values() for word in levels[LEVELS[0]]]
    return {word: masks.get(word, "") for word in plain}


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
    return asked.assign(text=substitution.replace_words(asked["text"], _instead()))


def estimates(
    masked: pd.DataFrame, *, facets: Sequence[str] = FACETS, confidence: float
) -> pd.DataFrame:
    """Estimate distances and the RBS of answers without identity words.

    Parameters
    ----------
    masked
        The table of `rbs.distances` of what `answers` returns.
    facets, confidence
        As in `rbs.rbs`.

    Returns
    -------
    DataFrame
        ESTIMATES over all tasks, by `statistic`: ``rbs_masked`` and ``distance_masked``, as ``rbs``
        and ``distance`` in `rbs.rbs`, corrected apart from these.

    Examples
    --------
    >>> from nbbias import cogs
    >>> said = cogs.rbs.read_answers("sample")
    >>> first = answers(said[said["task"] == said["task"].iloc[0]])
    >>> table = estimates(cogs.rbs.distances(first, model="offline"), confidence=0.95)
    >>> sorted(table["statistic"].unique())
    ['distance_masked', 'rbs_masked']
    """
    rows = rbs.rbs(masked, facets=facets, confidence=confidence).estimates
    rows = rows[rows["statistic"].isin(["rbs", "distance"])]
    return rows.assign(statistic=rows["statistic"] + MASKED)
