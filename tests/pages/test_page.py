"""Pages need no network and show hostile text as text; the index lists every run."""

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pandas as pd
from bs4 import BeautifulSoup

from nbbias import news, reading
from tests.pages.build import HOSTILE, allowed, displayed, hashed, markdown, printing, soup, written

FORMULA = r"The index is $0.2 + 2.5\,|p|$:" "\n\n" r"$$\sum_{i=1}^{n} w_i B_i + P(D) + \lambda S$$"


# --- pages ------------------------------------------------------------------------------------


def test_a_page_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = written(tmp_path, markdown(FORMULA), printing("x")).read_text()
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*=\s*[\"']?(https?:)?//", text)
    assert not re.search(r"@import|url\(\s*[\"']?(https?:)?//", text)
    assert re.findall(r"<(?:script|style)[^>]*>", text) == ["<style>", "<script>"]


def test_a_page_lets_no_script_run_but_its_own(tmp_path: Path) -> None:
    page = written(tmp_path, displayed("x", HOSTILE))
    own = [one.string for one in soup(page).find_all("script")][-1]
    assert "details.fold" in own
    assert allowed(page) == [hashed(own)]


def test_a_page_with_a_frame_lets_the_frames_scripts_run(tmp_path: Path) -> None:
    view = reading.templates.ldavis("{}")
    page = written(tmp_path, displayed("x", news.explore.topics.frame(view, title="LDAvis")))
    loader = BeautifulSoup(view, "html.parser").script.string
    own = [hashed(one) for one in (loader, reading.templates.scripts()[1])]
    assert allowed(page)[1:] == own
    (tmp_path / "frame.html").write_text(view)
    assert allowed(tmp_path / "frame.html") == own


def test_a_table_of_the_run_is_linked_and_no_other_path_that_ends_so(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").touch()
    text = (
        "See `tables/a.csv`, tables/b.csv, mine/tables/a.csv, my-tables/a.csv and ../tables/a.csv."
    )
    page = soup(written(tmp_path, markdown(text)))
    (found,) = (link for link in page.find_all("a") if link.get("href") == "tables/a.csv")
    assert found.find_parent("code")


def test_a_page_lists_its_sections(tmp_path: Path) -> None:
    text = "# Title\n\n## The *first* part\n\n### Below\n\n## Is 1 < 2?"
    found = soup(written(tmp_path, markdown(text)))
    links = found.select(".contents a")
    assert [link.get_text() for link in links] == ["The first part", "Is 1 < 2?"]
    assert [unquote(link["href"][1:]) for link in links] == [h["id"] for h in found.find_all("h2")]


def test_formulas_are_mathml_and_an_escaped_dollar_is_money(tmp_path: Path) -> None:
    text = FORMULA + "\n\n" + r"If $a<b$ then **so**. From \$5 to \$6."
    found = soup(written(tmp_path, markdown(text)))
    formulas = found.find_all("math")
    assert [formula["display"] for formula in formulas] == ["inline", "block", "inline"]
    assert "∑" in formulas[1].get_text() and formulas[2].get_text() == "a<b"
    assert found.strong.get_text() == "so"
    assert "From $5 to $6." in found.main.get_text()


def test_hostile_outputs_errors_and_titles_are_text(tmp_path: Path) -> None:
    error = nbformat.v4.new_output(
        "error", ename="ValueError", evalue=HOSTILE, traceback=[f"ValueError: {HOSTILE}"]
    )
    raising = nbformat.v4.new_code_cell("raise", outputs=[error])
    page = written(tmp_path, printing(HOSTILE), raising, title=f"</title>{HOSTILE}")
    assert soup(page).title.get_text() == f"</title>{HOSTILE}"
    assert soup(page).main.find(["script", "img"]) is None
    assert soup(page).main.get_text().count(HOSTILE) == 3  # and in the bar


def code_of(part: BeautifulSoup) -> list[str]:
    return [source.get_text().strip() for source in part.select(".highlight")]


def test_the_appendix_is_a_fold_for_each_of_its_headings(tmp_path: Path) -> None:
    table = reading.show(pd.DataFrame({"a": [1.5]}), title="Shares <b> & more").data
    body = [markdown("## Body <b>?"), displayed("2", "<p>read</p>"), markdown("## Next")]
    appendix = [
        markdown("## Appendix", "appendix"),
        markdown("### Body <b>?", "appendix"),
        markdown("Looked up.", "appendix"),
        displayed("1", table, "appendix"),
        markdown("### Left out", "appendix"),
        markdown("### Silent", "appendix"),
        nbformat.v4.new_code_cell("silent = 1", metadata={"tags": ["appendix"]}),
        markdown("### More\n\n**Why.** So.", "appendix"),
    ]
    page = soup(written(tmp_path, *body, *appendix))
    folds = page.select("details.fold")
    assert [fold.summary.get_text() for fold in folds] == ["A1 Body <b>?", "A2 More"]
    assert [fold.div["id"] for fold in folds] == ["a1", "a2"]
    assert folds[0].select_one(".nbbias-table") and "Looked up." in folds[0].get_text()
    assert "So." in folds[1].get_text()
    (link,) = page.select("p.more a")
    assert (link["href"], link.get_text()) == ("#a1", "Appendix A1")
    headings = [heading.get_text(strip=True).rstrip("¶") for heading in page.select("main h2")]
    assert headings == ["Body?", "Next", "Appendix"]
    assert [code_of(part) for part in page.select("details.code")] == [["2"], ["1"], ["silent = 1"]]


def test_a_result_heads_its_section_under_the_question(tmp_path: Path) -> None:
    said = "**Women have *less* room**"
    cell = displayed("nb.result(x)", said, kind="text/markdown", nbbias="result")
    cell.outputs += displayed("", "<p>drawn</p>").outputs
    page = soup(written(tmp_path, markdown("## Who has less room?\n\nShares say."), cell))
    assert page.find("h2").get_text().rstrip("¶") == "Women have less room"
    assert page.find(class_="asks").get_text() == "Who has less room?"
    assert [item.get_text() for item in page.select(".contents li")] == ["Who has less room?"]
    assert "Shares say." in page.main.get_text()


def test_a_section_that_showed_nothing_leaves_its_code_alone(tmp_path: Path) -> None:
    cells = [
        markdown("# T"),
        nbformat.v4.new_code_cell("hidden = 1", metadata={"tags": ["parameters"]}),
        markdown("## One"),
        nbformat.v4.new_code_cell("silent = 1"),
        markdown("## Two"),
        displayed("two = 2", "<p>x</p>"),
        markdown("## Words"),
    ]
    page = soup(written(tmp_path, *cells))
    assert [h.get_text().rstrip("¶") for h in page.select("main h2")] == ["Two", "Words"]
    assert [code_of(part) for part in page.select("details.code")] == [["silent = 1", "two = 2"]]


def test_what_leads_and_what_is_declared_stand_under_the_title(tmp_path: Path) -> None:
    declared = printing("the claims")
    declared.metadata["tags"] = ["claims"]
    lead = displayed("nb.lead()", "<section class=lead>It is so.</section>", nbbias="lead")
    cells = [markdown("# Title\n\nThe question."), printing("before"), markdown("## Later")]
    page = soup(written(tmp_path, *cells, declared, lead))
    assert page.select_one("h1 + .output > section.lead").get_text() == "It is so."
    text = page.get_text()
    order = [text.index(part) for part in ("It is so.", "The question.", "the claims", "before")]
    assert order == sorted(order)
    assert text.count("the claims") == 1
    assert "Later" not in text  # nothing else stood there
    headless = soup(written(tmp_path, *cells[1:], declared)).get_text()
    assert headless.index("the claims") < headless.index("before")


def test_how_it_is_measured_folds_under_its_heading(tmp_path: Path) -> None:
    methods = [markdown("By counting.", "method"), markdown("### The *paper*\n\nX.", "method")]
    page = soup(written(tmp_path, markdown("## One"), *methods))
    folds = page.select("details.method")
    assert [fold.summary.get_text() for fold in folds] == ["How this is measured", "The paper"]
    assert "By counting." in folds[0].get_text() and page.find("h3") is None
