"""Runs side by side on one page: what they estimate, what changed from the first to each other.

Of changes the declared claims come first, then those with the smallest p: a dozen in the figure
and the table, the others in a fold below.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias import studies, tables
from nbbias.pages import changes, page
from nbbias.reading import Drawn, Table, figures, markup, names, number, templates
from nbbias.reading.tables import p_in_table, readable, table_html
from nbbias.tables import NbbiasError, escape

#: Rows of changes that are drawn, and panels of a statistic.
_ROWS, _PANELS = 12, 8
#: What rows of a statistic are about, beside the model.
_ABOUT = ("bias", "group", "source", "prompt")


def write(folders: Sequence[Path], target: Path) -> Path:
    """Write one page about two or more runs.

    Parameters
    ----------
    folders
        Folders of finished runs. Of each study the first one is what the others are compared with.
    target
        The page, written whole or not at all.

    Raises
    ------
    NbbiasError
        There are fewer than two folders, or one holds no finished run.
    """
    if len(folders) < 2:
        raise NbbiasError("compare", "needs the folders of two runs or more")
    runs = [changes.read(folder) for folder in folders]
    labels = [run.label for run in runs]
    if len(set(labels)) < len(labels):  # the same run of several folders of runs
        labels = [folder.as_posix() for folder in folders]
    figures.use_style()
    sections = []
    for study in dict.fromkeys(str(run.manifest["study"]) for run in runs):
        chosen = [i for i, run in enumerate(runs) if run.manifest["study"] == study]
        first, *others = chosen
        sections.append(
            {
                "study": study,
                "pairs": [
                    _changes(runs[first], runs[i], (labels[first], labels[i])) for i in others
                ],
                "statistics": list(_side_by_side(runs, labels, chosen)),
                "settings": _settings([runs[i] for i in chosen], [labels[i] for i in chosen]),
            }
        )
    shown = [
        {
            "label": label,
            "link": _link(run.folder, target),
            "started": str(run.manifest["started"])[:16].replace("T", " "),
        }
        for run, label in zip(runs, labels, strict=True)
    ]
    html = templates.render(
        "compare.html.j2", **page.assets(), scripts=(), runs=shown, sections=sections
    )
    return tables.write(target, page.focusable(html))


def _link(folder: Path, target: Path) -> str | None:
    """Return the way from a page to a run's, where that lies below the page's folder."""
    linked, base = (folder / "index.html").resolve(), target.resolve().parent
    near = linked.is_file() and linked.is_relative_to(base)
    return Path(os.path.relpath(linked, base)).as_posix() if near else None


def _settings(runs: Sequence[changes.Run], labels: Sequence[str]) -> str:
    rows = changes.settings([run.manifest for run in runs])
    if rows.empty or len(runs) < 2:
        return ""
    return table_html(Table(rows, "", labels={str(i): label for i, label in enumerate(labels)}))


# --- changes ------------------------------------------------------------------------------------


def _changes(first: changes.Run, second: changes.Run, labels: tuple[str, str]) -> dict[str, Any]:
    """Return what changed from a run to another, as the page shows it."""
    first, renamed = changes.as_one_model(first, second)
    table = changes.compare(first, second)
    changed = _order(table[table["changed"].astype(bool)])
    text = sentences(table, second.study.called)
    text += [f"Compared as one model: {renamed}."] if renamed else []
    section: dict[str, Any] = {"labels": labels, "sentences": text}
    if changed.empty:
        return section
    constant = [key for key in ("model", "prompt", *_ABOUT, "judge") if key != "group"]
    constant = [key for key in constant if changed[key].nunique() == 1]
    changed = changed.assign(**dict.fromkeys(constant, ""))
    n = min(int(changed["p_adjusted"].notna().sum()) or len(changed), _ROWS)
    section["figure"] = _figure(forest(changed.head(n), labels))
    rows = _readable(changed, labels)
    section["table"] = table_html(Table(rows.head(n), ""))
    if len(rows) > n:
        rest = table_html(Table(rows[n:], ""))
        section["rest"] = markup.fold(f"The other {len(rows) - n:,} that changed", rest)
    return section


def _order(changed: pd.DataFrame) -> pd.DataFrame:
    """Put tested rows first, of them declared claims, then the smallest p.

    Of rows with the same name, such as two ways to choose the articles, the first comes first.
    """
    label = pd.Series(["; ".join(changes.name_row(r)) for r in changed.to_dict("records")])
    by = {
        "untested": changed["p_adjusted"].isna(),
        "exploratory": ~changed["declared"].astype(bool),
        "p": changed["p_value"],
        "size": -changed["estimate"].abs(),
    }
    order = pd.DataFrame(by).assign(label=label.set_axis(changed.index))
    order = order.sort_values(["untested", "exploratory", "p", "size"], kind="stable")
    order["again"] = order["label"].duplicated()
    return changed.loc[order.sort_values(["untested", "again"], kind="stable").index]


def sentences(table: pd.DataFrame, units: str) -> list[str]:
    """Say what changed between two runs, what did not, and on how many common units.

    Parameters
    ----------
    table
        Of `changes.compare`.
    units
        What the units are called.

    Examples
    --------
    >>> row = {"changed": False, "n": 18, "p_adjusted": float("nan"), "confidence": 0.95,
    ...        "p_value": float("nan"), "reason": None}
    >>> sentences(pd.DataFrame([row, row]), "prompts")
    ['Nothing changed: all 2 estimates that both runs have are the same, on up to 18 prompts.']
    """
    if table.empty:
        return ["The runs have no estimate in common."]
    changed = table[table["changed"].astype(bool)]
    total, n = len(table), int(table["n"].max())
    on = f"on up to {n:,} {units}" if n else f"though they share no {units}"
    if changed.empty:
        same = f"all {total:,} estimates that both runs have are the same"
        return [f"Nothing changed: {same}, {on}."]
    tested = changed[changed["p_adjusted"].notna()]
    test = f"Tests are paired, {on} that both runs have; p values are Holm-adjusted"
    if not n:
        test = f"The runs share no {units}: two-sample tests; p values are Holm-adjusted"
    of = f"{len(changed):,} of {total:,}" if len(changed) < total else f"All {total:,}"
    text = [_significant(tested), f"{of} estimates that both runs have changed. {test}."]
    if untested := len(changed) - len(tested):
        reason = changed.loc[changed["p_adjusted"].isna(), "reason"].dropna()
        why = f" ({reason.mode().iloc[0]})" if len(reason) else ""
        text.append(f"{untested:,} changed without a test{why}.")
    return text


def _significant(tested: pd.DataFrame) -> str:
    """Say how many changes are significant, and name the one with the smallest p."""
    significant = tested[_is_significant(tested)]
    if tested.empty:
        return "No change could be tested."
    if significant.empty:
        return f"None of {len(tested):,} changes is significant."
    declared = significant[significant["declared"].astype(bool)]
    leading = declared if len(declared) else significant
    row = leading.loc[leading["p_value"].idxmin()].to_dict()
    count = f"{len(significant):,} of {len(tested):,} changes"
    verb = "is" if len(significant) == 1 else "are"
    which = ", above all " if len(significant) > 1 else ": "
    return f"{count} {verb} significant{which}{_label(row, '({})')}, {_from_to(row)}."


def _is_significant(rows: pd.DataFrame) -> pd.Series:
    return rows["p_adjusted"] <= 1 - rows["confidence"]


def _from_to(row: Mapping[str, Any]) -> str:
    return f"from {names.quantity(row, 'first')} to {names.quantity(row, 'second')}"


def _label(row: Mapping[str, Any], parts: str = "– {}") -> str:
    measure, rest = changes.name_row(row)
    return f"{measure} {parts.format(rest)}" if rest else measure


def forest(rows: pd.DataFrame, labels: tuple[str, str]) -> Drawn:
    """Draw both runs' estimates, and beside them their difference, each with its interval.

    Parameters
    ----------
    rows
        Of `changes.compare`, a dozen at most.
    labels
        What the two runs are called.

    Examples
    --------
    >>> row = dict.fromkeys(tables.UNIT_KEYS, "") | {"statistic": "index", "model": "m"}
    >>> row |= {"first": 0.4, "first_low": 0.3, "first_high": 0.5, "second": 0.6,
    ...         "second_low": 0.5, "second_high": 0.7, "estimate": 0.2, "ci_low": 0.1,
    ...         "ci_high": 0.3, "confidence": 0.95, "n": 18, "p_adjusted": 0.01}
    >>> len(forest(pd.DataFrame([row]), ("old", "new")).figure.axes)
    2
    """
    rows = rows.reset_index(drop=True)
    label = pd.Series([_label(row, ": {}") for row in rows.to_dict("records")])
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(figures.WIDTH, figures.rows_height(label, 2))
    )
    _draw_intervals(left, rows, "first", label=labels[0], shift=0.14)
    _draw_intervals(left, rows, "second", label=labels[1], shift=-0.14)
    right.axvline(0, color=figures.MUTED, lw=0.8)
    ends = {"ci_low": "estimate_low", "ci_high": "estimate_high"}
    _draw_intervals(right, rows.rename(columns=ends), "estimate")
    for ax, text in ((left, "estimate of each run"), (right, f"difference, {labels[1]} − first")):
        figures.name_rows(ax, label)
        ax.set_xlabel(escape.drawn(text))
    right.tick_params(axis="y", labelleft=False)
    figures.key_above(figure, left)
    n = int(_is_significant(rows).sum())
    title = f"{n} of these {len(rows)} changes {'is' if n == 1 else 'are'} significant"
    caption = (
        f"Left: both runs with {rows['confidence'].iloc[0]:.0%} intervals. Right: the difference "
        "on the units that both have, with its paired interval; the line is no change."
    )
    alt = "; ".join(f"{_label(row)}: {_from_to(row)}" for row in rows.to_dict("records")[:3])
    return Drawn(figure, rows, f"Forest plot of {len(rows)} changes. {alt}.", title, caption)


def _draw_intervals(
    ax: Axes, rows: pd.DataFrame, name: str, *, label: str = "", shift: float = 0.0
) -> None:
    """Draw a column's values with their intervals; those of the first run are hollow."""
    at = np.arange(len(rows))[::-1] + shift
    colour = figures.MUTED if name == "first" else figures.INK
    face = figures.PAPER if name == "first" else colour
    label = escape.drawn(label)
    ax.hlines(at, rows[f"{name}_low"], rows[f"{name}_high"], color=colour, lw=1.4, zorder=2)
    ax.plot(rows[name], at, "o", color=colour, mfc=face, ms=5, ls="none", zorder=3, label=label)


def _readable(changed: pd.DataFrame, labels: tuple[str, str]) -> pd.DataFrame:
    """Write changes for readers: what and of whom, both estimates, the difference, p and N."""
    rows = []
    for row in changed.to_dict("records"):
        measure, rest = changes.name_row(row)
        rows.append(
            {
                "what": measure,
                "of": rest,
                labels[0]: _interval(row, "first", "first_low", "first_high"),
                labels[1]: _interval(row, "second", "second_low", "second_high"),
                "difference": _interval(row, "estimate", "ci_low", "ci_high"),
                "p (Holm)": "not tested" if np.isnan(p := row["p_adjusted"]) else p_in_table(p),
                "N": f"{row['n']:,}" if row["n"] else "",
            }
        )
    table = pd.DataFrame(rows)
    return table if table["of"].any() else table.drop(columns="of")


def _interval(row: Mapping[str, Any], of: str, low: str, high: str) -> str:
    """Write a value with its interval, the unit once; a difference of percents is in points."""
    value = names.quantity(row, of)
    if of == "estimate" and value.endswith("%"):
        value = f"{value.removesuffix('%')} points"
    if not np.isfinite(row[low]):
        return value
    unit = next((unit for unit in (" points", "%") if value.endswith(unit)), "")
    times, decimals = (100, 1) if unit else (1, 2)
    ends = ", ".join(number(times * row[end], decimals=decimals) for end in (low, high))
    return f"{value.removesuffix(unit)} [{ends}]{unit}"


# --- side by side -------------------------------------------------------------------------------


def _side_by_side(
    runs: Sequence[changes.Run], labels: Sequence[str], chosen: Sequence[int]
) -> Iterator[dict[str, str]]:
    """Draw each leading statistic of a study: a row a model and run, a panel what it is about."""
    rows = [runs[i].estimates.assign(run=labels[i].rpartition("/")[2]) for i in chosen]
    whole = pd.concat(rows, ignore_index=True).merge(
        studies.leads(), on=["study", "measure", "statistic"]
    )
    for _, subset in whole.groupby(["measure", "statistic"], sort=False):
        subset = _leading(subset)
        if subset.empty:
            continue
        first = subset.iloc[0]
        null = str(first["null_is"])
        alt = f"{first['what']}: a dot with its interval for each model, in panels."
        reading = f"{str(first['reading'])[:1].upper()}{str(first['reading'])[1:]}."
        reading = f"{figures.caption(subset, str(first['what']), band=null)} {reading}"
        table = readable(
            subset,
            [*_ABOUT, "name", "run"],
            rows=None,
            labels={"null": null, "name": "model"},
            note=f"Instrument: {'; '.join(subset['instrument'].unique())}.",
        )
        panels = list(subset["panel"].unique())
        step = len(panels) if subset["run"].nunique() == 1 else 2  # names of runs take room
        drawn = []
        for start in range(0, len(panels), step):
            part = subset[subset["panel"].isin(panels[start : start + step])]
            figure = figures.claims(part, words={"band": null, "line": null})
            caption = reading if start + step >= len(panels) else ""
            drawn.append(_figure(Drawn(figure, part, alt, "", caption)))
        yield {"what": str(first["what"]), "figure": "".join(drawn), "table": table_html(table)}


def _leading(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that stand for a statistic, and name them: `name`, `cell`, `panel`."""
    rows = rows[rows[["dimension", "task", "topic"]].eq("").all(axis=1)]
    whole = rows["bias"].eq("")  # over all biases, where there is such a row
    rows = rows[whole | ~whole.any()]
    judge = rows["judge"].where(rows["judge"].ne(""), rows["evaluator"])
    rows = rows.assign(name=judge.map(names.judge).where(judge.ne(""), rows["model"]))
    whole = rows["model"].eq("all") & judge.ne("")
    rows = rows[(whole | ~whole.any()) & rows["name"].ne("")]
    by = ["run", "name", "bias", "source", "prompt"]
    rows = rows[~changes.mirrored(rows, ["estimate"], by=by)]
    about = [key for key in _ABOUT if rows[key].nunique() > 1]
    if "group" in about and "bias" in about:
        about.remove("bias")  # a group's name implies it
    panel = [
        " · ".join(names.people(row[key]) or f"all {key}s" for key in about)
        for row in rows.to_dict("records")
    ]
    cell = rows["name"] if rows["run"].nunique() == 1 else rows["name"] + ", " + rows["run"]
    rows = rows.assign(
        panel=panel, cell=cell, reference=rows["null"].where(rows["null_low"].isna())
    )
    rows = rows[rows["panel"].isin(rows["panel"].unique()[:_PANELS])]
    place = {name: i for i, name in enumerate(names.order(rows["name"]))}
    order = rows.assign(_panel=figures.first_seen(rows["panel"]), _name=rows["name"].map(place))
    return rows.loc[order.sort_values(["_panel", "_name", "run"], kind="stable").index]


def _figure(drawn: Drawn) -> str:
    """Return a figure as HTML that needs no file."""
    words = {"title": drawn.title, "caption": drawn.caption, "alt": drawn.alt}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures" / "drawn.svg"
        tables.write(path, tables.svg(drawn.figure))
        tables.write(path.with_suffix(".json"), json.dumps(words))
        return tables.figure_html(Path(folder), "drawn")
