"""Sentences of the CoGS study, written from its tables: what was asked, lost, found and planted.

>>> from nbbias import cogs
>>> cogs.sentences.parts(["rbs", "visibility", "abs", "people"])
''
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import reading
from nbbias.cogs.spread import unit
from nbbias.cogs.tables import by_setting, together, whole
from nbbias.params import Texts
from nbbias.reading import Lead, names, number, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

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


# --- representative bias ------------------------------------------------------------------------


def rbs(estimates: pd.DataFrame) -> str:
    """Count the RBS beyond chance, and name the furthest with the identity nearest the default."""
    rows = estimates[estimates["statistic"] == "rbs"]
    beyond = significance.has_significant_p(rows).any()
    nearest = (
        "nearest to the default: **{}**"
        if beyond
        else "nearest to the default: {} (not significant)"
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
        what=f"affinity bias scores{part}, positions counterbalanced,",
        unit=_unit(rows),
        says=lambda row: f"{{which}}: ABS {{estimate}}, most preferred: {_people(row)}",
    )


# --- what leads, and what was planted -------------------------------------------------------------


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
    mde = significance.minimum_detectable_effect(own)
    measured = own.assign(mde=mde)[own["estimate"].notna()]
    spreads = by_setting(measured[measured["statistic"] == "rbs"])
    judged = measured[measured["statistic"] == "abs"]
    judged = together(judged) if len(judged) else judged
    halves = [(spreads, "model", "writers"), (judged, "evaluator", "judges")]
    sentences = [_preferring(part, key, macro) for part, key, macro in halves if len(part)]
    technical = [rbs(own)] if len(spreads) else []
    technical += [abs_scores(judged)] if len(judged) else []
    both = pd.concat([spreads, judged])
    if len(sentences) == 1:
        ends = both["null"].min(), both["null"].max()
        low, high = (Markup(number(end, decimals=3)) for end in ends)
        sentences.append(prose.render("cogs.null", low=low, high=high))
    if not sentences:
        reason = own["reason"].dropna().head(1).tolist()
        sentences = [prose.render("cogs.nothing", reason=reason[0] if reason else "")]
    return Lead(
        plain=tuple(sentences),
        technical=" ".join(technical),
        figure="both",
        numbers=_numbers(both),
        card=_card(both),
        texts=texts,
        claims=_significant(both),
    )


def _significant(rows: pd.DataFrame) -> pd.DataFrame:
    flags = [significance.is_significant(row) for row in rows.to_dict("records")]
    return rows[np.array(flags, dtype=bool)]


def _preferences(rows: pd.DataFrame, key: str) -> dict[str, Any]:
    """Return who (a column) has significant scores for which groups, and who has none."""
    significant = _significant(rows)
    named = [
        {"name": who, "groups": [names.people(group) for group in part["group"]]}
        for who, part in significant.groupby(key, sort=False)
    ]
    with_any = {who["name"] for who in named}
    rest = [who for who in rows[key].unique() if who not in with_any]
    return {"named": named, "rest": rest, "of": rows[key].nunique(), "significant": significant}


def _preferring(rows: pd.DataFrame, key: str, macro: str) -> str:
    """Say who has significant scores, of which identities, and what the others could detect."""
    values = _preferences(rows, key)
    significant = values.pop("significant")
    groups = significant["group"].map(names.people).value_counts()
    mde = rows.loc[~rows.index.isin(significant.index), "mde"].max()
    n, unit_of = f"{rows['n'].max():.0f}", _unit(rows)
    return prose.render(
        f"cogs.{macro}",
        **values,
        most=groups.index[0] if len(groups) else "",
        p=Markup(phrases.largest_p(significant.to_dict("records"))),
        scope=Markup(prose.render("cogs.scope", n=n, unit=unit_of, fixed=unit_of != "tasks")),
        mde=Markup(number(mde, decimals=3)) if np.isfinite(mde) else "",
    )


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Choose three rows: of writers and of judges those furthest beyond chance."""
    sides = [rows[rows["statistic"] == name] for name in ("rbs", "abs")]
    sides = [own.sort_values("excess", ascending=False) for own in sides if len(own)]
    most = [3] if len(sides) == 1 else [1, 2]
    chosen = [own.head(n) for own, n in zip(sides, most, strict=False)]
    if not chosen:
        return rows.head(0)
    found = pd.concat(chosen)
    said = {"rbs": "RBS, {} nearest to the default", "abs": "ABS, {} chosen most"}
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
            ("differences between identities in distance to the default texts (RBS)", writers),
            ("differences between identities in a judge's choices (ABS)", judges),
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
        "not": "that a distant text is worse, or that a model has an identity",
    }


def more(rows: pd.DataFrame) -> list[str]:
    """Say of declared rows that are not significant what N can detect."""
    return phrases.power(rows, unit=_unit(rows) or "units") if "claim" in rows else []


def nearest(estimates: pd.DataFrame) -> str:
    """Say as whom models write closest to their default texts: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "rbs", "model": "m", "bias": "gender", "group": "man", "task": None,
    ...        "topic": None, "estimate": 0.1, "prompt": None, "p_value": 0.01,
    ...        "p_adjusted": 0.01, "confidence": 0.95}
    >>> nearest(pd.DataFrame([row, row | {"bias": "race", "p_adjusted": 0.4}]))
    'Closest to the default texts of m: men'
    """
    rows = by_setting(whole(estimates))
    rows = rows[(rows["statistic"] == "rbs") & rows["estimate"].notna()]
    values = _preferences(rows, "model")
    return prose.render("cogs.nearest", named=values["named"], of=values["of"])


def preferred(estimates: pd.DataFrame) -> str:
    """Say which judges prefer the texts of some identity: the heading of its section."""
    rows = whole(estimates)
    rows = together(rows[(rows["statistic"] == "abs") & rows["estimate"].notna()])
    values = _preferences(rows, "evaluator")
    return prose.render("cogs.preferred", named=values["named"], of=values["of"])


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
