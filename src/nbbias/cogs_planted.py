"""What was planted in the CoGS sample, beside what the study found."""

from __future__ import annotations

import pandas as pd

from nbbias.cogs_affinity import ALL
from nbbias.report import number
from nbbias.simulate_cogs import SAMPLE_JUDGES, SAMPLE_WRITERS


def writers(estimates: pd.DataFrame) -> pd.DataFrame:
    """Say of each simulated writer which identity was planted as the nearest, and which was found.

    Parameters
    ----------
    estimates
        Of `cogs_estimates.rbs`.

    Returns
    -------
    DataFrame
        By `model` and `axis`: `planted` (the identity, or ``"none"``), `found`, `rbs` and its
        `p_adjusted`. Empty where no writer was simulated.
    """
    whole = estimates[["task", "topic"]].isna().all(axis=1)
    own = estimates[whole & (estimates["statistic"] == "rbs")]
    groups = estimates[estimates["statistic"] == "distance"].groupby("bias")["group"].unique()
    rows = [
        {
            "model": row.model, "axis": row.bias,
            "planted": next((i for i in groups[row.bias] if SAMPLE_WRITERS[row.model].get(i)),
                            "none"),
            "found": row.group, "rbs": row.estimate, "p_adjusted": row.p_adjusted,
        }
        for row in own[own["model"].isin(list(SAMPLE_WRITERS))].itertuples()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "axis", "planted", "found", "rbs", "p_adjusted"])


def judges(estimates: pd.DataFrame) -> pd.DataFrame:
    """Say of each simulated judge what was planted and what was found.

    Parameters
    ----------
    estimates
        Of `cogs_affinity.abs_estimates`.

    Returns
    -------
    DataFrame
        By `evaluator`, `model` and `axis`: `planted_identity` and `planted_position` (``"yes"`` or
        ``"no"``), and of ``abs_raw``, ``abs`` and ``position`` the estimate and its p value before
        correction. Empty where no judge was simulated.
    """
    known = estimates[estimates["evaluator"].isin(list(SAMPLE_JUDGES))]
    rows = []
    for (evaluator, model, axis), own in known.groupby(["evaluator", "model", "bias"], sort=False):
        plan = SAMPLE_JUDGES[evaluator]
        row = {
            "evaluator": evaluator, "model": model, "axis": axis,
            "planted_identity": "yes" if any(plan.identity.values()) else "no",
            "planted_position": "yes" if any(plan.position) else "no",
        }  # fmt: skip
        for statistic in ("abs_raw", "abs", "position"):
            hit = own[own["statistic"] == statistic].iloc[0]
            row |= {statistic: hit["estimate"], f"p_{statistic}": hit["p_value"]}
        rows.append(row)
    return pd.DataFrame(rows)


def writers_in_words(table: pd.DataFrame, *, confidence: float) -> str:
    """Say how often the planted nearest identity was found, and one where none was planted."""
    planted = table[table["planted"] != "none"]
    beyond = table["p_adjusted"] < 1 - confidence
    right = int((beyond & (table["planted"] == table["found"])).sum())
    false = int((beyond & (table["planted"] == "none")).sum())
    return (
        f"An identity was planted as the nearest in {len(planted)} of {len(table)} cells and found "
        f"beyond chance in {right} of these; where none was planted, {false} of "
        f"{len(table) - len(planted)} are beyond chance."
    )


def judges_in_words(table: pd.DataFrame, *, confidence: float) -> list[str]:
    """Count, for each way, the judges and axes that it calls biased, by what was planted."""
    sentences = []
    all_writers = table[table["model"] == ALL] if (table["model"] == ALL).any() else table
    names = {"abs_raw": "ABS as published", "abs": "ABS with orders balanced",
             "position": "The spread over positions"}  # fmt: skip
    for way, name in names.items():
        what = "position" if way == "position" else "identity"
        there = all_writers[f"planted_{what}"] == "yes"
        found = all_writers[f"p_{way}"] < 1 - confidence
        sentences.append(
            f"{name}: p below {number(1 - confidence)}, before correction, in "
            f"{int((found & there).sum())} of {int(there.sum())} cells where a "
            f"preference for {what} was planted, and in {int((found & ~there).sum())} of "
            f"{int((~there).sum())} where none was."
        )
    return sentences
