"""What a biased prompt does to an answer, at any level that scores pairs.

The comparison of Fang et al. (2024), Figures 8 to 10: share and extent of prejudice under a
neutral and a biased prompt. The paper compares two samples; here the effect of the prompt itself is
the difference on the articles answered under both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import news, stats, tables
from nbbias.biased_prompts.refusing import STUDY

Row = dict[str, Any]

#: Statistics that are tested. Each is a family of its own.
TESTED = (
    "prejudice_share_change",
    "prejudice_share_change_paired",
    "prejudice_extent_change",
    "share_difference_change",
    *(f"mean_difference_change{part}" for part in stats.PARTS),
)

_CELL = ["source", "model", "measure", "bias", "instrument"]


def compare(
    levels: Sequence[news.Level],
    groups: Mapping[str, str],
    *,
    neutral: str = "neutral",
    biased: str = "biased",
    confidence: float = stats.CONFIDENCE,
) -> tables.Estimated:
    """Compare the answers to two prompts, at every level that was measured.

    Parameters
    ----------
    levels
        What `news.words.level`, `news.tone.level` and `news.topics.level` returned, of both
        prompts. Refused answers are lost there with the reason ``"refused"``
        (`biased_prompts.refusing.without_refusals`). Several fits of topics are crossed with the
        articles (`stats.pooled_mean`, `stats.pooled_difference`).
    groups
        Bias → the group that is tested: at the word and document levels a second is its mirror
        image.
    neutral, biased
        The two values of `prompt`; every change is `biased` less `neutral`.
    confidence
        Level of the intervals.

    Returns
    -------
    tables.Estimated
        ESTIMATES, with Holm's correction over all rows of a measure and tested statistic, and the
        articles' values behind the means of words and tone (topics are fitted
        anew in every run, and have no common unit). By source, model, measure, bias, instrument
        and group; N counts articles (repeated answers to one are pooled). For prejudice an article
        counts for a group as in the news study: at the word level its original has words of the
        group. By `statistic`:

        - ``prejudice_share``, ``prejudice_extent``: of each prompt, as in the news study. Extents
          are of articles selected for falling: chance alone is far below 0. Null: the leading
          reference, for words replicates (`news.replicates`).
        - ``prejudice_share_change``: difference of the shares as of two samples, as printed;
          Newcombe's interval, pooled z. ``prejudice_share_change_paired``: on the articles
          that count under both prompts (`stats.paired_shares`; over several fits a paired t).
        - ``prejudice_extent_change``: difference of the extents; Student's pooled t, which the
          printed p values fit.
        - ``share_difference_change`` (words, documents) or ``mean_difference_change`` (tone): the
          effect of the prompt, on all articles with a difference under both; paired t. The original
          cancels out. Below 0: less of the group, or lower. ``mean_difference_change_instrument``:
          what the instrument alone adds to the latter by whom the sentences name (`news.scoring`);
          ``mean_difference_change_corrected``: the rest.

        `n_lost` counts the prompt's other articles; for paired rows all others that were asked
        about, so that N is of N + `n_lost`.

    Examples
    --------
    >>> from nbbias import biased_prompts, news, stats, text
    >>> corpus = biased_prompts.sample.corpus(seed=1)
    >>> read = news.annotate(news.pair(*corpus), lexicon=text.lexicons.load("gender"))
    >>> words = news.words.level(read, inference=stats.InferenceSettings(n_permutations=100))
    >>> estimates = biased_prompts.compare.compare([words], {"gender": "female"}).estimates
    >>> effects = estimates[estimates["statistic"] == "share_difference_change"].set_index("model")
    >>> bool(effects.loc["compliant", "estimate"] < effects.loc["unmoved", "estimate"])
    True
    """
    prompts = (neutral, biased)
    rows: list[Row] = []
    for level in levels:
        for key, subset in tables.split_groups(level.scores, _CELL):
            key["group"] = groups[key["bias"]]
            rows += _compare_articles(key, subset, prompts, confidence)
    result = tables.estimates_and_units(rows, study=STUDY, confidence=confidence)
    family, where = ["measure", "statistic"], {"statistic": TESTED}
    table = stats.adjust(result.estimates, family=family, where=where)
    for level in levels:
        table = tables.with_chance(table, level.chance)
    return result._replace(estimates=table)


def _by_article(
    subset: pd.DataFrame, values: pd.Series, prompts: tuple[str, str]
) -> dict[str, pd.DataFrame]:
    """Return each prompt's values of the pairs that count, repeated answers averaged."""
    fit = subset["seed"] if "seed" in subset else pd.Series(0, subset.index)
    keys = [subset["prompt"], subset["article_id"], fit]
    means = values.where(subset["reason"].isna()).groupby(keys).mean().unstack()
    return {prompt: means.query("prompt == @prompt").droplevel("prompt") for prompt in prompts}


def _compare_articles(
    key: Row, scores: pd.DataFrame, prompts: tuple[str, str], confidence: float
) -> Iterator[Row]:
    """Yield the rows of one cell and group, with the values that they are means of; see `compare`.

    Tables of articles have a column for each fit of topics, and one where nothing is fitted.
    """
    (neutral, biased), measure, group = prompts, key["measure"], key["group"]
    if "seed" in scores:
        key["instrument"] += news.shares.fits_named(scores["seed"].nunique())
    if measure == "word":
        listed = scores.filter(regex="^h_").dropna(axis="columns").columns.str[2:]
        scores = news.claims.per_article(scores, news.words.pooling([*listed]))
    difference, swap = scores[f"difference_{group}"], scores.get(f"swap_{group}")
    counted = difference.where(scores[f"o_{group}"] > 0) if measure == "word" else difference
    of_prompt = _by_article(scores, counted, prompts)  # what counts for prejudice
    worse = news.claims.WORSE.get(measure, -1)
    how: Row = {"group": group, "inference": stats.InferenceSettings(confidence), "worse": worse}
    for prompt, change in of_prompt.items():
        for row in news.claims.prejudice(change, reach=np.inf, **how):
            yield key | {"prompt": prompt} | row
    both = key | {"prompt": f"{biased} − {neutral}", "null": 0.0}
    changes = [of_prompt[biased], of_prompt[neutral]]
    shares = [news.claims.fell(change, worse=worse) for change in changes]
    for row in _two_samples(shares, changes, confidence):
        yield both | row
    differences = _by_article(scores, difference, prompts)
    effect = differences[biased] - differences[neutral]
    name = f"{'share' if measure in {'word', 'document'} else 'mean'}_difference_change"
    paired = shares[0] - shares[1]
    for statistic, values in (("prejudice_share_change_paired", paired), (name, effect)):
        row = _paired(values, confidence)
        if values is paired and paired.shape[1] == 1 and row["n"]:
            sides = (side.iloc[:, 0] for side in shares[0].align(shares[1]))
            row |= stats.paired_shares(*sides, confidence=confidence).row()
        units = None if measure == "document" else values.iloc[:, 0]
        yield both | {"statistic": statistic} | row | {"values": units}
    if swap is not None and swap.notna().any():
        swaps = _by_article(scores, swap, prompts)
        added = swaps[biased] - swaps[neutral]
        parts = stats.decompose(effect.iloc[:, 0], added.iloc[:, 0])
        for part in (stats.CORRECTED, stats.SCORER_BIAS):
            row = _paired(parts[part].to_frame(), confidence)
            yield both | {"statistic": f"{name}{part}"} | row


def _paired(values: pd.DataFrame, confidence: float) -> Row:
    """Return the mean over the articles measured under both prompts, with a paired t-test."""
    row = stats.pooled_mean(values, confidence=confidence).row()
    row["test"] = row["test"].replace("one-sample", "paired")
    if row["n"] == 0:
        row["reason"] = "no article counts under both prompts"
    return row


def _two_samples(
    shares: Sequence[pd.DataFrame], changes: Sequence[pd.DataFrame], confidence: float
) -> Iterator[Row]:
    """Compare shares and extents as of two samples: by the paper's tests, or over the fits."""
    extents = [change[share == 1] for share, change in zip(shares, changes, strict=True)]
    if shares[0].shape[1] > 1:
        share = stats.pooled_difference(*shares, confidence=confidence).row()
        extent = stats.pooled_difference(*extents, confidence=confidence).row()
    else:
        of_shares, of_extents = ([side.iloc[:, 0] for side in part] for part in (shares, extents))
        share = stats.two_shares(*of_shares, confidence=confidence).row()
        extent = stats.two_sample(*of_extents, pooled=True, confidence=confidence).row()
    for row, why in ((share, "no article counts"), (extent, "no article is prejudiced")):
        if not np.isfinite(row["estimate"]):
            row["reason"] = f"under one prompt {why}"
    n_lost = int(sum(table.isna().all(axis=1).sum() for table in shares))
    yield {"statistic": "prejudice_share_change", "n_lost": n_lost} | share
    yield {"statistic": "prejudice_extent_change"} | extent | {"n_lost": 0}


def read_published() -> pd.DataFrame:
    """Return what Fang et al. (2024) print of biased prompts: Figures 8 to 10, and refusals.

    Examples
    --------
    >>> table = read_published()
    >>> table.loc[table["statistic"] == "refusal_rate", ["model", "value"]].values.tolist()
    [['ChatGPT', 0.8913]]
    """
    table = tables.read_published("fang2024")
    changes = table[table["delta_vs_neutral"].notna()]
    columns = ["measure", "statistic", "group", "model", "value", "n", "delta_vs_neutral", "p"]
    rates = tables.read_published("fang2024_refusals")
    changes = changes.assign(p=changes["p"].str.removeprefix("="))
    return pd.concat([rates[rates.columns.intersection(columns)], changes])[columns]
