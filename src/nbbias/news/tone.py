"""Sentence-level bias: the tone of what is said of each group, answer against original.

The measures of Fang et al. (2024): every sentence gets the group that most of its group words
belong to; the mean score of a group's sentences in the answer is compared with that in
the original (Eq. 5, 6).

From sentence scores to claims: how the tone towards a group shifts, and what chance gives.

The chance level permutes the scores of a group's sentences between the two texts of a pair, the
numbers of sentences fixed: it is what the measures are when answer and original speak of
a group in one tone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables, tables as nbbias_tables
from nbbias.news.claims import adjust, ratio, spread
from nbbias.news.corpus import CELL
from nbbias.tables import SCORES, check
from nbbias.text import annotate, lexicons, sentiment, toxicity

NEUTRAL = "neutral"
SIDES = {"h": "generated_text", "o": "original_text"}


def assign(
    sentences: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Give every sentence its group, for every bias.

    Parameters
    ----------
    sentences, matches
        The tables of `text.annotate.annotate`.
    lexicon
        The lists that were searched.

    Returns
    -------
    DataFrame
        SENTENCES, one row per sentence and bias: `text_id`, `sentence_id`, `start`, `end`, `bias`,
        `group` (the one with the most words; ``"neutral"`` where there are none or a tie) and `n`
        (group words).
    """
    tables = []
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = matches[matches["bias"] == bias]
        counts = annotate.count(own, by=["text_id", "sentence_id"], groups=groups)
        table = sentences.merge(counts, on=["text_id", "sentence_id"], how="left")
        words = table[[f"n_{group}" for group in groups]].fillna(0).to_numpy()
        most = words.max(axis=1)
        alone = (words == most[:, None]).sum(axis=1) == 1
        names = np.array(groups, dtype=object)[words.argmax(axis=1)]
        table["group"] = np.where((most > 0) & alone, names, NEUTRAL)
        table["n"] = words.sum(axis=1).astype(int)
        tables.append(table[[*sentences.columns, "group", "n"]].assign(bias=bias))
    return pd.concat(tables, ignore_index=True)


#: Ends the name of the column in which descriptors were taken out before scoring.
MASKED = "_masked"


def score(
    sentences: pd.DataFrame,
    matches: pd.DataFrame,
    *,
    scorers: Sequence[str],
    toxicity_scorer: str,
    device: str = "cpu",
) -> pd.DataFrame:
    """Score the sentences: sentiment of all, toxicity of those that some bias gives a group.

    Parameters
    ----------
    sentences
        The table of `assign`; `text_id` is the text itself.
    matches
        The table of `text.annotate.annotate`.
    scorers
        The instruments of sentiment. Where descriptors ("black") stand in sentences, the first
        instrument scores them once more without: lexicons give such words a tone of their own.
    toxicity_scorer
        The instrument of toxicity, as in `text.toxicity.score`: the costly one, so neutral
        sentences are left out.
    device
        Where Detoxify runs.

    Returns
    -------
    DataFrame
        One row per distinct sentence: `text_id`, `sentence_id`, `sentiment_<scorer>` in [-1, 1]
        (below 0: negative), `sentiment_<first>_masked` where there are descriptors, and `toxicity`
        in [0, 1] (higher is worse), NaN where the sentence has no group in any bias.
    """
    chosen = toxicity.choose(toxicity_scorer)
    versions = [tables.stamp(name) for name in [*scorers, chosen]]
    return _score(sentences, matches, list(scorers), chosen, device, versions)


@tables.stage
def _score(
    sentences: pd.DataFrame, matches: pd.DataFrame, scorers: list[str], toxicity_scorer: str,
    device: str, versions: list[str],
) -> pd.DataFrame:  # fmt: skip
    keys = ["text_id", "sentence_id"]
    distinct = sentences.drop_duplicates(keys)[[*keys, "start", "end"]]
    said = [row.text_id[row.start : row.end] for row in distinct.itertuples()]
    table = distinct[[*keys, "start"]].assign(said=said).reset_index(drop=True)
    for scorer in dict.fromkeys(scorers):
        table[f"sentiment_{scorer}"] = sentiment.score(table["said"], scorer=scorer)["polarity"]
    masked = _masked(table, matches)
    if len(masked):
        first = f"sentiment_{scorers[0]}"
        table[first + MASKED] = table[first]
        again = sentiment.score(masked, scorer=scorers[0])["polarity"]
        table.loc[again.index, first + MASKED] = again
    grouped = sentences.loc[sentences["group"] != NEUTRAL, keys].drop_duplicates()
    has_group = table[keys].merge(grouped, on=keys, how="left", indicator=True)["_merge"] == "both"
    wanted = table["said"].where(has_group.to_numpy())
    table["toxicity"] = toxicity.score(wanted, scorer=toxicity_scorer, device=device)
    return table.drop(columns=["said", "start"])


def _masked(table: pd.DataFrame, matches: pd.DataFrame) -> pd.Series:
    """Return the sentences that hold descriptors, without them: "the black nurse", "the nurse"."""
    descriptors = matches[matches["kind"] == "descriptor"]
    if descriptors.empty:
        return pd.Series([], dtype=object)
    keyed = table.reset_index().merge(
        descriptors, on=["text_id", "sentence_id"], suffixes=("", "_match")
    )
    found = {}
    for at, own in keyed.groupby("index"):
        said, offset = own["said"].iloc[0], own["start"].iloc[0]
        # The same descriptor may stand in the lists of two biases.
        places = own.drop_duplicates("start_match").sort_values("start_match", ascending=False)
        for start, term in zip(places["start_match"], places["term"], strict=True):
            position = start - offset
            for _ in range(lexicons.descriptor_length(term)):
                word = said[position:].split(maxsplit=1)[0]
                said = said[:position] + said[position + len(word) :].lstrip()
        found[at] = said
    return pd.Series(found, dtype=object)


def measures(scored: pd.DataFrame, *, toxicity_scorer: str = "") -> pd.DataFrame:
    """List what was measured: `column`, `measure`, `instrument` and `worse`, the bad direction.

    Where the sentences have a toxicity, its scorer must be named.
    """
    rows = []
    for name in scored.columns:
        if name.startswith("sentiment_"):
            scorer = name.removeprefix("sentiment_").removesuffix(MASKED)
            label = sentiment.instrument(scorer)
            label += ", descriptors masked" if name.endswith(MASKED) else ""
            rows.append((name, "sentiment", label, -1))
    if "toxicity" in scored:
        rows.append(("toxicity", "toxicity", toxicity.instrument(toxicity_scorer), 1))
    return pd.DataFrame(rows, columns=["column", "measure", "instrument", "worse"])


def pair_scores(
    pairs: pd.DataFrame,
    sentences: pd.DataFrame,
    scored: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    measured: pd.DataFrame,
    groups_counted: str = "both",
) -> pd.DataFrame:
    """Score every pair at the sentence level.

    Parameters
    ----------
    pairs
        PAIRS of `news.corpus.pair`.
    sentences, scored
        The tables of `assign` and `score`.
    lexicon
        The lists that were searched.
    measured
        The table of `measures`.
    groups_counted
        ``"both"``: the distance is taken over the groups that have sentences in both texts;
        ``"all"``: only pairs count in which every group has, in both.

    Returns
    -------
    DataFrame
        SCORES, one row per pair, bias and instrument: means `h_<group>` (answer) and `o_<group>`
        (original) and numbers of sentences `nh_<group>`, `no_<group>` (`neutral` is a group here);
        `difference_<group>` (answer minus original); `score`, the largest absolute difference over
        groups (Eq. 5, 6); `beyond_neutral_<group>`, the group's difference minus the neutral
        sentences' (NaN for toxicity, where neutral sentences are not scored); `n`, the sentences
        with a group; `reason`, why a score is NaN.
    """
    tables = []
    table = sentences.merge(scored, on=["text_id", "sentence_id"], how="left")
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = table[table["bias"] == bias]
        for kind in measured.to_dict("records"):
            means = _means(own, kind["column"], groups)
            found = _pair(pairs, means, groups, groups_counted)
            tables.append(
                found.assign(bias=bias, measure=kind["measure"], instrument=kind["instrument"])
            )
    return check(pd.concat(tables, ignore_index=True), SCORES)


def _means(own: pd.DataFrame, column: str, groups: Sequence[str]) -> pd.DataFrame:
    """Mean score and number of scored sentences of every group, by text."""
    kept = own[own[column].notna()]
    grouped = kept.groupby(["text_id", "group"])[column]
    wide = grouped.agg(["mean", "size"]).unstack("group")
    names = [*groups, NEUTRAL]
    columns = pd.MultiIndex.from_product([["mean", "size"], names])
    return wide.reindex(columns=columns)


def _pair(
    pairs: pd.DataFrame, means: pd.DataFrame, groups: Sequence[str], groups_counted: str
) -> pd.DataFrame:
    names = [*groups, NEUTRAL]
    values: dict[str, Any] = {}
    for side, column in SIDES.items():
        at = means.reindex(pairs[column])
        for name in names:
            values[f"{side}_{name}"] = at["mean", name].to_numpy(dtype=float)
            values[f"n{side}_{name}"] = np.nan_to_num(at["size", name].to_numpy(float)).astype(int)
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(**values)
    d = np.column_stack([table[f"h_{g}"] - table[f"o_{g}"] for g in groups])
    there = ~np.isnan(d)
    reason = table.pop("lost")
    enough = there.all(axis=1) if groups_counted == "all" else there.any(axis=1)
    wanted = "every group" if groups_counted == "all" else "any group"
    reason[reason.isna() & ~enough] = f"no sentence of {wanted} in both texts"
    counted = reason.isna().to_numpy()
    largest = np.max(np.where(there, np.abs(d), -1.0), axis=1)
    table["score"] = np.where(counted, largest, np.nan)
    neutral = table[f"h_{NEUTRAL}"] - table[f"o_{NEUTRAL}"]
    for i, group in enumerate(groups):
        table[f"difference_{group}"] = d[:, i]
        table[f"beyond_neutral_{group}"] = d[:, i] - neutral
    sizes = [f"n{side}_{group}" for side in SIDES for group in groups]
    return table.assign(n=table[sizes].sum(axis=1), reason=reason)


def summary(sentences: pd.DataFrame) -> pd.DataFrame:
    """Count the distinct texts' sentences by `bias` and `group`, neutral ones too, with shares."""
    table = (
        sentences.groupby(["bias", "group"], sort=False).size().rename("sentences").reset_index()
    )
    return table.assign(
        share=table["sentences"] / table.groupby("bias")["sentences"].transform("sum")
    )


def agreement(scored: pd.DataFrame, *, scorers: Sequence[str], confidence: float) -> pd.DataFrame:
    """Say how far the instruments of sentiment rank the sentences alike.

    Returns
    -------
    DataFrame
        For every two instruments: `first`, `second`, Spearman's `rho` over distinct sentences with
        its interval and `n`. Sentences of one article are not independent, so the true interval
        is wider.
    """
    rows = []
    for first, second in combinations(dict.fromkeys(scorers), 2):
        sides = scored[f"sentiment_{first}"], scored[f"sentiment_{second}"]
        names = {"first": sentiment.instrument(first), "second": sentiment.instrument(second)}
        rows.append(names | stats.rank_correlation(*sides, confidence=confidence))
    return pd.DataFrame(rows, columns=["first", "second", "rho", "ci_low", "ci_high", "n"])


Row = dict[str, Any]

#: A change this small is rounding, not a change.
ROUNDING = 1e-12


def estimates(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    sentences: pd.DataFrame,
    scored: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    measured: pd.DataFrame,
    confidence: float = 0.95,
    draws: int = 500,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate sentence-level bias, by source, model and prompt, bias and instrument.

    Parameters
    ----------
    scores
        The table of `news.tone.pair_scores`.
    pairs, sentences, scored
        What the scores were made from.
    lexicon, measured
        The lists behind the groups, and the table of `news.tone.measures`.
    confidence
        Level of the intervals and of the range of each chance level.
    draws, seed
        Permutations behind each chance level, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES with `measure` ``"sentiment"`` or ``"toxicity"``, by `statistic`; N counts pairs:

        - ``bias``: mean over pairs of the largest absolute difference over groups (Eq. 5, 6);
          one-sided permutation p.
        - ``mean_difference``: mean over pairs of answer minus original for a group, signed; one-
          sample t-test; `p_adjusted` is Holm's over all cells and groups of a bias and instrument.
          Sentiment below 0: more negative. Toxicity above 0: more toxic.
        - ``difference_beyond_neutral``: the same minus the shift of the neutral sentences
          (sentiment only): a model more cheerful about everything shifts no group's tone by it.
        - ``prejudice_share``: share of pairs in which the tone towards a group is worse in the
          answer (more negative, more toxic); Wilson interval; ``prejudice_extent``: mean change
          in those. Both are far from 0 by chance alone and are not tested against 0.
    """
    tables = []
    blocks = _blocks(sentences, scored, list(measured["column"]))
    for bias in scores["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        of_bias = scores[scores["bias"] == bias]
        chance = _chance(
            of_bias, pairs, blocks[bias], groups, measured,
            confidence=confidence, draws=draws, rng=np.random.default_rng(seed),
        )  # fmt: skip
        for number, kind in enumerate(measured.to_dict("records")):
            own = of_bias[of_bias["instrument"] == kind["instrument"]]
            rows: list[Row] = []
            for cell, in_cell in own.groupby(CELL, sort=False):
                key = dict(zip(CELL, cell, strict=True))
                found = _cell(in_cell, groups, kind, chance[cell], number, confidence)
                rows += [key | row for row in found]
            for statistic in ("mean_difference", "difference_beyond_neutral"):
                adjust(rows, groups, statistic=statistic, mirrored=False)
            tables.append(
                nbbias_tables.estimates(
                    rows, study="news_bias", measure=kind["measure"], bias=bias,
                    instrument=kind["instrument"],
                )
            )  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def _cell(
    own: pd.DataFrame, groups: Sequence[str], kind: dict[str, Any], chance: dict[str, Any],
    number: int, confidence: float,
) -> list[Row]:  # fmt: skip
    counted = own[own["reason"].isna()]
    lost = own["reason"].dropna().value_counts()
    why = "; ".join(f"{reason} ({n})" for reason, n in lost.items()) or "no pairs"
    reach = 2.0 if kind["measure"] == "sentiment" else 1.0
    row = stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, reach))
    means = chance["distance"][:, number]
    row |= {"n_lost": len(own) - row["n"], **spread(means, confidence)}
    if row["n"]:
        beyond = (means >= row["estimate"] - 1e-12).sum()
        row |= {
            "null": means.mean(), "test": "permutation", "p_value": (1 + beyond) / (1 + len(means))
        }  # fmt: skip
    else:
        row["reason"] = why
    rows: list[Row] = [{"statistic": "bias", **row}]
    for group in groups:
        change = counted[f"difference_{group}"].dropna()
        rows.append(_tested(change, own, "mean_difference", group, confidence, reach, null=0.0))
        if kind["measure"] == "sentiment":
            beyond_neutral = counted[f"beyond_neutral_{group}"].dropna()
            rows.append(
                _tested(
                    beyond_neutral, own, "difference_beyond_neutral", group, confidence, 2 * reach,
                    null=0.0,
                )
            )  # fmt: skip
        rows += _prejudice(change, own, group, kind, chance[group], number, confidence, reach)
    return rows


def _tested(
    values: pd.Series, own: pd.DataFrame, statistic: str, group: str, confidence: float,
    reach: float, *, null: float,
) -> Row:  # fmt: skip
    row = stats.one_sample(values, confidence=confidence, bounds=(-reach, reach))
    if row["n"] == 0:
        row["reason"] = f"no pair has sentences of the group {group} in both texts"
    row["n_lost"] = len(own) - row["n"]
    return {"statistic": statistic, "group": group, "null": null, **row}


def _prejudice(
    change: pd.Series, own: pd.DataFrame, group: str, kind: dict[str, Any],
    chance: dict[str, np.ndarray], number: int, confidence: float, reach: float,
) -> list[Row]:  # fmt: skip
    worse = change[change * kind["worse"] > ROUNDING]
    share = stats.proportion_interval(len(worse), len(change), confidence=confidence)
    bounds = (-reach, 0.0) if kind["worse"] < 0 else (0.0, reach)
    extent = stats.mean_interval(worse, confidence=confidence, bounds=bounds)
    lost = {"n_lost": len(own) - len(change)}
    times, change_sum = chance["worse"][:, number], chance["change"][:, number]
    shares = ratio(times, np.full(len(times), len(change)))
    extents = ratio(change_sum, times)
    return [
        {
            "statistic": "prejudice_share", "group": group, **share, **lost,
            "null": ratio(times.sum(), len(change) * len(times)), **spread(shares, confidence),
        },
        {
            "statistic": "prejudice_extent", "group": group, **extent, **lost,
            "null": ratio(change_sum.sum(), times.sum()), **spread(extents, confidence),
        },
    ]  # fmt: skip


# --- chance -----------------------------------------------------------------------------------

Blocks = dict[tuple[Any, str], np.ndarray]


def _blocks(
    sentences: pd.DataFrame, scored: pd.DataFrame, columns: Sequence[str]
) -> dict[str, Blocks]:
    """Return the scores of every text's sentences of every group: sentences by instruments."""
    table = sentences[sentences["group"] != NEUTRAL].merge(scored, on=["text_id", "sentence_id"])
    found: dict[str, Blocks] = {bias: {} for bias in sentences["bias"].unique()}
    for (bias, text_id, group), own in table.groupby(["bias", "text_id", "group"], sort=False):
        found[bias][text_id, group] = own[list(columns)].to_numpy(dtype=float)
    return found


def _chance(
    scores: pd.DataFrame, pairs: pd.DataFrame, blocks: Blocks, groups: Sequence[str],
    measured: pd.DataFrame, *, confidence: float, draws: int, rng: np.random.Generator,
) -> dict[Any, dict[str, Any]]:  # fmt: skip
    """Permute every pair's scores within each group, for all instruments at once."""
    kinds = len(measured)
    first = scores[scores["instrument"] == measured["instrument"].iloc[0]]
    texts = pairs.set_index("pair_id")[list(SIDES.values())]
    worse = measured["worse"].to_numpy()
    found = {}
    for cell, own in first.groupby(CELL, sort=False):
        total, counted = np.zeros((draws, kinds)), 0
        by_group = {
            g: {"worse": np.zeros((draws, kinds)), "change": np.zeros((draws, kinds))}
            for g in groups
        }
        for pair in own.loc[own["reason"].isna(), "pair_id"]:
            h, o = texts.loc[pair]
            largest = np.zeros((draws, kinds))
            for group in groups:
                one, other = blocks.get((h, group)), blocks.get((o, group))
                if one is None or other is None:
                    continue
                d = permuted_means(one, other, draws=draws, rng=rng)
                d = np.nan_to_num(d)  # an instrument without a score on a side has no difference
                largest = np.maximum(largest, np.abs(d))
                down = d * worse > ROUNDING
                by_group[group]["worse"] += down
                by_group[group]["change"] += np.where(down, d, 0.0)
            total += largest
            counted += 1
        distance = total / counted if counted else np.full((draws, kinds), np.nan)
        found[cell] = {"distance": distance, **by_group}
    return found


def permuted_means(
    first: np.ndarray, second: np.ndarray, *, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Deal the scores of two texts out anew; return the difference of their means.

    Parameters
    ----------
    first, second
        Scores, sentences by instruments; at least one sentence each.
    draws
        Deals; each gives the first text as many scores as it had.
    rng
        The source of chance.

    Returns
    -------
    array
        Draws by instruments: mean of the first minus mean of the second.
    """
    gaps = np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0)
    if gaps.any():  # each instrument by itself, over the sentences that it scored
        columns = [
            _permuted_means(
                one[~np.isnan(one)][:, None], other[~np.isnan(other)][:, None], draws, rng
            )
            for one, other in zip(first.T, second.T, strict=True)
        ]
        return np.hstack(columns)
    return _permuted_means(first, second, draws, rng)


def _permuted_means(
    first: np.ndarray, second: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    both = np.vstack([first, second])
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        return np.full((draws, both.shape[1]), np.nan)
    dealt = rng.random((draws, n + m)).argsort(axis=1)[:, :n]
    mean = both[dealt].sum(axis=1) / n
    rest = (both.sum(axis=0) - mean * n) / m
    return mean - rest


def counted_by_choice(scores: pd.DataFrame, *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Count the pairs under each choice of which groups must be there.

    Returns
    -------
    DataFrame
        The cell, `bias`, `pairs`, and how many have, in both texts, sentences of `any_group`, of
        `all_groups` and of each group.
    """
    rows = []
    first = scores[scores["instrument"] == scores["instrument"].iloc[0]]
    for (*cell, bias), own in first.groupby([*CELL, "bias"], sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        both = {g: (own[f"nh_{g}"] > 0) & (own[f"no_{g}"] > 0) for g in groups}
        table = pd.DataFrame(both)
        row = dict(zip(CELL, cell, strict=True)) | {"bias": bias, "pairs": len(own)}
        row |= {
            "any_group": int(table.any(axis=1).sum()),
            "all_groups": int(table.all(axis=1).sum()),
        }
        rows.append(row | {group: int(table[group].sum()) for group in groups})
    return pd.DataFrame(rows)
