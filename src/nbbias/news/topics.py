"""Which topics are which group's: topics associated with groups by the sentences about them.

The first half of the document measure of Fang et al. (2024): the sentences of the texts are
counted by topic and group, and a topic is given to the group of its largest residual (Eq. 7);
chi-squared and a permutation of articles say whether topics and groups are associated at all.

Document-level bias: how much of a text is about each group's topics, answer against original.

The second half of the document measure of Fang et al. (2024): with the associations of
`news.topics`, a text's content on each group's topics gives its shares (Eq. 8), which are compared
between an answer h and its original o as word shares are (Eq. 9, Eq. 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

from nbbias.news.corpus import CELL
from nbbias.news.tone import NEUTRAL, SIDES
from nbbias.tables import SCORES, check
from nbbias.text import lexicons, topics

#: Whose sentences say which topic is which group's: everybody's pooled, or each corpus' own.
ASSOCIATIONS = ("common", "own")

CORPUS = ["model", "prompt"]
ALL = ("all", "all")  # the corpus of the common association
HUMAN = ("human", "-")  # that of the originals

_STRATUM = 20  # articles of similar length among which groups are exchanged
_SENTENCE = ["text_id", "sentence_id"]


def articles(pairs: pd.DataFrame) -> pd.Series:
    """Number the articles of the pairs that can be measured, by text.

    Returns
    -------
    Series of int
        Indexed by the text itself. An article is an original with all that was written for it;
        articles with one original are one. An answer that was given to several originals, such as
        a bare refusal, belongs to the first of them.
    """
    usable = pairs[pairs["lost"].isna()]
    number = pd.factorize(usable["original_text"])[0]
    texts = pd.concat([usable[column] for column in reversed(SIDES.values())])
    found = pd.Series(np.tile(number, 2), index=pd.Index(texts, name="text_id"), dtype=int)
    return found[~found.index.duplicated()]


def sentence_tokens(sentences: pd.DataFrame) -> pd.Series:
    """Return the lemmas of every distinct sentence, by `text_id` (the text) and `sentence_id`."""
    distinct = sentences.drop_duplicates(_SENTENCE)
    said = [row.text_id[row.start : row.end] for row in distinct.itertuples()]
    return topics.tokens(pd.Series(said, pd.MultiIndex.from_frame(distinct[_SENTENCE]), dtype=str))


def contingency(
    sentences: pd.DataFrame, *, groups: Sequence[str], n_topics: int | None = None
) -> pd.DataFrame:
    """Count the sentences of one corpus and one bias by topic and group: the matrix O.

    Returns
    -------
    DataFrame
        Topics by `groups` and ``"neutral"``; the topics 0 … `n_topics` - 1, or those that occur.
        Sentences without a topic are left out.
    """
    known = sentences.dropna(subset="topic")
    counts = pd.crosstab(known["topic"].astype(int), known["group"])
    rows = counts.index if n_topics is None else pd.RangeIndex(n_topics)
    table = counts.reindex(index=rows, columns=[*groups, NEUTRAL], fill_value=0)
    return table.rename_axis(index="topic", columns="group")


def residuals(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how far each cell of O lies from independence (Eq. 7).

    Returns
    -------
    DataFrame
        As O: standardised residuals, about standard normal if topics were used alike for all
        groups and sentences were independent; above 0: more sentences than expected. NaN in a
        row or column without sentences, or with all of them.
    """
    observed = counts.to_numpy(dtype=float)
    total = observed.sum()
    row, column = observed.sum(axis=1, keepdims=True), observed.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = row * column / total
        spread = np.sqrt(expected * (1 - row / total) * (1 - column / total))
        found = np.where(spread > 0, (observed - expected) / spread, np.nan)
    return pd.DataFrame(found, index=counts.index, columns=counts.columns)


def associations(counts: pd.DataFrame, *, threshold: float = 3.0) -> pd.Series:
    """Associate each topic of O with the group of its largest residual above a threshold.

    Returns
    -------
    Series of str
        By topic: a group or ``"neutral"``; missing where no residual is above `threshold`.
    """
    found = residuals(counts).fillna(-np.inf)
    names = found.columns.to_numpy(dtype=object)[found.to_numpy().argmax(axis=1)]
    group = pd.Series(names, index=found.index, dtype="str", name="group")
    return group.where(found.max(axis=1) > threshold)


def chi_squared(counts: pd.DataFrame) -> dict[str, Any]:
    """Ask whether topics are used alike for all groups, as if sentences were independent.

    Returns
    -------
    dict
        `statistic_value` (chi-squared), `df`, `p_value`, `effect_size` (Cramér's V, in [0, 1]),
        `n` (sentences), `reason`. Rows and columns without sentences do not count; NaN where
        fewer than two are left. Sentences of an article are alike: see `permutation_p`.
    """
    observed = counts.to_numpy(dtype=float)
    kept = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
    row: dict[str, Any] = {"test": "chi-squared", "n": int(observed.sum())}
    if min(kept.shape) < 2:
        nothing = dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
        return row | nothing | {"reason": "needs two topics and two groups that have sentences"}
    value, p, df, _ = chi2_contingency(kept, correction=False)
    v = np.sqrt(value / (kept.sum() * (min(kept.shape) - 1)))
    found = {"statistic_value": value, "df": df, "p_value": p, "effect_size": v}
    return row | found | {"reason": None}


def permutation_p(
    sentences: pd.DataFrame, articles: pd.Series, *, groups: Sequence[str], draws: int, seed: int
) -> dict[str, Any]:
    """Test chi-squared with the article as the unit.

    Exchanged are the groups of whole articles: article a keeps its sentences' topics, in order,
    and gets the groups of all sentences of article b, in order, stretched or thinned evenly to its
    own number of sentences. Donors are drawn without replacement among about 20 articles of
    similar length. If, given its length, an article's groups have nothing to do with its topics,
    all such exchanges are equally likely, however alike the sentences within an article
    are: the test is exact among articles of one length and approximate otherwise. An
    association of topics and groups within articles and one between them both count.

    Parameters
    ----------
    sentences
        The table of `news.fits.with_topics`, of one corpus and one bias.
    articles
        The Series of `articles`.
    groups
        The bias's groups.
    draws, seed
        Permutations and their start.

    Returns
    -------
    dict
        `test`, `statistic_value` (chi-squared), `p_value` (one-sided), `n` (articles), `reason`.
    """
    known = sentences.dropna(subset="topic")
    known = known.assign(article=known["text_id"].map(articles).to_numpy())
    known = known.sort_values(["article", *_SENTENCE])
    article, _ = pd.factorize(known["article"])
    sizes = np.bincount(article)
    found = chi_squared(contingency(known, groups=groups))
    row: dict[str, Any] = {"test": "permutation of articles", "n": len(sizes)}
    row |= {name: found[name] for name in ("statistic_value", "reason")}
    if len(sizes) < 2 or found["reason"]:
        return row | {"p_value": np.nan, "reason": found["reason"] or "needs two articles"}
    topic, _ = pd.factorize(known["topic"].astype(int))
    label = pd.Index([*groups, NEUTRAL]).get_indexer(known["group"])
    starts = np.cumsum(sizes) - sizes
    within = np.arange(len(known)) - starts[article]
    strata = np.array_split(np.argsort(sizes, kind="stable"), max(1, len(sizes) // _STRATUM))
    rng = np.random.default_rng(seed)
    reached = 0
    for _ in range(draws):
        donor = np.empty(len(sizes), dtype=int)
        for stratum in strata:
            donor[stratum] = rng.permutation(stratum)
        b = donor[article]
        drawn = label[starts[b] + within * sizes[b] // sizes[article]]
        reached += _statistic(topic, drawn, len(groups) + 1) >= row["statistic_value"] - 1e-9
    return row | {"p_value": (1 + reached) / (1 + draws)}


def _statistic(topic: np.ndarray, label: np.ndarray, width: int) -> float:
    counts = np.bincount(topic * width + label, minlength=(topic.max() + 1) * width)
    observed = counts.reshape(-1, width).astype(float)
    row, column = observed.sum(axis=1, keepdims=True), observed.sum(axis=0, keepdims=True)
    # Chi-squared is N (sum of O² / (row · column) - 1); columns without sentences add nothing.
    whole = np.divide(observed**2, row * column, out=np.zeros_like(observed), where=observed > 0)
    return float(len(topic) * (whole.sum() - 1))


def associate(
    sentences: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    n_topics: int,
    association: str = "common",
    threshold: float = 3.0,
) -> pd.DataFrame:
    """Associate topics with groups, for every bias.

    Parameters
    ----------
    sentences
        The table of `news.fits.with_topics`.
    pairs
        PAIRS of `news.corpus.pair`.
    lexicon
        The lists that gave the sentences their groups.
    n_topics
        Number of topics K.
    association
        ``"common"``: one association, from the sentences of all texts, each text once; a text's
        distance to itself is then 0. ``"own"``, as in the paper: one from the originals and one
        from what each model wrote for each prompt, all sources together; a difference
        between corpora is then one of association, too.
    threshold
        What a residual must exceed.

    Returns
    -------
    DataFrame
        `bias`, `model`, `prompt` (``"all"``, or ``"human"`` and ``"-"``), `topic`, `group`
        (missing: none), `residual` (the largest; NaN without sentences) and `sentences`.
    """
    if association not in ASSOCIATIONS:
        raise ValueError(f"association {association!r} is unknown; use {' or '.join(ASSOCIATIONS)}")
    rows: dict[tuple[str, ...], Any] = {ALL: slice(None)}
    if association == "own":
        usable = pairs[pairs["lost"].isna()]
        texts = {HUMAN: usable["original_text"]}
        texts |= {key: own["generated_text"] for key, own in usable.groupby(CORPUS, sort=False)}
        # Texts are long: they are compared once each, not once a sentence.
        text, distinct = pd.factorize(sentences["text_id"])
        rows = {key: distinct.isin(own)[text] for key, own in texts.items()}
    tables = []
    for (model, prompt), of_corpus in rows.items():
        corpus = sentences.loc[of_corpus, ["bias", "topic", "group"]]
        for bias in lexicon["bias"].unique():
            groups = lexicons.groups(lexicon, bias)
            own = corpus[corpus["bias"] == bias]
            counts = contingency(own, groups=groups, n_topics=n_topics)
            found = associations(counts, threshold=threshold).reset_index()
            found["residual"] = residuals(counts).max(axis=1).to_numpy()
            found["sentences"] = counts.sum(axis=1).to_numpy()
            tables.append(found.assign(bias=bias, model=model, prompt=prompt))
    columns = ["bias", *CORPUS, "topic", "group", "residual", "sentences"]
    return pd.concat(tables, ignore_index=True)[columns]


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
        Texts by topics, from `text.topics.shares`.
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
        PAIRS of `news.corpus.pair`.
    topic_shares
        Texts by topics, from `text.topics.shares`, indexed by the text itself.
    associated
        The table of `news.topics.associate`: its `association` decides whose topics count for whom.
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
    return check(pd.concat(tables, ignore_index=True), SCORES)


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
