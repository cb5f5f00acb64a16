"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.differences(tables.estimates([row], study="news_bias"), "word")
>>> drawn.rows["panel"].tolist()
['women']
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias.news import claims, sentences
from nbbias.reading import Drawn, figures, forest, names, significance

#: By measure: what the dots are.
_WORDS = {
    "word": "share of group words",
    "document": "share of topics",
    "sentiment": "tone relative to neutral sentences (sentiment from −1 to 1)",
}


def finding(declared: pd.DataFrame, *, truth: pd.DataFrame | None = None) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.leading`).

    `truth` holds the differences that were simulated (`news.Results.simulated`), which are marked.
    """
    rows = pd.concat([declared.iloc[:0], *sentences.leading_parts(declared)], ignore_index=True)
    if truth is not None:
        truths = rows.merge(truth, how="left", on=["model", "measure", "bias", "group"])[
            "simulated"
        ]
        rows["truth"] = truths.where(rows["statistic"].isin(sentences.LEADS.values()))
    return forest(rows, reference="in the human articles")


def differences(estimates: pd.DataFrame, measure: str) -> Drawn:
    """Draw each group's difference from the originals by the first instrument, a panel a group.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        ``"word"``, ``"document"`` or ``"sentiment"``.
    """
    what, rows = _WORDS[measure], sentences.leading_rows(estimates, measure)
    rows = significance.with_selection(rows)
    same_length = estimates["statistic"].eq("share_difference_passages") & (measure == "word")
    further = claims.unmirrored(estimates[same_length]).assign(side="further")
    rows = pd.concat([rows.assign(side="ours"), further], ignore_index=True)
    words, mirrored = None, " (of two groups one is shown, since the other is its mirror image)"
    if measure == "sentiment":
        # A few articles would stretch the scale and say nothing; they stay in the table.
        rows = rows.assign(estimate=rows["estimate"].where(rows["ci_low"].notna()))
        words, mirrored = {"missing": "too few articles differ"}, ""
    shown = _panels(rows)
    title = f"Difference in each group's {what}, generated minus human articles"
    return Drawn(
        figures.claims(*figures.scaled(shown), draw=figures.zero, hue="group", words=words),
        shown,
        f"{title}, with intervals, by model and prompt; one panel a group; 0: as in the originals.",
        title,
        figures.caption(shown, f"means over articles{mirrored}", of="articles")
        + " Small grey markers: texts of equal length." * (len(further) > 0),
    )


#: By kind of pair: what its panel is called.
_KINDS = {"convergent": "one group, two scorers", "discriminant": "two biases, one scorer"}

#: Pairs of a kind that are drawn, those with most articles.
_MOST_PAIRS = 15


def agreement(table: pd.DataFrame) -> Drawn:
    """Draw correlations of the tone over articles, a panel a kind of pair, with their mean."""
    parts = []
    articles = table[(table["dimension"] == "articles") & table["estimate"].notna()]
    for kind, panel in _KINDS.items():
        rows = articles[articles["statistic"] == f"{kind}_correlation"]
        mean = articles.loc[articles["statistic"] == f"{kind}_mean", "estimate"]
        rows = rows.nlargest(_MOST_PAIRS, "n").sort_index()
        parts.append(rows.assign(panel=panel, reference=mean.squeeze() if len(mean) else None))
    shown = pd.concat(parts, ignore_index=True)
    shown = shown.assign(cell=[_pair(row) for row in shown.to_dict("records")])
    title = "Correlations of the tone towards groups, over articles"
    return Drawn(
        figures.claims(shown, "correlation", words={"line": "mean"}, draw=figures.zero, columns=1),
        shown,
        f"{title}, with intervals: one group by two scorers, and groups of two biases by one.",
        title,
        figures.caption(shown, "correlations of shifts", of="articles"),
    )


def _pair(row: dict[str, Any]) -> str:
    """Name two measures that are correlated: their groups, then their scorers."""
    groups, scorers = (
        " and ".join(dict.fromkeys([row[name], row[f"second_{name}"]]))
        for name in ("group", "instrument")
    )
    people = " and ".join(map(names.people, groups.split(" and ")))
    return f"{people}: {scorers}"


def _panels(rows: pd.DataFrame) -> pd.DataFrame:
    """Name cells by the keys that vary, panels by people, and by bias where these share a name.

    Groups of which nothing was measured are left out, unless that is all of them.
    """
    measured = rows.groupby(["bias", "group"])["estimate"].transform("count") > 0
    shown = rows[measured] if measured.any() else rows
    shared = shown.groupby("group")["bias"].transform("nunique") > 1
    people = shown["group"].astype(object).map(names.people)
    cells = [names.subject(row, shown) for row in shown.to_dict("records")]
    return shown.assign(cell=cells, panel=people.where(~shared, shown["bias"] + ": " + people))
