"""How firm the ranking of dimensions is: the LLMBI under other settings, one factor at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range

from nbbias import stats
from nbbias.llmbi.estimates import INFERENCE
from nbbias.llmbi.scoring import score_answers
from nbbias.stats import InferenceSettings

#: A score, its bias term, and the size of polarity behind that.
_PARTS = ["score", "weighted_bias", "size"]


def ranking_swaps(
    measured: pd.DataFrame, *, formula: Mapping[str, Any], inference: InferenceSettings = INFERENCE
) -> pd.DataFrame:
    """Estimate how often two dimensions change places under other settings, by factor.

    Parameters
    ----------
    measured
        The table of `llmbi.scoring.measure`.
    formula
        The reference settings, as for `llmbi.scoring.score_answers`.
    inference
        Level of the test, number of random draws of weights and of prompts, and their seed.

    Returns
    -------
    DataFrame
        `model`, `factor`, `pairs` (of dimensions that the reference orders), `significant` (how
        many pairs differ by Tukey's test; NaN where it has no variance), `swapped` (mean share
        of those pairs that change order, in [0, 1]; NaN without pairs) and, for ``prompts``,
        `no_difference`: what `swapped` is on average if the dimensions do not differ at all, since
        one of k prompts and the mean of the k agree in order by arithmetic alone: arccos(1/sqrt(k))
        / pi for normal scores, 0.25 at two. Factors: ``weights w`` (each drawn between 1/2 and 2,
        evenly on a log scale) and ``prompts`` (one of a dimension's prompts drawn, as if each had
        been asked only one). P adds the same to each dimension, and changes no order.

    Examples
    --------
    >>> measured = pd.DataFrame({"model": "m", "dimension": ["a", "b"], "prompt": ["p", "q"],
    ...                          "sample": 1, "n": 3, "polarity_textblob": [0.1, 0.4]})
    >>> formula = {"bias_scorer": "textblob", "sentiment_scorer": "textblob"}
    >>> table = ranking_swaps(measured, formula=formula).set_index("factor")
    >>> table.loc["prompts", ["pairs", "swapped"]].tolist()
    [1.0, 0.0]
    """
    dimensions, draws = list(measured["dimension"].unique()), inference.n_permutations
    rows: list[dict[str, Any]] = []
    for model, answers in measured.groupby("model", sort=False):
        scores = score_answers(answers, **formula)
        scores["size"] = scores["polarity"].abs()
        prompts = scores.groupby(["dimension", "prompt"], sort=False)[_PARTS].mean()
        by_dimension = prompts.groupby(level=0, sort=False)
        means, rng = by_dimension.mean().reindex(dimensions), np.random.default_rng(inference.seed)
        differ = count_different_pairs(prompts["score"].dropna(), confidence=inference.confidence)
        weights = 2.0 ** rng.uniform(-1, 1, size=(draws, len(means)))
        rest = (means["score"] - means["weighted_bias"]).to_numpy()
        by_prompt = prompts["score"].dropna().groupby(level=0, sort=False)
        drawn = pd.DataFrame({name: rng.choice(values, size=draws) for name, values in by_prompt})
        for factor, settings in {
            "weights w": rest + means["size"].to_numpy() * weights,
            "prompts": drawn.reindex(columns=dimensions).to_numpy(),
        }.items():
            swapped = find_rank_reversals(settings, reference=means["score"].to_numpy())
            row = {"model": model, "factor": factor, "pairs": swapped.shape[1]}
            share = swapped.mean() if swapped.size else np.nan
            rows.append(row | {"significant": differ, "swapped": share})
        rows[-1]["no_difference"] = np.arccos(1 / np.sqrt(by_dimension.size().mean())) / np.pi
    return pd.DataFrame(rows)


def count_different_pairs(values: pd.Series, *, confidence: float) -> float:
    """Count the pairs of dimensions whose means differ by Tukey's test; NaN without a variance.

    Parameters
    ----------
    values
        Scores by prompt; `dimension` is a level of the index.
    confidence
        1 less it is the level of the test, over all pairs.

    Examples
    --------
    >>> values = pd.Series([0.1, 0.2, 0.3, 0.4, 0.8, 0.9], index=pd.Index([*"aabbcc"]))
    >>> count_different_pairs(values.rename_axis("dimension"), confidence=0.95)
    2.0
    """
    groups = values.index.get_level_values("dimension").factorize()[0]
    means, errors, df = stats.group_means(values.to_numpy(float), groups)
    if not df or not errors.max() > 0:
        return np.nan
    first, second = np.triu_indices(len(means), k=1)
    ranges = abs(means[first] - means[second]) / np.hypot(errors[first], errors[second])
    p = studentized_range.sf(np.sqrt(2) * ranges, len(means), df)
    return float((p < stats.alpha(confidence)).sum())


def find_rank_reversals(settings: np.ndarray, *, reference: np.ndarray) -> np.ndarray:
    """Tell which pairs of ranked items change places under other settings.

    Parameters
    ----------
    settings
        One row per alternative setting, one column per item, values ranked.
    reference
        The items' values under the reference setting.

    Returns
    -------
    array of bool
        Settings by pairs. A pair is one that the reference orders; True where the setting
        orders it strictly the other way round. Pairs that the reference ties have no
        order to swap and are left out.

    Examples
    --------
    >>> settings = np.array([[1.0, 4.0, 3.0]])  # the second and the third change places
    >>> find_rank_reversals(settings, reference=np.array([1.0, 2.0, 3.0])).tolist()
    [[False, False, True]]
    """
    first, second = np.triu_indices(len(reference), k=1)
    # Rounded, so that noise in the last digits neither orders a tie nor swaps it.
    base, values = reference.round(12), settings.round(12)
    was = np.sign(base[first] - base[second])
    now = np.sign(values[:, first] - values[:, second])
    ordered = (was != 0) & ~np.isnan(was)
    return (now * was < 0)[:, ordered]
