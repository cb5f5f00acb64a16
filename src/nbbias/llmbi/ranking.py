"""How firm the ranking of dimensions is: the LLMBI under other settings, one factor at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.llmbi.estimates import INFERENCE, by_prompt
from nbbias.llmbi.scoring import score_answers
from nbbias.stats import InferenceSettings

Row = dict[str, Any]


def alternatives(
    measured: pd.DataFrame,
    *,
    formula: Mapping[str, Any],
    scorers: Sequence[str],
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Score the dimensions again under other settings, one factor at a time.

    Parameters
    ----------
    measured
        The table of `llmbi.scoring.measure`.
    formula
        The reference settings, as for `llmbi.scoring.score_answers`.
    scorers
        The instruments measured; each is tried for B and for S.
    inference
        Settings drawn at random for the weights and the prompts, and their start.

    Returns
    -------
    DataFrame
        One row per setting: `model`, `factor`, `setting`, then a column per dimension with
        its mean score. Factors: ``reference`` (one row), ``penalty P`` (0 to 1), ``weight λ of S``
        (0 to 5), ``instrument``, ``normalisation`` of ``|polarity|`` over the answers (min-max, z,
        ranks), ``weights w`` (each drawn between 1/2 and 2, evenly on a log scale) and
        ``prompts`` (one of a dimension's prompts drawn, as if each had been asked one only).

    Examples
    --------
    >>> measured = pd.DataFrame({"model": "m", "dimension": ["a", "b"], "prompt": ["p", "q"],
    ...                          "sample": 1, "n": 3, "polarity_textblob": [0.1, 0.4]})
    >>> formula = {"bias_scorer": "textblob", "sentiment_scorer": "textblob"}
    >>> settings = alternatives(
    ...     measured, formula=formula, scorers=["textblob"],
    ...     inference=InferenceSettings(n_permutations=5),
    ... )
    >>> settings[["a", "b"]].round(3).iloc[0].tolist()
    [0.45, 1.2]
    """
    dimensions = list(measured["dimension"].unique())
    found = []
    for model, own in measured.groupby("model", sort=False):
        rng = np.random.default_rng(inference.seed)
        tried = [
            pd.DataFrame(_set(own, formula, scorers)),
            _drawn("weights w", _weights(own, formula, dimensions, inference.n_permutations, rng)),
            _drawn("prompts", _prompts(own, formula, inference.n_permutations, rng)),
        ]
        found += [table.assign(model=model) for table in tried]
    return pd.concat(found, ignore_index=True)[["model", "factor", "setting", *dimensions]]


def _drawn(factor: str, means: pd.DataFrame) -> pd.DataFrame:
    return means.assign(factor=factor, setting=[f"draw {i + 1}" for i in means.index])


def _by_dimension(scores: pd.DataFrame, values: pd.Series) -> pd.Series:
    return by_prompt(scores, values).groupby("dimension")["value"].mean()


def _set(own: pd.DataFrame, formula: Mapping[str, Any], scorers: Sequence[str]) -> list[Row]:
    """Score under the reference and under every setting that is not drawn at random."""

    def row(factor: str, setting: str, table: pd.DataFrame = own, **changed: Any) -> Row:
        scores = score_answers(table, **{**formula, **changed})
        return {"factor": factor, "setting": setting, **_by_dimension(scores, scores["score"])}

    rows = [row("reference", "as set")]
    rows += [row("penalty P", f"P = {p:g}", diversity_penalty=p) for p in (0.0, 0.1, 0.5, 1.0)]
    for weight in (0.0, 0.5, 1.0, 2.0, 5.0):
        rows.append(row("weight λ of S", f"λ = {weight:g}", lambda_factor=weight))
    for b, s in product(dict.fromkeys(scorers), repeat=2):
        if (b, s) != (formula["bias_scorer"], formula["sentiment_scorer"]):
            told = f"B by {b}, S by {s}"
            rows.append(row("instrument", told, bias_scorer=b, sentiment_scorer=s))
    for name, transform in _NORMALISATIONS.items():
        normal = {f"polarity_{k}": transform(own[f"polarity_{k}"].abs()) for k in scorers}
        rows.append(row("normalisation", name, own.assign(**normal)))
    return rows


_NORMALISATIONS = {
    "min-max": lambda x: (x - x.min()) / (x.max() - x.min()) if x.max() > x.min() else x * 0,
    # Shifted to start at 0: the formula takes sizes, and a shift moves no rank.
    "z": lambda x: (x - x.min()) / x.std(ddof=0) if x.std(ddof=0) > 0 else x * 0,
    "ranks": lambda x: x.rank(pct=True),
}


def _weights(
    own: pd.DataFrame,
    formula: Mapping[str, Any],
    dimensions: list[str],
    draws: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    scores = score_answers(own, **{**formula, "weights": {}})
    bias, rest = (
        _by_dimension(scores, part).reindex(dimensions).to_numpy()
        for part in (scores["weighted_bias"], scores["penalty"] + scores["sentiment_term"])
    )
    weights = 2.0 ** rng.uniform(-1, 1, size=(draws, len(dimensions)))
    return pd.DataFrame(bias * weights + rest, columns=dimensions)


def _prompts(
    own: pd.DataFrame, formula: Mapping[str, Any], draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    scores = score_answers(own, **formula)
    units = by_prompt(scores, scores["score"]).dropna().groupby("dimension", sort=False)["value"]
    return pd.DataFrame({name: rng.choice(one.to_numpy(), size=draws) for name, one in units})


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

    Examples
    --------
    >>> measured = pd.DataFrame({"model": "m", "dimension": ["a", "b"], "prompt": ["p", "q"],
    ...                          "sample": 1, "n": 3, "polarity_textblob": [0.1, 0.4]})
    >>> formula = {"bias_scorer": "textblob", "sentiment_scorer": "textblob"}
    >>> settings = alternatives(
    ...     measured, formula=formula, scorers=["textblob"],
    ...     inference=InferenceSettings(n_permutations=5),
    ... )
    >>> table = ranking_swaps(settings, measured).set_index("factor")
    >>> table.loc["penalty P", ["settings", "pairs", "swapped"]].tolist()
    [4.0, 1.0, 0.0]
    """
    dimensions = list(settings.columns[3:])
    prompts = measured.groupby(["model", "dimension"])["prompt"].nunique().groupby("model").mean()
    rows = []
    for (model, factor), tried in settings.groupby(["model", "factor"], sort=False):
        if factor == "reference":
            reference = tried[dimensions].iloc[0]
            continue
        swapped = stats.find_rank_reversals(tried[dimensions], reference=reference)
        pairs = swapped.shape[1]
        shares = swapped.mean(axis=1) if pairs else np.full(len(tried), np.nan)
        worst = int(np.argmax(shares))
        rows.append(
            {
                "model": model,
                "factor": factor,
                "settings": len(tried),
                "pairs": pairs,
                "swapped": shares.mean(),
                "worst_setting": tried["setting"].iloc[worst],
                "swapped_worst": shares[worst],
            }
        )
    table = pd.DataFrame(rows)
    agree = np.arccos(1 / np.sqrt(table["model"].map(prompts))) / np.pi
    return table.assign(no_difference=agree.where(table["factor"] == "prompts"))
