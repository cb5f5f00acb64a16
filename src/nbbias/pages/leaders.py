"""The models of each study side by side: the leading estimates with intervals and chance levels.

No ranks: runs differ in corpus, lists and instruments, and models whose intervals overlap are
not told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import reading, studies, tables

COLUMNS = [
    *("study", "run", "what", "reading", "group_is", "null_is", "bias", "group", "source"),
    *("prompt", "evaluator", "model", "statistic", *tables.ESTIMATE_VALUES),
]
_ABOUT = ("bias", "group", "source", "prompt", "evaluator")


def table(out: Path, runs: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Collect the leading estimates of finished runs.

    Parameters
    ----------
    out
        The folder of all runs.
    runs
        Finished runs, as `pages.gallery.runs` gives them.

    Returns
    -------
    DataFrame
        One row per run, statistic and what it is about, with `COLUMNS`; a judge stands under
        `model` where the study compares judges.
    """
    found = []
    for one in runs:
        estimates = tables.saved_table(out / one["folder"], "estimates")
        if estimates is None:
            continue
        rows = estimates.merge(studies.leads(), on=["study", "measure", "statistic"])
        if "judge" in rows:
            rows["model"] = rows["judge"].where(rows["judge"].notna(), rows["model"])
        # Of a study's finer rows (by task, topic, dimension) the whole stands for it.
        finer = [name for name in ("dimension", "task", "topic") if name in rows]
        rows = rows[rows[finer].isna().all(axis=1)]
        # Where a statistic is given over all biases, too, that stands for those of single ones.
        over_all = rows["bias"].isna()
        whole_there = over_all.groupby([rows["measure"], rows["statistic"]]).transform("any")
        rows = rows[over_all | ~whole_there]
        claimed = zip(rows["measure"], rows["statistic"], strict=True)
        said = studies.STUDIES[str(one["study"])].found
        rows["group_is"] = [said.get(key, "group") for key in claimed]
        found.append(rows.assign(run=str(one["run"])).reindex(columns=COLUMNS))
    whole = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=COLUMNS)
    return whole.dropna(subset=["model"]).reset_index(drop=True)


def sections(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what a page shows: by statistic and run a heading, the reading, and a table."""
    shown = []
    for (study, what, run), own in rows.groupby(["study", "what", "run"], sort=False):
        group, null = str(own["group_is"].iloc[0]), str(own["null_is"].iloc[0])
        # What was found of a row sorts nothing.
        by = [name for name in _ABOUT if name != "group" or group == name]
        keys = [*by, "model", *(["group"] if group != "group" else [])]
        instruments = "; ".join(own["instrument"].dropna().unique())
        unknown = "" if own["null"].notna().any() else " Chance: this statistic has no level."
        table = reading.readable(
            own.sort_values([*by, "estimate"], na_position="last"), keys, rows=None,
            title=f"{what}, {run}", labels={"null": null, "group": group},
            note=f"{own['reading'].iloc[0]}. Instrument: {instruments or 'none named'}.{unknown}",
        )  # fmt: skip
        html = reading.show(table).data
        shown.append({"study": study, "what": what, "run": run, "table": html})
    return shown
