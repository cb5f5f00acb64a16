"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.differences(tables.estimates([row], study="news_bias"), "word")
>>> drawn.rows["panel"].tolist()
['women']
"""

from __future__ import annotations

import pandas as pd

from nbbias.news import sentences
from nbbias.reading import Drawn, figures, forest, names, prose, significance
from nbbias.reading.lead import sort_models
from nbbias.tables import escape


def finding(declared: pd.DataFrame, *, truth: pd.DataFrame | None = None) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.select_leading`).

    `truth` holds the differences that were simulated (`news.Results.simulated`).
    """
    rows = pd.concat([declared.iloc[:0], *sentences.group_leading(declared)], ignore_index=True)
    if truth is not None:
        truths = rows.merge(truth, how="left", on=["model", "measure", "bias", "group"])
        rows["truth"] = truths["simulated"].where(rows["statistic"].isin(sentences.LEADS.values()))
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
    rows = sentences.select_statistic(estimates, measure)
    models, more = significance.significant(rows)["model"], ""
    if by_model := measure == "document" and len(models) > 0:  # others are hardly different from 0
        rows, more = rows[rows["model"].isin(models)], " Drawn: models that differ significantly."
    rows = sort_models(rows, estimates, sentences.group_leading)
    further, grey = sentences.select_further(estimates, measure)
    title = sentences.figure_title(rows, further, grey)
    more += f" Small grey markers: {escape.without_markdown(grey)}." * (len(further) > 0)
    rows = pd.concat([rows.assign(side="ours"), further.assign(side="further")], ignore_index=True)
    words, mirrored = (
        None,
        " (of two groups, as in gender, one is drawn; the other is its mirror image)",
    )
    if measure == "sentiment":
        # A few articles would stretch the scale and say nothing; they stay in the table.
        rows = rows.assign(estimate=rows["estimate"].where(rows["ci_low"].notna()))
        words, mirrored = {"missing": "too few articles differ"}, ""
    shown = _panels(rows)
    if by_model:  # a panel a model
        shown = shown.assign(cell=shown["panel"], panel=shown["cell"])
    differences = prose.render_plain("news.compared", measure=measure)
    return Drawn(
        figures.claims(*figures.scaled(shown), draw=figures.zero, hue="group", words=words),
        shown,
        f"Mean {differences}, with intervals, by model and prompt; one panel a group.",
        escape.without_markdown(title),
        figures.caption(shown, f"mean {differences}{mirrored}", of="articles") + more,
    )


def _panels(rows: pd.DataFrame) -> pd.DataFrame:
    """Name cells by the keys that vary, panels by people, and by bias where these share a name.

    Groups of which less than half was measured are left out, unless that is all of them.
    """
    estimates = rows.groupby(["bias", "group"])["estimate"]
    measured = estimates.transform("count") > estimates.transform("size") / 2
    shown = rows[measured] if measured.any() else rows
    shared = shown.groupby("group")["bias"].transform("nunique") > 1
    people = shown["group"].astype(object).map(names.people)
    cells = [names.subject(row, shown) for row in shown.to_dict("records")]
    return shown.assign(cell=cells, panel=people.where(~shared, shown["bias"] + ": " + people))
