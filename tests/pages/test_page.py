"""Pages need no network and show hostile text as text; the index lists every run."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import news, reading
from nbbias.pages import page
from nbbias.tables import data_path

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


def allowed(page: Path) -> list[str]:
    """Return the hashes of scripts that a page's policy lets run, and refuse a lax policy."""
    found = soup(page)
    (policy,) = found.find_all("meta", attrs={"http-equiv": "Content-Security-Policy"})
    # It rules what stands below it only.
    assert found.head.find_all(True)[:2] == [found.head.meta, policy]
    rules = dict(one.split(" ", 1) for one in policy["content"].split("; "))
    assert set(rules) == {
        "default-src", "script-src", "style-src", "img-src", "base-uri", "form-action",
    }  # fmt: skip
    assert {rules[name] for name in ("default-src", "base-uri", "form-action")} == {"'none'"}
    assert "'unsafe" not in rules["script-src"]
    return rules["script-src"].split()


def hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def test_a_page_lets_no_script_run_but_its_own(tmp_path: Path) -> None:
    leaked = nbformat.v4.new_output("display_data", {"text/html": HOSTILE})
    page = written(tmp_path, nbformat.v4.new_code_cell("x", outputs=[leaked]))
    own = [one.string for one in soup(page).find_all("script")][-1]
    assert "prefers-color-scheme" in own
    assert allowed(page) == [hashed(own)]


def test_a_page_with_a_frame_lets_the_frames_scripts_run(tmp_path: Path) -> None:
    view = reading.frames.ldavis("{}")
    shown = nbformat.v4.new_output(
        "display_data", {"text/html": news.explore.topics.frame(view, title="LDAvis")}
    )
    page = written(tmp_path, nbformat.v4.new_code_cell("x", outputs=[shown]))
    loader = BeautifulSoup(view, "html.parser").script.string
    own = [hashed(one) for one in (loader, reading.frames.scripts()[1])]
    assert allowed(page)[1:] == own
    (tmp_path / "frame.html").write_text(view)
    assert allowed(tmp_path / "frame.html") == own


def test_the_script_of_a_page_is_small() -> None:
    assert data_path("templates/nbbias/page.js").stat().st_size < 50_000


def test_a_page_lists_its_sections(tmp_path: Path) -> None:
    text = "# Title\n\n## The *first* part\n\n### Below\n\n## Is 1 < 2?"
    found = soup(written(tmp_path, nbformat.v4.new_markdown_cell(text)))
    links = found.select(".contents a")
    assert [link.get_text() for link in links] == ["The first part", "Is 1 < 2?"]
    assert [unquote(link["href"][1:]) for link in links] == [h["id"] for h in found.find_all("h2")]


def test_printed_tables_share_one_style(tmp_path: Path) -> None:
    table = reading.show(pd.DataFrame({"a": [1.5]}), title="A table").data
    output = nbformat.v4.new_output("display_data", {"text/html": table})
    found = soup(written(tmp_path, nbformat.v4.new_code_cell("t", outputs=[output] * 3)))
    assert len(found.select("table.gt_table")) == 3
    assert len(found.find_all("style")) == 1


def test_cells_of_printed_tables_say_only_how_they_stand(tmp_path: Path) -> None:
    rows = {"name": ["short"], "text": ["a long text, " * 9], "share": [0.25], "n": [3]}
    shown = reading.show(pd.DataFrame(rows), title="A table").data
    output = nbformat.v4.new_output("display_data", {"text/html": shown})
    found = soup(written(tmp_path, nbformat.v4.new_code_cell("t", outputs=[output])))
    cells = found.select(".gt_table_body td")
    assert [cell.get_text() for cell in cells] == ["short", *rows["text"], "0.250", "3"]
    sides = [{"class": ["line"]}, {"class": ["wide"]}, *[{"class": ["gt_right"]}] * 2]
    assert [cell.attrs for cell in cells] == sides
    headings = found.select("th.gt_col_heading")
    assert [heading["scope"] for heading in headings] == ["col"] * 4


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


def test_cells_of_the_appendix_fold_under_the_titles_of_their_tables(tmp_path: Path) -> None:
    told = nbformat.v4.new_markdown_cell
    shown = nbformat.v4.new_code_cell("1")
    table = reading.show(pd.DataFrame({"a": [1.5]}), title="Shares <b> & more").data
    shown.outputs = [nbformat.v4.new_output("display_data", {"text/html": table})]
    cells = [told("## Body"), told("Looked up."), shown, told("## Next"), told("**Why.** So.")]
    for number in (1, 2, 4):
        cells[number].metadata["tags"] = ["appendix"]
    path = tmp_path / "notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    found = soup(page.write_page(path, tmp_path / "index.html", title="t"))
    folds = found.select("main details.appendix")
    assert [fold.summary.get_text() for fold in folds] == ["Shares <b> & more", "Why"]
    assert folds[0].select_one("table.gt_table") and "Looked up." in folds[0].get_text()
    assert not any(fold.find("h2") for fold in folds)
    headings = [one.get_text(strip=True).rstrip("¶") for one in found.select("main h2")]
    assert headings == ["Body", "Next"]


def test_what_is_declared_stands_at_the_head_wherever_it_is_computed(tmp_path: Path) -> None:
    told = nbformat.v4.new_markdown_cell
    declared = printing("the claims")
    declared.metadata["tags"] = ["claims"]
    cells = [told("# Title\n\nThe question."), printing("before"), told("## Later"), declared]
    text = soup(written(tmp_path, *cells)).get_text()
    order = [text.index(one) for one in ("the claims", "The question.", "before", "Later¶")]
    assert order == sorted(order)
    assert text.count("the claims") == 1
    headless = soup(written(tmp_path, *cells[1:])).get_text()
    assert headless.index("before") < headless.index("the claims")
