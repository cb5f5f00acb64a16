"""What the levels of the news study share: their result, articles, prejudice, families, losses.

>>> import pandas as pd
>>> from nbbias import news
>>> cell = {"source": "s", "model": "m", "prompt": "p", "bias": "gender", "instrument": "list"}
>>> scores = pd.DataFrame([cell | {"reason": "blank answer"}, cell | {"reason": None}])
>>> news.claims.losses(scores)[["pairs", "blank answer", "counted"]].to_dict("records")
[{'pairs': 2, 'blank answer': 1, 'counted': 1}]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.news.corpus import CELL
from nbbias.stats import InferenceSettings
from nbbias.stats.intervals import ROUNDING

Row = dict[str, Any]

#: Statistics whose two groups, where there are just two, mirror each other: one test.
MIRRORED: tuple[str, ...] = ("share_difference", "share_difference_passages")
MIRRORED += ("omission_difference", "first_mention_difference")
MIRRORED += ("diversity_difference_beyond_others",)


class Level(NamedTuple):
    """Results of one level: words, sentences or documents.

    `scores`: SCORES of every pair; `losses`: what was lost at each step; `estimates`: ESTIMATES,
    each claim beside its leading reference; `chance`: CHANCE, every reference of every claim;
    `units`: UNITS, the articles' values behind means, none of topics: a fit has its own.

    Examples
    --------
    >>> from nbbias import news
    >>> news.Level._fields
    ('scores', 'losses', 'estimates', 'chance', 'units')
    """

    scores: pd.DataFrame
    losses: pd.DataFrame
    estimates: pd.DataFrame
    chance: pd.DataFrame
    units: pd.DataFrame = pd.DataFrame()


def level(scores: pd.DataFrame, result: tables.Estimated, references: pd.DataFrame) -> Level:
    """Put a level's tables together, each claim beside its leading reference.

    Parameters
    ----------
    scores, result
        SCORES of the pairs; ESTIMATES with the nulls of prejudice, which were permuted, and UNITS.
    references
        CHANCE of the distances.
    """
    permuted = reference(result.estimates, "permutation")
    chance = pd.concat([permuted, references], ignore_index=True)
    table = tables.with_chance(result.estimates, references)
    return Level(scores, losses(scores), table, chance, result.units)


# --- repeated answers -------------------------------------------------------------------------


class Pooling(NamedTuple):
    """How a level makes one unit of several answers to one article.

    `columns`: the beginning of a column's name → ``"sum"`` or ``"mean"`` over the answers that
    count; of other columns the first such answer's value stands. `again`: measures the pooled rows
    anew, whose `reason` is missing. `usable`: reasons with which an answer counts all the same.

    Examples
    --------
    >>> from nbbias import news
    >>> news.claims.Pooling._fields
    ('columns', 'again', 'usable')
    """

    columns: Mapping[str, str]
    again: Callable[[pd.DataFrame], pd.DataFrame] = lambda pooled: pooled
    usable: Collection[str] = ()


def per_article(scores: pd.DataFrame, pooling: Pooling) -> pd.DataFrame:
    """Pool repeated answers to one article: the article is the unit, at every level.

    Parameters
    ----------
    scores
        SCORES of one bias.
    pooling
        How the level's columns pool.

    Returns
    -------
    DataFrame
        One row a unit, in order; it is lost, with the reason of its first answer, where all its
        answers are. Answers without an original are left out, unless the cell has no others.

    Examples
    --------
    >>> from nbbias import news
    >>> answer = {"source": "s", "model": "m", "prompt": "p", "article_id": "1", "reason": None}
    >>> scores = pd.DataFrame([answer | {"difference_a": d} for d in (-0.2, 0.4)])
    >>> per_article(scores, Pooling({"difference_": "mean"}))["difference_a"].round(2).tolist()
    [0.1]
    """
    orphan = scores["reason"].eq("no original")
    scores = scores[~orphan | orphan.groupby([scores[key] for key in CELL]).transform("all")]
    possible = (*CELL, "article_id", "bias", "measure", "instrument", "seed")
    keys = [key for key in possible if key in scores]
    if not scores.duplicated(keys).any():
        return scores
    usable = scores["reason"].isna() | scores["reason"].isin(pooling.usable)
    # Answers that count come first, so that one of them stands for the article.
    order = usable.sort_values(ascending=False, kind="stable").index
    first = scores.assign(reason=scores["reason"].mask(usable)).loc[order].drop_duplicates(keys)
    answers = scores[usable].groupby(keys, sort=False)
    for beginning, how in pooling.columns.items():
        names = [name for name in scores if name.startswith(beginning)]
        of = answers[names].sum(min_count=1) if how == "sum" else answers[names].mean()
        pooled = first[keys].merge(of.reset_index(), on=keys, how="left").set_index(first.index)
        first[names] = pooled[names].where(first["reason"].isna(), first[names])
    first = scores[keys].drop_duplicates().merge(first, on=keys)[list(scores.columns)]
    counts = first["reason"].isna()
    parts = [pooling.again(first[counts]), first[~counts]]
    return pd.concat([part for part in parts if len(part)]).sort_index()


# --- one cell ---------------------------------------------------------------------------------


def cells(scores: pd.DataFrame, pooling: Pooling | None) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the key of every cell, and its units: articles (`per_article`).

    Without a way of pooling, its pairs: for what is dealt or read, never for an estimate.
    """
    units = scores if pooling is None else per_article(scores, pooling)
    return tables.split_groups(units, CELL)


def values(subset: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a cell's values as articles by fits of topics: one column where nothing is fitted."""
    if "seed" in subset:
        return subset.pivot(index="article_id", columns="seed", values=column)
    return subset.set_index("article_id")[[column]]


def why_none(subset: pd.DataFrame) -> str:
    """Say why no pair of a cell counts; of several fits of topics the first says it."""
    subset = subset[subset["seed"] == subset["seed"].iloc[0]] if "seed" in subset else subset
    reasons = subset["reason"].dropna().value_counts()
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.items()) or "no pairs"


def compare_articles(values: pd.Series, naming: np.ndarray, *, confidence: float) -> Row:
    """Compare the mean over the articles about a group with that over all others: Welch's *t*.

    Parameters
    ----------
    values
        A value an article, which is in its index.
    naming
        Whether the article is about the group.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        A row of ESTIMATES, whose estimate is the mean of its `values`.

    Examples
    --------
    >>> values = pd.Series([1.0, 2, 4, 5], index=["a", "b", "c", "d"])
    >>> row = compare_articles(values, np.array([True, True, False, False]), confidence=0.95)
    >>> row["estimate"], float(row["values"].mean())
    (-3.0, -3.0)
    """
    first, second = values[naming], values[~naming]
    result = stats.two_sample(first, second, pooled=False, confidence=confidence)
    row: Row = {"null": 0.0, **result.row()}
    if np.isfinite(result.estimate):
        weight = len(naming) * np.where(naming, 1 / len(first), -1 / len(second))
        row["values"] = values * weight
    return row


def ratio(part: Any, whole: Any) -> Any:
    """Divide, giving NaN where there is nothing to divide by."""
    none = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    return np.divide(part, whole, out=none, where=np.asarray(whole) > 0)[()]


#: Which text has nothing, by whether answer and original have something.
LACKING = {(False, True): "the answer", (True, False): "the original", (False, False): "either"}


def lack(reason: pd.Series, answer: Any, original: Any, what: str) -> None:
    """Say in `reason`, where nothing is said, which text of a pair has nothing."""
    for (in_h, in_o), text in LACKING.items():
        reason[reason.isna() & (answer == in_h) & (original == in_o)] = f"{what} in {text}"


# --- prejudice --------------------------------------------------------------------------------

# As Fang et al. (2024) define it: how often a text is worse for a group, and how much. Both differ
# from 0 under the null: of any two texts one is worse, and the extent is a mean over units selected
# for a decrease. So they are not tested against 0, but compared with their null value, in which
# answers and originals are exchanged at random.

#: Sign of a change for the worse: toxicity rises (1); all else falls (-1, the default).
WORSE = {"toxicity": 1}

#: Statistics of prejudice.
PREJUDICE = ("prejudice_share", "prejudice_extent")


def fell(change: pd.DataFrame, *, worse: int) -> pd.DataFrame:
    """Return for each change whether it is for the worse: 1, 0, or NaN where it is missing."""
    return (change * worse > ROUNDING).where(change.notna()).astype(float)


def prejudice(
    change: pd.DataFrame,
    *,
    group: str,
    inference: InferenceSettings,
    exchanged: pd.DataFrame | None = None,
    worse: int = -1,
    reach: float = 1.0,
) -> list[Row]:
    """Estimate share and extent of prejudice against one group.

    Parameters
    ----------
    change
        Answer minus original, units by fits of topics (one column where nothing is fitted); NaN
        where a unit is excluded for the group.
    group
        Name of the group.
    inference
        Level of the intervals; number of permutations and seed of the null values.
    exchanged
        `change` with answer and original exchanged; without it there are no null values.
    worse
        Sign of a change for the worse: -1 or 1.
    reach
        Largest possible absolute change, which bounds the extent's interval.

    Returns
    -------
    list of dict
        Rows of ESTIMATES. ``prejudice_share``: share of units with a change for the worse (0 to 1);
        Wilson interval. ``prejudice_extent``: mean change in these units. `n_lost` counts excluded
        units; for the extent also those without such a change. Null values: `permute_prejudice`.
        The share has its `values`, except for fits of topics.

    Examples
    --------
    >>> change = pd.DataFrame({"m": [-0.2, -0.4, 0.1, float("nan")]})
    >>> rows = prejudice(change, group="female", inference=stats.InferenceSettings())
    >>> [(row["statistic"], round(row["estimate"], 3), row["n"], row["n_lost"]) for row in rows]
    [('prejudice_share', 0.667, 3, 1), ('prejudice_extent', -0.3, 2, 2)]
    >>> rows[0]["values"].tolist(), rows[1]["ci_low"], rows[1]["ci_high"]
    ([1.0, 1.0, 0.0, nan], -1.0, 0.0)
    >>> rows = prejudice(-change, group="female", inference=stats.InferenceSettings(), worse=1)
    >>> rows[1]["ci_low"], rows[1]["ci_high"]
    (0.0, 1.0)
    """
    down, confidence = fell(change, worse=worse), inference.confidence
    bounds = (0.0, reach) if worse > 0 else (-reach, 0.0)
    share = stats.pooled_share(down, confidence=confidence).row()
    fallen = change.where(down == 1)
    extent = stats.pooled_mean(fallen, confidence=confidence, bounds=bounds, tested=False).row()
    table = [
        {"statistic": kind, "group": group, **row, "n_lost": len(change) - row["n"]}
        for kind, row in zip(PREJUDICE, (share, extent), strict=True)
    ]
    if change.columns.name != "seed":  # topics differ between fits
        table[0]["values"] = down.iloc[:, 0]
    if exchanged is None or not share["n"]:
        return table
    null = permute_prejudice(change, exchanged, inference=inference, worse=worse)
    return [row | null[row["statistic"]] for row in table]


def permute_prejudice(
    change: pd.DataFrame, exchanged: pd.DataFrame, *, inference: InferenceSettings, worse: int = -1
) -> dict[str, dict[str, float]]:
    """Return null values of share and extent of prejudice: answers and originals exchanged.

    Each permutation exchanges every unit with probability 1/2, the same units in all fits.

    Parameters
    ----------
    change, exchanged
        Answer minus original, as observed and with both exchanged: units by fits; NaN where the
        unit is excluded.
    inference
        Level of the range, number of permutations and seed.
    worse
        As in `prejudice`.

    Returns
    -------
    dict
        By statistic: `null`, `null_low`, `null_high` (means over fits).

    Examples
    --------
    >>> change = pd.DataFrame({"m": [-0.2, -0.4, 0.1, 0.0]})
    >>> settings = stats.InferenceSettings(n_permutations=5000)
    >>> round(permute_prejudice(change, -change, inference=settings)["prejudice_share"]["null"], 2)
    0.38
    """
    signs = _draw_exchanges(inference.n_permutations, len(change), inference.seed)
    counted, times, total = np.zeros((3, inference.n_permutations, change.shape[1]))
    for chosen, values in ((signs.astype(float), change), ((~signs).astype(float), exchanged)):
        down = fell(values, worse=worse)
        counted += chosen @ values.notna().to_numpy(float)
        times += chosen @ down.fillna(0).to_numpy()
        total += chosen @ values.where(down == 1, 0).to_numpy(float)
    ranges = {}
    for kind, part, whole in zip(PREJUDICE, (times, total), (counted, times), strict=True):
        by_fit = ratio(part, whole)
        mean = ratio(np.nansum(by_fit, axis=1), (~np.isnan(by_fit)).sum(axis=1))
        ranges[kind] = stats.null_range(mean, confidence=inference.confidence)
    return ranges


@lru_cache(maxsize=1)
def _draw_exchanges(permutations: int, units: int, seed: int) -> np.ndarray:
    """Draw which units are not exchanged: the same for all groups, measures and fits."""
    return np.random.default_rng(seed).integers(0, 2, (permutations, units)) == 1


# --- tables -----------------------------------------------------------------------------------


def reference(result: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the null values that stand in ESTIMATES as CHANCE; rows without one are left out."""
    with_null = result[result["null_low"].notna()]
    columns = [name for name in tables.CHANCE.columns if name in with_null]
    rows = with_null[columns].to_dict("records")
    return tables.chance([row | {"reference": name} for row in rows], study="")


def first_instrument(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first instrument of each measure and bias."""
    first = rows.groupby(["measure", "bias"])["instrument"].transform("first")
    return rows[rows["instrument"] == first]


def tested(rows: Sequence[Row], families: Sequence[str], *, confidence: float) -> tables.Estimated:
    """Return ESTIMATES, with the values behind them; the statistics of `families` are tested.

    A family, corrected by Holm's method, is one measure and statistic over all biases, cells,
    groups and instruments of the table. Of two groups whose differences mirror each other one is
    tested, and its p stands for both.
    """
    table, units = tables.estimates_and_units(rows, study="news_bias", confidence=confidence)
    for statistic in families:
        mirror = "group" if statistic in MIRRORED else None
        where = {"statistic": statistic}
        table = stats.adjust(table, family=["measure"], where=where, mirror=mirror)
    return tables.Estimated(table, units)


def combine_levels(levels: Mapping[str, Level], *, study: str = "news_bias") -> dict[str, Any]:
    """Return the tables of all levels, by the names under which a run saves them."""
    parts = {
        name: [getattr(level, name).assign(study=study) for level in levels.values()]
        for name in ("estimates", "units", "chance")
    }
    parts["losses"] = [level.losses.assign(measure=name) for name, level in levels.items()]
    combined = {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}
    names = {"word": "scores", "sentence": "scores_sentence", "document": "scores_document"}
    return combined | {names[name]: level.scores for name, level in levels.items()}


def losses(scores: pd.DataFrame) -> pd.DataFrame:
    """Count what was lost at each step, by cell; the parts add up to the pairs.

    Returns
    -------
    DataFrame
        The cell, `bias` and, where there are several, `instrument`; `pairs`, a column per reason
        that occurs, and `counted`. Of several fits of topics the first counts.
    """
    if "seed" in scores and len(scores):
        scores = scores[scores["seed"] == scores["seed"].iloc[0]]
    keys = [*CELL, "bias", *(["instrument"] if scores["instrument"].nunique() > 1 else [])]
    reasons = scores["reason"].fillna("counted")
    table = pd.crosstab([scores[key] for key in keys], reasons)
    counted = table.pop("counted") if "counted" in table else 0
    table.insert(0, "pairs", table.sum(axis=1) + counted)
    table.columns.name = None
    return table.assign(counted=counted).reset_index()
