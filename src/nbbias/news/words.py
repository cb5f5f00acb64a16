"""The words: which share of a text's group words is whose, answer against original.

The word level of Fang et al. (2024), *Bias of AI-generated content*, Scientific Reports 14:5224:
the share of each group among a text's group words (Eq. 1, 2), how far the shares of a generated
text h lie from those of its original o (Eq. 3), on average over pairs (Eq. 4).

Two texts by one writer differ, too. Dealt out anew between the two texts of a pair are its group
words, one by one, and whole sentences with the words that stand in them; both are lower bounds of
what chance does, since sentences come in runs about one person and a text has a focus of its own.
What two texts without a difference between writers differ by is the floor (`news.replicates`); only
what exceeds that is beyond chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.news import claims, prejudice, replicates
from nbbias.news.claims import Level, Row
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.tables import SCORES, check
from nbbias.text import annotate, lexicons

#: Why a pair has no word-level score, beyond what `news.corpus.pair` lost already.
NO_WORDS = {
    (False, True): "no group words in the answer",
    (True, False): "no group words in the original",
    (False, False): "no group words in either",
}

#: Statistics whose tests are corrected, each a family of its own; the distance's is in `floor`.
FAMILIES = ("share_difference", "share_difference_common")

#: The references, the leading one first.
LEAD = ("replicate", "sentences", "words")

#: Between what a statistic lies, and so its range by chance.
_BOUNDS = {"bias": (0, 1), "prejudice_share": (0, 1), "prejudice_extent": (-1, 0)}


def level(
    read: Read,
    *,
    inference: stats.InferenceSettings,
    min_pairs: int = 1,
    study: str = "news_bias",
    twins: Read | None = None,
) -> Level:
    """Measure the words of a corpus: scores, losses, estimates and what chance gives.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    inference
        Level of the intervals, permutations behind each chance level, and their start.
    min_pairs
        Counted pairs that a model needs to be compared on common articles.
    study
        Whose tables these are.
    twins
        Further human texts on the same stories: what `news.annotate` made of `news.twins`.

    Returns
    -------
    Level
        The tables of `pair_scores`, `news.claims.losses` and `estimates`, and three references:
        ``"words"``, ``"sentences"`` (`by_sentence`) and ``"replicate"`` (`floor`), which leads
        where it can be had.

    Examples
    --------
    >>> from nbbias import news, stats, text
    >>> pairs = news.pair(*news.sample.corpus({"fewer": {"female": -0.3}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> words = news.words.level(read, inference=stats.InferenceSettings(n_permutations=100))
    >>> of = words.estimates.set_index(["statistic", "group"])["estimate"]
    >>> bool(of["share_difference", "female"] < -0.1)
    True
    >>> list(words.chance["reference"].unique())
    ['words', 'sentences', 'replicate']
    """
    scores = pair_scores(read)
    found = estimates(
        scores, lexicon=read.lexicon, inference=inference, min_pairs=min_pairs, study=study
    )
    every = [
        claims.reference(found, "words"),
        by_sentence(scores, read, inference=inference, study=study),
        floor(found, scores, read, twins, confidence=inference.confidence),
    ]
    chance = pd.concat(every, ignore_index=True)
    found = tables.with_chance(found, chance, lead=LEAD)
    return Level(scores, claims.losses(scores), found, chance)


# --- pairs ------------------------------------------------------------------------------------


def pair_scores(read: Read) -> pd.DataFrame:
    """Score every pair at the word level, for every bias of the lexicon.

    Returns
    -------
    DataFrame
        SCORES, one row per pair and bias, lost ones too: the pair's keys; counts `h_<group>`
        (answer) and `o_<group>` (original); `n` (group words of both); `score`, the Wasserstein
        distance with 0/1 ground metric (Eq. 3: total variation, in [0, 1], 0: equal shares);
        `difference_<group>` (share in the answer minus share in the original, in [-1, 1]; below
        0: a smaller share); and `reason`, why a score is NaN. Columns of other biases' groups are
        NaN.
    """
    found = [
        _score_bias(read, bias, lexicons.groups(read.lexicon, bias))
        for bias in read.lexicon["bias"].unique()
    ]
    return check(pd.concat(found, ignore_index=True), SCORES)


def _score_bias(read: Read, bias: str, groups: Sequence[str]) -> pd.DataFrame:
    own = read.matches[read.matches["bias"] == bias]
    counts = annotate.count(own, by=["text_id"], groups=groups).set_index("text_id")
    table = read.pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(bias=bias)
    for side, column in SIDES.items():
        found = counts.reindex(read.pairs[column]).fillna(0).to_numpy(dtype=int)
        table = table.assign(**{f"{side}_{group}": found[:, i] for i, group in enumerate(groups)})
    return measure(table, groups).drop(columns="lost")


def measure(counted: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Add what Eq. 1 to 3 make of the counts `h_<group>`, `o_<group>`; see `pair_scores`."""
    h, o = sides(counted, groups)
    n_h, n_o = h.sum(axis=1), o.sum(axis=1)
    d = _apart(h.T, o.T)
    reason = counted["lost"].copy()
    for (has_h, has_o), why in NO_WORDS.items():
        reason[reason.isna() & ((n_h > 0) == has_h) & ((n_o > 0) == has_o)] = why
    there = reason.isna().to_numpy()
    return counted.assign(
        measure="word",
        n=n_h + n_o,
        score=np.where(there, np.abs(d).sum(axis=0) / 2, np.nan),
        **{f"difference_{g}": np.where(there, d[i], np.nan) for i, g in enumerate(groups)},
        instrument="word list",
        reason=reason,
    )


def pooling(groups: Sequence[str]) -> claims.Pooling:
    """Count the group words of all answers to an article together, as if they were one answer.

    An answer without group words adds none.
    """

    def again(pooled: pd.DataFrame) -> pd.DataFrame:
        return measure(pooled.assign(lost=pooled["reason"]), groups)[list(pooled.columns)]

    return claims.Pooling({"h_": "sum"}, again, tuple(NO_WORDS.values()))


def _apart(h: np.ndarray, o: np.ndarray) -> np.ndarray:
    """Return the differences of shares, of counts of groups by pairs; NaN where a side has none."""
    shares = []
    for counts in (h, o):
        n = counts.sum(axis=0)
        shares.append(np.divide(counts, n, out=np.full(counts.shape, np.nan), where=n > 0))
    return np.asarray(shares[0] - shares[1])


def sides(counted: pd.DataFrame, groups: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    h, o = (counted[[f"{side}_{g}" for g in groups]].to_numpy(dtype=int) for side in "ho")
    return h, o


# --- estimates --------------------------------------------------------------------------------


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    inference: stats.InferenceSettings,
    min_pairs: int = 1,
    study: str = "news_bias",
) -> pd.DataFrame:
    """Estimate word-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `pair_scores`.
    lexicon
        The lists behind the scores.
    inference
        Level of the intervals and of the range of each chance level; permutations behind that
        range (its mean is exact), and their start.
    min_pairs
        Counted pairs that a model needs to be compared on common articles.
    study
        Whose table this is.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`; N counts pairs:

        - ``bias``: mean distance (Eq. 4). Null: group words permuted between the two texts of a
          pair, a lower bound of what chance does, and so without a p; `level` puts the floor in
          its place.
        - ``share_difference``: mean signed difference of a group's share (Table 1); one-sample
          t-test against 0; `p_adjusted` is Holm's over all cells, biases and groups.
        - ``share_difference_common``: the same over the articles that every model of the source and
          prompt has a counted pair for, so that models are compared on equal articles; models with
          fewer than `min_pairs` counted pairs are left out.
        - ``prejudice_share``: of the pairs whose original has words of the group, the share in
          which the answer gives it a smaller share; Wilson interval; chance as for ``bias``.
        - ``prejudice_extent``: mean change in just those pairs. They were selected for falling,
          so chance alone is far below 0 and it is not tested against 0.

        `n_lost` counts the cell's pairs that could not enter: lost before, without group words,
        or, for prejudice, with an original that does not name the group.
    """
    parts = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        one_each, rng = pooling(groups), np.random.default_rng(inference.seed)
        rows: list[Row] = []
        for key, own in claims.cells(of_bias, one_each):
            rows += [key | row for row in _cell(own, groups, inference, rng)]
        rows += claims.on_common_articles(
            of_bias, one_each, groups, confidence=inference.confidence, min_pairs=min_pairs
        )
        common = {"study": study, "measure": "word", "bias": bias, "instrument": "word list"}
        common["confidence"] = inference.confidence
        parts.append(tables.estimates(rows, **common))
    return claims.stacked(parts, families=FAMILIES)


def _cell(
    own: pd.DataFrame,
    groups: Sequence[str],
    inference: stats.InferenceSettings,
    rng: np.random.Generator,
) -> list[Row]:
    counted, confidence = own[own["reason"].isna()], inference.confidence
    distance = stats.pooled_mean(
        own[["score"]], confidence=confidence, bounds=(0, 1), tested=False
    ).row()
    rows: list[Row] = [{"statistic": "bias", **distance}]
    for group in groups:
        change = own[[f"difference_{group}"]].where(own[[f"o_{group}"]].to_numpy() > 0)
        rows += prejudice.rows(change, group=group, confidence=confidence)
    why = claims.why_none(own)
    if counted.empty:
        rows = [row | {"reason": why} for row in rows]
    else:
        chance = _by_word(*sides(counted, groups), groups, inference, rng)
        rows = [row | chance.get((row["statistic"], row.get("group")), {}) for row in rows]
    return rows + claims.differences(own, groups, why=why, confidence=confidence)


# --- chance -----------------------------------------------------------------------------------

Levels = dict[tuple[str, str | None], dict[str, Any]]


def _by_word(
    h: np.ndarray,
    o: np.ndarray,
    groups: Sequence[str],
    inference: stats.InferenceSettings,
    rng: np.random.Generator,
) -> Levels:
    """Deal out the words of every pair, one by one: by statistic and group."""
    absolute, below, fall, present = stats.expected_differences(h, o)
    blocks = stats.split_batches(inference.n_permutations, size_each=h.size)
    drawn = [_drawn(h, o, stats.permute_counts(h, o, n_permutations=n, rng=rng)) for n in blocks]
    distance, times, there, changes = map(np.concatenate, zip(*drawn, strict=True))
    null = absolute.sum(axis=1).mean() / 2
    found: Levels = {("bias", None): _range(distance, inference, null)}
    for i, group in enumerate(groups):
        # Chance decides, too, which originals have words of the group: ratios of sums over pairs.
        exact = ((below[:, i].sum(), present[:, i].sum()), (fall[:, i].sum(), below[:, i].sum()))
        drawn_of = ((times[:, i], there[:, i]), (changes[:, i], times[:, i]))
        for kind, whole, parts in zip(prejudice.KINDS, exact, drawn_of, strict=True):
            found[kind, group] = _range(claims.ratio(*parts), inference, claims.ratio(*whole))
    return found


def _drawn(h: np.ndarray, o: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return each draw's mean distance, and sums over pairs by group, as in `_dealt`."""
    rest, n_h, n_o = h + o - drawn, h.sum(axis=1)[:, None], o.sum(axis=1)[:, None]
    d = drawn / n_h - rest / n_o
    fell = drawn * n_o < rest * n_h
    distance = (np.abs(d).sum(axis=2) / 2).mean(axis=1)
    return distance, fell.sum(axis=1), (rest > 0).sum(axis=1), (d * fell).sum(axis=1)


def _range(
    drawn: np.ndarray, inference: stats.InferenceSettings, null: float | None = None
) -> dict[str, float]:
    """Return what draws give and between what they lie: no p, since no draw is all of chance."""
    found = stats.compare_with_null(np.nan, drawn, confidence=inference.confidence, null=null)
    return {name: found[name] for name in ("null", "null_low", "null_high")}


def by_sentence(
    scores: pd.DataFrame,
    read: Read,
    *,
    inference: stats.InferenceSettings,
    study: str = "news_bias",
) -> pd.DataFrame:
    """Say what the estimates are when whole sentences change sides.

    Parameters
    ----------
    scores, read
        The table of `pair_scores`, and what it was made from.
    inference
        Level of the range, permutations, and their start.
    study
        Whose table this is.

    Returns
    -------
    DataFrame
        CHANCE by ``"sentences"`` of ``bias``, ``prejudice_share`` and ``prejudice_extent``: what
        they are when the sentences with group words are dealt out anew between the two texts of
        each pair, as many to each as it had. A lower bound, as runs of sentences and the focus of
        a text are dealt away: no p.
    """
    rows: list[Row] = []
    for key, groups, articles in _counted(scores, read):
        found = _dealt(articles, groups, inference, np.random.default_rng(inference.seed))
        rows += [
            key | {"statistic": statistic, "group": group} | level
            for (statistic, group), level in found.items()
        ]
    common = {"measure": "word", "instrument": "word list", "confidence": inference.confidence}
    test = "sentences dealt anew"
    return tables.chance(rows, study=study, reference="sentences", test=test, **common)


def floor(
    estimates: pd.DataFrame,
    scores: pd.DataFrame,
    read: Read,
    twins: Read | None,
    *,
    confidence: float,
) -> pd.DataFrame:
    """Say what the estimates are where no difference between writers sets two texts apart.

    Parameters
    ----------
    estimates
        The table of `estimates`.
    scores, read
        What they were made from.
    twins
        As in `level`.
    confidence
        Level of the range.

    Returns
    -------
    DataFrame
        CHANCE by ``"replicate"`` of the statistics of `by_sentence`; `test` names the replicates
        and the articles that have them, the best that the cell has (`news.replicates.KINDS`). The
        `null` is the estimate less what it exceeds the replicates by at equal lengths, the range
        where the estimate would lie (t over articles). Of the distance also a one-sided
        `p_value` and `p_adjusted`, Holm's over all cells and biases; none by halves of texts, which
        are a lower bound.
    """
    study = str(estimates["study"].iloc[0]) if len(estimates) else ""
    keys = [*CELL, "bias", "statistic"]
    known = estimates.assign(group=estimates["group"].fillna("")).set_index([*keys, "group"])
    rows: list[Row] = []
    for key, groups, articles in _counted(scores, read, twins):
        kind = replicates.choose(articles)
        for (statistic, i), found in replicates.differences(articles, kind).items() if kind else ():
            group = None if i is None else groups[i]
            estimate = known.loc[(*(key | {"statistic": statistic}).values(), group or "")]
            level = replicates.beside(
                float(estimate["estimate"]), found, bounds=_BOUNDS[statistic], confidence=confidence
            )
            if statistic != "bias" or kind == replicates.HALVES:
                level["p_value"] = np.nan
            test = f"{kind}, {found.n} articles"
            rows.append(key | {"statistic": statistic, "group": group, "test": test} | level)
    common = {"measure": "word", "instrument": "word list", "confidence": confidence}
    table = tables.chance(rows, study=study, reference="replicate", **common)
    return stats.adjust(table, where={"statistic": "bias"})


def _counted(
    scores: pd.DataFrame, read: Read, twins: Read | None = None
) -> Iterator[tuple[Row, list[str], list[replicates.Article]]]:
    """Yield, of every cell and bias with counted pairs, its key, the groups and its stories."""
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(read.lexicon, str(bias))
        texts = _blocks(read, str(bias), groups)
        more = (twins.pairs, _blocks(twins, str(bias), groups)) if twins is not None else None
        for key, articles in replicates.stories(of_bias, read.pairs, texts, more):
            yield key | {"bias": bias}, groups, articles


def _blocks(read: Read, bias: str, groups: Sequence[str]) -> dict[Any, np.ndarray]:
    """Return every text's sentences that have group words, in order: sentences by groups."""
    own = read.matches[read.matches["bias"] == bias]
    counts = annotate.count(own, by=["text_id", "sentence_id"], groups=groups)
    texts, starts = np.unique(counts["text_id"], return_index=True)
    found = counts[[f"n_{group}" for group in groups]].to_numpy(dtype=int)
    return dict(zip(texts, np.split(found, starts[1:]), strict=True)) if len(texts) else {}


def _dealt(
    articles: Sequence[replicates.Article],
    groups: Sequence[str],
    inference: stats.InferenceSettings,
    rng: np.random.Generator,
) -> Levels:
    """Deal out the sentences of every article's answers and original; sum over articles."""
    shape = (len(groups), inference.n_permutations)
    distance = np.zeros(inference.n_permutations)
    times, changes, there = (np.zeros(shape) for _ in range(3))
    for article in articles:
        answers = np.vstack(article.answers)
        h, o = (
            np.ascontiguousarray(side.T)
            for side in stats.permute_units(
                answers, article.originals[0], n_permutations=inference.n_permutations, rng=rng
            )
        )
        d = _apart(h, o)
        fell = h * o.sum(axis=0) < o * h.sum(axis=0)
        distance += np.abs(d).sum(axis=0) / 2
        times += fell
        changes += np.where(fell, d, 0.0)
        there += o > 0
    distance /= len(articles)
    found: Levels = {("bias", None): _range(distance, inference)}
    for i, group in enumerate(groups):
        drawn_of = ((times[i], there[i]), (changes[i], times[i]))
        for kind, parts in zip(prejudice.KINDS, drawn_of, strict=True):
            found[kind, group] = _range(claims.ratio(*parts), inference)
    return found
