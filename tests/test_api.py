"""What a user finds by `nbbias.<tab>`: every name of every face, told and shown by example.

A function on a face has an example in its docstring; a room on a face has one in its own docstring
or in that of one of its functions. All of them are run.
"""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import nbbias

FACES = [name for name in dir(nbbias) if hasattr(getattr(nbbias, name), "__path__")]
SOURCE = Path(nbbias.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def shown() -> Iterator[tuple[str, object]]:
    """Yield what the faces show, by its path; the faces within a face, too."""
    yield from (("notebook", nbbias.notebook), ("studies", nbbias.studies))
    todo = [(name, getattr(nbbias, name)) for name in FACES]
    while todo:
        path, face = todo.pop(0)
        for name in dir(face):
            found = getattr(face, name)
            if isinstance(found, ModuleType) and hasattr(found, "__path__"):
                todo.append((f"{path}.{name}", found))
            else:
                yield f"{path}.{name}", found


NAMES = dict(shown())
ROOMS = {path: one for path, one in NAMES.items() if isinstance(one, ModuleType)}
SAID = {path: one for path, one in NAMES.items() if inspect.isfunction(one)}


def examples(module: ModuleType) -> list[doctest.DocTest]:
    return [one for one in doctest.DocTestFinder().find(module) if one.examples]


def test_the_faces_are_found_by_tab() -> None:
    assert {"biasalert", "biased_prompts", "cogs", "llmbi", "news", "refusals"} <= set(dir(nbbias))
    assert all(inspect.getdoc(getattr(nbbias, name)) for name in dir(nbbias))


@pytest.mark.parametrize("path", SAID)
def test_a_function_is_shown_by_example(path: str) -> None:
    assert ">>>" in (inspect.getdoc(SAID[path]) or ""), f"no example in nbbias.{path}"


@pytest.mark.parametrize("path", ROOMS)
def test_a_room_is_shown_by_example(path: str) -> None:
    assert examples(ROOMS[path]), f"no example in nbbias.{path}"


#: Modules with examples, on a face or not.
HOMES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
}


#: Modules whose examples measure a study, or score many texts.
SLOW = {"substitution", "masked", "measured", "printed", "worlds"}
SLOW |= {"detector", "guard", "levels", "refusing"}
SLOW |= {"nbbias.biased_prompts.compare", "nbbias.news.topics"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if {name, name.split(".")[-1]} & SLOW else ())
        for name in sorted(HOMES)
    ],
)
def test_examples_run(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for one in examples(importlib.import_module(name)):
        runner.run(one)
    assert not runner.summarize(verbose=False).failed, f"examples of {name} do not run"
