"""The list of runs, and the site of the finished ones."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from nbbias import tables
from nbbias.pages import gallery
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, escape
from tests.pages import build


def index(out: Path) -> BeautifulSoup:
    return build.soup(gallery.write(out))


def heads(page: BeautifulSoup) -> list[str]:
    return [h.get_text() for h in page.select(".cards h2")]


def test_every_run_has_a_card_by_study_and_the_newest_first(tmp_path: Path) -> None:
    assert "No run yet." in index(tmp_path).get_text()
    for day, (study, name) in enumerate([("llmbi", "b"), ("cogs", "z"), ("llmbi", "a")], start=1):
        build.leave(tmp_path, name, study=study, started=f"2024-05-{day:02}T10:00:00+00:00")
    page = index(tmp_path)
    assert heads(page) == ["cogs/z", "llmbi/a", "llmbi/b"]
    assert page.select_one("#count").get_text() == "3 runs"  # type: ignore[union-attr]
    assert STUDIES["cogs"].question in page.get_text()
    assert "2024-05-03 10:00 UTC" in page.get_text()
    assert page.img is None and page.h2.a is None


def test_a_card_shows_what_leads_its_page(tmp_path: Path) -> None:
    folder = build.leave(tmp_path, "a")
    number = {"name": "index of m", "value": "0.50", "interval": "95% CI 0.4 to 0.6", "N": "N = 18"}
    tables.save_finding(build.LEAD | {"numbers": [number]}, out=folder)
    for name in ("figures/means.svg", "index.html"):
        tables.write(folder / name, b"")
    tables.write(folder / "figures" / "means.json", '{"alt": "Dots."}')
    page = index(tmp_path)
    assert heads(page) == ["It is so"]
    assert page.h2.a["href"] == "llmbi/a/index.html"
    assert page.select_one(".badge").get_text() == "Texts written by hand"  # type: ignore[union-attr]
    assert "By hand, in two registers." in page.get_text()
    assert (page.img["src"], page.img["alt"]) == ("llmbi/a/figures/means.svg", "Dots.")
    assert " ".join(page.dl.get_text(" ").split()) == "index of m: 0.50 (95% CI 0.4 to 0.6; N = 18)"


def test_a_failed_run_says_where_and_what_to_do_and_shows_no_finding(tmp_path: Path) -> None:
    failed = {"status": "failed", "error": {"cell": 12, "message": "no column" + 600 * "!"}}
    folder = build.leave(tmp_path, "a.failed", **failed)
    lead = build.LEAD | {"sentence": "All is well.", "plain": ["All is well."]}
    tables.save_finding(lead, out=folder)
    build.leave(tmp_path, "a")
    card = index(tmp_path).select_one('li[data-status="failed"]')
    assert card.img is None
    text = " ".join(card.get_text(" ").split())
    assert "Failed in cell 12: no column!!!" in text and 510 * "!" not in text
    assert "report it as a defect of nbbias. The last good run stays as a." in text
    assert card.select_one(".badge").get_text() == "failed"  # type: ignore[union-attr]
    assert "All is well." not in text


def test_hostile_names_and_messages_are_text(tmp_path: Path) -> None:
    name = "<script>x<script> \"onerror='y'"
    folder = build.leave(tmp_path, name)
    tables.save_finding({"sentence": escape.markdown(build.HOSTILE), "figure": "f"}, out=folder)
    tables.write(folder / "index.html", "")
    tables.write(folder / "figures" / "f.svg", b"")
    build.leave(tmp_path, "b", status="failed", error={"message": build.HOSTILE})
    page = index(tmp_path)
    assert page.main.find("script") is None
    assert [set(img.attrs) for img in page.find_all("img")] == [{"src", "alt", "loading"}]
    assert sorted(heads(page)) == ["llmbi/" + name, "llmbi/b"]
    assert page.get_text().count(build.HOSTILE) == 2


def test_what_is_being_made_is_no_run_and_what_failed_is_listed_and_not_shared(
    tmp_path: Path,
) -> None:
    out = tmp_path / "runs"
    for name in ("a", ".a.0123abcd.new", ".a.0123abcd.old"):
        build.finished(out, name, build.claims(build.PLAIN))
    build.finished(out, "a.failed", build.claims(build.PLAIN), status="failed")
    listed = [(run["run"], run["status"]) for run in gallery.runs(out)]
    assert listed == [("a", "ok"), ("a.failed", "failed")]
    text = gallery.write(out).read_text()
    assert "a.failed" in text and "0123abcd" not in text
    gallery.publish(out, tmp_path / "site")
    assert [path.name for path in (tmp_path / "site/llmbi").iterdir()] == ["a"]
    for path in tmp_path.glob("*/index.html"):  # no script runs but the list's own two
        assert build.runs_its_own_scripts_alone(path) and len(build.allowed(path)) == 2


# --- publishing -------------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["elsewhere/a.txt", "earlier", "s/site"])
def test_a_site_takes_nobodys_place(site: str, tmp_path: Path) -> None:
    build.finished(tmp_path / "s", "a", build.claims(build.PLAIN))
    tables.write(tmp_path / "elsewhere" / "a.txt", "years of work")
    (tmp_path / "earlier").mkdir()
    gallery.publish(tmp_path / "s", tmp_path / "earlier")  # an empty folder is a place
    (tmp_path / "link").symlink_to(tmp_path / "s")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(NbbiasError, match=r"is not empty|lies in"):
        gallery.publish(tmp_path / "s", tmp_path / site)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
