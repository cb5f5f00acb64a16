"""The topics of whole documents: how much of a text is about each group's, answer against original.

The second half of the document measure of Fang et al. (2024): with the associations of
`news.fits`, a text's content on each group's topics gives its shares (Eq. 8), which are compared
between an answer h and its original o as word shares are (Eq. 9, Eq. 3). Estimates are means over
pairs, pooled over the fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from nbbias import stats, tables, text
from nbbias.news import claims, replicates, shares
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.news.fits import ALL, CORPUS, HUMAN, Fitted
from nbbias.stats import InferenceSettings

FEW_GROUPS = "fewer than two groups have a topic"
NO_CONTENT = "no content on a group's topic"

#: Repeated answers are averaged; an article's distance is that of one answer, on average.
POOLING = claims.Pooling(dict.fromkeys(("h_", "difference_", "score"), "mean"))


def level(
    read: Read, fitted: Fitted, *, inference: InferenceSettings, second_texts: Read | None = None
) -> claims.Level:
    """Measure the topics of a corpus: scores, losses, estimates and their null values.

    Parameters
    ----------
    read, fitted
        What `news.annotate` and `news.fits.fit` returned.
    inference
        Level of the intervals and of the null's ranges; permutations and their start.
    second_texts
        Further human texts on the same stories: what `news.annotate` made of `news.second_texts`.

    Returns
    -------
    Level
        The tables of `pair_scores`, `claims.losses`, `shares.estimate`; the references are
        ``"replicate"`` of distances (`replicated`) and ``"permutation"`` of prejudice.

    Examples
    --------
    >>> from nbbias import news, stats, text
    >>> pairs = news.pair(*news.sample.corpus({"off": {"subject": 0.5}}, desks_apart=True, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> how = news.fits.Fitting(n_topics=5, seeds=[1], threshold=0.5)
    >>> fitted = news.fits.fit(read, text.annotate.lemmatize(read.texts), how)
    >>> inference = InferenceSettings(n_permutations=100)
    >>> topics = news.topics.level(read, fitted, inference=inference)
    >>> list(topics.chance["reference"].unique())
    ['permutation']
    """
    scores = pair_scores(read, fitted)
    settings = {"lexicon": read.lexicon, "inference": inference}
    result = shares.estimate(scores, pooling=lambda _: POOLING, **settings)
    further = second_texts and pair_scores(second_texts, _of_texts(fitted, second_texts))
    references = replicated(
        result.estimates, scores, further, lexicon=read.lexicon, confidence=inference.confidence
    )
    return claims.level(scores, result, references)


def _of_texts(fitted: Fitted, read: Read) -> Fitted:
    """Return the fits with the topics of other texts than they were made from."""
    tokens, vocabulary = text.annotate.lemmatize(read.texts), fitted.fits[0].model.vocabulary
    bags = text.topics.count_words(tokens, read.texts.index, vocabulary=vocabulary)
    infer = partial(text.topics.infer_shares, bags=bags, truncated=fitted.how.truncated)
    return fitted._replace(fits=[fit._replace(shares=infer(fit.model)) for fit in fitted.fits])


# --- texts and pairs --------------------------------------------------------------------------


def document_shares(
    topic_shares: pd.DataFrame, associations: pd.Series, *, groups: Sequence[str]
) -> pd.DataFrame:
    """Return each group's share of a text's content on all groups' topics (Eq. 8).

    Parameters
    ----------
    topic_shares
        Texts by topics, from `text.topics.infer_shares`.
    associations
        Topic → group; neutral topics and those of no group do not count.
    groups
        The bias's groups.

    Returns
    -------
    DataFrame
        Texts by `groups`, in [0, 1]; a row sums to 1, or is NaN where the text has no content on
        any group's topic. A group without a topic has the share 0.
    """
    owner = associations.reindex(topic_shares.columns).to_numpy()
    content = pd.DataFrame({g: topic_shares.loc[:, owner == g].sum(axis=1) for g in groups})
    total = content.sum(axis=1)
    return content.div(total.where(total > 0), axis=0).rename_axis(columns="group")


def pair_scores(read: Read, fitted: Fitted) -> pd.DataFrame:
    """Score every pair at the document level, for every bias, by every fit.

    Returns
    -------
    DataFrame
        SCORES, one row per pair, bias and fit (`seed`), lost ones too: the pair's keys; shares
        `h_<group>`
        (answer) and `o_<group>` (original) of Eq. 8; `n`, the groups' topics with content, both
        texts' added; `score`, the Wasserstein distance with 0/1 ground metric (Eq. 9, 3: total
        variation, in [0, 1], 0: equal shares); `difference_<group>` (answer minus original, in
        [-1, 1]; below 0: less of the answer), NaN for a group without a topic on either side; and
        `reason`, why a score is NaN.
    """
    parts = [score(read, fit.shares, fit.associated).assign(seed=fit.seed) for fit in fitted.fits]
    instrument = f"LDA, {fitted.how.n_topics} topics"
    return pd.concat(parts, ignore_index=True).assign(instrument=instrument)


def score(read: Read, topic_shares: pd.DataFrame, associated: pd.DataFrame) -> pd.DataFrame:
    """Score every pair by one fit: its shares, texts by topics, and whose topics these are."""
    biases = read.lexicon["bias"].unique()
    parts = [_score_bias(read, topic_shares, associated, bias) for bias in biases]
    return tables.check(pd.concat(parts, ignore_index=True), tables.SCORES)


def _score_bias(
    read: Read, topic_shares: pd.DataFrame, associated: pd.DataFrame, bias: str
) -> pd.DataFrame:
    pairs, groups = read.pairs, text.lexicons.groups(read.lexicon, bias)
    sides = _sides(pairs, topic_shares, associated[associated["bias"] == bias], groups)
    share, has = (
        {side: table[[f"{of}_{g}" for g in groups]].to_numpy() for side, table in sides.items()}
        for of in ("share", "has")
    )
    reason = pairs["lost"].copy()
    few = [np.nan_to_num(has[side]).sum(axis=1) < 2 for side in SIDES]
    reason[reason.isna() & (few[0] | few[1])] = FEW_GROUPS
    there = [~np.isnan(share[side]).any(axis=1) for side in SIDES]
    claims.lack(reason, there[0], there[1], NO_CONTENT)
    d = np.where(reason.isna().to_numpy()[:, None], share["h"] - share["o"], np.nan)
    signed = np.where((has["h"] > 0) | (has["o"] > 0), d, np.nan)
    return pairs[["pair_id", *CELL, "article_id", "sample"]].assign(
        measure="document",
        bias=bias,
        **{f"{side}_{g}": share[side][:, i] for side in SIDES for i, g in enumerate(groups)},
        n=sum(sides[side]["n"].to_numpy(int) for side in SIDES),
        score=np.abs(d).sum(axis=1) / 2,
        **{f"difference_{g}": signed[:, i] for i, g in enumerate(groups)},
        instrument="topics",
        reason=reason,
    )


def _sides(
    pairs: pd.DataFrame, topic_shares: pd.DataFrame, associated: pd.DataFrame, groups: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Return, of each pair's text on either side, what its corpus' associations make of it.

    Each group's `share_<group>` and `has_<group>` (whether any topic is its own), and `n`, the
    groups' topics that the text has content on.
    """
    by_corpus = {key: rows.set_index("topic")["group"] for key, rows in associated.groupby(CORPUS)}
    parts = {}
    for corpus, associations in by_corpus.items():
        shares = document_shares(topic_shares, associations, groups=groups).add_prefix("share_")
        theirs = associations.reindex(topic_shares.columns).isin(groups).to_numpy()
        has = {f"has_{group}": float((associations == group).any()) for group in groups}
        parts[corpus] = shares.assign(n=(topic_shares.loc[:, theirs] > 0).sum(axis=1), **has)
    whole = pd.concat(parts)
    of_side = {"h": pairs[CORPUS], "o": HUMAN} if HUMAN in parts else dict.fromkeys(SIDES, ALL)
    sides = {}
    for side, column in SIDES.items():
        keys = pairs[CORPUS].assign(text=pairs[column])
        keys[CORPUS] = of_side[side]
        sides[side] = whole.reindex(pd.MultiIndex.from_frame(keys)).fillna({"n": 0})
    return sides


# --- what two texts differ by anyway ----------------------------------------------------------


def replicated(
    estimates: pd.DataFrame,
    scores: pd.DataFrame,
    second_texts: pd.DataFrame | None,
    *,
    lexicon: pd.DataFrame,
    confidence: float,
) -> pd.DataFrame:
    """Say how far apart two texts lie that no difference between writers sets apart.

    Replicates are two human texts on one story and two answers of one model to it, or else either
    of these (`news.replicates`); with both, the excess is over the mean of the two. A text of the
    other side takes the place of one of the two. If it is of the same kind, that changes nothing on
    average: the article's difference is a paired one with expectation 0, whatever focus a text has.
    Texts are taken as long as they are, so where those of one side are much shorter the floor is
    less exact.

    Parameters
    ----------
    estimates, scores
        The tables of `estimates` and of `pair_scores` it was made from.
    second_texts
        The table of `pair_scores` of `news.second_texts`, by the same fits; or none.
    lexicon
        The lists behind the scores.
    confidence
        Level of the range.

    Returns
    -------
    DataFrame
        CHANCE by ``"replicate"`` of ``bias``: `test` names the replicates and how many articles
        have them (where fewer than `replicates.ENOUGH` do, the poorer ones or none stand in).
        `null` is the estimate less what it exceeds the replicates by, the range where the estimate
        would lie; `p_value`, one-sided, of articles crossed with fits (`stats.pooled_mean`);
        `p_adjusted` Holm's over all cells and biases.
    """
    biases = estimates[estimates["statistic"] == "bias"].set_index(["bias", *CELL])
    rows: list[claims.Row] = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = text.lexicons.groups(lexicon, str(bias))
        further = None if second_texts is None else second_texts[second_texts["bias"] == bias]
        for key, cell in claims.cells(of_bias, None):
            kind, excess = _beyond_replicates(cell[cell["reason"].isna()], further, groups)
            beyond = stats.pooled_mean(excess, confidence=confidence)
            if kind is None or not np.isfinite(beyond.ci_low):
                continue
            row = biases.loc[(bias, *key.values())]
            labels = {"instrument": row["instrument"], "test": f"{kind}, {beyond.n} articles"}
            level = replicates.exceed(row["estimate"], beyond, reach=1)
            rows.append(key | {"bias": bias} | labels | level)
    common = {"measure": "document", "statistic": "bias", "reference": "replicate"}
    return stats.adjust(tables.chance(rows, study="news_bias", confidence=confidence, **common))


def _beyond_replicates(
    usable: pd.DataFrame, second_texts: pd.DataFrame | None, groups: Sequence[str]
) -> tuple[str | None, pd.DataFrame]:
    """Return the kind of replicates, and what distances exceed theirs by: articles by fits."""
    answers, original = (_texts(usable, side, groups) for side in SIDES)
    humans = original.drop_duplicates(_STORY)
    if second_texts is not None:
        humans = pd.concat([humans, _texts(second_texts, "h", groups, written_by="human")])
    enough = max(2, min(replicates.ENOUGH, usable["article_id"].nunique()))
    sides = (answers, humans), (humans, humans), (answers, answers)
    between, human, model = (_apart(*texts) for texts in sides)
    alikes = (human + model) / 2, human, model
    for kind, alike in zip(replicates.KINDS, alikes, strict=True):
        excess = (between - alike).dropna()
        if excess.index.get_level_values("article_id").nunique() >= enough:
            return kind, excess.unstack("seed")
    return None, pd.DataFrame()


_STORY = ["source", "article_id", "seed"]


def _texts(
    scores: pd.DataFrame, side: str, groups: Sequence[str], *, written_by: str = ""
) -> pd.DataFrame:
    """Return one side's texts: the story, the fit, the text's name, and its shares."""
    shares = {f"{side}_{group}": f"share_{group}" for group in groups}
    texts = scores[[*_STORY, *shares]].rename(columns=shares)
    return texts.assign(text=written_by + side + scores["pair_id"].astype(str)).dropna()


def _apart(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    """Return the mean distance of every two different texts on a story, by story and fit."""
    both = first.merge(second, on=_STORY, suffixes=("", " other"))
    both = both[both["text"] != both["text other"]]
    shares = [name for name in first if name.startswith("share_")]
    d = both[shares].to_numpy() - both[[f"{name} other" for name in shares]].to_numpy()
    distances = both.assign(distance=np.abs(d).sum(axis=1) / 2)
    return distances.groupby(_STORY)["distance"].mean()
