"""How often the word lists are wrong, by people's labels, and what the estimates are without that.

Precision and recall are of strata: each counts by its size. What they could be as well is drawn
from Dirichlet distributions of each stratum's labels (Perks' prior: one label, shared among all
that a label could be), and every interval holds that spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats as distributions

from nbbias import stats
from nbbias.news import claims, words
from nbbias.news.corpus import NEUTRAL
from nbbias.news.labels import NOBODY, SEVERAL, WHOLE, WORD, Labelled
from nbbias.stats import InferenceSettings
from nbbias.tables import ESTIMATE_KEYS

Row = dict[str, Any]

#: The sides of a pair as people read them: human originals, models' answers, and both.
SIDES = {"o": "human", "h": "answers"}
BOTH = "both"


class Rates(NamedTuple):
    """How the lists err on one bias: the first of each array is of the labels, the rest are draws.

    Sides are human, then answers; groups as in the list.

    Attributes
    ----------
    words : array
        What words named: draws by sides by listed group by true group (and, last, nobody).
    recall : array
        Of the sentences about a group, the share that has a word of it: draws by sides by groups.
    sentences : array
        What sentences were about: draws by sides by found (groups, several, nobody) by true group
        (and, last, none of them).
    sizes : array
        Sentences there are: sides by found.
    of_words : array
        Words there are: sides by groups.
    """

    words: np.ndarray
    recall: np.ndarray
    sentences: np.ndarray
    sizes: np.ndarray
    of_words: np.ndarray


def rates(labelled: Labelled, bias: str, *, inference: InferenceSettings) -> Rates:
    """Return how the lists of a bias err, by labels.

    Returns
    -------
    Rates
        NaN where a stratum that holds something has no label.
    """
    groups = labelled.groups[bias]
    rng = np.random.default_rng(inference.seed)
    counted, sizes = _counts(labelled, bias, WORD, groups, [*groups, NOBODY])
    named = _shares(counted, sizes, np.ones_like(counted[0], bool), rng, inference.n_permutations)
    # A sentence about a group has a word of it, or not: which of these can be hangs on what it has.
    found = [*groups, SEVERAL, NOBODY]
    kinds = [*groups, *(("missed", group) for group in groups), NOBODY]
    told, there = _counts(labelled, bias, WHOLE, found, kinds)
    n = len(groups)
    can = np.ones((len(found), len(kinds)), bool)
    can[:n, n : 2 * n] = ~np.eye(n, dtype=bool)
    can[-1, :n] = False
    about = _shares(told, there, can, rng, inference.n_permutations)
    by_size = np.where(there[..., None] > 0, about * there[..., None], 0).sum(axis=-2)
    hit, missed = by_size[..., :n], by_size[..., n : 2 * n]
    recall = np.divide(hit, hit + missed, out=np.full(hit.shape, np.nan), where=hit + missed > 0)
    whole = np.concatenate([about[..., :n] + about[..., n : 2 * n], about[..., -1:]], axis=-1)
    return Rates(named, recall, whole, there, sizes)


def _counts(
    labelled: Labelled, bias: str, ask: str, found: list[str], kinds: list[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Count labels by side, what was found and what it is; and all there is, by the first two."""
    rows = labelled.rows
    rows = rows[(rows["bias"] == bias) & (rows["ask"] == ask)]
    none = rows["label"].isin([NOBODY, SEVERAL])
    is_missed = (ask == WHOLE) & ~rows["hit"] & ~none
    kind = [
        NOBODY if nobody else ("missed", label) if missed else label
        for label, missed, nobody in zip(rows["label"], is_missed, none, strict=True)
    ]
    place = {one: i for i, one in enumerate(kinds)}
    counted = np.zeros((len(SIDES), len(found), len(kinds)))
    at = [list(SIDES).index(side) for side in rows["side"]]
    np.add.at(
        counted, (at, [found.index(one) for one in rows["found"]], [place[k] for k in kind]), 1
    )
    sizes = np.array(
        [[labelled.sizes.get((bias, ask, side, one), 0) for one in found] for side in SIDES], float
    )
    return counted, sizes


def _shares(
    counted: np.ndarray, sizes: np.ndarray, can: np.ndarray, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """Return the shares of each stratum's labels, and draws of what they could be as well."""
    total = counted.sum(axis=-1, keepdims=True)
    seen = np.divide(counted, total, out=np.full(counted.shape, np.nan), where=total > 0)
    gammas = rng.standard_gamma(
        counted + can / can.sum(axis=-1, keepdims=True), (draws, *counted.shape)
    )
    drawn = np.where(total > 0, gammas / gammas.sum(axis=-1, keepdims=True), np.nan)
    both = np.concatenate([seen[None], drawn])
    return np.where((total == 0) & (sizes[..., None] == 0), 0.0, both)


# --- precision and recall ---------------------------------------------------------------------


def accuracy(labelled: Labelled, *, inference: InferenceSettings) -> pd.DataFrame:
    """Return precision and recall of group words and of sentence groups.

    Parameters
    ----------
    labelled
        What `labels.labelled` found.
    inference
        Level of the intervals, draws behind them, and their start.

    Returns
    -------
    DataFrame
        `bias`, `of` (``"group words"``, ``"sentence groups"``), `group`, `statistic`, `side`
        (``"human"``, ``"answers"``, ``"both"``), `estimate`, `ci_low`, `ci_high`, `n` (the labels
        behind it) and `reason`. Precision of words: of the group's words, those that name it.
        Recall of words: of the sentences about the group, those with a word of it. Precision and
        recall of sentence groups: of the sentences that were given a group, those about it, and the
        reverse; of ``"neutral"`` ones, those about none of them or several alike.

    Examples
    --------
    Of ten words for women nine name one:

    >>> rows = pd.DataFrame({"bias": "b", "ask": WORD, "side": "o", "found": "she", "hit": True,
    ...                      "label": ["she"] * 9 + [NOBODY]})
    >>> sizes = rows.groupby(["bias", "ask", "side", "found"]).size()
    >>> found = accuracy(
    ...     Labelled(rows, sizes, {"b": ["she", "he"]}),
    ...     inference=InferenceSettings(n_permutations=500),
    ... )
    >>> print(*found.loc[found["side"] == "human", ["of", "statistic", "estimate"]].iloc[0])
    group words precision 0.9
    """
    rows: list[Row] = []
    for bias, groups in labelled.groups.items():
        found = rates(labelled, bias, inference=inference)
        own = labelled.rows[labelled.rows["bias"] == bias]
        for i, group in enumerate([*groups, NEUTRAL]):
            for (of, statistic), by_side in _of_group(found, i, len(groups)).items():
                behind = own[own["ask"] == (WORD if of == "group words" else WHOLE)]
                if statistic == "precision":
                    behind = behind[
                        behind["found"].isin([group] if group != NEUTRAL else [NOBODY, SEVERAL])
                    ]
                for side, values in by_side.items():
                    n = len(behind if side == BOTH else behind[behind["side"].map(SIDES) == side])
                    key = {"bias": bias, "of": of, "group": group, "statistic": statistic}
                    rows.append(
                        key | {"side": side} | _told(values, inference.confidence) | {"n": n}
                    )
    return pd.DataFrame(rows)


def _of_group(found: Rates, i: int, n: int) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Return the draws of a group's rates: by what and statistic, then by side."""
    given = [i] if i < n else [n, n + 1]
    size = found.sizes[:, given]
    right = np.where(size > 0, found.sentences[:, :, given, i] * size, 0).sum(axis=-1)
    is_so = np.where(found.sizes > 0, found.sentences[..., i] * found.sizes, 0).sum(axis=-1)
    parts = {}
    if i < n:
        of = found.of_words[:, i]
        named = np.where(of > 0, found.words[:, :, i, i] * of, 0)
        hit = np.where(is_so > 0, found.recall[..., i] * is_so, 0)
        parts["group words", "precision"] = named, of[None]
        parts["group words", "recall"] = hit, is_so
    parts["sentence groups", "precision"] = right, size.sum(axis=-1)[None]
    parts["sentence groups", "recall"] = right, is_so
    return {key: _by_side(*both) for key, both in parts.items()}


def _by_side(part: np.ndarray, whole: np.ndarray) -> dict[str, np.ndarray]:
    sides = {
        name: claims.ratio(part[:, i], np.broadcast_to(whole, part.shape)[:, i])
        for i, name in enumerate(SIDES.values())
    }
    return {
        BOTH: claims.ratio(part.sum(axis=1), np.broadcast_to(whole, part.shape).sum(axis=1)),
        **sides,
    }


def _told(values: np.ndarray, confidence: float) -> Row:
    """Return the first value, with the interval of the others, or why there is none."""
    estimate = float(values[0])
    low, high = stats.percentile_interval(values[1:], estimate=estimate, confidence=confidence)
    why = "no label tells" if np.isnan(estimate) else None
    return {"estimate": estimate, "ci_low": low, "ci_high": high, "reason": why}


# --- estimates without the errors -------------------------------------------------------------

#: What stands beside what: the estimate as counted, and corrected.
RAW = {"estimate": "raw", "ci_low": "raw_low", "ci_high": "raw_high"}
_KEYS = [key for key in ESTIMATE_KEYS if key != "study"]


def corrected(
    labelled: Labelled,
    levels: Iterable[claims.Level],
    *,
    inference: InferenceSettings,
    min_pairs: int = 1,
) -> pd.DataFrame:
    """Correct estimates for what the lists get wrong.

    Shares of words: each text's words are counted as what they name by the labels of their side,
    over the recall of that side, so a list that misses more in answers than in originals is no
    difference between them. Shifts beyond neutral prose: the sentences that were given a group are
    a mixture of those about it and others, and so is neutral prose; the shifts of the parts are
    solved for, as if the lists erred alike on both sides and whatever the tone.

    Parameters
    ----------
    labelled
        What `labels.labelled` found.
    levels
        Those of words and of tone; others are passed over.
    inference
        Level of the intervals, draws, and their start.
    min_pairs
        As for the estimates.

    Returns
    -------
    DataFrame
        The keys and `instrument` of ESTIMATES; `raw`, `raw_low`, `raw_high`: as they stand there;
        `estimate`, `ci_low`, `ci_high`: corrected, where the interval holds what articles and what
        labels leave open; `n` articles; `reason`. No test: the same claim, read with more care.
    """
    rows: list[Row] = []
    raw = []
    for level in levels:
        for bias, own in level.scores.groupby("bias", sort=False):
            found = rates(labelled, str(bias), inference=inference)
            groups = labelled.groups[str(bias)]
            named = {"word": _words, "sentiment": _tone}
            for measure, of in own.groupby("measure", sort=False):
                if how := named.get(str(measure)):
                    each = how(of, groups, found, inference, min_pairs)
                    rows += [row | {"bias": bias, "measure": measure} for row in each]
        raw.append(level.estimates)
    keys = [*_KEYS, "instrument"]
    table = pd.DataFrame(rows).reindex(columns=[*keys, *RAW, "n", "reason"])
    if not rows:
        return table.assign(**dict.fromkeys(RAW.values(), np.nan))
    beside = pd.concat(raw)[[*keys, *RAW]].rename(columns=RAW)
    table = table.astype({key: beside[key].dtype for key in keys} | {"reason": object})
    table = table.merge(beside, on=keys, how="left", validate="one_to_one")
    none = table["raw_low"].isna() & table["ci_low"].notna()  # too few articles differ
    table.loc[none, ["ci_low", "ci_high"]] = np.nan
    table.loc[none, "reason"] = "the estimate as counted has no interval"
    return table


def leading(corrected: pd.DataFrame, declared: pd.DataFrame) -> pd.DataFrame:
    """Return the corrected rows of the claims that lead a page, those that were measured.

    Examples
    --------
    >>> row = dict.fromkeys([*_KEYS, "instrument"], "a")
    >>> rows = pd.DataFrame([row | {"estimate": 0.1, "raw": 0.2}])
    >>> leading(rows, pd.DataFrame([row]))["raw"].tolist()
    [0.2]
    """
    keys = [*_KEYS, "instrument"]
    wanted = declared[keys].astype(object).drop_duplicates()
    found = wanted.merge(corrected.astype(dict.fromkeys(keys, object)), on=keys)
    return found[found["estimate"].notna() & found["raw"].notna()].reset_index(drop=True)


def _words(
    scores: pd.DataFrame,
    groups: list[str],
    found: Rates,
    inference: InferenceSettings,
    min_pairs: int,
) -> Iterator[Row]:
    units = claims.per_article(scores, words.pooling(groups))
    sets = [
        (key, own[own["reason"].isna()], "share_difference")
        for key, own in claims.cells(units, None)
    ]
    common = claims.common_articles(units, min_pairs=min_pairs)
    sets += [(key, used, "share_difference_common") for key, _, used, _ in common]
    weights = word_weights(found)
    for key, own, statistic in sets:
        rows = shares_apart(*words.sides(own, groups), weights, inference=inference)
        for group, row in zip(groups, rows, strict=True):
            yield key | {"statistic": statistic, "group": group, "instrument": "word list"} | row


def word_weights(found: Rates) -> np.ndarray:
    """Return how many words of each true group a listed word stands for.

    Returns
    -------
    array
        Draws by sides by listed by true group: what it names, over the recall. Where no label is
        of a sentence about a group, the recall of the draws stands in.
    """
    n = found.words.shape[2]
    recall = found.recall
    usual = np.array(
        [
            [
                np.median(side[~np.isnan(side)]) if (~np.isnan(side)).any() else np.nan
                for side in recall[:, s].T
            ]
            for s in range(len(SIDES))
        ]
    )
    recall = np.where(np.isnan(recall), usual, recall)
    named = found.words[..., :n]
    over = recall[:, :, None, :]
    return np.divide(named, over, out=np.where(named > 0, np.nan, 0.0), where=over > 0)


def shares_apart(
    h: np.ndarray, o: np.ndarray, weights: np.ndarray, *, inference: InferenceSettings
) -> list[Row]:
    """Estimate each group's mean difference of shares, words counted by their weights.

    Parameters
    ----------
    h, o
        Words of answers and of originals: articles by groups.
    weights
        Of `word_weights`, the labels' first.
    inference
        Level of the interval and start of the draws.
    """
    differences, drawn = np.zeros((0, h.shape[1])), np.empty((len(weights), h.shape[1]))
    for i, (human, answers) in enumerate(weights):
        each = _share(h @ answers) - _share(o @ human)
        each = each[~np.isnan(each).any(axis=1)]
        drawn[i] = each.mean(axis=0) if len(each) else np.nan
        if not i:
            differences = each
    error = np.full(h.shape[1], np.nan)
    if len(differences) > 1:
        error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    lost = len(h) - len(differences)
    n = np.full(h.shape[1], len(differences))
    return [row | {"n_lost": lost} for row in _rows(drawn, error, n, 1.0, inference)]


def _share(counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)


def _rows(
    drawn: np.ndarray, error: np.ndarray, n: np.ndarray, reach: float, inference: InferenceSettings
) -> list[Row]:
    """Return estimates, with what articles and what labels leave open in one interval."""
    rng = np.random.default_rng(inference.seed)
    levels = (np.arange(len(drawn) - 1) + 0.5) / (len(drawn) - 1)
    rows = []
    for i, count in enumerate(n):
        estimate = float(np.clip(drawn[0, i], -reach, reach))
        row: Row = {"estimate": estimate, "ci_low": np.nan, "ci_high": np.nan, "n": int(count)}
        if np.isnan(estimate):
            row["reason"] = "no label tells what the words of some group, or of one side, are"
        elif count > 1:
            noise = error[i] * distributions.t.ppf(rng.permutation(levels), count - 1)
            low, high = stats.percentile_interval(
                np.clip(drawn[1:, i] + noise, -reach, reach),
                estimate=estimate,
                confidence=inference.confidence,
            )
            row |= {"ci_low": low, "ci_high": high}
        rows.append(row)
    return rows


def _tone(
    scores: pd.DataFrame,
    groups: list[str],
    found: Rates,
    inference: InferenceSettings,
    _min_pairs: int,
) -> Iterator[Row]:
    from nbbias.news import tone

    mixing = sentence_mixing(found)
    for instrument, of in scores.groupby("instrument", sort=False):
        for key, own in claims.cells(of, tone.POOLING):
            names = [f"beyond_neutral_{group}" for group in groups]
            values = own.loc[own["reason"].isna(), names].to_numpy(float)
            rows = shifts(values, mixing, inference=inference)
            for group, row in zip(groups, rows, strict=True):
                named = {"statistic": "difference_beyond_neutral", "group": group}
                yield key | named | {"instrument": instrument} | row


def sentence_mixing(found: Rates) -> np.ndarray:
    """Return what sentences of each group are about, beyond what neutral prose is about.

    Returns
    -------
    array
        Draws by given by true group; both sides together.
    """
    n = found.words.shape[2]
    size = found.sizes / np.where((total := found.sizes.sum(axis=0)) > 0, total, 1)
    about = np.where(size[..., None] > 0, found.sentences * size[..., None], 0).sum(axis=1)
    return about[:, :n, :n] - about[:, [n + 1], :n]


def shifts(values: np.ndarray, mixing: np.ndarray, *, inference: InferenceSettings) -> list[Row]:
    """Estimate each group's mean shift, without what its sentences hold of others.

    Parameters
    ----------
    values
        Shifts beyond neutral prose as they were read: articles by groups, NaN where there is none.
    mixing
        Of `sentence_mixing`, the labels' first.
    inference
        Level of the interval and start of the draws.
    """
    there = ~np.isnan(values)
    n = there.sum(axis=0)
    # A shift that few articles have has no interval as it is read, and none corrected.
    own = np.flatnonzero(n > 1)
    drawn = np.full((len(mixing), values.shape[1]), np.nan)
    error = np.full(values.shape[1], np.nan)
    if len(own):
        chosen = np.where(there, values, 0)[:, own]
        mean = chosen.sum(axis=0) / n[own]
        part = mixing[:, own][:, :, own]
        fit = ~np.isnan(part).any(axis=(1, 2))
        fit[fit] = np.linalg.cond(part[fit]) < 1e3
        solved = np.linalg.inv(part[fit])
        drawn[np.ix_(fit, own)] = solved @ mean
        if fit[0]:
            moved = np.where(there[:, own], chosen - mean, 0) / np.sqrt(n[own] * (n[own] - 1))
            error[own] = np.sqrt(((moved @ solved[0].T) ** 2).sum(axis=0))
    return _rows(drawn, error, n, 4.0, inference)
