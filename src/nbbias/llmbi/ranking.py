"""How firm the ranking of dimensions is: the LLMBI under other settings, one factor at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from nbbias.llmbi.estimates import INFERENCE, by_prompt
from nbbias.llmbi.scoring import score_answers
from nbbias.stats import InferenceSettings


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
        The scorers that measured it; each is tried for B and for S.
    inference
        Number of random draws of weights and of prompts, and their seed.

    Returns
    -------
    DataFrame
        One row per setting: `model`, `factor`, `setting`, then a column per dimension with
        its mean score. Factors: ``reference`` (one row), ``weight λ of S`` (0 to 5), ``scorer``,
        ``weights w`` (each drawn between 1/2 and 2, evenly on a log scale) and ``prompts`` (one of
        a dimension's prompts drawn, as if each had been asked only one). P adds the same to each
        dimension, and changes no order.

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
    by_model = []
    for model, answers in measured.groupby("model", sort=False):
        rng = np.random.default_rng(inference.seed)
        scores = score_answers(answers, **formula)
        settings = [
            *_fixed(answers, formula, scorers),
            _draw_weights(scores, dimensions, inference.n_permutations, rng),
            _draw_prompts(scores, inference.n_permutations, rng),
        ]
        by_model.append(pd.concat(settings, ignore_index=True).assign(model=model))
    table = pd.concat(by_model, ignore_index=True)
    return table[["model", "factor", "setting", *dimensions]]


def _by_dimension(scores: pd.DataFrame, values: pd.Series) -> pd.Series:
    return by_prompt(scores, values).groupby("dimension")["value"].mean()


def _fixed(
    answers: pd.DataFrame, formula: Mapping[str, Any], scorers: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Score under the reference and under every setting that is not drawn at random."""
    pairs = product(dict.fromkeys(scorers), repeat=2)
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("reference", "as set", {}),
        *(("weight λ of S", f"λ = {x:g}", {"lambda_factor": x}) for x in (0.0, 0.5, 1.0, 2.0, 5.0)),
        *(
            ("scorer", f"B by {b}, S by {s}", {"bias_scorer": b, "sentiment_scorer": s})
            for b, s in pairs
            if (b, s) != (formula["bias_scorer"], formula["sentiment_scorer"])
        ),
    ]
    for factor, setting, change in changes:
        scores = score_answers(answers, **{**formula, **change})
        means = _by_dimension(scores, scores["score"])
        yield means.to_frame().T.assign(factor=factor, setting=setting)


def _draw_weights(
    scores: pd.DataFrame, dimensions: list[str], draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Score under weights that are drawn in place of those that were set."""
    bias, rest = (
        _by_dimension(scores, part).reindex(dimensions).to_numpy()
        for part in (scores["polarity"].abs(), scores["penalty"] + scores["sentiment_term"])
    )
    weights = 2.0 ** rng.uniform(-1, 1, size=(draws, len(dimensions)))
    return _numbered("weights w", pd.DataFrame(bias * weights + rest, columns=dimensions))


def _draw_prompts(scores: pd.DataFrame, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    units = by_prompt(scores, scores["score"]).dropna().groupby("dimension", sort=False)["value"]
    drawn = {name: rng.choice(values.to_numpy(), size=draws) for name, values in units}
    return _numbered("prompts", pd.DataFrame(drawn))


def _numbered(factor: str, means: pd.DataFrame) -> pd.DataFrame:
    return means.assign(factor=factor, setting=[f"draw {i + 1}" for i in means.index])


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
    >>> table.loc["weight λ of S", ["settings", "pairs", "swapped"]].tolist()
    [5.0, 1.0, 0.0]
    """
    dimensions = list(settings.columns[3:])
    prompts = measured.groupby(["model", "dimension"])["prompt"].nunique().groupby("model").mean()
    rows = []
    for model, tried in settings.groupby("model", sort=False):
        reference = tried[tried["factor"] == "reference"][dimensions].iloc[0]
        for factor, part in tried[tried["factor"] != "reference"].groupby("factor", sort=False):
            swapped = find_rank_reversals(part[dimensions], reference=reference)
            pairs = swapped.shape[1]
            shares = swapped.mean(axis=1) if pairs else np.full(len(part), np.nan)
            worst = int(np.argmax(shares))
            row = {"model": model, "factor": factor, "settings": len(part), "pairs": pairs}
            row |= {"swapped": shares.mean(), "worst_setting": part["setting"].iloc[worst]}
            rows.append(row | {"swapped_worst": shares[worst]})
    table = pd.DataFrame(rows)
    agree = np.arccos(1 / np.sqrt(table["model"].map(prompts))) / np.pi
    return table.assign(no_difference=agree.where(table["factor"] == "prompts"))


def find_rank_reversals(settings: pd.DataFrame, *, reference: pd.Series) -> np.ndarray:
    """Tell which pairs of ranked items change places under other settings.

    Parameters
    ----------
    settings
        One row per alternative setting, one column per item, values ranked.
    reference
        The items' values under the reference setting, by item.

    Returns
    -------
    array of bool
        Settings by pairs. A pair is one that the reference orders; True where the setting
        orders it strictly the other way round. Pairs that the reference ties have no
        order to swap and are left out.

    Examples
    --------
    >>> reference = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    >>> settings = pd.DataFrame({"a": [1.0], "b": [4.0], "c": [3.0]})  # b and c change places
    >>> find_rank_reversals(settings, reference=reference).tolist()
    [[False, False, True]]
    """
    first, second = np.triu_indices(len(reference), k=1)
    # Rounded, so that noise in the last digits neither orders a tie nor swaps it.
    base = reference.to_numpy(float).round(12)
    values = settings[list(reference.index)].to_numpy(float).round(12)
    was = np.sign(base[first] - base[second])
    now = np.sign(values[:, first] - values[:, second])
    ordered = (was != 0) & ~np.isnan(was)
    return (now * was < 0)[:, ordered]
