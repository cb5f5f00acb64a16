"""Sentences of the CoGS study, written from its tables.

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
from nbbias.cogs.tables import by_setting, over_all, pooled
from nbbias.params import Texts
from nbbias.reading import Lead, names, number, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

# --- what was asked, and what was lost ------------------------------------------------------------


def parts(chosen: Sequence[str]) -> str:
    """Say what this run does not measure, and why."""
    absent = {
        "rbs": "distances to the default texts (RBS)",
        "visibility": "how visible identities are in the answers",
        "abs": "judges' preferences (ABS): this run reads no judgements",
        "people": "people's choices: this run reads no ratings",
    }
    missing = [what for part, what in absent.items() if part not in chosen]
    return f"**Not in this run**: {'; '.join(missing)}." if missing else ""


# --- representative bias ------------------------------------------------------------------------


def rbs(estimates: pd.DataFrame) -> str:
    """Count significant RBS, and name the largest with the identity nearest to the default."""
    rows = estimates[estimates["statistic"] == "rbs"]
    significant = significance.has_significant_p(rows).any()
    nearest = (
        "nearest to the default: **{}**"
        if significant
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
    """Write the same-writer baseline with the identities' distances."""
    rows = by_setting(over_all(estimates))
    sentences = []
    for model, part in rows.groupby("model", sort=False):
        means = part.loc[part["statistic"] == "distance", "estimate"]
        baseline = part.loc[part["statistic"] == "floor", "estimate"].dropna()
        if means.notna().any():
            text = (
                "the same-writer baseline (two answers to the same default prompt) is "
                f"{number(baseline.mean())}"
                if len(baseline)
                else "there is no same-writer baseline, since defaults were asked once"
            )
            sentences.append(
                f"{escape(model)}: identities' mean distances are {number(means.min())} to "
                f"{number(means.max())}; {text}."
            )
    return sentences


# --- affinity bias ------------------------------------------------------------------------------


def abs_scores(estimates: pd.DataFrame) -> str:
    """Count significant ABS, and name the largest with the identity that is most preferred."""
    rows = pooled(estimates)
    rows = rows[rows["statistic"] == "abs"].assign(model=None)  # the writers, all of them
    part = " by task" if rows["task"].notna().any() else _of_tasks(rows)
    return reading.count_significant(
        rows,
        what=f"affinity bias scores{part}, positions counterbalanced,",
        unit=_unit(rows),
        says=lambda row: f"{{which}}: ABS {{estimate}}, most preferred: {_people(row)}",
    )


# --- what leads -----------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: whose texts are nearest, and whose are preferred.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    texts
        Where the answers and judgements are from.
    """
    rows = over_all(rows)
    mde = significance.minimum_detectable_effect(rows)
    measured = rows.assign(mde=mde)[rows["estimate"].notna()]
    spreads = by_setting(measured[measured["statistic"] == "rbs"])
    judged = measured[measured["statistic"] == "abs"]
    judged = pooled(judged) if len(judged) else judged
    halves = [(spreads, "model", "writers"), (judged, "evaluator", "judges")]
    sentences = [_preferring(part, key, macro) for part, key, macro in halves if len(part)]
    technical = [rbs(rows)] if len(spreads) else []
    technical += [abs_scores(judged)] if len(judged) else []
    both = pd.concat([spreads, judged])
    if len(sentences) == 1:
        ends = both["null"].min(), both["null"].max()
        low, high = (Markup(number(end, decimals=3)) for end in ends)
        sentences.append(prose.render("cogs.null", low=low, high=high))
    if not sentences:
        reason = rows["reason"].dropna().head(1).tolist()
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
    """Choose three rows: of writers and of judges those with the largest excess."""
    sides = [rows[rows["statistic"] == name] for name in ("rbs", "abs")]
    sides = [side.sort_values("excess", ascending=False) for side in sides if len(side)]
    most = [3] if len(sides) == 1 else [1, 2]
    chosen = [side.head(n) for side, n in zip(sides, most, strict=False)]
    if not chosen:
        return rows.head(0)
    leading = pd.concat(chosen)
    templates = {"rbs": "RBS, {} nearest to the default", "abs": "ABS, {} chosen most"}
    who = leading["evaluator"].where(leading["statistic"] == "abs", leading["model"])
    return leading.assign(
        name=[
            f"{name}: {templates[row.statistic].format(names.people(row.group))}"
            for name, row in zip(who, leading.itertuples(), strict=True)
        ]
    )


def _card(rows: pd.DataFrame) -> dict[str, str]:
    writers, judges = (rows[rows["statistic"] == name] for name in ("rbs", "abs"))
    measures = [
        what
        for what, side in (
            ("differences between identities in distance to the default texts (RBS)", writers),
            ("differences between identities in a judge's choices (ABS)", judges),
        )
        if len(side)
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
    rows = by_setting(over_all(estimates))
    rows = rows[(rows["statistic"] == "rbs") & rows["estimate"].notna()]
    values = _preferences(rows, "model")
    return prose.render("cogs.nearest", named=values["named"], of=values["of"])


def preferred(estimates: pd.DataFrame) -> str:
    """Say which judges prefer the texts of some identity: the heading of its section."""
    rows = over_all(estimates)
    rows = pooled(rows[(rows["statistic"] == "abs") & rows["estimate"].notna()])
    values = _preferences(rows, "evaluator")
    return prose.render("cogs.preferred", named=values["named"], of=values["of"])


def orders(estimates: pd.DataFrame) -> str:
    """Say how many scores are significant in one order, and how many counterbalanced."""
    scores = pooled(over_all(estimates))
    counts = {
        name: (sum(map(significance.is_significant, rows)), len(rows))
        for name in ("abs_raw", "abs", "position")
        if (
            rows := scores[(scores["statistic"] == name) & scores["estimate"].notna()].to_dict(
                "records"
            )
        )
    }
    if "abs" not in counts:
        return ""
    k, n = counts["abs"]
    text = f"Significant affinity bias scores: {k} of {n} with positions counterbalanced"
    if "abs_raw" in counts:
        text += f", {counts['abs_raw'][0]} of {counts['abs_raw'][1]} in the paper's single order"
    if "position" in counts:
        text += f"; significant position bias: {counts['position'][0]} of {counts['position'][1]}"
    return text


def seen(table: pd.DataFrame) -> str:
    """Say in how many answers the identity is visible: the heading of its section.

    Examples
    --------
    >>> row = {"model": "m", "identity": "white", "n": 10, "obvious": 0.2, "nuanced": 0.1}
    >>> seen(pd.DataFrame([row]))
    'The identity is obvious in 20% of the answers and nuanced in 10%'
    """
    n = table["n"].sum()
    if not n:
        return "No answer with an identity could be read"
    obvious, nuanced = ((table[name] * table["n"]).sum() / n for name in ("obvious", "nuanced"))
    return f"The identity is obvious in {obvious:.0%} of the answers and nuanced in {nuanced:.0%}"


def agreed(agreement: pd.DataFrame, *, simulated: bool = False) -> str:
    """Say how far people, who may be simulated, agree: the heading of its section."""
    people = "simulated people" if simulated else "people"
    rows = agreement[(agreement["statistic"] == "fleiss_kappa") & agreement["estimate"].notna()]
    if rows.empty:
        return f"The agreement of {people} was not measured"
    k = sum(map(significance.is_significant, rows.to_dict("records")))
    low, high = number(rows["estimate"].min()), number(rows["estimate"].max())
    between = low if low == high else f"{low} to {high}"
    axes = f"{len(rows)} ax{'is' if len(rows) == 1 else 'es'}"
    first = f"The agreement of {people} was significant on {k} of {axes}"
    return f"{first} (Fleiss' κ {between}; maximum 1)"


#: What each part cannot show.
_LIMITS = {
    "": (
        "**Distance is not quality.** A distant text may be better, richer or a caricature; the "
        "embedding does not distinguish these, and has biases of its own.",
        "**A prompt's identity is a word.** The texts show what a model does with a word, not what "
        "the people it names write or are. Nobody has one identity only, and those asked about are "
        "not all who are concerned.",
        "A score that is not significant does not show that a model treats identities alike.",
    ),
    "rbs": (
        "**The default has no label.** The nearest identity shows which words the default shares, "
        "not that the model has that identity, nor that the prompted identity had an effect.",
    ),
    "abs": (
        "**A judge's preference is not people's**, and neither is a truth about the texts. "
        "Counterbalancing removes position bias from a score, not differences in quality between "
        "what a model wrote for one identity and for another.",
        "**Replies without a decision are excluded**, and not necessarily at random.",
    ),
}


def limits(parts: Sequence[str]) -> list[str]:
    """Say what the parts of a run cannot show.

    Examples
    --------
    >>> len(limits(["rbs"])), len(limits(["rbs", "abs"]))
    (4, 6)
    """
    return [limit for part in ("", *parts) for limit in _LIMITS.get(part, ())]
