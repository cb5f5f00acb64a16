"""All runs under a folder as pages: a list, the models side by side, any two runs compared."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import jinja2

from nbbias import tables
from nbbias.pages import compare, leaders, manifest, page, share
from nbbias.params import FAILED
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, data_path, escape, visible

#: Runs of one study, the newest, of which every two get a page of their own.
_COMPARED = 10

#: Letters of a run's name in that of a page about two runs.
_LONGEST = 100

#: Runs' figures lie beside the list; on a disk some browsers know it as no place of its own.
_IMAGES = "'self' file:"

_COPIED = (
    "index.html",
    "notebook.ipynb",
    "finding.json",
    "tables/*.csv",
    "figures/*",
)


def runs(out: Path) -> list[dict[str, Any]]:
    """Return every run under a folder, by study and name, with what its manifest says.

    One that failed, and is kept beside the last good run, has the name of its folder; one that is
    being made lies hidden and is none yet.
    """
    found = []
    for path in sorted(out.glob(f"*/*/{manifest.NAME}")):
        folder = path.parent
        described = manifest.read(folder)
        if described is None or folder.name.startswith("."):
            continue
        if folder.name.endswith(FAILED):
            described["run"] = folder.name
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
        old.unlink(missing_ok=True)  # another run may write the pages, too
    pairs = _compare(out, finished)
    table = leaders.table(out, finished)
    asks = {stem: one.question for stem, one in STUDIES.items()}
    _render(out / "leaders.html", "leaders.html.j2", root=".", sections=leaders.sections(table))
    return _render(out / "index.html", "runs.html.j2", root=".", runs=every, pairs=pairs, asks=asks)


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
    source, target = out.resolve(), site.resolve()
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
    for path in sorted(found for pattern in _COPIED for found in source.glob(pattern)):
        copy = target / path.relative_to(source)
        tables.write(copy, share.portable_content(path, shown))
    manifest.same(source, described)
    told = share.manifest(described, shown)
    text = json.dumps(told, indent=2, ensure_ascii=False)
    tables.write(target / manifest.NAME, text + "\n")
    tables.write(target / share.PARAMS, share.yaml_of(told["study"], told["parameters"]))


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
    """Name a file after a run; what no file name should hold is written as its code point.

    Of a long name a hash stands for the rest: two of them are one file's name.
    """
    told = re.sub(r"[^\w.-]", lambda m: f"_{ord(m[0]):x}", str(name), flags=re.ASCII)
    digest = hashlib.sha256(told.encode()).hexdigest()[:8]
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 9]}-{digest}"


def _render(target: Path, template: str, **values: Any) -> Path:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_path("templates")), autoescape=True
    )
    environment.filters["plain"] = escape.without_markdown
    text = environment.get_template(template).render(**page.own(images=_IMAGES), **values)
    return tables.write(target, visible(page.slim(text)))
