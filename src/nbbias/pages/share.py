"""Taking a run or the studies elsewhere: an archive, and a new project folder."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from nbbias import params, studies, tables
from nbbias.pages import manifest
from nbbias.tables import NbbiasError, data_path, visible

#: The file in a run's folder that repeats it.
PARAMS = "params.yaml"
#: From a run's page to the list of all runs, which an archive does not hold.
TRAIL = '<a href="../../index.html">All runs</a> · '

_PACKED = ("notebook.ipynb", "index.html", "finding.json", "tables/*", "figures/*")
#: Parameters whose files come along: small lists of what is looked for, never texts.
_LISTS = ("lexicon_paths", "names_path", "suite_paths")
_DOCS = ("docs/howto/*.md", "docs/howto/*.ipynb")
_TEXTS = {".html", ".ipynb", ".json", ".csv", ".tex", ".svg"}
#: The same run gives the same archive: every file has a zip's oldest date.
_DATE = (1980, 1, 1, 0, 0, 0)
#: What is no part of a repository that measures.
_IGNORED = ".pip/\nanswers/\nreports/\nruns/\nsite/\n"


def yaml_of(stem: str, parameters: Mapping[str, Any]) -> str:
    """Return all parameters of a run as a params file."""
    return params.as_yaml({"study": stem, **parameters})


# --- a run --------------------------------------------------------------------------------------


def export(folder: Path, target: Path, *, force: bool = False) -> tuple[Path, list[str]]:
    """Pack a finished run as a zip, written whole or not at all.

    Parameters
    ----------
    folder
        The run's folder.
    target
        The archive, or a folder, in which it is named after the run's own. It holds the notebook,
        the page, tables (CSV, Parquet, LaTeX), figures, the manifest, `params.yaml`, the lists
        that the run read (of words, of names, of tasks; never texts), the word lists that the
        package brings, ``CITATION.bib``, and ``README.txt``, which says what else it takes to
        repeat the run. Of files on this machine it holds only the names.

    Returns
    -------
    path, files
        The archive and the files that it holds.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or the archive exists and `force` is not set.
    """
    content = manifest.read(folder)
    if content is None or content["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    lists = _lists(folder, content)
    files = portable(folder, _PACKED, lists=lists)
    if "index.html" in files:
        files["index.html"] = files["index.html"].replace(TRAIL.encode(), b"")
    files[PARAMS] = b"# README.txt says which data this run needs.\n" + files[PARAMS]
    files["README.txt"] = _readme(json.loads(files[manifest.NAME]), lists).encode()
    files |= {name: (folder / name).read_bytes() for name in lists.values()}
    for path in sorted(data_path("lexicons").iterdir()):
        files[f"lexicons/{path.name}"] = path.read_bytes()
    citation = studies.home() / "CITATION.bib"
    files |= {citation.name: citation.read_bytes()} if citation.is_file() else {}
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


def portable(
    folder: Path, patterns: Iterable[str], *, lists: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Return the regular files of a run by name, without paths of this machine.

    Parameters
    ----------
    folder
        A finished run's folder; links in it are left out.
    patterns
        Which of its files.
    lists
        Parameters, such as ``lexicon_paths.gender``, whose files come along, and under which name.

    Raises
    ------
    NbbiasError
        Another run took the place of this one meanwhile.
    """
    content = manifest.read(folder) or {}
    shown = _shown_paths(content, lists or {})
    local = {path.encode(): name.encode() for path, name in shown.items() if _is_local(path)}
    files = {}
    for path in tables.regular_files(folder, *patterns):
        data = path.read_bytes()
        for private in sorted(local, key=len, reverse=True) if path.suffix in _TEXTS else ():
            data = data.replace(private, local[private])
        files[path.relative_to(folder).as_posix()] = data
    manifest.refuse_changed(folder, content)
    parameters = _map_texts(content.get("parameters", {}), lambda text: shown.get(text, text))
    data_files = {
        name: {**entry, "path": Path(shown.get(entry["path"], entry["path"])).name}
        for name, entry in content.get("data", {}).items()
    }
    public = {name: value for name, value in content.items() if name != "start"}
    public |= {"parameters": parameters, "data": data_files}
    text = json.dumps(public, indent=2, ensure_ascii=False) + "\n"
    files[manifest.NAME] = text.encode()
    files[PARAMS] = yaml_of(content["study"], parameters).encode()
    return files


def keep_lists(folder: Path, description: Mapping[str, Any]) -> None:
    """Copy the lists that a run reads (of words, names, tasks; never texts) into its folder.

    An archive takes them from there, and nothing from where a manifest says it lies.
    """
    for name, entry in _list_entries(description).values():
        tables.write(folder / name, Path(entry["path"]).read_bytes())


def _list_entries(description: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return by parameter the name of each list in a run's folder, and its entry in `data`."""
    entries = description.get("data", {}).items()
    lists = [(name, entry) for name, entry in entries if name.partition(".")[0] in _LISTS]
    return {  # numbered: two folders may each have a list of one name
        name: (f"lists/{number}-{Path(entry['path']).name}", entry)
        for number, (name, entry) in enumerate(lists, start=1)
    }


def _lists(folder: Path, content: Mapping[str, Any]) -> dict[str, str]:
    """Return by parameter the lists in a run's folder that are the ones it read."""
    regular = set(tables.regular_files(folder, "lists/*"))
    return {
        parameter: name
        for parameter, (name, entry) in _list_entries(content).items()
        if folder / name in regular and tables.file_sha256(folder / name) == entry["sha256"]
    }


def _shown_paths(content: Mapping[str, Any], lists: Mapping[str, str]) -> dict[str, str]:
    """Return what stands for each path of a run where others read of it.

    That is the file's name in the archive, if it comes along; else the path as it was typed, where
    that starts with a variable such as ``${NBBIAS_DATA}``; else the file's name.
    """
    parameters, shown = content.get("parameters", {}), dict[str, str]()
    for parameter, entry in content.get("data", {}).items():
        typed = typed_path(parameters, parameter) or entry["path"]
        name = typed if typed.startswith("$") else PureWindowsPath(typed).name
        if parameter in lists:
            name = tables.notes.add(lists[parameter], tables.notes.split(typed)[1])
        elif name in shown.values() and shown.get(typed) != name:
            name = f"{parameter}-{name}"  # two files of one name
        shown |= {typed: name, entry["path"]: name}

    def collect(text: str) -> str:
        if _is_local(text):
            shown.setdefault(text, PureWindowsPath(text).name)
        return text

    _map_texts(parameters, collect)
    return shown


def _is_local(text: str) -> bool:
    absolute = PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute()
    return len(text) > 1 and (absolute or text.startswith(("~", "..")))


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in nested parameters."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _map_texts(part, change) for name, part in value.items()}
    return [_map_texts(part, change) for part in value] if isinstance(value, list) else value


def typed_path(parameters: Mapping[str, Any], name: str) -> str | None:
    """Return a path as it was typed, by its name in a manifest, such as ``suite_paths.1``."""
    whole, _, part = name.partition(".")
    value = parameters.get(whole)
    if isinstance(value, list) and part.isdigit() and 0 < int(part) <= len(value):
        value = value[int(part) - 1]
    elif isinstance(value, Mapping):
        value = value.get(part)
    return value if isinstance(value, str) else None


def _readme(content: Mapping[str, Any], lists: Collection[str]) -> str:
    missing = [
        f"  {typed_path(content['parameters'], name) or entry['path']}\n"
        f"    for {name}, SHA-256 {entry['sha256']}"
        for name, entry in content.get("data", {}).items()
        if name not in lists
    ]
    needs = ["It needs no other file."]
    if missing:
        needs = ["It needs these files, which are not part of this archive:", "", *missing, ""]
        needs += [f"Put them there, or write in {PARAMS} where they are."]
    lines = [
        f"The run {content['study']}/{content['run']} of nbbias. index.html is its page.",
        "",
        "To repeat it, in this folder, where nbbias is installed:",
        "",
        f"  nbbias run {PARAMS}",
        "",
        *needs,
    ]
    return visible("\n".join(lines)) + "\n"


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
        raise NbbiasError("--ci", f"no workflow for {ci!r}; there is: github")
    refuse_full(folder)
    source, folder = studies.home(), folder.absolute()
    patterns = ("notebooks/*.ipynb", "params/*/*.yaml", "params/*/*.csv", *_DOCS, "CITATION.bib")
    paths = sorted(path for pattern in patterns for path in source.glob(pattern))
    mark = "Notebooks of this folder are run by nbbias; see `nbbias new`.\n"
    files = {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}
    files |= {studies.MARK: mark.encode()} | (_workflow() if ci else {})
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new.") as beside:
        made = Path(beside) / "made"
        for name, data in files.items():
            tables.write(made / name, data)
        made.chmod(0o755)
        for path in made.rglob("*"):  # whatever the user's mask: notebooks are code
            path.chmod(path.stat().st_mode & ~0o022)
        made.rename(folder)  # which may be there, empty
    return len(files)


def _workflow() -> dict[str, bytes]:
    """Return what a repository on GitHub needs to measure and gate, by file."""
    templates = data_path("templates/ci")
    files = {
        ".github/workflows/bias.yml": "github.yaml",
        "ci/gate.sh": "gate.sh",
        "params/llmbi/ci.yaml": "params.yaml",
    }
    written = {name: (templates / template).read_bytes() for name, template in files.items()}
    requirement = f"nbbias[llm]=={tables.versions()['nbbias']}\n"
    return written | {"requirements.txt": requirement.encode(), ".gitignore": _IGNORED.encode()}


def refuse_full(folder: Path) -> None:
    """Refuse a folder that holds anything, or that nothing can be written to."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NbbiasError(str(folder), "is not empty; name a folder that is not there yet")
    if problem := tables.unwritable(folder):
        raise NbbiasError(str(folder), problem)
