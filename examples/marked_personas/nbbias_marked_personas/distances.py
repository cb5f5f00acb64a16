"""How far each group's texts lie from a reference: all groups alike, or one of them.

Texts such as those of Marked Personas (Cheng, Durmus and Jurafsky 2023) name a group in every
prompt, so there is no default text. A group near the centroid of all groups is described in the
words used for all; a group far from it is marked.

>>> alike = np.full((4, 4), 0.5)  # cosines of four texts, two of each of two groups
>>> mean_cosines(alike, np.eye(2)[[0, 0, 1, 1]]).tolist()
[[0.5, 0.5], [0.5, 0.5]]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.stats import InferenceSettings
from nbbias.text import embeddings

STUDY = "marked_personas"
CENTROID = "centroid of groups"
#: The measure, by whether the reference is the centroid or a group.
TO_CENTROID, TO_GROUP = "distance to the centroid", "distance to a group"
PERMUTATION = "groups permuted within prompt"


class Stratum(NamedTuple):
    """The texts of one model on one prompt: their cosines, and the number of each one's group."""

    cosines: np.ndarray
    labels: np.ndarray


def mean_cosines(cosines: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average cosines between groups, never of a text with itself.

    Parameters
    ----------
    cosines
        Texts by texts.
    weights
        Texts by groups, or several such: how often each text counts in each group.

    Returns
    -------
    array, groups by groups
        Symmetric; NaN where a group has no text, or, on the diagonal, one text alone.
    """
    sizes, squares = weights.sum(axis=-2), weights**2
    total = weights.swapaxes(-1, -2) @ (cosines @ weights)
    pairs = sizes[..., :, None] * sizes[..., None, :]
    diagonal = np.arange(weights.shape[-1])
    total[..., diagonal, diagonal] -= (squares * np.diag(cosines)[:, None]).sum(axis=-2)
    pairs[..., diagonal, diagonal] -= squares.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 1e-9, total / pairs, np.nan)


def estimate(
    texts: pd.DataFrame,
    references: Mapping[str, str],
    *,
    model: str = embeddings.AUTO,
    inference: InferenceSettings,
) -> pd.DataFrame:
    """Estimate each group's distance to the centroid and to a reference group, and their spread.

    Parameters
    ----------
    texts
        `model`, `template`, `text` and the columns that `references` names.
    references
        Column that holds the groups → the reference group.
    model
        As in `nbbias.text.embeddings.embed`.
    inference
        Level of the intervals; number of resamples and permutations, and their seed.

    Returns
    -------
    DataFrame
        ESTIMATES by `measure` (`TO_CENTROID`, `TO_GROUP`), model and `bias` (the grouping);
        `instrument` names the reference. `statistic` ``distance``: 1 minus the mean cosine of a
        group's texts with the reference's, templates weighing alike; ``spread``: the population
        standard deviation of the distances, with the nearest `group`. `null` is that of groups
        permuted within each template; intervals resample texts within template and group. `n`
        counts texts, of ``distance`` those of the group; templates that lack a group are excluded.
        `p_adjusted` is Holm's: of ``spread`` over all, of ``distance`` over the groups of a model
        and grouping.

    Raises
    ------
    DataError
        A reference group that no text is about.
    """
    texts = texts.reset_index(drop=True)
    vectors = embeddings.embed(texts["text"], model=model).astype(float)
    family = 2 * len(references) * texts["model"].nunique()
    result = []
    for grouping, group in references.items():
        names = texts[grouping].dropna().unique()
        if group not in names:
            hint = tables.closest_match(group, names)
            raise tables.DataError("references", f"{grouping}: no group {group!r}; {hint}")
        for reference in (CENTROID, group):
            rows = [
                {"model": writer, "bias": grouping, **row}
                for writer, part in texts.assign(group=texts[grouping]).groupby("model", sort=False)
                for row in _rows(part, vectors, list(names), reference, family, inference)
            ]
            table = tables.estimates(
                rows,
                study=STUDY,
                measure=TO_CENTROID if reference == CENTROID else TO_GROUP,
                instrument=f"{embeddings.instrument(model)}; reference: {reference}",
                confidence=inference.confidence,
            )
            where = {"statistic": "distance"}
            result.append(stats.adjust(table, family=["model"], where=where))
    return stats.adjust(pd.concat(result, ignore_index=True), where={"statistic": "spread"})


def _rows(
    texts: pd.DataFrame,
    vectors: np.ndarray,
    groups: list[str],
    reference: str,
    family: int,
    inference: InferenceSettings,
) -> list[dict[str, Any]]:
    """Return the rows of one model: the spread, and each group's distance."""
    names = [name for name in groups if texts["group"].eq(name).any()]
    numbers = texts["group"].map({name: i for i, name in enumerate(names)})
    usable = numbers.notna() & np.isfinite(vectors[texts.index]).all(axis=1)
    strata = []
    for _, part in numbers[usable].astype(int).groupby(texts["template"], sort=False):
        if np.bincount(part, minlength=len(names)).min() > 1:
            own = vectors[part.index]
            strata.append(Stratum(own @ own.T, part.to_numpy()))
    n = sum(len(stratum.labels) for stratum in strata)
    counts = {"n": n, "n_lost": len(texts) - n}
    if not strata or len(names) < 2 or reference not in (*names, CENTROID):
        reason = "needs a prompt with two texts of every group, and two groups"
        missing = counts | stats.Estimate(reason=reason, n=0).row()
        rows = [{"statistic": "distance", "group": name, **missing} for name in names]
        return [{"statistic": "spread", **missing}, *rows]
    to = slice(None) if reference == CENTROID else [names.index(reference)]
    spread, *distances = _test(strata, names, to, family, inference)
    rows = [{"test": PERMUTATION, **counts, **spread}]
    for i, row in enumerate(distances):
        used = sum(int((stratum.labels == i).sum()) for stratum in strata)
        lost = int(texts["group"].eq(row["group"]).sum()) - used
        rows.append({"test": PERMUTATION, "n": used, "n_lost": lost, **row})
    return rows


def _test(
    strata: list[Stratum], names: list[str], to: Any, family: int, inference: InferenceSettings
) -> list[dict[str, Any]]:
    k, level = len(names), inference.confidence
    rng = np.random.default_rng(inference.seed)

    def distances(weigh: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return each group's mean distance, templates weighing alike."""
        cosines = [mean_cosines(part.cosines, weigh(part.labels)) for part in strata]
        return np.mean([1 - own[..., to].mean(axis=-1) for own in cosines], axis=0)

    def resample(labels: np.ndarray) -> np.ndarray:
        """Draw each group's texts with replacement: how often each counts."""
        weights = np.zeros((len(labels), k))
        for i in range(k):
            own = np.flatnonzero(labels == i)
            weights[own, i] = rng.multinomial(len(own), np.full(len(own), 1 / len(own)))
        return weights

    def permute(rng: np.random.Generator, draws: int) -> np.ndarray:
        """Permute the groups within each template, 50 draws at a time."""
        result = np.empty((draws, k))
        for part in np.split(result, range(50, draws, 50)):
            shape = (len(part), 1)

            def shuffle(labels: np.ndarray, shape: tuple[int, int] = shape) -> np.ndarray:
                return np.eye(k)[rng.permuted(np.tile(labels, shape), axis=1)]

            part[:] = distances(shuffle)
        return result

    observed = distances(lambda labels: np.eye(k)[labels])
    resampled = np.array([distances(resample) for _ in range(inference.n_permutations)])
    resampled = resampled[np.isfinite(resampled).all(axis=1)]
    fewest = min(len(part.labels) for part in strata)
    # Resampled means tell how far the true ones may lie from ours: the interval of the spread is
    # what it is within that ball. A resampled spread itself is lifted by noise twice.
    error = (resampled - observed) * np.sqrt(fewest / (fewest - 1))
    spread, radius = observed.std(), float(np.quantile(error.std(axis=1), level))
    # As many draws as can resolve a p that is corrected over the family, 20 times.
    draws = max(inference.n_permutations, round(20 * family / (1 - level)))
    permuted = permute(np.random.default_rng(inference.seed), draws)
    test = stats.null_range(permuted.std(axis=-1), confidence=level)
    test |= stats.permutation_p(spread, permuted.std(axis=-1))
    nearest = names[int(observed.argmin())]
    rows = [{"statistic": "spread", "group": nearest, "estimate": spread, **test}]
    rows[0] |= {"ci_low": max(0.0, spread - radius), "ci_high": spread + radius}
    half = np.quantile(np.abs(resampled - observed), level, axis=0)
    for i, name in enumerate(names):
        value = observed[i]
        row = {"statistic": "distance", "group": name, "estimate": value}
        row |= {"ci_low": max(0.0, value - half[i]), "ci_high": min(2.0, value + half[i])}
        null = stats.null_range(permuted[:, i], confidence=level)
        reached = abs(value - null["null"]), abs(permuted[:, i] - null["null"])
        rows.append(row | null | stats.permutation_p(*reached))
    return rows
