"""What the estimates of the LLMBI study say, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.reading import claims, escape, estimate_sentence, interval, number, p_value


def index(estimates: pd.DataFrame, *, subject: str = "The index of **{model}** is") -> list[str]:
    """Say the index of every model, beside neutral prose; `subject` may name columns.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "estimate": float("nan"), "reason": "no answer"}
    >>> index(pd.DataFrame([row | {"n": 0}]))
    ['The index of **a** is not measured: no answer (N = 0 prompts).']
    """
    return [
        estimate_sentence(
            row, subject=subject.format_map({k: escape(v) for k, v in row.items()}),
            unit="prompts", null="Neutral prose of the same length",
        )
        for row in _rows(estimates, "index")
    ]  # fmt: skip


def differences(estimates: pd.DataFrame) -> list[str]:
    """Say every difference between two models on the same prompts, with its paired test.

    Examples
    --------
    >>> row = {"statistic": "difference", "model": "a", "group": "b", "estimate": 0, "n": 18}
    >>> differences(pd.DataFrame([row]))
    ['a and b score alike on the same prompts (N = 18).']
    """
    return [_difference(row) for row in _rows(estimates, "difference")]


def _difference(row: Mapping[str, Any]) -> str:
    model, other = escape(row["model"]), escape(row["group"])
    if not np.isfinite(row["estimate"]):
        return f"{model} and {other} were not compared: {row['reason']}."
    if row["estimate"] == 0:
        return f"{model} and {other} score alike on the same prompts (N = {row['n']:.0f})."
    direction = "higher" if row["estimate"] > 0 else "lower"
    test = ""
    if np.isfinite(row["p_value"]):
        test = (
            f"; *t*({row['df']:.0f}) = {number(row['statistic_value'])}, "
            f"{p_value(row)} (Holm), *d* = {number(row['effect_size'])}"
        )
    return (
        f"{model} scores {direction} than {other} on the same prompts (difference "
        f"{number(row['estimate'])}, {interval(row)}; N = {row['n']:.0f}{test})."
    )


def lead(estimates: pd.DataFrame) -> list[str]:
    """Say how models differ, and the index of each; the first sentence is the finding.

    Examples
    --------
    >>> row = {"statistic": "difference", "model": "a", "group": "b", "estimate": 0, "n": 18}
    >>> lead(pd.DataFrame([row]))
    ['a and b score alike on the same prompts (N = 18).']
    """
    return [*differences(estimates), *index(estimates)]


def finding(estimates: pd.DataFrame) -> str:
    """Return the sentence that leads a run's page: of a declared claim, where there is one.

    Examples
    --------
    >>> row = {"statistic": "difference", "model": "a", "group": "b", "estimate": 0, "n": 18}
    >>> finding(pd.DataFrame([row]))
    'a and b score alike on the same prompts (N = 18).'
    """
    measured = estimates[estimates["estimate"].notna()]
    found = [*lead(measured), claims.lead(estimates, "Nothing was measured.")]
    return found[0]


def instruments(first: pd.DataFrame, second: pd.DataFrame, agreement: pd.DataFrame) -> list[str]:
    """Say of which models two instruments disagree whether the index differs from neutral prose.

    Parameters
    ----------
    first, second
        The tables of `llmbi.estimates.estimates`, each by one instrument.
    agreement
        Of `llmbi.estimates.agreement`, over prompts.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "index", "estimate": 0.5, "null": 0.4, "p_value": 0.4,
    ...        "confidence": 0.95, "instrument": "one"}
    >>> other = row | {"estimate": 1.5, "null": 1.0, "p_value": 0.01, "instrument": "two"}
    >>> agreed = pd.DataFrame([{"model": "a", "first": "one", "second": "two", "rho": -0.2}])
    >>> (told,) = instruments(pd.DataFrame([row]), pd.DataFrame([other]), agreed)
    >>> told.split(" neutral")[0]
    'What is told of a depends on the instrument: one does not tell its index apart from'
    """
    told = []
    pair = [
        {row["model"]: row for row in _rows(stats.adjust(found, where=_INDEX), "index")}
        for found in (first, second)
    ]
    for model, one in pair[0].items():
        rows = [one, *(found[model] for found in pair[1:] if model in found)]
        rows = [row for row in rows if np.isfinite(row["p_adjusted"])]
        apart = [row["p_adjusted"] < 1 - row["confidence"] for row in rows]
        if len(set(apart)) < 2:
            continue
        says = [
            f"{escape(row['instrument'])} {verb} ({number(row['estimate'])} against "
            f"{number(row['null'])}, {p_value(row)})"
            for row, verb in zip(rows, _verbs(apart), strict=True)
        ]
        ranks = agreement[agreement["model"] == model]
        ranks = ranks[ranks["rho"].notna()]
        both = "".join(
            f"; over prompts the two rank its answers with ρ = {number(rho)}"
            for rho in ranks["rho"].head(1)
        )
        told.append(
            f"What is told of {escape(model)} depends on the instrument: {', '.join(says)}{both}."
        )
    return told


def _verbs(apart: list[bool]) -> tuple[str, str]:
    what = "its index apart from neutral prose"
    return (f"tells {what}", "does not") if apart[0] else (f"does not tell {what}", "does")


_INDEX = {"statistic": "index"}


def anova(estimates: pd.DataFrame) -> list[str]:
    """Say for every model whether its dimensions differ, as APA does.

    Examples
    --------
    >>> row = {"statistic": "anova", "model": "a", "statistic_value": 2.34, "df": 9,
    ...        "p_value": 0.03, "effect_size": 0.1, "n": 18}
    >>> anova(pd.DataFrame([row]))[0].split(", ω")[0]
    'a: *F* = 2.34 with 9 degrees of freedom within dimensions, p = .030'
    """
    sentences = []
    for row in _rows(estimates, "anova"):
        model = escape(row["model"])
        if not np.isfinite(row["statistic_value"]):
            sentences.append(f"{model}: no analysis of variance: {row['reason']}.")
            continue
        value = number(row["statistic_value"])
        sentences.append(
            f"{model}: *F* = {value} with {row['df']:.0f} degrees of freedom within dimensions, "
            f"{p_value(row, 'p_value')}, ω² = {number(row['effect_size'])} "
            f"(N = {row['n']:.0f} prompts)."
        )
    return sentences


def printed(beside: pd.DataFrame, *, paper: str = "Oketunji et al. 2023") -> list[str]:
    """Say how far our scores are from printed ones, and whether that is a replication.

    Parameters
    ----------
    beside
        The table of `llmbi.estimates.beside_printed`.
    paper
        Who printed them.

    Examples
    --------
    >>> row = {"model": "a", "ours": 1.0, "printed": 1.5, "difference": -0.5}
    >>> printed(pd.DataFrame([row | {"printed_model": "a"}]))[0].split(": ")[1]
    'over 1 prompts the largest difference from Oketunji et al. 2023 is 0.50000.'
    >>> printed(pd.DataFrame([row | {"printed_model": "b"}]))[0].split(": ")[2]
    'over 1 prompts the largest difference from Oketunji et al. 2023 is 0.50.'
    """
    sentences = []
    for (model, writer), rows in beside.groupby(["model", "printed_model"], sort=False):
        found = rows["difference"].dropna().abs()
        if found.empty:
            sentences.append(f"{escape(model)}: {paper} prints none of these prompts.")
            continue
        same = str(model) == writer
        how = f"another writer than the paper's {writer}: no replication"
        how = "the model that the paper names" if same else how
        sentences.append(
            f"{escape(model)} ({how}): over {len(found)} prompts the largest difference from "
            f"{paper} is {found.max():.{5 if same else 2}f}."
        )
    return sentences


def _rows(estimates: pd.DataFrame, statistic: str) -> list[dict[str, Any]]:
    return estimates[estimates["statistic"] == statistic].to_dict("records")
