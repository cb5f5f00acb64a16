"""Word-level scores: the shares of group words in an answer and its original, pair by pair.

Word-level bias of generated news against its human originals.

The measure of Fang et al. (2024), *Bias of AI-generated content*, Scientific
Reports 14:5224: which share of a text's group words belongs to each group
(Eq. 1, 2), how far the shares of a generated text h lie from those of its
original o (Eq. 3), on average over pairs (Eq. 4).

The distance that chance gives when whole sentences, not single words, change sides.

Group words come in clusters: a sentence about a woman says "she" and "her". Two
texts by one writer therefore differ by more than independent word draws would
have it. Here the group words of a sentence stay together when they are permuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables, tables as nbbias_tables
from nbbias.news import claims
from nbbias.news.claims import adjust, ratio, spread, why_none
from nbbias.news.corpus import CELL
from nbbias.tables import SCORES, check
from nbbias.text import annotate, lexicons

#: Why a pair has no word-level score, beyond what `news.corpus.pair` lost already.
NO_WORDS = {
    (False, True): "no group words in the answer",
    (True, False): "no group words in the original",
    (False, False): "no group words in either",
}


def side_texts(pairs: pd.DataFrame) -> pd.Series:
    """Return both sides' texts of the pairs that can be measured, each text once.

    Returns
    -------
    Series
        Indexed by the text itself: a text that serves several pairs is read once.
    """
    usable = pairs[pairs["lost"].isna()]
    both = pd.concat([usable["original_text"], usable["generated_text"]]).drop_duplicates()
    return pd.Series(both.to_numpy(), index=pd.Index(both.to_numpy(), name="text_id"))


def word_scores(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Score every pair at the word level, for every bias of a lexicon.

    Parameters
    ----------
    pairs
        PAIRS of `news.corpus.pair`.
    matches
        The table of `text.annotate.annotate` over `side_texts`.
    lexicon
        The lists that were searched; each bias has M ≥ 2 groups.

    Returns
    -------
    DataFrame
        SCORES, one row per pair and bias, lost ones too: the pair's keys; counts `h_<group>`
        (answer) and `o_<group>` (original); `n` (group words of both); `score`, the Wasserstein
        distance with 0/1 ground metric (Eq. 3: total variation, in [0, 1], 0: equal shares);
        `difference_<group>` (share in the answer minus share in the original, in [-1, 1]; below
        0: a smaller share); `squared`, free of text length: sum over groups of (p - q)^2 less
        p(1-p)/(n_h-1) and q(1-q)/(n_o-1), halved, so that for two groups it is one group's squared
        difference. If words are drawn independently, its expectation is the squared distance of
        the underlying shares (so it may be negative); NaN where a side has one group word;
        and `reason`, why a score is NaN. Columns of other biases' groups are NaN.
    """
    tables = [
        _score_bias(pairs, matches, bias=bias, groups=lexicons.groups(lexicon, bias))
        for bias in lexicon["bias"].unique()
    ]
    return check(pd.concat(tables, ignore_index=True), SCORES)


def _score_bias(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, bias: str, groups: Sequence[str]
) -> pd.DataFrame:
    own = matches[matches["bias"] == bias]
    counts = annotate.count(own, by=["text_id"], groups=groups).set_index("text_id")
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(bias=bias)
    for side, texts in (("h", pairs["generated_text"]), ("o", pairs["original_text"])):
        found = counts.reindex(texts).fillna(0).to_numpy(dtype=int)
        table = table.assign(**{f"{side}_{group}": found[:, i] for i, group in enumerate(groups)})
    return measure(table, groups).drop(columns="lost")


def measure(counted: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Add what Eq. 1 to 3 make of the counts `h_<group>`, `o_<group>`; see `word_scores`."""
    h, o = sides(counted, groups)
    n_h, n_o = h.sum(axis=1), o.sum(axis=1)
    p, q = _shares(h), _shares(o)
    d = p - q
    reason = counted["lost"].copy()
    for (has_h, has_o), why in NO_WORDS.items():
        reason[reason.isna() & ((n_h > 0) == has_h) & ((n_o > 0) == has_o)] = why
    there = reason.isna().to_numpy()
    squared = ((d**2).sum(axis=1) - noise(p, n_h) - noise(q, n_o)) / 2
    return counted.assign(
        measure="word", n=n_h + n_o, score=np.where(there, np.abs(d).sum(axis=1) / 2, np.nan),
        **{f"difference_{g}": np.where(there, d[:, i], np.nan) for i, g in enumerate(groups)},
        squared=np.where(there, squared, np.nan), instrument="word list", reason=reason,
    )  # fmt: skip


def pooled(scores: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Pool repeated answers to one article: the article is the unit, not the answer.

    The group words of all samples are counted together, as if they were one answer; a lost sample
    adds none. Without repeats the table stays as it is.
    """
    keys = [*CELL, "article_id"]
    if not scores.duplicated(keys).any():
        return scores
    counts = {f"h_{g}": "sum" for g in groups} | {f"o_{g}": "first" for g in groups}
    usable = scores.assign(lost=scores["reason"].where(~scores["reason"].isin(NO_WORDS.values())))
    # Samples that can be used come first, so that one of them stands for the article.
    first = usable.sort_values("lost", na_position="first", kind="stable")
    one = first.groupby(keys, sort=False)[["pair_id", "bias", "lost"]].first(skipna=False)
    kept = usable[usable["lost"].isna()].groupby(keys, sort=False).agg(counts)
    table = one.join(kept).fillna(dict.fromkeys(counts, 0)).reset_index()
    return measure(table, groups)


def _shares(counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)


def noise(shares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return what sampling n words adds to a squared difference: the sum of p(1-p)/(n-1)."""
    spread = (shares * (1 - shares)).sum(axis=1)
    return np.divide(spread, n - 1, out=np.full(len(n), np.nan), where=n > 1)


def sides(counted: pd.DataFrame, groups: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    h, o = (counted[[f"{side}_{g}" for g in groups]].to_numpy(dtype=int) for side in "ho")
    return h, o


Row = dict[str, Any]


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    draws: int = 1000,
    min_pairs: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate word-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `word_scores`.
    lexicon
        The lists behind the scores.
    confidence
        Level of the intervals and of the range of each chance level.
    draws, seed
        Permutations behind the range of a chance level (its mean is exact), and their start.
    min_pairs
        Counted pairs that a model needs to be compared on common articles.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`; N counts pairs:

        - ``bias``: mean distance (Eq. 4). Chance: group words permuted between the two texts of a
          pair. One-sided permutation p, `p_adjusted` Holm's over the cells. `excess` is distance
          beyond independent word draws: it may be negative, and is not comparable across lengths.
        - ``share_difference``: mean signed difference of a group's share (Table 1); one-sample
          t-test against 0; `p_adjusted` is Holm's over all cells and groups of the table.
        - ``share_difference_common``: the same over the articles that every model of the source and
          prompt has a counted pair for, so that models are compared on equal articles; models with
          fewer than `min_pairs` counted pairs are left out.
        - ``prejudice_share``: of the pairs whose original has words of the group, the share in
          which the answer gives it a smaller share; Wilson interval; chance as for ``bias``.
        - ``prejudice_extent``: mean change in just those pairs. They were selected for falling,
          so chance alone is far below 0 and it is not tested against 0.
        - ``squared_distance``: mean of the length-free squared distance; ``rms_distance``: its
          root.

        `n_lost` counts the cell's pairs that could not enter: lost before, without group words,
        or, for prejudice, with an original that does not name the group.
    """
    tables = [
        _estimate_bias(
            own, lexicons.groups(lexicon, str(bias)), bias=str(bias), confidence=confidence,
            draws=draws, min_pairs=min_pairs, rng=np.random.default_rng(seed),
        )
        for bias, own in scores.groupby("bias", sort=False)
    ]  # fmt: skip
    nothing = nbbias_tables.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def _estimate_bias(
    scores: pd.DataFrame, groups: Sequence[str],
    *, bias: str, confidence: float, draws: int, min_pairs: int, rng: np.random.Generator,
) -> pd.DataFrame:  # fmt: skip
    rows: list[Row] = []
    scores = pooled(scores, groups)
    for cell, own in scores.groupby(CELL, sort=False):
        key = dict(zip(CELL, cell, strict=True))
        counted = own[own["reason"].isna()]
        why = claims.why_none(own)
        found = [
            *_distances(counted, groups, why, confidence=confidence, draws=draws, rng=rng),
            *_differences(counted, groups, why, confidence),
        ]
        for row in found:
            lost = len(own) - row.pop("eligible", row["n"])
            rows.append(key | row | {"n_lost": lost})
    rows += _common(scores, groups, confidence, min_pairs=min_pairs)
    for statistic in ("share_difference", "share_difference_common"):
        claims.adjust(rows, groups, statistic=statistic, mirrored=True)
    claims.adjust(rows, [""], statistic="bias", mirrored=False)
    return tables.estimates(
        rows, study="news_bias", measure="word", bias=bias, instrument="word list"
    )


def _distances(
    counted: pd.DataFrame, groups: Sequence[str], why: str,
    *, confidence: float, draws: int, rng: np.random.Generator,
) -> list[Row]:  # fmt: skip
    """Everything that has a permutation as its chance level, and the length-free distance."""
    distance = {
        "statistic": "bias",
        **stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, 1)),
    }
    if counted.empty:
        named = [("prejudice_share", g) for g in groups] + [("prejudice_extent", g) for g in groups]
        empty = [*named, ("squared_distance", None), ("rms_distance", None)]
        nothing = {"estimate": np.nan, "n": 0, "reason": why}
        return [distance | {"reason": why}] + [
            {"statistic": statistic, "group": group, **nothing} for statistic, group in empty
        ]
    h, o = sides(counted, groups)
    absolute, below, fall, present = stats.expected_differences(h, o)
    drawn = stats.permuted_counts(h, o, draws=draws, rng=rng)
    d = drawn / h.sum(1)[:, None] - (h + o - drawn) / o.sum(1)[:, None]
    means = (np.abs(d).sum(axis=2) / 2).mean(axis=1)
    distance |= {
        "null": absolute.sum(axis=1).mean() / 2, **claims.spread(means, confidence),
        "test": "permutation",
        "p_value": (1 + (means >= distance["estimate"] - 1e-12).sum()) / (1 + draws),
    }  # fmt: skip
    rows = [distance, *_squared(counted["squared"], confidence)]
    down = drawn * o.sum(1)[:, None] < (h + o - drawn) * h.sum(1)[:, None]
    there = h + o - drawn > 0
    for i, group in enumerate(groups):
        change = counted[f"difference_{group}"].to_numpy()
        has = o[:, i] > 0
        fell = has & (h[:, i] * o.sum(1) < o[:, i] * h.sum(1))
        share = stats.proportion_interval(int(fell.sum()), int(has.sum()), confidence=confidence)
        extent = stats.mean_interval(change[fell], confidence=confidence, bounds=(-1, 0))
        # Chance decides, too, which originals have words of the group: ratios of sums over pairs.
        shares = claims.ratio(down[:, :, i].sum(1), there[:, :, i].sum(1))
        extents = claims.ratio((d[:, :, i] * down[:, :, i]).sum(1), down[:, :, i].sum(1))
        rows += [
            {"statistic": "prejudice_share", "group": group, **share,
             "null": claims.ratio(below[:, i].sum(), present[:, i].sum()),
             **claims.spread(shares, confidence)},
            {"statistic": "prejudice_extent", "group": group, **extent,
             "null": claims.ratio(fall[:, i].sum(), below[:, i].sum()),
             **claims.spread(extents, confidence),
             "eligible": int(has.sum())},
        ]  # fmt: skip
    return rows


def _squared(squared: pd.Series, confidence: float) -> list[Row]:
    row = stats.mean_interval(squared, confidence=confidence, bounds=(-1, 1))
    below = row["estimate"] < 0
    reason = "the mean square is below 0: no distance beyond sampling; the root is set to 0"
    root = row | {
        name: np.sqrt(max(row[name], 0.0)) if np.isfinite(row[name]) else np.nan
        for name in ("estimate", "ci_low", "ci_high")
    }
    if row["ci_high"] < 0:  # not "exactly 0": words are copied, so the draws are not independent
        root |= {"ci_low": np.nan, "ci_high": np.nan}
    return [
        {"statistic": "squared_distance", "null": 0.0, **row},
        {"statistic": "rms_distance", **root, "reason": reason if below else row["reason"]},
    ]


def _differences(
    counted: pd.DataFrame, groups: Sequence[str], why: str, confidence: float,
    *, statistic: str = "share_difference",
) -> list[Row]:  # fmt: skip
    rows = []
    for group in groups:
        row = stats.one_sample(
            counted[f"difference_{group}"], confidence=confidence, bounds=(-1, 1)
        )
        if row["n"] == 0:
            row["reason"] = why
        rows.append({"statistic": statistic, "group": group, "null": 0.0, **row})
    return rows


def _common(
    scores: pd.DataFrame, groups: Sequence[str], confidence: float, *, min_pairs: int
) -> list[Row]:
    """Compare models on the articles that all of them have a counted pair for."""
    rows: list[Row] = []
    statistic = "share_difference_common"
    for key, own, used, why in claims.common_articles(scores, min_pairs=min_pairs):
        found = _differences(used, groups, why, confidence, statistic=statistic)
        rows += [key | row | {"n_lost": len(own) - row["n"]} for row in found]
    return rows


def by_sentence(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    matches: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Give the mean distance its chance level under permutation of sentences.

    Parameters
    ----------
    scores
        The table of `news.words.word_scores`.
    pairs, matches
        What the scores were made from.
    lexicon
        The lists behind the scores.
    confidence, draws, seed
        Level of the range, permutations, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES whose `statistic` ends in ``_by_sentence``: the same `estimate` and interval as
        ``bias``, ``squared_distance``, ``prejudice_share`` and ``prejudice_extent`` of
        `estimates`, with another `null`: their values when the sentences with group words
        are dealt out anew between the two texts of each pair, as many to each as it had. Of the
        distance also a one-sided `p_value`, Holm's over the cells.
    """
    tables = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        blocks = _blocks(matches[matches["bias"] == bias], groups)
        rng = np.random.default_rng(seed)
        rows: list[dict[str, Any]] = []
        for cell, own in of_bias.groupby(CELL, sort=False):
            key = dict(zip(CELL, cell, strict=True))
            chance = _chance(own, pairs, blocks, groups, draws=draws, rng=rng)
            rows += [key | row for row in _rows(pooled(own, groups), groups, chance, confidence)]
        adjust(rows, [""], statistic="bias_by_sentence", mirrored=False)
        table = nbbias_tables.estimates(
            rows, study="news_bias", measure="word", bias=str(bias), instrument="word list"
        )
        tables.append(table)
    nothing = nbbias_tables.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def _blocks(matches: pd.DataFrame, groups: list[str]) -> dict[str, np.ndarray]:
    """Return every text's sentences that have group words: an array, sentences by groups."""
    counts = annotate.count(matches, by=["text_id", "sentence_id"], groups=groups)
    columns = [f"n_{group}" for group in groups]
    return {
        one: own[columns].to_numpy(dtype=int) for one, own in counts.groupby("text_id", sort=False)
    }


def _chance(
    own: pd.DataFrame, pairs: pd.DataFrame, blocks: dict[str, np.ndarray], groups: list[str],
    *, draws: int, rng: np.random.Generator,
) -> dict[str, np.ndarray] | None:  # fmt: skip
    """Deal out the sentences of every article's answers and original; sum over articles."""
    counted = own[own["reason"].isna()]
    if counted.empty:
        return None
    texts = pairs.set_index("pair_id").loc[counted["pair_id"]]
    shape = (draws, len(groups))
    sums = {"distance": np.zeros(draws), "squared": np.zeros(draws), "squared_n": np.zeros(draws)}
    sums |= {name: np.zeros(shape) for name in ("fell", "change", "there")}
    for _, article in texts.groupby("article_id", sort=False):
        answers = np.vstack([blocks[one] for one in article["generated_text"].unique()])
        h, o = dealt(answers, blocks[article["original_text"].iloc[0]], draws=draws, rng=rng)
        n_h, n_o = h.sum(axis=1), o.sum(axis=1)
        p, q = h / n_h[:, None], o / n_o[:, None]
        d = p - q
        fell = h * n_o[:, None] < o * n_h[:, None]
        sums["distance"] += np.abs(d).sum(axis=1) / 2
        squared = ((d**2).sum(axis=1) - noise(p, n_h) - noise(q, n_o)) / 2
        sums["squared"] += np.nan_to_num(squared)
        sums["squared_n"] += ~np.isnan(squared)
        sums["fell"] += fell
        sums["change"] += np.where(fell, d, 0.0)
        sums["there"] += o > 0
    sums["distance"] /= texts["article_id"].nunique()
    return sums


def _rows(
    own: pd.DataFrame, groups: list[str], chance: dict[str, np.ndarray] | None, confidence: float
) -> list[dict[str, Any]]:
    """Put each estimate beside its chance level by sentences."""
    counted = own[own["reason"].isna()]
    lost = {"n_lost": len(own) - len(counted)}
    distance = stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, 1))
    squared = stats.mean_interval(counted["squared"], confidence=confidence, bounds=(-1, 1))
    rows = [
        {"statistic": "bias_by_sentence", **distance, **lost},
        {"statistic": "squared_distance_by_sentence", **squared, "n_lost": len(own) - squared["n"]},
    ]
    if chance is None:
        gap = {"estimate": np.nan, "n": 0, "n_lost": len(own), "reason": why_none(own)}
        kinds = ("prejudice_share_by_sentence", "prejudice_extent_by_sentence")
        rows += [{"statistic": kind, "group": group} for group in groups for kind in kinds]
        return [row | gap for row in rows]
    reached = (chance["distance"] >= distance["estimate"] - 1e-12).sum()
    p = (1 + reached) / (1 + len(chance["distance"]))
    rows[0] |= _null(chance["distance"], confidence) | {"p_value": p}
    rows[1] |= _null(ratio(chance["squared"], chance["squared_n"]), confidence)
    for i, group in enumerate(groups):
        change = counted[f"difference_{group}"]
        has = counted[f"o_{group}"] > 0
        fell = has & (change < -1e-12)
        share = stats.proportion_interval(int(fell.sum()), int(has.sum()), confidence=confidence)
        extent = stats.mean_interval(change[fell], confidence=confidence, bounds=(-1, 0))
        missing = {"group": group, "n_lost": len(own) - int(has.sum())}
        shares = ratio(chance["fell"][:, i], chance["there"][:, i])
        extents = ratio(chance["change"][:, i], chance["fell"][:, i])
        rows += [
            {"statistic": "prejudice_share_by_sentence", **share, **missing,
             **_null(shares, confidence)},
            {"statistic": "prejudice_extent_by_sentence", **extent, **missing,
             **_null(extents, confidence)},
        ]  # fmt: skip
    return [row | {"test": "permutation of sentences"} for row in rows]


def _null(values: np.ndarray, confidence: float) -> dict[str, float]:
    measured = values[~np.isnan(values)]
    middle = float(measured.mean()) if len(measured) else np.nan
    return {"null": middle, **spread(values, confidence)}


def dealt(
    first: np.ndarray, second: np.ndarray, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Deal the sentences of two texts out anew.

    Parameters
    ----------
    first, second
        Counts of group words, sentences by groups; at least one sentence each.
    draws
        Deals; each gives the first text as many sentences as it had.
    rng
        The source of chance.

    Returns
    -------
    (first, second) : arrays, draws by groups
        The texts' counts after each deal.
    """
    both = np.vstack([first, second])
    order = rng.random((draws, len(both))).argsort(axis=1)[:, : len(first)]
    h = both[order].sum(axis=1)
    return h, both.sum(axis=0) - h
