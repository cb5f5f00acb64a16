"""What tests of runs are built from: a project with one small notebook, and planned runs of it."""

import re
from pathlib import Path

import nbformat

from nbbias import params, studies
from nbbias.pages import manifest
from nbbias.running import plan as run_plan, run
from tests.conftest import ROOT

SAMPLE = ROOT / "params/llmbi/sample.yaml"
#: The one block in which the pages of two runs differ: when, how long, which commit.
_PROVENANCE = re.compile(rb'<dl class="provenance">.*?</dl>', re.DOTALL)


def write_project(folder: Path, *cells: str, name: str = "sample", yaml: str = "seed: 1\n") -> Path:
    """Write a notebook of some cells after its parameters, and a params file; return the file."""
    (folder / studies.MARK).touch()
    for part in ("notebooks", "params/llmbi"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    parameters = nbformat.v4.new_code_cell(params.cell_source(studies.study("llmbi").parameters))
    parameters.metadata["tags"] = ["parameters"]
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    notebook = nbformat.v4.new_notebook(cells=[parameters, *code])
    nbformat.write(notebook, folder / "notebooks/llmbi.ipynb")
    path = folder / f"params/llmbi/{name}.yaml"
    path.write_text(yaml)
    return path


def run_file(path: Path, out: Path) -> dict[str, str]:
    """Plan and run one params file; return the statuses."""
    return run.run(run_plan.plan([path], out=out), out=out, jobs=1, report=lambda *_: None)


def read_files(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_run(folder: Path) -> dict[str, bytes]:
    """Return what a run left, by path, but for when it was and how long it took."""
    files = read_files(folder)
    return {name: _PROVENANCE.sub(b"", files[name]) for name in files if name != manifest.NAME}
