"""The document level's topics, fitted once for every seed, so that the seed's part is seen.

Topics do not repeat from seed to seed. So the topics are fitted several times, every fit gets its
own associations and scores, and the estimates of `news.topics` are pooled over the fits.

Document-level estimates: means over pairs, pooled over the fits of topics.

What chance alone does to document-level bias: the words of a pair's texts are dealt anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import stats, tables as nbbias_tables
from nbbias.news import claims, topics
from nbbias.news.corpus import CELL
from nbbias.news.topics import CORPUS, ROUNDING
from nbbias.tables import DataError, progress, stage
from nbbias.text import lexicons, topics as text_topics, topics as topics_described
from nbbias.text.topics import TopicModel

UNFITTED = "too few different words for so many topics"


class Fit(NamedTuple):
    """One fit of topics, and what follows from it.

    `seed`; `model`; `topic` (of every distinct sentence, by `text_id` and `sentence_id`, missing
    without a known word); `shares` (texts by topics); `associated` (of `news.topics.associate`).
    """

    seed: int
    model: TopicModel
    topic: pd.Series
    shares: pd.DataFrame
    associated: pd.DataFrame


@stage
def fits(
    pairs: pd.DataFrame,
    tokens: pd.Series,
    sentences: pd.DataFrame,
    said: pd.Series,
    *,
    lexicon: pd.DataFrame,
    n_topics: int,
    seeds: Sequence[int],
    association: str = "common",
    threshold: float = 3.0,
    truncated: bool = False,
    **settings: Any,
) -> list[Fit]:
    """Fit topics once for every seed and associate them with groups.

    Parameters
    ----------
    pairs, tokens, sentences
        PAIRS, the Series of `text.topics.tokens` by text, and the table of `news.tone.assign`.
    said
        The Series of `news.topics.sentence_tokens`.
    lexicon, association, threshold
        As in `news.topics.associate`.
    n_topics, seeds, **settings
        As in `text.topics.fit`, once for every seed.
    truncated
        As in `text.topics.shares`.

    Returns
    -------
    list of Fit
        In the order of `seeds`; the first is the one whose topics are shown. Empty where the texts
        have too few words for so many topics: then nothing is measured at this level.
    """
    found: list[Fit] = []
    for seed in progress(seeds, "fits of topics"):
        try:
            model = text_topics.fit(tokens, n_topics=n_topics, seed=seed, **settings)
        except DataError:
            return found
        topic = text_topics.of_sentences(model, said).rename("topic")
        associated = topics.associate(
            with_topics(sentences, topic), pairs, lexicon=lexicon, n_topics=n_topics,
            association=association, threshold=threshold,
        )  # fmt: skip
        shares = text_topics.shares(model, tokens, truncated=truncated)
        found.append(Fit(seed, model, topic, shares, associated))
    return found


def with_topics(sentences: pd.DataFrame, topic: pd.Series) -> pd.DataFrame:
    """Add to SENTENCES the column `topic` of a fit; missing without a word of the vocabulary."""
    return sentences.join(topic, on=["text_id", "sentence_id"])


def pair_scores(pairs: pd.DataFrame, fits: Sequence[Fit], *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Score every pair by every fit.

    Returns
    -------
    DataFrame
        As `news.topics.pair_scores`, with the column `seed`: one row per pair, bias and fit.
    """
    if not fits:
        nothing = pd.DataFrame(index=pd.Index([], dtype=str))
        none = pd.DataFrame(columns=["bias", "model", "prompt", "topic", "group"])
        table = topics.pair_scores(pairs, nothing, none, lexicon=lexicon)
        unfitted = table["reason"].isin([topics.FEW_GROUPS])
        return table.assign(
            seed=0, instrument="LDA", reason=table["reason"].mask(unfitted, UNFITTED)
        )
    tables = [
        topics.pair_scores(pairs, fit.shares, fit.associated, lexicon=lexicon).assign(
            seed=fit.seed, instrument=f"LDA, {fit.model.model.num_topics} topics"
        )
        for fit in fits
    ]
    return pd.concat(tables, ignore_index=True)


def tests(
    sentences: pd.DataFrame, pairs: pd.DataFrame, fits: Sequence[Fit],
    *, lexicon: pd.DataFrame, draws: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Ask of every fit whether its topics are used alike for all groups.

    Returns
    -------
    DataFrame
        By `bias` and `seed`: `group_topics` (topics of a group, neutral ones apart), chi-squared
        over all sentences (`statistic_value`, `df`, `effect_size`: Cramér's V, `n` sentences), its
        `p_value` as if sentences were independent, `p_by_article` with the article as the
        unit, and the `reason` why there is none.
    """
    rows = []
    articles = topics.articles(pairs)
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = sentences[sentences["bias"] == bias]
        for fit in progress(fits, f"tests of topics, {bias}"):
            said = with_topics(own, fit.topic)
            own_topics = fit.associated.loc[fit.associated["bias"] == bias, "group"]
            row = topics.chi_squared(topics.contingency(said, groups=groups))
            by_article = topics.permutation_p(said, articles, groups=groups, draws=draws, seed=seed)
            rows.append({
                "bias": bias, "seed": fit.seed, "group_topics": int(own_topics.isin(groups).sum()),
                **row, "p_by_article": by_article["p_value"],
                "reason": row["reason"] or by_article["reason"],
            })  # fmt: skip
    columns = [*("bias", "seed", "group_topics", "n", "statistic_value", "df", "effect_size")]
    return pd.DataFrame(rows, columns=[*columns, "p_value", "p_by_article", "reason"])


def described(
    fits: Sequence[Fit], *, lexicon: pd.DataFrame, relevance_lambda: float = 0.6, top: int = 8
) -> pd.DataFrame:
    """Describe the first fit's topics: their words, their sentences, and whose they are.

    Returns
    -------
    DataFrame
        By topic, those with most sentences first: `topic`, `words` (the most relevant ones, see
        `text.topics.words`), `sentences`, and for every bias `<bias>` (the group, empty
        where there is none) and `<bias>_residual` (the largest). With own associations of each
        corpus those of the originals.
    """
    if not fits:
        return pd.DataFrame(columns=["topic", "words", "sentences", *lexicon["bias"].unique()])
    fit = fits[0]
    words = topics_described.words(fit.model, relevance_lambda=relevance_lambda, top=top)
    table = words.groupby("topic")["word"].agg(" ".join).rename("words").reset_index()
    shown = fit.associated[fit.associated["model"].isin([topics.ALL[0], topics.HUMAN[0]])]
    for number, bias in enumerate(lexicon["bias"].unique()):
        own = shown[shown["bias"] == bias].set_index("topic")
        if number == 0:
            table["sentences"] = table["topic"].map(own["sentences"])
        table[bias] = table["topic"].map(own["group"])
        table[f"{bias}_residual"] = table["topic"].map(own["residual"])
    return table.sort_values("sentences", ascending=False, kind="stable", ignore_index=True)


def replication(fits: Sequence[Fit], *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Say how many of the first fit's associations the other fits repeat.

    Returns
    -------
    DataFrame
        By `bias` and `seed`, of every fit but the first: `group_topics` of the first fit;
        `replicated`, the share of them whose match (`text.topics.match`) has the same
        group, in [0, 1]; `replicated_by_chance`, its expectation if topics were matched at random.
        NaN with a `reason` where the first fit has no topic of a group.
    """
    rows = []
    for other in fits[1:]:
        matched = topics_described.match(fits[0].model, other.model).set_index("first")["second"]
        for bias in lexicon["bias"].unique():
            groups = lexicons.groups(lexicon, bias)
            row = {"bias": bias, "seed": other.seed, "group_topics": 0}
            row |= _replicated(fits[0], other, matched, bias, groups)
            rows.append(row)
    columns = ["bias", "seed", "group_topics", "replicated", "replicated_by_chance", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _replicated(
    first: Fit, other: Fit, matched: pd.Series, bias: str, groups: Sequence[str]
) -> dict[str, Any]:
    old = first.associated[first.associated["bias"] == bias]
    old = old[old["group"].isin(groups)]
    new = other.associated[other.associated["bias"] == bias]
    if old.empty:
        nothing = dict.fromkeys(("replicated", "replicated_by_chance"), np.nan)
        return nothing | {"reason": "the first fit has no topic of a group"}
    keys = [*CORPUS, "topic"]
    there = old.assign(topic=old["topic"].map(matched))
    now = there.merge(new[[*keys, "group"]], on=keys, how="left", suffixes=("", "_now"))
    share = new.groupby([*CORPUS, "group"]).size() / other.model.model.num_topics
    by_chance = old.set_index([*CORPUS, "group"]).index.map(share)
    return {
        "group_topics": len(old), "replicated": float((now["group"] == now["group_now"]).mean()),
        "replicated_by_chance": float(pd.Series(by_chance).fillna(0).mean()), "reason": None,
    }  # fmt: skip


def spread(scores: pd.DataFrame) -> pd.DataFrame:
    """Summarise the mean distance over the fits, from the table of `scores`.

    Returns
    -------
    DataFrame
        By `bias` and cell: `fits` with a scored pair, and `mean`, `sd` (NaN with one), `min` and
        `max` of their mean distances.
    """
    by_fit = scores.groupby(["bias", *CELL, "seed"], sort=False)["score"].mean()
    grouped = by_fit.groupby(["bias", *CELL], sort=False)
    found = grouped.agg(fits="count", mean="mean", sd="std", min="min", max="max")
    return found.reset_index()


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    min_pairs: int = 1,
    chance: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Estimate document-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `pair_scores`; with several fits that of `fits.pair_scores`, one row per pair,
        bias and `seed`.
    lexicon
        The lists behind the scores.
    confidence
        Level of the intervals.
    min_pairs
        Scored pairs that a model needs to be compared on common articles.
    chance
        The table of `news.fits.chance`; without it `null` is NaN for distances and
        prejudice.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`, pooled over the fits (`pooling`): an interval holds the spread
        over articles and over fits. With one fit it takes the topics as given. N counts
        pairs, the fewest of any fit (articles: the shares of repeated answers to one are averaged
        first).

        - ``bias``: mean distance (Eq. 9); with `chance` its one-sided p, Holm's over the cells.
        - ``share_difference``: mean signed difference of a group's share; one-sample t-test
          against 0; `p_adjusted` is Holm's over all cells and groups of the table.
        - ``share_difference_common``: the same over the articles that every model of the
          source and prompt has a scored pair for, in every fit.
        - ``prejudice_share``: of all scored pairs, as the paper counts at this level, the share in
          which the answer has less of the group; Wilson interval.
        - ``prejudice_extent``: mean change in just those pairs, selected for falling.
    """
    known = {} if chance is None else {_claim(row): row for row in chance.to_dict("records")}
    scores = scores if "seed" in scores else scores.assign(seed=0)
    tables = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        rows: list[dict[str, Any]] = []
        one_each = per_article(of_bias, groups, by=["seed", *CELL, "article_id"])
        for cell, own in one_each.groupby(CELL, sort=False):
            key = dict(zip(CELL, cell, strict=True))
            for row in _estimate_cell(own, groups, confidence):
                lost = own["article_id"].nunique() - row.pop("eligible", row["n"])
                row = key | row | {"n_lost": lost}
                level = known.get(_claim(row | {"bias": bias}), {})
                names = ["null", "null_low", "null_high"]
                names += ["test", "p_value"] if row["statistic"] == "bias" else []
                rows.append(row | {name: level[name] for name in names if name in level})
        rows += _common(one_each, groups, confidence, min_pairs=min_pairs)
        for statistic in ("share_difference", "share_difference_common"):
            claims.adjust(rows, groups, statistic=statistic, mirrored=True)
        claims.adjust(rows, [""], statistic="bias", mirrored=False)
        instrument = of_bias["instrument"].iloc[0] + fits_named(of_bias["seed"].nunique())
        tables.append(
            nbbias_tables.estimates(
                rows, study="news_bias", measure="document", bias=bias, instrument=instrument
            )
        )
    nothing = nbbias_tables.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def fits_named(fits: int) -> str:
    """Return what the name of the instrument says of the fits."""
    return f", {fits} fits" if fits > 1 else ", one fit"


def per_article(scores: pd.DataFrame, groups: Sequence[str], *, by: list[str]) -> pd.DataFrame:
    """Average the shares of repeated answers; one row per `by`, lost where all answers are."""
    if not scores.duplicated(by).any():
        return scores
    differences = [f"difference_{group}" for group in groups]
    mean = scores[scores["reason"].isna()].groupby(by, sort=False)[differences].mean()
    mean["score"] = mean.abs().sum(axis=1) / 2
    first = scores.sort_values("reason", na_position="first", kind="stable").drop_duplicates(by)
    rest = first.drop(columns=mean.columns)
    table = scores[by].drop_duplicates().merge(rest, on=by)
    return table.merge(mean.reset_index(), on=by, how="left")


def _claim(row: dict[str, Any]) -> tuple[Any, ...]:
    group = row.get("group")
    return (*(row[key] for key in ("bias", *CELL, "statistic")), "" if pd.isna(group) else group)


def _estimate_cell(
    own: pd.DataFrame, groups: Sequence[str], confidence: float
) -> list[dict[str, Any]]:
    counted = own[own["reason"].isna()]
    nothing = counted.empty
    why = claims.why_none(own[own["seed"] == own["seed"].iloc[0]]) if nothing else topics.NO_TOPIC
    distance = stats.pooled_mean(by_fit(own, "score"), confidence=confidence, bounds=(0, 1))
    # Whether a distance is 0 is no question: chance answers another, where it was asked.
    distance |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
    rows = [{"statistic": "bias", **distance, "test": None}]
    rows += _differences(own, groups, why, confidence, statistic="share_difference")
    for group in groups:
        change = by_fit(own, f"difference_{group}")
        fell = (change < -topics.ROUNDING).where(change.notna()).astype(float)
        share = stats.pooled_share(fell, confidence=confidence)
        extent = stats.pooled_mean(change.where(fell == 1), confidence=confidence, bounds=(-1, 0))
        extent |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
        rows += [
            {"statistic": "prejudice_share", "group": group, **share},
            {"statistic": "prejudice_extent", "group": group, **extent, "test": None,
             "eligible": share["n"]},
        ]  # fmt: skip
    # Where nothing could be measured the reason is that of the pairs.
    return [row | ({"reason": why} if row["n"] == 0 and nothing else {}) for row in rows]


def by_fit(own: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a cell's values as articles by fits."""
    return own.pivot(index="article_id", columns="seed", values=value)


def _differences(
    own: pd.DataFrame, groups: Sequence[str], why: str, confidence: float, *, statistic: str
) -> list[dict[str, Any]]:
    rows = []
    for group in groups:
        values = by_fit(own, f"difference_{group}")
        row = stats.pooled_mean(values, confidence=confidence, bounds=(-1, 1))
        row |= {"reason": why} if row["n"] == 0 else {}
        rows.append({"statistic": statistic, "group": group, "null": 0.0, **row})
    return rows


def _common(
    scores: pd.DataFrame, groups: Sequence[str], confidence: float, *, min_pairs: int
) -> list[dict[str, Any]]:
    """Compare models on the articles that all of them have a counted pair for, in every fit.

    A fit that could score no pair at all does not count.
    """
    by = [*CELL, "article_id"]
    any_counted = scores["reason"].isna().groupby(scores["seed"]).transform("any")
    kept = scores[any_counted | ~any_counted.any()]
    # A pair that any of these fits could not score has that fit's reason here.
    worst = kept.sort_values("reason", kind="stable").drop_duplicates(by)
    first = scores[by].drop_duplicates().merge(worst, on=by)
    rows = []
    for key, own, used, why in claims.common_articles(first, min_pairs=min_pairs):
        chosen = scores.merge(used[by], on=by)
        found = _differences(chosen, groups, why, confidence, statistic="share_difference_common")
        rows += [key | row | {"n_lost": len(own) - row["n"]} for row in found]
    return rows


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
        What the scores were made from; `tokens` by text, as `text.topics.tokens` gives them.
    truncated
        As in `text.topics.shares`, for the scores.
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
        fit._replace(shares=text_topics.shares(fit.model, dealt_words, truncated=truncated))
        for fit in progress(fits, "chance by fit of topics")
    ]
    scores = pair_scores(table, redone, lexicon=lexicon)
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
        mean = claims.ratio(np.nansum(found, axis=0), counted)
        observed, dealt = mean[0], mean[1:]
        p = np.nan
        if statistic == "bias" and np.isfinite(observed) and np.nanstd(dealt) > ROUNDING:
            # One more deal would lie so many standard errors of prediction from their mean.
            error = np.nanstd(dealt, ddof=1) * np.sqrt(1 + 1 / draws)
            p = float(t.sf((observed - np.nanmean(dealt)) / error, draws - 1))
        rows.append({
            "statistic": statistic, "group": group, "observed": observed,
            "null": np.nan if np.isnan(dealt).all() else np.nanmean(dealt),
            **claims.spread(dealt, confidence), "p_value": p, "pairs": used,
            "test": f"words of {used} pairs dealt anew, {draws} times",
        })  # fmt: skip
    return rows
