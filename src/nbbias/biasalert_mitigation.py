"""What a guard is worth: biased generations with and without it, as others label them.

The guard's own judge cannot say: whatever it finds it has already stopped, and whatever it misses
it misses twice. Labels come from people, or from a judge that is another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats as distributions
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import contracts, stats
from nbbias.errors import DataError

STUDY, MEASURE = "biasalert", "mitigation"
_NEEDED = ["text_id", "model", "judge", "stopped", "seconds", "biased_without", "biased_with"]


def estimates(guarded: pd.DataFrame, *, labelled_by: str, confidence: float = 0.95) -> pd.DataFrame:
    """Estimate the share of biased generations with and without a guard.

    Parameters
    ----------
    guarded
        One row per generation, such as `biasalert_guard.guard_texts` makes: `text_id`, `model`
        (who wrote), `judge` (the guard's), `stopped`, `seconds` (added), and the labels
        `biased_without` (of the whole text) and `biased_with` (of what was let through). Of a text
        that was not stopped `biased_with` may be missing, since it is the same text; and of one
        that was stopped before its first word (`characters` is 0), since nothing was said. With
        the guard's `judged` and `without_verdict`, a text that was let through without a verdict
        on any sentence is lost: it was not guarded.
    labelled_by
        ``"people"``, or the name of the judge that labelled.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES with `measure` mitigation, by `model`, with `judge` (the guard's) and `evaluator`
        (who labelled). `statistic`: ``biased_share_without`` and ``biased_share_with`` (Wilson),
        ``biased_share_difference`` (with minus without; below 0 the guard helps; 0 by chance;
        exact McNemar test, Holm over the models; interval of Bonett and Price 2012 for paired
        shares), ``stopped_share`` (Wilson), ``stopped_without_bias`` (share of the generations that
        are not biased which the guard ended: its cost), ``unguarded_share`` (share in which the
        judge gave no verdict on some sentence; where the guard counted them), and ``seconds``
        (mean per text, t interval). Pairs without both labels are counted as lost.

    Raises
    ------
    DataError
        The labels are the guard's own judge's: that would be circular.
    ContractError
        A column is missing.
    """
    contracts.need(guarded, _NEEDED, where="guarded")
    own = {_plain(name) for name in guarded["judge"].dropna().astype(str) if name}
    if _plain(labelled_by) in own:
        raise DataError(
            "guarded",
            f"labels by {labelled_by} would let the guard judge itself; have people label, or a "
            "judge on another model",
        )
    rows: list[dict[str, Any]] = []
    for model, table in guarded.groupby("model", sort=False):
        judges = table["judge"].replace("", np.nan).dropna().unique()
        common = {"model": str(model), "judge": ", ".join(map(str, judges)) or None}
        rows += [common | row for row in _of_one(table, confidence)]
    tested = [row for row in rows if row["statistic"] == "biased_share_difference"]
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in tested], dtype=float))
    for row, p in zip(tested, corrected, strict=True):
        row["p_adjusted"] = p
    return contracts.estimates(
        rows, study=STUDY, measure=MEASURE, evaluator=labelled_by, instrument="guard"
    )


def _plain(name: str) -> str:
    """Return the model behind a judge's name: parts left out do not make it another judge."""
    return name.split(",")[0].strip().lower()


def _of_one(table: pd.DataFrame, confidence: float) -> list[dict[str, Any]]:
    stopped = table["stopped"].astype(bool)
    without = table["biased_without"].astype("boolean")
    labelled = table["biased_with"].astype("boolean")
    silent = stopped & (table["characters"] == 0) if "characters" in table else stopped & False
    with_ = labelled.where(stopped | labelled.notna(), without).mask(
        silent & labelled.isna(), False
    )
    counted = {"judged", "without_verdict"} <= set(table)
    failed = table["without_verdict"] > 0 if counted else stopped & False
    unguarded = failed & ~stopped & (table["judged"] == 0) if counted else failed
    both = without.notna() & with_.notna() & ~unguarded
    lost = int((~both).sum())
    before, after = without[both].astype(bool), with_[both].astype(bool)
    n = int(both.sum())
    fine = both & ~without.fillna(True).astype(bool)

    def share(statistic: str, found: pd.Series, lost: int) -> dict[str, Any]:
        row = stats.proportion_interval(int(found.sum()), len(found), confidence=confidence)
        return {"statistic": statistic, "n_lost": lost, **row}

    found = [
        share("biased_share_without", before, lost),
        share("biased_share_with", after, lost),
        {
            "statistic": "biased_share_difference", "n": n, "n_lost": lost, "null": 0.0,
            **paired_shares(before, after, confidence=confidence),
        },
        share("stopped_share", stopped[~unguarded], int(unguarded.sum())),
        share("stopped_without_bias", stopped[fine], len(table) - int(fine.sum())),
        {
            "statistic": "seconds",
            **stats.mean_interval(
                table["seconds"].astype(float), confidence=confidence, bounds=(0, np.inf)
            ),
        },
    ]  # fmt: skip
    return [*found, share("unguarded_share", failed, 0)] if counted else found


def paired_shares(before: pd.Series, after: pd.Series, *, confidence: float) -> dict[str, Any]:
    """Compare two shares of the same units.

    Parameters
    ----------
    before, after
        Booleans of the same units, in the same order.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate` (share after minus share before), `ci_low`, `ci_high` (Bonett and Price 2012,
        adjusted Wald: one added to either discordant count and two to n), and exact McNemar's
        `test`, `statistic_value` (the smaller discordant count), `p_value`, `reason`.
    """
    row: dict[str, Any] = {"test": "McNemar (exact)", "reason": None}
    n = len(before)
    if n == 0:
        nothing = ("estimate", "ci_low", "ci_high", "statistic_value", "p_value")
        return row | dict.fromkeys(nothing, np.nan) | {"reason": "no unit has both labels"}
    first, second = before.to_numpy(bool), after.to_numpy(bool)
    more, less = int((second & ~first).sum()), int((first & ~second).sum())
    estimate = (more - less) / n
    up, down = (more + 1) / (n + 2), (less + 1) / (n + 2)
    z = distributions.norm.ppf((1 + confidence) / 2)
    half = z * np.sqrt((up + down - (up - down) ** 2) / (n + 2))
    low, high = np.clip([up - down - half, up - down + half], -1, 1)
    tested = mcnemar([[0, more], [less, 0]], exact=True)
    return row | {
        "estimate": estimate, "ci_low": min(low, estimate), "ci_high": max(high, estimate),
        "statistic_value": float(tested.statistic), "p_value": float(min(tested.pvalue, 1.0)),
    }  # fmt: skip
