"""The models of each study side by side: the leading estimates, drawn first, then as tables.

No ranks: runs differ in corpus, lists and instruments, and models whose intervals overlap are
not told apart. Judges are no models, and stand under a heading of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias import reading, studies, tables
from nbbias.reading import figures, names

COLUMNS = [
    *("study", "run", "page", "texts", "what", "reading", "group_is", "null_is", "whose", "name"),
    *("bias", "group", "source", "prompt", "evaluator", "model", "measure", "statistic"),
    *tables.ESTIMATE_VALUES,
]
_ABOUT = ("bias", "group", "source", "prompt")

#: The newest runs of a study that are shown, and the panels of each that are drawn.
_RUNS, _PANELS = 6, 8
_SURE = 0.05
#: Names in a figure's title; of more their number is told.
_NAMED = 4


def table(out: Path, runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Collect the leading estimates of finished runs, the newest first.

    Parameters
    ----------
    out
        The folder of all runs.
    runs
        Finished runs, as `pages.gallery.runs` gives them.

    Returns
    -------
    DataFrame
        One row per run, statistic and what it is about, with `COLUMNS`. `name` is a model's or,
        where the statistic is one of judges, a judge's, as `whose` says; `texts` says where the
        run's texts are from, and `page` where its page lies below `out`, if it has one.
    """
    found = []
    for one in sorted(runs, key=lambda one: str(one["started"]), reverse=True):
        estimates = tables.saved_table(out / one["folder"], "estimates")
        if estimates is None or one["study"] not in studies.STUDIES:  # of a package that is gone
            continue
        rows = _leading(estimates.merge(studies.leads(), on=["study", "measure", "statistic"]))
        claimed = zip(rows["measure"], rows["statistic"], strict=True)
        said = studies.STUDIES[str(one["study"])].found
        texts = one["lead"]["texts"].get("told") or "the texts are told on its page"
        page = f"{one['folder']}/index.html" if one["page"] else None
        rows = rows.assign(
            run=str(one["run"]),
            page=page,
            texts=texts,
            group_is=[said.get(key, "group") for key in claimed],
        )
        found.append(rows.reindex(columns=COLUMNS))
    whole = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=COLUMNS)
    return whole.dropna(subset=["name"]).reset_index(drop=True)


def _leading(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that stand for a study, and say whose each is."""
    # Of a study's finer rows (by task, topic, dimension) the whole stands for it.
    finer = [name for name in ("dimension", "task", "topic") if name in rows]
    rows = rows[rows[finer].isna().all(axis=1)]
    # Where a statistic is given over all biases, too, that stands for those of single ones.
    rows = _whole(rows, rows["bias"].isna())
    model, judge, evaluator = (
        rows[key].astype(object) if key in rows else pd.Series(None, rows.index, dtype=object)
        for key in ("model", "judge", "evaluator")
    )
    judge = judge.where(judge.notna(), evaluator)
    named = judge.where(judge.notna(), model)
    rows = rows.assign(whose=np.where(judge.notna(), "judge", "model"), name=named)
    # Judges of several models' texts: what is of all of them stands for those of single ones.
    return _whole(rows, (rows["whose"] == "judge") & (rows["model"] == "all"))


def _whole(rows: pd.DataFrame, is_whole: pd.Series) -> pd.DataFrame:
    there = is_whole.groupby([rows["measure"], rows["statistic"]]).transform("any")
    return rows[is_whole | ~there]


def sections(rows: pd.DataFrame, out: Path) -> list[dict[str, Any]]:
    """Draw each study's statistics under ``leaders/`` of `out`, and return what a page shows.

    Returns
    -------
    list of dict
        By `whose` (models, then judges), `study` and statistic: its `question`, `what`,
        `reading`, the `figure` as HTML, the newest `runs`, each with `run`, `page`, `texts` and
        `table`, and the `older` ones, without.
    """
    figures.use_style()
    shown: list[dict[str, Any]] = []
    by = ["whose", "study", "measure", "statistic"]
    rows = rows.assign(whose=pd.Categorical(rows["whose"], ["model", "judge"]))
    for (whose, study, _, _), own in rows.groupby(by, sort=False, observed=True):
        first, runs = own.iloc[0], list(own.groupby("run", sort=False))
        number = sum(one["study"] == study for one in shown) + 1
        html = _drawn(own, f"{study}-{number}", out / "leaders")
        shown.append(
            {
                "whose": whose,
                "study": study,
                "question": studies.STUDIES[study].question,
                "what": first["what"],
                "reading": first["reading"],
                "figure": html,
                "runs": [_run(part) for _, part in runs[:_RUNS]],
                "older": [_place(part) for _, part in runs[_RUNS:]],
            }
        )
    order = {stem: i for i, stem in enumerate(studies.STUDIES)}
    return sorted(shown, key=lambda one: (one["whose"] == "judge", order[one["study"]]))


def _run(own: pd.DataFrame) -> dict[str, Any]:
    """Return a run's rows as a table, with where its texts are from."""
    first = own.iloc[0]
    group, null, whose = str(first["group_is"]), str(first["null_is"]), str(first["whose"])
    # What was found of a row sorts nothing.
    by = [name for name in _ABOUT if name != "group" or group == name]
    keys = [*by, "name", *(["group"] if group != "group" else [])]
    place = {name: i for i, name in enumerate(names.order(own["name"]))}
    instruments = "; ".join(own["instrument"].dropna().unique())
    unknown = "" if own["null"].notna().any() else " Chance: this statistic has no level."
    table = reading.readable(
        own.assign(place=own["name"].map(place)).sort_values([*by, "place"], na_position="last"),
        keys,
        rows=None,
        title=f"{first['what']}, {first['run']}",
        labels={"null": null, "group": group, "name": whose},
        note=f"{first['reading']}. Instrument: {instruments or 'none named'}.{unknown}",
    )
    return {**_place(own), "table": reading.show(table).data}


def _place(own: pd.DataFrame) -> dict[str, Any]:
    first = own.iloc[0]
    page = first["page"] if isinstance(first["page"], str) else None
    return {"run": first["run"], "texts": first["texts"], "page": page}


# --- figures ----------------------------------------------------------------------------------


def _drawn(own: pd.DataFrame, name: str, out: Path) -> str:
    """Draw one statistic, save it for pages alone, and return it as HTML.

    A row is a model, a panel what it is about; of several runs each has a line of panels. What is
    there already is not drawn again: after every run all studies are asked for.
    """
    rows, runs = _panels(own), own["run"].nunique()
    at = out / "figures" / f"{name}.json"
    words = _words(rows, older=max(runs - _RUNS, 0))
    kept = json.dumps(words, ensure_ascii=False, indent=2) + "\n"
    if not (at.is_file() and at.read_text(encoding="utf-8") == kept):
        at.unlink(missing_ok=True)
        drawn = _figure(rows)
        tables.write(at.with_suffix(".svg"), tables.svg(drawn.figure))
        tables.write(at, kept)
    return tables.figure_html(out, name)


def _words(rows: pd.DataFrame, *, older: int) -> dict[str, str]:
    """Return a figure's `title`, `caption` and `alt`, and the hash of all that it draws."""
    first, title = rows.iloc[0], _title(rows)
    texts = dict(zip(rows["run"], rows["texts"].str.removesuffix("."), strict=True))
    caption = [
        figures.caption(rows, str(first["what"]), band=str(first["null_is"])),
        f"{first['reading'][:1].upper()}{first['reading'][1:]}.",
        *(f"Run {run}: {told}." for run, told in texts.items()),
    ]
    if title:
        caption.append("Exploratory; p < .05 after correction over all rows of the kind.")
    if len(texts) > 1:
        caption.append("Runs on different texts are not on one scale.")
    if older:
        caption.append(f"{older} older runs are left out.")
    alt = (
        f"{first['what']} of {rows['name'].nunique()} {first['whose']}s, a dot with its interval "
        f"each, in {rows['panel'].nunique()} panels. {title}"
    )
    content = f"{tables.versions()['nbbias']}\n{tables.csv(rows.drop(columns='page'))}"
    digest = hashlib.sha256(content.encode()).hexdigest()
    return {"title": title, "caption": " ".join(caption), "alt": alt, "drawn": digest}


def _figure(rows: pd.DataFrame) -> reading.Drawn:
    null = str(rows["null_is"].iloc[0])
    line = "0" if rows["null"].eq(0).all() else null
    by = ("run", "panel") if rows["run"].nunique() > 1 else "panel"
    hue = "group" if rows["group_is"].iloc[0] == "group" and rows["group"].notna().all() else None
    low, high = _reach(rows)
    edge = 0.04 * (high - low)

    def alike(_: pd.DataFrame, ax: Axes) -> None:
        """Give all panels one scale: they are of one measure."""
        ax.set_xlim(low - edge, high + edge)

    words = {"band": null, "line": line}
    figure = figures.claims(rows, "", by=by, words=words, hue=hue, draw=alike)
    return reading.Drawn(figure, rows, "")


def _panels(own: pd.DataFrame) -> pd.DataFrame:
    """Choose what is drawn, and name it: `cell`, `panel`, `reference` where it has no range."""
    own = own[own["run"].isin(own["run"].unique()[:_RUNS])]
    found = own["group_is"].iloc[0] != "group"
    own = own if found else own[~_mirrored(own)]
    keys = [key for key in _ABOUT if not (found and key == "group") and own[key].nunique() > 1]
    if "group" in keys and "bias" in keys:
        keys.remove("bias")  # whose group it is goes without saying
    if not keys and not found and own["group"].notna().all():
        keys = ["group"]
    panel = [" · ".join(_about(key, row[key]) for key in keys) for row in own.to_dict("records")]
    judged = own["whose"].iloc[0] == "judge"
    rows = own.assign(
        panel=panel, cell=own["name"].map(names.judge) if judged else own["name"].astype(str)
    )
    rows["reference"] = rows["null"].where(rows["null_low"].isna())
    place = {name: i for i, name in enumerate(names.order(rows["name"]))}
    rows = rows[rows["panel"].isin(rows["panel"].unique()[:_PANELS])]
    seen = {"run": figures.first_seen(rows["run"]), "panel": figures.first_seen(rows["panel"])}
    keyed = rows.assign(_run=seen["run"], _panel=seen["panel"], _name=rows["name"].map(place))
    return keyed.sort_values(["_run", "_panel", "_name"]).drop(columns=["_run", "_panel", "_name"])


def _mirrored(own: pd.DataFrame) -> pd.Series:
    """Tell which rows are another's with its sign changed: a bias of two groups, the second."""
    keys = ["run", "name", "bias", "source", "prompt"]
    same = own.groupby(keys, dropna=False)["estimate"]
    two = same.transform("size").eq(2) & same.transform("sum").abs().lt(1e-9)
    return two & own.groupby(keys, dropna=False).cumcount().eq(1)


def _about(key: str, value: object) -> str:
    if pd.isna(value):
        return f"all {key}s"
    return names.people(str(value)) if key == "group" else str(value)


def _title(rows: pd.DataFrame) -> str:
    """State what the rows show: which of them are told apart from their reference."""
    p = rows["p_adjusted"].fillna(rows["p_value"])
    if p.notna().sum() == 0:
        return ""
    own = rows[p < _SURE]
    null = "0" if rows["null"].eq(0).all() else str(rows["null_is"].iloc[0])
    null = {"by chance": "chance"}.get(null, null)
    if own.empty:
        return f"None of {p.notna().sum()} is told apart from {null}."
    beside = [key for key in ("panel", "run") if rows[key].nunique() > 1]
    label = [
        f"{row['cell']} ({', '.join(row[key] for key in beside)})" if beside else row["cell"]
        for row in own.to_dict("records")
    ]
    which = f": {', '.join(label)}" if len(own) <= _NAMED else ""
    return f"{len(own)} of {p.notna().sum()} told apart from {null}{which}."


def _reach(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the least and the largest value that a drawing of the rows must hold; 0 is in it."""
    columns = ["estimate", "ci_low", "ci_high", "null_low", "null_high"]
    values = rows[columns].to_numpy(dtype=float)
    values = np.append(values[np.isfinite(values)], 0.0)
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
