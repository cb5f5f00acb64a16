"""Word-level bias of generated news against its human originals.

The measure of Fang et al. (2024), *Bias of AI-generated content*, Scientific
Reports 14:5224: which share of a text's group words belongs to each group
(Eq. 1, 2), how far the shares of a generated text h lie from those of its
original o (Eq. 3), on average over pairs (Eq. 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, nulls, stats, text
from nbbias.news import CELL

Row = dict[str, Any]

#: Why a pair has no word-level score, beyond what `news.pair` lost already.
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
        PAIRS of `news.pair`.
    matches
        The table of `text.annotate` over `side_texts`.
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
    return contracts.check(pd.concat(tables, ignore_index=True), contracts.SCORES)


def _score_bias(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, bias: str, groups: Sequence[str]
) -> pd.DataFrame:
    own = matches[matches["bias"] == bias]
    counts = text.count(own, by=["text_id"], groups=groups).set_index("text_id")
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(bias=bias)
    for side, texts in (("h", pairs["generated_text"]), ("o", pairs["original_text"])):
        found = counts.reindex(texts).fillna(0).to_numpy(dtype=int)
        table = table.assign(**{f"{side}_{group}": found[:, i] for i, group in enumerate(groups)})
    return measure(table, groups).drop(columns="lost")


def measure(counted: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Add what Eq. 1 to 3 make of the counts `h_<group>`, `o_<group>`; see `word_scores`."""
    h, o = _sides(counted, groups)
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


def _sides(counted: pd.DataFrame, groups: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    h, o = (counted[[f"{side}_{g}" for g in groups]].to_numpy(dtype=int) for side in "ho")
    return h, o


def losses(scores: pd.DataFrame) -> pd.DataFrame:
    """Count what was lost at each step, by cell; the parts add up to the pairs.

    Returns
    -------
    DataFrame
        The cell, `bias` and, where there are several, `instrument`; `pairs`, a column per reason
        that occurs, and `counted`.
    """
    keys = [*CELL, "bias", *(["instrument"] if scores["instrument"].nunique() > 1 else [])]
    reasons = scores["reason"].fillna("counted")
    table = pd.crosstab([scores[key] for key in keys], reasons)
    order = [name for name in table.columns if name != "counted"]
    if "counted" not in table:
        table["counted"] = 0
    table.insert(0, "pairs", table.sum(axis=1))
    table.columns.name = None
    return table[["pairs", *order, "counted"]].reset_index()


# --- estimates --------------------------------------------------------------------------------


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
    nothing = contracts.estimates([], study="news_bias")
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
        why = why_none(own)
        found = [
            *_distances(counted, groups, why, confidence=confidence, draws=draws, rng=rng),
            *_differences(counted, groups, why, confidence),
        ]
        for row in found:
            lost = len(own) - row.pop("eligible", row["n"])
            rows.append(key | row | {"n_lost": lost})
    rows += _common(scores, groups, confidence, min_pairs=min_pairs)
    for statistic in ("share_difference", "share_difference_common"):
        adjust(rows, groups, statistic=statistic, mirrored=True)
    adjust(rows, [""], statistic="bias", mirrored=False)
    return contracts.estimates(
        rows, study="news_bias", measure="word", bias=bias, instrument="word list"
    )


def why_none(own: pd.DataFrame) -> str:
    """Say why no pair of a cell counts."""
    reasons = own["reason"].dropna().value_counts()
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.items()) or "no pairs"


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
    h, o = _sides(counted, groups)
    absolute, below, fall, present = nulls.expected_differences(h, o)
    drawn = nulls.permuted_counts(h, o, draws=draws, rng=rng)
    d = drawn / h.sum(1)[:, None] - (h + o - drawn) / o.sum(1)[:, None]
    means = (np.abs(d).sum(axis=2) / 2).mean(axis=1)
    distance |= {
        "null": absolute.sum(axis=1).mean() / 2, **spread(means, confidence),
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
        shares = ratio(down[:, :, i].sum(1), there[:, :, i].sum(1))
        extents = ratio((d[:, :, i] * down[:, :, i]).sum(1), down[:, :, i].sum(1))
        rows += [
            {"statistic": "prejudice_share", "group": group, **share,
             "null": ratio(below[:, i].sum(), present[:, i].sum()), **spread(shares, confidence)},
            {"statistic": "prejudice_extent", "group": group, **extent,
             "null": ratio(fall[:, i].sum(), below[:, i].sum()), **spread(extents, confidence),
             "eligible": int(has.sum())},
        ]  # fmt: skip
    return rows


def ratio(part: Any, whole: Any) -> Any:
    """Divide, giving NaN where there is nothing to divide by."""
    return np.divide(
        part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0
    )[()]


def spread(values: np.ndarray, confidence: float) -> dict[str, float]:
    """Return the range of a chance level from its draws: `null_low`, `null_high`."""
    if np.isnan(values).all():
        return {"null_low": np.nan, "null_high": np.nan}
    low, high = np.nanquantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"null_low": float(low), "null_high": float(high)}


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
    for key, own, used, why in common_articles(scores, min_pairs=min_pairs):
        found = _differences(used, groups, why, confidence, statistic=statistic)
        rows += [key | row | {"n_lost": len(own) - row["n"]} for row in found]
    return rows


def common_articles(
    scores: pd.DataFrame, *, min_pairs: int
) -> Iterator[tuple[Row, pd.DataFrame, pd.DataFrame, str]]:
    """Find, for every model, its pairs on the articles that all models have a counted pair for.

    A model with few counted pairs would leave the others next to none: it is left out.

    Parameters
    ----------
    scores
        SCORES of one bias, one row per article and cell.
    min_pairs
        Counted pairs that a model needs to be compared.

    Yields
    ------
    key, own, used, why
        By source, prompt and model: the key, all its rows, those on common articles (none
        where the model is left out), and why there are none if there are none.
    """
    counted = scores[scores["reason"].isna()]
    for (source, prompt), own in scores.groupby(["source", "prompt"], sort=False):
        models = own["model"].unique()
        here = counted[(counted["source"] == source) & (counted["prompt"] == prompt)]
        sizes = here["model"].value_counts().reindex(models, fill_value=0)
        enough = sizes.index[sizes >= min_pairs]
        held = here[here["model"].isin(enough)].groupby("article_id")["model"].nunique()
        shared = held.index[held == len(enough)] if len(enough) else held.index[:0]
        for model in models:
            of_model = own[own["model"] == model]
            of_shared = here["article_id"].isin(shared) & (model in enough)
            used = here[(here["model"] == model) & of_shared]
            why = "no article is common to all models"
            if model not in enough:
                few = f"left out: {sizes[model]} counted pairs, fewer than {min_pairs}"
                why = few if sizes[model] else why_none(of_model)
            key = {"source": source, "prompt": prompt, "model": model}
            yield key, of_model, used, why


def adjust(rows: list[Row], groups: Sequence[str], *, statistic: str, mirrored: bool) -> None:
    """Correct one family of tests in place, by Holm's method over all cells and groups.

    Parameters
    ----------
    rows
        Rows of ESTIMATES to be; those of other statistics stay as they are.
    groups
        The groups tested.
    statistic
        The family.
    mirrored
        Whether, of two groups, one test is the other's mirror image and counts once.
    """
    tested = groups[:1] if mirrored and len(groups) == 2 else groups
    family = [r for r in rows if r["statistic"] == statistic and r.get("group", "") in tested]
    corrected = stats.adjusted(pd.Series([r.get("p_value", np.nan) for r in family], dtype=float))
    by_key = {_cell(r, r.get("group", "")): p for r, p in zip(family, corrected, strict=True)}
    for row in rows:
        if row["statistic"] == statistic:
            group = row.get("group", "")
            group = group if group in tested else tested[0]
            row["p_adjusted"] = by_key[_cell(row, group)]


def _cell(row: Mapping[str, Any], group: str) -> tuple[str, ...]:
    return (*(row[key] for key in CELL), group)
