"""Notebook sources: stripped, in step with the models, short, and whole when run on real data."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from IPython.display import Markdown
from typer.testing import CliRunner

import dev
from nbbias import cli, notebook, reading, studies as registry, tables
from nbbias.params import Texts
from nbbias.running import generation
from nbbias.studies import STUDIES
from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_every_study_has_its_notebook_and_sample() -> None:
    ours = set(STUDIES) - set(STUDIES.packages)
    assert {path.stem for path in NOTEBOOKS} == ours
    assert {path.parent.name for path in registry.samples()} >= ours


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_source_is_as_the_model_writes_it(path: Path) -> None:
    source = dev.build_source(path, path.stem)
    assert path.read_text(encoding="utf-8") == source, "run `make notebooks`"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_are_short_and_define_nothing(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", []):
            assert len(cell.source.splitlines()) <= 12, cell.source
            assert "def " not in cell.source
            assert "plt." not in cell.source


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*/*.yaml")), ids=lambda p: p.stem)
def test_shipped_params_are_valid(path: Path) -> None:
    # Where the data are not, any file stands for one of them.
    stem, values = registry.read(path)
    assert stem == path.parent.name
    away = any(str(value).startswith("${") for value in values.values())
    own = {k: str(ROOT / "README.md") if str(v).startswith("${") else v for k, v in values.items()}
    if away:  # a block that writes one of those files is checked where it is laid out
        own.pop("generate", None)
    with tables.starting_at(path.parent):
        generation.check(stem, own, where=str(path))


def undefined(cells: list[nbformat.NotebookNode]) -> str:
    """Return the names that a notebook's cells use before any of them has set them."""
    source = "\n".join(["from IPython.display import display", *(cell.source for cell in cells)])
    line = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select=F821", "-"]
    return subprocess.run(line, input=source, capture_output=True, text=True).stdout


FILE = str(ROOT / "README.md")  # any file
COGS = {"answers_path": FILE, "judgements_path": FILE, "ratings_path": FILE}


@pytest.mark.parametrize(
    ("stem", "values"),
    [
        ("cogs", {"parts": ["rbs"], **COGS}),
        ("cogs", {"parts": ["abs", "people"], **COGS}),
        ("news_bias", {"levels": ["word"]}),
        ("biasalert", {"answers_path": "none"}),
        ("biasalert", {"answers_path": FILE, "pairs_path": FILE}),
    ],
)
def test_every_choice_of_parts_leaves_a_whole_notebook(stem: str, values: dict[str, Any]) -> None:
    left_out = set(STUDIES[stem].parameters(**values).left_out())
    cells = nbformat.read(ROOT / f"notebooks/{stem}.ipynb", as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert not undefined([c for c in code if not set(c.metadata.get("tags", [])) & left_out])
    assert "Undefined name" in undefined(code[2:])


#: Tags of cells that are in every run.
ALWAYS = {"parameters", "appendix", "claims", "method"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_cell_asks_for_the_parts_of_its_tags_whoever_executes_it(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        asked = [f'"{tag}"' for tag in cell.metadata.get("tags", []) if tag not in ALWAYS]
        if cell.cell_type != "code" or not asked:
            assert "nb.runs" not in cell.source
            continue
        (whole,) = ast.parse(cell.source).body
        assert isinstance(whole, ast.If)
        assert cell.source.startswith(f"if nb.runs({', '.join(asked)}):\n    ")
        assert not whole.orelse
        # Under an `if` nothing is shown by standing in the last line.
        shows = r"nb\.|display\(|\w+\.append\(|news\.explore\.\w+\.(choose|edit)\("
        for line in (line for line in whole.body if isinstance(line, ast.Expr)):
            assert re.match(shows, ast.unparse(line))


def test_what_is_left_out_is_told_with_the_parameter_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[Markdown] = []
    monkeypatch.setattr(notebook, "display", shown.append)
    opened = notebook.open("biasalert", {})
    assert opened.runs("part:answers", "sample")
    assert shown == []
    assert not opened.runs("part:answers", "part:pairs")
    (line,) = shown
    assert line.data == "*Not part of this run: the parameter* `pairs_path` *leaves it out.*"


def test_a_lead_without_claims_says_once_that_it_is_exploratory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(notebook, "display", lambda *_, **__: None)
    monkeypatch.setattr(notebook.tables, "figure_html", lambda *_, **__: "")
    monkeypatch.setattr(
        notebook.tables, "save_finding", lambda content, **_: said.append(content["sentence"])
    )
    exploratory = "This is exploratory: no test was pre-specified"
    for claims, times in (([], 1), (notebook.open("llmbi", {}).parameters.claims, 0)):
        opened = notebook.open("llmbi", {"claims": claims})
        texts = Texts("own", "a.csv")
        lead = reading.Lead(("It is so.",), "", "indices", pd.DataFrame(), {}, texts)
        opened.lead(lead)
        opened.lead(lead._replace(plain=(*lead.plain, reading.claims.ALL_EXPLORATORY)))
        assert [text.count(exploratory) for text in said[-2:]] == [times, 1]


@pytest.mark.parametrize("stem", STUDIES)
def test_what_leaves_a_part_out_is_a_parameter(stem: str) -> None:
    model = STUDIES[stem].parameters
    assert set(model().left_out().values()) <= set(model.model_fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "reason"), [(1, "one value has no spread"), (3, "smallest possible")]
)
def test_a_page_of_few_articles_says_that_they_are_too_few(
    n: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("originals", "generations"):
        table = pd.read_csv(ROOT / f"docs/tutorial/{name}.csv").sort_values("article_id")
        few = table[table["article_id"].isin(table["article_id"].unique()[:n])]
        few.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    files = ["originals.csv", "generations.csv"]
    done = CliRunner().invoke(cli.app, ["run", "news_bias", *files, "--name", "few"])
    assert done.exit_code == 0, done.stderr
    said = tables.files.read_finding(tmp_path / "runs/news_bias/few")["plain"][0]
    assert said.startswith(f"Too few articles ({n}) to test") and reason in said
