"""Taking a run or the studies elsewhere: an archive, and a folder of one's own."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import yaml

from nbbias import manifest, outputs, run_plan
from nbbias.corpus import data_path
from nbbias.errors import NbbiasError

_PACKED = ("notebook.ipynb", "index.html", "finding.json", "tables/*", "figures/*")
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
        the page, tables (CSV, Parquet, LaTeX), figures (SVG, PNG, CSV), `params.yaml`, the word
        lists that the package brings, the manifest without the paths of its data, and
        ``CITATION.cff``.

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
    for entry in described.get("data", {}).values():
        entry["path"] = Path(entry["path"]).name
    values = {"study": described["study"], **described.get("parameters", {})}
    texts = {
        "manifest.json": json.dumps(described, indent=2, ensure_ascii=False) + "\n",
        "params.yaml": yaml.safe_dump(values, sort_keys=False, allow_unicode=True),
    }
    files = {
        path.relative_to(folder).as_posix(): path
        for pattern in _PACKED
        for path in sorted(folder.glob(pattern))
    }
    lexicons = data_path("lexicons")
    files |= {f"lexicons/{path.name}": path for path in sorted(lexicons.iterdir())}
    if (run_plan.home() / "CITATION.cff").is_file():
        files["CITATION.cff"] = run_plan.home() / "CITATION.cff"
    if target.is_dir():
        whole = folder.resolve()
        target /= f"{whole.parent.name}-{whole.name}.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), text, zipfile.ZIP_DEFLATED)
        for name, path in files.items():
            info = zipfile.ZipInfo(name, _DATE)
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    outputs.write(target, buffer.getvalue())
    return target, len(texts) + len(files)


def new(folder: Path) -> int:
    """Copy the notebooks, the params files and what to cite to a new folder; return how many.

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
    for pattern in ("notebooks/*.ipynb", "params/*/*.yaml", "CITATION.cff"):
        for path in sorted(source.glob(pattern)):
            copy = folder / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            written += 1
    return written
