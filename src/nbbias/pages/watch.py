"""Runs of one study in order of time: did the model drift, or the judge that scores its answers?

Anchors are recorded answers to the same prompts, scored again with each run. A change of their
scores is the judge's. A change of the new answers' scores less the anchors' is the model's. The
evidence of either (`stats.drift_evidence`) is valid after every run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from nbbias import stats, studies, tables
from nbbias.pages import changes, manifest, page
from nbbias.params import FAILED
from nbbias.reading import Table, figures, names, prose, significance
from nbbias.reading.tables import estimate_cell, table_html
from nbbias.tables import NbbiasError, visible

Row = dict[str, Any]

#: Files of texts: those of anchors must not change.
_TEXTS = ("generations_path", "answers_path", "labelled_path")

#: Panels of the figure, and the range of log10 of evidence that it draws.
_PANELS, _DRAWN = 6, (-2.5, 9.0)


class Watch(NamedTuple):
    """What `watch` found: rows for each claim, one for each part (`of`).

    `of` is system, judge or, without anchors, system or judge. `rows` has the claim's `name` and
    `verdict`; `path`, log10 of the evidence after each run but the first; `reached`, the run
    (counted from 0) at which it reached the `threshold`, 0 if none did; `since`, the first run of
    the drift, or else the last run; `estimate` with its interval, the mean from then on less the
    mean before, of `n` units; `margin`, and in how many further runs such a change would be
    detected (`needed`; 0: in no number, or not asked). `status` is 1 if anything drifted.
    """

    study: str
    runs: list[str]
    rows: pd.DataFrame
    threshold: float
    headline: str
    remarks: list[str]
    status: int


def watch(runs: Path, anchors: Path | None = None, *, margin: float | None = None) -> Watch:
    """Test a series of runs for a drift of the model and of its judge.

    Parameters
    ----------
    runs
        A folder of finished runs of one study. The claims of the last run are tested or, if it
        declared none, the study's main estimates.
    anchors
        A folder of runs of the same names on the same recorded answers to the same prompts.
    margin
        The change to be detected, of claims without a `smallest_effect`.

    Raises
    ------
    NbbiasError
        There are fewer than two runs that can be compared, they are of several studies, no claim
        is a mean over units, or the anchors differ among runs or share no units with the runs.
    """
    whole, remarks = _read(runs)
    again = [
        any(changes.recorded_answers(old, run) for old in whole[:n]) for n, run in enumerate(whole)
    ]
    series = [run for run, same in zip(whole, again, strict=True) if not same]
    if len(series) < 2:
        raise NbbiasError(str(runs), "its runs read the same answers: no model was queried again")
    labels, last = [_name(run) for run in series], series[-1]
    fixed = _anchors(anchors, last, labels) if anchors else []
    claims, untested = _claims(last, margin or 0.0, where=str(runs))
    settings = changes.settings([run.manifest for run in series])
    varying = settings["kind"].isin(["parameter", "version"]) & ~settings["name"].isin(_TEXTS)
    remarks |= {
        "recorded": [_name(run) for run, same in zip(whole, again, strict=True) if same],
        "alone": [name for name, run in zip(labels, fixed, strict=False) if run is None],
        "untested": untested,
        "settings": list(settings.loc[varying, "name"].unique()),
    }
    confidence = float(last.manifest["parameters"].get("confidence", tables.CONFIDENCE))
    threshold = float(np.log10(len(claims) / stats.alpha(confidence)))
    rows: list[Row] = []
    for claim in claims.to_dict("records"):
        values, anchored = (_values(these, claim["key"]) for these in (series, fixed))
        parts = {"system or judge": values}
        if anchors:
            values, anchored = values.align(anchored, join="inner", axis=0)
            parts = {"system": values - anchored, "judge": anchored}
        tested = [
            claim | {"of": of, **_test(part, claim["margin"], threshold, confidence)}
            for of, part in parts.items()
        ]
        verdict = _verdict([row["of"] for row in tested if row["reached"]])
        rows += [row | {"verdict": verdict} for row in tested]
    if not (table := pd.DataFrame(rows))["n"].any():
        raise NbbiasError(str(anchors or runs), f"the runs have no {last.study.called} in common")
    drifted = table[table["reached"] > 0]
    verdict = _verdict(drifted["of"].unique())
    study = str(last.manifest["study"])
    k = drifted["key"].nunique()
    counts = {"study": study, "n_runs": len(series), "k": k, "n": len(claims)}
    return Watch(
        study=study,
        runs=labels,
        rows=table.assign(study=study, units=last.study.called),
        threshold=threshold,
        headline=prose.render_plain("watch.headline", verdict=verdict, **counts),
        remarks=[
            prose.render_plain("watch.remark", kind=kind, listed=", ".join(dict.fromkeys(names)))
            for kind, names in remarks.items()
            if names
        ],
        status=int(verdict != "nothing yet"),
    )


def _verdict(drifted: Collection[str]) -> str:
    """Return the verdict, given the parts that drifted."""
    return "both" if len(drifted) == 2 else next(iter(drifted), "nothing yet")


def _name(run: changes.Run) -> str:
    return str(run.manifest["run"])


def _read(folder: Path) -> tuple[list[changes.Run], dict[str, list[str]]]:
    """Return the finished runs in a folder, or in its subfolders, by time, and remarks."""
    manifests = sorted({*folder.glob(f"*/{manifest.NAME}"), *folder.glob(f"*/*/{manifest.NAME}")})
    places = [path.parent for path in manifests if not path.parent.name.startswith(".")]
    whole = [p for p in places if (manifest.read(p) or {}).get("status") == "ok"]
    if len(whole := [place for place in whole if not place.name.endswith(FAILED)]) < 2:
        problem = "holds fewer than two finished runs; each is compared with those before it"
        raise NbbiasError(str(folder), problem)
    runs = sorted(map(changes.read, whole), key=lambda run: str(run.manifest["started"]))
    if len(several := {str(run.manifest["study"]) for run in runs}) > 1:
        problem = f"holds runs of {', '.join(sorted(several))}; name the folder of one study"
        raise NbbiasError(str(folder), problem)
    # A model that was renamed is still the one that is watched.
    equated = [changes.as_one_model(run, runs[-1]) for run in runs]
    remarks = {"unfinished": [place.name for place in places if place not in whole]}
    remarks["renamed"] = [remark for _, remark in equated if remark]
    return [run for run, _ in equated], remarks


def _anchors(folder: Path, last: changes.Run, labels: Sequence[str]) -> list[changes.Run | None]:
    """Return the run of the anchors by each name, or None."""
    runs, _ = _read(folder)
    if (study := runs[0].manifest["study"]) != last.manifest["study"]:
        raise NbbiasError(str(folder), f"holds runs of {study}, not of {last.manifest['study']}")
    differing = changes.settings([run.manifest for run in runs])
    if ((differing["kind"] == "data") & differing["name"].isin(_TEXTS)).any():
        raise NbbiasError(str(folder), "its runs read different texts; anchors stay the same")
    runs_by_name = {_name(run): changes.as_one_model(run, last)[0] for run in runs}
    if len({*runs_by_name} & {*labels}) < 2:
        raise NbbiasError(str(folder), "needs two runs with the names of runs that are watched")
    return [runs_by_name.get(label) for label in labels]


def _claims(run: changes.Run, margin: float, *, where: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the declared claims, or else the main estimates, and the names of those left out.

    A claim's `margin` is its smallest effect, or else the one that is given.
    """
    if (rows := run.declared).empty:
        main = studies.main_estimates()[["study", "measure", "statistic"]]
        rows = run.estimates.merge(main, on=["study", "measure", "statistic"])
        rows = rows[~significance.is_mirrored(rows)].assign(smallest_effect=np.nan)
    rows = rows.drop_duplicates("key")
    rows = rows.assign(name=[names.label(row, rows) for row in rows.to_dict("records")])
    rows["margin"] = rows["smallest_effect"].fillna(margin).astype(float)
    if not (tested := rows["key"].isin(list(run.units))).any():
        raise NbbiasError(where, f"declares no claim that is a mean over {run.study.called}")
    columns = ["measure", "statistic", "key", "name", "margin"]
    return rows.loc[tested, columns], rows.loc[~tested, "name"].to_list()


def _values(runs: Sequence[changes.Run | None], key: changes.Key) -> pd.DataFrame:
    """Return the values of an estimate: a row for each independent unit, a column for each run."""
    columns = {}
    for number, run in enumerate(runs):
        if run and key in run.units:
            units = run.units[key]
            # Units of a cluster are one; where two facets cross, each pair has its own answer.
            by = units.index.astype(str) if "crossed" in units else units["cluster"].astype(str)
            columns[number] = units["value"].groupby(by.to_numpy()).mean()
    return pd.DataFrame(columns, columns=range(len(runs)), dtype=float).sort_index()


def _test(values: pd.DataFrame, margin: float, threshold: float, confidence: float) -> Row:
    """Return the evidence that the mean of values drifted, and by how much."""
    scores = stats.drift_scores(values)
    path = stats.drift_evidence(scores)
    reached = next(iter(np.flatnonzero(path >= threshold) + 1), 0)
    since = stats.drift_start(scores[:reached]) + 1 if reached else len(scores)
    sides = {"first": values.iloc[:, :since], "second": values.iloc[:, since:]}
    both = pd.DataFrame({name: side.mean(axis=1) for name, side in sides.items()}).dropna()
    row = stats.paired_change(both, confidence=confidence).row()
    row |= {"path": path, "reached": int(reached), "since": since, "needed": 0}
    if margin and not reached and len(both):
        needed = stats.runs_needed(values, scores, margin=margin, log10_evidence=threshold)
        row["needed"] = needed or 0
    return row


# --- for readers --------------------------------------------------------------------------------


def _evidence(log10: float) -> str:
    """Write evidence, given its log10.

    Examples
    --------
    >>> [_evidence(value) for value in (-3.0, 0.3, 2.5, 7.0)]
    ['< 0.1', '2.0', '316', '> 1 million']
    """
    if log10 < -1:
        return "< 0.1"
    return "> 1 million" if log10 > 6 else f"{10**log10:,.{int(log10 < 1)}f}"


def _readable(result: Watch) -> pd.DataFrame:
    """Write the rows of a watch for readers."""
    rows = []
    for row in result.rows.to_dict("records"):
        size = names.quantity(row, "margin") if row["margin"] else ""
        values = {"row": row, "runs": result.runs, "size": size, "units": row["units"]}
        cells = {"claim": row["name"], "verdict": row["verdict"], "part": row["of"]}
        cells["drift"] = prose.render_plain("watch.drift", **values)
        cells["evidence"] = _evidence(row["path"][-1])
        cells["change"] = estimate_cell(names.scaled(row, decimals=2)).replace("%", " pp")
        rows.append(cells | {"N": f"{row['n']:,}"})
    return pd.DataFrame(rows)


def plain(result: Watch) -> str:
    """Write a watch as plain text, for a terminal."""
    lines = [result.headline]
    for claim, rows in _readable(result).groupby("claim", sort=False):
        lines.append(f"  {rows['verdict'].iloc[0]}  {claim}")
        parts = "    " + rows["part"] + ": " + rows["drift"] + "; evidence " + rows["evidence"]
        lines += parts.to_list()
    lines.append(f"Threshold of the evidence: {_evidence(result.threshold)}.")
    return "\n".join(map(visible, [*lines, *result.remarks]))


def write(result: Watch, target: Path) -> Path:
    """Write the page of a watch, whole or not at all."""
    figures.use_style()
    drawn = result.rows[result.rows["name"].isin(result.rows["name"].unique()[:_PANELS])]
    image = tables.svg(figures.panels(drawn, _draw(drawn, result.threshold), by="name", columns=2))
    reached = result.rows[result.rows["reached"] > 0].sort_values("reached", kind="stable")
    title = prose.render_plain("watch.title", first=next(iter(reached.to_dict("records")), None))
    words = {"title": title, "alt": f"{title}: a line for each part, a panel for each claim."}
    values: Row = {"watch": result, "figure": tables.embed_figure(image, words)}
    n_claims = result.rows["name"].nunique()
    values |= {"threshold": _evidence(result.threshold), "n_claims": n_claims}
    alpha = n_claims / 10**result.threshold
    values |= {"alpha": f"{alpha:.2g}", "anchored": result.rows["of"].eq("judge").any()}
    labels = {"change": f"change [{100 * (1 - alpha):.4g}% CI]"}
    values["table"] = table_html(Table(_readable(result), "", labels=labels))
    return page.write(target, "watch.html.j2", **values)


def _draw(whole: pd.DataFrame, threshold: float) -> figures.Draw:
    """Return a function that draws the evidence for a claim after each run, on one scale."""
    ends = np.clip(np.concatenate([*whole["path"], [threshold]]), *_DRAWN)
    scale = 10 ** (ends.min() - 0.2), 10 ** (ends.max() + 0.2)

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        for row in rows.to_dict("records"):
            run = np.arange(len(row["path"])) + 2
            evidence = 10 ** np.clip(row["path"], *_DRAWN)
            line = ":" if row["of"] == "judge" else "-"
            ax.plot(run, evidence, line, color=figures.INK, lw=1.8, label=row["of"])
        ax.axhline(10**threshold, color=figures.MUTED, ls="--", lw=1, label="threshold")
        ax.set(yscale="log", ylim=scale, xlabel="run", ylabel="evidence of a drift (e-value)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))

    return draw
