"""The topics of whole documents: how much of a text is about each group's, answer against original.

The second half of the document measure of Fang et al. (2024): with the associations of
`news.fits`, a text's content on each group's topics gives its shares (Eq. 8), which are compared
between an answer h and its original o as word shares are (Eq. 9, Eq. 3). Estimates are means over
pairs, pooled over the fits. Chance deals the words of a pair's texts anew: words come in clusters,
so it is the least that chance gives, and nothing is tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.stats import t

from nbbias import stats, tables, text
from nbbias.news import claims, prejudice, replicates
from nbbias.news.claims import Level, Row
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.news.fits import ALL, CORPUS, HUMAN, Fit, Fitted
from nbbias.tables import SCORES, check, map_threads, stage
from nbbias.text import lexicons
from nbbias.text.topics import BagOfWords

NO_TOPIC = "the group has no topic"
FEW_GROUPS = "fewer than two groups have a topic"
NO_CONTENT = {
    (False, True): "no content on a group's topic in the answer",
    (True, False): "no content on a group's topic in the original",
    (False, False): "no content on a group's topic in either",
}

UNFITTED = "too few different words for so many topics"

#: Statistics whose tests are corrected, each a family of its own.
FAMILIES = ("share_difference", "share_difference_common")

#: The references, the leading one first.
LEAD = ("replicate", "topics")


class Beside(NamedTuple):
    """What the distances of a corpus are told beside.

    `dealt`: the table of `chance`; `twins`: further human texts on the same stories, what
    `news.annotate` made of `news.twins`, if the corpus has any.

    Examples
    --------
    >>> from nbbias import news
    >>> news.topics.Beside._fields
    ('dealt', 'twins')
    """

    dealt: pd.DataFrame
    twins: Read | None = None


def level(
    read: Read,
    fitted: Fitted,
    beside: Beside,
    *,
    inference: stats.InferenceSettings,
    min_pairs: int = 1,
    study: str = "news_bias",
) -> Level:
    """Measure the topics of a corpus: scores, losses, estimates and their chance levels.

    Parameters
    ----------
    read, fitted
        What `news.annotate` and `news.fits.fit` returned.
    beside
        What `chance` returned, and further human texts.
    inference
        Level of the intervals.
    min_pairs
        Scored pairs that a model needs to be compared on common articles.
    study
        Whose tables these are.

    Returns
    -------
    Level
        The tables of `pair_scores`, `news.claims.losses`, `estimates`; the references are
        ``"topics"`` and, of distances, ``"replicate"`` (`floor`), which leads where it can be had.

    Examples
    --------
    >>> from nbbias import news, stats, text
    >>> pairs = news.pair(*news.sample.corpus({"off": {"subject": 0.5}}, desks_apart=True, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> how = news.fits.Fitting(n_topics=5, seeds=[1], threshold=0.5)
    >>> fitted = news.fits.fit(read, text.annotate.lemmatize(read.texts), how)
    >>> inference = stats.InferenceSettings(n_permutations=5)
    >>> dealt = news.topics.chance(read, fitted, sample_pairs=5, inference=inference)
    >>> topics = news.topics.level(read, fitted, news.topics.Beside(dealt), inference=inference)
    >>> list(topics.chance["reference"].unique())
    ['topics']
    """
    scores = pair_scores(read, fitted)
    found = estimates(
        scores,
        lexicon=read.lexicon,
        chance=beside.dealt,
        inference=inference,
        min_pairs=min_pairs,
        study=study,
    )
    twins = beside.twins
    further = None if twins is None else pair_scores(twins, _of_texts(fitted, twins))
    replicated = floor(
        found, scores, further, lexicon=read.lexicon, confidence=inference.confidence
    )
    references = pd.concat([claims.reference(found, "topics"), replicated], ignore_index=True)
    found = tables.with_chance(found, references, lead=LEAD)
    return Level(scores, claims.losses(scores), found, references)


def _of_texts(fitted: Fitted, read: Read) -> Fitted:
    """Return the fits with the topics of other texts than they were made from."""
    if not fitted.fits:
        return fitted
    tokens, vocabulary = text.annotate.lemmatize(read.texts), fitted.fits[0].model.vocabulary
    bags = text.topics.count_words(tokens, read.texts.index, vocabulary=vocabulary)
    truncated = fitted.how.truncated
    inferred = [text.topics.infer_shares(f.model, bags, truncated=truncated) for f in fitted.fits]
    both = zip(fitted.fits, inferred, strict=True)
    return fitted._replace(fits=[one._replace(shares=shares) for one, shares in both])


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


def _told(
    topic_shares: pd.DataFrame, associations: pd.Series, groups: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, by text: the groups' shares, their content, and how many topics it is on."""
    share = document_shares(topic_shares, associations, groups=groups).to_numpy()
    theirs = associations.reindex(topic_shares.columns).isin(groups).to_numpy()
    on = topic_shares.loc[:, theirs].to_numpy(float)
    missing = topic_shares.isna().any(axis=1)
    return share, np.where(missing, np.nan, on.sum(axis=1)), (on > 0).sum(axis=1)


def pair_scores(read: Read, fitted: Fitted) -> pd.DataFrame:
    """Score every pair at the document level, for every bias, by every fit.

    Returns
    -------
    DataFrame
        SCORES, one row per pair, bias and fit (`seed`), lost ones too: the pair's keys; shares
        `h_<group>`
        (answer) and `o_<group>` (original) of Eq. 8; `content_h` and `content_o`, the part of
        each text that they are shares of, in [0, 1]; `n`, the groups' topics with content, both
        texts' added; `score`, the Wasserstein distance with 0/1 ground metric (Eq. 9, 3: total
        variation, in [0, 1], 0: equal shares); `difference_<group>` (answer minus original, in
        [-1, 1]; below 0: less of the answer), NaN for a group without a topic on either side; and
        `reason`, why a score is NaN.
    """
    parts = []
    for one in fitted.fits:
        scores = score(read, one.shares, one.associated)
        named = f"LDA, {one.model.model.num_topics} topics"
        parts.append(scores.assign(seed=one.seed, instrument=named))
    if not parts:
        nothing = pd.DataFrame(index=pd.Index([], dtype=str))
        none = pd.DataFrame(columns=["bias", "model", "prompt", "topic", "group"])
        table = score(read, nothing, none)
        reason = table["reason"].mask(table["reason"] == FEW_GROUPS, UNFITTED)
        parts = [table.assign(seed=0, instrument="LDA", reason=reason)]
    return pd.concat(parts, ignore_index=True)


def score(read: Read, topic_shares: pd.DataFrame, associated: pd.DataFrame) -> pd.DataFrame:
    """Score every pair by one fit: its shares, texts by topics, and whose topics these are."""
    found = [
        _score_bias(
            read.pairs,
            topic_shares,
            associated[associated["bias"] == bias],
            bias,
            lexicons.groups(read.lexicon, bias),
        )
        for bias in read.lexicon["bias"].unique()
    ]
    return check(pd.concat(found, ignore_index=True), SCORES)


def _score_bias(
    pairs: pd.DataFrame,
    topic_shares: pd.DataFrame,
    own: pd.DataFrame,
    bias: str,
    groups: Sequence[str],
) -> pd.DataFrame:
    by_corpus = {k: t.set_index("topic")["group"] for k, t in own.groupby(CORPUS, sort=False)}
    written = list(zip(*(pairs[key] for key in CORPUS), strict=True))
    corpora = {"h": written, "o": [HUMAN] * len(pairs)}
    if ALL in by_corpus:
        corpora = dict.fromkeys("ho", [ALL] * len(pairs))
    share, content, has = {}, {}, {}
    n = np.zeros(len(pairs), dtype=int)
    for side, column in SIDES.items():
        share[side] = np.full((len(pairs), len(groups)), np.nan)
        content[side] = np.full(len(pairs), np.nan if topic_shares.shape[1] else 0)
        has[side] = np.zeros((len(pairs), len(groups)), dtype=bool)
        for corpus in dict.fromkeys(corpora[side]):
            rows = np.array([one == corpus for one in corpora[side]])
            # A cell whose pairs are all lost has no corpus, so no associations.
            group = by_corpus.get(corpus, pd.Series(dtype="str"))
            at = topic_shares.index.get_indexer(pairs[column])
            there, of = rows & (at >= 0), at[rows & (at >= 0)]
            by_text = _told(topic_shares, group, groups)
            share[side][there], content[side][there] = by_text[0][of], by_text[1][of]
            n[there] += by_text[2][of]
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
        measure="document",
        bias=bias,
        **{f"{side}_{g}": share[side][:, i] for side in SIDES for i, g in enumerate(groups)},
        content_h=content["h"],
        content_o=content["o"],
        n=n,
        score=np.where(scored, np.abs(d).sum(axis=1) / 2, np.nan),
        **{f"difference_{g}": signed[:, i] for i, g in enumerate(groups)},
        instrument="topics",
        reason=lost,
    )


def spread(scores: pd.DataFrame) -> pd.DataFrame:
    """Summarise the mean distance over the fits, from the table of `pair_scores`.

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


# --- estimates --------------------------------------------------------------------------------


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    inference: stats.InferenceSettings,
    min_pairs: int = 1,
    chance: pd.DataFrame | None = None,
    study: str = "news_bias",
) -> pd.DataFrame:
    """Estimate document-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `pair_scores`: one row per pair, bias and `seed`.
    lexicon
        The lists behind the scores.
    inference
        Level of the intervals.
    min_pairs
        Scored pairs that a model needs to be compared on common articles.
    chance
        The table of `chance`; without it `null` is NaN for distances and prejudice.
    study
        Whose table this is.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`, over articles crossed with fits (`stats.pooled_mean`). With one
        fit intervals and tests take the topics as given; what less than three quarters of the
        fits could measure has neither. N counts pairs, the fewest of any fit (articles: the shares
        of repeated answers to one are averaged first).

        - ``bias``: mean distance (Eq. 9).
        - ``share_difference``: mean signed difference of a group's share; one-sample t-test
          against 0; `p_adjusted` is Holm's over all cells, biases and groups of the table.
        - ``share_difference_common``: the same over the articles that every model of the
          source and prompt has a scored pair for, in every fit.
        - ``prejudice_share``: of all scored pairs, as the paper counts at this level, the share in
          which the answer has less of the group; Wilson interval.
        - ``prejudice_extent``: mean change in just those pairs, selected for falling.
    """
    known = {} if chance is None else {_claim(row): row for row in chance.to_dict("records")}
    scores = scores if "seed" in scores else scores.assign(seed=0)
    parts = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        rows: list[Row] = []
        for key, own in claims.cells(of_bias, POOLING):
            for row in _cell(own, groups, inference.confidence):
                level = known.get(_claim(key | row | {"bias": bias}), {})
                names = ["null", "null_low", "null_high"]
                rows.append(key | row | {name: level[name] for name in names if name in level})
        rows += claims.on_common_articles(
            of_bias, POOLING, groups, confidence=inference.confidence, min_pairs=min_pairs
        )
        instrument = of_bias["instrument"].iloc[0] + fits_named(of_bias["seed"].nunique())
        common = {"study": study, "measure": "document", "bias": bias, "instrument": instrument}
        common["confidence"] = inference.confidence
        parts.append(tables.estimates(rows, **common))
    return claims.stacked(parts, families=FAMILIES)


def fits_named(fits: int) -> str:
    """Return what the name of the instrument says of the fits."""
    return f", {fits} fits" if fits > 1 else ", one fit"


#: Repeated answers are averaged; an article's distance is that of one answer, on average.
POOLING = claims.Pooling(
    dict.fromkeys(("h_", "content_h", "difference_", "score"), "mean"), lambda pooled: pooled
)


def _claim(row: dict[str, Any]) -> tuple[Any, ...]:
    group = row.get("group")
    return (*(row[key] for key in ("bias", *CELL, "statistic")), "" if pd.isna(group) else group)


def _cell(own: pd.DataFrame, groups: Sequence[str], confidence: float) -> list[Row]:
    nothing = own["reason"].notna().all()
    why = claims.why_none(own) if nothing else NO_TOPIC
    distance = stats.pooled_mean(
        claims.values(own, "score"), confidence=confidence, bounds=(0, 1), tested=False
    ).row()
    rows = [{"statistic": "bias", **distance}]
    rows += claims.differences(own, groups, why=why, confidence=confidence)
    for group in groups:
        change = claims.values(own, f"difference_{group}")
        rows += prejudice.rows(change, group=group, confidence=confidence)
    # Where nothing could be measured the reason is that of the pairs.
    return [row | ({"reason": why} if row["n"] == 0 and nothing else {}) for row in rows]


# --- what two texts differ by anyway ----------------------------------------------------------


def floor(
    estimates: pd.DataFrame,
    scores: pd.DataFrame,
    twins: pd.DataFrame | None,
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
    twins
        The table of `pair_scores` of `news.twins`, by the same fits; or none.
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
    known = estimates[estimates["statistic"] == "bias"].set_index(["bias", *CELL])
    study = str(estimates["study"].iloc[0]) if len(estimates) else ""
    rows: list[Row] = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        further = None if twins is None else twins[twins["bias"] == bias]
        for key, own in claims.cells(of_bias, None):
            kind, excess = _beyond_replicates(own[own["reason"].isna()], further, groups)
            found = stats.pooled_mean(excess, confidence=confidence).row()
            if kind is None or not np.isfinite(found["ci_low"]):
                continue
            row = known.loc[(bias, *key.values())]
            null = row["estimate"] - found["estimate"]
            half = (found["ci_high"] - found["ci_low"]) / 2
            low, high = np.clip([null - half, null + half], 0, 1)
            rows.append(
                key
                | {
                    "bias": bias,
                    "statistic": "bias",
                    "group": None,
                    "instrument": row["instrument"],
                    "null": null,
                    "null_low": low,
                    "null_high": high,
                    "p_value": float(t.sf(found["statistic_value"], found["df"])),
                    "test": f"{kind}, {found['n']} articles",
                }
            )
    common = {"measure": "document", "reference": "replicate", "confidence": confidence}
    return stats.adjust(tables.chance(rows, study=study, **common))


def _beyond_replicates(
    own: pd.DataFrame, twins: pd.DataFrame | None, groups: Sequence[str]
) -> tuple[str | None, pd.DataFrame]:
    """Return the kind of replicates, and what distances exceed theirs by: articles by fits."""
    answers, original = (_texts(own, side, groups) for side in SIDES)
    humans = original.drop_duplicates(_STORY)
    if twins is not None:
        humans = pd.concat([humans, _texts(twins, "h", groups, written_by="human")])
    enough = max(2, min(replicates.ENOUGH, own["article_id"].nunique()))
    between, human, model = (
        _apart(*sides) for sides in ((answers, humans), (humans, humans), (answers, answers))
    )
    for kind, alike in (
        (replicates.BOTH, (human + model) / 2),
        (replicates.ORIGINALS, human),
        (replicates.ANSWERS, model),
    ):
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
    named = scores[[*_STORY, *shares]].rename(columns=shares)
    name = written_by + side + scores["pair_id"].astype(str)
    return named.assign(text=name).dropna()


def _apart(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    """Return the mean distance of every two different texts on a story, by story and fit."""
    both = first.merge(second, on=_STORY, suffixes=("", " other"))
    both = both[both["text"] != both["text other"]]
    shares = [name for name in first if name.startswith("share_")]
    d = both[shares].to_numpy() - both[[f"{name} other" for name in shares]].to_numpy()
    found = both.assign(distance=np.abs(d).sum(axis=1) / 2)
    return found.groupby(_STORY)["distance"].mean()


# --- chance -----------------------------------------------------------------------------------

_LEVEL_KEYS = ["bias", *CELL, "statistic", "group"]
_LEVEL_VALUES = ["null", "null_low", "null_high", "pairs"]


@stage
def chance(
    read: Read, fitted: Fitted, *, sample_pairs: int, inference: stats.InferenceSettings
) -> pd.DataFrame:
    """Say what distance, and what prejudice, chance alone gives.

    The known words of both texts of a pair (of an original and all answers to it, where there are
    several) are pooled and dealt out anew, as many to each text as it had; topics are inferred
    again, by every fit, and the pair is scored again. This is exact if, as the topic model has it,
    words are independent given a text's topics, and both texts have the same. Real words come in
    clusters, so it is the least that chance does.

    Parameters
    ----------
    read, fitted
        What the scores were made from.
    sample_pairs
        Pairs drawn at random from each cell, without replacement; each costs
        2 · `inference.n_permutations` inferences a fit.
    inference
        Share of the deals between `null_low` and `null_high`, deals of every pair, and their start.
        A deal costs inferences, so there are few, and no p is made from them.

    Returns
    -------
    DataFrame
        By `bias`, the cell, `statistic` (``bias``, ``prejudice_share``, ``prejudice_extent``) and
        `group`: the mean `null` over the deals, `null_low`, `null_high` (of means over the pairs
        used), and `pairs` used (drawn, with a score; the fewest of any fit). Every deal is the mean
        of its values by all fits that scored a pair as it was. A deal without a score does not
        count; with no pair used all is NaN.
    """
    if not fitted.fits:
        return pd.DataFrame(columns=[*_LEVEL_KEYS, *_LEVEL_VALUES])
    rng, draws = np.random.default_rng(inference.seed), inference.n_permutations
    sampled = _sampled(read.pairs, sample_pairs, rng)
    # The vocabulary is that of the corpus, in every fit.
    table, dealt = _dealt(sampled, fitted, draws, rng)

    def scored(fit: Fit) -> pd.DataFrame:
        shares = text.topics.infer_shares(fit.model, dealt, truncated=fitted.how.truncated)
        again = fitted._replace(fits=[fit._replace(shares=shares)])
        return pair_scores(read._replace(pairs=table), again)

    scores = pd.concat(
        map_threads(scored, fitted.fits, label="chance by fit of topics"), ignore_index=True
    )
    by = ["bias", *CELL, "seed"]
    used = {
        key: claims.per_article(one, POOLING)["reason"].isna().to_numpy()
        for key, one in pair_scores(read._replace(pairs=sampled), fitted).groupby(by, sort=False)
    }
    rows = []
    for (bias, *cell), own in scores.groupby(["bias", *CELL], sort=False):
        key = {"bias": bias, **dict(zip(CELL, cell, strict=True))}
        groups = lexicons.groups(read.lexicon, str(bias))
        by_fit = [
            _deals(
                claims.per_article(one, POOLING, by=["pair_id"]),
                used[bias, *cell, seed],
                groups,
                draws,
            )
            for seed, one in own.groupby("seed", sort=False)
        ]
        rows += [key | row for row in _levels(by_fit, inference)]
    return pd.DataFrame(rows, columns=[*_LEVEL_KEYS, *_LEVEL_VALUES])


def _sampled(pairs: pd.DataFrame, sample_pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw some of every cell's pairs: all answers to an article, or none."""
    usable = pairs[pairs["lost"].isna()]
    answers = usable.groupby([*CELL, "article_id"], sort=False).ngroup()
    drawn = [
        own.drop_duplicates().sample(min(sample_pairs, own.nunique()), random_state=rng)
        for _, own in answers.groupby([usable[key] for key in CELL], sort=False)
    ]
    return usable[answers.isin(pd.concat(drawn))] if drawn else usable


def _dealt(
    sampled: pd.DataFrame, fitted: Fitted, draws: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, BagOfWords]:
    """Deal out the words of some pairs: all deals as PAIRS (`pair_id` numbers them), and words."""
    vocabulary, tokens = fitted.fits[0].model.vocabulary, fitted.tokens
    lemma = tokens["lemma"].cat
    place = np.append(vocabulary.index.get_indexer(lemma.categories), -1)[lemma.codes]
    known = pd.Series(place, index=tokens["text_id"])[place >= 0]
    of_text = dict(iter(known.groupby(level=0)))
    none = np.empty(0, place.dtype)
    answers = sampled.groupby([*CELL, "article_id"], sort=False).ngroup()
    ids = {side: sampled[name].to_numpy() for side, name in SIDES.items()}
    text_of = {side: np.empty(len(sampled), dtype=int) for side in SIDES}
    together: list[np.ndarray] = []  # the words of an original and its answers
    sizes: list[int] = []  # of each of them
    for at in answers.groupby(answers).indices.values():
        texts = [ids["o"][at[0]], *ids["h"][at]]
        parts = [np.asarray(of_text.get(text_id, none)) for text_id in texts]
        text_of["o"][at], text_of["h"][at] = len(sizes), len(sizes) + 1 + np.arange(len(at))
        together.append(np.concatenate(parts))
        sizes += map(len, parts)
    copies = [
        sampled.assign(
            pair_id=draw, **{SIDES[side]: of + draw * len(sizes) for side, of in text_of.items()}
        )
        for draw in range(draws)
    ]
    words = [rng.permutation(whole) for _ in range(draws) for whole in together]
    columns = np.concatenate([none, *words])
    ends = np.append(0, np.cumsum(np.tile(sizes, draws)))
    ones = np.ones(len(columns), np.float32)
    counts = csr_matrix((ones, columns, ends), shape=(len(ends) - 1, len(vocabulary)))
    counts.sum_duplicates()
    bags = BagOfWords(counts, pd.RangeIndex(counts.shape[0]), vocabulary)
    return pd.concat(copies), bags


Deals = tuple[int, dict[tuple[str, str | None], np.ndarray]]


def _deals(own: pd.DataFrame, used: np.ndarray, groups: Sequence[str], draws: int) -> Deals:
    """Return how many pairs one fit scored, and its means over them by deal (`pair_id`)."""
    kept = own[np.tile(used, draws)]
    deal = kept["pair_id"].to_numpy()
    values: dict[tuple[str, str | None], pd.Series] = {}
    values["bias", None] = kept["score"].groupby(deal).mean()
    for group in groups:
        change = kept[f"difference_{group}"]
        fell = prejudice.fell(change)
        values["prejudice_share", group] = fell.groupby(deal).mean()
        values["prejudice_extent", group] = change.where(fell == 1).groupby(deal).mean()
    by_deal = {key: of.reindex(range(draws)).to_numpy(float) for key, of in values.items()}
    return int(used.sum()), by_deal


def _levels(by_fit: list[Deals], inference: stats.InferenceSettings) -> list[Row]:
    """Return the chance levels: over the deals, means of all fits that measured them."""
    rows, draws = [], inference.n_permutations
    for statistic, group in by_fit[0][1]:
        measured = [(n, deals[statistic, group]) for n, deals in by_fit if n]
        used = min((n for n, _ in measured), default=0)
        found = np.full((max(len(measured), 1), draws), np.nan)
        for i, (_, deals) in enumerate(measured):
            found[i] = deals
        counted = (~np.isnan(found)).sum(axis=0)
        mean = claims.ratio(np.nansum(found, axis=0), counted)
        level = stats.compare_with_null(np.nan, mean, confidence=inference.confidence)
        rows.append({"statistic": statistic, "group": group, **level, "pairs": used})
    return rows
