"""From LLMBI scores to claims: intervals, chance levels, tests, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi.neutral import neutral_pools
from nbbias.stats import Sure
from nbbias.text import sentiment

#: The defaults of this study.
SURE = Sure(draws=2000)

ONE_ANSWER = "each prompt was answered once, so answers have no spread"

Row = dict[str, Any]


def components(scores: pd.DataFrame) -> pd.DataFrame:
    """Take the index apart, by model and dimension.

    Parameters
    ----------
    scores
        The table of `llmbi.scoring.score_answers`.

    Returns
    -------
    DataFrame
        `model`, `dimension`, `prompts`, `mean_polarity` (signed: above 0 is praise), the
        means of `weighted_bias`, `penalty` and `sentiment_term`, and `score`, their sum.
        Prompts weigh alike, however often each was answered.

    Examples
    --------
    >>> from nbbias.llmbi import scoring
    >>> measured = pd.DataFrame({"model": "m", "dimension": "Age", "prompt": ["p", "q"],
    ...                          "sample": 1, "n": 3, "polarity_textblob": [0.1, -0.3]})
    >>> table = components(scoring.score_answers(measured))
    >>> table[["prompts", "mean_polarity", "score"]].round(3).to_dict("records")
    [{'prompts': 2, 'mean_polarity': -0.1, 'score': 0.7}]
    """
    terms = ["polarity", "weighted_bias", "penalty", "sentiment_term", "score"]
    units = scores.groupby(["model", "dimension", "prompt"], sort=False)[terms].mean()
    grouped = units.groupby(["model", "dimension"], sort=False)
    table = grouped.mean().assign(prompts=grouped["score"].count()).reset_index()
    table = table.rename(columns={"polarity": "mean_polarity"})
    together = pd.concat([own for _, own in table.groupby("model", sort=False)], ignore_index=True)
    return together[["model", "dimension", "prompts", "mean_polarity", *terms[1:]]]


def estimates(
    scores: pd.DataFrame, reference: pd.DataFrame, *, formula: Mapping[str, Any],
    aggregation: str = "mean", sure: Sure = SURE,
) -> pd.DataFrame:  # fmt: skip
    """Estimate the index of each model, its dimensions, its prompts, and how models differ.

    Parameters
    ----------
    scores
        The table of `llmbi.scoring.score_answers`.
    reference
        The table of `llmbi.neutral.neutral_reference`.
    formula
        The settings that `llmbi.scoring.score_answers` was called with.
    aggregation
        How weighted bias scores combine over dimensions, as in `llmbi.scoring.llmbi`.
    sure
        Level of the intervals; resamples behind each chance level.

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

    Examples
    --------
    >>> from nbbias import llmbi
    >>> answers = llmbi.scoring.read_answers("sample")
    >>> measured = llmbi.scoring.measure(answers, scorers=["textblob"])
    >>> prose = llmbi.neutral.read_neutral("sample")
    >>> reference = llmbi.neutral.neutral_reference(
    ...     prose, lengths=measured["n"], scorers=["textblob"]
    ... )
    >>> scores = llmbi.scoring.score_answers(measured)
    >>> table = llmbi.estimates.estimates(scores, reference, formula={})
    >>> index = table[table["statistic"] == "index"].iloc[0]
    >>> index["model"], int(index["n"]), bool(index["ci_low"] < index["estimate"])
    ('plain-register', 18, True)
    """
    rows: list[Row] = []
    composite = pd.Series(np.nan, index=scores.index)
    for model, own in scores.groupby("model", sort=False):
        dimensions = own["dimension"].unique()
        factor = len(dimensions) if aggregation == "sum" else 1
        # Values whose mean over dimensions is the composite index: (2.2) sums, Listing 1 averages.
        composite[own.index] = whole = own["score"] + (factor - 1) * own["weighted_bias"]
        summed, pools = (
            pd.Series(neutral_pools(own, reference, bias_factor=f, **formula), index=own.index)
            for f in (factor, 1)
        )
        equal = {"index": dict.fromkeys(dimensions, 1 / len(dimensions))}
        single = {dimension: {dimension: 1.0} for dimension in dimensions}
        found = [{"statistic": "index", **r} for _, r in _means(own, whole, summed, equal, sure)]
        found += [
            {"statistic": "dimension_mean", "dimension": dimension, **row}
            for dimension, row in _means(own, own["score"], pools, single, sure)
        ]
        found += [*_prompts(own, pools, sure), _anova(own)]
        rows += [{"model": model, **row} for row in found]
    rows += _differences(scores.assign(value=composite), sure.confidence)
    table = tables.estimates(
        rows, study="llmbi", measure="llmbi", instrument=scores["instrument"].iloc[0],
        confidence=sure.confidence,
    )  # fmt: skip
    table = stats.adjust(table, family=["model"], where={"statistic": "dimension_mean"})
    return stats.adjust(table, where={"statistic": "difference"})


def by_prompt(scores: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Average repeats: the prompt is the unit. NaN only where no answer was scored.

    Examples
    --------
    >>> scores = pd.DataFrame({"dimension": "Age", "prompt": ["p", "p", "q"]})
    >>> by_prompt(scores, pd.Series([1.0, 3.0, 5.0]))["value"].tolist()
    [2.0, 5.0]
    """
    keyed = scores[["dimension", "prompt"]].assign(value=values)
    return keyed.groupby(["dimension", "prompt"], sort=False)["value"].mean().reset_index()


def _against_neutral(
    row: Row, own: pd.DataFrame, pools: pd.Series, sure: Sure, *, family: int = 1
) -> Row:
    """Add the chance level of the answers in `own`; reasons that are there already stay."""
    scored = own[own["score"].notna()]
    # As in the estimate: samples weigh alike in a prompt, prompts in a dimension.
    in_prompt = scored.groupby(["dimension", "prompt"])["score"].transform("size")
    in_dimension = scored.groupby("dimension")["prompt"].transform("nunique")
    null = stats.mean_of_draws(
        list(pools[scored.index]), weights=(1 / in_prompt / in_dimension).to_numpy(),
        observed=row["estimate"], sampled=True, family=family, sure=sure,
    )  # fmt: skip
    if np.isnan(null["null"]) and not row.get("reason"):
        row = row | {"reason": "the neutral prose is shorter than the answers"}
    return row | {"test": "neutral prose, resampled", **null}


def _means(
    own: pd.DataFrame, values: pd.Series, pools: pd.Series,
    contrasts: Mapping[str, Mapping[str, float]], sure: Sure,
) -> Iterator[tuple[str, Row]]:  # fmt: skip
    """Estimate weighted sums of dimension means in the one-way ANOVA model of one LLM."""
    units = by_prompt(own, values)
    scored = units.dropna()
    fitted = stats.cell_means_model(scored, value="value", by="dimension") if len(scored) else None
    for name, weights in contrasts.items():
        n = int(scored["dimension"].isin(list(weights)).sum())
        row: Row = {"n": n, "n_lost": int(units["dimension"].isin(list(weights)).sum()) - n}
        if fitted is None or set(weights) - set(scored["dimension"]):
            row |= {"estimate": np.nan, "reason": "a dimension has no scored answer"}
        else:
            bounds = (own["penalty"].min(), np.inf)
            row |= stats.contrast_interval(
                fitted, weights, confidence=sure.confidence, bounds=bounds
            )
            alone = not np.isfinite(row["ci_low"])
            row["reason"] = "no dimension has two prompts" if alone else None
        answers = own[own["dimension"].isin(list(weights))]
        yield name, _against_neutral(row, answers, pools, sure, family=len(contrasts))


def _prompts(own: pd.DataFrame, pools: pd.Series, sure: Sure) -> Iterator[Row]:
    for (dimension, prompt), answers in own.groupby(["dimension", "prompt"], sort=False):
        row = stats.mean_interval(answers["score"], confidence=sure.confidence)
        if row["reason"] == stats.ONE_VALUE:
            row["reason"] = ONE_ANSWER
        row = _against_neutral(row, answers, pools, sure)
        yield {"statistic": "prompt_mean", "dimension": dimension, "prompt": prompt, **row}


def _anova(own: pd.DataFrame) -> Row:
    row = stats.anova(by_prompt(own, own["score"]), value="value", by="dimension")
    del row["df_between"]
    null = 0.0 if row["reason"] is None else np.nan
    return {"statistic": "anova", **row, "estimate": row["effect_size"], "null": null}


def _differences(scores: pd.DataFrame, confidence: float) -> Iterator[Row]:
    units = scores.groupby(["model", "dimension", "prompt"], sort=False)["value"].mean()
    for other, model in combinations(scores["model"].unique(), 2):
        row = stats.paired_difference(units[model], units[other], confidence=confidence)
        yield {"statistic": "difference", "model": model, "group": other, "null": 0.0, **row}


def anova_checks(scores: pd.DataFrame, *, sure: Sure = SURE) -> pd.DataFrame:
    """Check the assumptions of the analysis of variance, by `model`; as `stats.anova_checks`.

    Examples
    --------
    >>> scores = pd.DataFrame({"model": "m", "dimension": ["a", "a", "b", "b"],
    ...                        "prompt": list("pqrs"), "score": [0.2, 0.4, 0.6, 0.9]})
    >>> anova_checks(scores, sure=Sure(draws=100))["model"].unique().tolist()
    ['m']
    """
    own = {
        model: stats.anova_checks(
            by_prompt(of_model, of_model["score"]), value="value", by="dimension",
            draws=sure.draws, seed=sure.seed,
        )
        for model, of_model in scores.groupby("model", sort=False)
    }  # fmt: skip
    return pd.concat(own, names=["model", None]).reset_index("model").reset_index(drop=True)


def agreement(measured: pd.DataFrame, *, scorers: Sequence[str], confidence: float) -> pd.DataFrame:
    """Say how far the instruments rank the answers alike.

    Parameters
    ----------
    measured
        The table of `llmbi.scoring.measure`.
    scorers
        The instruments measured; every pair of different ones is compared.
    confidence
        Level of the interval.

    Returns
    -------
    DataFrame
        `model`, `first`, `second`, and of mean ``|polarity|`` over prompts Spearman's `rho` in
        [-1, 1] (1: the same order; 0: none), `ci_low`, `ci_high`, `n`, `p_value`.

    Examples
    --------
    >>> measured = pd.DataFrame({"model": "m", "prompt": list("pqrs"),
    ...                          "polarity_textblob": [0.1, 0.2, -0.3, 0.4],
    ...                          "polarity_vader": [0.2, -0.3, 0.4, 0.9]})
    >>> table = agreement(measured, scorers=["textblob", "vader"], confidence=0.95)
    >>> table[["rho", "n"]].round(3).to_dict("records")
    [{'rho': 1.0, 'n': 4}]
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


def beside_printed(estimates: pd.DataFrame, *, name: str = "oketunji2023") -> pd.DataFrame:
    """Put the paper's printed scores beside ours, prompt by prompt.

    Parameters
    ----------
    estimates
        The table of `estimates`.
    name
        The printed table, as `tables.printed` takes it.

    Returns
    -------
    DataFrame
        `model`, `dimension`, `prompt`, `ours`, `printed`, `printed_model`, `difference`.

    Examples
    --------
    >>> row = {"statistic": "prompt_mean", "model": "m", "dimension": "Gender",
    ...        "prompt": "Discuss the role of women in technology.", "estimate": 1.0}
    >>> beside = beside_printed(pd.DataFrame([row]))
    >>> beside["printed_model"].tolist(), bool(0.2 <= beside["printed"][0] <= 2.7)
    (['gpt-4'], True)
    """
    printed = tables.printed(name)
    ours = estimates[estimates["statistic"] == "prompt_mean"]
    return tables.beside_printed(
        ours[["model", "dimension", "prompt", "estimate"]], printed, on=["prompt"],
        value="estimate", printed_value="llmbi_score",
    ).assign(printed_model=printed["model"].iloc[0])  # fmt: skip
