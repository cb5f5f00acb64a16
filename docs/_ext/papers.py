"""The page of the papers: each thing that they say, where it is here, and how faithfully."""

from __future__ import annotations

import csv
import importlib
import pkgutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from nbbias import studies
from nbbias.asking.params import Generate

ROOT = Path(__file__).parents[2]

#: Verdicts, and what they mean.
VERDICTS = {
    "faithful": "as in the paper",
    "deviates": "otherwise, for the reason in the remark or on the page named",
    "partly": "some of it",
    "missing": "not here; the remark says why",
}


def rows() -> list[dict[str, str]]:
    """Return the rows: `paper`, `place`, `says`, `verdict`, `where` (names), `remark`."""
    text = (ROOT / "docs/papers.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def is_there(name: str) -> bool:
    """Tell whether a name of `where` is a file, something to import, or a parameter of a study.

    Data files start at ``src/nbbias``, all others at the root; ``generate`` has parameters, too,
    and ``results`` stands for what `measure` returns.
    """
    if "/" in name:
        return (ROOT / "src/nbbias" / name).exists() or (ROOT / name).is_file()
    first, *path = name.split(".")
    if first == "nbbias":
        thing: object = importlib.import_module(first)
        for depth, part in enumerate(path, start=1):
            if not hasattr(thing, part):
                try:
                    thing = importlib.import_module(".".join([first, *path[:depth]]))
                except ImportError:
                    return False
            else:
                thing = getattr(thing, part)
        return True
    if first == "results":
        return any(path[0] in fields for fields in _results())
    models = {stem: study.parameters for stem, study in studies.STUDIES.items()}
    model = {**models, "generate": Generate}.get(first)
    return model is not None and path[0] in model.model_fields


def link(name: str, documented: Mapping[int, str], faces: Collection[str]) -> str:
    """Return a name of `where` as Markdown: with a link where the site has a page for it.

    `documented` has the path under which the API documents an object, by the object's id; `faces`
    are the modules with a page, to which a name leads that has none of its own.
    """
    first, _, _ = name.partition(".")
    if name.startswith("docs/"):
        return f"[`{name}`]({name.removeprefix('docs/')})"
    if "/" not in name and first in {*studies.STUDIES, "generate"}:
        return f"[`{name}`](_made/parameters/{first}.md)"
    if first == "results":
        return f"[`{name}`](reference/tables.md)"
    if first != "nbbias" or "/" in name:
        return f"`{name}`"
    if path := documented.get(id(pkgutil.resolve_name(name))):
        return f"{{py:obj}}`{name} <{path}>`"
    face = name.split(".")[1]
    return f"[`{name}`](_made/api/{face}.md)" if face in faces else f"`{name}`"


def _results() -> Iterator[tuple[str, ...]]:
    for stem in studies.STUDIES:
        package = "news" if stem == "news_bias" else stem
        yield importlib.import_module(f"nbbias.{package}.measured").Results._fields


def lines(documented: Mapping[int, str], faces: Collection[str]) -> Iterator[str]:
    """Yield the page: the count of verdicts, then a table for each paper, in Markdown."""
    table = rows()
    counts = Counter(row["verdict"] for row in table)
    yield from (f"| verdict | rows (of {len(table)}) | means |", "| --- | ---: | --- |")
    yield from (f"| {name} | {counts[name]} | {what} |" for name, what in VERDICTS.items())
    yield ""
    for paper in dict.fromkeys(row["paper"] for row in table):
        yield from (f"## {paper}", "", "| place | the paper says | verdict | here |")
        yield "| --- | --- | --- | --- |"
        for row in table:
            if row["paper"] == paper:
                names = ", ".join(link(name, documented, faces) for name in row["where"].split())
                here = ". ".join(filter(None, [names, row["remark"]]))
                cells = (row["place"], row["says"], f"**{row['verdict']}**", here)
                yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
        yield ""
