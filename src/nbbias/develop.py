"""What developers do in a checkout: test, lint, write notebooks' parameters, keep figures."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbbias import corpus, manifest, outputs, params, run_plan
from nbbias.errors import NbbiasError
from nbbias.execute import KERNEL, install_kernel
from nbbias.studies import STUDIES


def root() -> Path:
    """Return the checkout's folder, or say that there is none."""
    folder = run_plan.home()
    if not (folder / "pyproject.toml").is_file():
        raise NbbiasError("this command", "works in a checkout of nbbias; clone it and go there")
    return folder


def _call(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", *arguments], cwd=root()).returncode


def test(arguments: Sequence[str] = ()) -> int:
    """Run pytest; return its exit status."""
    return _call("pytest", *arguments)


def lint() -> int:
    """Run ruff's checks and its formatter in checking mode; return the exit status."""
    return _call("ruff", "check", ".") or _call("ruff", "format", "--check", ".")


def types() -> int:
    """Run mypy on the package; return its exit status."""
    return _call("mypy", "src")


def setup() -> int:
    """Install the checkout with its extras and pinned versions, and a kernel; return the status."""
    pinned = ("--constraint", "constraints.txt", "--editable", ".[all]")
    status = _call("pip", "install", "--disable-pip-version-check", *pinned)
    if status == 0:
        install_kernel()
    return status


def constraints() -> Path:
    """Write constraints.txt from the packages that are installed."""
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    told = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    # A local build ("+cpu") satisfies the plain version; elsewhere only that one is there.
    lines = [line.split("+")[0] for line in told.splitlines() if re.match(r"[\w.-]+==", line)]
    # By name: pip's own order differs from one version of pip to the next.
    lines.sort(key=lambda line: line.split("==")[0].lower())
    head = "# The exact versions that the tests pass with. Written by `make constraints`."
    return outputs.write(root() / "constraints.txt", "\n".join([head, *lines]) + "\n")


def lab(arguments: Sequence[str] = ()) -> int:
    """Open JupyterLab on the notebooks, in a checkout or a folder that `nbbias new` made.

    Arguments, such as ``--no-browser``, go to JupyterLab.
    """
    home = run_plan.home()
    if home == Path(run_plan.__file__).parent:
        raise NbbiasError("nbbias lab", "finds no notebooks here; `nbbias new DIR` lays them out")
    install_kernel()
    # Of several things to open JupyterLab takes the first: the user's, if one was named.
    opened = [*arguments, str(home / "notebooks")]
    command = [sys.executable, *LAB, "--notebook-dir", str(home), *opened]
    return subprocess.run(command, cwd=home).returncode


#: JupyterLab with settings of its own: it asks nobody for news or updates.
LAB = ["-m", "jupyterlab", f"--LabApp.app_settings_dir={corpus.data_path('lab')}"]


def figures(out: Path) -> Iterator[Path]:
    """Copy the figures of every sample run, with CSV twins, to ``figures/<stem>/``."""
    for stem in STUDIES:
        folder = out / stem / "sample"
        described = manifest.read(folder)
        if not described or described["status"] != "ok":
            raise NbbiasError(str(folder), "holds no finished run; `make studies` makes one")
        target = root() / "figures" / stem
        shutil.rmtree(target, ignore_errors=True)
        for path in sorted((folder / "figures").iterdir()):
            if path.suffix != ".pdf":  # for manuscripts; a repository needs one vector format
                yield outputs.write(target / path.name, path.read_bytes())


def notebooks() -> Iterator[Path]:
    """Write every notebook's `parameters` cell and metadata, and strip outputs."""
    for stem in STUDIES:
        path = root() / "notebooks" / f"{stem}.ipynb"
        outputs.write(path, source_of(path, stem))
        yield path


def source_of(path: Path, stem: str) -> str:
    """Return what a notebook's file should hold: its cells, without traces of a run."""
    import nbformat  # which takes seconds to import: no other verb needs it

    node = nbformat.read(path, as_version=4)
    for number, cell in enumerate(node.cells):
        cell["id"] = f"{stem.replace('_', '-')}-{number:02d}"
        tags = cell.metadata.get("tags", [])
        cell["metadata"] = nbformat.from_dict({"tags": tags} if tags else {})
        if "parameters" in tags:
            cell["source"] = params.cell_source(stem)
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    node["metadata"] = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "nbbias", "language": "python", "name": KERNEL},
            "language_info": {"name": "python"},
        }
    )
    return nbformat.writes(node, version=4) + "\n"


def clean() -> None:
    """Remove runs and caches."""
    for name in ("runs", "dist", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"):
        shutil.rmtree(root() / name, ignore_errors=True)
    for folder, _, _ in os.walk(root() / "src"):
        if Path(folder).name == "__pycache__":
            shutil.rmtree(folder, ignore_errors=True)
