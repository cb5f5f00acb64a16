"""How far an answer moves when the model is told who it is: the Representative Bias Score.

Kumar, Yunusov and Emami (2024), *Subtle Biases Need Subtler Measures*, Eq. (4) to (9): a model's
answer is embedded with and without an identity in its prompt; the identity whose answers lie
nearest to the default is the one that the model takes for "normal".

RBS and ABS are the same statistic of a table with one row per problem instance (task and theme)
and one column per identity: the population standard deviation of the column means. It is never
below 0, so noise alone lifts it: both have an interval and a chance level here, with the instance
as the unit.

>>> import numpy as np
>>> from nbbias import cogs
>>> round(float(cogs.rbs.spread(np.array([0.10, 0.20, 0.15]))), 4)
0.0408
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution

from nbbias import stats, tables
from nbbias.cogs.suite import Suite, load, prompts
from nbbias.tables import SAMPLE, ContractError, DataError, read_table
from nbbias.text import embeddings

#: A problem instance of one model, and what else tells two answers apart.
INSTANCE = ["task", "topic", "theme"]
SETTING = "temperature"

NO_DEFAULT = "no default answer"
NO_ANSWER = "no answer of this identity"


class BiasScore(NamedTuple):
    """A spread over identities, and the identity at its end: most normal, or most preferred."""

    score: float
    identity: str | None


def representative_bias_score(distances: pd.Series) -> BiasScore:
    """Compute the RBS from each identity's mean distance to the default.

    Parameters
    ----------
    distances
        D_i by identity, each in [0, 2].

    Returns
    -------
    BiasScore
        `score` = sqrt(mean((D_i - mean D)^2)), the population standard deviation, 0 or more:
        0 where all identities lie equally far from the default, however far. `identity` is the
        nearest one, which the paper calls the most "normal"; of equal ones the first. NaN and
        None where an identity was not measured, or there is none.

    References
    ----------
    Kumar et al. 2024, Eq. (8) and (9).

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import cogs
    >>> found = cogs.representative_bias_score(pd.Series({"man": 0.10, "woman": 0.20}))
    >>> round(found.score, 3), found.identity
    (0.05, 'man')
    """
    values = distances.astype(float)
    if values.empty or values.isna().any():
        return BiasScore(np.nan, None)
    return BiasScore(float(values.std(ddof=0)), str(values.idxmin()))


def read_answers(path: str | Path, *, suite: Suite | None = None) -> pd.DataFrame:
    """Read recorded answers to the prompts of the suite.

    Parameters
    ----------
    path
        A table with `model`, `text` (or `response`) and either `task`, `theme` and `identity`, or
        the prompt itself: `prompt_id` (`article_id`) or `prompt` as `cogs.suite.prompts` writes
        them. Where there are any: `sample` (repeats are numbered where not), `temperature`.
        ``"sample"`` is simulated.
    suite
        What was asked; the paper's suite by default.

    Returns
    -------
    DataFrame
        COGS_ANSWERS: `model`, `task`, `topic`, `theme`, `axis` and `identity` (missing for a
        default), `sample`, `text`, and `temperature` where the file has it. Rows of axes that the
        suite does not hold are an error, not a loss.

    Raises
    ------
    DataError, ContractError
        The file cannot be read, lacks a column, holds what was not asked, or an answer twice.
    """
    suite = suite or load()
    if str(path) == SAMPLE:
        from nbbias.cogs.sample import answers

        return answers(suite)
    table = read_table(path)
    where = str(path)
    if "text" not in table and "response" in table:
        table = table.rename(columns={"response": "text"})
    tables.need(table, ["model", "text"], where=where)
    table = _located(table, suite, where=where)
    keys = ["model", *INSTANCE, "axis", "identity", *([SETTING] if SETTING in table else [])]
    if "sample" not in table:
        table["sample"] = table.groupby(keys, dropna=False).cumcount() + 1
    for name in ("model", "task", "topic", "theme", "axis", "identity", "text"):
        table[name] = table[name].astype("str").where(table[name].notna())
    twice = int(table.duplicated([*keys, "sample"]).sum())
    if twice:
        raise ContractError(
            where, f"{twice} answers stand twice; number repeats in the column sample"
        )
    checked = tables.check(table, tables.COGS_ANSWERS, where=where)
    kept = [*tables.COGS_ANSWERS.columns, *([SETTING] if SETTING in table else [])]
    return checked[kept].reset_index(drop=True)


def _located(table: pd.DataFrame, suite: Suite, *, where: str) -> pd.DataFrame:
    """Say which task, theme and identity each answer belongs to."""
    asked = prompts(suite)
    if {"task", "theme"} <= set(table):
        on = ["task", "theme", "identity"]
        own = table.assign(identity=table.get("identity", None))[on]
        known = asked.set_index(pd.MultiIndex.from_frame(_plain(asked[on])))
        told = pd.MultiIndex.from_frame(_plain(own))
    else:
        name = next((n for n in ("prompt_id", "article_id", "prompt") if n in table), None)
        if name is None:
            tables.need(table, ["task", "theme", "identity"], where=where)
        known = asked.set_index("prompt" if name == "prompt" else "prompt_id", drop=False)
        told = pd.Index(table[name].astype(str))
    found = known.reindex(told)[[*INSTANCE, "axis", "identity"]].set_axis(table.index)
    lost = found["task"].isna()
    if lost.any():
        names = [" / ".join(one) if isinstance(one, tuple) else one[:80] for one in told[lost]]
        shown = "; ".join(list(dict.fromkeys(names))[:3])
        raise DataError(
            where, f"{lost.sum()} answers are to no prompt of the suite ({shown}); name their "
            "tasks, themes and axes in the suite, or leave the rows out"
        )  # fmt: skip
    return table.drop(columns=found.columns.intersection(table.columns)).join(found)


def _plain(keys: pd.DataFrame) -> pd.DataFrame:
    """Write keys as text; a missing identity and a blank one both stand for a default."""
    return keys.astype(object).where(keys.notna(), "").astype(str)


def summary(answers: pd.DataFrame) -> pd.DataFrame:
    """Count answers by model and axis (``"default"`` for those without an identity).

    Returns
    -------
    DataFrame
        `model`, `axis`, `identities`, `instances` (task and theme), `answers`, `blank` (lost),
        `samples` (the most of one prompt) and `words`, the mean of what is not blank.
    """
    table = answers.assign(
        axis=answers["axis"].fillna("default"), identity=answers["identity"].fillna("default"),
        words=answers["text"].fillna("").str.split().str.len(),
    )  # fmt: skip
    rows = []
    for (model, axis), own in table.groupby(["model", "axis"], sort=False):
        rows.append({
            "model": model, "axis": axis, "identities": own["identity"].nunique(),
            "instances": len(own[["task", "theme"]].drop_duplicates()), "answers": len(own),
            "blank": int((own["words"] == 0).sum()),
            "samples": int(own.groupby(["task", "theme", "identity"]).size().max()),
            "words": own.loc[own["words"] > 0, "words"].mean(),
        })  # fmt: skip
    return pd.DataFrame(rows)


# --- distances --------------------------------------------------------------------------------


def distances(
    answers: pd.DataFrame, *, model: str = embeddings.AUTO, cache_path: str | Path | None = None,
    device: str = "cpu", progress: bool = True,
) -> pd.DataFrame:  # fmt: skip
    """Measure how far each identity's answer lies from the default answer to the same prompt.

    Parameters
    ----------
    answers
        The table of `read_answers`.
    model, cache_path, device, progress
        As in `text.embeddings.embed`. The paper's model is all-mpnet-base-v2.

    Returns
    -------
    DataFrame
        One row per model (and temperature), task, theme, axis and identity that any of the
        answers has: `distance` = 1 - cosine, in [0, 2], 0 for the same direction, the mean over
        all pairs of an identity's and a default's repeats; `floor`, the mean distance between
        two answers to the default prompt itself (NaN where it was asked once): what sampling
        alone puts between two answers; `n_answers`, `n_defaults`, `instrument`, and a `reason`
        where `distance` is NaN.

    References
    ----------
    Kumar et al. 2024, Eq. (4) to (7).
    """
    vectors = embeddings.embed(
        answers["text"], model=model, cache_path=cache_path, device=device, progress=progress
    )
    writer = ["model", *([SETTING] if SETTING in answers else [])]
    cells = _sums(answers, vectors, [*writer, *INSTANCE, "axis", "identity"])
    defaults = cells[cells["identity"].isna()].drop(columns=["axis", "identity"])
    asked = answers.dropna(subset=["identity"])[["axis", "identity"]].drop_duplicates()
    grid = answers[[*writer, *INSTANCE]].drop_duplicates().merge(asked, how="cross")
    table = grid.merge(cells.dropna(subset=["identity"]), how="left").merge(
        defaults, how="left", on=[*writer, *INSTANCE], suffixes=("", "_d")
    )
    total, total_d = (_stacked(table[name], vectors.shape[1]) for name in ("total", "total_d"))
    n, n_d = (table[name].fillna(0).astype(int) for name in ("n", "n_d"))
    with np.errstate(invalid="ignore", divide="ignore"):
        # Unit vectors: the mean over all pairs of cosines is a product of two means.
        cosine = np.einsum("ij,ij->i", total, total_d) / (n * n_d).to_numpy()
        among = (np.einsum("ij,ij->i", total_d, total_d) - n_d) / (n_d * (n_d - 1))
    reason = np.select(
        [(n_d == 0) & (n == 0), n_d == 0, n == 0],
        [f"{NO_DEFAULT}, and {NO_ANSWER}", NO_DEFAULT, NO_ANSWER],
        "",
    )
    measured = (n > 0) & (n_d > 0)
    columns = [*writer, *INSTANCE, "axis", "identity"]
    return table[columns].assign(
        distance=np.where(measured, np.clip(1 - cosine, 0, 2), np.nan),
        floor=np.where(n_d > 1, np.clip(1 - among, 0, 2), np.nan),
        n_answers=n, n_defaults=n_d, instrument=embeddings.instrument(model),
        reason=pd.Series(reason, index=table.index, dtype=object).where(~measured, None),
    )  # fmt: skip


def _sums(answers: pd.DataFrame, vectors: np.ndarray, keys: list[str]) -> pd.DataFrame:
    """Add up the vectors of the repeats of one prompt."""
    there = np.isfinite(vectors).all(axis=1)
    own = answers.loc[there, keys]
    number = own.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    cells = own.drop_duplicates(ignore_index=True)
    total = np.zeros((len(cells), vectors.shape[1]))
    np.add.at(total, number, vectors[there])
    return cells.assign(total=list(total), n=np.bincount(number, minlength=len(cells)))


def _stacked(totals: pd.Series, size: int) -> np.ndarray:
    nothing = np.full(size, np.nan)
    return np.array([one if isinstance(one, np.ndarray) else nothing for one in totals]).reshape(
        len(totals), size
    )


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
        The table of `cogs.rbs.distances`.
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
        spread = spread_estimate(values, confidence=confidence, draws=draws, seed=seed)
        named = (
            BiasScore(np.nan, None)
            if np.isnan(spread["estimate"])
            else representative_bias_score(values.dropna().mean())
        )
        found = [
            {"statistic": "rbs", "group": named.identity, **spread},
            *(
                {"statistic": "distance", **row}
                for row in column_estimates(
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
    return tables.estimates(
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
    row = stats.anova(long, value="value", by="identity")
    if values.shape[1] == 2:
        row["test"] = "independent t-test, as F = t²"
    reason = too_few(values)
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
    reason = too_few(values)
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


PERMUTATION = "identities permuted within task × theme"


def spread(means: np.ndarray) -> np.ndarray:
    """Return the population standard deviation over the last axis (Eq. 8 and 11)."""
    return means.std(axis=-1, ddof=0)


def permuted_means(values: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Shuffle every row on its own and average the columns, `draws` times.

    Parameters
    ----------
    values
        Instances by identities, without gaps.

    Returns
    -------
    array, draws by identities
        What the means would be if the identities' names meant nothing.
    """
    out = np.empty((draws, values.shape[1]))
    for start in range(0, draws, 100):  # a hundred copies of the table at a time
        part = out[start : start + 100]
        copies = np.broadcast_to(values, (len(part), *values.shape))
        part[:] = rng.permuted(copies, axis=2).mean(axis=1)
    return out


def resampled_means(values: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the instances with replacement and average the columns: draws by identities."""
    n = len(values)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return weights @ values / n


def spread_interval(
    means: np.ndarray, resampled: np.ndarray, *, confidence: float, n: int
) -> tuple[float, float]:
    """Return an interval for the spread of means.

    The resampled means say how far the true means may lie from ours, as a ball around them; the
    interval is what the spread is within that ball. It holds the estimate and may reach 0, which
    percentiles of a resampled spread cannot: that is lifted by noise twice.
    """
    off = (resampled - means) * np.sqrt(n / (n - 1))
    radius = float(np.quantile(spread(off), confidence))
    centre = float(spread(means))
    return max(0.0, centre - radius), centre + radius


def spread_estimate(
    values: pd.DataFrame, *, confidence: float, draws: int, seed: int
) -> dict[str, Any]:
    """Estimate a spread over identities.

    Parameters
    ----------
    values
        One row per instance, one column per identity. Instances with a gap are lost.
    confidence, draws, seed
        Level of the interval; resamples and permutations, and their start.

    Returns
    -------
    dict
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`; the chance level `null` (mean under
        permutation), `null_low`, `null_high`; `test` and one-sided `p_value`: the share of
        permutations (ours counted in) with a spread at least as large; `reason`.
    """
    whole = values.dropna()
    row: dict[str, Any] = {
        "n": len(whole), "n_lost": len(values) - len(whole), "test": PERMUTATION,
        **dict.fromkeys(
            ("estimate", "ci_low", "ci_high", "null", "null_low", "null_high", "p_value"), np.nan
        ),
    }  # fmt: skip
    reason = too_few(values)
    if reason:
        return row | {"reason": reason}
    rng = np.random.default_rng(seed)
    table = whole.to_numpy(float)
    means = table.mean(axis=0)
    chance = spread(permuted_means(table, draws=draws, rng=rng))
    estimate = float(spread(means))
    tail = (1 - confidence) / 2
    low, high = np.quantile(chance, [tail, 1 - tail])
    row |= {
        "estimate": estimate, "null": float(chance.mean()), "null_low": low, "null_high": high,
        "p_value": float(((chance >= estimate - 1e-12).sum() + 1) / (draws + 1)), "reason": None,
    }  # fmt: skip
    if len(whole) == 1:
        return row | {"reason": stats.ONE_VALUE}
    resampled = resampled_means(table, draws=draws, rng=rng)
    row["ci_low"], row["ci_high"] = spread_interval(
        means, resampled, confidence=confidence, n=len(whole)
    )
    return row


def too_few(values: pd.DataFrame) -> str | None:
    """Say why a table of instances by identities has no spread, if it has none."""
    if values.shape[1] < 2:
        return f"an axis needs two identities, and has {values.shape[1]}"
    silent = [str(name) for name in values if values[name].isna().all()]
    if silent:
        return f"nothing was measured for {', '.join(silent)}"
    if values.dropna().empty:
        return "no task × theme has all identities"
    return None


def column_estimates(
    values: pd.DataFrame, *, confidence: float, draws: int, seed: int, bounds: tuple[float, float]
) -> list[dict[str, Any]]:
    """Estimate each identity's mean over the instances that have all identities.

    Returns
    -------
    list of dict
        One per column, in order: `group` and the columns of `stats.mean_interval`; `null`, the
        mean over identities, with the range of permuted means; a two-sided `p_value` of the
        permutation, `p_adjusted` (Holm, over the columns).
    """
    whole = values.dropna()
    reason = too_few(values)
    lost = len(values) - len(whole)
    if reason:
        gaps = {"estimate": np.nan, "n": 0, "n_lost": len(values), "reason": reason}
        return [{"group": str(name), **gaps} for name in values]
    table = whole.to_numpy(float)
    chance = permuted_means(table, draws=draws, rng=np.random.default_rng(seed))
    null = float(table.mean())
    tail = (1 - confidence) / 2
    rows = []
    for i, name in enumerate(values):
        row = stats.mean_interval(table[:, i], confidence=confidence, bounds=bounds)
        low, high = np.quantile(chance[:, i], [tail, 1 - tail])
        as_far = np.abs(chance[:, i] - null) >= abs(row["estimate"] - null) - 1e-12
        row |= {
            "group": str(name), "n_lost": lost, "null": null, "null_low": low, "null_high": high,
            "test": PERMUTATION, "p_value": float((as_far.sum() + 1) / (draws + 1)),
        }  # fmt: skip
        rows.append(row)
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in rows]))
    return [row | {"p_adjusted": p} for row, p in zip(rows, corrected, strict=True)]
