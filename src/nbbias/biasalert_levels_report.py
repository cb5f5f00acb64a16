"""Sentences about bias levels of models, and about judges beside people."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias.biasalert_agreement import prompts_of
from nbbias.biasalert_report import in_words, row_of
from nbbias.report import escape, interval, number


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
