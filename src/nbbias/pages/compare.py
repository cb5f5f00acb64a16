"""Two runs of a study compared: what was set, what was read, and what moved.

What did not move is counted, not shown. Of what did, the declared claims stand first, then what
chance explains least; a dozen in the figure and the table, all in a fold below.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias import tables
from nbbias.pages import changes
from nbbias.reading import Drawn, figures, markup, names, number, p_value
from nbbias.tables import NbbiasError, escape

#: Rows in the figure and the table.
_FIRST = 12

#: What names a row beside its measure, in this order.
_NAMED = ("model", "prompt", "bias", "group", "dimension", "task", "topic", "evaluator", "judge")


def settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what differs between two manifests: parameters, data, versions and the commit.

    Returns
    -------
    list of dict
        `kind`, `name`, and the value of the `first` and of the `second` run, as text.
    """
    rows = []
    for kind, one, other in (
        ("parameter", first.get("parameters", {}), second.get("parameters", {})),
        ("data", _hashes(first), _hashes(second)),
        ("version", first.get("versions", {}), second.get("versions", {})),
        ("commit", {"commit": _commit(first)}, {"commit": _commit(second)}),
    ):
        for name in dict.fromkeys([*one, *other]):
            if one.get(name) != other.get(name):
                rows.append(
                    {
                        "kind": kind,
                        "name": str(name),
                        "first": str(one.get(name, "none")),
                        "second": str(other.get(name, "none")),
                    }
                )
    return rows


def _hashes(described: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: f"{Path(entry['path']).name} ({entry['sha256'][:12]})"
        for name, entry in described.get("data", {}).items()
    }


def _commit(described: Mapping[str, Any]) -> str:
    git = described.get("git") or {}
    return str(git.get("commit"))[:12] + (", changed" if git.get("dirty") else "")


def shown(first: Path, second: Path, *, name: str, out: Path) -> dict[str, Any]:
    """Return what a page shows of two runs.

    Parameters
    ----------
    first, second
        Folders of finished runs of one study.
    name
        The page's name, which its figure's files have, too.
    out
        The folder of pages about two runs.

    Returns
    -------
    dict
        `sentences`: what changed, what did not, on how many common units; and as HTML `figure`,
        `table` and `rest`, the rows that the table leaves out.
    """
    try:
        runs = [changes.read(folder) for folder in (first, second)]
    except NbbiasError as error:
        return {"sentences": [str(error)], "figure": "", "table": "", "rest": ""}
    one, renamed = changes.as_one_model(*runs)
    table = changes.changes(one, runs[1])
    moved = _ordered(table[table["moved"].astype(bool)])
    told = sentences(table, runs[1].called)
    told += [f"Taken for one model: {renamed}."] if renamed else []
    parts: dict[str, Any] = {"sentences": told, "figure": "", "table": "", "rest": ""}
    if moved.empty:
        return parts
    labels = (f"{first.name} (before)", f"{second.name} (after)")
    alike = {key for key in _NAMED if key != "group" and moved[key].nunique() == 1}
    tested = int(moved["p_adjusted"].notna().sum())
    first_rows = min(tested or len(moved), _FIRST)
    drawn = moved.head(first_rows)
    parts["figure"] = _figure(drawn.assign(**dict.fromkeys(alike, "")), labels, name=name, out=out)
    rows = _readable(moved.assign(**dict.fromkeys(alike, "")), labels)
    parts["table"] = _table(rows.head(first_rows))
    if len(rows) > first_rows:
        left = _table(rows[first_rows:])
        parts["rest"] = markup.fold(f"The other {len(rows) - first_rows:,} that moved", left)
    return parts


def _ordered(moved: pd.DataFrame) -> pd.DataFrame:
    """Put what was tested first, of it declared claims, then what chance explains least.

    Of rows that people call the same, such as two ways to choose the articles, one stands first.
    """
    by = pd.DataFrame(
        {
            "untested": moved["p_adjusted"].isna(),
            "rest": ~moved["declared"].astype(bool),
            "p": moved["p_value"],
            "far": -moved["estimate"].abs(),
        },
        index=moved.index,
    ).sort_values(["untested", "rest", "p", "far"], kind="stable")
    rows = moved.loc[by.index]
    again = pd.Series([_name(row) for row in rows.to_dict("records")], rows.index).duplicated()
    order = pd.DataFrame({"untested": rows["p_adjusted"].isna(), "again": again})
    return rows.loc[order.sort_values(["untested", "again"], kind="stable").index]


def sentences(table: pd.DataFrame, called: str) -> list[str]:
    """Say what changed between two runs, what did not, and on how many common units.

    Parameters
    ----------
    table
        Of `changes.changes`.
    called
        What people call the units.

    Examples
    --------
    >>> row = {"moved": False, "n": 18, "p_adjusted": float("nan"), "confidence": 0.95,
    ...        "p_value": float("nan"), "reason": None}
    >>> sentences(pd.DataFrame([row, row]), "prompts")
    ['Nothing changed: all 2 numbers that both runs measured are the same, on up to 18 prompts.']
    """
    if table.empty:
        return ["No number was measured in both runs."]
    moved = table[table["moved"].astype(bool)]
    every, most = len(table), int(table["n"].max())
    on = f"on up to {most:,} {called}" if most else f"though they share no {called}"
    if moved.empty:
        same = f"all {every:,} numbers that both runs measured are the same"
        return [f"Nothing changed: {same}, {on}."]
    tested = moved[moved["p_adjusted"].notna()]
    sure = tested[tested["p_adjusted"] <= 1 - tested["confidence"]]
    told = [_surely(sure, len(tested))]
    how = f"Tests are paired, {on} that both runs have, Holm's correction"
    if not most:
        how = f"The runs share no {called}: they are compared as two samples, Holm's correction"
    numbers = f"{len(moved):,} of {every:,} numbers that both runs measured changed"
    numbers = (
        numbers if len(moved) < every else f"All {every:,} numbers that both runs measured changed"
    )
    told.append(f"{numbers}. {how}.")
    untested = len(moved) - len(tested)
    if untested:
        reason = moved.loc[moved["p_adjusted"].isna(), "reason"].dropna()
        why = f" ({reason.mode().iloc[0]})" if len(reason) else ""
        told.append(f"{untested:,} changed without a test{why}.")
    return told


def _surely(sure: pd.DataFrame, tested: int) -> str:
    """Say how many changes chance does not explain, and name the one that it explains least."""
    if not tested:
        return "What changed could not be tested."
    if sure.empty:
        return f"None of {tested:,} changes is more than chance explains."
    declared = sure[sure["declared"].astype(bool)]
    leading = declared if len(declared) else sure
    row = leading.iloc[leading["p_value"].argmin()].to_dict()
    many = f"{len(sure):,} of {tested:,} changes {'are' if len(sure) > 1 else 'is'}"
    many = "The one change is" if tested == 1 else many
    which = f"{', most clearly' if len(sure) > 1 else ':'} {_name(row)}"
    return f"{many} more than chance explains{which}, {_from_to(row)}."


def _from_to(row: Mapping[str, Any]) -> str:
    return f"from {names.quantity(row, 'first')} to {names.quantity(row, 'second')}"


def _name(row: Mapping[str, Any]) -> str:
    """Return what a row is about: what is measured, of whom, and which part."""
    measure, rest = _named(row)
    return f"{measure} ({rest})" if rest else measure


def _named(row: Mapping[str, Any]) -> tuple[str, str]:
    said = names.measure({key: row[key] or None for key in tables.UNIT_KEYS})
    left = {row["bias"]} if row["group"] else set()
    whose = (names.of_people(row["group"]), names.people(row["group"]))
    left |= {row["group"]} if row["group"] and any(one in said for one in whose) else set()
    rest = [names.people(str(row[key])) for key in _NAMED if row[key] and row[key] not in left]
    return said, ", ".join(dict.fromkeys(rest))


# --- figure -------------------------------------------------------------------------------------


def _figure(rows: pd.DataFrame, labels: tuple[str, str], *, name: str, out: Path) -> str:
    """Draw the changes as files beside the page, and return them as HTML."""
    figures.use_style()
    drawn = forest(rows, labels)
    folder = out / "figures"
    tables.write(folder / f"{name}.svg", tables.svg(drawn.figure))
    words = {"alt": drawn.alt, "title": drawn.title, "caption": drawn.caption}
    tables.write(folder / f"{name}.json", json.dumps(words, ensure_ascii=False))
    return tables.figure_html(out, name)


def forest(rows: pd.DataFrame, labels: tuple[str, str]) -> Drawn:
    """Draw both runs' estimates side by side, and their difference, each with its interval.

    Parameters
    ----------
    rows
        Of `changes.changes`, a dozen at most.
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
    named = pd.Series([_label(row) for row in rows.to_dict("records")])
    size = (figures.WIDTH, figures.rows_height(named, 2))
    figure, axes = plt.subplots(1, 2, figsize=size)
    left, right = axes
    for name, label, move in zip(("first", "second"), labels, (0.14, -0.14), strict=True):
        _marks(left, rows, name, label=label, move=move)
    right.axvline(0, color=figures.MUTED, lw=0.8)
    _marks(
        right,
        rows.rename(columns={"ci_low": "estimate_low", "ci_high": "estimate_high"}),
        "estimate",
    )
    for ax in axes:
        figures.name_rows(ax, named)
    right.tick_params(axis="y", labelleft=False)
    left.set_xlabel("estimate of each run")
    right.set_xlabel("difference, after less before")
    figures.key_above(figure, left)
    sure = int((rows["p_adjusted"] <= 1 - rows["confidence"]).sum())
    title = f"{sure} of these {len(rows)} changed by more than chance explains"
    if len(rows) == 1:
        title = "It changed by more than chance explains" if sure else "A change that may be chance"
    caption = (
        f"Left both runs with their {rows['confidence'].iloc[0]:.0%} intervals, right the "
        "difference on the units that both have, with its paired interval; the line is no change."
    )
    alt = "; ".join(f"{_name(row)}: {_from_to(row)}" for row in rows.to_dict("records")[:3])
    return Drawn(figure, rows, f"Forest plot of {len(rows)} changes. {alt}.", title, caption)


def _label(row: Mapping[str, Any]) -> str:
    measure, rest = _named(row)
    return f"{measure}: {rest}" if rest else measure


def _marks(ax: Axes, rows: pd.DataFrame, name: str, *, label: str = "", move: float = 0.0) -> None:
    """Draw a column's values with their intervals; those of the first run are hollow."""
    at = np.arange(len(rows))[::-1] + move
    colour = figures.MUTED if name == "first" else figures.INK
    ax.hlines(at, rows[f"{name}_low"], rows[f"{name}_high"], color=colour, lw=1.4, zorder=2)
    face = figures.PAPER if name == "first" else colour
    ax.plot(rows[name], at, "o", color=colour, mfc=face, ms=5, ls="none", zorder=3, label=label)


# --- table --------------------------------------------------------------------------------------


def _readable(moved: pd.DataFrame, labels: tuple[str, str]) -> pd.DataFrame:
    """Write the changes as a reader needs them: what, both numbers, the difference, p and N."""
    written = []
    for row in moved.to_dict("records"):
        measure, rest = _named(row)
        p = "" if np.isnan(row["p_adjusted"]) else p_value(row["p_adjusted"]).removeprefix("p ")
        written.append(
            {
                "what": measure,
                "of": rest,
                **{
                    label: _interval(row, name, f"{name}_low", f"{name}_high")
                    for label, name in zip(labels, ("first", "second"), strict=True)
                },
                "difference": _interval(row, "estimate", "ci_low", "ci_high"),
                "p (Holm)": p.removeprefix("= ") or "not tested",
                "N": f"{row['n']:,}" if row["n"] else "",
            }
        )
    table = pd.DataFrame(written)
    return table if table["of"].any() else table.drop(columns="of")


def _interval(row: Mapping[str, Any], of: str, low: str, high: str) -> str:
    """Write a value with its interval, the unit once; a difference of percents is in points."""
    value = names.quantity(row, of)
    if of == "estimate" and value.endswith("%"):
        value = f"{value.removesuffix('%')} points"
    if not np.isfinite(row[low]):
        return value
    bare, unit = value.rstrip("%"), "%" if value.endswith("%") else ""
    if value.endswith(" points"):
        bare, unit = value.removesuffix(" points"), " points"
    times, places = (100, 1) if unit else (1, 2)
    ends = ", ".join(number(times * row[end], decimals=places) for end in (low, high))
    return f"{bare} [{ends}]{unit}"


def _table(rows: pd.DataFrame) -> str:
    """Write a table whose cells wrap, so that it fits a page; on a phone it becomes a list."""
    head = "".join(f'<th scope="col">{escape.html(name)}</th>' for name in rows)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-label="{escape.attribute(name)}">{escape.html(value)}</td>'
            for name, value in row.items()
        )
        + "</tr>"
        for row in rows.to_dict("records")
    )
    return f'<table class="changes"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
