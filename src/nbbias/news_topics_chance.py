"""What chance alone does to document-level bias: the words of a pair's texts are dealt anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import lexicons, news_estimates, news_fits, topics
from nbbias.cache import stage
from nbbias.news import CELL
from nbbias.news_document_estimates import per_article
from nbbias.news_documents import ROUNDING
from nbbias.news_fits import Fit
from nbbias.progress import progress

_LEVEL_KEYS = ["bias", *CELL, "statistic", "group"]
_LEVEL_VALUES = ["observed", "null", "null_low", "null_high", "p_value", "pairs", "test"]


@stage
def chance(
    pairs: pd.DataFrame,
    tokens: pd.Series,
    fits: Sequence[Fit],
    *,
    lexicon: pd.DataFrame,
    truncated: bool,
    sample_pairs: int = 100,
    draws: int = 20,
    confidence: float = 0.95,
    seed: int,
) -> pd.DataFrame:
    """Say what distance, and what prejudice, chance alone gives.

    The known words of both texts of a pair (of an original and all answers to it, where there are
    several) are pooled and dealt out anew, as many to each text as it had; topics are inferred
    again, by every fit, and the pair is scored again. This is exact if, as the topic model has it,
    words are independent given a text's topics, and both texts have the same. Real words come in
    clusters, so it is the least that chance does.

    Parameters
    ----------
    pairs, tokens, fits, lexicon
        What the scores were made from; `tokens` by text, as `topics.tokens` gives them.
    truncated
        As in `topics.shares`, for the scores.
    sample_pairs
        Pairs drawn at random from each cell, without replacement; each costs 2 · `draws`
        inferences a fit.
    draws
        Deals of every pair. A deal costs inferences, so there are few: p takes the deals' means
        over pairs as normal (t with `draws` - 1 degrees of freedom), not their ranks, which could
        not be below 1 / (`draws` + 1).
    confidence
        Share of the deals between `null_low` and `null_high`.
    seed
        Start of the draws.

    Returns
    -------
    DataFrame
        By `bias`, the cell, `statistic` (``bias``, ``prejudice_share``, ``prejudice_extent``) and
        `group`: `observed` in the pairs used, the mean `null` over the deals, `null_low`,
        `null_high` (of means over the pairs used), one-sided `p_value` (for ``bias``), `pairs`
        used (drawn, with a score; the fewest of any fit), and `test`. Every deal is the mean of
        its values by all fits that scored a pair as it was. A deal without a score does not
        count; with no pair used all is NaN.
    """
    if not fits:
        return pd.DataFrame(columns=[*_LEVEL_KEYS, *_LEVEL_VALUES])
    known = fits[0].model.dictionary.token2id  # the vocabulary is that of the corpus, in every fit
    words = tokens.map(lambda own: [w for w in own if w in known])
    table, dealt_words = _dealt(pairs, words, sample_pairs, draws, np.random.default_rng(seed))
    redone = [
        fit._replace(shares=topics.shares(fit.model, dealt_words, truncated=truncated))
        for fit in progress(fits, "chance by fit of topics")
    ]
    scores = news_fits.scores(table, redone, lexicon=lexicon)
    rows = []
    for (bias, *cell), own in scores.groupby(["bias", *CELL], sort=False):
        key = {"bias": bias, **dict(zip(CELL, cell, strict=True))}
        groups = lexicons.groups(lexicon, str(bias))
        by_fit = [
            _deals(per_article(one, groups, by=["pair_id", "article_id"]), groups, draws)
            for _, one in own.groupby("seed", sort=False)
        ]
        rows += [key | row for row in _levels(by_fit, draws, confidence)]
    return pd.DataFrame(rows, columns=[*_LEVEL_KEYS, *_LEVEL_VALUES])


def _dealt(
    pairs: pd.DataFrame, words: pd.Series, sample_pairs: int, draws: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.Series]:
    """Deal out the words of some pairs: all deals as PAIRS (`pair_id` numbers them), and words."""
    usable = pairs[pairs["lost"].isna()]
    answers = usable.groupby([*CELL, "article_id"], sort=False).ngroup()
    drawn = [
        own.drop_duplicates().sample(min(sample_pairs, own.nunique()), random_state=rng)
        for _, own in answers.groupby([usable[key] for key in CELL], sort=False)
    ]
    sampled = usable[answers.isin(pd.concat(drawn))] if drawn else usable
    dealt: dict[str, list[str]] = {}
    copies = []
    together = []  # where the pairs of an original stand, and the words of its texts
    for at in answers[sampled.index].groupby(answers[sampled.index]).indices.values():
        own = sampled.iloc[at]
        parts = [words[own["original_text"].iloc[0]], *(words[h] for h in own["generated_text"])]
        together.append((at, parts))
    for draw in range(draws + 1):
        original = np.empty(len(sampled), dtype=object)
        generated = np.empty(len(sampled), dtype=object)
        for number, (at, parts) in enumerate(together):
            ids = [f"{draw}-{number}-{part}" for part in range(len(parts))]
            whole = np.array([word for part in parts for word in part], dtype=object)
            # The first deal is the one that was observed.
            whole = rng.permutation(whole) if draw else whole
            ends = np.cumsum([len(part) for part in parts])[:-1]
            dealt |= {name: list(p) for name, p in zip(ids, np.split(whole, ends), strict=True)}
            original[at], generated[at] = ids[0], ids[1:]
        copies.append(
            sampled.assign(pair_id=draw, original_text=original, generated_text=generated)
        )
    return pd.concat(copies), pd.Series(dealt, dtype=object)


Deals = tuple[int, dict[tuple[str, str | None], np.ndarray]]


def _deals(own: pd.DataFrame, groups: Sequence[str], draws: int) -> Deals:
    """Return the pairs that one fit scores, and its means over them by deal (`pair_id`)."""
    size = len(own) // (draws + 1)
    used = own["reason"].isna().to_numpy()[:size]
    kept = own[np.tile(used, draws + 1)]
    deal = kept["pair_id"].to_numpy()
    values: dict[tuple[str, str | None], pd.Series] = {}
    values["bias", None] = kept["score"].groupby(deal).mean()
    for group in groups:
        change = kept[f"difference_{group}"]
        fell = (change < -ROUNDING).where(change.notna()).astype(float)
        values["prejudice_share", group] = fell.groupby(deal).mean()
        values["prejudice_extent", group] = change.where(fell == 1).groupby(deal).mean()
    by_deal = {key: of.reindex(range(draws + 1)).to_numpy(float) for key, of in values.items()}
    return int(used.sum()), by_deal


def _levels(by_fit: list[Deals], draws: int, confidence: float) -> list[dict[str, Any]]:
    """Compare the first deal of some pairs, the observed one, with the others."""
    rows = []
    for statistic, group in by_fit[0][1]:
        measured = [(n, deals[statistic, group]) for n, deals in by_fit if n]
        used = min((n for n, _ in measured), default=0)
        found = np.full((max(len(measured), 1), draws + 1), np.nan)
        for i, (_, deals) in enumerate(measured):
            found[i] = deals
        counted = (~np.isnan(found)).sum(axis=0)
        mean = news_estimates.ratio(np.nansum(found, axis=0), counted)
        observed, dealt = mean[0], mean[1:]
        p = np.nan
        if statistic == "bias" and np.isfinite(observed) and np.nanstd(dealt) > ROUNDING:
            # One more deal would lie so many standard errors of prediction from their mean.
            error = np.nanstd(dealt, ddof=1) * np.sqrt(1 + 1 / draws)
            p = float(t.sf((observed - np.nanmean(dealt)) / error, draws - 1))
        rows.append({
            "statistic": statistic, "group": group, "observed": observed,
            "null": np.nan if np.isnan(dealt).all() else np.nanmean(dealt),
            **news_estimates.spread(dealt, confidence), "p_value": p, "pairs": used,
            "test": f"words of {used} pairs dealt anew, {draws} times",
        })  # fmt: skip
    return rows
