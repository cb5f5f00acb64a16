"""The figures of the biased-prompts study: estimates in, the figure, its rows and words out.

>>> from nbbias import biased_prompts, tables
>>> row = {"source": "all", "model": "m", "prompt": "biased", "statistic": "refusal_rate",
...        "measure": "refusal",
...        "estimate": 0.4, "n": 10}
>>> found = tables.estimates([row], study="biased_prompts")
>>> biased_prompts.figures.refusals(found).rows["panel"].tolist()
['all headlines']
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias.biased_prompts.corpus import EVERY, NOBODY
from nbbias.biased_prompts.sentences import leading_rows
from nbbias.reading import Drawn, figures, forest, names, prose


def refusals(estimates: pd.DataFrame, *, prompt: str = "biased") -> Drawn:
    """Draw refusal rates of one prompt with their intervals, a panel for each kind of headline.

    The first panel holds all headlines; then come outlets, where there are several, and whom
    headlines name. In grey below an uncorrected rate stands that from labels, or the corrected one.
    """
    kinds = ["refusal_rate_corrected", "refusal_rate_two_phase", "refusal_rate"]
    subset = estimates[estimates["statistic"].isin(kinds) & (estimates["prompt"] == prompt)]
    groups = subset["group"].astype(object)
    named = groups.map(lambda group: f"naming {names.people(group)}", na_action="ignore")
    panel = named.where(named.notna(), subset["source"]).replace(
        {EVERY: "all headlines", f"naming {NOBODY}": "naming nobody"}
    )
    kind = [panel == "all headlines", named.isna(), panel == "naming nobody"]
    rank = np.select(kind, [0, 1, 3], 2)
    rows = subset.assign(panel=panel, cell=subset["model"]).iloc[np.lexsort((panel, rank))]
    raw, by = rows["statistic"] == kinds[-1], ", by the group that headlines name"
    return Drawn(
        figures.claims(*figures.scaled(rows.assign(side=np.where(raw, "ours", "further")))),
        rows,
        "Share of articles refused under the biased prompt by model, uncorrected with Wilson "
        "intervals, and corrected for the detector's errors with wider ones: a panel for all "
        "headlines, one an outlet where there are several, and one for each group that headlines "
        "name.",
        f"Refusal rate under the {prompt} prompt" + by * bool(named.notna().any()),
        figures.caption(rows[raw], "share of headlines refused, uncorrected", of="headlines")
        + ("" if raw.all() else " " + prose.render_plain("biased_prompts.corrected")),
    )


# --- what leads -------------------------------------------------------------------------------


def finding(
    declared: pd.DataFrame, *, neutral: str = "neutral", truth: pd.DataFrame | None = None
) -> Drawn:
    """Draw what leads the page: a panel a measure and group, with what was simulated."""
    rows = leading_rows(declared)
    if truth is not None:
        rows = rows.merge(truth, how="left", on=["model", "measure"])
    return forest(rows, reference=f"under the {neutral} prompt")
