"""People as judges: how far they agree, and how they choose beside models.

Kumar, Yunusov and Emami (2024), Figures 6 and 7 and footnote 4: three people chose among the same
texts as the models; Fleiss' kappa says how far they agreed beyond chance.

>>> import numpy as np
>>> from nbbias import cogs
>>> cogs.people.krippendorff_alpha(np.array([[2, 0], [0, 2], [2, 0]]))
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.cogs import sample
from nbbias.cogs.affinity import chosen_shares, shares
from nbbias.cogs.rbs import CELL
from nbbias.cogs.spread import FACETS, Row, spread_rows
from nbbias.cogs.suite import Suite, load, strangers
from nbbias.tables import SAMPLE, Column, ContractError, read_table

#: What the people are called where they are taken together.
PEOPLE = "people"


def read_ratings(path: str | Path, *, suite: Suite | None = None) -> pd.DataFrame:
    """Read what people chose.

    Parameters
    ----------
    path
        A table with `rater`, `task`, `theme`, `axis` and `identity`: whose text that person chose
        as the best; blank where none was chosen. ``"sample"`` is simulated. `model`, which may be
        left out, says which writer's texts were read: each writer's texts on a theme are then an
        instance of their own (the paper's people read 50 instances of one task with 30 themes).
    suite
        Names the identities; the paper's suite by default.

    Returns
    -------
    DataFrame
        Those columns, one row per rater, task, theme (and model) and axis.

    Raises
    ------
    ContractError
        A column is missing, an axis or identity unknown, a rating given twice.
    """
    suite = suite or load()
    if str(path) == SAMPLE:
        return sample.ratings(suite)
    columns = dict.fromkeys(["rater", *FACETS, "axis", "identity"], Column("text", needed=True))
    table = read_table(path, columns | {"model": Column("text")})
    keys = ["rater", *_item(table), "axis"]
    table = table[[*keys, "identity"]]
    faults = strangers(table, suite)
    axis_of = {name: axis for axis, plan in suite.axes.items() for name in plan.identities}
    axes = table["identity"].map(axis_of)
    if wrong := int((axes.notna() & (axes != table["axis"])).sum()):
        faults.append(f"{wrong} rows choose an identity of another axis")
    if gaps := int(table[keys].isna().any(axis=1).sum()):
        faults.append(f"{gaps} rows lack one of {', '.join(keys)}")
    if twice := int(table.duplicated(keys).sum()):
        writer = "" if "model" in keys else " (a column model says whose texts were read)"
        faults.append(f"{twice} ratings occur twice; keep one per {', '.join(keys)}{writer}")
    ContractError.refuse(str(path), faults)
    return table


def _item(ratings: pd.DataFrame) -> list[str]:
    """Return the columns that name an instance: the writer's, too, if there is one."""
    return [*FACETS, "model"] if "model" in ratings else [*FACETS]


# --- agreement --------------------------------------------------------------------------------


def krippendorff_alpha(counts: np.ndarray) -> float:
    """Compute Krippendorff's alpha of unordered choices.

    Parameters
    ----------
    counts
        Items by categories: how many raters chose each. Items with fewer than two are left out,
        so raters may have gaps.

    Returns
    -------
    float
        1 for full agreement, 0 for what chance gives, below 0 for less; NaN where no item has
        two ratings or all ratings are of one category.

    References
    ----------
    Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*.
    """
    pairs = counts[counts.sum(axis=1) > 1].astype(float)
    total = pairs.sum()
    expected = total**2 - (pairs.sum(axis=0) ** 2).sum()
    if not expected:
        return np.nan
    rated = pairs.sum(axis=1)
    # Pairs of unlike ratings within an item, each rating weighing alike.
    observed = ((rated**2 - (pairs**2).sum(axis=1)) / (rated - 1)).sum()
    return float(1 - (total - 1) * observed / expected)


def _fleiss(counts: np.ndarray) -> float:
    from statsmodels.stats.inter_rater import fleiss_kappa  # which takes a while to load

    full = counts[counts.sum(axis=1) == counts.sum(axis=1).max(initial=0)]
    if len(full) == 0 or full[0].sum() < 2 or (full.sum(axis=0) > 0).sum() < 2:
        return np.nan
    return float(fleiss_kappa(full))


_COEFFICIENTS = {"fleiss_kappa": _fleiss, "krippendorff_alpha": krippendorff_alpha}


def agreement(
    ratings: pd.DataFrame, *, inference: stats.InferenceSettings, facets: Sequence[str] = FACETS
) -> pd.DataFrame:
    """Say how far people agree, by axis.

    Parameters
    ----------
    ratings
        The table of `read_ratings`.
    inference
        Level of the intervals; permutations, and their start.
    facets
        As in `cogs.rbs.rbs`.

    Returns
    -------
    DataFrame
        ESTIMATES; `bias` is the axis, `statistic` ``fleiss_kappa`` (items that every rater rated;
        the others are lost) or ``krippendorff_alpha`` (items with two ratings or more); at most 1.
        0 is what raters give whose choices are drawn from one urn; raters who each lean their own
        way agree less than that by chance: `null` and its range come from shuffling each rater's
        choices over the items. Interval and test are of jackknife values of the items, over crossed
        random facets (`stats.crossed_mean`); the two-sided t-test is against `null`, which lies
        within the interval just where p is not below its level. `n` counts items.

    References
    ----------
    Miller 1974, *The jackknife - a review*, Biometrika 61(1).
    """
    rows = []
    for axis, of_axis in ratings.groupby("axis", sort=False):
        wide = of_axis.pivot(index=_item(of_axis), columns="rater", values="identity")
        codes, _ = pd.factorize(wide.to_numpy(object).ravel())
        coded = np.where(codes < 0, np.nan, codes).reshape(wide.shape)
        for statistic, coefficient in _COEFFICIENTS.items():
            enough = wide.shape[1] if statistic == "fleiss_kappa" else 2
            items = pd.DataFrame(coded, wide.index).dropna(thresh=enough)
            lost = {"n": len(items), "n_lost": len(wide) - len(items)}
            estimate = _agreement(items, coefficient, inference, facets)
            rows.append({"bias": axis, "statistic": statistic, **lost, **estimate})
    common = {"measure": "agreement", "evaluator": PEOPLE, "instrument": "people"}
    table = tables.estimates(rows, study="cogs", confidence=inference.confidence, **common)
    return stats.adjust(table)


def _agreement(
    items: pd.DataFrame,
    coefficient: Callable[..., float],
    inference: stats.InferenceSettings,
    facets: Sequence[str],
) -> Row:
    """Estimate one coefficient of choices: items by raters, numbered; NaN where none was made."""
    rng, codes = np.random.default_rng(inference.seed), items.to_numpy()
    counts, n = _counts(codes), len(codes)
    estimate = coefficient(counts)
    if np.isnan(estimate):
        why = "needs items that two people rated, and two identities among the choices"
        return {"estimate": np.nan, "reason": why}
    shuffled = (_counts(_shuffled(codes, rng)) for _ in range(inference.n_permutations))
    null_values = np.array(list(map(coefficient, shuffled)))
    null_values = null_values[~np.isnan(null_values)]
    row: Row = {"estimate": estimate, "test": "choices shuffled within rater"}
    row |= stats.null_range(null_values, confidence=inference.confidence)
    row |= stats.permutation_p(abs(estimate - row["null"]), abs(null_values - row["null"]))
    # What each item is worth; their mean is the coefficient without its bias of few items.
    without = np.array([coefficient(np.delete(counts, at, axis=0)) for at in range(n)])
    pseudovalues = n * estimate - (n - 1) * without
    values = pd.Series(pseudovalues - row["null"], items.index)
    tested = stats.crossed_mean(values, facets=facets, confidence=inference.confidence).row()
    if np.isnan(pseudovalues).any() or np.isnan(tested["p_value"]):
        return row | {"reason": "items are too few or too much alike: no interval"}
    low, high = (tested[end] + row["null"] for end in ("ci_low", "ci_high"))
    row |= {key: tested[key] for key in ("statistic_value", "df", "p_value")}
    row["test"] = f"jackknife {tested['test']}, against choices shuffled within rater"
    ends = {"ci_low": min(low, estimate), "ci_high": min(1.0, max(high, estimate))}
    return row | ends | {"p_least": np.nan}


def _counts(codes: np.ndarray) -> np.ndarray:
    categories = [*np.unique(codes[~np.isnan(codes)])] or [0.0]
    return np.stack([(codes == c).sum(axis=1) for c in categories], axis=1)


def _shuffled(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shuffle every rater's choices over the items that this rater rated."""
    out = codes.copy()
    for column in out.T:
        there = ~np.isnan(column)
        column[there] = rng.permutation(column[there])
    return out


# --- beside models ----------------------------------------------------------------------------


def beside_models(
    ratings: pd.DataFrame, decided: pd.DataFrame, suite: Suite, *, confidence: float
) -> pd.DataFrame:
    """Estimate the affinity of each person, of all together, and of models on the same instances.

    Parameters
    ----------
    ratings
        The table of `read_ratings`.
    decided
        The table of `cogs.affinity.decided`; instances that no person rated are left aside.
    suite
        Lists the identities.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES with `kind` (``"person"``, ``"people"``: each instance's average over persons,
        ``"model"``: balanced over orders); `statistic` ``abs`` and ``share`` as in
        `cogs.affinity.abs_estimates`. A person saw one order, so that a person's share holds
        what position is worth to that person too. `p_adjusted` is Holm's: of the scores over all
        of the table, of the shares over those of one score.

    References
    ----------
    Kumar et al. 2024, Figures 6 and 7.
    """
    rows: list[Row] = []
    for axis, of_axis in ratings.groupby("axis", sort=False):
        identities = list(suite.axes[str(axis)].identities)
        chosen = {
            ("person", str(rater)): chosen_shares(part, identities, _item(of_axis))
            for rater, part in of_axis.groupby("rater", sort=False)
        }
        choices = pd.concat(chosen.values())
        items = choices.index.names
        chosen[PEOPLE, PEOPLE] = together = choices.groupby(level=items, sort=False).mean()
        for judge, part in decided[decided["axis"] == axis].groupby("evaluator", sort=False):
            balanced = shares(part, identities)["abs"].groupby(level=items, sort=False).mean()
            chosen["model", str(judge)] = balanced.reindex(together.index)
        for (kind, evaluator), values in chosen.items():
            key = {"bias": axis, "evaluator": evaluator, "kind": kind}
            spreads = spread_rows(values, "abs", part="share", confidence=confidence)
            rows += [key | row for row in spreads]
    kinds = pd.Series([row.pop("kind") for row in rows], dtype="str")
    table = tables.estimates_and_units(
        rows, study="cogs", measure="abs", instrument="choices", confidence=confidence
    ).estimates
    # A person may be called like a judge.
    table = stats.adjust(table, family=[*CELL, kinds], where={"statistic": "share"})
    return stats.adjust(table, where={"statistic": "abs"}).assign(kind=kinds)
