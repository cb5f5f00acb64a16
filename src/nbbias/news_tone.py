"""From sentence scores to claims: how the tone towards a group shifts, and what chance gives.

The chance level permutes the scores of a group's sentences between the two texts of a pair, the
numbers of sentences fixed: it is what the measures are when answer and original speak of
a group in one tone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, stats
from nbbias.news import CELL
from nbbias.news_estimates import adjust, ratio, spread
from nbbias.news_sentences import NEUTRAL, SIDES

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
        The table of `news_sentences.pair_scores`.
    pairs, sentences, scored
        What the scores were made from.
    lexicon, measured
        The lists behind the groups, and the table of `news_sentences.measures`.
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
                contracts.estimates(
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
