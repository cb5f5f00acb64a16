"""Sentences about what was asked, answered and lost in the CoGS study."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from nbbias.cogs_suite import Suite
from nbbias.report import escape


def parts(chosen: Sequence[str]) -> str:
    """Say what this run does not measure, and why."""
    if "reference" in chosen:
        return (
            "These texts name a group in every prompt. There is no answer without an identity and "
            "no judgement: **neither RBS nor ABS is measured here**, only distances between groups."
        )
    absent = {
        "rbs": "how far answers lie from the default (RBS)",
        "visibility": "how visible identities are in the answers",
        "abs": "judges' preferences (ABS): this run reads no judgements",
        "people": "people's choices: this run reads no ratings",
    }
    told = [what for part, what in absent.items() if part not in chosen]
    if not told:
        return "This run measures answers, their visibility, judges and people."
    return f"**Not in this run**: {'; '.join(told)}."


def suite(asked: pd.DataFrame, suite: Suite) -> str:
    """Count the prompts: tasks × themes without an identity, and that times the identities."""
    themes = sum(len(themes) for themes in suite.topics.values())
    identities = sum(len(axis.identities) for axis in suite.axes.values())
    plain = int(asked["identity"].isna().sum())
    return (
        f"{len(suite.tasks)} tasks on {themes} themes (of {len(suite.topics)} topics) make "
        f"**{plain:,}** prompts without an identity, the defaults; {identities} identities on "
        f"{len(suite.axes)} axes make **{len(asked) - plain:,}** more: **{len(asked):,}** prompts."
    )


def answered(answers: pd.DataFrame, asked: pd.DataFrame) -> list[str]:
    """Say of each model how many of the suite's prompts it answered, and how many are blank."""
    sentences = []
    keys = ["task", "theme", "identity"]
    for model, own in answers.groupby("model", sort=False):
        said = own["text"].fillna("").str.strip() != ""
        there = len(own.loc[said, keys].drop_duplicates())
        sentences.append(
            f"{escape(model)} answered {there:,} of the {len(asked):,} prompts "
            f"({len(own):,} answers; {int((~said).sum()):,} blank ones are lost)."
        )
    return sentences


def measured(distances: pd.DataFrame) -> list[str]:
    """Say how many distances were measured, and why the others were not."""
    sentences = []
    for model, own in distances.groupby("model", sort=False):
        reasons = own["reason"].value_counts()
        lost = "".join(f"; {n:,} not: {escape(why)}" for why, n in reasons.items())
        found = int(own["distance"].notna().sum())
        sentences.append(f"{escape(model)}: {found:,} of {len(own):,} distances measured{lost}.")
    if len(distances):
        sentences.append(f"Instrument: {escape(distances['instrument'].iloc[0])}.")
    return sentences


def undecided(losses: pd.DataFrame) -> list[str]:
    """Say of each judge how many replies decide nothing, and why."""
    sentences = []
    for evaluator, own in losses.groupby("evaluator", sort=False):
        counts = own.groupby("outcome", sort=False)["n"].sum()
        none = counts.drop("decided", errors="ignore").sort_values(ascending=False)
        why = "; ".join(f"{escape(reason)} {n:,}" for reason, n in none.items())
        sentences.append(
            f"{escape(evaluator)}: {counts.sum():,} replies, {none.sum():,} without a decision"
            + (f" ({why})." if why else ".")
        )
    return sentences
