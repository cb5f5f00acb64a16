"""One page over several studies for somebody who decides: one screen a study, and no total score.

It shows what the runs' own pages say first (`finding.json`), and whether scorers agreed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbbias import news, reading, studies, tables
from nbbias.pages import gallery, manifest, page


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
    finished = [part for folder in runs for part in _finished(folder)]
    sections = [_section(path, content, target) for path, content in finished]
    made = [part for part in sections if part["lead"]["texts"].get("kind") in gallery.MADE]
    cite = page.citations(studies.home() / "CITATION.bib", {part["study"] for part in sections})
    values = {"sections": sections, "samples": [part["label"] for part in made], "cite": cite}
    values["agreed"] = _agreement(finished)
    return page.write(target, "report.html.j2", **values)


def _finished(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the finished run in a folder, or all those below it, study by study."""
    content = gallery.run(folder)
    runs = [{**content, "folder": ""}] if content else gallery.runs(folder)
    finished = [(folder / run["folder"], run) for run in runs if run["status"] == "ok"]
    if not finished:
        manifest.read_finished(folder)  # which refuses it
    places = [*studies.STUDIES, *(run["study"] for _, run in finished)]
    return sorted(finished, key=lambda pair: places.index(pair[1]["study"]))


def _agreement(runs: Sequence[tuple[Path, Mapping[str, Any]]]) -> list[tuple[str, str]]:
    """Return for each run of news whether its scorers of tone agreed: its name, and a sentence."""
    agreed = []
    for folder, content in runs:
        table = tables.saved_table(folder, "agreement") if content["study"] == "news_bias" else None
        if table is not None:
            try:
                heading, _ = news.sentences.agreement(tables.check(table, tables.ESTIMATES))
            except KeyError:  # a stranger's table
                continue
            agreed.append((f"{content['study']}/{content['run']}", heading))
    return agreed


def _section(folder: Path, content: Mapping[str, Any], target: Path) -> dict[str, Any]:
    """Return what one screen shows of a run."""
    stem, lead = str(content["study"]), content["lead"]
    study = studies.STUDIES.get(stem)
    figure = tables.figure_html(folder, lead["figure"])
    return {
        "study": stem,
        "label": f"{stem}/{content['run']}",
        "question": study.question if study else stem,
        "finding": lead["plain"][0] if lead["plain"] else "",
        "lead": lead,
        "first_screen": reading.lead.render(lead | {"technical": ""}, figure=figure),
        "page": page.link(folder, target),
        "day": content["started"][:10],
    }
