"""One page over several studies for somebody who decides: one screen a study, and no total score.

It shows what the runs' own pages say first (`finding.json`), and nothing else. Of one model among
several it shows the estimates that were declared of that model, beside the findings of all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbbias import reading, studies, tables
from nbbias.pages import about, gallery, page
from nbbias.reading import names, templates
from nbbias.tables import NbbiasError, escape

#: Numbers of a study that are shown.
_NUMBERS = 3


def write(runs: Sequence[Path], target: Path, *, model: str | None = None) -> Path:
    """Write one page over several runs, which needs no other file.

    Parameters
    ----------
    runs
        Folders of finished runs, or folders that hold such (all finished runs are taken).
    target
        The page, written whole or not at all.
    model
        Show this model's own numbers; studies that do not have it are named and left out.

    Raises
    ------
    NbbiasError
        A folder holds no finished run, or no run has the model.
    """
    sections = [
        _section(path, content, target, model)
        for folder in runs
        for path, content in _finished(folder)
    ]
    shown = [section for section in sections if section["has_model"]]
    if not shown:
        known = names.order({name for section in sections for name in section["models"]})
        problem = f"no run has the model {model!r}; there is: {', '.join(known) or 'none'}"
        raise NbbiasError("report", problem)
    samples = [one for one in shown if one["texts"].get("kind") in {"simulated", "hand-written"}]
    html = templates.render(
        "report.html.j2",
        **page.assets(),
        scripts=(),
        sections=shown,
        model=model,
        left_out=[section["label"] for section in sections if not section["has_model"]],
        samples=[section["label"] for section in samples],
        cite=about.citations(
            studies.home() / "CITATION.bib", [section["study"] for section in shown]
        ),
    )
    return tables.write(target, page.focusable(html))


def _finished(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the finished run in a folder, or all those below it, study by study."""
    content = gallery.run(folder)
    runs = [(folder / run["folder"], run) for run in gallery.runs(folder)]
    runs = runs if content is None else [(folder, content)]
    finished = [(path, run) for path, run in runs if run["status"] == "ok"]
    if not finished:
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    place = {stem: i for i, stem in enumerate(studies.STUDIES)}
    return sorted(finished, key=lambda pair: place.get(str(pair[1]["study"]), len(place)))


def _section(
    folder: Path, content: Mapping[str, Any], target: Path, model: str | None
) -> dict[str, Any]:
    """Return what one screen shows of a run."""
    stem, lead = str(content["study"]), dict(content["lead"])
    lead["plain"] = lead["plain"] or [text for text in [lead["sentence"]] if text]
    estimates = tables.saved_table(folder, "estimates")
    models = [] if estimates is None else names.order(estimates["model"].dropna())
    models = [name for name in models if name != "all" and " − " not in name]
    one_of_many = model is not None and models != [model]
    if one_of_many:
        lead["numbers"] = _numbers_of(folder, str(model))
    study, linked = studies.STUDIES.get(stem), (folder / "index.html").resolve()
    base = target.resolve().parent
    near = linked.is_file() and linked.is_relative_to(base)
    figure = tables.figure_html(folder, lead["figure"])
    return {
        "study": stem,
        "label": f"{stem}/{content['run']}",
        "question": study.question if study else stem,
        "models": models,
        "has_model": model is None or model in models,
        "one_of_many": one_of_many,
        "finding": escape.without_markdown(lead["plain"][0]) if lead["plain"] else "",
        "numbers": lead["numbers"],
        "texts": lead["texts"],
        "lead": reading.lead.render(lead | {"technical": ""}, figure=figure),
        "page": os.path.relpath(linked, base) if near else None,
        "day": gallery.day(content["started"]),
    }


def _numbers_of(folder: Path, model: str) -> list[dict[str, Any]]:
    """Return what a run declared of one model: at most three numbers, with their verdicts."""
    claims = tables.saved_table(folder, "claims")
    rows = [] if claims is None else claims[claims["model"] == model].to_dict("records")
    numbers = []
    for row in rows[:_NUMBERS]:
        name = names.measure(row)
        number = reading.lead.number(row | {"name": name[:1].upper() + name[1:]})
        numbers.append(number | {"N": f"{number['N']}; {row['verdict']}"})
    return numbers
