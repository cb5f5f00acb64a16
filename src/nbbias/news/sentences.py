"""Sentences about the news study, written from its tables."""

from __future__ import annotations

import pandas as pd

from nbbias.news.sample import SOURCE
from nbbias.reading import escape, interval, number, p_value


def differences(
    estimates: pd.DataFrame, *, confidence: float, statistic: str = "share_difference_common"
) -> list[str]:
    """Write the largest signed difference of each bias, and how many are beyond chance."""
    sentences = []
    alpha = 1 - confidence
    rows = estimates[estimates["statistic"] == statistic]
    what_of = {"word": "share of words", "document": "share of content on topics"}
    articles = "on common articles, " if statistic.endswith("common") else ""
    for bias, own in rows.groupby("bias", sort=False):
        tested = own[own["p_adjusted"].notna()]
        if tested.empty:
            reason = own["reason"].dropna().iloc[0] if own["reason"].notna().any() else "no pairs"
            measured = own["estimate"].notna().any()
            what = "no difference could be tested" if measured else "no share was measured"
            sentences.append(f"{escape(bias)}: {what} ({escape(reason)}).")
            continue
        groups = own["group"].unique()
        family = tested[tested["group"] == groups[0]] if len(groups) == 2 else tested
        found = family[family["p_adjusted"] < alpha]
        told = found if len(found) else family
        lead = {0: "The largest", 1: "This one"}.get(len(found), "The largest of these")
        largest = told.loc[told["estimate"].abs().idxmax()]
        direction = "lower" if largest["estimate"] < 0 else "higher"
        sentences.append(
            f"{escape(bias)}: {len(found)} of {len(family)} signed differences are below "
            f"p = {number(alpha)} after Holm's correction. {lead}: {articles}"
            f"in {_cell(largest)} the {what_of[largest['measure']]} of the group "
            f"{escape(largest['group'])} is "
            f"{number(abs(largest['estimate']), decimals=3)} {direction} than in the originals "
            f"({interval(largest, confidence=confidence, decimals=3)}; N = {largest['n']:.0f} "
            f"pairs; {p_value(largest['p_adjusted'])})."
        )
    return sentences


def distances(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say in how many cells the mean distance is beyond each chance level that there is."""
    sentences = []
    kinds = {"bias": "words", "bias_by_sentence": "whole sentences"}
    for bias, own in estimates.groupby("bias", sort=False):
        for statistic, what in kinds.items():
            rows = own[(own["statistic"] == statistic) & own["estimate"].notna()]
            if rows.empty:
                continue
            beyond = int((rows["p_adjusted"] < 1 - confidence).sum())
            low, high = rows["estimate"].min(), rows["estimate"].max()
            null_low, null_high = rows["null"].min(), rows["null"].max()
            sentences.append(
                f"{escape(bias)}: mean distances lie between {number(low, decimals=3)} and "
                f"{number(high, decimals=3)}; dealing out {what} at random gives "
                f"{number(null_low, decimals=3)} to {number(null_high, decimals=3)} on average. "
                f"Beyond chance by {what} after Holm's correction: {beyond} of {len(rows)} cells."
            )
    return sentences


def planted(table: pd.DataFrame, estimates: pd.DataFrame, *, confidence: float) -> str:
    """Say how many intervals hold the planted truth, or that there is none."""
    if table.empty:
        if (estimates["source"] == SOURCE).any():
            return "Nothing was planted for these biases."
        return "This corpus was not simulated, so the truth is not known."
    held = int((table["covered"] == "yes").sum())
    return (
        f"{held} of {len(table)} intervals hold the planted difference; over many simulated "
        f"corpora about {number(confidence * len(table), decimals=1)} of {len(table)} would."
    )


def finding(estimates: pd.DataFrame, *, confidence: float) -> tuple[str, str]:
    """Return the sentence that leads a run's page, and the name of the figure that shows it.

    From the first level that was measured: words, then topics, then sentences.
    """
    for measure, figure in {"word": "share_differences", "document": "document_shares"}.items():
        found = differences(estimates[estimates["measure"] == measure], confidence=confidence)
        if found:
            return found[0], figure
    found = tone(estimates, confidence=confidence)
    return (found[0] if found else "No group's tone could be compared."), "tone"


def fits(tests: pd.DataFrame, replicated: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say for each bias whether topics differ by group, and whether another seed agrees."""
    if tests.empty:
        return ["No topics were fitted: the texts have too few different words for so many topics."]
    sentences = []
    for bias, own in tests.groupby("bias", sort=False):
        tested = own[own["p_by_article"].notna()]
        if tested.empty:
            sentences.append(f"{escape(bias)}: not tested ({escape(own['reason'].iloc[0])}).")
            continue
        found = int((tested["p_by_article"] < 1 - confidence).sum())
        text = (
            f"{escape(bias)}: {number(own['group_topics'].mean(), decimals=1)} topics on average "
            f"belong to a group. With the article as the unit, topics are used differently for the "
            f"groups in {found} of {len(tested)} fits (p below {number(1 - confidence)})."
        )
        rates = replicated[replicated["bias"] == bias]
        if rates["replicated"].notna().any():
            text += (
                f" Of the first fit's associations, {rates['replicated'].mean():.0%} return with "
                f"another seed; matched at random, "
                f"{rates['replicated_by_chance'].mean():.0%} would."
            )
        sentences.append(text)
    return sentences


def models(compared: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say how many differences between models the mixed model finds, by measure and bias."""
    sentences = []
    rows = compared[compared["statistic"] == "difference"]
    for (measure, bias), own in rows.groupby(["measure", "bias"], sort=False):
        tested = own[own["p_adjusted"].notna()]
        text = f"{escape(measure)}, {escape(bias)}: "
        if tested.empty:
            reasons = own["reason"].dropna().value_counts()
            why = escape(reasons.index[0]) if len(reasons) else "no values"
            sentences.append(f"{text}no model could be compared ({why}).")
            continue
        found = int((tested["p_adjusted"] < 1 - confidence).sum())
        left = f"; {len(own) - len(tested)} could not be fitted" if len(own) > len(tested) else ""
        sentences.append(
            f"{text}{found} of {len(tested)} differences from the reference model are below "
            f"p = {number(1 - confidence)} after Holm's correction{left}."
        )
    return sentences


def _cell(row: pd.Series) -> str:
    parts = [escape(row["model"])]
    parts += [escape(row[key]) for key in ("prompt", "source") if isinstance(row[key], str)]
    return " / ".join(parts)


def counted(losses: pd.DataFrame, pairs: pd.DataFrame) -> list[str]:
    """Say for each bias how many pairs count, and how many answers fall silent about groups.

    Raises
    ------
    ValueError
        The steps of `losses` do not add up to the pairs that there are.
    """
    sentences = []
    silent = "no group words in the answer"
    for bias, own in losses.groupby("bias", sort=False):
        steps = own.select_dtypes("number").drop(columns="pairs")
        if int(steps.to_numpy().sum()) != len(pairs):
            raise ValueError(
                f"{bias}: the steps add up to {steps.to_numpy().sum()}, not {len(pairs)}"
            )
        kept = int(own["counted"].sum())
        text = f"{escape(bias)}: {kept} of {len(pairs)} pairs count ({kept / len(pairs):.0%})."
        if silent in own:
            text += (
                f" In {int(own[silent].sum())} the answer holds no group word though its original "
                "does: what is left out altogether drops out of these measures."
            )
        sentences.append(text)
    return sentences


def tone(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say for each bias and instrument how many group shifts in tone are beyond chance."""
    sentences = []
    rows = estimates[estimates["statistic"].isin(["mean_difference", "difference_beyond_neutral"])]
    for (bias, instrument, statistic), own in rows.groupby(
        ["bias", "instrument", "statistic"], sort=False
    ):
        tested = own[own["p_adjusted"].notna()]
        if tested.empty:
            continue
        found = int((tested["p_adjusted"] < 1 - confidence).sum())
        what = (
            "shifts of a group's tone"
            if statistic == "mean_difference"
            else "shifts beyond that of the neutral sentences"
        )
        largest = tested.loc[tested["estimate"].abs().idxmax()]
        sentences.append(
            f"{escape(bias)}, {escape(instrument)}: {found} of {len(tested)} {what} are below "
            f"p = {number(1 - confidence)} after Holm's correction; the largest is "
            f"{number(largest['estimate'], decimals=3)} for the group {escape(largest['group'])} "
            f"in {_cell(largest)} ({interval(largest, confidence=confidence, decimals=3)}; "
            f"N = {largest['n']:.0f} pairs)."
        )
    return sentences


def columns(estimates: pd.DataFrame, statistics: list[str]) -> pd.DataFrame:
    """Return the columns that a reader needs of some statistics, leaving out empty ones."""
    table = estimates[estimates["statistic"].isin(statistics)]
    several = ["statistic"] if table["statistic"].nunique() > 1 else []
    names = [
        *("bias", *several, "group", "instrument", "source", "model", "prompt"),
        *("estimate", "ci_low", "ci_high", "n", "n_lost", "null", "null_low", "null_high"),
        *("excess", "p_value", "p_adjusted", "reason"),
    ]
    said = [name for name in names if table[name].notna().any()]
    if "null" in said and (table["null"].dropna() == 0).all():
        said = [name for name in said if name not in {"null", "excess"}]  # nothing to add
    constant = [name for name in ("source", "instrument") if table[name].nunique() == 1]
    return table[[name for name in said if name not in constant]]
