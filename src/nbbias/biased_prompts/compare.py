"""What a biased prompt does to an answer, at any level that scores pairs.

The comparison of Fang et al. (2024), Figures 8 to 10: share and extent of prejudice under a
neutral and a biased prompt, from the SCORES of `news.words.word_scores`,
`news.tone.pair_scores` or `news.topics.pair_scores`. The paper compares two samples;
here the effect of the prompt itself is the difference on the articles answered under both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.stats.proportion import confint_proportions_2indep

from nbbias import news, stats, tables
from nbbias.biased_prompts.refusing import REFUSED, STUDY

Row = dict[str, Any]

#: A change this small is rounding, not a change.
ROUNDING = 1e-12

#: Which way is worse for a group: toxicity rises, everything else falls.
WORSE = {"toxicity": 1}

#: Statistics that are tested. Each is a family of its own.
TESTED = ("prejudice_share_change", "prejudice_share_change_paired", "prejudice_extent_change",
          "share_difference_change", "mean_difference_change")  # fmt: skip

_CELL = ["source", "model", "measure", "bias", "instrument"]
_NULLS = ["null", "null_low", "null_high"]


def compare(
    scores: pd.DataFrame,
    groups: Mapping[str, str | Sequence[str]],
    *,
    neutral: str = "neutral",
    biased: str = "biased",
    chance: pd.DataFrame | None = None,
    confidence: float = 0.95,
    correction: str = "holm",
) -> pd.DataFrame:
    """Compare the answers to two prompts.

    Parameters
    ----------
    scores
        SCORES of any level, of both prompts. Refused answers are lost there with the
        reason ``"refused"`` (`biased_prompts.refusing.without_refusals`). Where there is a column
        `seed`, each fit of topics makes every comparison, and the fits' are pooled.
    groups
        Bias → the group or groups that are tested: the declared family. Of two groups name one,
        since at the word and document levels the other is its mirror image.
    neutral, biased
        The two values of `prompt`; every change is `biased` less `neutral`.
    chance
        ESTIMATES of the news functions for the same scores: chance levels of share and extent are
        taken from there, by sentences where there are such.
    confidence, correction
        Level of the intervals; ``"holm"`` or ``"fdr_bh"``, over all rows of a tested statistic.

    Returns
    -------
    DataFrame
        ESTIMATES by source, model, measure, bias, instrument and group; N counts articles (repeated
        answers to one are pooled). For prejudice an article counts for a group as in the news
        study: at the word level its original has words of the group. By `statistic`:

        - ``prejudice_share``, ``prejudice_extent``: of each prompt, as in the news study. Extents
          are of articles selected for falling: chance alone is far below 0.
        - ``prejudice_share_change``: difference of the shares as of two samples, as printed;
          Newcombe's interval, pooled z. ``prejudice_share_change_paired``: on the articles
          that count under both prompts.
        - ``prejudice_extent_change``: difference of the extents, twice, by `test`: Student's
          pooled t (which the printed p values fit) and Welch's.
        - ``share_difference_change`` (words, documents) or ``mean_difference_change`` (tone): the
          effect of the prompt, on all articles with a difference under both; paired t. The original
          cancels out. Below 0: less of the group, or colder.
        - ``prejudice_share_if_none``, ``prejudice_share_if_all``: what the biased prompt's share
          would be had none, or all, of the refused articles been prejudiced; counted are refused
          articles that can count for the group.

        `n_lost` counts the prompt's other articles; for paired rows those under one prompt only.

    Raises
    ------
    ContractError
        A column is missing.
    """
    tables.need(scores, [*_CELL, "prompt", "article_id", "reason"], where="scores")
    known, chosen = _known(chance), (neutral, biased)
    rows: list[Row] = []
    for cell, own in scores.groupby(_CELL, sort=False):
        key = dict(zip(_CELL, cell, strict=True))
        every = scores[(scores["source"] == key["source"]) & (scores["bias"] == key["bias"])]
        every = every[every["instrument"] == key["instrument"]]
        several = "seed" in scores
        fits = own["seed"].unique() if several else [None]
        key["instrument"] += news.fits.fits_named(len(fits)) if several else ""
        family = groups.get(key["bias"], ())
        for group in [family] if isinstance(family, str) else family:
            tables.need(own, [f"difference_{group}"], where=f"scores of {key['bias']}")
            by_fit = []
            for fit in fits:
                of_fit, all_of_fit = (t[t["seed"] == fit] if several else t for t in (own, every))
                can = _countable(all_of_fit, group)
                sides = {p: _articles(of_fit[of_fit["prompt"] == p], group) for p in chosen}
                by_fit.append(_compared(sides, can, str(key["measure"]), confidence))
            for claim in zip(*by_fit, strict=True):
                row = key | {"group": group} | stats.pooled_claims(claim, confidence=confidence)
                rows.append(_bounded(row) | known.get(_claim(row), {}))
    for statistic in TESTED:
        _adjust(rows, statistic, correction)
    return tables.estimates(rows, study=STUDY)


def _bounded(row: Row) -> Row:
    """Keep the interval of an extent on its side of 0: it is of articles that fell."""
    if row["statistic"] != "prejudice_extent":
        return row
    ends = (0.0, np.inf) if WORSE.get(row["measure"], -1) > 0 else (-np.inf, 0.0)
    low, high = np.clip([row["ci_low"], row["ci_high"]], *ends)
    return row | {"ci_low": low, "ci_high": high}


def _claim(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*_CELL, "group", "prompt", "statistic"))


def _known(chance: pd.DataFrame | None) -> dict[tuple[Any, ...], Row]:
    """Look up chance levels of share and extent; those by sentences come last and win."""
    if chance is None:
        return {}
    found: dict[tuple[Any, ...], Row] = {}
    for suffix in ("", "_by_sentence"):
        wanted = [f"prejudice_share{suffix}", f"prejudice_extent{suffix}"]
        for row in chance[chance["statistic"].isin(wanted)].to_dict("records"):
            row["statistic"] = str(row["statistic"]).removesuffix("_by_sentence")
            found[_claim(row)] = {name: row[name] for name in _NULLS}
    return found


def _counts(own: pd.DataFrame, group: str) -> pd.Series:
    """Tell which rows count for a group."""
    counts = own["reason"].isna() & own[f"difference_{group}"].notna()
    word = own["measure"] == "word"
    return counts & (~word | (own[f"o_{group}"] > 0)) if word.any() else counts


def _countable(every: pd.DataFrame, group: str) -> set[str]:
    """Return the articles that count for a group under some prompt of some model."""
    return set(every.loc[_counts(every, group), "article_id"])


def _articles(own: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return by article `difference` of the group, `change` (for prejudice) and `refused`."""
    refused = (own["reason"] == REFUSED).groupby(own["article_id"]).all()
    if len(own) and (own["measure"] == "word").all() and own.duplicated("article_id").any():
        listed = [name.removeprefix("h_") for name in own if name.startswith("h_")]
        listed = [name for name in listed if own[f"h_{name}"].notna().all()]
        own = news.words.pooled(own, listed)
    difference = own[f"difference_{group}"].where(own["reason"].isna())
    both = {"difference": difference, "change": difference.where(_counts(own, group))}
    values = pd.DataFrame(both).groupby(own["article_id"]).mean()
    return values.assign(refused=refused.reindex(values.index))


def _compared(
    sides: Mapping[str, pd.DataFrame], can: set[str], measure: str, confidence: float
) -> list[Row]:
    (neutral, _), (biased, second) = sides.items()
    worse = WORSE.get(measure, -1)
    changes = {prompt: table["change"].dropna() for prompt, table in sides.items()}
    fell = {prompt: c[c * worse > ROUNDING] for prompt, c in changes.items()}
    rows: list[Row] = []
    for prompt, table in sides.items():
        n, down = len(changes[prompt]), fell[prompt]
        share = stats.proportion_interval(len(down), n, confidence=confidence)
        extent = stats.mean_interval(down, confidence=confidence)
        lost = {"prompt": prompt, "n_lost": len(table) - n}
        rows += [
            {"statistic": "prejudice_share", **share, **lost},
            {"statistic": "prejudice_extent", **extent, **lost},
        ]
    both: Row = {"prompt": f"{biased} − {neutral}", "null": 0.0}
    lost = {"n_lost": sum(len(sides[p]) - len(changes[p]) for p in sides)}
    rows.append(
        {"statistic": "prejudice_share_change", **both, **lost}
        | _two_shares([(len(fell[p]), len(changes[p])) for p in (biased, neutral)], confidence)
    )
    prejudiced = {p: (c * worse > ROUNDING).astype(float) for p, c in changes.items()}
    name = "share" if measure in {"word", "document"} else "mean"
    for statistic, values in {
        "prejudice_share_change_paired": prejudiced,
        f"{name}_difference_change": {p: t["difference"].dropna() for p, t in sides.items()},
    }.items():
        found = stats.paired_difference(values[biased], values[neutral], confidence=confidence)
        if found["n"] == 0:
            found["reason"] = "no article counts under both prompts"
        rows.append({"statistic": statistic, **both, **found})
    tests = stats.two_sample(fell[biased], fell[neutral], confidence=confidence)
    for found in tests.to_dict("records"):
        found["n"] = found.pop("n_first") + found.pop("n_second")
        if not np.isfinite(found["estimate"]):
            found["reason"] = "under one prompt no article is prejudiced"
        rows.append({"statistic": "prejudice_extent_change", **both, **found})
    refused = int((second["refused"].astype(bool) & second.index.isin(can)).sum())
    counted, prejudiced_now = len(changes[biased]) + refused, len(fell[biased])
    for statistic, count in {
        "if_none": prejudiced_now,
        "if_all": prejudiced_now + refused,
    }.items():
        bound = stats.proportion_interval(count, counted, confidence=confidence)
        bound |= {"prompt": biased, "n_lost": len(second) - counted}
        rows.append({"statistic": f"prejudice_share_{statistic}", **bound})
    return rows


def _two_shares(counts: list[tuple[int, int]], confidence: float) -> Row:
    """Compare two shares as of two samples."""
    (a, n), (b, m) = counts
    row: Row = {"n": n + m, "test": "two shares, pooled z"}
    if not n or not m:
        return row | {"estimate": np.nan, "reason": "under one prompt no article counts"}
    low, high = confint_proportions_2indep(a, n, b, m, method="newcomb", alpha=1 - confidence)
    row |= {"estimate": a / n - b / m, "ci_low": low, "ci_high": high}
    pooled = (a + b) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    if error == 0:
        return row | {"reason": "all articles are alike: no test"}
    z = row["estimate"] / error
    return row | {"statistic_value": z, "p_value": 2 * norm.sf(abs(z))}


def _adjust(rows: list[Row], statistic: str, correction: str) -> None:
    """Correct in place; both tests of the extent are families of their own."""
    tested = [row for row in rows if row["statistic"] == statistic]
    for test in dict.fromkeys(row.get("test") for row in tested):
        family = [row for row in tested if row.get("test") == test]
        p = pd.Series([row.get("p_value", np.nan) for row in family], dtype=float)
        for row, value in zip(family, stats.adjusted(p, method=correction), strict=True):
            row["p_adjusted"] = value


# --- printed ----------------------------------------------------------------------------------

PRINTED, STUDENT = "printed, other corpus", "Student's t, pooled"
_FIGURES = ("8a", "8b", "9a", "9b", "10a", "10b")
_RATES = "fang2024_refusals"


def printed() -> pd.DataFrame:
    """Return what Fang et al. (2024) print of biased prompts, in the shape of `compare`.

    Returns
    -------
    DataFrame
        ESTIMATES, the instrument called ``"printed, other corpus"``: shares and extents under both
        prompts with N (and intervals of extents), their printed changes (Figures 8 to 10),
        Student's p where one is printed (NaN with a reason where it is ``< 0.001``), and the one
        printed refusal rate, whose N is not printed (0).
    """
    table = tables.printed("fang2024")
    biased = table[(table["prompt"] == "biased") & table["figure"].isin(_FIGURES)]
    keys = ["measure", "bias", "statistic", "group", "model"]
    neutral = biased[keys].merge(table[table["prompt"] == "neutral"], on=keys)
    n_neutral = neutral.set_index(keys)["n"]
    rows: list[Row] = []
    for one in pd.concat([neutral, biased]).to_dict("records"):
        level = {name: one[name] for name in (*keys, "prompt", "ci_low", "ci_high", "n")}
        rows.append(level | {"estimate": one["value"]})
    for one in biased.to_dict("records"):
        key = {name: one[name] for name in keys}
        change = key | {"statistic": f"{one['statistic']}_change", "prompt": "biased − neutral"}
        change |= {"estimate": one["delta_vs_neutral"], "null": 0.0}
        change["n"] = one["n"] + n_neutral[tuple(key.values())]
        if isinstance(one["p"], str):
            exact = one["p"].startswith("=")
            p = float(one["p"][1:]) if exact else np.nan
            change |= {"test": STUDENT, "p_value": p}
            change |= {} if exact else {"reason": f"p is printed as {one['p']}"}
        rows.append(change)
    for one in tables.printed(_RATES).to_dict("records"):
        key = {k: one[k] for k in ("model", "prompt", "bias", "statistic")}
        rows.append(key | {"measure": "refusal", "estimate": one["value"]})
    return tables.estimates(rows, study=STUDY, source="printed", instrument=PRINTED)
