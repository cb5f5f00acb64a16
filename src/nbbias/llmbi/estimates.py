"""From LLMBI scores to claims: intervals, chance levels, tests, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi.neutral import neutral_pools
from nbbias.text import sentiment

ONE_ANSWER = "each prompt was answered once, so answers have no spread"

Row = dict[str, Any]


def components(scores: pd.DataFrame) -> pd.DataFrame:
    """Take the index apart, by model and dimension.

    Parameters
    ----------
    scores
        The table of `llmbi.measure.score_answers`.

    Returns
    -------
    DataFrame
        `model`, `dimension`, `prompts`, `mean_polarity` (signed: above 0 is praise), the
        means of `weighted_bias`, `penalty` and `sentiment_term`, and `score`, their sum.
        Prompts weigh alike, however often each was answered.
    """
    terms = ["polarity", "weighted_bias", "penalty", "sentiment_term", "score"]
    units = scores.groupby(["model", "dimension", "prompt"], sort=False)[terms].mean()
    grouped = units.groupby(["model", "dimension"], sort=False)
    table = grouped.mean().assign(prompts=grouped["score"].count()).reset_index()
    table = table.rename(columns={"polarity": "mean_polarity"})
    together = table.sort_values("model", key=_first_seen, kind="stable", ignore_index=True)
    return together[["model", "dimension", "prompts", "mean_polarity", *terms[1:]]]


def _first_seen(values: pd.Series) -> pd.Series:
    """Order by first appearance, so that rows of one model stand together."""
    return pd.Series(pd.factorize(values)[0], index=values.index)


def estimates(
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    aggregation: str = "mean",
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate the index of each model, its dimensions, its prompts, and how models differ.

    Parameters
    ----------
    scores
        The table of `llmbi.measure.score_answers`.
    reference
        The table of `llmbi.neutral.neutral_reference`.
    formula
        The settings that `llmbi.measure.score_answers` was called with.
    aggregation
        How weighted bias scores combine over dimensions, as in `llmbi.measure.llmbi`.
    confidence
        Level of the intervals.
    draws, seed
        Resamples behind each chance level, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`:

        - ``index``: the composite over all dimensions; interval from the one-way ANOVA
          model (dimensions fixed, prompts sampled, one pooled variance);
        - ``dimension_mean``: per dimension, same model; `p_value` asks how often neutral
          prose lies as far from its own mean, `p_adjusted` is Holm's over a model's dimensions;
        - ``prompt_mean``: per prompt, interval over repeats, NaN where it was answered once;
        - ``anova``: whether dimensions differ, `estimate` and `effect_size` are omega squared;
        - ``difference``: between two models over the same prompts (`group` is the
          model that is taken away), a paired t-test, `p_adjusted` Holm's over model pairs.

        `null` is what neutral prose of the same length scores; `n` counts prompts
        (answers for ``prompt_mean``).
    """
    pools = pd.Series(neutral_pools(scores, reference, **formula), index=scores.index)
    options = {"confidence": confidence, "draws": draws, "seed": seed}
    composite = pd.Series(np.nan, index=scores.index)
    rows: list[Row] = []
    for model, own in scores.groupby("model", sort=False):
        at = own.index
        factor = own["dimension"].nunique() if aggregation == "sum" else 1
        summed = neutral_pools(own, reference, bias_factor=factor, **formula)
        # Values whose mean over dimensions is the composite index: (2.2) sums, Listing 1 averages.
        composite[at] = own["score"] + (factor - 1) * own["weighted_bias"]
        model_rows = [
            *_index(own, composite[at], pd.Series(summed, index=at), **options),
            *_dimensions(own, pools[at], **options),
            *_prompts(own, pools[at], **options),
            _anova(own),
        ]
        rows += [{"model": model, **row} for row in model_rows]
    rows += _differences(scores.assign(value=composite), confidence=confidence)
    instrument = scores["instrument"].iloc[0]
    return tables.estimates(rows, study="llmbi", measure="llmbi", instrument=instrument)


def by_prompt(scores: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Average repeats: the prompt is the unit. NaN only where no answer was scored."""
    keyed = scores[["dimension", "prompt"]].assign(value=values)
    return keyed.groupby(["dimension", "prompt"], sort=False)["value"].mean().reset_index()


def _against_neutral(
    row: Row, own: pd.DataFrame, pools: pd.Series,
    *, confidence: float, draws: int, seed: int,
) -> Row:  # fmt: skip
    """Add the chance level of the answers in `own`; reasons that are there already stay."""
    scored = own[own["score"].notna()]
    # As in the estimate: samples weigh alike in a prompt, prompts in a dimension.
    in_prompt = scored.groupby(["dimension", "prompt"])["score"].transform("size")
    in_dimension = scored.groupby("dimension")["prompt"].transform("nunique")
    null = stats.mean_of_draws(
        list(pools[scored.index]), weights=(1 / in_prompt / in_dimension).to_numpy(),
        observed=row["estimate"], sampled=True, sure=stats.Sure(confidence, draws, seed),
    )  # fmt: skip
    if np.isnan(null["null"]) and not row.get("reason"):
        row = row | {"reason": "the neutral prose is shorter than the answers"}
    return row | {"test": "neutral prose, resampled", **null}


def _contrasts(
    units: pd.DataFrame, contrasts: Mapping[str, Mapping[str, float]],
    *, confidence: float, least: float,
) -> Iterator[tuple[str, Row]]:  # fmt: skip
    """Estimate weighted sums of dimension means in the one-way ANOVA model of one LLM."""
    scored = units.dropna()
    fitted = stats.cell_means_model(scored, value="value", by="dimension") if len(scored) else None
    for name, weights in contrasts.items():
        own = units[units["dimension"].isin(list(weights))]
        n = int(own["value"].notna().sum())
        row: Row = {"n": n, "n_lost": len(own) - n}
        if fitted is None or set(weights) - set(scored["dimension"]):
            yield name, row | {"estimate": np.nan, "reason": "a dimension has no scored answer"}
            continue
        row |= stats.contrast_interval(
            fitted, weights, confidence=confidence, bounds=(least, np.inf)
        )
        alone = None if np.isfinite(row["ci_low"]) else "no dimension has two prompts"
        yield name, row | {"reason": alone}


def _index(own: pd.DataFrame, values: pd.Series, pools: pd.Series, **options: Any) -> list[Row]:
    dimensions = own["dimension"].unique()
    equal = dict.fromkeys(dimensions, 1 / len(dimensions))
    units = by_prompt(own, values)
    found = _contrasts(
        units, {"index": equal}, confidence=options["confidence"], least=own["penalty"].min()
    )
    return [
        {"statistic": "index", **_against_neutral(row, own, pools, **options)} for _, row in found
    ]


def _dimensions(own: pd.DataFrame, pools: pd.Series, **options: Any) -> list[Row]:
    units = by_prompt(own, own["score"])
    single = {dimension: {dimension: 1.0} for dimension in own["dimension"].unique()}
    rows = []
    found = _contrasts(units, single, confidence=options["confidence"], least=own["penalty"].min())
    for dimension, row in found:
        row = _against_neutral(row, own[own["dimension"] == dimension], pools, **options)
        rows.append({"statistic": "dimension_mean", "dimension": dimension, **row})
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in rows]))
    return [row | {"p_adjusted": p} for row, p in zip(rows, corrected, strict=True)]


def _prompts(own: pd.DataFrame, pools: pd.Series, **options: Any) -> list[Row]:
    rows = []
    for (dimension, prompt), answers in own.groupby(["dimension", "prompt"], sort=False):
        row = stats.mean_interval(answers["score"], confidence=options["confidence"])
        if row["reason"] == stats.ONE_VALUE:
            row["reason"] = ONE_ANSWER
        row = _against_neutral(row, answers, pools, **options)
        rows.append({"statistic": "prompt_mean", "dimension": dimension, "prompt": prompt, **row})
    return rows


def _anova(own: pd.DataFrame) -> Row:
    row = stats.anova(by_prompt(own, own["score"]), value="value", by="dimension")
    row["estimate"] = row["effect_size"]
    row["null"] = 0.0 if row["reason"] is None else np.nan
    del row["df_between"]
    return {"statistic": "anova", **row}


def _differences(scores: pd.DataFrame, *, confidence: float) -> list[Row]:
    units = scores.groupby(["model", "dimension", "prompt"], sort=False)["value"].mean()
    rows = []
    for other, model in combinations(scores["model"].unique(), 2):
        row = stats.paired_difference(units[model], units[other], confidence=confidence)
        rows.append({"statistic": "difference", "model": model, "group": other, "null": 0.0, **row})
    corrected = stats.adjusted(pd.Series([row.get("p_value", np.nan) for row in rows], dtype=float))
    return [row | {"p_adjusted": p} for row, p in zip(rows, corrected, strict=True)]


def anova_checks(scores: pd.DataFrame, *, draws: int, seed: int) -> pd.DataFrame:
    """Check the assumptions of the analysis of variance, by model; as `stats.variance` does."""
    tables = [
        stats.anova_checks(
            by_prompt(own, own["score"]), value="value", by="dimension", draws=draws, seed=seed
        ).assign(model=model)
        for model, own in scores.groupby("model", sort=False)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["model", *table.columns.drop("model")]]


def agreement(measured: pd.DataFrame, *, scorers: Sequence[str], confidence: float) -> pd.DataFrame:
    """Say how far the instruments rank the answers alike.

    Parameters
    ----------
    measured
        The table of `llmbi.measure.measure`.
    scorers
        The instruments measured; every pair of different ones is compared.
    confidence
        Level of the interval.

    Returns
    -------
    DataFrame
        `model`, `first`, `second`, and of mean |polarity| over prompts Spearman's `rho` in
        [-1, 1] (1: the same order; 0: none), `ci_low`, `ci_high`, `n`, `p_value`.
    """
    rows = []
    for model, own in measured.groupby("model", sort=False):
        for first, second in combinations(dict.fromkeys(scorers), 2):
            names = sentiment.instrument(first), sentiment.instrument(second)
            sizes = [own[f"polarity_{scorer}"].abs() for scorer in (first, second)]
            sizes = [size.groupby(own["prompt"]).mean() for size in sizes]  # the prompt is the unit
            rows.append({
                "model": model, "first": names[0], "second": names[1],
                **stats.rank_correlation(*sizes, confidence=confidence),
            })  # fmt: skip
    columns = ["model", "first", "second", "rho", "ci_low", "ci_high", "n", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def beside_printed(estimates: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Put the paper's printed scores beside ours, prompt by prompt.

    Parameters
    ----------
    estimates
        The table of `estimates`.
    printed
        ``tables.printed("oketunji2023")``.

    Returns
    -------
    DataFrame
        `model`, `dimension`, `prompt`, `ours`, `printed`, `printed_model`, `difference`.
    """
    ours = estimates[estimates["statistic"] == "prompt_mean"]
    model = printed["model"].iloc[0]
    return tables.beside_printed(
        ours[["model", "dimension", "prompt", "estimate"]], printed, on=["prompt"],
        value="estimate", printed_value="llmbi_score",
    ).assign(printed_model=model)  # fmt: skip
