"""The page about several runs of a study: models side by side, and what changed."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from nbbias.pages import changes, compare
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages import build


def written(target: Path, *folders: Path) -> BeautifulSoup:
    path = compare.write(folders, target / "compare.html")
    assert build.runs_its_own_scripts_alone(path)
    return build.soup(path)


def cells(table: BeautifulSoup) -> list[list[str]]:
    return [[cell.get_text() for cell in row.select("th, td")] for row in table.select("tr")]


def test_equal_runs_and_runs_with_nothing_in_common_are_called_so(tmp_path: Path) -> None:
    folders = [build.run(tmp_path / name, {"m": build.scores(1)}) for name in "ab"]
    text = " ".join(written(tmp_path, *folders).get_text(" ").split())
    assert "What changed from a to b Nothing changed: all 2 estimates" in text
    assert "Parameters, data, versions and commit are the same." in text
    assert "m, a " in text and "m, b " in text
    page = written(tmp_path, build.finished(tmp_path, "c", build.claims(build.WARM)), folders[0])
    assert "The runs have no estimate in common." in page.get_text()


def test_the_significant_change_is_said_first_and_leads_the_table(tmp_path: Path) -> None:
    one = {"a": build.scores(1), "b": build.scores(3), "c": build.scores(5)}
    other = {"a": build.scores(2), "b": build.scores(4, mean=0.9), "c": build.scores(5)}
    folders = [build.run(tmp_path / "old", one), build.run(tmp_path / "new", other)]
    page = written(tmp_path, *folders)
    first, second = (p.get_text() for p in page.select("h2 ~ p")[:2])
    assert first.startswith(
        "1 of 2 tested changes is significant; the smallest p: LLM Bias Index (b)"
    )
    assert second.startswith("3 of 6 estimates that both runs have changed.")
    head, *rows = cells(page.select_one(".nbbias-table"))
    assert head == ["what", "old", "new", "difference", "p (Holm)", "N"]
    assert [row[0] for row in rows[:2]] == ["LLM Bias Index (b)", "LLM Bias Index (a)"]
    assert rows[0][4:] == ["<\N{NO-BREAK SPACE}.001", "40"]
    assert rows[2][4:] == ["not tested", ""]
    change = changes.compare(*map(changes.read, folders)).set_index(["statistic", "model"])
    row = change.loc[("index", "b")]
    values = [f"{row[name]:.2f}" for name in ("first", "second", "estimate", "ci_low", "ci_high")]
    assert rows[0][1:4] == [*values[:2], f"{values[2]} [{values[3]}, {values[4]}]"]


def test_models_of_all_runs_stand_side_by_side(tmp_path: Path) -> None:
    folders = [
        build.run(tmp_path / "one", {"b": build.scores(1), "a": build.scores(2)}),
        build.run(tmp_path / "two", {"a": build.scores(3, mean=0.7)}),
        build.run(tmp_path / "three", {"a": build.scores(4)}),
    ]
    page = written(tmp_path, *folders)
    headings = ["What changed from one to two", "What changed from one to three"]
    assert [h.get_text() for h in page.find_all("h2")][:2] == headings
    _, *rows = cells(page.select_one("h3 ~ details .nbbias-table"))
    assert [row[0] for row in rows] == ["a, one", "a, two", "a, three", "b, one"]
    estimates = changes.read(folders[1]).estimates
    index = estimates.loc[estimates["statistic"] == "index", "estimate"].iloc[0]
    assert rows[1][1].startswith(f"{index:.3f} [")
    assert page.select_one("h3 + figure img")["alt"].startswith("LLM Bias Index: a dot")


def test_hostile_names_are_text(tmp_path: Path) -> None:
    one = {build.HOSTILE: build.scores(1), "b": build.scores(3)}
    other = {build.HOSTILE: build.scores(2, mean=0.9), "b": build.scores(4)}
    folders = [
        build.run(tmp_path / name, values, parameters={"a": build.HOSTILE + name, "claims": []})
        for name, values in (("<b>x", one), ("y", other))
    ]
    page = written(tmp_path, *folders)
    for figure in page.find_all("figure"):  # an image of ours
        assert figure.img["src"].startswith("data:image/svg")
        figure.decompose()
    assert page.main.find(["script", "img", "b"]) is None
    assert build.HOSTILE in page.main.get_text()


def test_the_command_wants_two_finished_runs_of_one_study(tmp_path: Path, command: Command) -> None:
    folders = [build.run(tmp_path / name, {"m": build.scores(i)}) for i, name in enumerate("ab")]
    cogs = build.run(tmp_path / "c", {"m": build.scores(1)}, study="cogs")
    target = tmp_path / "c.html"
    assert command("compare", *folders, "--out", target).stdout.strip() == str(target)
    done = command("compare", *folders, "--out", target)
    assert done.returncode == 2 and "--force" in done.stderr
    for wrong, message in (
        (folders[:1] * 2, "two runs or more"),
        ([folders[0], tmp_path], "no finished run"),
        ([folders[0], cogs], "runs of one study are compared"),
    ):
        with pytest.raises(NbbiasError, match=message):
            compare.write(wrong, target)
