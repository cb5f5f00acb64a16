"""One page over several studies for somebody who decides: one screen a study, and no score of all.

It says what the runs' own pages say first (`finding.json`), and nothing that they do not. Of one
model among several it says what was declared of that model, beside what was found of all.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from nbbias import reading, studies, tables
from nbbias.pages import about, gallery, page
from nbbias.reading import names
from nbbias.tables import ExtraError, NbbiasError, data_path, escape, visible

#: Numbers of a study that are shown.
_NUMBERS = 3
#: What a reader hears of a declared claim.
_VERDICTS = {
    "told apart": "told apart from the reference, corrected over all claims",
    "not told apart": "not told apart from the reference, which does not show that they are alike",
    "not tested": "not tested",
    "not measured": "not measured",
}
#: Texts that say nothing of any real model.
_MADE = {"simulated", "hand-written"}


def write(runs: Sequence[Path], target: Path, *, model: str | None = None) -> Path:
    """Write one page over several runs, which needs no other file.

    Parameters
    ----------
    runs
        Folders of finished runs, or folders that hold such (all finished runs are taken).
    target
        The page, written whole or not at all.
    model
        Say what was found of this model; studies that do not have it are named and left out.

    Raises
    ------
    NbbiasError
        A folder holds no finished run, or no run has the model.
    """
    found = [one for folder in runs for one in _finished(folder)]
    every = [_study(folder, described, target, model) for folder, described in found]
    shown = [one for one in every if one["has"]]
    if not shown:
        known = names.order({name for one in every for name in one["models"]})
        told = f"no run has the model {model!r}; there is: {', '.join(known) or 'none'}"
        raise NbbiasError("report", told)
    made = [one for one in shown if one["lead"]["texts"].get("kind") in _MADE]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_path("templates")), autoescape=True
    )
    environment.filters["plain"] = escape.without_markdown
    text = environment.get_template("report.html.j2").render(
        **page.assets(),
        studies=shown,
        model=model,
        left_out=[o for o in every if not o["has"]],
        made={"all": len(made) == len(shown), "some": [one["label"] for one in made]},
        cite=about.citations(studies.home() / "CITATION.bib", [one["study"] for one in shown]),
    )
    return tables.write(target, visible(page.focusable(text)))


def _finished(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the finished run in a folder, or all those below it, study by study."""
    one = gallery.run(folder)
    below = [(folder / run["folder"], run) for run in gallery.runs(folder)]
    read = [(folder, one)] if one is not None else below
    found = [(path, run) for path, run in read if run["status"] == "ok"]
    if not found:
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    place = {stem: i for i, stem in enumerate(studies.STUDIES)}
    return sorted(found, key=lambda one: place.get(str(one[1]["study"]), len(place)))


def _study(
    folder: Path, described: Mapping[str, Any], target: Path, model: str | None
) -> dict[str, Any]:
    """Return what one screen says of a run."""
    stem, lead = str(described["study"]), dict(described["lead"])
    lead["plain"] = lead["plain"] or [one for one in [lead["sentence"]] if one]
    estimates = tables.saved_table(folder, "estimates")
    models = [] if estimates is None else names.order(estimates["model"].dropna())
    models = [name for name in models if name != "all" and " − " not in name]
    own = (
        None
        if model is None or models == [model]
        else _own(folder, estimates, model, lead["numbers"])
    )
    numbers = own["numbers"] if own else lead["numbers"]
    first = lead | {"technical": "", "numbers": numbers}
    figure = tables.figure_html(folder, lead["figure"])
    study = studies.STUDIES.get(stem)
    linked = (folder / "index.html").resolve()
    near = linked.is_file() and linked.is_relative_to(target.resolve().parent)
    return {
        "study": stem,
        "label": f"{stem}/{described['run']}",
        "lead": lead,
        "models": models,
        "question": study.question if study else stem,
        "has": model is None or model in models,
        "own": own,
        "numbers": numbers,
        "shown": reading.lead.shown(first, figure=figure),
        "page": os.path.relpath(linked, target.resolve().parent) if near else None,
        "when": gallery.day(described["started"]),
    }


def _own(
    folder: Path, estimates: pd.DataFrame | None, model: str, numbers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what was declared of one model among several, or else what leads: at most three.

    A number that the run's own page leads with keeps the name that it has there.
    """
    claims = tables.saved_table(folder, "claims")
    rows = claims if claims is not None else estimates
    if rows is None:
        return {"numbers": [], "declared": False}
    rows = rows[rows["model"] == model]
    if claims is None:
        leading = studies.leads()[["study", "measure", "statistic"]]
        rows = rows.merge(leading, on=["study", "measure", "statistic"])
    called = {_key(one): str(one["name"]) for one in numbers}
    shown = []
    for row in rows.head(_NUMBERS).to_dict("records"):
        verdict = _VERDICTS.get(str(row.get("verdict")), "")
        name = names.measure(row)
        name = called.get(_key(row), name[:1].upper() + name[1:])
        told = reading.lead.number(row | {"name": name})
        beside = {"verdict": row.get("verdict"), "count": told["N"]}
        shown.append(told | beside | {"N": f"{told['N']}; {verdict}".rstrip("; ")})
    more = max(len(rows) - _NUMBERS, 0)
    return {"numbers": shown, "declared": claims is not None, "more": more}


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    values = [row.get(key) for key in tables.ESTIMATE_KEYS]
    return tuple("" if pd.isna(value) else str(value) for value in values)


# --- on paper ---------------------------------------------------------------------------------


def printable() -> None:
    """Refuse to print where playwright, the extra `browser`, is not installed."""
    try:
        tables.require_packages("playwright", where="--pdf")
    except ExtraError as error:
        told = f"{error}; or leave out --pdf, open the page in a browser and print it"
        raise ExtraError("--pdf", told.removeprefix("--pdf: ")) from None


def pdf(source: Path, target: Path) -> Path:
    """Print a page as PDF by a Chromium without a window and without a network.

    Raises
    ------
    NbbiasError
        playwright or a Chromium is not here.
    """
    printable()
    from playwright.sync_api import Error, sync_playwright

    installed = shutil.which("chromium") or shutil.which("chromium-browser")
    root = sys.platform != "win32" and os.geteuid() == 0  # Chromium has no sandbox for root
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=installed, args=["--no-sandbox"] if root else []
            )
        except Error as error:
            told = (
                "no Chromium could be started: `playwright install chromium` brings one; or open "
                f"{source} in a browser and print it"
            )
            raise NbbiasError("--pdf", told) from error
        opened = browser.new_context(offline=True, color_scheme="light").new_page()
        opened.goto(source.resolve().as_uri())
        # Margins and numbers of pages are the style's own.
        printed = opened.pdf(format="A4", print_background=True)
        browser.close()
    return tables.write(target, printed)
