"""The figures of the biased-prompts study: estimates in, the figure, its rows and words out.

>>> from nbbias import biased_prompts, tables
>>> row = {"source": "all", "model": "m", "prompt": "biased", "statistic": "refusal_rate",
...        "measure": "refusal",
...        "estimate": 0.4, "n": 10}
>>> estimates = tables.estimates([row], study="biased_prompts")
>>> biased_prompts.figures.refusals(estimates).rows["cell"].tolist()
['all headlines']
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.biased_prompts import sentences
from nbbias.biased_prompts.corpus import NOBODY
from nbbias.reading import Drawn, figures, forest, names, prose, significance, tipping
from nbbias.reading.lead import sort_models
from nbbias.tables import escape


def refusals(estimates: pd.DataFrame, *, prompt: str = "biased") -> Drawn:
    """Draw refusal rates of one prompt with their intervals, a panel a model.

    The first row holds all headlines; then comes whom headlines name. Filled are rates that differ
    significantly from those that name nobody.
    """
    rows = estimates[estimates["statistic"].eq("refusal_rate") & estimates["prompt"].eq(prompt)]
    n, refused = rows["model"].nunique(), rows.groupby("model")["estimate"].transform("max") > 0
    rows = rows[refused] if refused.any() else rows
    n -= rows["model"].nunique()
    groups = rows["group"]
    cell = groups.map(lambda group: f"about {names.people(group)}", na_action="ignore")
    cell = cell.astype(object).fillna("all headlines").mask(groups == NOBODY, "naming nobody")
    rows = rows.assign(panel=rows["model"], cell=cell)
    rows = rows.iloc[np.lexsort((cell, cell != "all headlines"))]
    filled, title = "", f"Refusal rate under the {prompt} prompt"
    if groups.notna().any():
        tests = significance.significant(estimates[estimates["statistic"] == "refusal_difference"])
        both = (pd.MultiIndex.from_frame(of[["model", "bias", "group"]]) for of in (rows, tests))
        marks = pd.Series(next(both).isin(next(both)), rows.index, dtype=object)
        rows = rows.assign(significant=marks.where(groups.notna() & groups.ne(NOBODY), np.nan))
        filled = prose.render_plain("biased_prompts.filled")
        title = escape.without_markdown(sentences.result(estimates, "by headline"))
    what = f"refusal rates under the {prompt} prompt"
    caption = figures.caption(rows, what, of="headlines", filled=filled)
    return Drawn(
        figures.claims(*figures.scaled(rows)),
        rows,
        "Share of articles refused with Wilson intervals, a panel a model: a row for all "
        "headlines, and for each group that headlines name.",
        title,
        f"{caption} {prose.render_plain('biased_prompts.none_refused', n=n)}".rstrip(),
    )


def shares(estimates: pd.DataFrame, scores: pd.DataFrame, *, prompts: Mapping[str, str]) -> Drawn:
    """Draw a group's mean share of words under both prompts, a panel a group, the neutral in grey.

    On the articles measured under both. Filled are shares whose difference is significant.
    """
    tested = estimates[estimates["statistic"] == "share_difference_change"]
    tested = tested[tested["measure"].eq("word") & tested["n"].gt(1)]
    tested = sort_models(tested, estimates, sentences.group_leading)
    tested = tested.assign(significant=significance.is_significant(tested))
    rows = []
    for row in tested.to_dict("records"):
        counts, _ = tipping.count_words(row, scores)
        for side, at in {"ours": 0, "further": 2}.items():  # the biased prompt's, the neutral's
            values = pd.Series(counts[:, at] / counts[:, at : at + 2].sum(axis=1))
            mean = stats.mean_interval(values, confidence=row["confidence"], bounds=(0, 1))
            of = {"side": side, "cell": row["model"], "panel": prose.capitalize(names.measure(row))}
            ends = {end: 100 * getattr(mean, end) for end in ("estimate", "ci_low", "ci_high")}
            rows.append(row | ends | of | dict.fromkeys(["null", *significance.SELECTED], np.nan))
    shown = pd.DataFrame(rows, columns=[*tested, "side", "cell", "panel"])
    groups = shown[shown["significant"].eq(True)].groupby("model", sort=False)["estimate"]
    shown["significant"] = shown["significant"].where(shown["side"] == "ours", False)
    title = prose.render_plain(
        "biased_prompts.shares", name="".join(shown["panel"][:1]), found=[*groups.agg(list).items()]
    )
    filled = prose.render_plain("biased_prompts.filled_shares", neutral=prompts["neutral"])
    what = f"mean shares under the {prompts['biased']} prompt"
    return Drawn(
        figures.claims(shown, "percent", hue="group"),
        shown,
        "Mean shares of words by model under both prompts, with intervals; one panel a group.",
        title if shown["panel"].nunique() == 1 else "",
        figures.caption(shown, what, of="articles", filled=filled),
    )


# --- what leads -------------------------------------------------------------------------------


def finding(
    declared: pd.DataFrame, *, neutral: str = "neutral", truth: pd.DataFrame | None = None
) -> Drawn:
    """Draw what leads the page: a panel a measure and group, with what was simulated."""
    rows = sentences.select_leading(declared)
    if truth is not None:
        rows = rows.merge(truth, how="left", on=["model", "measure"])
    return forest(rows, reference=f"under the {neutral} prompt")
