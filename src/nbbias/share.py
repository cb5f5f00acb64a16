"""Taking a run or the studies elsewhere: an archive, and a folder of one's own."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nbbias import manifest, outputs, portable, run_plan
from nbbias.corpus import data_path, is_file
from nbbias.errors import NbbiasError
from nbbias.visible import visible

_PACKED = ("notebook.ipynb", "index.html", "finding.json", "tables/*", "figures/*")
#: Parameters whose files come along: small lists that say what is looked for, no texts.
_LISTS = ("lexicon_paths", "names_path", "suite_paths")
_DOCS = ("docs/*.md", "docs/*.ipynb")
#: The same run gives the same archive: a zip's oldest date stands for every file's.
_DATE = (1980, 1, 1, 0, 0, 0)


def export(folder: Path, target: Path) -> tuple[Path, int]:
    """Pack a finished run as a zip, written whole or not at all.

    Parameters
    ----------
    folder
        The run's folder.
    target
        The archive, or a folder, in which it is named after the run's own. It holds the notebook,
        the page, tables (CSV, Parquet, LaTeX), figures (SVG, PNG, CSV), the manifest,
        `params.yaml`, the lists that it names (of words, of names, of tasks; never texts), the
        word lists that the package brings, ``CITATION.cff``, and ``README.txt``, which says what
        else it takes to repeat the run. Of files on this machine it tells only the names.

    Returns
    -------
    path, files
        The archive and how many files it holds.

    Raises
    ------
    NbbiasError
        The folder holds no finished run.
    """
    described = manifest.read(folder)
    if described is None or described["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    lists = _lists(described)
    shown = portable.names(described, packed={name: kept for name, (kept, _) in lists.items()})
    told = portable.manifest(described, shown)
    contents = {
        "manifest.json": json.dumps(told, indent=2, ensure_ascii=False) + "\n",
        portable.PARAMS: "# README.txt says which data this run needs.\n"
        + portable.yaml_of(told["study"], told["parameters"]),
        "README.txt": _read_me(told, come_along=lists),
    }
    packed = {name: text.encode() for name, text in contents.items()}
    for path in sorted(found for pattern in _PACKED for found in folder.glob(pattern)):
        packed[path.relative_to(folder).as_posix()] = portable.content(path, shown)
    for path in sorted(data_path("lexicons").iterdir()):
        packed[f"lexicons/{path.name}"] = path.read_bytes()
    packed |= {kept: path.read_bytes() for kept, path in lists.values()}
    if (run_plan.home() / "CITATION.cff").is_file():
        packed["CITATION.cff"] = (run_plan.home() / "CITATION.cff").read_bytes()
    if target.is_dir():
        whole = folder.resolve()
        target /= f"{whole.parent.name}-{whole.name}.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in packed.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    outputs.write(target, buffer.getvalue())
    return target, len(packed)


def _lists(described: Mapping[str, Any]) -> dict[str, tuple[str, Path]]:
    """Return by parameter the lists that come along: their place in the archive, and here."""
    found: dict[str, tuple[str, Path]] = {}
    for name, entry in described.get("data", {}).items():
        path = Path(entry["path"])
        # One that has changed since is not the run's: the archive then says what it takes.
        if name.partition(".")[0] not in _LISTS or not is_file(path):
            continue
        if manifest.file_sha256(path) == entry["sha256"]:
            # Two lists of one name, of two folders, stay two.
            found[name] = (f"lists/{len(found) + 1}-{path.name}", path)
    return found


def _read_me(told: Mapping[str, Any], *, come_along: Collection[str]) -> str:
    wanted = [
        f"  {portable.typed_path(told['parameters'], name) or entry['path']}\n"
        f"    for {name}, SHA-256 {entry['sha256']}"
        for name, entry in told["data"].items()
        if name not in come_along
    ]
    lines = [
        f"The run {told['study']}/{told['run']} of nbbias. index.html is its page.", "",
        "To repeat it, in this folder, where nbbias is installed:", "",
        f"  nbbias run {portable.PARAMS}", "",
        *(["It needs these files, which are not part of this archive:", "", *wanted, "",
           f"Put them there, or write in {portable.PARAMS} where they are."] if wanted
          else ["It needs no other file."]),
    ]  # fmt: skip
    return visible("\n".join(lines)) + "\n"


def new(folder: Path) -> int:
    """Copy notebooks, params files, guides and what to cite to a new folder; return how many.

    Raises
    ------
    NbbiasError
        The folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NbbiasError(str(folder), "is not empty; name a folder that is not there yet")
    if told := outputs.unwritable(folder):
        raise NbbiasError(str(folder), told)
    source, written = run_plan.home(), 0
    for pattern in ("notebooks/*.ipynb", "params/*/*.yaml", *_DOCS, "CITATION.cff"):
        for path in sorted(source.glob(pattern)):
            copy = folder / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            written += 1
    return written
