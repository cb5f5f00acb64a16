"""From LLMBI scores to estimates: intervals, reference prose, tests, and the scorer's bias.

An answer's swap effect (`text.audit`) is the size of its polarity less the mean size over the same
answer about each group in turn. The formula adds sizes up, so an index is the sum of the corrected
index and of the scorer's bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi.neutral import Prose, compare_with_prose, neutral_pools, prose
from nbbias.stats import CORRECTED, PARTS, SCORER_BIAS, InferenceSettings
from nbbias.text import audit, sentiment

#: The defaults of this study.
INFERENCE = InferenceSettings(n_permutations=2000)

Row = dict[str, Any]


def estimates(
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    swaps: pd.DataFrame | None = None,
    aggregation: str = "mean",
    inference: InferenceSettings = INFERENCE,
) -> tables.Estimated:
    """Estimate the index of each model, its dimensions, and how models differ.

    Parameters
    ----------
    scores
        The table of `llmbi.scoring.score_answers`.
    reference
        The table of `llmbi.neutral.neutral_reference`.
    formula
        The settings that `llmbi.scoring.score_answers` was called with.
    swaps
        The table of `swap_effects`; without it, nothing is corrected for scorer bias.
    aggregation
        How weighted bias scores combine over dimensions, as in `llmbi.scoring.llmbi`.
    inference
        Level of the intervals.

    Returns
    -------
    tables.Estimated
        ESTIMATES, and the prompts' values behind them. By `statistic`:

        - ``index``: the composite over all dimensions, which are fixed, while prompts are sampled;
        - ``dimension_mean``: per dimension;
        - ``anova``: whether dimensions differ, `estimate` and `effect_size` are omega squared;
        - ``difference``: between two models over the same prompts (`group` is the
          model that is subtracted), a paired t-test;
        - ``…_corrected`` and ``…_instrument`` of index and difference: the same of corrected
          scores, and scorer bias (`stats.scorer_bias`); they add up to the raw estimate.

        `null` is what reference prose of the same length scores on average, and `p_value` tests
        whether the mean over such prompts differs from it (`neutral.compare_with_prose`); between
        `null_low` and `null_high` it does not. `p_adjusted` is Holm's, over the models, over the
        dimensions of a model, and over the pairs of models. `n` counts prompts.

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
    >>> result = llmbi.estimates.estimates(scores, reference, formula={})
    >>> index = result.estimates.query("statistic == 'index'").iloc[0]
    >>> index["model"], int(index["n"]), bool(index["ci_low"] < index["estimate"])
    ('plain-register', 18, True)
    """
    level = inference.confidence
    rows = [
        *_composites(scores, reference, formula, aggregation, level),
        *_dimensions(scores, reference, formula, level),
    ]
    if swaps is not None:
        corrected = correct(scores, swaps, formula)
        rows += [
            row | {"statistic": row["statistic"] + CORRECTED}
            for row in _composites(corrected, reference, formula, aggregation, level)
        ]
        rows += _scorer_bias(scores, corrected, aggregation, level)
    result = tables.estimates_and_units(
        rows,
        study="llmbi",
        measure="llmbi",
        instrument=scores["instrument"].iloc[0],
        confidence=level,
    )
    table = stats.adjust(result.estimates, family=["model"], where={"statistic": "dimension_mean"})
    for statistic in [name + part for name in ("index", "difference") for part in PARTS]:
        table = stats.adjust(table, where={"statistic": statistic})
    return result._replace(estimates=table)


def _composites(
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    formula: Mapping[str, Any],
    aggregation: str,
    confidence: float,
) -> Iterator[Row]:
    """Estimate each model's index, and how models differ in it."""
    composite = _composite(scores, aggregation)
    for model, subset in scores.groupby("model", sort=False):
        factor = subset["dimension"].nunique() if aggregation == "sum" else 1
        pools = neutral_pools(subset, reference, bias_factor=factor, **formula)
        yield {"model": model, **_index(subset, composite[subset.index], pools, confidence)}
    for key, values, others in _pairs(scores, composite):
        row = stats.paired_difference(values, others, confidence=confidence).row()
        yield key | {"null": 0.0, **row, "values": (values - others).droplevel("dimension")}


def _composite(scores: pd.DataFrame, aggregation: str) -> pd.Series:
    """Return values whose mean over dimensions is the index: (2.2) sums, Listing 1 averages."""
    dimensions = scores.groupby("model")["dimension"].transform("nunique")
    factor = dimensions if aggregation == "sum" else 1
    return scores["score"] + (factor - 1) * scores["weighted_bias"]


def _pairs(scores: pd.DataFrame, values: pd.Series) -> Iterator[tuple[Row, pd.Series, pd.Series]]:
    """Yield two models' values by prompt, for each two models, with the key of their row."""
    keyed = scores.assign(value=values)
    units = keyed.groupby(["model", "dimension", "prompt"], sort=False)["value"].mean()
    for other, model in combinations(scores["model"].unique(), 2):
        key = {"statistic": "difference", "model": model, "group": other}
        yield key, units[model], units[other]


# --- scorer bias --------------------------------------------------------------------------------


def swap_effects(measured: pd.DataFrame, *, scorers: Sequence[str]) -> pd.DataFrame:
    """Score the answers that name a group again with each other group of its list in its place.

    Parameters
    ----------
    measured
        The table of `llmbi.scoring.measure`.
    scorers
        The scorers that measured it.

    Returns
    -------
    DataFrame
        By the index of `measured`: `named`, how many lists the answer names, and ``swap_<scorer>``:
        the size of its polarity less the mean size over the groups, added up over the lists; 0
        where it names none, NaN where a word has no counterpart. An answer is about the group that
        it names most.

    Examples
    --------
    >>> answers = pd.DataFrame({"text": ["A black nurse spoke.", "It rained."]})
    >>> swap_effects(answers, scorers=["textblob"])["swap_textblob"].round(3).tolist()
    [0.111, 0.0]
    """
    scorers = list(dict.fromkeys(scorers))
    versions = [tables.stamp(scorer) for scorer in scorers]
    swaps = _swap_effects(measured["text"].reset_index(drop=True), scorers, versions)
    return swaps.set_axis(measured.index)


@tables.stage
def _swap_effects(texts: pd.Series, scorers: list[str], versions: list[str]) -> pd.DataFrame:
    def size(texts: pd.Series, scorer: str) -> pd.Series:
        return sentiment.score(texts, scorer=scorer)["polarity"].abs()

    sizes = {f"swap_{scorer}": partial(size, scorer=scorer) for scorer in scorers}
    return audit.score_texts(texts, lexicon=audit.load_all_lists(), scores=sizes)


def correct(scores: pd.DataFrame, swaps: pd.DataFrame, formula: Mapping[str, Any]) -> pd.DataFrame:
    """Subtract the scorer's bias from each term of the scores."""
    b, s = (formula.get(f"{term}_scorer", "textblob") for term in ("bias", "sentiment"))
    bias = scores["weighted_bias"] - scores["weight"] * swaps[f"swap_{b}"]
    tone = scores["sentiment_term"] - formula.get("lambda_factor", 1.5) * swaps[f"swap_{s}"]
    score = bias + scores["penalty"] + tone
    return scores.assign(weighted_bias=bias, sentiment_term=tone, score=score)


def _scorer_bias(
    scores: pd.DataFrame, corrected: pd.DataFrame, aggregation: str, confidence: float
) -> Iterator[Row]:
    settings: Row = {"units": "prompts", "confidence": confidence}
    added = _composite(scores, aggregation) - _composite(corrected, aggregation)
    for model, subset in scores.groupby("model", sort=False):
        units = by_prompt(subset, added[subset.index])
        index = stats.scorer_bias(_balanced(units), **settings)
        if not units.groupby("dimension")["value"].count().all():
            index = index.without_test("a dimension has no scored answer").replace(estimate=np.nan)
        yield {"model": model, "statistic": f"index{SCORER_BIAS}", **index.row()}
    for key, values, others in _pairs(scores, added):
        row = stats.scorer_bias(values - others, **settings).row()
        yield key | {"statistic": f"difference{SCORER_BIAS}", **row}


def _balanced(units: pd.DataFrame) -> pd.Series:
    """Weight prompts so that their mean is the mean over dimensions: dimensions weigh alike."""
    scored = units.groupby("dimension", sort=False)["value"].count()
    weights = scored.sum() / len(scored) / scored.where(scored > 0)
    return units.set_index("prompt")["value"] * units["dimension"].map(weights).to_numpy()


# --- the rows of one model ----------------------------------------------------------------------


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


def _compare(
    row: Row,
    spread: tuple[float, float],
    answers: pd.DataFrame,
    pools: Sequence[pd.Series],
    *,
    confidence: float,
    ratio: bool = False,
) -> Row:
    """Add the interval and the test against reference prose; a reason that is there stays.

    `spread` is the estimate's standard error and its degrees of freedom.
    """
    expected, floor = _reference(answers, pools), answers["penalty"].min()
    result = compare_with_prose(
        row["estimate"], *spread, expected, floor=floor, ratio=ratio, confidence=confidence
    )
    reason = row["reason"]
    if not reason and np.isnan(expected.mean):
        reason = "the neutral prose is shorter than the answers"
    elif not reason and np.isnan(result["p_value"]):
        reason = "no test: the neutral prose is one text, or no score differs from another"
    return row | {"test": "t-test against neutral prose", **result, "reason": reason}


def _reference(answers: pd.DataFrame, pools: Sequence[pd.Series]) -> Prose:
    """Return the mean score of reference prose in the place of these answers."""
    scored = answers["score"].notna()
    # As in the estimate: samples weigh alike in a prompt, prompts in a dimension.
    in_prompt = answers[scored].groupby(["dimension", "prompt"])["score"].transform("size")
    in_dimension = answers[scored].groupby("dimension")["prompt"].transform("nunique")
    known = [pool for pool, there in zip(pools, scored, strict=True) if there]
    return prose(known, (1 / in_prompt / in_dimension).to_numpy())


def _counts(units: pd.DataFrame) -> Row:
    n = int(units["value"].notna().sum())
    return {"n": n, "n_lost": len(units) - n}


def _index(
    answers: pd.DataFrame, values: pd.Series, pools: Sequence[pd.Series], confidence: float
) -> Row:
    """Estimate the mean over dimensions of what prompts have on average (`stats.mean_of_means`).

    The interval is of the logarithm of what exceeds the penalty, since sizes are skewed.
    """
    units = by_prompt(answers, values)
    scored = units.dropna()
    row = {"statistic": "index", **_counts(units), "estimate": np.nan, "reason": None}
    error = df = np.nan
    if scored["dimension"].nunique() < units["dimension"].nunique():
        row["reason"] = "a dimension has no scored answer"
    else:
        numbers = scored["dimension"].factorize()[0]
        row["estimate"], error, df = stats.mean_of_means(scored["value"].to_numpy(float), numbers)
        row["reason"] = "no dimension has two prompts" if not df else None
        row["values"] = _balanced(units)
    return _compare(row, (error, df), answers, pools, confidence=confidence, ratio=True)


def _dimensions(
    scores: pd.DataFrame, reference: pd.DataFrame, formula: Mapping[str, Any], confidence: float
) -> Iterator[Row]:
    """Estimate each dimension's mean in the one-way ANOVA model of one LLM, and test that model."""
    for model, answers in scores.groupby("model", sort=False):
        units = by_prompt(answers, answers["score"])
        scored = units.dropna()
        numbers, names = scored["dimension"].factorize()
        means, errors, df = stats.group_means(scored["value"].to_numpy(float), numbers)
        table = pd.DataFrame({"mean": means, "error": errors}, index=names)
        for dimension, subset in answers.groupby("dimension", sort=False):
            mean, error = table.reindex([dimension]).iloc[0].astype(float)
            reason = "no dimension has two prompts" if not df else None
            part = units[units["dimension"] == dimension]
            row: Row = {"model": model, "statistic": "dimension_mean", "dimension": dimension}
            row |= {"estimate": mean, "values": part.set_index("prompt")["value"], **_counts(part)}
            row["reason"] = "a dimension has no scored answer" if np.isnan(mean) else reason
            pools = neutral_pools(subset, reference, **formula)
            yield _compare(row, (error, float(df)), subset, pools, confidence=confidence)
        anova = stats.anova(units, value="value", by="dimension")
        null = 0.0 if anova["reason"] is None else np.nan
        row = {"model": model, "statistic": "anova", "estimate": anova["effect_size"], "null": null}
        yield row | {key: value for key, value in anova.items() if key != "df_between"}


# --- the paper ----------------------------------------------------------------------------------


def compare_with_published(scores: pd.DataFrame) -> pd.DataFrame:
    """Put the paper's printed scores beside ours, prompt by prompt.

    Returns
    -------
    DataFrame
        `model`, `dimension`, `prompt`, `ours`, `printed`, `printed_model`, `difference`.

    Examples
    --------
    >>> row = {"model": "m", "dimension": "Gender", "score": 1.0,
    ...        "prompt": "Discuss the role of women in technology."}
    >>> published = compare_with_published(pd.DataFrame([row]))
    >>> published["printed_model"].tolist(), bool(0.2 <= published["printed"][0] <= 2.7)
    (['gpt-4'], True)
    """
    printed = tables.read_published("oketunji2023")
    keys = ["model", "dimension", "prompt"]
    ours = scores.groupby(keys, sort=False)["score"].mean().reset_index()
    return tables.compare_with_published(
        ours.sort_values("model", kind="stable"),
        printed,
        on=["prompt"],
        value="score",
        printed_value="llmbi_score",
    ).assign(printed_model=printed["model"].iloc[0])
