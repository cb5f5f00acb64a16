"""Sentences of the CoGS study, written from its tables: what was asked, lost, found and planted.

>>> from nbbias import cogs
>>> cogs.sentences.parts(["rbs", "visibility", "abs", "people"])
''
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nbbias import reading
from nbbias.cogs import tables
from nbbias.cogs.spread import unit
from nbbias.cogs.suite import Suite
from nbbias.cogs.tables import by_setting, together, whole
from nbbias.params import Texts
from nbbias.reading import Lead, names, number, phrases, prose, significance
from nbbias.tables.escape import markdown as escape


def _alpha(estimates: pd.DataFrame) -> float:
    return 1 - float(estimates["confidence"].max())


# --- what was asked, and what was lost ------------------------------------------------------------


def parts(chosen: Sequence[str]) -> str:
    """Say what this run does not measure, and why."""
    absent = {
        "rbs": "how far answers lie from the default (RBS)",
        "visibility": "how visible identities are in the answers",
        "abs": "judges' preferences (ABS): this run reads no judgements",
        "people": "people's choices: this run reads no ratings",
    }
    told = [what for part, what in absent.items() if part not in chosen]
    return f"**Not in this run**: {'; '.join(told)}." if told else ""


def suite(asked: pd.DataFrame, suite: Suite) -> str:
    """Count the prompts: tasks × themes without an identity, and that times the identities."""
    themes = sum(len(themes) for themes in suite.topics.values())
    identities = sum(len(axis.identities) for axis in suite.axes.values())
    bare = int(asked["identity"].isna().sum())
    return (
        f"{len(suite.tasks)} tasks on {themes} themes (of {len(suite.topics)} topics) make "
        f"**{bare:,}** prompts without an identity, the defaults; {identities} identities on "
        f"{len(suite.axes)} axes make **{len(asked) - bare:,}** more: **{len(asked):,}** prompts."
    )


def answered(answers: pd.DataFrame, asked: pd.DataFrame) -> list[str]:
    """Say of each model how many of the suite's prompts it answered, and how many are blank."""
    sentences = []
    for model, own in answers.groupby("model", sort=False):
        said = own["text"].fillna("").str.strip() != ""
        there = len(own.loc[said, ["task", "theme", "identity"]].drop_duplicates())
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
    tool = distances["instrument"].unique()
    return [*sentences, *(f"Instrument: {escape(name)}." for name in tool)]


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


# --- representative bias ------------------------------------------------------------------------


def rbs(estimates: pd.DataFrame) -> str:
    """Count the RBS beyond chance, and name the furthest with the identity nearest the default."""
    rows = estimates[estimates["statistic"] == "rbs"]
    beyond = (rows["p_adjusted"] < _alpha(rows)).any()
    nearest = (
        "nearest to the default: **{}**"
        if beyond
        else "the nearest to the default is {}, which chance may have put there"
    )
    part = next((f" by {name}" for name in ("task", "topic") if rows[name].notna().any()), "")
    return reading.count_significant(
        rows,
        what=f"representative bias scores{part or _of_tasks(rows)}",
        unit=_unit(rows),
        says=lambda row: f"{{which}}: RBS {{estimate}}, {nearest.format(_people(row))}",
    )


def _people(row: Mapping[str, Any]) -> str:
    """Name a row's group as people do, for a sentence whose braces are read again."""
    return escape(names.people(row["group"])).replace("{", "{{").replace("}", "}}")


def _unit(rows: pd.DataFrame) -> str:
    return unit(rows["test"].iloc[0]) if len(rows) else ""


def _of_tasks(rows: pd.DataFrame) -> str:
    return " for tasks in general" if _unit(rows) == "tasks" else " on these tasks"


def _on(rows: pd.DataFrame) -> str:
    """Begin a sentence by what it holds for: other tasks may have it otherwise."""
    return prose.capitalize(_of_tasks(rows).strip())


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


# --- affinity bias ------------------------------------------------------------------------------


def abs_scores(estimates: pd.DataFrame) -> str:
    """Count the ABS beyond chance, orders balanced, and name the furthest with its favourite."""
    rows = together(estimates)
    rows = rows[rows["statistic"] == "abs"].assign(model=None)  # the writers, all of them
    part = " by task" if rows["task"].notna().any() else _of_tasks(rows)
    return reading.count_significant(
        rows,
        what=f"affinity bias scores{part}, orders balanced,",
        unit=_unit(rows),
        says=lambda row: f"{{which}}: ABS {{estimate}}, most preferred: {_people(row)}",
    )


# --- visibility -------------------------------------------------------------------------------


def visibility(table: pd.DataFrame) -> list[str]:
    """Say in how many answers an identity can be seen, and in which most."""
    sentences = []
    for model, own in table.groupby("model", sort=False):
        n = own["n"].sum()
        shares = (own[["obvious", "nuanced"]].mul(own["n"], axis=0)).sum() / n
        most = own.loc[own["obvious"].idxmax()]
        sentences.append(
            f"{escape(model)}: of {n:,} answers with an identity {shares['obvious']:.0%} say it "
            f"and {shares['nuanced']:.0%} hint at it. Said most, of {len(own)} identities: "
            f"{escape(most['identity'])} "
            f"({most['obvious']:.0%}; {most['obvious_default']:.0%} of the defaults hold the same "
            "words)."
        )
    return sentences


# --- what leads, and what was planted -------------------------------------------------------------


#: So many models and judges are named one by one.
_FEW = 3

_all = partial(prose.listed, most=9)


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: whose texts lie nearest, and whose judges prefer.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    texts
        Where the answers and judgements are from.
    """
    own = whole(rows)
    measured = own.assign(far=significance.minimum_detectable_effect(own))[own["estimate"].notna()]
    spreads = measured[measured["statistic"] == "rbs"]
    judged = measured[measured["statistic"] == "abs"]
    judged = together(judged) if len(judged) else judged
    found = pd.concat([by_setting(spreads), judged])
    said = [*_of_writers(by_setting(spreads)), *_of_judges(judged)]
    technical = [rbs(own)] if len(spreads) else []
    technical += [abs_scores(judged)] if len(judged) else []
    if len(said) == 1:
        said.append(_by_chance(found))
    if not said:
        reasons = own["reason"].dropna()
        said = [f"Nothing was measured{f': {escape(reasons.iloc[0])}' if len(reasons) else ''}."]
    return Lead(
        plain=tuple(said),
        technical=" ".join(technical),
        figure="both",
        numbers=_numbers(found),
        card=_card(found),
        texts=texts,
    )


def _by_chance(rows: pd.DataFrame) -> str:
    """Say what spread chance alone gives: the reference of a run with one half."""
    low, high = (number(end, decimals=3) for end in (rows["null"].min(), rows["null"].max()))
    between = low if low == high else f"{low} to {high}"
    return (
        f"Were all identities alike, chance would give spreads of {between} on average on "
        f"{rows['n'].max():.0f} {_unit(rows)} (0: none)."
    )


def _of_writers(rows: pd.DataFrame) -> list[str]:
    """Say as whom models stay nearest to what they write when nobody is named."""
    if rows.empty:
        return []
    return [
        _preferring(
            rows,
            "model",
            one="model",
            start=f"{_on(rows)}, told to write as somebody, ",
            does="{who} stays nearest to what it writes otherwise as {groups}",
            many="{told} of {of} models stay nearest to what they write otherwise as one identity "
            "on some axis, most often as {groups}",
            none="no model is told to stay nearer to what it writes otherwise as one identity than "
            "as another",
        )
    ]


def _of_judges(rows: pd.DataFrame) -> list[str]:
    """Say whose texts judges prefer, whose orders are balanced."""
    if rows.empty:
        return []
    return [
        _preferring(
            rows,
            "evaluator",
            one="judge",
            start=f"{_on(rows)}, shown texts without a word of who wrote as whom, ",
            does="{who} prefers those written as {groups}",
            many="{told} of {of} judges prefer those of some identity, most often of {groups}",
            none="no judge is told to prefer those of some identity",
        )
    ]


def _preferring(
    rows: pd.DataFrame, key: str, *, one: str, start: str, does: str, many: str, none: str
) -> str:
    told, left, counted = [], [], rows.to_dict("records")
    for who, own in rows.groupby(key, sort=False):
        apart = [row for row in own.to_dict("records") if significance.is_significant(row)]
        if apart:
            told.append((escape(who), [names.people(row["group"]) for row in apart], len(own)))
        else:
            left.append((escape(who), len(own)))
    beyond = max(
        (row["far"] for row in counted if not significance.is_significant(row)), default=np.nan
    )
    would = (
        f" (spreads {number(beyond, decimals=3)} beyond chance would have been)"
        if np.isfinite(beyond)
        else ""
    )
    if not told:
        return f"{start}{none}{would}."
    p = phrases.largest_p([row for row in counted if significance.is_significant(row)])
    if len(told) > _FEW:
        groups = pd.Series([group for _, own, _ in told for group in own]).value_counts()
        text = many.format(told=len(told), of=len(told) + len(left), groups=escape(groups.index[0]))
        return f"{start}{text} (each {p}, Holm-adjusted)."
    parts = [
        does.format(who=who, groups=_all([escape(group) for group in groups]))
        for who, groups, _ in told
    ]
    text = f"{start}{_all(parts)} (each {p}, Holm-adjusted)"
    if left:
        axes = max(n for _, n in left)
        who = _all([name for name, _ in left]) if len(left) <= _FEW else f"{len(left)} other {one}s"
        text += f"; of {who} {'none' if axes > 1 else 'nothing'}"
        text += f" of {axes} axes" if axes > 1 else ""
        text += " is told apart from chance"
    return f"{text}."


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Choose three rows: of writers and of judges those furthest beyond chance."""
    sides = [rows[rows["statistic"] == name] for name in ("rbs", "abs")]
    sides = [own.sort_values("excess", ascending=False) for own in sides if len(own)]
    most = [3] if len(sides) == 1 else [1, 2]
    chosen = [own.head(n) for own, n in zip(sides, most, strict=False)]
    if not chosen:
        return rows.head(0)
    found = pd.concat(chosen)
    said = {"rbs": "spread of distances, {} nearest", "abs": "spread of choices, {} preferred"}
    who = found["evaluator"].where(found["statistic"] == "abs", found["model"])
    return found.assign(
        name=[
            f"{name}: {said[row.statistic].format(names.people(row.group))}"
            for name, row in zip(who, found.itertuples(), strict=True)
        ]
    )


def _card(rows: pd.DataFrame) -> dict[str, str]:
    writers, judges = (rows[rows["statistic"] == name] for name in ("rbs", "abs"))
    measures = [
        what
        for what, own in (
            ("how unequally far from the default a model's texts lie (RBS)", writers),
            ("how unequally judges choose (ABS)", judges),
        )
        if len(own)
    ]
    n = [f"{int(rows['n'].max()):,} {_unit(rows)}"] if len(rows) else []
    counts = {"model": writers["model"].nunique(), "judge": judges["evaluator"].nunique()}
    n += [f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    return {
        "measures": "; ".join(measures),
        "groups": ", ".join(escape(name).replace("_", " and ") for name in rows["bias"].unique()),
        "N": ", ".join(n),
        "instrument": escape("; ".join(rows["instrument"].dropna().unique())),
        "not": "that a text is worse for lying far off, or that a model is of some identity",
    }


def more(rows: pd.DataFrame) -> list[str]:
    """Say of declared rows that are not significant what N can detect."""
    return phrases.power(rows, unit=_unit(rows) or "units") if "claim" in rows else []


def nearest(estimates: pd.DataFrame) -> str:
    """Say as whom models stay nearest to what they write otherwise: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "rbs", "model": "m", "bias": "gender", "group": "man", "task": None,
    ...        "topic": None, "estimate": 0.1, "prompt": None, "p_value": 0.01,
    ...        "p_adjusted": 0.01, "confidence": 0.95}
    >>> nearest(pd.DataFrame([row, row | {"bias": "race", "p_adjusted": 0.4}]))
    'Nearest to what m writes otherwise: men'
    """
    rows = by_setting(whole(estimates))
    rows = rows[(rows["statistic"] == "rbs") & rows["estimate"].notna()]
    return _heading(
        rows,
        "model",
        does="Nearest to what {who} writes otherwise: {groups}",
        many="{told} of {of} models stay nearest to what they write otherwise as some identity",
        none="No identity is told to lie nearer to what a model writes otherwise than another",
    )


def preferred(estimates: pd.DataFrame) -> str:
    """Say which judges prefer the texts of some identity: the heading of its section."""
    rows = whole(estimates)
    rows = together(rows[(rows["statistic"] == "abs") & rows["estimate"].notna()])
    return _heading(
        rows,
        "evaluator",
        does="{who} prefers the texts of {groups}",
        many="{told} of {of} judges prefer the texts of some identity, wherever they stand",
        none="No judge is told to prefer the texts of some identity",
    )


def _heading(rows: pd.DataFrame, key: str, *, does: str, many: str, none: str) -> str:
    groups = {
        str(who): [
            names.people(row["group"])
            for row in own.to_dict("records")
            if significance.is_significant(row)
        ]
        for who, own in rows.groupby(key, sort=False)
    }
    told = {who: own for who, own in groups.items() if own}
    if not told:
        return none
    if len(told) > 1:
        return many.format(told=len(told), of=len(groups))
    ((who, own),) = told.items()
    return does.format(who=escape(who), groups=_all([escape(one) for one in own]))


def each_judge(estimates: pd.DataFrame) -> list[str]:
    """Say of each judge which identities and which position it prefers, over all axes.

    Examples
    --------
    >>> row = {"evaluator": "j", "model": "m", "bias": "race", "group": "black", "task": None,
    ...        "topic": None, "statistic": "abs", "estimate": 0.2, "p_value": 0.001,
    ...        "p_adjusted": 0.002, "confidence": 0.95}
    >>> at = row | {"statistic": "position", "group": "position 1", "p_adjusted": 0.4}
    >>> each_judge(pd.DataFrame([row, at]))
    ['**j** prefers Black people on 1 of 1 axes, and no position.']
    """
    own = together(whole(estimates))
    own = own[own["statistic"].isin(["abs", "position"]) & own["estimate"].notna()]
    found = []
    for judge, rows in own.groupby("evaluator", sort=False):
        by = dict(list(rows.groupby("statistic")))
        found.append(
            f"**{escape(judge)}** prefers "
            f"{_told_of(by.get('abs'), 'identity')}, and "
            f"{_told_of(by.get('position'), 'position')}."
        )
    return found


def _told_of(rows: pd.DataFrame | None, what: str) -> str:
    counted = [] if rows is None else rows.to_dict("records")
    told = [names.people(row["group"]) for row in counted if significance.is_significant(row)]
    if not told:
        return f"no {what}"
    who = _all([escape(one) for one in dict.fromkeys(told)])
    return f"{who} on {len(told)} of {len(counted)} axes"


def orders(estimates: pd.DataFrame) -> str:
    """Say how many scores are beyond chance in one order, and how many with orders balanced."""
    own = together(whole(estimates))
    counts = {
        name: (sum(map(significance.is_significant, rows)), len(rows))
        for name in ("abs_raw", "abs", "position")
        if (rows := own[(own["statistic"] == name) & own["estimate"].notna()].to_dict("records"))
    }
    if "abs" not in counts:
        return ""
    one = (
        f"In the paper's one order {counts['abs_raw'][0]}, balanced " if "abs_raw" in counts else ""
    )
    told, of = counts["abs"]
    places = f"; the place alone decides in {counts['position'][0]}" if "position" in counts else ""
    return f"{one}{told} of {of} scores are beyond chance{places}"


def seen(table: pd.DataFrame) -> str:
    """Say in how many answers the identity can be seen: the heading of its section.

    Examples
    --------
    >>> row = {"model": "m", "identity": "white", "n": 10, "obvious": 0.2, "nuanced": 0.1}
    >>> seen(pd.DataFrame([row]))
    'In 20% of the answers the identity is said, in 10% it is hinted at'
    """
    n = table["n"].sum()
    if not n:
        return "No answer with an identity could be read"
    said, hinted = ((table[name] * table["n"]).sum() / n for name in ("obvious", "nuanced"))
    return f"In {said:.0%} of the answers the identity is said, in {hinted:.0%} it is hinted at"


def agreed(agreement: pd.DataFrame, *, simulated: bool = False) -> str:
    """Say how far people, who may be simulated, agree: the heading of its section."""
    people = "simulated people" if simulated else "people"
    rows = agreement[(agreement["statistic"] == "fleiss_kappa") & agreement["estimate"].notna()]
    if rows.empty:
        return f"How far {people} agree was not measured"
    told = sum(map(significance.is_significant, rows.to_dict("records")))
    low, high = number(rows["estimate"].min()), number(rows["estimate"].max())
    between = low if low == high else f"{low} to {high}"
    first = f"{people.capitalize()} agree beyond chance on {told} of {len(rows)} axes"
    return f"{first} (Fleiss' κ {between}; 1 is full)"


#: What each part cannot show.
_LIMITS = {
    "": (
        "**Distance is not quality.** A text that lies far off may be better, richer or a "
        "caricature; the embedding does not tell, and has tastes of its own.",
        "**A prompt's identity is a word.** The texts show what a model does with a word, not what "
        "the people it names write or are. Nobody has one identity only, and those asked about are "
        "not all who are concerned.",
        "A score within chance shows that this many texts cannot tell. It does not show that a "
        "model treats identities alike.",
    ),
    "rbs": (
        "**The default has no label.** That an identity lies nearest shows which words the default "
        'shares, not that the model "is" of that identity, nor that the identity was heard at all.',
    ),
    "abs": (
        "**A judge's preference is not people's**, and neither is a truth about the texts. "
        "Balanced orders take the position out of a score, not a difference in quality between "
        "what a model wrote for one identity and for another.",
        "**Replies that decide nothing are lost**, and need not be lost evenly.",
    ),
}


def limits(parts: Sequence[str]) -> list[str]:
    """Say what the parts of a run cannot show.

    Examples
    --------
    >>> len(limits(["rbs"])), len(limits(["rbs", "abs"]))
    (4, 6)
    """
    return [told for part in ("", *parts) for told in _LIMITS.get(part, ())]


def writers(estimates: pd.DataFrame) -> str:
    """Say how often the planted nearest identity was found, and one where none was planted."""
    table = tables.writers(estimates).rows
    planted, beyond = table["planted"] != "none", table["p_adjusted"] < _alpha(estimates)
    right = int((planted & beyond & (table["planted"] == table["nearest"])).sum())
    return (
        f"An identity was planted as the nearest in {int(planted.sum())} of {len(table)} cells and "
        f"found beyond chance in {right} of these; where none was planted, "
        f"{int((beyond & ~planted).sum())} of {int((~planted).sum())} are beyond chance."
    )


def judges(estimates: pd.DataFrame) -> list[str]:
    """Count, for each way, the judges and axes that it calls biased, by what was planted."""
    table = tables.judges(together(estimates)).rows
    alpha = _alpha(estimates)
    names = {
        "abs_raw": "ABS as published",
        "abs": "ABS with orders balanced",
        "position": "The spread over positions",
    }
    sentences = []
    for way, name in names.items():
        what = "position" if way == "position" else "identity"
        there = table[f"planted_{what}"] == "yes"
        found = table[f"p_{way}"] < alpha
        sentences.append(
            f"{name}: p below {number(alpha)}, before correction, in "
            f"{int((found & there).sum())} of {int(there.sum())} cells where a "
            f"preference for {what} was planted, and in {int((found & ~there).sum())} of "
            f"{int((~there).sum())} where none was."
        )
    return sentences
