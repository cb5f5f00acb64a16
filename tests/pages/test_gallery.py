"""The pages about runs: the list, models side by side, two runs compared, and what is published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import reading, tables
from nbbias.pages import compare, gallery, manifest
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError
from tests.pages.test_page import HOSTILE, allowed, hashed, soup

# --- the index of runs ------------------------------------------------------------------------


def leave(out: Path, name: str, *, study: str = "llmbi", **outcome: Any) -> Path:
    folder = out / study / name
    ended = {"status": "ok", "error": None, "started": "2024-05-01T10:00:00+00:00", "seconds": 2.4}
    manifest.write(folder, {"study": study, "run": name}, **ended | outcome)
    return folder


def index(out: Path) -> BeautifulSoup:
    return soup(gallery.write(out))


def test_no_run_is_an_index_that_says_so(tmp_path: Path) -> None:
    assert "No run yet." in index(tmp_path).get_text()


def heads(found: BeautifulSoup) -> list[str]:
    return [h.get_text() for h in found.select(".cards h2")]


def test_every_run_has_a_card_and_the_newest_stands_first(tmp_path: Path) -> None:
    for day, (study, name) in enumerate([("llmbi", "b"), ("cogs", "z"), ("llmbi", "a")], start=1):
        leave(tmp_path, name, study=study, started=f"2024-05-{day:02}T10:00:00+00:00")
    found = index(tmp_path)
    assert heads(found) == ["llmbi/a", "cogs/z", "llmbi/b"]
    assert found.select_one("#count").get_text() == "3 runs"  # type: ignore[union-attr]
    assert STUDIES["cogs"].question in found.get_text()
    assert "3 May 2024, 10:00 UTC" in found.get_text()


def test_a_run_shows_its_finding_its_page_and_its_figure(tmp_path: Path) -> None:
    folder = leave(tmp_path, "a")
    finding = f"The index of {reading.escape('gpt_4 *')} is **0.2**."
    tables.save_finding({"sentence": finding, "figure": "dimensions"}, out=folder)
    tables.write(folder / "figures" / "dimensions.png", b"")
    tables.write(folder / "index.html", "")
    found = index(tmp_path)
    assert "The index of gpt_4 * is 0.2." in found.get_text()
    assert found.img["src"] == "llmbi/a/figures/dimensions.png"
    assert found.h2.a["href"] == "llmbi/a/index.html"


def test_a_card_leads_with_plain_words_numbers_and_where_the_texts_are_from(tmp_path: Path) -> None:
    folder = leave(tmp_path, "a")
    number = {"name": "index of m", "value": "0.50", "interval": "95% CI 0.4 to 0.6", "N": "N = 18"}
    tables.save_finding(LEAD | {"numbers": [number]}, out=folder)
    for name in ("means.png", "means.svg"):
        tables.write(folder / "figures" / name, b"")
    tables.write(folder / "figures" / "means.json", '{"alt": "Dots."}')
    found = index(tmp_path)
    assert heads(found) == ["It is so."]
    assert found.select_one(".then").get_text() == "Against that."  # type: ignore[union-attr]
    assert found.select_one(".badge").get_text() == "Texts written by hand"  # type: ignore[union-attr]
    assert "By hand, in two registers." in found.get_text()
    assert (found.img["src"], found.img["alt"]) == ("llmbi/a/figures/means.svg", "Dots.")
    assert " ".join(found.dl.get_text(" ").split()) == "index of m 0.50 95% CI 0.4 to 0.6; N = 18"
    assert "llmbi · a · 1 May 2024" in found.get_text()


def test_the_first_clause_heads_a_card(tmp_path: Path) -> None:
    plain = ["It is so; were it not, it would be seldom.", "Against that."]
    tables.save_finding(LEAD | {"plain": plain}, out=leave(tmp_path, "a"))
    found = index(tmp_path)
    assert heads(found) == ["It is so."]
    told = found.select_one(".then").get_text()  # type: ignore[union-attr]
    assert told == "Were it not, it would be seldom. Against that."


LEAD = {
    "sentence": "It is so. Against that.",
    "plain": ["It is so.", "Against that."],
    "technical": "t",
    "figure": "means",
    "card": {},
    "texts": {"kind": "hand-written", "told": "By hand, in two registers."},
}


def test_of_a_tall_figure_a_card_shows_the_top_and_says_so(tmp_path: Path) -> None:
    folder = leave(tmp_path, "a")
    tables.save_finding(LEAD, out=folder)
    for size, tall in (("0 0 270.5 450", False), ("0 0 270.5 900.5", True), ("x", False)):
        tables.write(folder / "figures" / "means.svg", f'<svg viewBox="{size}"></svg>')
        found = index(tmp_path)
        assert (found.select_one(".tall") is not None) == tall
        assert ("The top of its figure" in found.get_text()) == tall


def test_a_run_without_page_and_figure_links_to_neither(tmp_path: Path) -> None:
    leave(tmp_path, "a")
    found = index(tmp_path)
    assert found.img is None
    assert found.h2.a is None


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_a_run_that_did_not_end_well_says_so_and_shows_no_finding(
    status: str, tmp_path: Path
) -> None:
    folder = leave(tmp_path, "a", status=status, error={"message": "cell 3 broke"})
    tables.save_finding(LEAD | {"sentence": "All is well.", "plain": ["All is well."]}, out=folder)
    found = index(tmp_path)
    assert f"{status.capitalize()}: cell 3 broke" in found.get_text()
    assert found.select_one(".badge").get_text() == status  # type: ignore[union-attr]
    assert "All is well." not in found.get_text()
    assert found.img is None


def notebook(*cells: nbformat.NotebookNode) -> str:
    return nbformat.writes(nbformat.v4.new_notebook(cells=list(cells)))


def test_a_failed_run_says_where_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = "/home/somebody/my texts/a.csv: no column; see /tmp/x/b.csv, and 1/2 of them"
    failed = {"status": "failed", "error": {"cell": 12, "message": told}}
    data = {"answers_path": {"path": "/home/somebody/my texts/a.csv", "sha256": "f" * 64}}
    folder = leave(tmp_path / "runs", "a.failed", data=data, **failed)
    leave(tmp_path / "runs", "a")
    broke = nbformat.v4.new_code_cell("1/0", outputs=[nbformat.v4.new_output("error")])
    heading = nbformat.v4.new_markdown_cell
    cells = [heading("# T"), heading("## The answers"), broke, heading("## What this cannot show")]
    tables.write(folder / "notebook.ipynb", notebook(*cells))
    text = " ".join(index(tmp_path / "runs").get_text(" ").split())
    assert (
        "Failed in cell 12, section “The answers”: a.csv: no column; see b.csv, and 1/2 of them"
    ) in text
    assert "nbbias run runs/llmbi/a.failed/params.yaml" in text
    assert "The last good run stays as a." in text
    assert "/home" not in text and "/tmp" not in text


def test_a_defect_is_called_one_and_not_the_users_mistake(tmp_path: Path) -> None:
    error = {"cell": 3, "message": "list index out of range", "defect": "news/fits.py, line 12"}
    leave(tmp_path, "a.failed", status="failed", error=error)
    text = " ".join(index(tmp_path).get_text(" ").split())
    assert "This is a defect in nbbias (news/fits.py, line 12), not a mistake of yours" in text
    assert "report it" in text and "Mend what it names" not in text


def test_of_a_process_that_died_the_section_is_the_last_that_took_time(tmp_path: Path) -> None:
    spent = {"start": 1.0, "The answers": 2.0, "The measure": 0.0}
    failed = {"status": "interrupted", "error": {"cell": None, "message": "gone"}}
    leave(tmp_path, "a", seconds_by_section=spent, **failed)
    text = " ".join(index(tmp_path).get_text(" ").split())
    assert "Interrupted in section “The answers”: gone" in text
    assert "Run it again" in text


def test_cards_can_be_told_apart_by_study_status_and_model(tmp_path: Path) -> None:
    hostile = "<b>\"x\\' m"
    finished(tmp_path, "a", claims(PLAIN, WARM, {**PLAIN, "model": hostile}))
    leave(tmp_path, "b", study="cogs", status="failed", error={"message": "x"})
    found = index(tmp_path)
    one = found.select_one('.cards > li[data-study="llmbi"]')
    assert one is not None and one["data-status"] == "finished"
    assert json.loads(str(one["data-models"])) == sorted([hostile, "plain", "warm"])
    form = found.form
    assert form is not None and form.has_attr("hidden")  # until a script can serve it
    chosen = {select["name"]: [o.get_text() for o in select("option")] for select in form("select")}
    assert chosen["study"] == ["all", "cogs", "llmbi"]
    assert chosen["model"] == ["all", hostile, "plain", "warm"]
    assert chosen["status"] == ["all", "failed", "finished"]


@pytest.mark.parametrize("content", ["{not json", "[1]", "{}", '"text"'])
def test_a_broken_manifest_is_a_card_that_says_so(content: str, tmp_path: Path) -> None:
    leave(tmp_path, "good")
    tables.write(tmp_path / "llmbi" / "bad" / manifest.NAME, content)
    found = index(tmp_path)
    assert sorted(heads(found)) == ["llmbi/bad", "llmbi/good"]
    assert "Unreadable: manifest.json" in found.get_text()


def test_hostile_names_and_messages_are_text(tmp_path: Path) -> None:
    name = "<script>x<script> \"onerror='y'"
    folder = leave(tmp_path, name)
    tables.save_finding({"sentence": reading.escape(HOSTILE), "figure": "f"}, out=folder)
    tables.write(folder / "index.html", "")
    tables.write(folder / "figures" / "f.png", b"")
    leave(tmp_path, "b", status="failed", error={"message": HOSTILE})
    found = index(tmp_path)
    assert found.main.find("script") is None
    assert [set(img.attrs) for img in found.find_all("img")] == [{"src", "alt", "loading"}]
    assert sorted(heads(found)) == ["llmbi/" + name, "llmbi/b"]
    assert found.get_text().count(HOSTILE) == 2


@pytest.mark.parametrize("name", ["plain", "with space", "é", "a&b", "a#b", "a?b", "100%25"])
def test_a_link_leads_to_the_page_of_its_run(name: str, tmp_path: Path) -> None:
    tables.write(leave(tmp_path, name) / "index.html", "")
    href = urlsplit(index(tmp_path).h2.a["href"])
    assert (tmp_path / unquote(href.path)).is_file()


def claims(*rows: dict[str, Any]) -> pd.DataFrame:
    whole = [
        {
            "source": "s",
            "prompt": "p",
            "measure": "llmbi",
            "statistic": "index",
            "n": 18,
            "n_lost": 0,
            "instrument": "TextBlob",
            **row,
        }
        for row in rows
    ]
    return tables.estimates(whole, study="llmbi", confidence=0.95)


def finished(out: Path, name: str, table: pd.DataFrame, **described: Any) -> Path:
    folder = leave(out, name, **described)
    tables.save_table(table, "estimates", out=folder)
    return folder


PLAIN = {"model": "plain", "estimate": 0.3, "ci_low": 0.2, "ci_high": 0.4, "null": 0.1}
WARM = {"model": "warm", "estimate": 0.8, "ci_low": 0.7, "ci_high": 0.9, "null": 0.1}


# --- two runs compared ------------------------------------------------------------------------


def test_settings_that_differ_are_listed_and_no_others() -> None:
    first = {"parameters": {"draws": 1, "seed": 2}, "git": {"commit": "a" * 40, "dirty": False}}
    second = {"parameters": {"draws": 3, "seed": 2}, "git": {"commit": "a" * 40, "dirty": True}}
    found = compare.settings(first, second)
    assert [(row["name"], row["first"], row["second"]) for row in found] == [
        ("draws", "1", "3"),
        ("commit", "a" * 12, "a" * 12 + ", changed"),
    ]


def test_two_runs_of_a_study_have_a_page_and_runs_of_two_studies_have_none(tmp_path: Path) -> None:
    finished(tmp_path, "a", claims(PLAIN, WARM), parameters={"draws": 1})
    later = {"started": "2024-05-02T10:00:00+00:00", "parameters": {"draws": 2}}
    finished(tmp_path, "b c", claims(WARM, {**PLAIN, "estimate": 0.25}), **later)
    leave(tmp_path, "z", study="cogs")
    leave(tmp_path, "broken", status="failed", error={"message": "x"})
    found = index(tmp_path)
    # From either run's card to the one page about both.
    link, other = [a for a in found.find_all("a") if a["href"].startswith("compare/")]
    assert link["href"] == other["href"] and {link.get_text(), other.get_text()} == {"a", "b c"}
    shown = soup(tmp_path / unquote(link["href"]))
    assert "draws" in shown.main.get_text()
    assert "1 of 2 numbers that both runs measured changed" in shown.main.get_text()
    assert shown.select_one("figure img") is not None
    (cells,) = [row.find_all("td") for row in shown.select("table.changes tbody tr")]
    assert [cell.get_text() for cell in cells][1:3] == ["0.30 [0.20, 0.40]", "0.25 [0.20, 0.40]"]
    assert (tmp_path / "compare" / unquote(shown.select_one(".bar a")["href"])).resolve() == (
        tmp_path / "index.html"
    )


def test_runs_with_long_names_have_a_page(tmp_path: Path) -> None:
    for name in ("x" * 200, "x" * 199 + "y"):
        finished(tmp_path, name, claims(PLAIN))
    gallery.write(tmp_path)
    assert len(list((tmp_path / "compare").iterdir())) == 1


def test_what_is_being_made_is_no_run_and_what_failed_is_listed_and_not_shared(
    tmp_path: Path,
) -> None:
    out = tmp_path / "runs"
    finished(out, "a", claims(PLAIN))
    for name in (".a.0123abcd.new", ".a.0123abcd.old"):
        finished(out, name, claims(PLAIN))
    finished(out, "a.failed", claims(PLAIN), status="failed")
    listed = [(one["run"], one["status"]) for one in gallery.runs(out)]
    assert listed == [("a", "ok"), ("a.failed", "failed")]
    gallery.write(out)
    assert not list((out / "compare").glob("*"))
    text = (out / "index.html").read_text()
    assert "a.failed" in text and "0123abcd" not in text
    gallery.publish(out, tmp_path / "site")
    assert [one.name for one in (tmp_path / "site/llmbi").iterdir()] == ["a"]


def test_of_many_runs_the_newest_ten_are_compared(tmp_path: Path) -> None:
    for number in range(12):
        finished(tmp_path, f"r{number:02}", claims(PLAIN), started=f"2024-05-{number + 1:02}T10:00")
    gallery.write(tmp_path)
    made = {path.name for path in (tmp_path / "compare").iterdir()}
    assert len(made) == 45
    assert "llmbi--r02--r11.html" in made and "llmbi--r02--r03.html" in made
    assert not [name for name in made if "r00" in name or "r01" in name]


def test_runs_that_share_no_claim_say_so(tmp_path: Path) -> None:
    rows = {"a": PLAIN, "b": {**PLAIN, "statistic": "anova"}}
    folders = [finished(tmp_path, name, claims(row)) for name, row in rows.items()]
    shown = compare.shown(*folders, name="a--b", out=tmp_path)
    assert shown["sentences"] == ["No number was measured in both runs."]


def test_a_page_about_the_same_two_runs_is_not_drawn_anew(tmp_path: Path) -> None:
    for name, row in (("a", PLAIN), ("b", {**PLAIN, "estimate": 0.25})):
        finished(tmp_path, name, claims(row))
    gallery.write(tmp_path)
    (page,) = (tmp_path / "compare").glob("*.html")
    page.write_text(page.read_text() + "<!-- kept -->")
    gallery.write(tmp_path)
    assert "<!-- kept -->" in page.read_text()
    finished(tmp_path, "b", claims({**PLAIN, "estimate": 0.35}), seconds=3.0)
    gallery.write(tmp_path)
    assert "<!-- kept -->" not in page.read_text()


def test_pages_about_runs_that_are_gone_go_with_their_figures(tmp_path: Path) -> None:
    for name, row in (("a", PLAIN), ("b", {**PLAIN, "estimate": 0.25})):
        finished(tmp_path, name, claims(row))
    gallery.write(tmp_path)
    mine = tmp_path / "compare" / "mine.html"
    mine.write_text("not ours")
    shutil.rmtree(tmp_path / "llmbi" / "a")
    gallery.write(tmp_path)
    assert [path for path in (tmp_path / "compare").rglob("*") if path.is_file()] == [mine]


def test_hostile_runs_are_compared_as_text(tmp_path: Path) -> None:
    for name in ("<b>x", "y"):
        row = {**PLAIN, "model": HOSTILE}
        finished(tmp_path, name, claims(row), parameters={"a": HOSTILE + name})
    gallery.write(tmp_path)
    (made,) = (tmp_path / "compare").iterdir()
    for path in (made, tmp_path / "leaders.html"):
        found = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for figure in found.find_all("figure"):  # an image of ours, and its words
            assert figure.img["src"].startswith("data:image/svg")
            figure.decompose()
        assert found.main.find(["script", "img", "b"]) is None
        assert HOSTILE in found.main.get_text()


def test_pages_about_runs_let_no_script_run_but_their_own(tmp_path: Path) -> None:
    for name in "ab":
        finished(tmp_path / "runs", name, claims(PLAIN))
    gallery.write(tmp_path / "runs")
    gallery.publish(tmp_path / "runs", tmp_path / "site")
    made = sorted(path for path in tmp_path.rglob("*.html"))
    assert len(made) == 6
    for path in made:
        # One script of every page; the list of runs has another, which filters.
        scripts = [hashed(one.string) for one in soup(path).find_all("script")]
        assert allowed(path) == scripts
        assert len(scripts) == (2 if path.name == "index.html" else 1)


# --- publishing -------------------------------------------------------------------------------


def test_a_site_holds_finished_runs_without_the_paths_of_their_data(tmp_path: Path) -> None:
    out, site = tmp_path / "runs", tmp_path / "site"
    data = {"answers_path": {"path": "/home/somebody/secret/a.csv", "sha256": "f" * 64}}
    folder = finished(out, "a", claims(PLAIN), data=data)
    tables.write(folder / "index.html", "page")
    leave(out, "broken", status="failed", error={"message": "x"})
    assert gallery.publish(out, site) == site / "index.html"
    assert (site / "llmbi" / "a" / "tables" / "estimates.csv").is_file()
    assert not (site / "llmbi" / "broken").exists()
    every = [path for path in site.rglob("*") if path.is_file()]
    assert not any(b"somebody" in path.read_bytes() for path in every)
    copied = json.loads((site / "llmbi" / "a" / manifest.NAME).read_text())
    assert copied["data"]["answers_path"]["path"] == "a.csv"


@pytest.mark.parametrize("site", ["s", "elsewhere/a.txt", "elsewhere", "earlier", "link"])
def test_a_site_takes_nobodys_place(site: str, tmp_path: Path) -> None:
    finished(tmp_path / "s", "a", claims(PLAIN))
    tables.write(tmp_path / "elsewhere" / "a.txt", "years of work")
    gallery.publish(tmp_path / "s", tmp_path / "earlier")
    (tmp_path / "link").symlink_to(tmp_path / "s")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(NbbiasError, match=r"is not empty|lies in"):
        gallery.publish(tmp_path / "s", tmp_path / site)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_site_does_not_lie_among_the_runs(tmp_path: Path) -> None:
    finished(tmp_path / "s", "a", claims(PLAIN))
    with pytest.raises(NbbiasError, match="folder beside it"):
        gallery.publish(tmp_path / "s", tmp_path / "s" / "site")
    assert not (tmp_path / "s" / "site").exists()


def test_an_empty_folder_is_a_place_for_a_site(tmp_path: Path) -> None:
    finished(tmp_path / "s", "a", claims(PLAIN))
    (tmp_path / "site").mkdir()
    assert gallery.publish(tmp_path / "s", tmp_path / "site").is_file()


def test_a_site_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(tmp_path / "runs", "a", claims(PLAIN))

    def full(_: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gallery, "write", full)
    with pytest.raises(OSError, match="No space"):
        gallery.publish(tmp_path / "runs", tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_pages_that_compare_take_nothing_else_away(tmp_path: Path) -> None:
    mine = tables.write(tmp_path / "compare" / "notes.md", "mine")
    old = tables.write(tmp_path / "compare" / "llmbi--gone--too.html", "")
    gallery.write(tmp_path)
    assert mine.is_file() and not old.exists()


@pytest.mark.parametrize("there", [True, False])
def test_no_finished_run_is_no_site(there: bool, tmp_path: Path) -> None:
    if there:
        leave(tmp_path / "runs", "a", status="failed", error={"message": "x"})
    with pytest.raises(NbbiasError, match="no finished run"):
        gallery.publish(tmp_path / "runs", tmp_path / "site")
