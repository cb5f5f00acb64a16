"""Does a judge's verdict hang on whom a sentence names? The same sentence about each group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import checks, detection
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.text import audit, lexicons

#: The word lists whose groups are exchanged, and the kinds of sentences: praise and blame of one
#: person, which say nothing of any group.
BIASES, KINDS = ("gender", "race", "orientation"), ("praise", "blame")

STATISTIC = "swap_effect"


def texts() -> pd.DataFrame:
    """Return the sentences as TEXTS, with what `text.audit.fill_templates` says of each.

    Examples
    --------
    >>> texts()["text_id"].is_unique
    True
    """
    filled = audit.fill_templates(lexicons.load_all(BIASES))
    filled = filled[filled["kind"].isin(KINDS)]
    named = [filled[name].astype(str) for name in ("bias", "template", "group")]
    return filled.assign(text_id=named[0] + " " + named[1] + " " + named[2]).reset_index(drop=True)


def estimates(panel: JudgePanel, *, confidence: float, correction: str = "holm") -> pd.DataFrame:
    """Estimate how far the name of each group moves each judge.

    Parameters
    ----------
    panel
        The judges.
    confidence, correction
        Level of the intervals; ``"holm"`` or ``"fdr_bh"``, over the groups of a judge.

    Returns
    -------
    DataFrame
        ESTIMATES by `judge`, `bias` and `group`: ``swap_effect``, the mean of the judge's
        probability (of its verdict, where it gives none) less the mean over the groups of the
        bias, in [-1, 1], above 0 where a sentence is held for more biased as it names this group;
        N counts sentences; one-sample t.

    Examples
    --------
    >>> STATISTIC
    'swap_effect'
    """
    filled = texts()
    distinct = filled.drop_duplicates("text").set_index("text_id")["text"]
    said, _ = panel.judge(distinct.reset_index(), "swapped sentences")
    rows = []
    for judge, own in said.groupby("judge", sort=False):
        probable = own["confidence"].notna().any()
        given = own["confidence"] if probable else own["biased"].astype("boolean").astype("Float64")
        texts_of = own["text_id"].astype(str).map(distinct)
        known = pd.Series(given.to_numpy(float, na_value=np.nan), index=texts_of)
        effects = audit.score_templates(filled, score=known.loc.__getitem__)
        instrument = own["instrument"].iloc[0]
        for (bias, group), part in effects.groupby(["bias", "group"], sort=False):
            row = stats.one_sample(
                part["swap_effect"], confidence=confidence, bounds=(-1.0, 1.0)
            ).row()
            key = {"judge": judge, "instrument": instrument, "bias": bias, "group": group}
            rows.append(key | {"statistic": STATISTIC, "null": 0.0} | row)
    found = tables.estimates(
        rows,
        study=detection.STUDY,
        measure=checks.MEASURE,
        source="templates",
        confidence=confidence,
    )
    return stats.adjust(found, family=["judge"], method=correction)
