"""Sentences about what the study biasalert estimates, written from its tables.

Sentences about bias levels of models, and about judges beside people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import prompts_of
from nbbias.reading import escape, interval, number, p_value

_BLIND = (ALWAYS, NEVER)
_UNTYPED = "No tested text has a type: nothing by type was measured."


def row_of(table: pd.DataFrame, statistic: str) -> Mapping[str, Any] | None:
    """Return the first row of a statistic; None where there is none."""
    own = table[table["statistic"] == statistic].to_dict("records")
    return own[0] if own else None


def in_words(row: Mapping[str, Any], confidence: float, *, unit: str = "texts") -> str:
    """Write an estimate from its number on, with interval, N and losses."""
    if not np.isfinite(row["estimate"]):
        return f"not measured ({escape(row['reason'])})"
    parts = [interval(row, confidence=confidence), f"N = {row['n']:,.0f} {unit}"]
    if row["n_lost"]:
        parts.append(f"{row['n_lost']:,.0f} left out")
    return f"**{number(row['estimate'])}** ({'; '.join(parts)})"


def _pooled(estimates: pd.DataFrame) -> pd.DataFrame:
    return estimates[estimates["bias"].isna() & estimates["dimension"].isna()]


# --- detection ----------------------------------------------------------------------------------


def detection(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write each judge's accuracy and F1 beside chance and the judges that read nothing."""
    own = _pooled(estimates)
    blind = own[own["judge"].isin(_BLIND)]
    floors = {
        name: blind.loc[blind["statistic"] == name, "estimate"].max() for name in ("accuracy", "f1")
    }
    sentences = []
    for judge, part in own[~own["judge"].isin(_BLIND)].groupby("judge", sort=False):
        accuracy, f1 = row_of(part, "accuracy"), row_of(part, "f1")
        if accuracy is None:
            continue
        text = f"{escape(judge)}: accuracy {in_words(accuracy, confidence)}"
        if f1 is not None:
            text += f", F1 **{number(f1['estimate'])}** ({interval(f1, confidence=confidence)})"
        if np.isfinite(accuracy["null"]):
            text += f"; its verdicts dealt to other texts give {number(accuracy['null'])}"
        if np.isfinite(floors["accuracy"]):
            text += f", the majority class {number(floors['accuracy'])}"
        if np.isfinite(floors["f1"]):
            text += f" (F1 {number(floors['f1'])} by flagging all)"
        lost = row_of(part, "accuracy_lost_wrong")
        if accuracy["n_lost"] and lost is not None and np.isfinite(lost["estimate"]):
            text += (
                f". With the {accuracy['n_lost']:,.0f} texts without a verdict counted as wrong, "
                f"accuracy is {number(lost['estimate'])}"
            )
        sentences.append(text + ".")
    return sentences or ["No judge was measured."]


def naming(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write how often type and attribution are right, and the overall score both ways."""
    sentences = []
    own = _pooled(estimates)
    for judge, part in own[~own["judge"].isin(_BLIND)].groupby("judge", sort=False):
        kind, attribution = (
            row_of(part, f"{of}_score") for of in ("classification", "attribution")
        )
        joint, product = (row_of(part, f"overall_score_{how}") for how in ("joint", "product"))
        if kind is None or joint is None or product is None:
            continue
        if not np.isfinite(kind["estimate"]):
            sentences.append(f"{escape(judge)}: type not measured ({escape(kind['reason'])}).")
            continue
        text = f"{escape(judge)}: type {in_words(kind, confidence, unit='texts called biased')}"
        if attribution is not None:
            text += f", group and attribute {in_words(attribution, confidence)}"
        text += (
            f"; right in all respects {in_words(joint, confidence)}, while accuracy × CS × AS, "
            f"which the paper prints, is {number(product['estimate'])}."
        )
        sentences.append(text)
    return sentences or ["No judge was asked for a type."]


def differences(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write every difference between two judges."""
    sentences = []
    own = estimates[estimates["statistic"] == "accuracy_difference"]
    for row in own.to_dict("records"):
        first, second = (escape(name) for name in str(row["judge"]).split(" − ", 1))
        if not np.isfinite(row["estimate"]):
            sentences.append(f"{first} and {second} were not compared: {escape(row['reason'])}.")
            continue
        if not np.isfinite(row["p_value"]):
            sentences.append(f"{first} and {second}: {escape(row['reason'])}.")
            continue
        if row["p_adjusted"] >= 1 - confidence:
            told = "is not told apart from"
        else:
            told = "is more often right than" if row["estimate"] > 0 else "is less often right than"
        sentences.append(
            f"{first} {told} {second} (difference of accuracy {number(row['estimate'])}, "
            f"{interval(row, confidence=confidence)}; N = {row['n']:,.0f} texts that both judged; "
            f"McNemar {p_value(row['p_adjusted'])}, Holm)."
        )
    return sentences or ["There is one judge only: nothing to compare."]


def by_type(estimates: pd.DataFrame, *, statistic: str = "accuracy") -> list[str]:
    """Write where each judge does best and worst, and where chance alone would do as well."""
    sentences = []
    own = estimates[estimates["bias"].notna() & (estimates["statistic"] == statistic)]
    for judge, part in own[~own["judge"].isin(_BLIND)].groupby("judge", sort=False):
        known = part[part["estimate"].notna()]
        if known.empty:
            sentences.append(f"{escape(judge)}: {statistic} by type was not measured.")
            continue
        best, worst = known.loc[known["estimate"].idxmax()], known.loc[known["estimate"].idxmin()]
        within = known.loc[known["ci_low"] <= known["null"], "bias"]
        text = (
            f"{escape(judge)}: {statistic} is highest on {escape(best['bias'])} "
            f"({number(best['estimate'])}; N = {best['n']:,.0f}) and lowest on "
            f"{escape(worst['bias'])} ({number(worst['estimate'])}; N = {worst['n']:,.0f})"
        )
        if best["estimate"] == worst["estimate"]:
            alike = number(best["estimate"])
            text = f"{escape(judge)}: {statistic} is {alike} on every type that was measured"
        if len(within):
            text += f"; not beyond chance on {', '.join(map(escape, within))}"
        sentences.append(text + ".")
    return sentences or [_UNTYPED]


def unseen(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write what each judge loses on a type that it has not learnt from."""
    sentences = []
    changes = estimates[estimates["statistic"] == "accuracy_difference"]
    for row in estimates[estimates["statistic"] == "accuracy"].to_dict("records"):
        judge = escape(str(row["judge"]).split(",")[0])
        text = f"{judge}, fitted without {escape(row['bias'])}: accuracy on it"
        text += f" {in_words(row, confidence)}"
        if not np.isfinite(row["estimate"]):
            sentences.append(text + ".")
            continue
        text += f", where its verdicts dealt anew give {number(row['null'])}"
        pair = changes["judge"].str.startswith(str(row["judge"])) & (changes["bias"] == row["bias"])
        for change in changes[pair & changes["estimate"].notna()].to_dict("records"):
            text += f"; against being fitted with it {number(change['estimate'])}"
            if np.isfinite(change["p_value"]):
                around = interval(change, confidence=confidence)
                text += f" ({around}; McNemar {p_value(change['p_adjusted'])}, Holm)"
        sentences.append(text + ".")
    return sentences or [_UNTYPED]


def calibration(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write whether probabilities are kept, and what that distance would be by chance."""
    sentences = []
    for judge, part in estimates.groupby("judge", sort=False):
        error, brier = row_of(part, "calibration_error"), row_of(part, "brier")
        if error is None or brier is None:
            continue
        if not np.isfinite(error["estimate"]):
            sentences.append(f"{escape(judge)}: calibration not measured ({error['reason']}).")
            continue
        kept = "may well be" if error["estimate"] <= error["null_high"] else "are not"
        off, low, high = (
            number(error[k], decimals=3) for k in ("estimate", "null_low", "null_high")
        )
        score, same = number(brier["estimate"], decimals=3), number(brier["null"], decimals=3)
        around = interval(brier, confidence=confidence, decimals=3)
        sentences.append(
            f"{escape(judge)}: probabilities are off by **{off}** (N = {error['n']:,.0f}); "
            f"kept exactly, they would be off by {low} to {high}, so they {kept} calibrated. Brier "
            f"score {score} ({around}; {same} by giving every text the share of biased ones)."
        )
    return sentences


# --- pairs and checks ---------------------------------------------------------------------------


def pairs(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write recall beside the flag rate of the twins, and how many pairs are told apart."""
    sentences = []
    for judge, own in estimates[estimates["bias"].isna()].groupby("judge", sort=False):
        whole = own[own["dimension"].isna()]
        recall, less = row_of(whole, "recall"), row_of(whole, "flag_rate_less")
        share = row_of(whole, "pair_share")
        if recall is None or less is None or share is None:
            continue
        text = (
            f"{escape(judge)}: recall on sent\\_more {in_words(recall, confidence)}; of the twins, "
            f"which differ in whom they name, {number(less['estimate'])} are flagged. The sentence "
            f"that says more of a stereotype scores higher in a share of "
            f"{in_words(share, confidence, unit='pairs')}; chance is {number(0.5)}, "
            f"{p_value(share['p_adjusted'])} (Holm)"
        )
        ways = own[own["dimension"].notna() & (own["statistic"] == "pair_share")]
        each = [
            f"{escape(row['dimension'])} {number(row['estimate'])} (N = {row['n']:,.0f})"
            for row in ways.to_dict("records")
        ]
        sentences.append(text + (f". By direction: {', '.join(each)}" if each else "") + ".")
    return sentences


def errors(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write on which checks each judge errs most, and whether a dialect changes its score."""
    sentences = []
    for judge, own in estimates.groupby("judge", sort=False):
        rates = own[own["statistic"].isin(["false_alarm_rate", "miss_rate"])]
        rates = rates[rates["estimate"].notna()]
        if rates.empty:
            sentences.append(f"{escape(judge)}: gave no verdict on the checks.")
            continue
        parts = []
        for statistic, what in (("false_alarm_rate", "false alarms"), ("miss_rate", "misses")):
            each = [
                f"{number(row['estimate'])} on {row['dimension']} (N = {row['n']:.0f})"
                for row in rates[rates["statistic"] == statistic].to_dict("records")
            ]
            if each:
                parts.append(f"{what} {', '.join(each)}")
        text = f"{escape(judge)}: {'; '.join(parts)}."
        whole = own[own["group"].isna()]
        dialect = row_of(whole, "dialect_difference")
        if dialect is not None and np.isfinite(dialect["estimate"]):
            text += (
                " Another variety of English changes the score of the same content by "
                f"{number(dialect['estimate'])} ({interval(dialect, confidence=confidence)}; "
                f"N = {dialect['n']:.0f} pairs; {p_value(dialect['p_value'])})."
            )
        sentences.append(text)
    return sentences


# --- beside the paper, and what leads -----------------------------------------------------------


def printed(beside: pd.DataFrame, *, dataset: str) -> list[str]:
    """Write the table of `biasalert.tables.beside` by judge."""
    sentences = []
    for judge, own in beside.dropna(subset=["ours", "printed"]).groupby("judge", sort=False):
        each = [
            f"{str(row['metric']).replace('_', ' ')} {number(row['ours'])} (printed "
            f"{number(row['printed'])})"
            for row in own.to_dict("records")
        ]
        sentences.append(
            f"{escape(judge)} beside {escape(own['system'].iloc[0])} on {escape(dataset)}: "
            f"{', '.join(each)}. Another system on another draw of texts: a level, no replication."
        )
    return sentences or [f"Nothing that the paper prints on {escape(dataset)} was measured."]


def finding(estimates: pd.DataFrame, *, confidence: float) -> tuple[str, str]:
    """Return the sentence that leads a page, about the best judge, and its figure.

    Texts without a verdict count as wrong here, so that a judge that is right on the few texts that
    it judged does not lead.
    """
    own = _pooled(estimates)
    judges = own[~own["judge"].isin(_BLIND)]
    judged = judges[(judges["statistic"] == "accuracy") & judges["estimate"].notna()]["judge"]
    if judged.empty:
        return "No judge gave a verdict.", "detection"
    rows = judges[(judges["statistic"] == "accuracy_lost_wrong") & judges["judge"].isin(judged)]
    lead = rows.loc[rows["estimate"].idxmax(), "judge"]
    kept = own[own["judge"].isin([lead, *_BLIND])]
    told, count = detection(kept, confidence=confidence)[0], judges["judge"].nunique()
    if count > 1:  # picked on the very texts that it is scored on
        level = rows.loc[rows["estimate"] == rows["estimate"].max(), "judge"]
        others = ", ".join(escape(name) for name in level if name != lead)
        beside = f", level with {others}," if others else ""
        told = f"The best of {count} judges on these texts{beside} is {told}"
    return told, "detection"


def levels(
    estimates: pd.DataFrame, *, answers: pd.DataFrame | None = None, confidence: float
) -> list[str]:
    """Write each model's share of biased answers, as judged and corrected.

    With the `answers`, N is called by what it counts: of prompts asked repeatedly, the prompts.
    """
    sentences = []
    repeated = set[str]()
    if answers is not None:
        groups = answers.groupby("model", sort=False)
        repeated = {str(model) for model, part in groups if prompts_of(part) is not None}
    own = estimates[estimates["topic"].isna()]
    for (judge, model), part in own.groupby(["judge", "model"], sort=False):
        share, corrected = (row_of(part, f"biased_share{s}") for s in ("", "_corrected"))
        if share is None or corrected is None:
            continue
        unit = "prompts" if str(model) in repeated else "answers"
        told = in_words(share, confidence, unit=unit)
        text = f"{escape(model)}, by {escape(judge)}: called biased is a share of {told}"
        if np.isfinite(share["null"]):
            text += f"; its false alarms alone would be {number(share['null'])}"
        if share["n_lost"]:
            low, high = (
                row_of(part, f"biased_share_lost_{side}") for side in ("unbiased", "biased")
            )
            if low is not None and high is not None:
                text += (
                    f"; between {number(low['estimate'])} and {number(high['estimate'])} whatever "
                    "the answers without a verdict are"
                )
        text += (
            f". Corrected for its errors: **{number(corrected['estimate'])}** "
            f"({interval(corrected, confidence=confidence)})."
            if np.isfinite(corrected["estimate"])
            else f". Not corrected for its errors: {escape(corrected['reason'])}."
        )
        sentences.append(text)
    return sentences


def agreement(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write how far judges agree with people, over all models."""
    sentences = []
    for judge, part in estimates[estimates["model"].isna()].groupby("judge", sort=False):
        kappa, share = row_of(part, "kappa"), row_of(part, "agreement")
        if kappa is None or share is None:
            continue
        text = f"{escape(judge)} and people agree on {in_words(share, confidence, unit='answers')}"
        if np.isfinite(share["null"]):
            text += f", where unrelated verdicts would agree on {number(share['null'])}"
        text += (
            f"; Cohen's κ = **{number(kappa['estimate'])}** "
            f"({interval(kappa, confidence=confidence)})."
            if np.isfinite(kappa["estimate"])
            else f"; κ not measured ({escape(kappa['reason'])})."
        )
        sentences.append(text)
    return sentences or ["Nobody labelled these answers, so there is nothing to compare with."]
