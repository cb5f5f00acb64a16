"""The list of all runs under a folder as a page, and a site of the finished ones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbbias import tables
from nbbias.pages import manifest, page, share
from nbbias.params import FAILED
from nbbias.reading import names
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, data_path, escape

#: Runs' figures lie beside the list; on a disk some browsers know it as no place of its own.
_IMAGES = "'self' file: data:"

#: Kinds of texts that were made for this project.
MADE = {"simulated", "simulated numbers", "hand-written"}

_COPIED = ("index.html", "notebook.ipynb", "finding.json", "tables/*.csv", "figures/*")


def runs(out: Path) -> list[dict[str, Any]]:
    """Return every run under a folder, by study and name, with what its manifest says.

    One that failed, and is kept beside the last good run, has the name of its folder; one that is
    being made is hidden and not listed.
    """
    return [
        {**content, "folder": path.parent.relative_to(out).as_posix()}
        for path in sorted(out.glob(f"*/*/{manifest.NAME}"))
        if not path.parent.name.startswith(".") and (content := run(path.parent))
    ]


def run(folder: Path) -> dict[str, Any] | None:
    """Return what a run's manifest says, all that leads its page (`lead`), and whether it has a
    `page`; None where there is no run.
    """
    if (content := manifest.read(folder)) is None:
        return None
    if folder.name.endswith(FAILED):
        content["run"] = folder.name
    has_page = (folder / "index.html").is_file()
    return {**content, "lead": tables.read_finding(folder), "page": has_page}


def _card(out: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run's card shows."""
    folder, lead = out / content["folder"], content["lead"]
    study, finished = STUDIES.get(str(content["study"])), content["status"] == "ok"
    estimates = tables.saved_table(folder, "estimates") if finished else None
    image = folder / "figures" / f"{lead['figure']}.svg"
    good = folder.with_name(folder.name.removesuffix(FAILED))
    words = tables.read_object(folder / "figures" / f"{lead['figure']}.json")
    return {
        **content,
        "state": "finished" if finished else content["status"],
        "question": study.question if study else "",
        "models": [] if estimates is None else names.order(estimates["model"].dropna()),
        "figure": image.relative_to(out).as_posix() if finished and image.is_file() else None,
        "alt": str(words.get("alt", "")),
        "error": content.get("error") or {},
        "good": good.name if good != folder and good.is_dir() else None,
    }


#: Numbers in brackets after a finding.
_NUMBERS = re.compile(r" \((?=[^()]*(?:CI |N = |p [=<≤]|\d\.\d{3}))(?:[^()]|\([^()]*\))*\)")


def headline(sentence: str) -> str:
    """Shorten what leads a page to one sentence without its numbers in brackets.

    Examples
    --------
    >>> headline("m's texts were closest to men (distance 0.258; women 0.391) and to b (0.274).")
    "m's texts were closest to men and to b"
    >>> headline("In one of two models (gpt-4.5), it was 0.51 higher (95% CI 0.3 to 0.7). More.")
    'In one of two models (gpt-4.5), it was 0.51 higher'
    """
    first = _NUMBERS.sub("", sentence).split(". ")[0].rstrip(".")
    return first.replace(" percentage points", " pp")


def write(out: Path) -> Path:
    """Write ``index.html``, the list of all runs under a folder: by study, the newest first."""
    cards = [_card(out, content) for content in runs(out)]
    cards.sort(key=lambda card: str(card["started"]), reverse=True)
    place = [*STUDIES, *(card["study"] for card in cards)]
    cards.sort(key=lambda card: place.index(card["study"]))
    made = all(card["lead"]["texts"].get("kind") in MADE for card in cards)
    script = data_path("templates/gallery.js").read_text(encoding="utf-8")
    values: dict[str, Any] = {"scripts": [script], "cards": cards, "samples": made}
    values |= {"headline": headline, "plain": escape.without_markdown}
    values |= page.assets(script, images=_IMAGES)
    return page.write(out / "index.html", "runs.html.j2", **values)


def publish(out: Path, site: Path) -> Path:
    """Copy every finished run to a new folder for any static host, with the list of them.

    The site is built beside its place and takes it when it is whole. Of files on this machine,
    which a run's parameters name, only the names are copied.

    Raises
    ------
    NbbiasError
        There is no finished run, or `site` is not empty or lies in `out`.
    """
    finished = [run for run in runs(out) if run["status"] == "ok"] if out.is_dir() else []
    if not finished:
        raise NbbiasError(str(out), "holds no finished run; `nbbias studies` makes the samples")
    if Path(os.path.realpath(site)).is_relative_to(os.path.realpath(out)):
        raise NbbiasError(str(site), f"lies in {out}; name a folder beside it")
    with share.new_folder(site) as built:
        for content in finished:
            for name, data in share.portable(out / content["folder"], _COPIED).items():
                tables.write(built / content["folder"] / name, data)
        write(built)
    return site / "index.html"
