"""Pages need no network and show hostile text as text; the index lists every run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import manifest, outputs, page, report
from nbbias.corpus import data_path

HOSTILE = "<script>alert('x')</script><img src=http://example.org/x.png onerror=alert(1)>"
FORMULA = r"The index is $0.2 + 2.5\,|p|$:" "\n\n" r"$$\sum_{i=1}^{n} w_i B_i + P(D) + \lambda S$$"


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def written(folder: Path, *cells: nbformat.NotebookNode, title: str = "A title") -> Path:
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    notebook.metadata["kernelspec"] = {"name": "x", "display_name": "x", "language": "python"}
    nbformat.write(notebook, folder / "a.ipynb")
    return page.write_page(folder / "a.ipynb", folder / "a.html", title=title)


def printing(text: str) -> nbformat.NotebookNode:
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    return nbformat.v4.new_code_cell("print(text)", outputs=[output])


# --- pages ------------------------------------------------------------------------------------


def test_a_page_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = written(tmp_path, nbformat.v4.new_markdown_cell(FORMULA), printing("x")).read_text()
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*=\s*[\"']?(https?:)?//", text)
    assert not re.search(r"@import|url\(\s*[\"']?(https?:)?//", text)
    assert re.findall(r"<(?:script|style)[^>]*>", text) == ["<style>", "<script>"]


def test_the_script_of_a_page_is_small() -> None:
    assert data_path("templates/nbbias/page.js").stat().st_size < 50_000


def test_a_page_lists_its_sections(tmp_path: Path) -> None:
    text = "# Title\n\n## The *first* part\n\n### Below\n\n## Is 1 < 2?"
    found = soup(written(tmp_path, nbformat.v4.new_markdown_cell(text)))
    links = found.select(".contents a")
    assert [link.get_text() for link in links] == ["The first part", "Is 1 < 2?"]
    assert [unquote(link["href"][1:]) for link in links] == [h["id"] for h in found.find_all("h2")]


def test_printed_tables_share_one_style(tmp_path: Path) -> None:
    table = report.show(pd.DataFrame({"a": [1.5]}), title="A table").data
    output = nbformat.v4.new_output("display_data", {"text/html": table})
    found = soup(written(tmp_path, nbformat.v4.new_code_cell("t", outputs=[output] * 3)))
    assert len(found.select("table.gt_table")) == 3
    assert len(found.find_all("style")) == 1


def test_a_live_view_is_named_and_leaves_no_script(tmp_path: Path) -> None:
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "x", "version_major": 2}}
    output = nbformat.v4.new_output("display_data", {**view, "text/plain": "HBox()"})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("t", outputs=[output])])
    state = {"version_major": 2, "version_minor": 0, "state": {"x": {"state": {"value": HOSTILE}}}}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    nbformat.write(notebook, tmp_path / "a.ipynb")
    found = soup(page.write_page(tmp_path / "a.ipynb", tmp_path / "a.html", title="t"))
    assert "JupyterLab" in found.select_one(".live").get_text()
    assert len(found.find_all("script")) == 1


@pytest.mark.parametrize("kind", ["display_data", "execute_result"])
def test_a_value_is_shown_as_what_is_displayed(kind: str, tmp_path: Path) -> None:
    more = {"execution_count": 1} if kind == "execute_result" else {}
    output = nbformat.v4.new_output(kind, {"text/markdown": "**so**", "text/plain": "x"}, **more)
    found = soup(written(tmp_path, nbformat.v4.new_code_cell("t", outputs=[output])))
    assert found.select_one(".output strong").get_text() == "so"


def test_formulas_are_mathml(tmp_path: Path) -> None:
    found = soup(written(tmp_path, nbformat.v4.new_markdown_cell(FORMULA)))
    assert [m["display"] for m in found.find_all("math")] == ["inline", "block"]
    assert "∑" in found.find_all("math")[1].get_text()
    assert "$" not in found.main.get_text()


def test_a_formula_with_a_less_than_sign_breaks_no_page(tmp_path: Path) -> None:
    found = soup(written(tmp_path, nbformat.v4.new_markdown_cell(r"If $a<b$ then **so**.")))
    assert found.math.get_text() == "a<b"
    assert found.strong.get_text() == "so"


def test_an_escaped_dollar_is_money(tmp_path: Path) -> None:
    found = soup(written(tmp_path, nbformat.v4.new_markdown_cell(r"From \$5 to \$6.")))
    assert found.math is None
    assert "From $5 to $6." in found.main.get_text()


def test_hostile_output_is_shown_as_text(tmp_path: Path) -> None:
    found = soup(written(tmp_path, printing(HOSTILE)))
    assert found.main.find(["script", "img"]) is None
    assert HOSTILE in found.main.get_text()


def test_a_hostile_error_is_shown_as_text(tmp_path: Path) -> None:
    error = nbformat.v4.new_output(
        "error", ename="ValueError", evalue=HOSTILE, traceback=[f"ValueError: {HOSTILE}"]
    )
    found = soup(written(tmp_path, nbformat.v4.new_code_cell("raise", outputs=[error])))
    assert found.main.find(["script", "img"]) is None
    assert HOSTILE in found.main.get_text()


def test_a_hostile_title_is_text(tmp_path: Path) -> None:
    found = soup(written(tmp_path, printing("x"), title=f"</title>{HOSTILE}"))
    assert found.title.get_text() == f"</title>{HOSTILE}"
    assert found.main.find("script") is None


def test_a_notebook_without_cells_has_a_page(tmp_path: Path) -> None:
    assert soup(written(tmp_path)).title.get_text() == "A title"


def test_the_same_notebook_is_the_same_page(tmp_path: Path) -> None:
    path = written(tmp_path, printing("x"))
    other = page.write_page(tmp_path / "a.ipynb", tmp_path / "b.html", title="A title")
    assert path.read_bytes() == other.read_bytes()


# --- the index of runs ------------------------------------------------------------------------


def leave(out: Path, name: str, *, study: str = "llmbi", **outcome: Any) -> Path:
    folder = out / study / name
    ended = {"status": "ok", "error": None, "started": "2024-05-01T10:00:00+00:00", "seconds": 2.4}
    manifest.write(folder, {"study": study, "run": name}, **ended | outcome)
    return folder


def index(out: Path) -> BeautifulSoup:
    return soup(page.write_index(out))


def test_no_run_is_an_index_that_says_so(tmp_path: Path) -> None:
    assert "No run yet." in index(tmp_path).get_text()


def test_every_run_is_listed_by_study_and_name(tmp_path: Path) -> None:
    for study, name in [("llmbi", "b"), ("cogs", "z"), ("llmbi", "a")]:
        leave(tmp_path, name, study=study)
    headings = [h.get_text() for h in index(tmp_path).find_all("h2")]
    assert headings == ["cogs / z", "llmbi / a", "llmbi / b"]


def test_a_run_shows_its_finding_its_page_and_its_figure(tmp_path: Path) -> None:
    folder = leave(tmp_path, "a")
    finding = f"The index of {report.escape('gpt_4 *')} is **0.2**."
    outputs.save_finding(finding, figure="dimensions", out=folder)
    outputs.write(folder / "figures" / "dimensions.png", b"")
    outputs.write(folder / "index.html", "")
    found = index(tmp_path)
    assert "The index of gpt_4 * is 0.2." in found.get_text()
    assert found.img["src"] == "llmbi/a/figures/dimensions.png"
    assert found.h2.a["href"] == "llmbi/a/index.html"


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
    outputs.save_finding("All is well.", figure="f", out=folder)
    text = index(tmp_path).get_text()
    assert f"{status}: cell 3 broke" in text
    assert "All is well." not in text


def test_a_broken_manifest_is_no_run(tmp_path: Path) -> None:
    leave(tmp_path, "good")
    outputs.write(tmp_path / "llmbi" / "bad" / manifest.NAME, "{not json")
    assert [h.get_text() for h in index(tmp_path).find_all("h2")] == ["llmbi / good"]


@pytest.mark.parametrize("content", ["[1]", "{}", '"text"'])
def test_json_that_is_no_manifest_is_no_run(content: str, tmp_path: Path) -> None:
    outputs.write(tmp_path / "llmbi" / "bad" / manifest.NAME, content)
    assert "No run yet." in index(tmp_path).get_text()


def test_hostile_names_and_messages_are_text(tmp_path: Path) -> None:
    name = "<script>x<script> \"onerror='y'"
    folder = leave(tmp_path, name)
    outputs.save_finding(report.escape(HOSTILE), figure="f", out=folder)
    outputs.write(folder / "index.html", "")
    outputs.write(folder / "figures" / "f.png", b"")
    leave(tmp_path, "b", status="failed", error={"message": HOSTILE})
    found = index(tmp_path)
    assert found.find("script") is None
    assert [img.attrs.keys() for img in found.find_all("img")] == [{"src", "alt"}]
    assert found.h2.get_text() in {f"llmbi / {name}", "llmbi / b"}
    assert found.get_text().count(HOSTILE) == 2


@pytest.mark.parametrize(
    "name",
    [
        "plain", "with space", "é", "a&b",
        "a#b", "a?b", "100%25",
    ],
)  # fmt: skip
def test_a_link_leads_to_the_page_of_its_run(name: str, tmp_path: Path) -> None:
    outputs.write(leave(tmp_path, name) / "index.html", "")
    href = urlsplit(index(tmp_path).h2.a["href"])
    assert (tmp_path / unquote(href.path)).is_file()


# --- plain ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "text"),
    [("**0.2** and *t*", "0.2 and t"), (r"a\*b\_c", "a*b_c"), ("", ""), ("2 < 3 & 4", "2 < 3 & 4")],
)
def test_a_finding_is_read_without_its_markdown(markdown: str, text: str) -> None:
    assert page.plain(markdown) == text


@pytest.mark.parametrize("name", ["*a*", "a_b", r"a\b", "<b>", "**", r"\*", "a & b"])
def test_an_escaped_name_comes_out_as_it_was(name: str) -> None:
    assert page.plain(report.escape(name)) == name


def test_an_entity_in_a_name_comes_out_as_it_was() -> None:
    assert page.plain(report.escape("&amp;")) == "&amp;"
