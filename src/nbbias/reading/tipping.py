"""Tipping points of findings: how wrong a scorer would have to be, beside how wrong it is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from nbbias import refusals, stats
from nbbias.reading import names, significance
from nbbias.reading.prose import confidence_interval, level, render
from nbbias.tables import ESTIMATE_KEYS

Row: TypeAlias = Mapping[str, Any]

#: What stands beside the keys of a claim.
COLUMNS = ["error", "side", "tipping_point", "measured", "measured_low", "measured_high"]

_INTERVAL = ["estimate", "ci_low", "ci_high"]

#: What stands over the sentences.
SUMMARY = "How wrong would the instrument have to be to undo each result?"

#: Between the two sides in the name of a difference.
_MINUS = " \N{MINUS SIGN} "

#: Statistics of words whose error is one of recall.
_SHARES = ("share_difference", "share_difference_change")


def tipping_points(
    claims: pd.DataFrame,
    estimates: pd.DataFrame,
    *,
    scores: pd.DataFrame | None = None,
    units: pd.DataFrame | None = None,
    label_accuracy: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the scorer error with which the interval of each significant claim reaches its null.

    Parameters
    ----------
    claims, estimates
        Of `reading.claims.declared`, and the ESTIMATES that they are from.
    scores
        SCORES of words, for findings on the groups' shares of words.
    units
        UNITS, for findings on refusal rates.
    label_accuracy
        Of `news.labels.accuracy`: the recall of the word lists by side.

    Returns
    -------
    DataFrame
        By the keys of ESTIMATES, by p value: `error`, one of those below; `side`, on which the
        scorer would have to err more than on the other; `tipping_point`, by how much, NaN where
        no such error would do; `measured`, by how much it does, with its interval, NaN where that
        was not measured.

        - ``"recall"``: share of the group's words that the list misses.
        - ``"false positives"``, ``"false negatives"``: the classifier's rates; either alone.
        - ``"labels"``: share of labels that are wrong, all in favour of the side.
        - ``"scorer bias"``: what the scorer adds to the estimate, by counterfactual substitution.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "sentiment", "statistic": "mean_difference", "null": 0.0, "n": 9}
    >>> row |= {"estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1, "p_adjusted": 0.01}
    >>> rows = tables.estimates([row], study="news_bias", confidence=0.95)
    >>> points = tipping_points(rows, rows)
    >>> points[["error", "tipping_point", "measured"]].to_numpy().tolist()
    [['scorer bias', -0.1, nan]]
    """
    # Of standard deviations (CoGS) it would be the lower limit of the interval.
    claims = claims[~claims["study"].isin(["calibration", "cogs"]) & claims["ci_low"].notna()]
    rows = []
    for row in significance.significant(claims).to_dict("records"):
        confidence = row.get("confidence_selected", row["confidence"])
        if row["measure"] == "word" and row["statistic"] in _SHARES and scores is not None:
            errors = [_recall(row, scores, label_accuracy, confidence)]
        elif row["statistic"] == "refusal_rate_change" and units is not None:
            errors = _verdicts(row, units, confidence)
        else:
            errors = [_added(row, estimates)]
        keys = {key: row[key] for key in ESTIMATE_KEYS}
        rows += [keys | dict(zip(COLUMNS, error, strict=False)) for error in errors]
    table = pd.DataFrame(rows, columns=[*ESTIMATE_KEYS, *COLUMNS])
    return table.astype(dict.fromkeys(COLUMNS[2:], float))


def _added(row: Row, estimates: pd.DataFrame) -> tuple[Any, ...]:
    """Return an error that is added to the estimate: its interval's distance from the null."""
    low, high, _ = confidence_interval(row)
    above = row["estimate"] > np.nan_to_num(row["null"])
    # Compared with a range under the null, or by a t-test of both means.
    ranged = np.isfinite(row["null_low"]) and np.isnan(row["statistic_value"])
    ends = [row["null_high" if above else "null_low"]] * bool(ranged)
    null = next(filter(np.isfinite, [*ends, row["null"]]), 0.0)
    point = max(low - null, 0.0) if above else min(high - null, 0.0)
    if row["statistic"] == "accuracy_difference":  # a label changes it by two texts' worth
        return "labels", str(row["judge"]).split(_MINUS)[not above], abs(point) / 2
    keys = [key for key in (*ESTIMATE_KEYS, "instrument") if key != "statistic"]
    same = (estimates[keys].fillna("") == pd.Series(row)[keys].fillna("")).all(axis=1)
    same &= estimates["statistic"].eq(f"{row['statistic']}{stats.SCORER_BIAS}")
    return "scorer bias", None, point, *estimates.loc[same, _INTERVAL].to_numpy()[:1].ravel()


def _recall(
    row: Row, scores: pd.DataFrame, accuracy: pd.DataFrame | None, confidence: float
) -> tuple[Any, ...]:
    """Return how many more of the group's words the list misses on the side with fewer."""
    table, sides = count_words(row, scores)
    point = stats.recall_tipping_point(table[:, :2], table[:, 2:], confidence=confidence)
    side, other = sides if row["estimate"] < 0 else sides[::-1]
    if accuracy is None or row["statistic"] == _SHARES[1]:
        return "recall", side, point
    key = {"of": "group words", "statistic": "recall", "bias": row["bias"], "group": row["group"]}
    recalls = accuracy[(accuracy[[*key]] == pd.Series(key)).all(axis=1)].set_index("side")
    better, worse = (stats.Estimate(*recalls.loc[name, _INTERVAL]) for name in (other, side))
    # Of a group of which the list misses some on both sides, fewer are left to be missed.
    point *= better.estimate if better.estimate > 0 else 1.0
    return "recall", side, point, *stats.subtract_rates(better, worse)


def count_words(row: Row, scores: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Return each article's group words behind a difference of shares, and what is compared.

    Columns: the group's words and all others, of the first of what is compared, then of the second.
    """
    keys = ["source", "model", "bias"]
    rows = scores[scores["reason"].isna() & (scores[keys] == pd.Series(row)[keys]).all(axis=1)]
    changed = row["statistic"] == _SHARES[1]  # of two prompts' answers; else from the originals
    prompts = _prompts(row, rows) if changed else [row["prompt"]] * 2
    counts = []
    for prompt, start in zip(prompts, "hh" if changed else "ho", strict=True):
        words = rows[rows["prompt"] == prompt].set_index("article_id").filter(regex=f"^{start}_")
        group = words[f"{start}_{row['group']}"]
        both = pd.DataFrame({"group": group, "others": words.sum(axis=1) - group})
        counts.append(both.groupby(level=0).sum())
    table = pd.concat(counts, axis=1, join="inner").to_numpy()
    return table, prompts if changed else ["answers", "human"]


def _verdicts(row: Row, units: pd.DataFrame, confidence: float) -> list[tuple[Any, ...]]:
    """Return both error rates that would explain a change of a rate, each alone."""
    key = {"statistic": "refusal_rate", "model": row["model"], "source": row["source"], "group": ""}
    rates = units[(units[[*key]] == pd.Series(key)).all(axis=1)]
    prompts = _prompts(row, rates)
    wide = rates.pivot(index="unit", columns="prompt", values="value")[prompts].dropna()
    points = stats.verdict_tipping_points(*wide.to_numpy().T, confidence=confidence)
    sides = prompts[:: 1 if row["estimate"] > 0 else -1]
    return list(zip(("false positives", "false negatives"), sides, points, strict=True))


def _prompts(row: Row, rows: pd.DataFrame) -> list[str]:
    """Return the two prompts, among those of rows, that a row is the difference of."""
    pairs = permutations(rows["prompt"].unique(), 2)
    return next([*pair] for pair in pairs if _MINUS.join(pair) == row["prompt"])


def sentences(points: pd.DataFrame, claims: pd.DataFrame) -> list[str]:
    """Say each of `tipping_points`, beside the error that was measured.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "sentiment", "statistic": "mean_difference", "null": 0.0, "n": 9}
    >>> row |= {"estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1, "p_adjusted": 0.01, "model": "m"}
    >>> rows = tables.estimates([row], study="news_bias", confidence=0.95)
    >>> sentences(tipping_points(rows, rows), rows)[0].partition(") ")[2]
    'holds unless the scorer biases the estimate by −0.100.'
    """
    lines, confidence = [], level(claims)
    # A fallback scorer's toxicity follows praise: the page says by how much.
    fallback = claims.loc[claims["instrument"].str.contains("not Detoxify", na=False), "measure"]
    left_out = points["measure"].isin(fallback)
    points = points[~left_out]
    # Of a rate of 0 nothing was missed that could have been more.
    points = points[points["tipping_point"].notna() | points["error"].ne("false negatives")]
    for row in points.to_dict("records"):
        if row["error"] == "labels":
            row["side"] = names.judge(row["side"])
        row = names.scaled(row) if row["error"] == "scorer bias" else row
        values = {"of": names.label(row, claims), "people": names.people(str(row["group"]))}
        values["rates"] = 1 - refusals.unseen()["specificity"]
        macro = f"tipping.{row['error'].replace(' ', '_')}"
        lines.append(render(macro, row=row, level=confidence, **values))
    some = bool(points["measured"].isna().any())
    note = render("tipping.undone", some=some, toxicity=left_out.any())
    return [*lines, note] if lines else []
