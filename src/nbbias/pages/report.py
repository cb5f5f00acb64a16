"""One page over several studies for somebody who decides: one screen a study, and no total score.

It shows what the runs' own pages say first (`finding.json`), and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbbias import reading, studies, tables
from nbbias.pages import about, gallery, manifest, page
from nbbias.reading import templates
from nbbias.tables import escape


def write(runs: Sequence[Path], target: Path) -> Path:
    """Write one page over several runs, which needs no other file.

    Parameters
    ----------
    runs
        Folders of finished runs, or folders that hold such (all finished runs are taken).
    target
        The page, written whole or not at all.

    Raises
    ------
    NbbiasError
        A folder holds no finished run.
    """
    sections = [
        _section(path, content, target) for folder in runs for path, content in _finished(folder)
    ]
    simulated = {"simulated", "hand-written"}
    samples = [section for section in sections if section["lead"]["texts"].get("kind") in simulated]
    stems, sources = [section["study"] for section in sections], studies.home() / "CITATION.bib"
    html = templates.render(
        "report.html.j2",
        **page.assets(),
        scripts=(),
        sections=sections,
        samples=[section["label"] for section in samples],
        cite=about.citations(sources, stems),
    )
    return tables.write(target, page.finished(html))


def _finished(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the finished run in a folder, or all those below it, study by study."""
    content = gallery.run(folder)
    below = [(folder / run["folder"], run) for run in gallery.runs(folder)]
    pairs = below if content is None else [(folder, content)]
    finished = [(path, run) for path, run in pairs if run["status"] == "ok"]
    if not finished:
        manifest.read_finished(folder)  # which refuses it
    place = {stem: i for i, stem in enumerate(studies.STUDIES)}
    return sorted(finished, key=lambda pair: place.get(str(pair[1]["study"]), len(place)))


def _section(folder: Path, content: Mapping[str, Any], target: Path) -> dict[str, Any]:
    """Return what one screen shows of a run."""
    stem, lead = str(content["study"]), content["lead"]
    study = studies.STUDIES.get(stem)
    figure = tables.figure_html(folder, lead["figure"])
    return {
        "study": stem,
        "label": f"{stem}/{content['run']}",
        "question": study.question if study else stem,
        "finding": escape.without_markdown(lead["plain"][0]) if lead["plain"] else "",
        "lead": lead,
        "first_screen": reading.lead.render(lead | {"technical": ""}, figure=figure),
        "page": page.link(folder, target),
        "day": content["started"][:10],
    }
