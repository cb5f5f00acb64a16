"""All runs under a folder as pages: a list, the models side by side, any two runs compared."""

from __future__ import annotations

import json
import os
import re
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import jinja2

from nbbias import tables
from nbbias.pages import compare, leaders, manifest, page, share
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, data_path, escape, visible

#: Marks a folder as a site, and lists what was written to it: nothing else is ever taken away.
SITE = ".nbbias-site"

#: Runs of one study, the newest, of which every two get a page of their own.
_COMPARED = 10

_COPIED = (
    "index.html",
    share.PARAMS,
    "notebook.ipynb",
    "finding.json",
    "tables/*.csv",
    "figures/*",
)


def runs(out: Path) -> list[dict[str, Any]]:
    """Return every run under a folder, by study and name, with what its manifest says."""
    found = []
    for path in sorted(out.glob(f"*/*/{manifest.NAME}")):
        folder = path.parent
        described = manifest.read(folder)
        if described is None:
            continue
        finding = tables.read_finding(folder)
        thumbnail = folder / "figures" / f"{finding['figure']}.png"
        found.append({
            **described, "finding": finding["sentence"], "page": (folder / "index.html").is_file(),
            "folder": folder.relative_to(out).as_posix(),
            "thumbnail": thumbnail.relative_to(out).as_posix() if thumbnail.is_file() else None,
        })  # fmt: skip
    return found


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
    for old in (out / "compare").glob("*--*--*.html"):  # whatever else lies there is not ours
        old.unlink()
    pairs = _compare(out, finished)
    table = leaders.table(out, finished)
    asks = {stem: one.parameters.__doc__ for stem, one in STUDIES.items()}
    _render(out / "leaders.html", "leaders.html.j2", root=".", sections=leaders.sections(table))
    return _render(out / "index.html", "runs.html.j2", root=".", runs=every, pairs=pairs, asks=asks)


def publish(out: Path, site: Path) -> Path:
    """Copy every finished run to a folder that any static host serves, with the pages about them.

    The site is built beside its place and takes it when it is whole; until then an earlier one
    stays as it was. Of files on this machine, which a run's parameters name, only the names are
    copied: the paths are nobody else's.

    Raises
    ------
    NbbiasError
        There is no finished run, one folder lies in the other, or `site` holds something that an
        earlier site did not.
    """
    finished = [one for one in runs(out) if one["status"] == "ok"] if out.is_dir() else []
    if not finished:
        raise NbbiasError(str(out), "holds no finished run; `nbbias studies` makes the samples")
    source, target = out.resolve(), site.resolve()
    if source.is_relative_to(target) or target.is_relative_to(source):
        raise NbbiasError(str(site), f"is or holds {out}, or lies in it; name a folder beside it")
    if told := tables.unwritable(target.parent):
        raise NbbiasError(str(site), told)
    _refuse_foreign(site)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as beside:
        built, old = Path(beside) / "new", Path(beside) / "old"
        for one in finished:
            _copy(out / one["folder"], built / one["folder"])
        write(built)
        tables.write(built / SITE, json.dumps(_files(built), ensure_ascii=False, indent=0))
        if target.exists():
            target.rename(old)
        try:
            built.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
    return site / "index.html"


def _refuse_foreign(site: Path) -> None:
    """Refuse a place that holds anything but what an earlier site wrote there."""
    if not site.exists():
        return
    if not site.is_dir():
        raise NbbiasError(str(site), "is a file; name a folder")
    mark, found = site / SITE, _files(site)
    if found and not mark.is_file():
        raise NbbiasError(str(site), "is not empty and no earlier site; name another folder")
    try:
        written = json.loads(mark.read_text(encoding="utf-8")) if found else []
    except ValueError:  # who wrote what is not known, so nothing is ours
        written = []
    foreign = [name for name in found if name not in {*written, SITE}]
    if foreign:
        shown = ", ".join(foreign[:3]) + (" …" if len(foreign) > 3 else "")
        told = f"holds {len(foreign)} files that the site did not write ({shown}); it would lose"
        raise NbbiasError(str(site), f"{told} them: move them away, or name another folder")


def _files(folder: Path) -> list[str]:
    """Return what lies under a folder; links are not followed, and stand for themselves."""
    found = []
    for where, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        found += [Path(where, name).relative_to(folder).as_posix() for name in [*names, *links]]
    return sorted(found)


def _copy(source: Path, target: Path) -> None:
    described = json.loads((source / manifest.NAME).read_text(encoding="utf-8"))
    shown = share.names(described)
    for path in sorted(found for pattern in _COPIED for found in source.glob(pattern)):
        copy = target / path.relative_to(source)
        tables.write(copy, share.portable_content(path, shown))
    told = json.dumps(share.manifest(described, shown), indent=2, ensure_ascii=False)
    tables.write(target / manifest.NAME, told + "\n")


def _compare(out: Path, finished: list[dict[str, Any]]) -> dict[str, list[dict[str, str]]]:
    """Write a page for every two runs of a study; return the links to them, by study."""
    links: dict[str, list[dict[str, str]]] = {}
    for study in dict.fromkeys(str(one["study"]) for one in finished):
        own = [one for one in finished if one["study"] == study]
        own.sort(key=lambda one: str(one["started"]), reverse=True)
        for second, first in combinations(own[:_COMPARED], 2):
            name = f"{_file(study)}--{_file(first['run'])}--{_file(second['run'])}.html"
            _render(
                out / "compare" / name, "compare.html.j2", root="..", first=first, second=second,
                changes=compare.settings(first, second),
                **compare.shown(out / first["folder"], out / second["folder"]),
            )  # fmt: skip
            label = f"{first['run']} and {second['run']}"
            links.setdefault(study, []).append({"href": f"compare/{name}", "label": label})
    return links


def _file(name: object) -> str:
    """Name a file after a run; what no file name should hold is written as its code point."""
    return re.sub(r"[^\w.-]", lambda m: f"_{ord(m[0]):x}", str(name))


def _render(target: Path, template: str, **values: Any) -> Path:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_path("templates")), autoescape=True
    )
    environment.filters["plain"] = escape.without_markdown
    templates = data_path("templates/nbbias")
    text = environment.get_template(template).render(
        style=(templates / "page.css").read_text(encoding="utf-8"),
        script=(templates / "page.js").read_text(encoding="utf-8"),
        **values,
    )
    return tables.write(target, visible(page.slim(text)))
