"""Sentences of the CoGS study, written from its tables: what was asked, lost, found and planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias.cogs.affinity import ALL
from nbbias.cogs.sample import SAMPLE_JUDGES, SAMPLE_WRITERS
from nbbias.cogs.suite import Suite
from nbbias.cogs.tables import by_setting, together, whole
from nbbias.reading import escape, interval, number, p_value

_UNIT = "task × theme"


# --- representative bias ------------------------------------------------------------------------


def rbs(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write each model's RBS by axis, with the identity nearest to the default."""
    rows = whole(estimates)
    return [
        _rbs_sentence(row, confidence)
        for row in rows[rows["statistic"] == "rbs"].to_dict("records")
    ]


def _rbs_sentence(row: Mapping[str, Any], confidence: float) -> str:
    setting = f" at {escape(row['prompt'])}" if isinstance(row["prompt"], str) else ""
    subject = f"{escape(row['model'])}{setting}, {escape(row['bias'])}"
    if not np.isfinite(row["estimate"]):
        return f"{subject}: RBS not measured ({escape(row['reason'])})."
    nearest = (
        f"nearest to the default: **{escape(row['group'])}**"
        if row["p_adjusted"] < 1 - confidence
        else f"the nearest is {escape(row['group'])}, which chance may have put there"
    )
    return f"{subject}: RBS **{_spread(row, confidence)}; {nearest}."


def _spread(row: Mapping[str, Any], confidence: float) -> str:
    """Write a spread from its number on; the bold type was begun before."""
    return (
        f"{number(row['estimate'], decimals=3)}** "
        f"({interval(row, confidence=confidence, decimals=3)}; by chance "
        f"{number(row['null'], decimals=3)}; N = {row['n']:.0f} {_UNIT}; "
        f"{p_value(row['p_adjusted'])}, Holm)"
    )


def floors(estimates: pd.DataFrame) -> list[str]:
    """Put the distance between two default answers beside the identities' distances."""
    rows = by_setting(whole(estimates))
    sentences = []
    for model, own in rows.groupby("model", sort=False):
        means = own.loc[own["statistic"] == "distance", "estimate"]
        floor = own.loc[own["statistic"] == "floor", "estimate"].dropna()
        if means.notna().any():
            told = (
                f"two answers to the same default prompt lie {number(floor.mean())} apart"
                if len(floor)
                else "defaults were asked once, so what sampling alone does is not known"
            )
            sentences.append(
                f"{escape(model)}: identities' mean distances are {number(means.min())} to "
                f"{number(means.max())}; {told}."
            )
    return sentences


def by_part(estimates: pd.DataFrame, *, statistic: str, confidence: float) -> list[str]:
    """Count tasks, and topics, with a spread beyond chance, and name the largest one."""
    sentences = []
    for part in ("task", "topic"):
        rows = by_setting(estimates)
        rows = rows[rows[part].notna() & (rows["statistic"] == statistic)]
        tested = rows[rows["p_adjusted"].notna()]
        if tested.empty:
            continue
        found = int((tested["p_adjusted"] < 1 - confidence).sum())
        most = tested.loc[tested["estimate"].idxmax()]
        who = most["evaluator"] if isinstance(most["evaluator"], str) else most["model"]
        sentences.append(
            f"{found} of {len(tested)} scores by {part} are beyond chance after Holm's correction. "
            f"The largest is {number(most['estimate'], decimals=3)} ({escape(who)}, "
            f"{escape(most['bias'])}, {escape(most[part])}; by chance "
            f"{number(most['null'], decimals=3)}; N = {most['n']:.0f})."
        )
    return sentences


def temperatures(table: pd.DataFrame) -> list[str]:
    """Say whether the temperature changes what is found."""
    groups = table.groupby(["model", "axis"], sort=False)
    sentences = []
    for (model, axis), own in groups:
        if len(own) < 2:
            continue
        same = "the same" if own["same_identity"].all() else "not the same"
        sentences.append(
            f"{escape(model)}, {escape(axis)}: over {len(own)} temperatures RBS lies between "
            f"{number(own['rbs'].min(), decimals=3)} and {number(own['rbs'].max(), decimals=3)}; "
            f"the nearest identity is {same} at all of them."
        )
    return sentences or ["No model answered at more than one temperature: nothing to compare."]


# --- affinity bias ------------------------------------------------------------------------------


def identity_or_position(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say of each judge and axis whether it prefers an identity, a position, both or neither."""
    own = together(whole(estimates))
    sentences = []
    for (evaluator, axis), rows in own.groupby(["evaluator", "bias"], sort=False):
        by = {row["statistic"]: row for row in rows.to_dict("records") if row["statistic"]}
        balanced, position, raw = by["abs"], by["position"], by["abs_raw"]
        subject = f"{escape(evaluator)}, {escape(axis)}"
        if not np.isfinite(balanced["estimate"]):
            sentences.append(f"{subject}: not measured ({escape(balanced['reason'])}).")
            continue
        alpha = 1 - confidence
        found = {
            (True, True): "the texts of the identity **{i}**, and **{p}** whoever stands there",
            (True, False): "the texts of the identity **{i}**, wherever they stand",
            (False, True): "**{p}**, and no identity beyond chance",
            (False, False): "no identity and no position beyond chance",
        }[bool(balanced["p_adjusted"] < alpha), bool(position["p_adjusted"] < alpha)]
        named = found.format(i=escape(balanced["group"]), p=escape(position["group"]))
        sentences.append(
            f"{subject}: prefers {named}. ABS **{_spread(balanced, confidence)} with orders "
            f"balanced; as published, in one order, {number(raw['estimate'], decimals=3)} "
            f"({p_value(raw['p_adjusted'])})."
        )
    return sentences


def own_texts(table: pd.DataFrame) -> list[str]:
    """Say how a judge scores on its own texts beside those of others."""
    sentences = []
    for (axis, evaluator), rows in table.groupby(["axis", "evaluator"], sort=False):
        own, others = rows[rows["own"] == "yes"], rows[rows["own"] == "no"]
        if len(own) and len(others):
            sentences.append(
                f"{escape(evaluator)}, {escape(axis)}: ABS beyond chance "
                f"{number(own['excess'].iloc[0], decimals=3)} on its own texts, "
                f"{number(others['excess'].mean(), decimals=3)} on average on those of others."
            )
    return sentences or ["No judge of this run wrote texts itself."]


# --- visibility and people ------------------------------------------------------------------------


def visibility(table: pd.DataFrame) -> list[str]:
    """Say in how many answers an identity can be seen, and in which most."""
    sentences = []
    for model, own in table.groupby("model", sort=False):
        n = own["n"].sum()
        shares = (own[["obvious", "nuanced"]].mul(own["n"], axis=0)).sum() / n
        most = own.loc[own["obvious"].idxmax()]
        sentences.append(
            f"{escape(model)}: of {n:,} answers with an identity {shares['obvious']:.0%} say it "
            f"and {shares['nuanced']:.0%} hint at it. Said most: {escape(most['identity'])} "
            f"({most['obvious']:.0%}; {most['obvious_default']:.0%} of the defaults hold the same "
            "words)."
        )
    return sentences


def agreement(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write how far people agree, by axis."""
    sentences = []
    for row in estimates[estimates["statistic"] == "fleiss_kappa"].to_dict("records"):
        if not np.isfinite(row["estimate"]):
            sentences.append(f"{escape(row['bias'])}: agreement not measured ({row['reason']}).")
            continue
        sentences.append(
            f"{escape(row['bias'])}: Fleiss' κ = **{number(row['estimate'])}** "
            f"({interval(row, confidence=confidence)}; choices shuffled within each person give "
            f"{number(row['null_low'])} to {number(row['null_high'])}; N = {row['n']:.0f} {_UNIT}; "
            f"{p_value(row['p_value'])})."
        )
    return sentences


def by_visibility(table: pd.DataFrame) -> list[str]:
    """Count, by judge, the shares whose interval misses an equal share, seen and not seen."""
    sentences = []
    for evaluator, own in table[table["ci_low"].notna()].groupby("evaluator", sort=False):
        off = (own["ci_high"] < own["null"]) | (own["ci_low"] > own["null"])
        hidden = own["level"] == "imperceptible"
        sentences.append(
            f"{escape(evaluator)}: the interval misses an equal share in "
            f"{int((off & ~hidden).sum())} of {int((~hidden).sum())} cells where the identity can "
            f"be seen, and in "
            f"{int((off & hidden).sum())} of {int(hidden.sum())} where it cannot."
        )
    return sentences


# --- without a default ----------------------------------------------------------------------------


def references(estimates: pd.DataFrame, *, confidence: float) -> list[str]:
    """Write, by model and grouping, how unequally far groups lie from the centroid of all."""
    centred = estimates["instrument"].str.endswith("centroid of groups", na=False)
    sentences = []
    for row in estimates[centred & (estimates["statistic"] == "rbs")].to_dict("records"):
        subject = f"{escape(row['model'])}, {escape(row['bias'].replace('_', ' and '))}"
        if not np.isfinite(row["estimate"]):
            sentences.append(f"{subject}: not measured ({escape(row['reason'])}).")
            continue
        own = estimates[
            centred & (estimates["statistic"] == "distance") & (estimates["model"] == row["model"])
            & (estimates["bias"] == row["bias"])
        ]  # fmt: skip
        far = own.loc[own["estimate"].idxmax()]
        sentences.append(
            f"{subject}: spread **{number(row['estimate'], decimals=3)}** "
            f"({interval(row, confidence=confidence, decimals=3)}; by chance "
            f"{number(row['null'], decimals=3)}; N = {row['n']:.0f} texts; "
            f"{p_value(row['p_adjusted'])}, Holm). Nearest to all others: {escape(row['group'])}; "
            f"furthest: {escape(far['group'])}."
        )
    tool = estimates["instrument"].dropna().str.split("; reference").str[0].unique()
    return [*sentences, *(f"Instrument: {escape(name)}." for name in tool)]


# --- what leads -----------------------------------------------------------------------------------


def finding(estimates: pd.DataFrame, *, confidence: float) -> tuple[str, str]:
    """Return the sentence that leads a run's page, and the name of the figure that shows it."""
    rows = whole(estimates)
    rows = rows[(rows["statistic"] == "rbs") & rows["estimate"].notna()]
    if rows["instrument"].str.contains("centroid of groups", na=False).any():
        return references(estimates, confidence=confidence)[0], "references"
    if len(rows):
        lead = rows.loc[(rows["estimate"] - rows["null"]).idxmax()]
        beyond = int((rows["p_adjusted"] < 1 - confidence).sum())
        return (
            f"{beyond} of {len(rows)} representative bias scores are beyond chance. "
            f"The furthest: {_rbs_sentence(lead.to_dict(), confidence)}"
        ), "distances"
    judged = estimates[estimates["instrument"] == "reply parser"]
    found = identity_or_position(judged, confidence=confidence)
    return (found[0] if found else "Nothing was measured."), "identity_or_position"


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


def writers(estimates: pd.DataFrame) -> pd.DataFrame:
    """Say of each simulated writer which identity was planted as the nearest, and which was found.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.

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
        Of `cogs.affinity.abs_estimates`.

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
