"""Document-level bias: how much of a text is about each group's topics, answer against original.

The second half of the document measure of Fang et al. (2024): with the associations of
`news_topics`, a text's content on each group's topics gives its shares (Eq. 8), which are compared
between an answer h and its original o as word shares are (Eq. 9, Eq. 3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons
from nbbias.news import CELL
from nbbias.news_sentences import SIDES
from nbbias.news_topics import ALL, CORPUS, HUMAN

ROUNDING = 1e-12

NO_TOPIC = "the group has no topic"
FEW_GROUPS = "fewer than two groups have a topic"
NO_CONTENT = {
    (False, True): "no content on a group's topic in the answer",
    (True, False): "no content on a group's topic in the original",
    (False, False): "no content on a group's topic in either",
}

# --- texts and pairs --------------------------------------------------------------------------


def document_shares(
    topic_shares: pd.DataFrame, associations: pd.Series, *, groups: Sequence[str]
) -> pd.DataFrame:
    """Return each group's share of a text's content on all groups' topics (Eq. 8).

    Parameters
    ----------
    topic_shares
        Texts by topics, from `topics.shares`.
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
    content = _content(topic_shares, associations, groups)
    total = content.sum(axis=1, keepdims=True)
    found = np.divide(content, total, out=np.full(content.shape, np.nan), where=total > 0)
    return pd.DataFrame(found, index=topic_shares.index, columns=pd.Index(groups, name="group"))


def _content(
    topic_shares: pd.DataFrame, associations: pd.Series, groups: Sequence[str]
) -> np.ndarray:
    own = associations.reindex(topic_shares.columns)
    return np.column_stack(
        [topic_shares.loc[:, (own == group).to_numpy()].sum(axis=1) for group in groups]
    )


def pair_scores(
    pairs: pd.DataFrame,
    topic_shares: pd.DataFrame,
    associated: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
) -> pd.DataFrame:
    """Score every pair at the document level, for every bias.

    Parameters
    ----------
    pairs
        PAIRS of `news.pair`.
    topic_shares
        Texts by topics, from `topics.shares`, indexed by the text itself.
    associated
        The table of `news_topics.associate`: its `association` decides whose topics count for whom.
    lexicon
        The lists that gave the sentences their groups.

    Returns
    -------
    DataFrame
        SCORES, one row per pair and bias, lost ones too: the pair's keys; shares `h_<group>`
        (answer) and `o_<group>` (original) of Eq. 8; `content_h` and `content_o`, the part of
        each text that they are shares of, in [0, 1]; `n`, the groups' topics with content, both
        texts' added; `score`, the Wasserstein distance with 0/1 ground metric (Eq. 9, 3: total
        variation, in [0, 1], 0: equal shares); `difference_<group>` (answer minus original, in
        [-1, 1]; below 0: less of the answer), NaN for a group without a topic on either side; and
        `reason`, why a score is NaN.
    """
    tables = []
    for bias in lexicon["bias"].unique():
        own = associated[associated["bias"] == bias]
        groups = lexicons.groups(lexicon, bias)
        tables.append(_score_bias(pairs, topic_shares, own, bias, groups))
    return contracts.check(pd.concat(tables, ignore_index=True), contracts.SCORES)


def _score_bias(
    pairs: pd.DataFrame, topic_shares: pd.DataFrame, own: pd.DataFrame, bias: str,
    groups: Sequence[str],
) -> pd.DataFrame:  # fmt: skip
    by_corpus = {k: t.set_index("topic")["group"] for k, t in own.groupby(CORPUS, sort=False)}
    written = list(zip(*(pairs[key] for key in CORPUS), strict=True))
    corpora = {"h": written, "o": [HUMAN] * len(pairs)}
    if ALL in by_corpus:
        corpora = dict.fromkeys("ho", [ALL] * len(pairs))
    share, content, has = {}, {}, {}
    n = np.zeros(len(pairs), dtype=int)
    for side, column in SIDES.items():
        share[side] = np.full((len(pairs), len(groups)), np.nan)
        content[side] = np.full(len(pairs), np.nan)
        has[side] = np.zeros((len(pairs), len(groups)), dtype=bool)
        for corpus in dict.fromkeys(corpora[side]):
            rows = np.array([one == corpus for one in corpora[side]])
            # A cell whose pairs are all lost has no corpus, so no associations.
            group = by_corpus.get(corpus, pd.Series(dtype="str"))
            at = topic_shares.reindex(pairs.loc[rows, column])
            share[side][rows] = document_shares(at, group, groups=groups).to_numpy()
            theirs = at.loc[:, group.reindex(at.columns).isin(groups).to_numpy()].to_numpy(float)
            content[side][rows] = np.where(at.isna().any(axis=1), np.nan, theirs.sum(axis=1))
            n[rows] += (theirs > 0).sum(axis=1)
            has[side][rows] = np.isin(groups, group.dropna())
    d = share["h"] - share["o"]
    known = has["h"] | has["o"]
    lost = pairs["lost"].copy()
    few = (has["h"].sum(axis=1) < 2) | (has["o"].sum(axis=1) < 2)
    lost[lost.isna() & few] = FEW_GROUPS
    there = {side: ~np.isnan(share[side]).any(axis=1) for side in SIDES}
    for (in_h, in_o), reason in NO_CONTENT.items():
        lost[lost.isna() & (there["h"] == in_h) & (there["o"] == in_o)] = reason
    scored = lost.isna().to_numpy()
    signed = np.where(scored[:, None] & known, d, np.nan)
    return pairs[["pair_id", *CELL, "article_id", "sample"]].assign(
        measure="document", bias=bias,
        **{f"{side}_{g}": share[side][:, i] for side in SIDES for i, g in enumerate(groups)},
        content_h=content["h"], content_o=content["o"], n=n,
        score=np.where(scored, np.abs(d).sum(axis=1) / 2, np.nan),
        **{f"difference_{g}": signed[:, i] for i, g in enumerate(groups)},
        instrument="topics", reason=lost,
    )  # fmt: skip
