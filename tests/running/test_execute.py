"""What is executed of a notebook, and how long its sections took."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from nbbias.pages import page
from nbbias.running import execute


def notebook(path: Path) -> Path:
    cells = [
        new_markdown_cell("# A study"),
        new_code_cell("1"),
        new_markdown_cell("## Words", metadata={"tags": ["level:word"]}),
        new_code_cell("2", metadata={"tags": ["level:word", "other"]}),
        new_markdown_cell("no heading"),
        new_code_cell("3"),
    ]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def sources(text: str) -> list[str]:
    return [cell.source for cell in nbformat.reads(text, as_version=4).cells]


def test_cells_of_a_level_that_was_not_asked_for_are_no_part_of_a_run(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.ipynb")
    assert len(sources(execute._chosen(path, []))) == 6
    assert sources(execute._chosen(path, ["level:word"])) == ["# A study", "1", "no heading", "3"]
    assert len(sources(execute._chosen(path, ["level:document"]))) == 6


def test_seconds_are_added_up_by_heading(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.ipynb")
    clocked = [(1, 0.5), (2, 2.0), (3, 2.0), (4, 5.0), (5, 5.0), (6, 5.5)]
    assert execute.by_section(path, clocked) == {"A study": 2.0, "Words": 3.5}
    assert execute.by_section(path, clocked[:2]) == {"A study": 2.0, "Words": 0.0}
    assert execute.by_section(tmp_path / "none.ipynb", clocked) == {}


def test_no_live_view_is_left_of_a_run(tmp_path: Path) -> None:
    live = {execute._LIVE: {"model_id": "1f", "version_major": 2}, "text/plain": "Batches: 0%"}
    cell = new_code_cell(
        "bar()",
        outputs=[
            new_output("display_data", data=live),
            new_output("execute_result", data={"text/plain": "42"}, execution_count=1),
        ],
    )
    whole = new_notebook(cells=[new_markdown_cell("text"), cell], metadata={"widgets": {"a": {}}})
    nbformat.write(whole, tmp_path / "n.ipynb")
    execute._strip(tmp_path / "n.ipynb")
    node = nbformat.read(tmp_path / "n.ipynb", as_version=4)
    assert "widgets" not in node.metadata
    assert [one["data"] for one in node.cells[1].outputs] == [{"text/plain": "42"}]
    page.write_page(tmp_path / "n.ipynb", tmp_path / "n.html", title="t")
    text = (tmp_path / "n.html").read_text()
    assert "42" in text and "Batches" not in text and "vnd.jupyter.widget" not in text


@pytest.mark.slow
def test_nothing_beside_received_data_is_run(tmp_path: Path) -> None:
    """Modules in the current folder, and notebooks in folders above it, are left alone."""
    home, here = tmp_path, tmp_path / "above" / "received"
    (tmp_path / "notebooks").mkdir()
    here.mkdir(parents=True)
    planted = "open(__file__ + '.ran', 'w').close()\n"
    for name in ("textblob", "pandas", "pickle", "nbbias", "joblib", "sitecustomize"):
        (here / f"{name}.py").write_text(planted)
    (here / "ipython_config.py").write_text(planted)
    (here / "jupyter_config.py").write_text(planted)
    cell = new_code_cell(f"open({str(home / 'notebook.ran')!r}, 'w').close()")
    nbformat.write(new_notebook(cells=[cell]), home / "notebooks" / "llmbi.ipynb")
    command = [str(Path(sys.executable).with_name("nbbias")), "run", "llmbi", "-p", "draws=100"]
    done = subprocess.run(
        command, cwd=here, text=True, capture_output=True, env=os.environ | {"NBBIAS_CACHE": "off"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("notebooks: ")
    assert not list(tmp_path.rglob("*.ran"))
