"""From LLMBI scores to claims: intervals, chance levels, tests, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi.neutral import Prose, beside, neutral_pools, prose
from nbbias.stats import InferenceSettings
from nbbias.text import sentiment

#: The defaults of this study.
INFERENCE = InferenceSettings(n_permutations=2000)

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
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    aggregation: str = "mean",
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
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
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`:

        - ``index``: the composite over all dimensions, which are fixed, while prompts are sampled,
          and vary by dimension (`stats.mean_of_means`); interval of the logarithm of what exceeds
          the penalty, since sizes are skewed;
        - ``dimension_mean``: per dimension, from the one-way ANOVA model (one pooled variance);
          `p_adjusted` is Holm's over a model's dimensions;
        - ``prompt_mean``: per prompt, interval over repeats, NaN where it was answered once;
        - ``anova``: whether dimensions differ, `estimate` and `effect_size` are omega squared;
        - ``difference``: between two models over the same prompts (`group` is the
          model that is taken away), a paired t-test, `p_adjusted` Holm's over model pairs.

        `null` is what neutral prose of the same length scores on average, and `p_value` asks, as
        `llmbi.neutral.beside` does, whether the mean over such prompts is that; between `null_low`
        and `null_high` it is not told apart. `n` counts prompts (answers for ``prompt_mean``).

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
        found = [{"statistic": "index", **_index(own, whole, summed, inference.confidence)}]
        found += _dimensions(own, pools, inference.confidence)
        found += [*_prompts(own, pools, inference.confidence), _anova(own)]
        rows += [{"model": model, **row} for row in found]
    rows += _differences(scores.assign(value=composite), inference.confidence)
    table = tables.estimates(
        rows,
        study="llmbi",
        measure="llmbi",
        instrument=scores["instrument"].iloc[0],
        confidence=inference.confidence,
    )
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


def _of_prose(own: pd.DataFrame, pools: pd.Series) -> Prose:
    """Return what neutral prose has in the place of the answers in `own`."""
    scored = own[own["score"].notna()]
    # As in the estimate: samples weigh alike in a prompt, prompts in a dimension.
    in_prompt = scored.groupby(["dimension", "prompt"])["score"].transform("size")
    in_dimension = scored.groupby("dimension")["prompt"].transform("nunique")
    return prose(list(pools[scored.index]), (1 / in_prompt / in_dimension).to_numpy())


def _beside(
    row: Row,
    error: float,
    df: float,
    own: pd.DataFrame,
    of: Prose,
    *,
    confidence: float,
    ratio: bool = False,
) -> Row:
    """Add the interval and neutral prose; reasons that are there already stay."""
    floor = own["penalty"].min()
    found = beside(row["estimate"], error, df, of, floor=floor, ratio=ratio, confidence=confidence)
    reason = row.get("reason")
    if not reason and np.isnan(of.mean):
        reason = "the neutral prose is shorter than the answers"
    elif not reason and np.isnan(found["p_value"]):
        reason = "no test: the neutral prose is one text, or no score differs from another"
    return row | {"test": "t-test against neutral prose", **found, "reason": reason}


def _counts(units: pd.DataFrame) -> Row:
    n = int(units["value"].notna().sum())
    return {"n": n, "n_lost": len(units) - n}


def _index(own: pd.DataFrame, values: pd.Series, pools: pd.Series, confidence: float) -> Row:
    """Estimate the mean over dimensions of what prompts have on average."""
    units = by_prompt(own, values)
    scored = units.dropna()
    row, error, df = _counts(units) | {"estimate": np.nan, "reason": None}, np.nan, np.nan
    if scored["dimension"].nunique() < units["dimension"].nunique():
        row["reason"] = "a dimension has no scored answer"
    else:
        numbers = scored["dimension"].factorize()[0]
        row["estimate"], error, df = stats.mean_of_means(scored["value"].to_numpy(float), numbers)
        row["reason"] = "no dimension has two prompts" if not df else None
    of = _of_prose(own, pools)
    return _beside(row, error, df, own, of, confidence=confidence, ratio=True)


def _dimensions(own: pd.DataFrame, pools: pd.Series, confidence: float) -> Iterator[Row]:
    """Estimate each dimension's mean in the one-way ANOVA model of one LLM."""
    units = by_prompt(own, own["score"])
    scored = units.dropna()
    numbers, known = scored["dimension"].factorize()
    means, errors, df = stats.group_means(scored["value"].to_numpy(float), numbers)
    at = {name: i for i, name in enumerate(known)}
    for dimension, answers in own.groupby("dimension", sort=False):
        i = at.get(dimension)
        row: Row = {"estimate": np.nan if i is None else float(means[i])}
        row["reason"] = "no dimension has two prompts" if not df else None
        if i is None:
            row["reason"] = "a dimension has no scored answer"
        row |= _counts(units[units["dimension"] == dimension])
        error = np.nan if i is None else float(errors[i])
        of = _of_prose(answers, pools)
        key = {"statistic": "dimension_mean", "dimension": dimension}
        yield key | _beside(row, error, float(df), answers, of, confidence=confidence)


def _prompts(own: pd.DataFrame, pools: pd.Series, confidence: float) -> Iterator[Row]:
    for (dimension, prompt), answers in own.groupby(["dimension", "prompt"], sort=False):
        row = stats.mean_interval(answers["score"], confidence=confidence).row()
        if row["reason"] == stats.ONE_VALUE:
            row["reason"] = ONE_ANSWER
        df = row["n"] - 1
        error = answers["score"].std() / np.sqrt(row["n"]) if df > 0 else np.nan
        of = _of_prose(answers, pools)
        row |= {"statistic": "prompt_mean", "dimension": dimension, "prompt": prompt}
        yield row | _beside(row, error, float(max(df, 0)), answers, of, confidence=confidence)


def _anova(own: pd.DataFrame) -> Row:
    row = stats.anova(by_prompt(own, own["score"]), value="value", by="dimension")
    del row["df_between"]
    null = 0.0 if row["reason"] is None else np.nan
    return {"statistic": "anova", **row, "estimate": row["effect_size"], "null": null}


def _differences(scores: pd.DataFrame, confidence: float) -> Iterator[Row]:
    units = scores.groupby(["model", "dimension", "prompt"], sort=False)["value"].mean()
    for other, model in combinations(scores["model"].unique(), 2):
        row = stats.paired_difference(units[model], units[other], confidence=confidence).row()
        yield {"statistic": "difference", "model": model, "group": other, "null": 0.0, **row}


def anova_checks(scores: pd.DataFrame, *, inference: InferenceSettings = INFERENCE) -> pd.DataFrame:
    """Check the assumptions of the analysis of variance, by `model`; as `stats.anova_checks`.

    Examples
    --------
    >>> scores = pd.DataFrame({"model": "m", "dimension": ["a", "a", "b", "b"],
    ...                        "prompt": list("pqrs"), "score": [0.2, 0.4, 0.6, 0.9]})
    >>> checks = anova_checks(scores, inference=InferenceSettings(n_permutations=100))
    >>> checks["model"].unique().tolist()
    ['m']
    """
    own = {
        model: stats.anova_checks(
            by_prompt(of_model, of_model["score"]),
            value="value",
            by="dimension",
            n_permutations=inference.n_permutations,
            seed=inference.seed,
        )
        for model, of_model in scores.groupby("model", sort=False)
    }
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
            rows.append(
                {
                    "model": model,
                    "first": names[0],
                    "second": names[1],
                    **stats.rank_correlation(*sizes, confidence=confidence),
                }
            )
    columns = ["model", "first", "second", "rho", "ci_low", "ci_high", "n", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def beside_printed(estimates: pd.DataFrame, *, name: str = "oketunji2023") -> pd.DataFrame:
    """Put the paper's printed scores beside ours, prompt by prompt.

    Parameters
    ----------
    estimates
        The table of `estimates`.
    name
        The printed table, as `tables.read_published` takes it.

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
    printed = tables.read_published(name)
    ours = estimates[estimates["statistic"] == "prompt_mean"]
    return tables.compare_with_published(
        ours[["model", "dimension", "prompt", "estimate"]],
        printed,
        on=["prompt"],
        value="estimate",
        printed_value="llmbi_score",
    ).assign(printed_model=printed["model"].iloc[0])
