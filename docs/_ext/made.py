"""Pages that the package itself writes: API, parameters, tables of measures, gallery.

They are written to `_made/` before Sphinx reads the folder. What did not change is left alone, so
that a second build takes it from its cache.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
from sphinx.application import Sphinx

import nbbias
from nbbias import params, reading, studies, tables
from nbbias.asking.params import Generate

ROOT = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_made"
    pages = dict([*api(), *measures(), *parameters(), *gallery()])
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        target = folder / name
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def grid(rows: Iterable[Iterable[object]], head: Iterable[str]) -> list[str]:
    """Return a table in Markdown."""
    lines = [list(head), ["---"] * len(list(head)), *rows]
    return ["| " + " | ".join(map(str, row)) + " |" for row in lines] + [""]


def plain(text: object) -> str:
    """Return text that means nothing in Markdown, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", " ".join(str(text).split()))


def first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


def api() -> Iterator[tuple[str, str]]:
    """Yield a page a face: the functions and classes on it, then what else its modules hold."""
    faces = {name: getattr(nbbias, name) for name in dir(nbbias) if name != "__version__"}
    rows = [(f"[`nbbias.{name}`]({name}.md)", first_line(face)) for name, face in faces.items()]
    index = ["# API", "", inspect.getdoc(nbbias) or "", "", *grid(rows, ["face", "what it is"])]
    yield "api/index.md", "\n".join(index)
    for name, face in faces.items():
        members = {member: getattr(face, member) for member in dir(face)}
        modules = [thing for thing in members.values() if isinstance(thing, ModuleType)]
        if not hasattr(face, "__path__"):  # a module, and no face of several
            members, modules = {}, [face]
        lines = [f"# nbbias.{name}", "", inspect.getdoc(face) or "", "", "```{eval-rst}"]
        lines += directives(f"nbbias.{name}", members)
        for module in modules:
            public = {n: t for n, t in vars(module).items() if not n.startswith("_")}
            for member, thing in members.items():
                if public.get(member) is thing:  # shown above
                    public.pop(member)
            lines += ["", f".. automodule:: {module.__name__}"]
            lines += directives(module.__name__, public, home=module.__name__)
        yield f"api/{name}.md", "\n".join([*lines, "```", ""])


def directives(path: str, members: Mapping[str, object], *, home: str = "") -> Iterator[str]:
    for name, thing in members.items():
        kind = "autoclass" if inspect.isclass(thing) else "autofunction"
        is_shown = inspect.isclass(thing) or inspect.isfunction(thing)
        if is_shown and (not home or thing.__module__ == home):
            yield f".. {kind}:: {path}.{name}"


def measures() -> Iterator[tuple[str, str]]:
    """Yield each study's table of measures, which its page includes, and its card."""
    table = pd.read_csv(tables.data_path("words/measures.csv"), keep_default_na=False)
    for stem in studies.STUDIES:
        rows = [
            (
                plain(row["name"].replace("{of}", "a group's").replace("{people}", "a group")),
                plain(row["meaning"]),
                plain(row["below"]) or "–",
                plain(row["above"]) or "–",
                f"`{row['measure']}`, `{row['statistic']}`",
            )
            for row in table[table["study"] == stem].to_dict("records")
        ]
        head = ["name", "what it is", "lower is", "higher is", "measure, statistic in tables"]
        lines = [*grid(rows, head), "## Measurement card", ""]
        for card in (reading.cards.card(stem), reading.cards.calibrated(stem)):
            if len(card.rows):
                names = [(card.labels or {}).get(name, name) for name in card.rows]
                lines += grid((map(plain, row) for row in card.rows.to_numpy()), names)
                lines += [plain(card.note or ""), ""]
        yield f"include/measures-{stem}.md", "\n".join(lines)


def parameters() -> Iterator[tuple[str, str]]:
    """Yield the page of all parameters, study by study."""
    models = {stem: study.parameters for stem, study in studies.STUDIES.items()}
    lines = ["# Parameters", "", "What a params file may hold: `nbbias params STUDY`.", ""]
    for stem, model in {**models, "generate": Generate}.items():
        table = params.describe(model)
        rows = [
            (f"`{name}`", plain(kind), f"`{default}`" if str(default) else "–", *map(plain, rest))
            for name, kind, default, *rest in table.itertuples(index=False)
        ]
        lines += [f"## {stem}", "", *grid(rows, table)]
    yield "parameters.md", "\n".join(lines)


def gallery() -> Iterator[tuple[str, str]]:
    """Yield the page of the samples' figures, as committed, each with the table that it draws."""
    lines = [
        "# Gallery",
        "",
        "Figures of the samples, as `make studies` makes them. Their texts are simulated, or "
        "written by hand for this project: they show what a measure does, and nothing about any "
        "model. Real texts: [Results](../results.md).",
        "",
    ]
    for stem, study in studies.STUDIES.items():
        lines += [f"## {stem}", "", plain(study.question), ""]
        for path in sorted((ROOT / "figures" / stem).glob("*.csv")):
            words = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            title = words.get("title") or path.stem.replace("_", " ")
            figure = f"../../{path.relative_to(ROOT).with_suffix('').as_posix()}"
            caption = f"{plain(words.get('caption', ''))} {{download}}`Its table <{figure}.csv>`."
            lines += [f"### {plain(title)}", "", f"```{{image}} {figure}.svg"]
            # The file follows the page's colours by itself.
            lines += [f":alt: {' '.join(words.get('alt', title).split())}", ":class: dark-light"]
            lines += ["```", "", caption.strip(), ""]
    yield "gallery.md", "\n".join(lines)
