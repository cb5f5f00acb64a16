"""What is shipped: dependencies in step, every data file with its source, a wheel that works."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from nbbias import datasets, run
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DATA = ROOT / "src/nbbias/data"


def test_environment_yml_holds_the_set_of_pyproject() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (through_pip,) = [d["pip"] for d in environment["dependencies"] if isinstance(d, dict)]
    extras = PROJECT["optional-dependencies"]
    declared = set(PROJECT["dependencies"])
    declared |= {r for name, rs in extras.items() if name != "all" for r in rs}
    assert {r for r in through_pip if not r.startswith("--")} == declared
    assert f"python {PROJECT['requires-python']}" in environment["dependencies"]


def test_extra_all_names_every_other_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.findall(r"\[(.*)\]", everything)[0].split(","))
    assert named == set(extras) - {"all"}


def test_constraints_pin_every_declared_package() -> None:
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    declared = PROJECT["dependencies"] + [
        r for name, rs in PROJECT["optional-dependencies"].items() if name != "all" for r in rs
    ]
    names = {re.split(r"[<>=\[ ]", r)[0].lower().replace("_", "-") for r in declared}
    assert names - pinned == set()
    assert "torch" in pinned


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
        p.relative_to(DATA).as_posix()
        for p in DATA.rglob("*")
        if p.is_file()
        and p.suffix in {".csv", ".json", ".jsonl", ".yaml", ".txt", ".j2", ".css", ".js"}
    }
    assert listed == shipped
    assert all(source.strip() and licence.strip() for _, _, _, source, licence in rows)


def test_every_make_verb_is_a_verb_of_the_command_line() -> None:
    targets = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    told = subprocess.run(
        [sys.executable, "-m", "nbbias", "--help"], capture_output=True, text=True, check=True
    ).stdout
    verbs = set(re.findall(r"^│ ([a-z]+) ", told, re.M))
    assert {"studies", "test", "setup"} <= targets
    assert targets - {"help"} <= verbs  # `make help` is `nbbias --help`


def test_figures_of_the_sample_have_csv_twins() -> None:
    figures = list((ROOT / "figures").rglob("*.svg"))
    assert figures
    for figure in figures:
        assert figure.with_suffix(".csv").is_file()
        assert figure.with_suffix(".png").is_file()


@pytest.mark.slow
def test_the_wheel_works_where_only_it_is_installed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    for name in (
        "nbbias/py.typed",
        "nbbias/data/SOURCES.md",
        "nbbias/data/published/oketunji2023.csv",
        "nbbias/notebooks/llmbi.ipynb",
        "nbbias/params/llmbi/sample.yaml",
    ):
        assert name in inside
    # Unpacked before the checkout on the path, away from it: only the wheel's files are found.
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = "import nbbias, sys; sys.argv = ['nbbias', 'list']; print(nbbias.__file__); "
    done = subprocess.run(
        [sys.executable, "-c", code + "from nbbias.cli import main; main()"],
        cwd=tmp_path, env={"PYTHONPATH": str(site), "PATH": ""}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(site) in done.stdout
    assert "sample.yaml" in done.stdout


def test_home_is_the_checkout() -> None:
    assert run.home() == ROOT


def test_catalogue_lists_each_dataset_once() -> None:
    table = datasets.catalogue()
    assert table["name"].is_unique
    assert table["licence"].notna().all()
