"""Pages that the package itself tells: API, commands, parameters, tables of measures, gallery.

They are written to `_made/` before Sphinx reads the folder. What did not change is left alone, so
that a second build takes it from its cache.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from sphinx.application import Sphinx
from typer.main import get_command

import nbbias
from nbbias import cli, params, reading, studies, tables
from nbbias.asking.params import Generate

ROOT = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_made"
    pages = dict([*api(), *measures(), *commands(), *parameters(), *gallery()])
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        target = folder / name
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def grid(rows: Iterable[Iterable[object]], head: Iterable[str]) -> list[str]:
    """Return a table in Markdown; a cell is Markdown of ours, or text that was made `plain`."""
    lines = [list(head), ["---"] * len(list(head))]
    return ["| " + " | ".join(map(str, row)) + " |" for row in [*lines, *rows]]


def plain(text: object) -> str:
    """Return text that means nothing in Markdown, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", " ".join(str(text).split()))


# --- the API ----------------------------------------------------------------------------------


def api() -> Iterator[tuple[str, str]]:
    """Yield a page a face, with what stands on it and, room by room, what its rooms hold."""
    faces = [name for name in dir(nbbias) if name != "__version__"]
    told = [
        (
            f"[`nbbias.{name}`]({name}.md)",
            (inspect.getdoc(getattr(nbbias, name)) or "").split("\n")[0],
        )
        for name in faces
    ]
    lines = ["# API", "", inspect.getdoc(nbbias) or "", "", *grid(told, ["face", "what it is"])]
    yield "api/index.md", "\n".join([*lines, ""])
    known: dict[object, str] = {}
    for name in faces:
        yield f"api/{name}.md", face(f"nbbias.{name}", getattr(nbbias, name), known)


def face(path: str, module: ModuleType, known: dict[object, str]) -> str:
    """Return a face's page: its own names first, then its rooms; a name is explained once."""
    named = {name: getattr(module, name) for name in dir(module)}
    if path == "nbbias.notebook":
        named = {"notebook": module}
    lines = [f"# {path}", "", "```{py:module} " + path, "```", "", inspect.getdoc(module) or "", ""]
    for name, found in sorted(named.items(), key=lambda one: isinstance(one[1], ModuleType)):
        if isinstance(found, ModuleType):
            lines += [f"## {name}", "", inspect.getdoc(found) or "", ""]
            for one in public(found):
                lines += explained(f"{found.__name__}.{one.__name__}", one, known)
        elif inspect.isclass(found) or inspect.isfunction(found):
            lines += explained(f"{path}.{name}", found, known)
    return "\n".join(lines)


def public(room: ModuleType) -> list[Any]:
    """Return a room's own functions and classes, as they stand in its file."""
    if hasattr(room, "__path__"):  # a face within a face
        found = [getattr(room, name) for name in dir(room)]
        return [one for one in found if inspect.isclass(one) or inspect.isfunction(one)]
    return [
        one
        for name, one in vars(room).items()
        if (inspect.isclass(one) or inspect.isfunction(one))
        and one.__module__ == room.__name__
        and not name.startswith("_")
    ]


def explained(path: str, one: Any, known: dict[object, str]) -> list[str]:
    if one in known:
        return [f"{{py:obj}}`{known[one]}`", ""]
    known[one] = path
    kind = "autoclass" if inspect.isclass(one) else "autofunction"
    return ["```{eval-rst}", f".. {kind}:: {path}", "```", ""]


# --- what is measured -------------------------------------------------------------------------


def measures() -> Iterator[tuple[str, str]]:
    """Yield each study's table of measures, which its page includes, and the papers' references."""
    if not tables.data_path("words/measures.csv").is_file():
        return
    listed = pd.read_csv(tables.data_path("words/measures.csv"), keep_default_na=False)
    for stem in studies.STUDIES:
        own = listed[listed["study"] == stem]
        rows = [
            (
                plain(one.name_.replace("{of}", "a group's").replace("{people}", "a group")),
                plain(one.meaning),
                plain(one.below) or "–",
                plain(one.above) or "–",
                f"`{one.measure}`, `{one.statistic}`",
            )
            for one in own.rename(columns={"name": "name_"}).itertuples()
        ]
        head = ["name", "what it is", "lower is", "higher is", "measure, statistic in tables"]
        told = ["", "## Measurement card", "", *card(stem)]
        yield f"include/measures-{stem}.md", "\n".join([*grid(rows, head), *told]) + "\n"


def card(stem: str) -> Iterator[str]:
    """Yield a study's card and its rows of the shipped calibration."""
    for table in (reading.cards.card(stem), reading.cards.calibrated(stem)):
        if len(table.rows):
            named = [(table.labels or {}).get(name, name) for name in table.rows]
            yield from grid(([plain(one) for one in row] for row in table.rows.values), named)
            yield from ("", plain(table.note or ""), "")


def parameters() -> Iterator[tuple[str, str]]:
    """Yield the page of all parameters, study by study."""
    models = {stem: one.parameters for stem, one in studies.STUDIES.items()}
    lines = [
        "# Parameters",
        "",
        "What a params file may hold, as `nbbias params STUDY` prints it.",
        "",
    ]
    for stem, model in {**models, "generate": Generate}.items():
        told = params.describe(model)
        rows = [
            (
                f"`{row.name_}`",
                plain(row.type),
                f"`{row.default}`" if str(row.default) else "–",
                plain(row.range),
                plain(row.meaning),
            )
            for row in told.rename(columns={"name": "name_"}).itertuples()
        ]
        lines += [
            f"## {stem}",
            "",
            *grid(rows, ["name", "type", "default", "range", "meaning"]),
            "",
        ]
    yield "parameters.md", "\n".join(lines)


# --- the command line -------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, str]]:
    """Yield the page of all commands with their arguments and options."""
    lines = ["# Commands", "", "As `nbbias COMMAND --help` prints them.", ""]
    for path, command in walked("nbbias", get_command(cli.app)):
        lines += [f"## {path}", "", plain(command.help or ""), ""]
        rows = [
            (f"`{called(one)}`", plain(getattr(one, "help", None) or ""))
            for one in command.params
            if one.name != "help"
        ]
        lines += [*grid(rows, ["argument", "meaning"]), ""] if rows else []
    yield "commands.md", "\n".join(lines)


def called(parameter: Any) -> str:
    """Return how an argument or an option is written."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or 'VALUE'}"
    return ", ".join(parameter.opts) + value


def walked(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if not below:
        yield path, command
    for name, one in below.items():
        yield from walked(f"{path} {name}", one)


# --- the gallery ------------------------------------------------------------------------------


def gallery() -> Iterator[tuple[str, str]]:
    """Yield the page of the samples' figures, as committed, each with the table that it draws."""
    lines = [
        "# Gallery",
        "",
        "Figures of the samples, as `make studies` makes them. Their texts are simulated, or "
        "written by hand for this project: they show what a measure does, and nothing about any "
        "model. What real texts give stands under [Results](../results.md).",
        "",
    ]
    for stem, study in studies.STUDIES.items():
        lines += [f"## {stem}", "", plain(study.question), ""]
        for path in sorted((ROOT / "figures" / stem).glob("*.csv")):
            lines += shown(path)
    yield "gallery.md", "\n".join(lines)


def shown(path: Path) -> list[str]:
    """Return a figure in Markdown: light and dark, with its words and its table."""
    words_at = path.with_suffix(".json")
    words = json.loads(words_at.read_text(encoding="utf-8")) if words_at.is_file() else {}
    title = words.get("title") or path.stem.replace("_", " ")
    alt = " ".join(words.get("alt", title).split())
    at = f"../../{path.relative_to(ROOT).with_suffix('').as_posix()}"
    lines = [f"### {plain(title)}", ""]
    # A file follows the page's colours by itself, so the theme is to leave it as it is.
    lines += [f"```{{image}} {at}.svg", f":alt: {alt}", ":class: dark-light", "```", ""]
    told = [plain(words["caption"])] if words.get("caption") else []
    return [*lines, " ".join([*told, f"{{download}}`Its table <{at}.csv>`."]), ""]
