"""Taking a run or the studies elsewhere: an archive, and a folder of one's own.

A run as others can read and repeat it: its parameters as YAML, and no path of this machine.
"""

from __future__ import annotations

import html
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from nbbias import params, studies, tables
from nbbias.pages import manifest as pages_manifest
from nbbias.tables import NbbiasError, data_path, visible

_PACKED = ("notebook.ipynb", "index.html", "finding.json", "tables/*", "figures/*")
#: Parameters whose files come along: small lists that say what is looked for, no texts.
_LISTS = ("lexicon_paths", "names_path", "suite_paths")
_DOCS = ("docs/howto/*.md", "docs/howto/*.ipynb")
#: The same run gives the same archive: a zip's oldest date stands for every file's.
_DATE = (1980, 1, 1, 0, 0, 0)

#: From a run's page to the list of all runs, which does not come along with one.
TRAIL = '<a href="../../index.html">All runs</a> · '


def export(folder: Path, target: Path, *, force: bool = False) -> tuple[Path, list[str]]:
    """Pack a finished run as a zip, written whole or not at all.

    Parameters
    ----------
    folder
        The run's folder.
    target
        The archive, or a folder, in which it is named after the run's own. It holds the notebook,
        the page, tables (CSV, Parquet, LaTeX), figures (SVG, PNG, CSV), the manifest,
        `params.yaml`, the lists that it names (of words, of names, of tasks; never texts), the
        word lists that the package brings, ``CITATION.bib``, and ``README.txt``, which says what
        else it takes to repeat the run. Of files on this machine it tells only the names.

    Returns
    -------
    path, files
        The archive and the files that it holds.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or the archive is there and is not to be replaced.
    """
    described = pages_manifest.read(folder)
    if described is None or described["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    lists = _lists(folder, described)
    shown = names(described, packed={name: kept for name, (kept, _) in lists.items()})
    told = manifest(described, shown)
    contents = {
        "manifest.json": json.dumps(told, indent=2, ensure_ascii=False) + "\n",
        PARAMS: "# README.txt says which data this run needs.\n"
        + yaml_of(told["study"], told["parameters"]),
        "README.txt": _read_me(told, come_along=lists),
    }
    packed = {name: text.encode() for name, text in contents.items()}
    for path in tables.regular_files(folder, *_PACKED):
        content = portable_content(path, shown).replace(TRAIL.encode(), b"")
        packed[path.relative_to(folder).as_posix()] = content
    pages_manifest.same(folder, described)
    for path in sorted(data_path("lexicons").iterdir()):
        packed[f"lexicons/{path.name}"] = path.read_bytes()
    packed |= {kept: path.read_bytes() for kept, path in lists.values()}
    if (studies.home() / "CITATION.bib").is_file():
        packed["CITATION.bib"] = (studies.home() / "CITATION.bib").read_bytes()
    if target.is_dir():
        whole = folder.resolve()
        target /= f"{whole.parent.name}-{whole.name}.zip"
    tables.refuse_target(target, force=force)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in packed.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    tables.write(target, buffer.getvalue())
    return target, list(packed)


def keep_lists(folder: Path, described: Mapping[str, Any]) -> None:
    """Copy the lists that a run reads (of words, names, tasks; never texts) into its folder.

    An archive then brings them along, and takes nothing from where a manifest says it lies.
    """
    for kept, entry in _kept_lists(described).values():
        tables.write(folder / kept, Path(entry["path"]).read_bytes())


def _kept_lists(described: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return by parameter where in a run's folder its lists lie, and what its manifest says."""
    entries = described.get("data", {}).items()
    lists = [(name, entry) for name, entry in entries if name.partition(".")[0] in _LISTS]
    # Two lists of one name, of two folders, stay two.
    return {
        name: (f"lists/{number}-{Path(entry['path']).name}", entry)
        for number, (name, entry) in enumerate(lists, start=1)
    }


def _lists(folder: Path, described: Mapping[str, Any]) -> dict[str, tuple[str, Path]]:
    """Return by parameter the lists that come along: their place in the archive, and here."""
    own = set(tables.regular_files(folder, "lists/*"))
    return {
        name: (kept, folder / kept)
        for name, (kept, entry) in _kept_lists(described).items()
        if folder / kept in own and tables.file_sha256(folder / kept) == entry["sha256"]
    }


def _read_me(told: Mapping[str, Any], *, come_along: Collection[str]) -> str:
    wanted = [
        f"  {typed_path(told['parameters'], name) or entry['path']}\n"
        f"    for {name}, SHA-256 {entry['sha256']}"
        for name, entry in told["data"].items()
        if name not in come_along
    ]
    lines = [
        f"The run {told['study']}/{told['run']} of nbbias. index.html is its page.",
        "",
        "To repeat it, in this folder, where nbbias is installed:",
        "",
        f"  nbbias run {PARAMS}",
        "",
        *(
            [
                "It needs these files, which are not part of this archive:",
                "",
                *wanted,
                "",
                f"Put them there, or write in {PARAMS} where they are.",
            ]
            if wanted
            else ["It needs no other file."]
        ),
    ]
    return visible("\n".join(lines)) + "\n"


#: Where a workflow stands in a repository, by who runs it.
WORKFLOWS = {"github": ".github/workflows/bias.yml", "gitlab": ".gitlab-ci.yml"}

#: What is no part of a repository that measures.
_IGNORED = ".pip/\nanswers/\nreports/\nruns/\nsite/\n"


def new(folder: Path, *, ci: str | None = None) -> int:
    """Copy notebooks, params files, guides and what to cite to a new folder; return how many.

    Parameters
    ----------
    folder
        The folder, empty or not there yet.
    ci
        One of `WORKFLOWS`: a workflow that measures and gates is written, too.

    Raises
    ------
    NbbiasError
        The folder is not empty.
    """
    refuse_full(folder)
    source, folder = studies.home(), folder.absolute()
    wanted = ("notebooks/*.ipynb", "params/*/*.yaml", "params/*/*.csv", *_DOCS, "CITATION.bib")
    paths = sorted(path for pattern in wanted for path in source.glob(pattern))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new.") as beside:
        laid = Path(beside) / "laid"  # its own, since what stands beside is for nobody else
        for path in paths:
            tables.write(laid / path.relative_to(source), path.read_bytes())
        more = {studies.MARK: "Notebooks of this folder are run by nbbias; see `nbbias new`.\n"}
        more |= _workflow(ci) if ci else {}
        for name, content in more.items():
            tables.write(laid / name, content)
        laid.chmod(0o755)  # whatever the user's mask: its notebooks are code
        laid.rename(folder)  # which may be there, empty
    return len(paths) + len(more)


def _workflow(ci: str) -> dict[str, str]:
    """Return what a repository needs to measure and gate, by file."""
    if ci not in WORKFLOWS:
        raise NbbiasError("--ci", f"no workflow for {ci!r}; there is: {', '.join(WORKFLOWS)}")
    templates = data_path("templates/ci")
    found = {
        WORKFLOWS[ci]: f"{ci}.yaml",
        "ci/gate.sh": "gate.sh",
        "params/llmbi/ci.yaml": "params.yaml",
    }
    written = {name: (templates / own).read_text("utf-8") for name, own in found.items()}
    needed = f"nbbias[llm]=={tables.versions()['nbbias']}\n"
    return written | {"requirements.txt": needed, ".gitignore": _IGNORED}


def refuse_full(folder: Path) -> None:
    """Refuse a folder that holds anything, or that nothing can be written to."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NbbiasError(str(folder), "is not empty; name a folder that is not there yet")
    if told := tables.unwritable(folder):
        raise NbbiasError(str(folder), told)


#: The file in a run's folder that repeats it.
PARAMS = "params.yaml"

_SCRIPT = re.compile(r"(<script>.*?</script>)", re.DOTALL)
_TEXTS = {".html", ".ipynb", ".json", ".csv", ".tex", ".svg", ".yaml"}


def yaml_of(stem: str, parameters: Mapping[str, Any]) -> str:
    """Return all parameters of a run as a params file."""
    return params.as_yaml({"study": stem, **parameters})


def names(
    described: Mapping[str, Any], *, packed: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return what stands for each path of a run where others read of it.

    Parameters
    ----------
    described
        The run's manifest.
    packed
        Parameters, such as ``lexicon_paths.gender``, whose files come along, and where they lie.

    Returns
    -------
    dict
        Path as typed or as resolved → where the file lies, if it comes along; else the path as
        typed, where that starts with a variable such as ``${NBBIAS_DATA}``; else the file's name.
    """
    parameters, found = described.get("parameters", {}), dict[str, str]()
    for name, entry in described.get("data", {}).items():
        typed = typed_path(parameters, name) or entry["path"]
        if packed and name in packed:
            shown = tables.notes.noted(packed[name], tables.notes.parted(typed)[1])
        elif typed.startswith("$"):
            shown = typed
        else:
            shown = PureWindowsPath(typed).name
            if shown in found.values() and found.get(typed) != shown:
                shown = f"{name}-{shown}"  # two files of one name
        found |= {typed: shown, entry["path"]: shown}
    for value in _texts(parameters):
        if value not in found and _of_this_machine(value):
            found[value] = PureWindowsPath(value).name
    return {path: shown for path, shown in found.items() if path != shown}


def typed_path(parameters: Mapping[str, Any], name: str) -> str | None:
    """Return a path as it was typed, by its name in a manifest, such as ``suite_paths.1``."""
    whole, _, part = name.partition(".")
    value = parameters.get(whole)
    if isinstance(value, list) and part.isdigit() and 0 < int(part) <= len(value):
        value = value[int(part) - 1]
    elif isinstance(value, Mapping):
        value = value.get(part)
    return value if isinstance(value, str) else None


def manifest(described: Mapping[str, Any], shown: Mapping[str, str]) -> dict[str, Any]:
    """Return a run's manifest with names in place of paths, those of its parameters too."""
    data = {
        name: {**entry, "path": Path(shown.get(entry["path"], entry["path"])).name}
        for name, entry in described.get("data", {}).items()
    }
    parameters = _replaced(described.get("parameters", {}), shown)
    told = {name: value for name, value in described.items() if name != "start"}
    return {**told, "parameters": parameters, "data": data}


def portable_content(path: Path, shown: Mapping[str, str]) -> bytes:
    """Return a file of a run, with names in place of paths where it is text."""
    if path.suffix not in _TEXTS or not shown:
        return path.read_bytes()
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    # A page's own script stays as it is: its policy knows it by its hash.
    parts = _SCRIPT.split(text) if path.suffix == ".html" else [text]
    replaced = map(_in_text(shown), parts[::2])
    parts[::2] = replaced
    return "".join(parts).encode("utf-8", "surrogateescape")


#: A path that begins at a root, a drive or a home.
_PATH = re.compile(r"(?<![\w.:/\\])(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\:'\"`,;()<>\[\]]+){2,}")


def portable_text(text: str, described: Mapping[str, Any]) -> str:
    """Return what a run said, with names in place of paths of this machine."""
    told = _in_text(names(described))(text)
    return _PATH.sub(lambda found: PureWindowsPath(found[0]).name, told)


def _in_text(shown: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces paths in a text, be it plain, in JSON, in HTML, or JSON in HTML."""
    written: dict[str, str] = {}
    for path, name in shown.items():
        if not re.search(r"[/\\]", path):
            continue
        for one in (
            str,
            _json,
            html.escape,
            lambda text: html.escape(_json(text)),
            lambda text: _json(_json(text)),
        ):
            written.setdefault(one(path), one(name))
    if not written:
        return str
    # A relative path may be the end of another; one that names this machine goes everywhere.
    patterns = [
        (r"" if _of_this_machine(path) else r"(?<![\w./\\~$}-])") + re.escape(path) + r"(?![\w-])"
        for path in sorted(written, key=len, reverse=True)
    ]
    every = re.compile("|".join(patterns))
    return lambda text: every.sub(lambda found: written[found[0]], text)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _of_this_machine(value: str) -> bool:
    absolute = PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
    return len(value) > 1 and (absolute or value.startswith(("~", "..")))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def _replaced(value: Any, shown: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return shown.get(value, value)
    if isinstance(value, Mapping):
        return {name: _replaced(one, shown) for name, one in value.items()}
    return [_replaced(one, shown) for one in value] if isinstance(value, list) else value
