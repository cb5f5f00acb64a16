"""The page about two runs: what it says first, and what stands in its figure and table."""

from __future__ import annotations

from pathlib import Path

from bs4 import BeautifulSoup

from nbbias.pages import changes, compare
from tests.pages.two_runs import run, scores


def test_equal_runs_are_said_to_be_equal(tmp_path: Path) -> None:
    values = {"m": scores(1)}
    folders = [run(tmp_path / name, values) for name in "ab"]
    shown = compare.shown(*folders, name="a--b", out=tmp_path)
    told = "Nothing changed: all 2 numbers that both runs measured are the same, on up to 40"
    assert shown["sentences"] == [f"{told} prompts."]
    assert not shown["figure"] and not shown["table"]


def test_what_moved_most_surely_is_said_first(tmp_path: Path) -> None:
    one = {"a": scores(1), "b": scores(3), "c": scores(5)}
    other = {"a": scores(2, mean=0.9), "b": scores(4), "c": scores(5)}
    folders = [run(tmp_path / "old", one), run(tmp_path / "new", other)]
    shown = compare.shown(*folders, name="old--new", out=tmp_path)
    first, second, third = shown["sentences"]
    assert first.startswith("1 of 2 changes is more than chance explains: LLM Bias Index (a), from")
    assert second.startswith("3 of 6 numbers that both runs measured changed. Tests are paired")
    assert third.startswith("1 changed without a test (no mean over single prompts")
    table = BeautifulSoup(shown["table"], "html.parser")
    head = [cell.get_text() for cell in table.find_all("th")]
    assert head == ["what", "of", "old (before)", "new (after)", "difference", "p (Holm)", "N"]
    rows = [[cell.get_text() for cell in row("td")] for row in table.select("tbody tr")]
    assert [row[1] for row in rows] == ["a", "b"]  # c did not move, and the rest has no test
    assert rows[0][5] == "< .001" and rows[0][6] == "40"
    assert "The other 1 that moved" in shown["rest"]
    assert "<figcaption>" in shown["figure"]


def test_of_many_changes_a_dozen_stand_in_the_table(tmp_path: Path) -> None:
    models = {f"m{i:02}": scores(i) for i in range(14)}
    again = {f"m{i:02}": scores(i + 1, mean=0.5 + i / 100) for i in range(14)}
    folders = [run(tmp_path / "old", models), run(tmp_path / "new", again)]
    shown = compare.shown(*folders, name="x", out=tmp_path)
    assert shown["table"].count("<tr>") == 13
    moved = changes.changes(*map(changes.read, folders))["moved"].sum()
    assert f"The other {moved - 12} that moved" in shown["rest"]


def test_names_are_escaped(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    one, other = {name: scores(1), "b": scores(3)}, {name: scores(2, mean=0.9), "b": scores(4)}
    folders = [run(tmp_path / "old", one), run(tmp_path / "new", other)]
    shown = compare.shown(*folders, name="x", out=tmp_path)
    assert "<img src=x" not in shown["figure"]
    for part in (shown["table"], shown["rest"]):
        assert "<img" not in part and "&lt;img" in part
