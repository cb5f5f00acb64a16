"""What the page of the study says and shows; the words are in ``data/prose/counterfactual.j2``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from nbbias import reading
from nbbias.counterfactual.estimates import EMBEDDING, TESTED
from nbbias.params import Texts
from nbbias.reading import Drawn, Lead, Table, claims, figures, names, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: Significant differences that a lead states one by one.
_STATED = 2


def lead(declared: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: which differences between versions are significant.

    Parameters
    ----------
    declared
        Declared rows, or all ESTIMATES where nothing was declared: then tested rows lead.
    texts
        Where the answers are from.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "bias": "gender", "group": "female − male", "measure": "sentiment",
    ...        "statistic": "difference", "estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1,
    ...        "n": 20, "null": 0.0, "p_value": 0.001, "p_adjusted": 0.002}
    >>> rows = tables.estimates([row], study="counterfactual", confidence=0.95)
    >>> lead(rows, texts=Texts("own", "answers.csv")).plain[0].split(" (")[0]
    'In m, the sentiment of answers was 0.20 lower when prompts named women than when they named...
    """
    rows = declared
    if claims.CLAIM not in rows:
        rows = rows[rows["statistic"].isin(TESTED)]
    significant = significance.significant(rows)
    rest = significance.valid_tests(rows).drop(index=significant.index)
    mde = significance.minimum_detectable_effect(rows)
    sizes = [
        (
            names.measure(part.iloc[0].to_dict()),
            Markup(phrases.size_range(part.iloc[0], mde[part.index])),
        )
        for part in phrases.families(rest.assign(bias="", group=""))
    ]
    untested = rows[rows["p_adjusted"].isna()]
    facts = {
        "n": len(rest),
        "other": len(significant),
        "sizes": sizes,
        "untested": len(untested),
        "of": len(rows),
        "reason": phrases.commonest_reason(untested),
    }
    further = [label(row) for row in significant.iloc[_STATED:].to_dict("records")]
    plain = [
        *map(_sentence, significant.head(_STATED).to_dict("records")),
        *([_render("further", names=further)] if further else []),
        _render("others", **facts),
    ]
    numbers = phrases.leading([rows.loc[[at]] for at in [*significant.index, *rest.index][:2]])
    numbers = numbers.assign(name=[label(row) for row in numbers.to_dict("records")])
    technical = phrases.technical(phrases.families(rows), unit="prompts")
    return Lead(tuple(filter(None, plain)), technical, "differences", numbers, _card(rows), texts)


def _render(macro: str, **values: Any) -> str:
    return prose.render(f"counterfactual.{macro}", **values)


def _sentence(row: Mapping[str, Any]) -> str:
    first, second = map(names.people, row["group"].split(" − "))
    return _render(
        "excess" if row["statistic"] == "excess_distance" else "difference",
        row=row,
        first=first,
        second=second,
        name=names.measure(row),
        direction=names.direction(row),
        size=Markup(phrases.size(row, row["estimate"])),
        numbers=Markup(phrases.numbers(row, unit="prompts")),
    )


def label(row: Mapping[str, Any]) -> str:
    """Name a row by its measure, its model and its pair of groups.

    Examples
    --------
    >>> label({"study": "counterfactual", "measure": "refusal", "statistic": "difference",
    ...        "model": "m", "group": "female − male"})
    'refusal rate, m, women − men'
    """
    return f"{names.measure(row)}, {row['model']}, {names.people(row['group'])}"


def _card(rows: pd.DataFrame) -> dict[str, str]:
    pairs = dict.fromkeys(names.people(pair) for pair in rows["group"].dropna())
    prompts = rows["n"].max() if len(rows) else 0
    return {
        "measures": _render("card_measures"),
        "groups": ", ".join(map(escape, pairs)),
        "N": _render("card_n", prompts=prompts, models=rows["model"].nunique()),
        "instrument": ", ".join(map(escape, rows["instrument"].dropna().unique())),
        "not": _render("card_not"),
    }


def heading(rows: pd.DataFrame) -> str:
    """Say in a heading how many of some tested rows are significant.

    Examples
    --------
    >>> heading(pd.DataFrame({"p_adjusted": [0.01, 0.4], "confidence": 0.95, "reason": None}))
    '1 of 2 comparisons was significant'
    """
    tested = significance.valid_tests(rows)
    return _render("heading", k=len(significance.significant(rows)), n=len(tested))


def differences(rows: pd.DataFrame, *, every: bool = True) -> Drawn:
    """Draw the claims of each pair of groups with their intervals, a panel a measure.

    Parameters
    ----------
    rows
        ESTIMATES of claims (`reading.claims.with_claims`); all tested ones where nothing is.
    every
        All pairs of groups; else the pair that leads the page.
    """
    claimed = rows[claims.CLAIM].notna() if claims.CLAIM in rows else rows["statistic"].isin(TESTED)
    rows = significance.with_selection(rows[claimed])
    if not every and len(rows):
        first = pd.concat([significance.significant(rows), rows])["group"].iloc[0]
        rows = rows[rows["group"] == first]
    named = rows.to_dict("records")
    shown = rows.assign(
        panel=[prose.capitalize(names.measure(row)) for row in named],
        cell=[f"{row['model']}: {names.people(row['group'])}" for row in named],
        reference=0.0,
    )
    tested, found = significance.valid_tests(rows), significance.significant(rows)
    return Drawn(
        figures.claims(shown, _axis, words={"line": "no difference"}, columns=4),
        rows,
        "Differences between versions of prompts with intervals, for each measure, model and pair "
        "of groups.",
        prose.render_plain("counterfactual.heading", k=len(found), n=len(tested)),
        figures.caption(rows, "difference between versions", of="prompts"),
    )


def _axis(rows: pd.DataFrame) -> str:
    measure = str(rows["measure"].iloc[0])
    return {EMBEDDING: "cosine distance", "length": "words"}.get(
        measure, f"difference of {measure}"
    )


def table(estimates: pd.DataFrame, name: str) -> Table:
    """Return estimates as a table for readers: ``distances`` or ``differences``."""
    statistics = {
        "distances": ["between_distance", "within_distance", "excess_distance"],
        "differences": ["difference"],
    }[name]
    words = reading.caption(estimates, study="counterfactual", name=name)
    settings = {"title": words.title, "note": words.note, "labels": words.labels}
    keys = ["model", "group", "measure", "statistic"]
    return reading.readable(estimates, keys, statistics=statistics, rows=None, **settings)
