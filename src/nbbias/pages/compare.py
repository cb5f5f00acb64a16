"""One page about runs of a study: what changed from the first run to each other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.pages import changes, page
from nbbias.reading import Table, names, templates
from nbbias.reading.tables import p_in_table, table_html
from nbbias.tables import NbbiasError


def write(folders: Sequence[Path], target: Path) -> Path:
    """Write one page about two or more runs.

    Parameters
    ----------
    folders
        Folders of finished runs of one study. The others are compared with the first.
    target
        The page, written whole or not at all.

    Raises
    ------
    NbbiasError
        There are fewer than two folders, one holds no finished run, or their studies differ.
    """
    folders = list(dict.fromkeys(folders))
    if len(folders) < 2:
        raise NbbiasError("compare", "needs the folders of two runs or more")
    read = [changes.read(folder) for folder in folders]
    if len(study := {str(run.manifest["study"]) for run in read}) > 1:
        raise NbbiasError("compare", f"runs of one study are compared, not of {', '.join(study)}")
    labels = [str(run.manifest["run"]) for run in read]
    if len(set(labels)) < len(labels):  # the same run of several folders of runs
        labels = [folder.as_posix() for folder in folders]
    runs = dict(zip(labels, read, strict=True))
    first, *others = runs
    settings = changes.settings([run.manifest for run in read]).set_axis(
        ["kind", "name", *labels], axis=1
    )
    html = templates.render(
        "compare.html.j2",
        **page.assets(),
        scripts=(),
        study=study.pop(),
        runs=[
            {"label": label, "link": page.link(run.folder, target), **run.manifest}
            for label, run in runs.items()
        ],
        units=runs[first].study.called,
        pairs=[_changes(runs, first, other) for other in others],
        settings=table_html(Table(settings, "")) if len(settings) else "",
    )
    return tables.write(target, page.focusable(html))


def _changes(runs: Mapping[str, changes.Run], old: str, new: str) -> dict[str, Any]:
    """Return what changed from a run to another, for the template."""
    first, renamed = changes.as_one_model(runs[old], runs[new])
    table = changes.compare(first, runs[new])
    changed = table[table["changed"].astype(bool)]
    changed = changed.assign(
        untested=changed["p_adjusted"].isna(), size=-changed["estimate"].abs()
    ).sort_values(["untested", "declared", "p_value", "size"], ascending=[True, False, True, True])
    tested = changed[~changed["untested"]]
    significant = tested[tested["p_adjusted"] <= 1 - tested["confidence"]]
    rows = pd.DataFrame([_readable(row, changed, old, new) for row in changed.to_dict("records")])
    return {
        "labels": (old, new),
        "renamed": renamed,
        "n_all": len(table),
        "n_changed": len(changed),
        "n_tested": len(tested),
        "n_significant": len(significant),
        "n_units": int(table["n"].max()) if len(table) else 0,
        "leading": None if significant.empty else rows.iloc[0].to_dict(),
        "table": table_html(Table(rows, "")) if len(rows) else "",
    }


def _readable(row: Mapping[str, Any], among: pd.DataFrame, old: str, new: str) -> dict[str, str]:
    """Write a change for readers: of what, both estimates, the difference, p and N."""
    values = [
        names.quantity(row, name).replace("%", " points")  # a difference of percents
        for name in ("estimate", "ci_low", "ci_high")
    ]
    difference, *ends = (value.removesuffix(" points") for value in values)
    interval = f" [{', '.join(ends)}]" if np.isfinite(row["ci_low"]) else ""
    return {
        "what": names.label(row, among),
        old: names.quantity(row, "first"),
        new: names.quantity(row, "second"),
        "difference": difference + interval + values[0].removeprefix(difference),
        "p (Holm)": "not tested" if row["untested"] else p_in_table(row["p_adjusted"]),
        "N": f"{row['n']:,}" if row["n"] else "",
    }
