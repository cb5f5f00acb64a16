"""Where judges go wrong: reported speech, counter-speech, plain mentions of a group, dialect.

The checks are sentences written for this project, labelled as the paper's annotation guide says:
who reports a bias, or speaks against it, is not biased; who agrees with it is, and so is who
counters one generalisation with another. They are few and mild: a way to see a weakness, no
benchmark.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.detection import INFERENCE, cases_of
from nbbias.stats import InferenceSettings
from nbbias.tables import DataError, read_shipped_table

Row = dict[str, Any]

REPORTED, COUNTER, MENTION, DIALECT = CATEGORIES = (
    *("reported speech", "counter-speech", "plain mention", "dialect"),
)

MEASURE = "checks"

#: The variety that the others are compared with.
STANDARD = "standard"


def checks() -> pd.DataFrame:
    """Return the checks as LABELLED.

    Returns
    -------
    DataFrame
        `text_id`, `text`, `biased`, `bias_type`, `group`, `attribute` (missing where none is said);
        `category` of `CATEGORIES`; and of dialect only, `pair_id`, which two sentences of one
        content share, and `variety`, the name of a variety or ``"standard"``.

    Examples
    --------
    >>> sorted(checks()["category"].unique())
    ['counter-speech', 'dialect', 'plain mention', 'reported speech']
    """
    table = read_shipped_table("biasalert/checks.csv").rename(columns={"check_id": "text_id"})
    texts = ["text_id", "text", "category", "bias_type", "group", "attribute", "pair_id", "variety"]
    return table.astype(dict.fromkeys(texts, "str")).astype({"biased": bool})


def estimates(
    judgements: pd.DataFrame,
    checked: pd.DataFrame | None = None,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str = "checks",
    correction: str = "holm",
) -> pd.DataFrame:
    """Estimate how often judges err on each kind of check.

    Parameters
    ----------
    judgements
        JUDGEMENTS of the checks, of one judge or more.
    checked
        The checks (`checks()` by default), or sentences of your own with the same columns.
    inference
        Level of the intervals.
    source, correction
        Name of the checks; ``"holm"`` or ``"fdr_bh"``.

    Returns
    -------
    DataFrame
        ESTIMATES, with the category in `dimension`; `n_lost` counts texts without a verdict:

        - ``false_alarm_rate``: share of the unbiased texts called biased; ``miss_rate``: share of
          the biased texts not called so. Wilson intervals. `null` is the rate if the judge flagged
          as many of all checks without regard to what they are, with its exact range.
        - ``dialect_difference``: mean difference of the judge's probability (of its verdict, where
          it gives none) between a sentence in another variety and the same content in standard
          English, in [-1, 1]; paired t, corrected over the judge's varieties. Rows of one variety
          name it in `group`; above 0 where the variety is held for more biased.

    Raises
    ------
    ContractError, DataError
        As `biasalert.detection.cases_of`; or a pair is not one of two varieties.
    """
    checked = checks() if checked is None else checked
    tables.require_columns(checked, ["text_id", "biased", "category"], where="checks")
    used = detection.instruments(judgements)
    rows: list[Row] = []
    for case in cases_of(judgements, checked, cluster=None)[0]:
        own = judgements[judgements["judge"].astype(str) == case.judge].set_index("text_id")
        given = own["confidence"].reindex(checked["text_id"]).to_numpy(float)
        score = case.verdicts.biased if np.isnan(given).all() else given
        table = checked.assign(
            flagged=case.verdicts.biased,
            score=np.where(np.isnan(case.verdicts.biased), np.nan, score),
        )
        key: Row = {"judge": case.judge, "instrument": used[case.judge]}
        pairs = _pairs(table)
        found = _errors(table, inference.confidence) + _dialect(pairs, inference.confidence)
        rows += [key | row for row in found]
    table = tables.estimates(
        rows, study=detection.STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )
    # All pairs together are no further test where there are several varieties, which are a family.
    by = [table["judge"], table["group"].isna()]
    dialect = {"statistic": "dialect_difference"}
    return stats.adjust(table, family=by, where=dialect, method=correction)


def _errors(table: pd.DataFrame, confidence: float) -> list[Row]:
    judged = table[table["flagged"].notna()]
    everywhere = len(judged), int(judged["flagged"].sum())
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows: list[Row] = []
    for (category, biased), own in table.groupby(["category", "biased"], sort=False):
        known = own["flagged"].dropna()
        wrong = int((known != float(biased)).sum())
        row: Row = {
            "dimension": category,
            "n_lost": len(own) - len(known),
            "statistic": "miss_rate" if biased else "false_alarm_rate",
        }
        row |= stats.proportion_interval(wrong, len(known), confidence=confidence).row()
        if len(known):
            # Drawn without regard to what they are: as many as are flagged, or left, of all checks.
            pool = everywhere[0] - everywhere[1] if biased else everywhere[1]
            low, high = hypergeom.ppf(tails, everywhere[0], pool, len(known)) / len(known)
            row |= {"null": pool / everywhere[0], "null_low": low, "null_high": high}
        rows.append(row)
    return rows


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per pair of one content: `variety`, and `score` and `standard` score."""
    if not {"pair_id", "variety"} <= set(table) or table["pair_id"].isna().all():
        return pd.DataFrame(columns=["variety", "score", "standard"])
    own = table[table["pair_id"].notna()]
    standard = own["variety"] == STANDARD
    first, second = own[~standard].set_index("pair_id"), own[standard].set_index("pair_id")
    alone = set(first.index) ^ set(second.index)
    if alone or first.index.has_duplicates or second.index.has_duplicates:
        raise DataError(
            "checks",
            f"a pair has one sentence in {STANDARD} English and one in another variety; "
            f"look at {', '.join(sorted(alone)[:3]) or 'pairs with more than two sentences'}",
        )
    return first[["variety", "score"]].assign(standard=second["score"])


def _dialect(pairs: pd.DataFrame, confidence: float) -> list[Row]:
    varieties = list(pairs.groupby("variety", sort=False))
    parts: list[tuple[str | None, pd.DataFrame]] = [(None, pairs)] if len(pairs) else []
    parts += [(str(name), own) for name, own in varieties] if len(varieties) > 1 else []
    rows: list[Row] = []
    for variety, own in parts:
        row = stats.paired_difference(own["score"], own["standard"], confidence=confidence).row()
        if not np.isfinite(row["p_value"]):  # no spread is no certainty
            row |= {"ci_low": np.nan, "ci_high": np.nan}
        key: Row = {"dimension": DIALECT, "group": variety, "statistic": "dialect_difference"}
        rows.append(key | {"null": 0.0} | row)
    return rows


def wrong(judgements: pd.DataFrame, checked: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the checks that judges got wrong, with the verdict: `judge`, `category`, `biased`, ….

    Parameters
    ----------
    judgements, checked
        As in `estimates`.

    Returns
    -------
    DataFrame
        `judge`, `category`, `biased` (the label), `said` (the verdict), `confidence`, `text_id` and
        `text`. The texts voice stereotypes: show them collapsed, and no more than are needed.
    """
    checked = checks() if checked is None else checked
    own = checked[["text_id", "text", "category", "biased"]].merge(
        judgements[["text_id", "judge", "biased", "confidence"]].rename(columns={"biased": "said"}),
        on="text_id",
    )
    own = own[own["said"].notna() & (own["said"] != own["biased"])]
    columns = ["judge", "category", "biased", "said", "confidence", "text_id", "text"]
    return own[columns].sort_values(["judge", "category"], kind="stable").reset_index(drop=True)
