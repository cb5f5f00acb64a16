"""The figures of the biased-prompts study: estimates in, the figure, its rows and words out.

>>> from nbbias import biased_prompts, tables
>>> row = {"source": "all", "model": "m", "prompt": "biased", "statistic": "refusal_rate",
...        "measure": "refusal",
...        "estimate": 0.4, "n": 10}
>>> found = tables.estimates([row], study="biased_prompts")
>>> biased_prompts.figures.refusals(found).rows["cell"].tolist()
['all headlines']
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias.biased_prompts import sentences
from nbbias.biased_prompts.corpus import EVERY, NOBODY
from nbbias.reading import Drawn, figures, forest, names, prose, significance
from nbbias.tables import escape


def refusals(estimates: pd.DataFrame, *, prompt: str = "biased") -> Drawn:
    """Draw refusal rates of one prompt with their intervals, a panel a model.

    The first row holds all headlines; then come outlets, where there are several, and whom
    headlines name. Filled are rates that differ significantly from those that name nobody.
    """
    rows = estimates[estimates["statistic"].eq("refusal_rate") & estimates["prompt"].eq(prompt)]
    n, refused = rows["model"].nunique(), rows.groupby("model")["estimate"].transform("max") > 0
    rows = rows[refused] if refused.any() else rows
    n -= rows["model"].nunique()
    groups = rows["group"].astype(object)
    named = groups.map(lambda group: f"about {names.people(group)}", na_action="ignore")
    cell = named.where(named.notna(), rows["source"]).replace(EVERY, "all headlines")
    cell = cell.mask(groups == NOBODY, "naming nobody")
    kind = [cell == "all headlines", named.isna(), cell == "naming nobody"]
    rows = rows.assign(panel=rows["model"], cell=cell)
    rows = rows.iloc[np.lexsort((cell, np.select(kind, [0, 1, 3], 2)))]
    filled, title = "", f"Refusal rate under the {prompt} prompt"
    if named.notna().any():
        tests = significance.significant(estimates[estimates["statistic"] == "refusal_difference"])
        both = (pd.MultiIndex.from_frame(of[["model", "bias", "group"]]) for of in (rows, tests))
        rows = rows.assign(significant=next(both).isin(next(both)))
        filled = prose.render_plain("biased_prompts.filled")
        title = escape.without_markdown(sentences.result(estimates, "by headline"))
    return Drawn(
        figures.claims(*figures.scaled(rows)),
        rows,
        "Share of articles refused with Wilson intervals, a panel a model: a row for all "
        "headlines, each outlet where there are several, and each group that headlines name.",
        title,
        figures.caption(
            rows, f"refusal rates under the {prompt} prompt", of="headlines", filled=filled
        )
        + f" {prose.render_plain('biased_prompts.none_refused', n=n)}".rstrip(),
    )


# --- what leads -------------------------------------------------------------------------------


def finding(
    declared: pd.DataFrame, *, neutral: str = "neutral", truth: pd.DataFrame | None = None
) -> Drawn:
    """Draw what leads the page: a panel a measure and group, with what was simulated."""
    rows = sentences.leading_rows(declared)
    if truth is not None:
        rows = rows.merge(truth, how="left", on=["model", "measure"])
    return forest(rows, reference=f"under the {neutral} prompt")
