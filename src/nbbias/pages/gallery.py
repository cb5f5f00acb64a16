"""All runs under a folder as pages: a list, the models side by side, any two runs compared."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import jinja2

from nbbias import reading, tables
from nbbias.pages import compare, failed, leaders, manifest, page, share
from nbbias.params import FAILED
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, data_path, escape, visible

#: Runs of one study, the newest, of which every two get a page of their own.
_COMPARED = 10

#: Letters of a run's name in that of a page about two runs.
_LONGEST = 100

#: Runs' figures lie beside the list; on a disk some browsers know it as no place of its own.
#: Those of models side by side, and of two runs, stand in their page.
_IMAGES = "'self' file: data:"

#: How a card's figure may lie there: drawn for that size, drawn for a page, as an image.
_DRAWN = (".svg", ".png")

#: Of a figure that is this many times as tall as it is wide, a card shows the top.
_TALL = 1.7

_COPIED = ("index.html", "notebook.ipynb", "finding.json", "tables/*.csv", "figures/*")


def runs(out: Path) -> list[dict[str, Any]]:
    """Return every run under a folder, by study and name, with what its manifest says.

    One that failed, and is kept beside the last good run, has the name of its folder; one that is
    being made lies hidden and is none yet.
    """
    found = []
    for path in sorted(out.glob(f"*/*/{manifest.NAME}")):
        folder = path.parent
        described = None if folder.name.startswith(".") else run(folder)
        if described is not None:
            found.append({**described, "folder": folder.relative_to(out).as_posix()})
    return found


def run(folder: Path) -> dict[str, Any] | None:
    """Return what a run's manifest says, its `finding`, all that leads its page (`lead`), and
    whether it has a `page`; None where there is no run.
    """
    described = manifest.read(folder)
    if described is None:
        return None
    if folder.name.endswith(FAILED):
        described["run"] = folder.name
    lead = tables.read_finding(folder)
    there = (folder / "index.html").is_file()
    return {**described, "finding": lead["sentence"], "lead": lead, "page": there}


def _card(out: Path, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run's card shows beside what is known of every run."""
    folder, well = out / one["folder"], one["status"] == "ok"
    study, figure = STUDIES.get(str(one["study"])), one["lead"]["figure"]
    estimates = tables.saved_table(folder, "estimates") if well else None
    models = estimates["model"].dropna().unique() if estimates is not None else []
    drawn = next(
        (
            f"{one['folder']}/figures/{figure}{end}"
            for end in _DRAWN
            if well and (folder / "figures" / f"{figure}{end}").is_file()
        ),
        None,
    )
    plain = one["lead"]["plain"]
    headline, _, rest = plain[0].partition("; ") if plain else ("", "", "")
    return {
        # The first clause heads a card; what follows it is told below.
        "headline": headline if not rest else f"{headline}.",
        "then": " ".join(filter(None, [rest[:1].upper() + rest[1:], *plain[1:]])),
        "state": "finished" if well else one["status"],
        "question": study.question if study else "",
        "models": reading.names.order(models),
        "figure": drawn,
        "tall": drawn is not None and _tall(out / drawn),
        "alt": _alt(folder / "figures" / f"{figure}.json"),
        "failed": None if well else failed.told(folder, one),
    }


def _tall(image: Path) -> bool:
    """Tell whether a figure is so much taller than wide that a card shows its top alone."""
    if image.suffix != ".svg":
        return False
    with image.open("rb") as file:
        found = re.search(rb'viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"', file.read(2000))
    return found is not None and float(found[2]) > _TALL * float(found[1])


def _alt(words: Path) -> str:
    """Return what is heard of a figure: nothing of one that an older run left."""
    try:
        return str(json.loads(words.read_text(encoding="utf-8"))["alt"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def write(out: Path) -> Path:
    """Write the pages about all runs under a folder, and return the list of them.

    Parameters
    ----------
    out
        The folder of all runs. It gets ``index.html``, the list; ``leaders.html``, the models of
        each study side by side; and ``compare/``, a page for every two of a study's newest ten
        finished runs.
    """
    every = runs(out)
    finished = [one for one in every if one["status"] == "ok"]
    links = _compare(out, finished)
    table = leaders.table(out, finished)
    shown = leaders.sections(table, out)
    _render(out / "leaders.html", "leaders.html.j2", root=".", sections=shown)
    every.sort(key=lambda one: str(one["started"]), reverse=True)
    cards = [{**one, **_card(out, one), "compared": links.get(one["folder"], [])} for one in every]
    script = data_path("templates/gallery.js").read_text(encoding="utf-8")
    return _render(out / "index.html", "runs.html.j2", script, root=".", cards=cards)


def publish(out: Path, site: Path) -> Path:
    """Copy every finished run to a new folder for any static host, with the pages about them.

    The site is built beside its place and takes it when it is whole. Of files on this machine,
    which a run's parameters name, only the names are copied: the paths are nobody else's.

    Raises
    ------
    NbbiasError
        There is no finished run, or `site` is not empty or lies in `out`.
    """
    finished = [one for one in runs(out) if one["status"] == "ok"] if out.is_dir() else []
    if not finished:
        raise NbbiasError(str(out), "holds no finished run; `nbbias studies` makes the samples")
    source, target = Path(os.path.realpath(out)), Path(os.path.realpath(site))
    if target.is_relative_to(source):
        raise NbbiasError(str(site), f"lies in {out}; name a folder beside it")
    share.refuse_full(site)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as beside:
        built = Path(beside) / "site"
        for one in finished:
            _copy(out / one["folder"], built / one["folder"])
        write(built)
        built.rename(target)  # which may be there, empty
    return site / "index.html"


def _copy(source: Path, target: Path) -> None:
    described = json.loads((source / manifest.NAME).read_text(encoding="utf-8"))
    shown = share.names(described)
    for path in tables.regular_files(source, *_COPIED):
        copy = target / path.relative_to(source)
        tables.write(copy, share.portable_content(path, shown))
    manifest.same(source, described)
    told = share.manifest(described, shown)
    text = json.dumps(told, indent=2, ensure_ascii=False)
    tables.write(target / manifest.NAME, text + "\n")
    tables.write(target / share.PARAMS, share.yaml_of(told["study"], told["parameters"]))


def _compare(out: Path, finished: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Write a page for every two runs of a study; return the links to them, by run's folder."""
    links: dict[str, list[dict[str, str]]] = {}
    wanted: set[str] = set()
    for study in dict.fromkeys(str(one["study"]) for one in finished):
        own = [one for one in finished if one["study"] == study]
        own.sort(key=lambda one: str(one["started"]), reverse=True)
        for second, first in combinations(own[:_COMPARED], 2):
            name = f"{_file(study)}--{_file(first['run'])}--{_file(second['run'])}.html"
            target, made_from = out / "compare" / name, _made_from(first, second)
            wanted.add(name)
            if not _holds(target, made_from):
                _render(
                    target,
                    "compare.html.j2",
                    root="..",
                    first=first,
                    second=second,
                    changes=compare.settings(first, second),
                    made_from=made_from,
                    **compare.shown(
                        out / first["folder"],
                        out / second["folder"],
                        name=target.stem,
                        out=target.parent,
                    ),
                )
            for one, other in ((first, second), (second, first)):
                link = {"href": f"compare/{name}", "with": str(other["run"])}
                links.setdefault(one["folder"], []).append(link)
    for old in (out / "compare").glob("*--*--*.html"):  # whatever else lies there is not ours
        if old.name not in wanted:
            for path in (old, *(out / "compare" / "figures").glob(f"{glob.escape(old.stem)}*")):
                path.unlink(missing_ok=True)  # another run may write the pages, too
    return links


def _made_from(*runs: dict[str, Any]) -> str:
    """Return a hash of two runs as a page tells of them, and of what draws it."""
    drawn = [Path(compare.__file__), data_path("templates/compare.html.j2")]
    hashes = [tables.file_sha256(path) for path in drawn]
    told = json.dumps([*runs, tables.versions(), hashes], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


def _holds(page: Path, made_from: str) -> bool:
    """Tell whether a page is there that was made from the same two runs."""
    try:
        return made_from in page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _file(name: object) -> str:
    """Name a file after a run; what no file name should hold is written as its code point.

    Of a long name a hash stands for the rest: two of them are one file's name.
    """
    told = re.sub(r"[^\w.-]", lambda m: f"_{ord(m[0]):x}", str(name), flags=re.ASCII)
    digest = hashlib.sha256(told.encode()).hexdigest()[:8]
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 9]}-{digest}"


def _render(target: Path, template: str, *scripts: str, **values: Any) -> Path:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_path("templates")), autoescape=True
    )
    environment.filters |= {"plain": escape.without_markdown, "day": day}
    ours = page.assets(*scripts, images=_IMAGES)
    text = environment.get_template(template).render(**ours, scripts=scripts, **values)
    return tables.write(target, visible(page.focusable(text)))


def day(started: object) -> str:
    """Write when a run began as people do: 2024-05-01T10:20:30+00:00 is 1 May 2024, 10:20 UTC."""
    try:
        when = datetime.fromisoformat(str(started))
    except ValueError:
        return str(started)[:16].replace("T", " ")
    return f"{when.day} {when:%b %Y, %H:%M} UTC"
