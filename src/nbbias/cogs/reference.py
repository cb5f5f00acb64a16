"""Distances where there is no default: to a group's texts, or to a centroid of all groups.

Texts such as those of Marked Personas (Cheng, Durmus and Jurafsky 2023) name a group in every
prompt. What a model takes for normal cannot be read from them, since it was never asked
without a group. What can be read is who lies near the others: a group near the centroid is written
about in the words used for all groups, a group far from it is set apart ("marked").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.cogs import rbs
from nbbias.cogs.rbs import representative_bias_score
from nbbias.tables import ContractError, DataError, read_table
from nbbias.text import embeddings

PERMUTATION = "groups permuted within prompt"

Row = dict[str, Any]

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
    table = read_table(path)
    tables.need(table, ["model", "kind", "race", "gender", "prompt", "text"], where=str(path))
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
    return pd.DataFrame({
        "model": table["model"], "race": table["race"], "gender": gender,
        "race_gender": table["race"] + " " + gender, "template": table["kind"] + ": " + plain,
        "text": table["text"],
    })  # fmt: skip


def between(cosines: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average cosines between groups, never of a text with itself.

    Parameters
    ----------
    cosines
        Texts by texts.
    weights
        Texts by groups: how often each text counts in each group.

    Returns
    -------
    array, groups by groups
        Symmetric; NaN where a group has no text, or, on the diagonal, one text alone.
    """
    twins = np.diag((weights**2).sum(axis=0))
    sizes = weights.sum(axis=0)
    itself = np.diag((weights**2 * np.diag(cosines)[:, None]).sum(axis=0))
    total = weights.T @ cosines @ weights - itself
    pairs = np.outer(sizes, sizes) - twins
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 1e-9, total / pairs, np.nan)


def reference_estimates(
    texts: pd.DataFrame,
    *,
    group: str,
    bias: str,
    reference: str | None = None,
    model: str = embeddings.AUTO,
    cache_path: str | Path | None = None,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    progress: bool = True,
) -> pd.DataFrame:
    """Estimate each group's distance to a reference, and the spread of these distances.

    Parameters
    ----------
    texts
        `model`, `template`, `text` and the column `group`, as `read_personas` gives them.
    group, bias
        The column that holds the groups, and what its axis is called in the estimates.
    reference
        A group, or None for the centroid: the mean over all groups of the mean cosine with the
        group's texts, so that every group weighs alike however many texts it has. A text is never
        compared with itself; if it were, every text would lie near its own group, and small
        groups nearest of all.
    model, cache_path, progress
        As in `text.embeddings.embed`.
    confidence, draws, seed
        Level of the intervals; resamples and permutations, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES of `measure` ``rbs`` by model, `statistic` ``rbs`` (the spread, Eq. 8, over mean
        distances that weigh templates alike) and ``distance`` (per group). `null` comes from
        shuffling the groups within each template; intervals from texts drawn again within template
        and group, no text being compared with its own copy. `n` counts texts; templates that lack
        a group are lost.

    Notes
    -----
    This is another reading than Eq. (9). To the default: what the model writes when told nothing.
    To the centroid: who is written about like everyone. To a reference group: who is written
    about like that group; its own distance is the one within the group, so it is small also
    because its texts share a subject, and "nearest" is no finding there. Prompts name the group,
    and texts repeat its name, which sets all groups apart before anything else does.
    """
    tables.need(texts, ["model", "template", "text", group], where="texts")
    names = list(texts[group].dropna().unique())
    if reference is not None and reference not in names:
        raise ContractError("reference", f"no group {reference!r}; there is {', '.join(names)}")
    vectors = embeddings.embed(
        texts["text"], model=model, cache_path=cache_path, progress=progress
    ).astype(float)
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
        lost: Row = {"model": writer, "bias": bias, "n": n, "n_lost": len(part) - n}
        place = there.index(reference) if reference in there else None
        if reference is not None and place is None:
            strata = []
        rows += [
            lost | row
            for row in _rows(strata, there, place, confidence=confidence, draws=draws, seed=seed)
        ]
    told = f"reference: {reference or 'centroid of groups'}"
    return tables.estimates(
        rows, study="cogs", measure="rbs", instrument=f"{embeddings.instrument(model)}; {told}"
    )


def groupings(
    texts: pd.DataFrame, references: Mapping[str, str], *, confidence: float = 0.95,
    draws: int = 1000, seed: int = 0, **embedding: Any,
) -> pd.DataFrame:  # fmt: skip
    """Estimate distances in several groupings, to the centroid and to a group in each.

    Parameters
    ----------
    texts
        As in `reference_estimates`.
    references
        Column of `texts` → the reference group.
    confidence, draws, seed
        As in `reference_estimates`; further arguments go to the embedding.

    Returns
    -------
    DataFrame
        ESTIMATES, one after another; `instrument` tells the reference. `p_adjusted` of ``rbs`` is
        Holm's over all of them.
    """
    tables = [
        reference_estimates(
            texts, group=group, bias=group, reference=reference, confidence=confidence,
            draws=draws, seed=seed, **embedding,
        )
        for group, named in references.items()
        for reference in (None, named)
    ]  # fmt: skip
    table = pd.concat(tables, ignore_index=True)
    spreads = table["statistic"] == "rbs"
    table.loc[spreads, "p_adjusted"] = stats.adjusted(table.loc[spreads, "p_value"])
    return table


def summary(texts: pd.DataFrame) -> pd.DataFrame:
    """Count texts by `model`, `race` and `gender`; `blank` ones are lost; `words` is the mean."""
    words = texts["text"].fillna("").str.split().str.len()
    rows = texts.assign(blank=words == 0, words=words.where(words > 0))
    listed = rows.groupby(["model", "race", "gender"], sort=False)
    counts = {"texts": ("words", "size"), "blank": ("blank", "sum"), "words": ("words", "mean")}
    return listed.agg(**counts).reset_index()


def _rows(
    strata: list[tuple[np.ndarray, np.ndarray]], names: list[str], reference: int | None,
    *, confidence: float, draws: int, seed: int,
) -> list[Row]:  # fmt: skip
    if not strata or len(names) < 2:
        why = "needs a prompt with two texts of every group, and two groups"
        nothing: Row = {"estimate": np.nan, "reason": why, "n": 0}
        return [
            {"statistic": "rbs", **nothing},
            *({"statistic": "distance", "group": name, **nothing} for name in names),
        ]
    rng = np.random.default_rng(seed)
    k = len(names)

    def means(weigh: Any) -> np.ndarray:
        """Return each group's mean distance to the reference group, or to all groups alike."""
        near = [between(cosines, weigh(labels)) for cosines, labels in strata]
        to = [one.mean(axis=1) if reference is None else one[:, reference] for one in near]
        return np.mean([1 - one for one in to], axis=0)

    found = means(lambda labels: np.eye(k)[labels])
    chance = np.array(
        [means(lambda labels: np.eye(k)[rng.permutation(labels)]) for _ in range(draws)]
    )
    drawn = np.array([means(lambda labels: _redrawn(labels, k, rng)) for _ in range(draws)])
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    spreads, estimate = rbs.spread(chance), float(rbs.spread(found))
    low, high = rbs.spread_interval(
        found, drawn, confidence=confidence, n=min(len(labels) for _, labels in strata)
    )
    null_low, null_high = np.quantile(spreads, tails)
    rows: list[Row] = [{
        "statistic": "rbs", "estimate": estimate, "ci_low": low, "ci_high": high,
        "group": representative_bias_score(pd.Series(found, index=names)).identity,
        "null": float(spreads.mean()), "null_low": null_low, "null_high": null_high,
        "test": PERMUTATION,
        "p_value": float(((spreads >= estimate - 1e-12).sum() + 1) / (draws + 1)),
    }]  # fmt: skip
    for i, name in enumerate(names):
        # Centred on the estimate: the resampled distances are shifted where texts stand twice.
        off = np.quantile(np.abs(drawn[:, i] - found[i]), confidence)
        expected = float(chance[:, i].mean())
        as_far = np.abs(chance[:, i] - expected) >= abs(found[i] - expected) - 1e-12
        null_low, null_high = np.quantile(chance[:, i], tails)
        rows.append({
            "statistic": "distance", "group": name, "estimate": found[i],
            "ci_low": max(0.0, found[i] - off), "ci_high": min(2.0, found[i] + off),
            "null": expected, "null_low": null_low, "null_high": null_high, "test": PERMUTATION,
            "p_value": float((as_far.sum() + 1) / (draws + 1)),
        })  # fmt: skip
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in rows[1:]]))
    return [rows[0], *(r | {"p_adjusted": p} for r, p in zip(rows[1:], corrected, strict=True))]


def _redrawn(labels: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw each group's texts again, with replacement: how often each text counts."""
    weights = np.zeros((len(labels), k))
    for i in range(k):
        own = np.flatnonzero(labels == i)
        weights[own, i] = rng.multinomial(len(own), np.full(len(own), 1 / len(own)))
    return weights
