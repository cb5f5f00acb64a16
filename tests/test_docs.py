"""The documentation's sources: every link leads somewhere, every study has its page.

The site that is built from them is tested in `tests/browser/test_site.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from nbbias.studies import STUDIES
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


def test_every_study_has_a_page_of_its_measures() -> None:
    for stem in STUDIES:
        text = (ROOT / f"docs/measures/{stem}.md").read_text(encoding="utf-8")
        assert f"_made/include/measures-{stem}.md" in text
