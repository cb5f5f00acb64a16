"""Distances where there is no default: to a group's texts, or to a centroid of all groups.

Texts such as those of Marked Personas (Cheng, Durmus and Jurafsky 2023) name a group in every
prompt. What a model takes for normal cannot be read from them, since it was never asked
without a group. What can be read is who lies near the others: a group near the centroid is written
about in the words used for all groups, a group far from it is set apart ("marked").

>>> import numpy as np
>>> from nbbias import cogs
>>> alike = np.full((4, 4), 0.5)  # cosines of four texts, two of each of two groups
>>> cogs.reference.between(alike, np.eye(2)[[0, 0, 1, 1]]).tolist()
[[0.5, 0.5], [0.5, 0.5]]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.cogs.rbs import representative_bias_score
from nbbias.cogs.spread import Row, spread
from nbbias.stats import InferenceSettings
from nbbias.tables import Column, ContractError, DataError, read_table
from nbbias.text import embeddings

PERMUTATION = "groups permuted within prompt"

_FILE = {
    name: Column("text", needed=True)
    for name in ("model", "kind", "race", "gender", "prompt", "text")
}
_GENDERS = {"M": "man", "W": "woman", "N": "nonbinary"}
_PRONOUN = re.compile(
    r"\b(?:himself|herself|themsel(?:f|ves)|him|her|them|his|their|he|she|they)\b", re.I
)


def read_personas(path: str | Path) -> pd.DataFrame:
    """Read texts conditioned on a race and a gender, as Marked Personas releases them.

    Parameters
    ----------
    path
        A table with `model`, `kind`, `race`, `gender` (M, W, N), `prompt` and `text`.

    Returns
    -------
    DataFrame
        `model`, `race`, `gender` (man, woman, nonbinary), `race_gender`, `text`, and `template`:
        which prompt it was, with the group taken out, so that groups are compared on the same
        prompt.
    """
    table = read_table(path, _FILE)
    keys = [name for name in _FILE if name != "text"]
    gaps = int(
        (table[keys].isna() | (table[keys].apply(lambda c: c.str.strip()) == "")).any(axis=1).sum()
    )
    if gaps:
        raise ContractError(str(path), f"{gaps} rows lack a {', '.join(keys[:-1])} or {keys[-1]}")
    unknown = sorted(set(table["gender"].dropna()) - set(_GENDERS))
    if unknown:
        told = ", ".join(map(repr, unknown))
        raise DataError(str(path), f"gender {told} is none of {', '.join(_GENDERS)}")
    gender = table["gender"].map(_GENDERS)
    # "Latino" and "Latina" are how the prompts say "Latine".
    races = {*table["race"].dropna(), *("Latino", "Latina", "Latinx")}
    named = "|".join(re.escape(race) for race in sorted(races, key=len, reverse=True))
    who = re.compile(rf"\b(?:an?\s+)?(?:{named})\s+(?:man|woman|non-?binary(?:\s+person)?)\b", re.I)
    plain = table["prompt"].str.replace(who, "a person", regex=True)
    plain = plain.str.replace(_PRONOUN, "them", regex=True)
    plain = plain.str.replace(r"them (?:is|are)\b", "them is", regex=True)
    return pd.DataFrame(
        {
            "model": table["model"],
            "race": table["race"],
            "gender": gender,
            "race_gender": table["race"] + " " + gender,
            "template": table["kind"] + ": " + plain,
            "text": table["text"],
        }
    )


def known(texts: pd.DataFrame, references: Mapping[str, str]) -> None:
    """Refuse reference groups that no text is about, each with the nearest name.

    Parameters
    ----------
    texts
        The table of `read_personas`.
    references
        Column of `texts` → the reference group.
    """
    there = {group: texts[group].dropna().unique() for group in references}
    told = [
        f"{group}: no group {named!r}; {tables.closest_match(named, there[group])}"
        for group, named in references.items()
        if named not in there[group]
    ]
    if told:
        raise ContractError("references", told)


def between(cosines: np.ndarray, weights: np.ndarray) -> np.ndarray:
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
    own = np.arange(weights.shape[-1])
    total[..., own, own] -= (squares * np.diag(cosines)[:, None]).sum(axis=-2)
    pairs[..., own, own] -= squares.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 1e-9, total / pairs, np.nan)


def groupings(
    texts: pd.DataFrame,
    references: Mapping[str, str],
    *,
    model: str = embeddings.AUTO,
    inference: InferenceSettings,
) -> pd.DataFrame:
    """Estimate distances in several groupings, to the centroid and to a group in each.

    Parameters
    ----------
    texts
        As in `reference_estimates`.
    references
        Column of `texts` → the reference group.
    model, inference
        As in `reference_estimates`.

    Returns
    -------
    DataFrame
        ESTIMATES, one after another; `instrument` tells the reference. `p_adjusted` of ``rbs`` is
        Holm's over all of them.
    """
    family = 2 * len(references) * texts["model"].nunique()
    found = [
        reference_estimates(
            texts, group, reference=reference, family=family, model=model, inference=inference
        )
        for group, named in references.items()
        for reference in (None, named)
    ]
    return stats.adjust(pd.concat(found, ignore_index=True), where={"statistic": "rbs"})


def reference_estimates(
    texts: pd.DataFrame,
    group: str,
    *,
    reference: str | None = None,
    family: int = 1,
    model: str = embeddings.AUTO,
    inference: InferenceSettings,
) -> pd.DataFrame:
    """Estimate each group's distance to a reference, and the spread of these distances.

    Parameters
    ----------
    texts
        `model`, `template`, `text` and the column `group`, as `read_personas` gives them.
    group
        The column that holds the groups; `bias` in the estimates.
    reference
        A group, or None for the centroid: the mean over all groups of the mean cosine with the
        group's texts, so that every group weighs alike however many texts it has. A text is never
        compared with itself; if it were, every text would lie near its own group, and small
        groups nearest of all.
    family
        How many spreads are corrected together.
    model
        As in `text.embeddings.embed`.
    inference
        Level of the intervals; resamples and permutations, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES of `measure` ``rbs`` by model, `statistic` ``rbs`` (the spread, Eq. 8, over mean
        distances that weigh templates alike) and ``distance`` (per group). `null` comes from
        shuffling the groups within each template; intervals from texts drawn again within template
        and group, no text being compared with its own copy. `n` counts texts; templates that lack
        a group are lost. `p_adjusted` of ``distance`` is Holm's over the groups of a model.

    Notes
    -----
    This is another reading than Eq. (9). To the default: what the model writes when told nothing.
    To the centroid: who is written about like everyone. To a reference group: who is written
    about like that group; its own distance is the one within the group, so it is small also
    because its texts share a subject, and "nearest" is no finding there. Prompts name the group,
    and texts repeat its name, which sets all groups apart before anything else does.
    """
    tables.require_columns(texts, ["model", "template", "text", group], where="texts")
    names = list(texts[group].dropna().unique())
    if reference is not None:
        known(texts, {group: reference})
    vectors = embeddings.embed(texts["text"], model=model).astype(float)
    usable = np.isfinite(vectors).all(axis=1) & texts[group].notna().to_numpy()
    own = texts[[group, "model", "template"]].reset_index(drop=True)
    rows: list[Row] = []
    for writer, part in own.groupby("model", sort=False):
        there = [name for name in names if (part[group] == name).any()]
        strata = []
        for _, stratum in part[usable[part.index]].groupby("template", sort=False):
            at = vectors[stratum.index]
            labels = stratum[group].map({name: i for i, name in enumerate(there)}).to_numpy()
            if np.bincount(labels, minlength=len(there)).min() > 1:
                strata.append((at @ at.T, labels))
        n = sum(len(labels) for _, labels in strata)
        lost: Row = {"model": writer, "bias": group, "n": n, "n_lost": len(part) - n}
        to = there.index(reference) if reference in there else None
        if reference is not None and to is None:
            strata = []
        rows += [lost | row for row in _rows(strata, there, to, family, inference)]
    told = f"reference: {reference or 'centroid of groups'}"
    table = tables.estimates(
        rows,
        study="cogs",
        measure="rbs",
        instrument=f"{embeddings.instrument(model)}; {told}",
        confidence=inference.confidence,
    )
    return stats.adjust(table, family=["model"], where={"statistic": "distance"})


def _rows(
    strata: list[tuple[np.ndarray, np.ndarray]],
    names: list[str],
    to: int | None,
    family: int,
    inference: InferenceSettings,
) -> list[Row]:
    """Estimate from each template's cosines and labels the distance to a group, or to all."""
    if not strata or len(names) < 2:
        why = "needs a prompt with two texts of every group, and two groups"
        gap: Row = {"estimate": np.nan, "reason": why, "n": 0}
        distances = [{"statistic": "distance", "group": name, **gap} for name in names]
        return [{"statistic": "rbs", **gap}, *distances]
    rng = np.random.default_rng(inference.seed)
    k, confidence = len(names), inference.confidence

    def means(weigh: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return each group's mean distance to the reference group, or to all groups alike."""
        near = [between(cosines, weigh(labels)) for cosines, labels in strata]
        return np.mean(
            [1 - (one.mean(axis=-1) if to is None else one[..., to]) for one in near], axis=0
        )

    def dealt(rng: np.random.Generator, draws: int) -> np.ndarray:
        """Return these means where each template's groups are shuffled, 50 deals at a time."""
        out = np.empty((draws, k))
        for part in np.split(out, range(50, draws, 50)):
            copies = (len(part), 1)
            part[:] = means(
                lambda labels, copies=copies: np.eye(k)[  # type: ignore[misc]
                    rng.permuted(np.tile(labels, copies), axis=1)
                ]
            )
        return out

    found = means(lambda labels: np.eye(k)[labels])
    drawn = np.array(
        [means(lambda labels: _redrawn(labels, k, rng)) for _ in range(inference.n_permutations)]
    )
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    fewest = min(len(labels) for _, labels in strata)
    # The resampled means say how far the true ones may lie from ours, as a ball around them: the
    # interval is what the spread is within it. A resampled spread is lifted by noise twice.
    off = (drawn - found) * np.sqrt(fewest / (fewest - 1))
    score, radius = float(spread(found)), float(np.quantile(spread(off), confidence))
    nearest = representative_bias_score(pd.Series(found, index=names)).identity
    rows: list[Row] = [
        {
            "statistic": "rbs",
            "group": nearest,
            "test": PERMUTATION,
            "estimate": score,
            "ci_low": max(0.0, score - radius),
            "ci_high": score + radius,
            **stats.permutation_test(
                score,
                lambda rng, draws: spread(dealt(rng, draws)),
                inference=inference,
                family=family,
            ),
        }
    ]
    chance = dealt(np.random.default_rng(inference.seed), stats.permutations_needed(inference, k))
    # Centred on the estimate: the resampled distances are shifted where texts stand twice.
    off = np.quantile(np.abs(drawn - found), confidence, axis=0)
    for i, name in enumerate(names):
        rows.append(
            {
                "statistic": "distance",
                "group": name,
                "test": PERMUTATION,
                "estimate": found[i],
                "ci_low": max(0.0, found[i] - off[i]),
                "ci_high": min(2.0, found[i] + off[i]),
                **stats.compare_with_null(
                    found[i], chance[:, i], confidence=confidence, alternative="two-sided"
                ),
            }
        )
    return rows


def _redrawn(labels: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw each group's texts again, with replacement: how often each text counts."""
    weights = np.zeros((len(labels), k))
    for i in range(k):
        own = np.flatnonzero(labels == i)
        weights[own, i] = rng.multinomial(len(own), np.full(len(own), 1 / len(own)))
    return weights
