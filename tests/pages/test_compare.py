"""The page about several runs: models side by side, and what changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from nbbias.pages import changes, compare
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages.build import HOSTILE, WARM, allowed, claims, finished, hashed, run, scores, soup


def written(target: Path, *folders: Path) -> BeautifulSoup:
    path = compare.write(folders, target / "compare.html")
    page = soup(path)
    assert allowed(path) == [hashed(script.string) for script in page.find_all("script")]
    return page


def cells(table: BeautifulSoup) -> list[list[str]]:
    rows = table.select("tbody tr")
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in rows]


def test_equal_runs_are_said_to_be_equal(tmp_path: Path) -> None:
    folders = [run(tmp_path / name, {"m": scores(1)}) for name in "ab"]
    page = written(tmp_path, *folders)
    text = " ".join(page.get_text(" ").split())
    assert "What changed from llmbi/a to llmbi/b Nothing changed: all 2 estimates" in text
    assert "on up to 40 prompts." in text
    assert "Parameters, data, versions and commit are the same." in text


def test_the_significant_change_is_said_first_and_leads_the_table(tmp_path: Path) -> None:
    one = {"a": scores(1), "b": scores(3), "c": scores(5)}
    other = {"a": scores(2, mean=0.9), "b": scores(4), "c": scores(5)}
    folders = [run(tmp_path / "old", one), run(tmp_path / "new", other)]
    page = written(tmp_path, *folders)
    first, second, third = (p.get_text() for p in page.select("h2 ~ p")[:3])
    assert first.startswith("1 of 2 changes is significant: LLM Bias Index (a), from")
    assert second.startswith("3 of 6 estimates that both runs have changed. Tests are paired")
    assert third.startswith("1 changed without a test (no mean over single prompts")
    table = page.select_one(".nbbias-table")
    assert table is not None
    head = [cell.get_text() for cell in table.select("thead th")]
    assert head == ["what", "of", "llmbi/old", "llmbi/new", "difference", "p (Holm)", "N"]
    rows = cells(table)
    assert [row[1] for row in rows] == ["a", "b"]  # c did not change, and the rest has no test
    assert rows[0][5:] == ["<\N{NO-BREAK SPACE}.001", "40"]
    assert "The other 1 that changed" in page.get_text()
    change = changes.compare(*map(changes.read, folders)).set_index(["statistic", "model"])
    expected = change.loc[("index", "a"), ["first", "second", "estimate"]]
    assert [float(cell.split(" ")[0]) for cell in rows[0][2:5]] == pytest.approx(
        expected.to_list(), abs=0.006
    )


def test_of_many_changes_a_dozen_stand_in_the_table(tmp_path: Path) -> None:
    models = {f"m{i:02}": scores(i) for i in range(14)}
    again = {f"m{i:02}": scores(i + 1, mean=0.5 + i / 100) for i in range(14)}
    folders = [run(tmp_path / "old", models), run(tmp_path / "new", again)]
    page = written(tmp_path, *folders)
    assert len(cells(page.select_one(".nbbias-table"))) == 12
    changed = changes.compare(*map(changes.read, folders))["changed"].sum()
    assert f"The other {changed - 12} that changed" in page.get_text()


def test_models_of_all_runs_stand_side_by_side(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / "one", {"b": scores(1), "a": scores(2)}),
        run(tmp_path / "two", {"a": scores(3, mean=0.7)}),
        run(tmp_path / "three", {"a": scores(4)}),
    ]
    page = written(tmp_path, *folders)
    assert [h.get_text() for h in page.find_all("h2")][:2] == [
        "What changed from llmbi/one to llmbi/two",
        "What changed from llmbi/one to llmbi/three",
    ]
    side = page.select("h3 ~ details .nbbias-table")[0]
    keys = [row[:2] for row in cells(side)]
    assert sorted(keys) == [["a", "one"], ["a", "three"], ["a", "two"], ["b", "one"]]
    estimates = changes.read(folders[1]).estimates
    index = estimates.loc[estimates["statistic"] == "index", "estimate"].iloc[0]
    (row,) = [row for row in cells(side) if row[1] == "two"]
    assert row[2].startswith(f"{index:.3f} [")


def test_runs_of_two_studies_are_not_compared_with_each_other(tmp_path: Path) -> None:
    folders = [finished(tmp_path, "a", claims(WARM)), run(tmp_path / "b", {"m": scores(1)})]
    cogs = run(tmp_path / "c", {"m": scores(1)}, study="cogs")
    page = written(tmp_path, folders[0], cogs)
    assert "What changed" not in page.get_text()
    page = written(tmp_path, *folders)
    assert "The runs have no estimate in common." in page.get_text()


def test_hostile_names_are_text(tmp_path: Path) -> None:
    one, other = (
        {HOSTILE: scores(1), "b": scores(3)},
        {HOSTILE: scores(2, mean=0.9), "b": scores(4)},
    )
    folders = [
        run(tmp_path / name, values, parameters={"a": HOSTILE + name, "claims": []})
        for name, values in (("<b>x", one), ("y", other))
    ]
    page = written(tmp_path, *folders)
    for figure in page.find_all("figure"):  # an image of ours
        assert figure.img["src"].startswith("data:image/svg")
        figure.decompose()
    assert page.main.find(["script", "img", "b"]) is None
    assert HOSTILE in page.main.get_text()


def test_the_command_wants_two_finished_runs(tmp_path: Path, command: Command) -> None:
    folders = [run(tmp_path / name, {"m": scores(i)}) for i, name in enumerate("ab")]
    target = tmp_path / "c.html"
    assert command("compare", *folders, "--out", target).stdout.strip() == str(target)
    done = command("compare", *folders, "--out", target)
    assert done.returncode == 2 and "--force" in done.stderr
    with pytest.raises(NbbiasError, match="two runs or more"):
        compare.write(folders[:1], target)
    with pytest.raises(NbbiasError, match="no finished run"):
        compare.write([folders[0], tmp_path], target)
