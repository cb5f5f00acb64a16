"""Taking a run or the studies elsewhere: an archive, and a new project folder."""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from nbbias import params, studies, tables
from nbbias.pages import manifest
from nbbias.reading import templates

#: The file in a run's folder that repeats it.
PARAMS = "params.yaml"
#: From a run's page to the list of all runs, which an archive does not hold.
TRAIL = '<a href="../../index.html">All runs</a> · '

_PACKED = ("notebook.ipynb", "index.html", "finding.json", "tables/*", "figures/*")
#: How a path of this machine begins, on whichever system.
_LOCAL = re.compile(r"[/\\~]|\.\.|[A-Za-z]:[/\\]")
_TEXTS = {".html", ".ipynb", ".json", ".csv", ".tex", ".svg"}
#: The same run gives the same archive: every file has a zip's oldest date.
_DATE = (1980, 1, 1, 0, 0, 0)

#: What a new project folder holds.
_COPIED = (
    *("notebooks/*.ipynb", "params/*/*.yaml", "params/*/*.csv", "CITATION.bib"),
    *("docs/howto/*.md", "docs/howto/*.ipynb"),
)


# --- a run --------------------------------------------------------------------------------------


def export(folder: Path, target: Path, *, force: bool = False) -> tuple[Path, list[str]]:
    """Pack a finished run as a zip, written whole or not at all.

    Parameters
    ----------
    folder
        The run's folder.
    target
        The archive, or a folder, in which it is named after the run's own. It holds the notebook,
        the page, tables (CSV, Parquet), figures, the manifest, `params.yaml`, the word
        lists that the package brings, ``CITATION.bib``, and ``README.txt``, which says what else
        it takes to repeat the run. Of files on this machine it holds only the names.

    Returns
    -------
    path, files
        The archive and the files that it holds.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or the archive exists and `force` is not set.
    """
    manifest.read_finished(folder)
    files = portable(folder, _PACKED)
    if "index.html" in files:
        files["index.html"] = files["index.html"].replace(TRAIL.encode(), b"")
    content = json.loads(files[manifest.NAME])
    files["README.txt"] = templates.render("export.txt.j2", **content).encode()
    for path in [*sorted(tables.data_path("lexicons").iterdir()), studies.home() / "CITATION.bib"]:
        if path.is_file():
            prefix = "lexicons/" if path.parent.name == "lexicons" else ""
            files[prefix + path.name] = path.read_bytes()
    if target.is_dir():
        whole = folder.resolve()
        target /= f"{whole.parent.name}-{whole.name}.zip"
    tables.refuse_target(target, force=force)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    tables.write(target, buffer.getvalue())
    return target, list(files)


def portable(folder: Path, patterns: Iterable[str]) -> dict[str, bytes]:
    """Return the regular files of a run by name, without paths of this machine.

    Parameters
    ----------
    folder
        A finished run's folder; links in it are left out.
    patterns
        Which of its files, beside the manifest and `params.yaml`.

    Raises
    ------
    NbbiasError
        Another run took the place of this one meanwhile.
    """
    content = manifest.read(folder) or {}
    names = _file_names(content)
    files = {}
    for path in tables.regular_files(folder, *patterns):
        data = path.read_bytes()
        for private in sorted(names, key=len, reverse=True) if path.suffix in _TEXTS else ():
            for written in {private, json.dumps(private)[1:-1], html.escape(private)}:
                data = data.replace(written.encode(), names[private].encode())
        files[path.relative_to(folder).as_posix()] = data
    if (manifest.read(folder) or {}) != content:  # whose private paths are others
        raise tables.NbbiasError(str(folder), "another run took its place meanwhile; try again")
    # What says where relative paths start is of this machine, too.
    public = {name: value for name, value in content.items() if name != "start"}
    public = params.walk(public, lambda _, leaf, __: names.get(str(leaf), leaf))
    files[manifest.NAME] = (json.dumps(public, indent=2, ensure_ascii=False) + "\n").encode()
    content = {"study": public["study"], **public.get("parameters", {})}
    files[PARAMS] = params.as_yaml(content).encode()
    return files


def _file_names(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths of this machine in a manifest, with the name of the file that each is of.

    Paths that start with a variable, such as ``${NBBIAS_DATA}``, stay as they were typed.
    """
    data = content.get("data", {})
    paths = [entry["path"] for entry in data.values()]

    def collect(name: str, leaf: Any, _: Any) -> None:
        if _LOCAL.match(text := str(leaf)) or (name in data and not text.startswith("$")):
            paths.append(text)

    params.walk(content.get("parameters", {}), collect)
    return {path: name for path in paths if (name := PureWindowsPath(path).name)}


# --- a new project ------------------------------------------------------------------------------


def new(folder: Path, *, ci: str | None = None) -> int:
    """Copy notebooks, params files, guides and what to cite to a new folder; return how many.

    Parameters
    ----------
    folder
        The folder, empty or not there yet.
    ci
        ``"github"``: a workflow that measures and gates is written, too.

    Raises
    ------
    NbbiasError
        The folder is not empty, or there is no such workflow.
    """
    if ci not in (None, "github"):
        raise tables.NbbiasError("--ci", f"no workflow for {ci!r}; there is: github")
    patterns = [(studies.home(), pattern) for pattern in _COPIED]
    # A workflow for GitHub and what it needs lie there as in the repository.
    patterns += [(tables.data_path("templates/ci"), "**/*")] * bool(ci)
    files = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for source, pattern in patterns
        for path in sorted(source.glob(pattern))
        if path.is_file()
    }
    files[studies.MARK] = b"Notebooks of this folder are run by nbbias; see `nbbias new`.\n"
    if ci:
        files["requirements.txt"] = f"nbbias[llm]=={tables.versions()['nbbias']}\n".encode()
        # What is no part of a repository that measures.
        files[".gitignore"] = b".pip/\nanswers/\nreports/\nruns/\nsite/\n"
    with new_folder(folder) as made:
        for name, data in files.items():
            tables.write(made / name, data)
        for path in made.rglob("*"):  # whatever the user's mask: notebooks are code
            path.chmod(path.stat().st_mode & ~0o022)
    return len(files)


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which takes its place when it is whole; refuse a place in use."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise tables.NbbiasError(str(folder), "is not empty; name a folder that is not there yet")
    if problem := tables.unwritable(folder):
        raise tables.NbbiasError(str(folder), problem)
    target = Path(os.path.realpath(folder))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new.") as temporary:
        made = Path(temporary) / "made"
        made.mkdir(mode=0o755)
        yield made
        made.rename(target)  # which may be there, empty
