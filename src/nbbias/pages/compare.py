"""Runs side by side on one page: estimates of all models, and what changed from the first run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import studies, tables
from nbbias.pages import changes, page
from nbbias.reading import Table, figures, names, significance
from nbbias.reading.prose import capitalize
from nbbias.reading.tables import estimate_cell, p_in_table, readable, table_html
from nbbias.tables import NbbiasError

#: Panels of a figure.
_PANELS = 6


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
    if len(folders := list(dict.fromkeys(folders))) < 2:
        raise NbbiasError("compare", "needs the folders of two runs or more")
    read = [changes.read(folder) for folder in folders]
    if len(study := {str(run.manifest["study"]) for run in read}) > 1:
        raise NbbiasError("compare", f"runs of one study are compared, not of {', '.join(study)}")
    labels = [str(run.manifest["run"]) for run in read]
    if len(set(labels)) < len(labels):  # the same run of several folders of runs
        labels = [folder.as_posix() for folder in folders]
    runs = dict(zip(labels, read, strict=True))
    first, *others = runs
    figures.use_style()
    settings = changes.settings([run.manifest for run in read])
    settings.columns = pd.Index(["kind", "name", *labels])
    values: dict[str, Any] = {"study": study.pop(), "units": runs[first].study.called}
    values["runs"] = [
        {"label": label, "link": page.link(run.folder, target), **run.manifest}
        for label, run in runs.items()
    ]
    values["pairs"] = [_changes(runs, first, other) for other in others]
    values["statistics"] = list(_side_by_side(runs))
    values["settings"] = table_html(Table(settings, "")) if len(settings) else ""
    return page.write(target, "compare.html.j2", **values)


# --- changes ------------------------------------------------------------------------------------


def _changes(runs: Mapping[str, changes.Run], old: str, new: str) -> dict[str, Any]:
    """Return what changed from a run to another, for the template."""
    first, renamed = changes.as_one_model(runs[old], runs[new])
    table = changes.compare(first, runs[new])
    changed = table[table["changed"].astype(bool)]
    changed = changed.assign(
        untested=changed["p_adjusted"].isna(), size=-changed["estimate"].abs()
    ).sort_values(["untested", "declared", "p_value", "size"], ascending=[True, False, True, True])
    tested = changed[~changed["untested"]]
    significant = tested[significance.is_significant(tested)]
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
    cell = estimate_cell(names.scaled(row, decimals=2) | {"reason": None})
    return {
        "what": names.label(row, among),
        old: names.quantity(row, "first"),
        new: names.quantity(row, "second"),
        "difference": cell.replace("%", " pp"),  # of percents
        "p (Holm)": "not tested" if row["untested"] else p_in_table(row["p_adjusted"]),
        "N": f"{row['n']:,}" if row["n"] else "",
    }


# --- side by side -------------------------------------------------------------------------------


def _side_by_side(runs: Mapping[str, changes.Run]) -> Iterator[dict[str, str]]:
    """Draw each statistic that stands for a study: a row a model and run, a panel a measure."""
    rows = [run.estimates.assign(run=label) for label, run in runs.items()]
    whole = pd.concat(rows, ignore_index=True)
    whole = whole[whole[["dimension", "task", "topic"]].eq("").all(axis=1)]
    whole = whole[~significance.is_mirrored(whole)]
    whole = whole.merge(studies.main_estimates(), on=["study", "measure", "statistic"])
    for _, subset in whole.groupby(["measure", "statistic"], sort=False):
        rows, lead = _name(subset), subset.iloc[0].to_dict()
        what = names.measure({**lead, "group": None})
        caption = f"{figures.caption(rows, what, band=lead['null_is'])} {names.meaning(lead)}"
        alt = f"{capitalize(what)}: a dot with its interval for each model and run."
        image = tables.svg(figures.claims(rows, words={"band": lead["null_is"]}, columns=2))
        yield {
            "what": capitalize(what),
            "figure": tables.embed_figure(image, {"alt": alt, "caption": caption}),
            "table": table_html(readable(rows, ["panel", "model and run"], rows=None)),
        }


def _name(rows: pd.DataFrame) -> pd.DataFrame:
    """Name rows by judge, model and run (`cell`) and by what they measure (`panel`)."""
    judged = rows["judge"].ne("") | rows["evaluator"].ne("")
    overall = rows["model"].eq("all")  # of a judge, over the texts of all models
    rows = rows[~judged | overall | ~overall.any()]
    overall = rows["bias"].eq("")
    rows = rows[overall | ~overall.any()]
    records = rows.to_dict("records")
    who, what = ("judge", "evaluator", "model"), ("bias", "group", "source", "prompt")
    name = [", ".join(names.details(row, rows, keys=who)) for row in records]
    panel = [
        ", ".join([names.measure(row), *names.details(row, rows, keys=what, always=())])
        for row in records
    ]
    cell = pd.Series(name, rows.index) + (", " + rows["run"] if rows["run"].nunique() > 1 else "")
    rows = rows.assign(panel=panel, cell=cell, **{"model and run": cell})
    places = [names.order(name).index(label) for label in name]
    rows = rows.iloc[np.lexsort([places, pd.factorize(rows["panel"])[0]])]
    return rows[rows["panel"].isin(rows["panel"].unique()[:_PANELS])]
