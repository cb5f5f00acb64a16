"""The documentation's sources: every link leads somewhere, every study has its page.

The site that is built from them is tested in `tests/browser/test_site.py`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest
from typer.main import get_command

import results
from nbbias import cli, tables
from tests.conftest import ROOT

WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_made" not in path.parts),
]
_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^(\s*)```.*?^\1```", re.M | re.S)


def leading(path: Path) -> Iterator[str]:
    """Yield the places in the repository that a page of Markdown leads to."""
    for target in _LINK.findall(_FENCED.sub("", path.read_text(encoding="utf-8"))):
        if not urlsplit(target).scheme and not target.startswith("#"):
            yield unquote(target.split("#")[0])


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_files(path: Path) -> None:
    lost = [to for to in leading(path) if "_made/" not in to and not (path.parent / to).exists()]
    assert not lost


def test_results_are_figures_with_their_tables_and_no_texts_of_a_corpus() -> None:
    folder = ROOT / "docs/results"
    assert all(path.with_suffix(".csv").is_file() for path in folder.rglob("*.svg"))
    for path in folder.rglob("*.csv"):
        assert not results.texts_in(pd.read_csv(path)), path


def test_every_column_of_estimates_is_explained() -> None:
    text = (ROOT / "docs/howto/reading.md").read_text(encoding="utf-8")
    assert set(tables.ESTIMATE_VALUES) <= set(re.findall(r"`(\w+)`", text))


def test_the_readme_leads_with_what_the_first_page_of_results_found() -> None:
    page = (ROOT / f"docs/results/{next(iter(results.PAGES))}.md").read_text(encoding="utf-8")
    told = (ROOT / "README.md").read_text(encoding="utf-8")
    found = told.partition(results.BEGINS)[2].partition(results.ENDS)[0]
    sentences = page.partition("\n\n![")[0].split("\n\n")[1:]
    assert sentences and all(sentence in found for sentence in sentences)


def shown() -> Iterator[tuple[str, list[str]]]:
    """Yield each command that a page shows, with its options."""
    for path in WRITTEN:
        for line in re.findall(r"^\s*\$ (?:.* \| )?nbbias (.*)", path.read_text("utf-8"), re.M):
            words = line.split("#")[0].split()
            if words:
                yield words[0], [one.split("=")[0] for one in words if one.startswith("-")]


def test_every_command_that_is_shown_is_one() -> None:
    commands = get_command(cli.app).commands  # type: ignore[attr-defined]
    unknown = set()
    for verb, options in shown():
        known = [name for one in getattr(commands.get(verb), "params", []) for name in one.opts]
        if verb not in commands:
            unknown.add(verb)
        elif verb not in {"lab", "data"}:  # which pass theirs on
            unknown |= {f"{verb} {one}" for one in options if one not in {*known, "-"}}
    assert not unknown


def test_no_host_of_a_package_index_is_named() -> None:
    """Packages are named, and installed from where their user installs them."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    hosts = re.compile(
        rb"(?i)\bpypi\.org|pythonhosted\.org|anaconda\.org|index-url|download\.pytorch"
    )
    this = Path(__file__).relative_to(ROOT).as_posix()
    named = [
        name
        for name in done.stdout.splitlines()
        if name != this and (ROOT / name).is_file() and hosts.search((ROOT / name).read_bytes())
    ]
    assert named == []
