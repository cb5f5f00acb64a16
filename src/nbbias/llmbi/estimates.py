"""From LLMBI scores to estimates: intervals, reference prose, tests, and the scorer's bias.

An answer's swap effect (`text.substitution`) is the size of its polarity less the mean size over
the same answer about each group in turn. The formula adds sizes up, so an index is the sum of the
corrected index and of the scorer's bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi import scoring
from nbbias.llmbi.params import CLASSIFIER
from nbbias.stats import SCORER_BIAS
from nbbias.tables.provenance import measuring_version
from nbbias.text import substitution

Row = dict[str, Any]

#: A mean, its standard error, and the degrees of freedom of that.
_Mean = tuple[float, float, float]

#: Columns that a sum over dimensions multiplies, each with the column of its factor.
_WEIGHED = {"score": "weighted_bias", "most": "weight", "weight": "weight"}

_SILENT = "a dimension has no scored answer"


def estimates(
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    swaps: pd.DataFrame | None = None,
    aggregation: str = "mean",
    confidence: float = stats.CONFIDENCE,
) -> tables.Estimated:
    """Estimate the index of each model, its dimensions, and how models differ.

    A statistic of the index belongs in `_index_rows`, one of a dimension in `_dimensions`.

    Parameters
    ----------
    scores
        The table of `llmbi.scoring.score_answers`.
    reference
        The table of `llmbi.scoring.neutral_reference`.
    formula
        The settings that `llmbi.scoring.score_answers` was called with.
    swaps
        The table of `swap_effects`; without it, nothing is corrected for scorer bias.
    aggregation
        How weighted bias scores combine over dimensions, as in `llmbi.scoring.llmbi`.
    confidence
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
        whether the mean over such prompts differs from it (`scoring.compare_with_prose`); between
        `null_low` and `null_high` it does not. `p_adjusted` is Holm's, over the models, over the
        dimensions of a model, and over the pairs of models. `n` counts prompts.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> answers = llmbi.scoring.read_answers("sample")
    >>> measured = llmbi.scoring.measure(answers, scorers=["textblob"])
    >>> prose = llmbi.scoring.read_neutral("sample")
    >>> reference = llmbi.scoring.neutral_reference(
    ...     prose, lengths=measured["n"], scorers=["textblob"]
    ... )
    >>> scores = llmbi.scoring.score_answers(measured)
    >>> result = llmbi.estimates.estimates(scores, reference, formula={})
    >>> index = result.estimates.query("statistic == 'index'").iloc[0]
    >>> index["model"], int(index["n"]), bool(index["ci_low"] < index["estimate"])
    ('plain-register', 18, True)
    """
    factor = formula.get("lambda_factor", 1.5)
    scores = scores.assign(most=scores["penalty"] + scores["weight"] + factor)
    pools = partial(scoring.neutral_pools, reference=reference, **formula)
    whole, scores = (table.assign(pool=pools) for table in (_weigh(scores, aggregation), scores))
    rows = [*_index_rows(whole, "", confidence), *_dimensions(scores, confidence)]
    if swaps is not None:
        b, s = (formula.get(f"{term}_scorer", "textblob") for term in ("bias", "sentiment"))
        swap = whole["weight"] * swaps[f"swap_{b}"] + factor * swaps[f"swap_{s}"]
        for part, values in stats.decompose(whole["score"], swap).items():
            rows += _index_rows(whole.assign(score=values), part, confidence) if part else []
    of: Row = {"study": "llmbi", "measure": "llmbi", "instrument": scores["instrument"].iloc[0]}
    table, units = tables.estimates_and_units(rows, confidence=confidence, **of)
    of_one_model = table["model"].where(table["statistic"] == "dimension_mean")
    tested = table["statistic"] != "anova"
    table = stats.adjust(table, family=["statistic", of_one_model], where=tested)
    return tables.Estimated(table, units)


def _weigh(scores: pd.DataFrame, aggregation: str) -> pd.DataFrame:
    """Weigh answers so that the mean over dimensions is the index: (2.2) adds up their terms."""
    if aggregation == "mean":
        return scores
    factor = scores.groupby("model")["dimension"].transform("nunique")
    return scores.assign(**{a: scores[a] + (factor - 1) * scores[b] for a, b in _WEIGHED.items()})


def _index_rows(scores: pd.DataFrame, part: str, confidence: float) -> Iterator[Row]:
    """Estimate each model's index, and how models differ in it: of one of `stats.PARTS`."""
    units = {}
    for model, subset in scores.groupby("model", sort=False):
        units[model] = by_prompt(subset)
        row = (_scorer_bias if part == SCORER_BIAS else _index)(units[model], subset, confidence)
        yield {"model": model, "statistic": f"index{part}", **row}
    for other, model in combinations(units, 2):
        values = (units[model] - units[other]).droplevel("dimension")
        if part == SCORER_BIAS:
            row = stats.scorer_bias(values, units="prompts", confidence=confidence).row()
        else:
            result = stats.paired_difference(units[model], units[other], confidence=confidence)
            result = result.without_test(result.reason) if result.reason else result
            row = result.row() | {"null": 0.0, "values": values}
        yield {"statistic": f"difference{part}", "model": model, "group": other, **row}


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
    versions += [measuring_version("nbbias.biasalert")] * (CLASSIFIER in scorers)
    swaps = _swap_effects(measured["text"].reset_index(drop=True), scorers, versions)
    return swaps.set_axis(measured.index)


@tables.stage
def _swap_effects(texts: pd.Series, scorers: list[str], versions: list[str]) -> pd.DataFrame:
    def size(texts: pd.Series, scorer: str) -> pd.Series:
        return scoring.score_texts(texts, scorer=scorer)["polarity"].abs()

    sizes = {f"swap_{scorer}": partial(size, scorer=scorer) for scorer in scorers}
    return substitution.score_texts(texts, lexicon=substitution.load_all_lists(), scores=sizes)


# --- the rows of one model ----------------------------------------------------------------------


def by_prompt(scores: pd.DataFrame) -> pd.Series:
    """Average repeats: the prompt is the unit. NaN only where no answer was scored.

    Examples
    --------
    >>> scores = pd.DataFrame({"dimension": "Age", "prompt": ["p", "p", "q"]})
    >>> by_prompt(scores.assign(score=[1.0, 3.0, 5.0])).tolist()
    [2.0, 5.0]
    """
    return scores.groupby(["dimension", "prompt"], sort=False)["score"].mean()


def _compare(
    units: pd.Series, estimate: _Mean, answers: pd.DataFrame, confidence: float, *, ratio: bool
) -> Row:
    """Test a mean against neutral prose."""
    scored = answers[answers["score"].notna()]
    # As in the estimate: samples weigh alike in a prompt, prompts in a dimension.
    in_prompt = scored.groupby(["dimension", "prompt"])["score"].transform("size")
    in_dimension = scored.groupby("dimension")["prompt"].transform("nunique")
    expected = scoring.prose(list(scored["pool"]), (1 / in_prompt / in_dimension).to_numpy())
    most = answers.groupby("dimension")["most"].mean().mean()
    options: dict[str, Any] = {"minimum": answers["penalty"].min(), "maximum": most, "ratio": ratio}
    result = scoring.compare_with_prose(*estimate, expected, confidence=confidence, **options)
    reasons = {
        _SILENT: np.isnan(estimate[0]),
        "no dimension has two prompts": not estimate[2],
        "answers to all prompts of a dimension score alike: no interval": estimate[1] == 0,
        "the neutral prose is shorter than the answers": np.isnan(expected.mean),
        "no test: the neutral prose is one text, or no score differs from another": True,
    }
    reason = next(filter(reasons.get, reasons)) if np.isnan(result["p_value"]) else None
    counts = {"n": int(units.count()), "n_lost": int(units.isna().sum())}
    row = {"estimate": estimate[0], "test": "t-test against neutral prose", "reason": reason}
    return counts | row | result


def _index(units: pd.Series, answers: pd.DataFrame, confidence: float) -> Row:
    """Estimate the mean over dimensions of what prompts have on average (`stats.mean_of_means`).

    The interval is of the logarithm of what exceeds the penalty, since sizes are skewed.
    """
    if _is_silent(units):
        return _compare(units, (np.nan,) * 3, answers, confidence, ratio=True)
    scored = units.dropna()
    numbers = scored.index.get_level_values("dimension").factorize()[0]
    estimate = stats.mean_of_means(scored.to_numpy(float), numbers)
    row = _compare(units, estimate, answers, confidence, ratio=True)
    return row | {"values": _balanced(units)}


def _scorer_bias(units: pd.Series, _: pd.DataFrame, confidence: float) -> Row:
    result = stats.scorer_bias(_balanced(units), units="prompts", confidence=confidence)
    if _is_silent(units):
        result = result.without_test(_SILENT).replace(estimate=np.nan)
    return result.row()


def _is_silent(units: pd.Series) -> bool:
    """Return whether a dimension has no scored answer: then there is no index."""
    return not units.groupby("dimension").count().all()


def _balanced(units: pd.Series) -> pd.Series:
    """Weight prompts so that their mean is the mean over dimensions: dimensions weigh alike."""
    scored = units.groupby("dimension", sort=False).count()
    weights = scored.sum() / len(scored) / scored.where(scored > 0)
    return units.mul(weights, level="dimension").droplevel("dimension")


def _dimensions(scores: pd.DataFrame, confidence: float) -> Iterator[Row]:
    """Estimate each dimension's mean in the one-way ANOVA model of one LLM, and test that model."""
    for model, answers in scores.groupby("model", sort=False):
        units = by_prompt(answers)
        scored = units.dropna()
        numbers, names = scored.index.get_level_values("dimension").factorize()
        means, errors, df = stats.group_means(scored.to_numpy(float), numbers)
        table = pd.DataFrame({"mean": means, "error": errors}, index=names)
        for dimension, subset in answers.groupby("dimension", sort=False):
            (mean, error), values = table.reindex([dimension]).iloc[0], units[dimension]
            row = _compare(values, (mean, error, float(df)), subset, confidence, ratio=False)
            row |= {"statistic": "dimension_mean", "model": model, "values": values}
            yield row | {"dimension": dimension}
        anova = stats.anova(units.rename("value").reset_index(), value="value", by="dimension")
        null = 0.0 if anova.reason is None else np.nan
        yield {"model": model, "statistic": "anova", **anova.replace(null=null).row()}


# --- the paper ----------------------------------------------------------------------------------


def compare_with_published(scores: pd.DataFrame) -> pd.DataFrame:
    """Put the paper's printed scores beside ours, prompt by prompt.

    Returns
    -------
    DataFrame
        `dimension`, `prompt`, the mean score of each model (``LLMBI (model)``) and `printed`, that
        of GPT-4 in the paper.

    Examples
    --------
    >>> row = {"model": "m", "dimension": "Gender", "score": 1.0,
    ...        "prompt": "Discuss the role of women in technology."}
    >>> compare_with_published(pd.DataFrame([row]))[["LLMBI (m)", "printed"]].values.tolist()
    [[1.0, 0.8875]]
    """
    published = tables.read_published("oketunji2023").set_index("prompt")["llmbi_score"]
    by_prompt = scores.groupby(["dimension", "prompt", "model"], sort=False)["score"].mean()
    table = by_prompt.unstack(sort=False).add_prefix("LLMBI (").add_suffix(")").reset_index()
    return table.assign(printed=table["prompt"].map(published))
