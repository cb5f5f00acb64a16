"""How firm the ranking of dimensions is: the LLMBI under other settings, one factor at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.llmbi.estimates import SURE, by_prompt
from nbbias.llmbi.measure import score_answers
from nbbias.stats import Sure

Row = dict[str, Any]


def alternatives(
    measured: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    scorers: Sequence[str],
    sure: Sure = SURE,
) -> pd.DataFrame:
    """Score the dimensions again under other settings, one factor at a time.

    Parameters
    ----------
    measured
        The table of `llmbi.measure.measure`.
    formula
        The reference settings, as for `llmbi.measure.score_answers`.
    scorers
        The instruments measured; each is tried for B and for S.
    sure
        Settings drawn at random for the weights and the prompts, and their start.

    Returns
    -------
    DataFrame
        One row per setting: `model`, `factor`, `setting`, then a column per dimension with
        its mean score. Factors: ``reference`` (one row), ``penalty P`` (0 to 1), ``weight λ of S``
        (0 to 5), ``instrument``, ``normalisation`` of |polarity| over the answers (min-max, z,
        ranks), ``weights w`` (each drawn between 1/2 and 2, evenly on a log scale) and
        ``prompts`` (one of a dimension's prompts drawn, as if each had been asked one only).
    """
    dimensions = list(measured["dimension"].unique())
    rows: list[Row] = []
    for model, own in measured.groupby("model", sort=False):
        rng = np.random.default_rng(sure.seed)
        tried = [
            *_set(own, formula, scorers),
            *_drawn_weights(own, formula, dimensions, draws=sure.draws, rng=rng),
            *_drawn_prompts(own, formula, draws=sure.draws, rng=rng),
        ]
        rows += [{"model": model, **row} for row in tried]
    return pd.DataFrame(rows)[["model", "factor", "setting", *dimensions]]


def _set(own: pd.DataFrame, formula: Mapping[str, Any], scorers: Sequence[str]) -> list[Row]:
    """Score under the reference and under every setting that is not drawn at random."""

    def means(table: pd.DataFrame, **changed: Any) -> Row:
        scores = score_answers(table, **{**formula, **changed})
        return by_prompt(scores, scores["score"]).groupby("dimension")["value"].mean().to_dict()

    rows = [{"factor": "reference", "setting": "as set", **means(own)}]
    for value in (0.0, 0.1, 0.5, 1.0):
        changed = means(own, diversity_penalty=value)
        rows.append({"factor": "penalty P", "setting": f"P = {value:g}", **changed})
    for value in (0.0, 0.5, 1.0, 2.0, 5.0):
        changed = means(own, lambda_factor=value)
        rows.append({"factor": "weight λ of S", "setting": f"λ = {value:g}", **changed})
    reference = (formula["bias_scorer"], formula["sentiment_scorer"])
    for b, s in product(dict.fromkeys(scorers), repeat=2):
        if (b, s) != reference:
            changed = means(own, bias_scorer=b, sentiment_scorer=s)
            rows.append({"factor": "instrument", "setting": f"B by {b}, S by {s}", **changed})
    for name, transform in _NORMALISATIONS.items():
        normal = {f"polarity_{k}": transform(own[f"polarity_{k}"].abs()) for k in scorers}
        rows.append({"factor": "normalisation", "setting": name, **means(own.assign(**normal))})
    return rows


_NORMALISATIONS = {
    "min-max": lambda x: (x - x.min()) / (x.max() - x.min()) if x.max() > x.min() else x * 0,
    # Shifted to start at 0: the formula takes sizes, and a shift moves no rank.
    "z": lambda x: (x - x.min()) / x.std(ddof=0) if x.std(ddof=0) > 0 else x * 0,
    "ranks": lambda x: x.rank(pct=True),
}


def _drawn_weights(
    measured: pd.DataFrame, formula: Mapping[str, Any], dimensions: list[str],
    *, draws: int, rng: np.random.Generator,
) -> list[Row]:  # fmt: skip
    scores = score_answers(measured, **{**formula, "weights": {}})
    rest = scores["penalty"] + scores["sentiment_term"]
    terms = [
        by_prompt(scores, part).groupby("dimension")["value"].mean().reindex(dimensions).to_numpy()
        for part in (scores["weighted_bias"], rest)
    ]
    weights = 2.0 ** rng.uniform(-1, 1, size=(draws, len(dimensions)))
    drawn = terms[0] * weights + terms[1]
    return [
        {"factor": "weights w", "setting": f"draw {i}", **dict(zip(dimensions, row, strict=True))}
        for i, row in enumerate(drawn, start=1)
    ]


def _drawn_prompts(
    measured: pd.DataFrame, formula: Mapping[str, Any], *, draws: int, rng: np.random.Generator
) -> list[Row]:
    scores = score_answers(measured, **formula)
    units = by_prompt(scores, scores["score"]).dropna().groupby("dimension", sort=False)["value"]
    drawn = {dimension: rng.choice(values.to_numpy(), size=draws) for dimension, values in units}
    table = pd.DataFrame(drawn).to_dict("records")
    return [
        {"factor": "prompts", "setting": f"draw {i}", **row} for i, row in enumerate(table, start=1)
    ]


def ranking_swaps(settings: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Summarise `alternatives`: how often two dimensions change places, by factor.

    Parameters
    ----------
    settings
        The table of `alternatives`.
    measured
        The table it was made from, for the number of prompts a dimension.

    Returns
    -------
    DataFrame
        `model`, `factor`, `settings` (how many), `pairs` (of dimensions that the reference
        orders), `swapped` (mean share of those pairs that change order, in [0, 1]) and
        `worst_setting` with `swapped_worst`, the most that one setting changes; for ``prompts``
        `no_difference`: what `swapped` is on average if the dimensions do not differ at all, since
        one of k prompts and the mean of the k agree in order by arithmetic alone: arccos(1/sqrt(k))
        / pi for normal scores, 0.25 at two. The shares are NaN where the reference orders no pair.
    """
    dimensions = list(settings.columns[3:])
    prompts = measured.groupby(["model", "dimension"])["prompt"].nunique().groupby("model").mean()
    rows = []
    for (model, factor), tried in settings.groupby(["model", "factor"], sort=False):
        if factor == "reference":
            reference = tried[dimensions].iloc[0]
            continue
        swapped = stats.swaps(tried[dimensions], reference=reference)
        pairs = swapped.shape[1]
        shares = swapped.mean(axis=1) if pairs else np.full(len(tried), np.nan)
        worst = int(np.argmax(shares))
        rows.append({
            "model": model, "factor": factor, "settings": len(tried), "pairs": pairs,
            "swapped": shares.mean(), "worst_setting": tried["setting"].iloc[worst],
            "swapped_worst": shares[worst],
        })  # fmt: skip
    table = pd.DataFrame(rows)
    agree = np.arccos(1 / np.sqrt(table["model"].map(prompts))) / np.pi
    return table.assign(no_difference=agree.where(table["factor"] == "prompts"))
