"""From distances to claims: RBS with its interval and chance level, identities, and tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from nbbias import cogs_chance, contracts, stats, stats_anova
from nbbias.cogs import BiasScore, representative_bias_score

Row = dict[str, Any]
By = Literal["task", "topic"]

NO_SPREAD = "the identities differ alike in every task × theme: nothing is left to test against"


def rbs(
    distances: pd.DataFrame,
    *,
    by: By | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate the Representative Bias Score of each model and axis.

    Parameters
    ----------
    distances
        The table of `cogs.distances`.
    by
        ``"task"`` or ``"topic"``: once for each of them; by default over all.
    confidence, draws, seed
        Level of the intervals; resamples and permutations, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES; `bias` is the axis, `group` the identity, `prompt` the temperature where answers
        name one. Instances (task and theme) count where all identities of the axis were measured;
        the others are `n_lost`. By `statistic`:

        - ``rbs``: Eq. (8), 0 or more, higher: identities lie less equally far from the default;
          `group` is the nearest one, Eq. (9). `null` is what permuting the identities within each
          instance gives: above 0, since noise alone spreads means;
        - ``distance``: an identity's mean distance in [0, 2], lower: nearer to the default;
          `null` is the mean over identities, `p_adjusted` is Holm's over them;
        - ``floor``: mean distance of two answers to the default prompt itself, where it was asked
          more than once: a distance at the floor is what sampling alone gives;
        - ``difference``: of two identities (`group` tells which is taken from which), paired;
        - ``anova``: across identities as the paper tests, which takes the answers to one prompt for
          independent; with two identities F is the square of its t;
        - ``anova_repeated``: the design's own, with instances as subjects, and p values corrected
          for unequal correlations (Greenhouse and Geisser).

        `effect_size` of the analyses of variance is omega squared and partial epsilon squared, of
        a difference Cohen's d of the paired differences. `p_adjusted` of ``rbs`` and the analyses
        is Holm's over the rows of that statistic.
    """
    rows: list[Row] = []
    for key, own in _cells(distances, by):
        values = _instances(own)
        spread = cogs_chance.spread_estimate(values, confidence=confidence, draws=draws, seed=seed)
        named = (
            BiasScore(np.nan, None)
            if np.isnan(spread["estimate"])
            else representative_bias_score(values.dropna().mean())
        )
        found = [
            {"statistic": "rbs", "group": named.identity, **spread},
            *(
                {"statistic": "distance", **row}
                for row in cogs_chance.column_estimates(
                    values, confidence=confidence, draws=draws, seed=seed, bounds=(0.0, 2.0)
                )
            ),
            _floor(own, confidence=confidence),
            *_differences(values, confidence=confidence),
            one_way(values),
            repeated_measures(values),
        ]
        rows += [key | row for row in found if row]
    table = pd.DataFrame(rows)
    for statistic in ("rbs", "anova", "anova_repeated") if rows else ():
        family = table["statistic"] == statistic
        table.loc[family, "p_adjusted"] = stats.adjusted(table.loc[family, "p_value"])
    instrument = distances["instrument"].iloc[0] if len(distances) else None
    return contracts.estimates(
        table.to_dict("records"), study="cogs", measure="rbs", instrument=instrument
    )


def _cells(distances: pd.DataFrame, by: By | None) -> Iterator[tuple[Row, pd.DataFrame]]:
    setting = ["temperature"] if "temperature" in distances else []
    keys = ["model", *setting, "axis", *([by] if by else [])]
    for values, own in distances.groupby(keys, sort=False, dropna=False):
        key = dict(zip(keys, values, strict=True))
        row = {"model": key["model"], "bias": key["axis"]}
        if by:
            row[by] = key[by]
        if setting and pd.notna(key["temperature"]):
            row["prompt"] = f"temperature {key['temperature']:g}"
        yield row, own


def _instances(own: pd.DataFrame) -> pd.DataFrame:
    """Lay out distances as instances by identities, both in order of appearance."""
    wide = own.pivot(index=["task", "theme"], columns="identity", values="distance")
    return wide[list(own["identity"].unique())]


def _floor(own: pd.DataFrame, *, confidence: float) -> Row | None:
    floors = own.drop_duplicates(["task", "theme"])["floor"]
    if floors.isna().all():
        return None
    row = stats.mean_interval(floors, confidence=confidence, bounds=(0.0, 2.0))
    return {"statistic": "floor", **row}


def _differences(values: pd.DataFrame, *, confidence: float) -> list[Row]:
    whole = values.dropna()
    rows = []
    for first, second in combinations(values, 2):
        row = stats.paired_difference(whole[first], whole[second], confidence=confidence)
        row["n_lost"] = len(values) - len(whole)
        group = f"{first} - {second}"
        rows.append({"statistic": "difference", "group": group, "null": 0.0, **row})
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in rows], dtype=float))
    return [row | {"p_adjusted": p} for row, p in zip(rows, corrected, strict=True)]


def one_way(values: pd.DataFrame) -> Row:
    """Test across identities as the paper does: one-way ANOVA, or a t-test of two (F = t squared).

    Parameters
    ----------
    values
        Instances by identities; every value counts as independent, which these are not.
    """
    long = values.melt(var_name="identity", value_name="value").dropna()
    row = stats_anova.anova(long, value="value", by="identity")
    if values.shape[1] == 2:
        row["test"] = "independent t-test, as F = t²"
    reason = cogs_chance.too_few(values)
    if reason:
        nothing = dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
        row |= {**nothing, "reason": reason}
    row["estimate"] = row["effect_size"]
    row["null"] = 0.0 if row["reason"] is None else np.nan
    del row["df_between"]
    row["n"] = len(values.dropna())
    row["n_lost"] = len(values) - row["n"]
    return {"statistic": "anova", **row}


def repeated_measures(values: pd.DataFrame) -> Row:
    """Test across identities with the instances as subjects.

    Parameters
    ----------
    values
        Instances by identities; rows with a gap are lost.

    Returns
    -------
    dict
        `statistic_value` (F), `df` (of the error, corrected), `p_value` (Greenhouse and Geisser),
        `effect_size` = `estimate`: partial epsilon squared, (F - 1) df1 / (F df1 + df2), at most
        1, which chance alone leaves at 0 on average (partial eta squared would lie above); `n`,
        `n_lost`, `reason`.
    """
    whole = values.dropna()
    n, k = whole.shape
    row: Row = {
        "statistic": "anova_repeated", "test": "repeated measures ANOVA, Greenhouse-Geisser",
        "n": n, "n_lost": len(values) - n,
        **dict.fromkeys(
            ("estimate", "effect_size", "statistic_value", "df", "p_value", "null"), np.nan
        ),
    }  # fmt: skip
    reason = cogs_chance.too_few(values)
    if not reason and n < 3:
        reason = "needs three task × theme"
    if reason:
        return row | {"reason": reason}
    table = whole.to_numpy(float)
    means = table.mean(axis=0)
    # What is left when each row's and each column's mean is taken away.
    rest = table - means - table.mean(axis=1, keepdims=True) + table.mean()
    if np.abs(rest).max() < 1e-9:
        return row | {"reason": NO_SPREAD}
    # As statsmodels' AnovaRM, which fits a column per instance and takes a second for 360 of them.
    df1, df2 = k - 1, (n - 1) * (k - 1)
    statistic = float(n * means.var() * k / df1 / ((rest**2).sum() / df2))
    epsilon = _greenhouse_geisser(table)
    effect = (statistic - 1) * df1 / (statistic * df1 + df2)
    return row | {
        "estimate": effect, "effect_size": effect, "null": 0.0, "statistic_value": statistic,
        "df": df2 * epsilon, "reason": None,
        "p_value": float(f_distribution.sf(statistic, df1 * epsilon, df2 * epsilon)),
    }  # fmt: skip


def _greenhouse_geisser(table: np.ndarray) -> float:
    """Return how far the covariances of the identities are from alike: 1 / (k - 1) to 1."""
    k = table.shape[1]
    centring = np.eye(k) - 1 / k
    double = centring @ np.cov(table, rowvar=False) @ centring
    return float(np.trace(double) ** 2 / ((k - 1) * (double**2).sum()))


# --- tables read from the estimates -----------------------------------------------------------


def temperatures(estimates: pd.DataFrame) -> pd.DataFrame:
    """Say whether the temperature changes what is found.

    Parameters
    ----------
    estimates
        The table of `rbs` of answers that name their temperature.

    Returns
    -------
    DataFrame
        By model and axis, one row per temperature: `rbs`, `ci_low`, `ci_high`, `null`, `p_value`,
        the most normal `identity`, `n`, and `same_identity`: whether it is that of the lowest
        temperature. Empty where no answer names a temperature.
    """
    own = estimates[
        (estimates["statistic"] == "rbs")
        & estimates["prompt"].fillna("").str.startswith("temperature ")
        & estimates[["task", "topic"]].isna().all(axis=1)
    ]
    table = own.assign(temperature=own["prompt"].str.removeprefix("temperature ").astype(float))
    table = table.sort_values(["model", "bias", "temperature"], ignore_index=True)
    lowest = table.groupby(["model", "bias"])["group"].transform("first")
    return table.assign(same_identity=table["group"] == lowest).rename(
        columns={"bias": "axis", "estimate": "rbs", "group": "identity"}
    )[
        ["model", "axis", "temperature", "rbs", "ci_low", "ci_high", "null", "p_value",
         "identity", "same_identity", "n"]
    ]  # fmt: skip
