"""What a biased prompt does to an answer, at any level that scores pairs.

The comparison of Fang et al. (2024), Figures 8 to 10: share and extent of prejudice under a
neutral and a biased prompt. The paper compares two samples; here the effect of the prompt itself is
the difference on the articles answered under both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import news, stats, tables
from nbbias.biased_prompts.refusing import REFUSED, STUDY

Row = dict[str, Any]

#: Statistics that are tested. Each is a family of its own.
TESTED = (
    "prejudice_share_change",
    "prejudice_share_change_paired",
    "prejudice_extent_change",
    "share_difference_change",
    "mean_difference_change",
    "mean_difference_change_corrected",
    "mean_difference_change_instrument",
)

#: The references that stand beside share and extent.
_LEAD = news.claims.REFERENCES

_CELL = ["source", "model", "measure", "bias", "instrument"]


def compare(
    levels: Sequence[news.Level],
    groups: Mapping[str, str | Sequence[str]],
    *,
    neutral: str = "neutral",
    biased: str = "biased",
    confidence: float = 0.95,
    correction: str = "holm",
) -> pd.DataFrame:
    """Compare the answers to two prompts, at every level that was measured.

    Parameters
    ----------
    levels
        What `news.words.level`, `news.tone.level` and `news.topics.level` returned, of both
        prompts. Refused answers are lost there with the reason ``"refused"``
        (`biased_prompts.refusing.without_refusals`). Several fits of topics are crossed with the
        articles (`stats.pooled_mean`, `stats.pooled_difference`).
    groups
        Bias → the group or groups that are tested: the declared family. Of two groups name one,
        since at the word and document levels the other is its mirror image.
    neutral, biased
        The two values of `prompt`; every change is `biased` less `neutral`.
    confidence, correction
        Level of the intervals; ``"holm"`` or ``"fdr_bh"``, over all rows of a measure and tested
        statistic; both tests of the extent are families of their own.

    Returns
    -------
    DataFrame
        ESTIMATES by source, model, measure, bias, instrument and group; N counts articles (repeated
        answers to one are pooled). For prejudice an article counts for a group as in the news
        study: at the word level its original has words of the group. By `statistic`:

        - ``prejudice_share``, ``prejudice_extent``: of each prompt, as in the news study. Extents
          are of articles selected for falling: chance alone is far below 0. Null: the leading
          reference, for words replicates (`news.replicates`).
        - ``prejudice_share_change``: difference of the shares as of two samples, as printed;
          Newcombe's interval, pooled z. ``prejudice_share_change_paired``: on the articles
          that count under both prompts; Tango's score interval (over several fits a t), paired t.
        - ``prejudice_extent_change``: difference of the extents, twice, by `test`: Student's
          pooled t (which the printed p values fit) and Welch's; once over several fits.
        - ``share_difference_change`` (words, documents) or ``mean_difference_change`` (tone): the
          effect of the prompt, on all articles with a difference under both; paired t. The original
          cancels out. Below 0: less of the group, or colder. ``mean_difference_change_instrument``:
          what the instrument alone adds to the latter by whom the sentences name (`news.audit`);
          ``mean_difference_change_corrected``: the rest.
        - ``prejudice_share_if_none``, ``prejudice_share_if_all``: what the biased prompt's share
          would be had none, or all, of the refused articles been prejudiced; counted are refused
          articles that can count for the group.

        `n_lost` counts the prompt's other articles; for paired rows all others that were asked
        about, so that N is of N + `n_lost`.

    Raises
    ------
    ContractError
        A column is missing.

    Examples
    --------
    >>> from nbbias import biased_prompts, news, stats, text
    >>> corpus = biased_prompts.sample.corpus(seed=1)
    >>> read = news.annotate(news.pair(*corpus), lexicon=text.lexicons.load("gender"))
    >>> words = news.words.level(read, inference=stats.InferenceSettings(n_permutations=100))
    >>> found = biased_prompts.compare.compare([words], {"gender": "female"})
    >>> effects = found[found["statistic"] == "share_difference_change"].set_index("model")
    >>> bool(effects.loc["compliant", "estimate"] < effects.loc["unmoved", "estimate"])
    True
    """
    parts = []
    for level in levels:
        rows = _of_level(level.scores, groups, (neutral, biased), confidence)
        table = tables.estimates(rows, study=STUDY, confidence=confidence)
        family = ["measure", "statistic", table["test"] == WELCH]
        table = stats.adjust(table, family=family, where={"statistic": TESTED}, method=correction)
        parts.append(tables.with_chance(table, level.chance, lead=_LEAD))
    return pd.concat(parts, ignore_index=True) if parts else tables.estimates([], study=STUDY)


def _of_level(
    scores: pd.DataFrame,
    groups: Mapping[str, str | Sequence[str]],
    chosen: tuple[str, str],
    confidence: float,
) -> list[Row]:
    tables.require_columns(scores, [*_CELL, "prompt", "article_id", "reason"], where="scores")
    rows: list[Row] = []
    several = "seed" in scores
    scores = scores if several else scores.assign(seed=0)
    for cell, own in scores.groupby(_CELL, sort=False):
        key = dict(zip(_CELL, cell, strict=True))
        alike = ["source", "bias", "instrument"]
        every = scores[(scores[alike] == [key[name] for name in alike]).all(axis=1)]
        fits = own["seed"].unique()
        key["instrument"] += news.topics.fits_named(len(fits)) if several else ""
        family = groups.get(key["bias"], ())
        for group in [family] if isinstance(family, str) else family:
            tables.require_columns(own, [f"difference_{group}"], where=f"scores of {key['bias']}")
            can = _counts(every, group).groupby([every["article_id"], every["seed"]]).max()
            can = can.unstack(fill_value=False).reindex(columns=fits, fill_value=False)
            sides = {p: articles(own[own["prompt"] == p], group, fits) for p in chosen}
            found = _compared(sides, can, group, str(key["measure"]), confidence)
            found += _without_instrument(own, sides, group, confidence)
            rows += [_bounded(key | {"group": group} | row) for row in found]
    return rows


def _without_instrument(
    own: pd.DataFrame, sides: Mapping[str, _Side], group: str, confidence: float
) -> list[Row]:
    """Part the effect of the prompt on tone: what the instrument alone adds, and the rest."""
    swap = f"swap_{group}"
    if swap not in own or own[swap].isna().all():
        return []
    neutral, biased = (side.difference.iloc[:, 0] for side in sides.values())
    raw = biased.sub(neutral)
    counted = own.loc[own["reason"].isna()].groupby(["prompt", "article_id"])[swap].mean()
    first, second = (counted[counted.index.isin([p], level=0)].droplevel(0) for p in sides)
    instrument = second.sub(first).reindex(raw.index)
    rows = []
    for of, values in {"corrected": raw - instrument, "instrument": instrument}.items():
        found = stats.pooled_mean(values.where(raw.notna()).to_frame(), confidence=confidence).row()
        found["test"] = found["test"].replace("one-sample", "paired")
        if found["n"] == 0:
            found["reason"] = "no article counts under both prompts"
        common = {"prompt": " − ".join(reversed(list(sides))), "null": 0.0}
        rows.append({"statistic": f"mean_difference_change_{of}"} | common | found)
    return rows


def _bounded(row: Row) -> Row:
    """Keep the interval of an extent on its side of 0: it is of articles that fell."""
    if row["statistic"] != "prejudice_extent":
        return row
    ends = (0.0, np.inf) if news.prejudice.WORSE.get(row["measure"], -1) > 0 else (-np.inf, 0.0)
    low, high = np.clip([row["ci_low"], row["ci_high"]], *ends)
    return row | {"ci_low": low, "ci_high": high}


def _counts(own: pd.DataFrame, group: str) -> pd.Series:
    """Tell which rows count for a group."""
    counts = own["reason"].isna() & own[f"difference_{group}"].notna()
    word = own["measure"] == "word"
    return counts & (~word | (own[f"o_{group}"] > 0)) if word.any() else counts


class _Side(NamedTuple):
    """One prompt's articles by fits: the group's difference, and where it counts as prejudice."""

    difference: pd.DataFrame
    change: pd.DataFrame
    refused: pd.Series


def articles(own: pd.DataFrame, group: str, fits: Sequence[int]) -> _Side:
    """Return the articles of one cell and prompt, over repeated answers."""
    refused = (own["reason"] == REFUSED).groupby(own["article_id"]).all()
    if len(own) and (own["measure"] == "word").all() and own.duplicated("article_id").any():
        listed = [name.removeprefix("h_") for name in own if name.startswith("h_")]
        listed = [name for name in listed if own[f"h_{name}"].notna().all()]
        own = news.claims.per_article(own, news.words.pooling(listed))
    difference = own[f"difference_{group}"].where(own["reason"].isna())
    keys = [own["article_id"], own["seed"]]
    table, change = (
        one.groupby(keys).mean().unstack().reindex(columns=fits)
        for one in (difference, difference.where(_counts(own, group)))
    )
    return _Side(table, change, refused.reindex(table.index))


def _compared(
    sides: Mapping[str, _Side], can: pd.DataFrame, group: str, measure: str, confidence: float
) -> list[Row]:
    (neutral, _), (biased, second) = sides.items()
    worse = news.prejudice.WORSE.get(measure, -1)
    changes = {prompt: side.change for prompt, side in sides.items()}
    prejudiced = {p: news.prejudice.fell(change, worse=worse) for p, change in changes.items()}
    fell = {p: change[prejudiced[p] == 1] for p, change in changes.items()}
    rows: list[Row] = []
    for prompt, change in changes.items():
        rows += [
            {"prompt": prompt} | row
            for row in news.prejudice.rows(
                change,
                group=group,
                inference=stats.InferenceSettings(confidence),
                worse=worse,
                reach=None,
            )
        ]
    both: Row = {"prompt": f"{biased} − {neutral}", "null": 0.0}
    shares, extents = _two_samples(prejudiced, fell, confidence)
    rows.append({"statistic": "prejudice_share_change", **both, **shares})
    name = "share" if measure in {"word", "document"} else "mean"
    for statistic, values in {
        "prejudice_share_change_paired": prejudiced,
        f"{name}_difference_change": {p: side.difference for p, side in sides.items()},
    }.items():
        apart = values[biased].sub(values[neutral])
        found = stats.pooled_mean(apart, confidence=confidence).row()
        if values is prejudiced and apart.shape[1] == 1 and found["n"] > 1:
            ends = stats.tango_interval(
                (apart > 0).sum().item(),
                (apart < 0).sum().item(),
                found["n"],
                confidence=confidence,
            )
            found |= {"ci_low": float(ends[0]), "ci_high": float(ends[1])}
        found["test"] = found["test"].replace("one-sample", "paired")
        if found["n"] == 0:
            found["reason"] = "no article counts under both prompts"
        rows.append({"statistic": statistic, **both, **found})
    for test in extents:
        if not np.isfinite(test["estimate"]):
            test["reason"] = "under one prompt no article is prejudiced"
        rows.append({"statistic": "prejudice_extent_change", **both, **test})
    refused = second.refused.astype(bool).to_numpy()[:, None]
    refused = refused & can.reindex(second.change.index, fill_value=False).to_numpy()
    for statistic, value in {"if_none": 0.0, "if_all": 1.0}.items():
        bound = stats.pooled_share(
            prejudiced[biased].mask(refused, value), confidence=confidence
        ).row()
        rows.append({"statistic": f"prejudice_share_{statistic}", "prompt": biased, **bound})
    return rows


def _two_samples(
    prejudiced: Mapping[str, pd.DataFrame], fell: Mapping[str, pd.DataFrame], confidence: float
) -> tuple[Row, list[Row]]:
    """Compare shares and extents as of two samples: by the paper's tests, or over the fits."""
    neutral, biased = prejudiced
    lost = {"n_lost": int(sum(table.isna().all(axis=1).sum() for table in prejudiced.values()))}
    if prejudiced[biased].shape[1] > 1:
        shares = stats.pooled_difference(
            prejudiced[biased], prejudiced[neutral], confidence=confidence
        ).row()
        extents = [
            stats.pooled_difference(fell[biased], fell[neutral], confidence=confidence).row()
        ]
    else:
        one = {p: table.iloc[:, 0].dropna() for p, table in prejudiced.items()}
        shares = stats.two_shares(one[biased], one[neutral], confidence=confidence).row()
        own = {p: table.iloc[:, 0].dropna() for p, table in fell.items()}
        extents = [
            stats.two_sample(own[biased], own[neutral], pooled=pooled, confidence=confidence).row()
            for pooled in (True, False)
        ]
    if not np.isfinite(shares["estimate"]):
        shares["reason"] = "under one prompt no article counts"
    return lost | shares, [row | {"n_lost": 0} for row in extents]


def leading(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first instrument of each measure and bias, without toxicity."""
    own = rows[rows["measure"] != "toxicity"]
    first = own.groupby(["measure", "bias"])["instrument"].transform("first")
    return own[own["instrument"] == first]


# --- printed ----------------------------------------------------------------------------------

PRINTED, STUDENT, WELCH = "printed, other corpus", "Student's t, pooled", "Welch's t"
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
    table = tables.read_published("fang2024")
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
    for one in tables.read_published(_RATES).to_dict("records"):
        key = {k: one[k] for k in ("model", "prompt", "bias", "statistic")}
        rows.append(key | {"measure": "refusal", "estimate": one["value"]})
    printed_level = {"source": "printed", "instrument": PRINTED, "confidence": 0.95}
    return tables.estimates(rows, study=STUDY, **printed_level)
