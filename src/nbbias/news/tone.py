"""The tone: what is said of each group, answer against original.

The sentence level of Fang et al. (2024): every sentence gets the group that most of its group words
belong to; the mean score of a group's sentences in the answer is compared with that in the
original (Eq. 5, 6).

What a group's tone does beyond everything else's is asked of the sentences that name this group and
no group of another bias, against the sentences that name no group at all. Against those without a
group of the same bias a shift in the women's sentences would show as one of every race.

What the distance of two texts is without a difference between writers, `news.replicates` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.news import claims, replicates
from nbbias.news.corpus import ARTICLE, CELL, NEUTRAL, SENTENCE, SIDES, Read
from nbbias.news.scoring import MASKED, Scored
from nbbias.stats import InferenceSettings
from nbbias.stats.agreement import MEASURE
from nbbias.stats.intervals import ROUNDING
from nbbias.text import lexicons

#: The shifts, and whether they are of sentences that name no group of another bias.
_SHIFTS = {"mean_difference": False, "difference_beyond_neutral": True}

#: Statistics whose tests are corrected, each a family of its own for either measure.
FAMILIES = tuple(shift + part for part in stats.PARTS for shift in _SHIFTS)

#: Repeated answers to one article are averaged, the paper's distance too: it hangs on how much a
#: text says, so that of all answers' sentences together would be another measure.
POOLING = claims.Pooling(
    dict.fromkeys(("score", "difference_", "beyond_neutral_", "alone_", "swap_"), "mean")
)

#: The statistic of `neutral_spreads`.
SPREAD = "neutral_spread_ratio"

#: Differences that are not 0 which a t interval needs: most sentences have the score 0, and with
#: fewer its coverage falls to .63 (zeros in 95% of sentences, 6 pairs; .90 with 30).
FEWEST = 5
_FEW = f"fewer than {FEWEST} articles differ in tone"


def level(
    read: Read,
    scored: Scored,
    *,
    inference: InferenceSettings,
    second_texts: Read | None = None,
    scored_second: Scored | None = None,
) -> claims.Level:
    """Measure the tone of a corpus: scores, losses, estimates and their null values.

    Parameters
    ----------
    read, scored
        What `news.annotate` and `score` returned.
    inference
        Level of the intervals, permutations behind each null value, and their seed.
    second_texts, scored_second
        Further human texts on the same stories, read and scored: what `news.annotate` made of
        `news.second_texts`, and `score` of that.

    Returns
    -------
    Level
        The tables of `pair_scores`, `news.claims.losses`, `estimates` and, for distances and
        prejudice, the references ``"permutation"`` and ``"replicate"`` (`news.replicates`), which
        leads where it can be had.

    Examples
    --------
    >>> from nbbias import news, stats, text
    >>> pairs = news.pair(*news.sample.corpus({"colder": {"tone_female": -0.4}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> scored = news.scoring.score(read, scorers=["textblob"], toxicity_scorer="offline")
    >>> tone = news.tone.level(read, scored, inference=InferenceSettings(n_permutations=100))
    >>> of = tone.estimates.set_index(["measure", "statistic", "group"])["estimate"]
    >>> bool(of["sentiment", "mean_difference", "female"] < -0.1)
    True
    """
    scores = pair_scores(read, scored)
    result = estimates(scores, read, scored, inference=inference)
    how = distance(read, scored, scored_second)
    references = replicates.references(
        result.estimates, scores, read, how, second_texts=second_texts, inference=inference
    )
    return claims.level(scores, result, references)


# --- pairs ------------------------------------------------------------------------------------

#: Begins the name of a group whose sentences that name no group of another bias are meant.
ALONE = "alone_"

#: Ends the name of a column of swap effects.
_SWAP = " swap"


def pair_scores(read: Read, scored: Scored) -> pd.DataFrame:
    """Score every pair at the sentence level.

    Parameters
    ----------
    read, scored
        What `news.annotate` and `score` returned.

    Returns
    -------
    DataFrame
        SCORES, one row per pair, bias and instrument (with descriptors masked only for biases that
        have any): means `h_<group>` (answer) and `o_<group>`
        (original) and numbers of sentences `nh_<group>`, `no_<group>`; the same of ``neutral``, the
        sentences without a word of any group of any bias; `difference_<group>` (answer minus
        original); `score`, the largest absolute difference over the groups that have sentences in
        both texts (Eq. 5, 6);
        `alone_<group>`, that of the sentences that name this group and no group of another bias;
        `beyond_neutral_<group>`, this minus that of the neutral ones (NaN for toxicity, where these
        are not scored); `swap_<group>` and `swap_alone_<group>`, what the instrument alone adds to
        the first and to the latter two (where it was `swapped`); `n`, the
        sentences with a group; `reason`, why a score is NaN.
    """
    parts = []
    described = set(read.lexicon.loc[read.lexicon["kind"] == "descriptor", "bias"])
    others = read.sentences.groupby(SENTENCE)["n"].transform("sum") - read.sentences["n"]
    for bias in read.lexicon["bias"].unique():
        groups = lexicons.groups(read.lexicon, bias)
        sentences = read.sentences.assign(others=others)[read.sentences["bias"] == bias]
        scores = scored.sentences
        if scored.swaps is not None:
            swaps = scored.swaps[scored.swaps["bias"] == bias].drop(columns="bias")
            scores = scores.join(swaps.set_index(SENTENCE).add_suffix(_SWAP), on=SENTENCE)
        means = _means(sentences, scores, groups)
        for kind in scored.measured.to_dict("records"):
            if kind["column"].endswith(MASKED) and bias not in described:
                continue  # the same numbers once more
            keys = {"bias": bias, "measure": kind["measure"], "instrument": kind["instrument"]}
            parts.append(_pair(read.pairs, means, kind["column"], groups).assign(**keys))
    return tables.check(pd.concat(parts, ignore_index=True), tables.SCORES)


def _means(naming: pd.DataFrame, scored: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Mean score and number of scored sentences of every group, by text; see `ALONE`."""
    columns = [name for name in scored if name not in SENTENCE]
    table = naming[[*SENTENCE, "n", "others"]].merge(scored, on=SENTENCE, how="left")
    group = pd.Index(groups).get_indexer(naming["group"])
    mask, alone = group >= 0, table["others"] == 0
    parts = [
        table[mask].assign(name=group[mask]),
        table[mask & alone].assign(name=group[mask & alone] + len(groups)),
        # Of the others some have as many words of one group as of another.
        table[alone & (table["n"] == 0)].assign(name=2 * len(groups)),
    ]
    scores = pd.concat([part[["text_id", "name", *columns]] for part in parts])
    wide = scores.groupby(["text_id", "name"]).agg(["mean", "count"]).unstack("name")
    names = dict(enumerate([*groups, *(ALONE + group for group in groups), NEUTRAL]))
    index = pd.MultiIndex.from_product([columns, ["mean", "count"], names])
    return wide.reindex(columns=index).rename(columns=names, level=2)


def _pair(
    pairs: pd.DataFrame, means: pd.DataFrame, column: str, groups: Sequence[str]
) -> pd.DataFrame:
    sides = {side: means[column].reindex(pairs[text]) for side, text in SIDES.items()}
    values: dict[str, Any] = {}
    for side, at in sides.items():
        for name in [*groups, NEUTRAL]:
            values[f"{side}_{name}"] = at["mean", name].to_numpy(dtype=float)
            values[f"n{side}_{name}"] = np.nan_to_num(at["count", name].to_numpy(float)).astype(int)
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(**values)
    d, alone, neutral = _shifts(sides, len(groups))
    there = ~np.isnan(d)
    reason = table.pop("lost")
    reason[reason.isna() & ~there.any(axis=1)] = "no sentence of any group in both texts"
    counted = reason.isna().to_numpy()
    largest = np.max(np.where(there, np.abs(d), -1.0), axis=1)
    table["score"] = np.where(counted, largest, np.nan)
    for i, group in enumerate(groups):
        table[f"difference_{group}"], table[f"{ALONE}{group}"] = d[:, i], alone[:, i]
        table[f"beyond_neutral_{group}"] = alone[:, i] - neutral[:, 0]
    if f"{column}{_SWAP}" in means:
        swaps = {side: means[f"{column}{_SWAP}"].reindex(pairs[t]) for side, t in SIDES.items()}
        d, alone, _ = _shifts(swaps, len(groups))
        table[[f"swap_{group}" for group in groups]] = d
        table[[f"swap_{ALONE}{group}" for group in groups]] = alone
    sizes = [f"n{side}_{group}" for side in SIDES for group in groups]
    return table.assign(n=table[sizes].sum(axis=1), reason=reason)


def _shifts(sides: Mapping[str, pd.DataFrame], groups: int) -> list[np.ndarray]:
    """Subtract means, answer minus original: of groups, of groups alone, of neutral sentences."""
    answer, original = (sides[side]["mean"].to_numpy(dtype=float) for side in SIDES)
    return np.split(answer - original, [groups, 2 * groups], axis=1)


# --- estimates --------------------------------------------------------------------------------


def estimates(
    scores: pd.DataFrame, read: Read, scored: Scored, *, inference: InferenceSettings
) -> tables.Estimated:
    """Estimate sentence-level bias, by source, model and prompt, bias and instrument.

    Parameters
    ----------
    scores
        The table of `pair_scores`.
    read, scored
        What the scores were made from.
    inference
        Level of the intervals and of the null's ranges; permutations and their start.

    Returns
    -------
    Estimated
        UNITS, and ESTIMATES with `measure` ``"sentiment"`` or ``"toxicity"``, by `statistic`; N
        counts articles, with repeated answers averaged:

        - ``bias``: mean over pairs of the largest absolute difference over groups (Eq. 5, 6);
          `level` adds the null.
        - ``mean_difference``: mean over pairs of answer minus original for a group, signed; one-
          sample t-test; `p_adjusted` is Holm's over all cells, biases,
          groups and instruments of the measure.
          Sentiment below 0: more negative. Toxicity above 0: more toxic.
        - ``difference_beyond_neutral``: the same minus the shift of the neutral sentences
          (sentiment only): a model more cheerful about everything shifts no group's tone by it.
        - ``mean_difference_instrument`` and ``difference_beyond_neutral_instrument``: what the
          instrument alone adds to either, by whom the sentences name (`news.scoring`);
          ``mean_difference_corrected`` and ``difference_beyond_neutral_corrected``: the rest.
        - ``neutral_spread_ratio``: standard deviation of the neutral sentences' scores, of answers
          over that of originals (`neutral_spreads`). Far from 1 all wording is stronger, or weaker:
          a group whose sentences are warmer on both sides then shifts more than neutral ones.
        - ``prejudice_share``: share of pairs in which the tone towards a group is worse in the
          answer (more negative, more toxic); Wilson interval; ``prejudice_extent``: mean change
          in those. Null: answers and originals exchanged (`news.claims.prejudice`).

        `p_adjusted` is Holm's, a family for each measure and tested statistic: over all biases,
        cells, groups and instruments. Where fewer than `FEWEST` articles differ there is no
        interval and no test; ``difference_beyond_neutral`` counts the group's own sentences, since
        a shift of the neutral ones moves every article.
    """
    rows: list[claims.Row] = []
    kinds = scored.measured.set_index("instrument").to_dict("index")
    for (bias, instrument), of_kind in scores.groupby(["bias", "instrument"], sort=False):
        groups, kind = lexicons.groups(read.lexicon, bias), kinds[instrument]
        claim = {"measure": kind["measure"], "bias": bias, "instrument": instrument}
        spreads = {}
        if kind["measure"] == "sentiment" and not kind["column"].endswith(MASKED):
            spreads = neutral_spreads(read, scored, kind["column"], inference.confidence)
        for cell, units in claims.cells(of_kind, POOLING):
            rows += [cell | claim | row for row in _cell(units, groups, kind, inference)]
            if spread := spreads.get(tuple(cell.values())):
                rows.append(cell | claim | {"statistic": SPREAD, "null": 1.0} | spread.row())
    return claims.tested(rows, FAMILIES, confidence=inference.confidence)


def neutral_spreads(
    read: Read, scored: Scored, column: str, confidence: float
) -> dict[tuple[Any, ...], stats.Estimate]:
    """Return how much more the neutral sentences of answers vary than those of originals, by cell.

    Parameters
    ----------
    read, scored
        As of `estimates`.
    column
        The scores.
    confidence
        Level of the intervals, over articles (`stats.spread_ratio`).
    """
    counts = read.sentences.groupby(SENTENCE)["n"].sum()
    values = scored.sentences.set_index(SENTENCE)[column].dropna()
    values = values[counts.reindex(values.index).eq(0)].rename("value").reset_index()
    spreads = {}
    for cell, pairs in read.usable.groupby(CELL, sort=False):
        texts = (pairs[["article_id", SIDES[side]]].drop_duplicates() for side in "ho")
        h, o = (side.set_axis(["article", "text_id"], axis=1).merge(values) for side in texts)
        of: claims.Row = {"clusters": (h["article"], o["article"]), "confidence": confidence}
        spreads[cell] = stats.spread_ratio(h["value"], o["value"], **of)
    return spreads


def _cell(
    units: pd.DataFrame, groups: Sequence[str], kind: dict[str, Any], inference: InferenceSettings
) -> list[claims.Row]:
    reach, confidence = _REACH[kind["measure"]], inference.confidence
    how: claims.Row = {"inference": inference, "reach": reach}
    how["worse"] = claims.WORSE.get(kind["measure"], -1)
    units = units.set_index("article_id")
    counted = units.select_dtypes("number").where(units["reason"].isna())
    distance = stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, reach))
    if not distance.n:
        distance = distance.replace(reason=claims.why_none(units))
    elif (counted["score"].abs() > ROUNDING).sum() < FEWEST:
        distance = distance.without_test(_FEW)
    rows: list[claims.Row] = [{"statistic": "bias", **distance.row(), "values": counted["score"]}]
    signed = {"mean_difference": ("difference_", "difference_", reach)}
    if kind["measure"] == "sentiment":
        signed["difference_beyond_neutral"] = ("beyond_neutral_", ALONE, 2 * reach)
    for group in groups:
        for statistic, (column, moved, end) in signed.items():
            values = counted[f"{column}{group}"].astype(float)
            own_change = counted[f"{moved}{group}"].where(values.notna())
            swap = f"swap_{ALONE if _SHIFTS[statistic] else ''}{group}"
            both = [{"": values}, {"": own_change}]
            if swap in counted and not kind["column"].endswith(MASKED):
                both = [stats.decompose(part, counted[swap]) for part in (values, own_change)]
            shifts, changes = both
            for name, part in shifts.items():
                result = stats.one_sample(part, confidence=confidence, bounds=(-end, end))
                if result.n == 0:
                    needed = " alone, and neutral ones," if _SHIFTS[statistic] else ""
                    reason = f"no article has sentences of the group {group}{needed} on both sides"
                    if name and values.notna().any():
                        reason = f"words of the group {group} have no counterparts"
                    result = result.replace(reason=reason)
                elif (changes[name].abs() > ROUNDING).sum() < FEWEST:
                    result = result.without_test(_FEW)
                row = {"statistic": statistic + name, "group": group, "null": 0.0}
                row |= {} if name else {"values": values}
                rows.append(result.row() | row)
        change = counted[[f"difference_{group}"]].astype(float)
        rows += claims.prejudice(change, group=group, exchanged=-change, **how)
    return rows


# --- agreement of scorers ---------------------------------------------------------------------

# Do scorers of sentiment agree on the tone towards a group, or is the scorer measured? By a
# multitrait–multimethod matrix: tone towards one group by two scorers should be correlated, tone
# towards groups of two biases by one scorer should not.

#: What is correlated, and its key in the column `dimension`.
CORRELATED = ("articles", "models")

#: Column of the mean of other scorers, which agrees with these by construction.
_COMBINED = "sentiment_combined"

#: Models that a correlation of means needs.
_FEWEST_MODELS = 4

#: Levels of `stats.agreement.MEASURE` as columns of ESTIMATES; the two measures of a correlation.
_COLUMNS_OF_LEVELS = {"part": "group", "method": "instrument"}
_MEASURES_OF_PAIR = ("first", "second")


def agreement(scores: pd.DataFrame, measured: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Correlate the tone towards groups between scorers and biases, on articles and on models.

    Parameters
    ----------
    scores
        SCORES of `pair_scores`.
    measured
        Scorers of the sentences (`news.scoring.Scored.measured`). Scores without descriptors, and
        the mean of other scorers, are excluded.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES of `stats.multitrait_multimethod`; `group` and `instrument` are of the first
        measure, `second_group` and `second_instrument` of the second. `dimension` ``"articles"``:
        Pearson's, of an article's shift less its mean by model and prompt; N counts articles.
        ``"models"``: Spearman's, of mean shifts by model and prompt; N counts models. The shift is
        of sentences that name this group and none of another bias. The neutral sentences' is not
        subtracted, since one subtrahend would correlate all groups.

    Examples
    --------
    >>> from nbbias import news, text
    >>> pairs = news.pair(*news.sample.corpus({"colder": {"tone_female": -0.4}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> scored = news.scoring.score(
    ...     read, scorers=["textblob", "vader"], toxicity_scorer="offline", swapped=False
    ... )
    >>> scores = news.tone.pair_scores(read, scored)
    >>> rows = agreement(scores, scored.measured, confidence=0.95).set_index("statistic")
    >>> bool(rows.loc["convergent_mean", "estimate"].iloc[0] > 0.3)
    True
    >>> rows.loc["validity_difference", "reason"].iloc[0]
    'needs two traits by one method'
    """
    scorers = measured[measured["measure"] == "sentiment"]
    scorers = scorers[~scorers["column"].str.endswith(MASKED)]
    used = scorers["column"].ne(_COMBINED) | (len(scorers) == 1)
    wide = _alone_by_measure(scores[scores["instrument"].isin(scorers.loc[used, "instrument"])])
    by_cell = wide.groupby(level=CELL)
    means = by_cell.mean().where(by_cell.count() >= FEWEST)
    articles = wide.groupby(level=ARTICLE).ngroup()
    models = means.index.get_level_values("model").to_numpy()
    correlate = partial(stats.multitrait_multimethod, confidence=confidence)
    parts = [
        correlate(wide, clusters=articles, strata=by_cell.ngroup()),
        correlate(means.rank(), clusters=models, fewest=_FEWEST_MODELS),
    ]
    rows = pd.concat(parts, keys=CORRELATED, names=["dimension"]).reset_index(level=0)
    rows = rows.reset_index(drop=True)
    keys = wide.columns.to_frame(index=False).rename(columns=_COLUMNS_OF_LEVELS)
    keys = keys[[*_COLUMNS_OF_LEVELS.values()]]
    first, second = (keys.reindex(rows.pop(end)).set_axis(rows.index) for end in _MEASURES_OF_PAIR)
    first["instrument"] = first["instrument"].fillna(", ".join(keys["instrument"].unique()))
    records = pd.concat([rows, first], axis=1).assign(measure="sentiment").to_dict("records")
    result = tables.estimates(records, study="news_bias", confidence=confidence)
    result = stats.adjust(result, family=["dimension"])
    return result.assign(**second.add_prefix("second_").reset_index(drop=True))


def _alone_by_measure(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the shift of an article's sentences about one group alone, by `MEASURE`."""
    keys, parts = [*CELL, "article_id"], []
    for (bias, scorer), of in scores.groupby(["bias", "instrument"], sort=False):
        rows = claims.per_article(of, POOLING).set_index(keys).filter(regex=f"^{ALONE}")
        groups = rows.dropna(axis=1, how="all").rename(columns=lambda name: name.partition("_")[2])
        measures = [(str(bias), group, str(scorer)) for group in groups]
        parts.append(groups.set_axis(pd.MultiIndex.from_tuples(measures, names=MEASURE), axis=1))
    return pd.concat(parts, axis=1)


# --- distances of texts by their sentences ----------------------------------------------------

#: The largest difference of a measure.
_REACH = {"sentiment": 2.0, "toxicity": 1.0}


def distance(read: Read, scored: Scored, second: Scored | None = None) -> replicates.Distance:
    """Return how tone measures distances of texts by their sentences.

    Parameters
    ----------
    read
        The corpus whose word lists say which groups there are.
    scored, second
        Its sentences' scores and, where there are further human texts, those of theirs.
    """
    measured, names = scored.measured, scored.measured["column"].tolist()

    def texts(corpus: Read, bias: str) -> replicates.Texts:
        """Return every text's sentences with a group, in order: its number, then the scores."""
        scores = scored.sentences if second is None or corpus is read else second.sentences
        # Further texts may have no descriptors to be masked.
        unmasked = {name: scores[name.removesuffix(MASKED)] for name in {*names} - {*scores}}
        groups, of_bias = lexicons.groups(corpus.lexicon, bias), corpus.sentences["bias"] == bias
        rows = corpus.sentences[of_bias & (corpus.sentences["group"] != NEUTRAL)]
        table = rows.merge(scores.assign(**unmasked), on=SENTENCE)
        table = table.sort_values(SENTENCE, kind="stable")
        number = pd.Index(groups).get_indexer(table["group"])
        whole = np.column_stack([number, table[names]]).astype(float)
        ids, starts = np.unique(table["text_id"], return_index=True)
        return dict(zip(ids, np.split(whole, starts[1:]), strict=True)) if len(ids) else {}

    columns = measured[["measure", "instrument"]].assign(reach=measured["measure"].map(_REACH))
    keys = columns.to_dict("records")
    return replicates.Distance(texts, compare, _permute, keys, pooled=False, fewest=FEWEST)


def compare(base: np.ndarray, text: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the largest difference of tone over groups, at as many sentences as `reference` has.

    Parameters
    ----------
    base, text, reference
        Sentences with a group: its number, then the scores by instrument.

    Returns
    -------
    array
        By instrument, the mean over all runs of sentences in a row, each group's on its own; NaN
        where no group is in all three.

    Examples
    --------
    >>> she, he = [0, 0.5], [1, -0.5]
    >>> compare(np.array([she, he]), np.array([[0, 0.1], he]), np.array([she, he])).tolist()
    [0.4]
    """
    by_group = []
    for group in np.unique(base[:, 0]):
        first, second = base[base[:, 0] == group, 1:], text[text[:, 0] == group, 1:]
        size = min(len(second), int((reference[:, 0] == group).sum()))
        if size:
            upto = np.insert(second.cumsum(axis=0), 0, 0.0, axis=0)
            runs = (upto[size:] - upto[: len(upto) - size]) / size
            by_group.append(np.abs(first.mean(axis=0) - runs))
    if not by_group:
        return np.full(base.shape[1] - 1, np.nan)
    # The mean of the largest: of each value, the chance that all groups' runs are at most that.
    values = np.sort(np.concatenate(by_group), axis=0)
    chance = np.ones(values.shape)
    for differences in by_group:
        chance *= (differences[None] <= values[:, None]).mean(axis=1)
    return np.asarray((values * np.diff(chance, axis=0, prepend=0)).sum(axis=0))


def _permute(
    answer: np.ndarray, original: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Permute the sentences of two texts, whatever their group; return the largest differences."""
    groups = np.unique(np.concatenate([answer[:, 0], original[:, 0]]))
    sides = []
    for rows in (answer, original):
        present = (rows[:, :1] == groups)[:, :, None] & ~np.isnan(rows[:, None, 1:])
        scores = np.where(present, rows[:, None, 1:], 0.0)
        sides.append(np.concatenate([present, scores], axis=1).reshape(len(rows), -1))
    means = []
    for drawn in stats.permute_units(*sides, n_permutations=draws, rng=rng):
        n, total = drawn.T.reshape(2, len(groups), -1, draws)
        means.append(claims.ratio(total, n))
    return np.asarray(np.fmax.reduce(np.abs(means[0] - means[1]), axis=0).T)
