"""What a number rests on: versions of packages, this package's measures, files by their bytes."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGES = (
    *("nbbias", "numpy", "pandas", "scipy", "statsmodels", "scikit-learn", "matplotlib"),
    *("seaborn", "textblob", "vaderSentiment", "spacy", "gensim", "detoxify", "torch"),
    *("transformers", "sentence-transformers", "alt-profanity-check", "papermill", "nbconvert"),
)

#: What measures for all studies, and what measures nothing in the package of one.
_SHARED = ("text", "fast", "stats", "refusals")
#: Folders of data that it reads by itself: word lists, sentences and counterparts, fitted heads;
#: beside them the folder of a package's own name.
_READ = ("lexicons", "audit", "refusals")
_READING = (
    *("figures.py", "sentences.py", "tables.py", "sample.py", "params.py", "explore"),
    "units.py",
    "measured.py",  # calls what measures, in the order in which a notebook does
)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces.

    Examples
    --------
    >>> len(file_sha256(Path(__file__)))
    64
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_json(value: Any) -> str:
    """Return the SHA-256 of a value as canonical JSON: the order of names does not matter.

    Examples
    --------
    >>> hash_json({"a": 1, "b": 2}) == hash_json({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of every package that can move a number.

    Examples
    --------
    >>> versions()["nbbias"]
    '0.1.0'
    """
    installed = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "not installed"
    return installed


def measuring(package: str, *, root: Path = Path(__file__).parents[1]) -> list[Path]:
    """Return the sources that a stage of a package rests on.

    They are what measures for all studies (`text`, `stats`, `refusals`) with the data that it reads
    by itself, and the package's own measures and data. Figures, sentences, printed tables,
    explorers, parameters, samples and what reads the units of a saved run move no number that a
    stage is given or returns: a changed label tunes nothing anew.
    """
    folders = [root / name for name in dict.fromkeys((*_SHARED, package)) if name]
    every = sorted(path for folder in folders for path in folder.rglob("*.py"))
    measures = [path for path in every if not {*_READING} & {*path.relative_to(root).parts[1:]}]
    read = [root / "data" / name for name in dict.fromkeys((*_READ, package)) if name]
    data = (path for folder in read for path in folder.rglob("*") if path.is_file())
    return measures + sorted(data)


@functools.cache
def measuring_version(module: str) -> str:
    """Return one hash of the sources that a module's stages rest on and of `versions`.

    They are those that `measuring` names of the module's package, and of a module of another's all
    of its package.
    """
    digest = hashlib.sha256(repr(sorted(versions().items())).encode())
    top, _, rest = module.partition(".")
    is_ours = top == __name__.partition(".")[0]
    paths = measuring(rest.partition(".")[0] if is_ours else "")
    for path in [*paths, *([] if is_ours else _sources(top))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(package: str) -> list[Path]:
    """Return the sources of another's package."""
    try:
        spec = find_spec(package)
    except ValueError:  # what was typed into an interpreter has no file
        return []
    if spec is None or spec.origin is None:
        return []
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]
