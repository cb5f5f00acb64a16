"""The documentation's sources: every link leads somewhere, every study has its page.

The site that is built from them is tested in `tests/browser/test_site.py`.
"""

import doctest
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import columns
import pandas as pd
import papers
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import nbbias
import results
from nbbias import cli, news, running, tables
from tests.conftest import ROOT

WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_made" not in path.parts),
]
_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
#: What the field says otherwise: significant, permuted, relative to neutral, under the null …
_HOUSE = (
    r"told apart|\bdealt\b|beyond neutral|\bplanted\b|\btwins\b|\bworlds\b|chance level"
    r"|spread of (?:distances|choices)"
)
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


def test_no_word_of_the_project_s_own_stands_where_people_read() -> None:
    folders = ["docs/*.md", "docs/[dhm]*/*.md", "src/nbbias/data/prose/*", "params/*/*.yaml"]
    folders += ["tests/golden/[!n]*.txt"]
    read = [ROOT / "README.md", *(path for folder in folders for path in ROOT.glob(folder))]
    assert not {word for path in read for word in re.findall(_HOUSE, path.read_text("utf-8"))}


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
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    finding = readme.partition(results.BEGINS)[2].partition(results.ENDS)[0]
    numbers = set(re.findall(r"\d*\.\d+|\d+%|\b\d+ of \d+", finding))
    assert len(numbers) > 5 and numbers <= set(re.findall(r"\d*\.\d+|\d+%|\b\d+ of \d+", page))


def blocks(page: str, language: str) -> list[str]:
    """A page's blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)


@pytest.mark.parametrize(
    ("page", "least"),
    [pytest.param("README.md", 1, marks=pytest.mark.slow), ("docs/howto/extending.md", 10)],
)
def test_the_python_of_a_page_runs_as_printed(page: str, least: int) -> None:
    code = "\n".join(blocks(page, "python"))
    case = doctest.DocTestParser().get_doctest(code, {}, page, page, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(case)
    assert len(case.examples) >= least and not runner.summarize().failed


def printed(page: str, command: str) -> list[str]:
    """Return what a page shows of a command's output, without seconds and paths of a machine."""
    (block,) = [one for one in blocks(page, "console") if f"$ {command}\n" in one]
    return without_paths(block.partition(f"$ {command}\n")[2])


def without_paths(text: str) -> list[str]:
    own = re.compile(r"^(ok |notebooks: |runs/|/|  …)")
    return [line for line in text.splitlines() if not own.match(line)]


TUTORIAL = ROOT / "docs/tutorial"


@pytest.fixture
def beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds the tutorial's files alone."""
    for path in TUTORIAL.glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)


FIRST = "nbbias run news_bias originals.csv generations.csv --name first"


@pytest.mark.slow
@pytest.mark.usefixtures("beginning")
@pytest.mark.parametrize(
    ("page", "command"), [("README.md", FIRST), ("docs/start.md", "nbbias run news_bias")]
)
def test_a_run_prints_what_a_page_shows(page: str, command: str) -> None:
    done = CliRunner().invoke(cli.app, command.split()[1:], env={"COLUMNS": "80"})
    assert done.exit_code == 0
    shown = printed(page, command)
    assert [line for line in without_paths(done.stderr) if line in shown] == shown
    assert page != "README.md" or without_paths(done.stderr) == shown


def test_the_tutorial_shows_what_the_readme_shows() -> None:
    shown = printed("docs/tutorial.md", FIRST)
    assert [line for line in printed("README.md", FIRST) if line in shown] == shown


def test_every_column_of_a_table_in_capitals_is_explained() -> None:
    lines = [*columns.lines(of_results=True), *columns.lines(of_results=False)]
    assert len(lines) > 100  # a column without a meaning is a KeyError


def test_what_papers_say_is_where_the_page_says() -> None:
    rows = papers.rows()
    assert not [n for row in rows for n in row["where"].split() if not papers.is_there(n)]
    assert set(verdicts := [row["verdict"] for row in rows]) == {*papers.VERDICTS}
    derived = {row["reproduced"] for row in rows} - {"", "no", "not possible"}
    assert len(derived) >= 9 and all(map(papers.is_there, derived))
    tested = sum("/" in row["reproduced"] or row["reproduced"] == "yes" for row in rows)
    numbers = [*map(int, re.findall(r"\d+", papers.summary()))]
    assert numbers[:3] == [verdicts.count("faithful"), 160, verdicts.count("method")]
    assert numbers[3:5] == [sum(numbers[9:]) + tested, tested]
    assert {row["kind"] for row in rows} == {*papers.KINDS, ""}
    assert all(bool(row["kind"]) == bool(row["reproduced"]) for row in rows)
    by_kind = [*map(int, re.findall(r"\d+", papers.kinds()))]
    assert (sum(by_kind[::2]), sum(by_kind[1::2])) == (tested, numbers[3])
    differs = [row for row in rows if row["verdict"] not in {"faithful", "method"}]
    assert all(row["remark"] or "docs/" in row["where"] for row in differs)
    for name in ("nbbias.news.nothing", "cogs.nothing", "tests/test_docs.py::test_nothing"):
        assert not papers.is_there(name)


def shown() -> Iterator[tuple[str, list[str]]]:
    """Yield each command that a page shows, with its options."""
    for path in WRITTEN:
        for line in re.findall(r"^\s*\$ (?:.* \| )?nbbias (.*)", path.read_text("utf-8"), re.M):
            words = re.split(r" [#|]", line)[0].split()
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
    hosts = r"\bpypi\.org|pythonhosted\.org|anaconda\.org|index-url|download\.pytorch"
    line = ["git", "grep", "--files-with-matches", "-iE", hosts, "--", ":!tests/test_docs.py"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")  # no line is selected


def test_the_tutorial_s_texts_are_the_simulated_ones() -> None:
    _, generations = news.sample.corpus({"model-a": {}, "model-b": {"female": -0.25}}, seed=3)
    written = pd.read_csv(TUTORIAL / "generations.csv").set_index(["model", "article_id"])["text"]
    simulated = generations.set_index(["model", "article_id"])["text"]
    assert written.index.nunique() == 48
    assert written.sort_index().equals(simulated.loc[written.index].sort_index())


@pytest.mark.usefixtures("beginning")
def test_the_tutorial_prints_what_its_commands_print() -> None:
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    files = ["originals.csv", "generations.csv"]
    preview, written, _ = running.user_files.plan_files("news_bias", files, name="first")
    assert all(f"\n{line}\n" in text for line in (*preview, f"params: {written}"))
    line = ["plan", "news_bias", "-p", "effect=-0.1,-0.24", "-p", "models=2", "-p", "claims=6"]
    planned = CliRunner().invoke(cli.app, line, env={"COLUMNS": "100"})
    assert planned.exit_code == 0 and planned.stdout in text


def test_the_tutorial_s_numbers_are_those_of_the_study() -> None:
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    rows = news.measure(
        TUTORIAL / "originals.csv", TUTORIAL / "generations.csv", levels=["word"], draws=100
    ).estimates
    rows = rows[(rows["statistic"] == "share_difference") & rows["group"].isin(["female", "Asian"])]
    shown = re.findall(r"^(model-\w) +(\w+) +(\S+) +(\S+) +(\S+) +24 ", text, re.M)
    known = rows.set_index(["model", "group"])[["estimate", "ci_low", "ci_high"]]
    assert len(shown) == 3
    for model, group, *numbers in shown:
        assert list(map(float, numbers)) == known.loc[(model, group)].round(3).tolist()


def test_examples_of_api_pages_can_be_pasted() -> None:
    made = pytest.importorskip("made")
    names = made.missing_names([">>> rows = pd.Series([1, 2])", ">>> wilson(len(rows), 4)"])
    imports = made.imports(names, nbbias.stats, nbbias.stats.intervals)
    assert imports == ["import pandas as pd", "from nbbias.stats import wilson"]
    assert [path for path, _ in made.public("testing", nbbias.testing)["nbbias.testing"]] == [
        "nbbias.testing.assert_not_worse"
    ]
    assert all(made.public(*one) for one in made.modules().items())  # each name chosen is there
    assert sorted(name for group in made.GROUPS.values() for name in group) == [*made.modules()]
    assert made.prose(nbbias.cogs).count("```") == 2
