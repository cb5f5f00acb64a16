"""What a number rests on: versions of packages, this package's measures, files by their bytes."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = (
    *("nbbias", "numpy", "pandas", "scipy", "statsmodels", "scikit-learn", "matplotlib"),
    *("seaborn", "textblob", "vaderSentiment", "spacy", "gensim", "detoxify", "torch"),
    *("transformers", "sentence-transformers", "alt-profanity-check", "papermill", "nbconvert"),
)

#: What measures for all studies.
_SHARED = ("text", "fast", "stats", "refusals")
_ROOT = Path(__file__).parents[1]


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> len(file_sha256(Path(__file__)))
    64
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_text(text: object) -> str:
    """Return a text's id: the start of its SHA-256.

    Examples
    --------
    >>> len(hash_text("It rains."))
    16
    """
    return hashlib.sha256(str(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


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


@functools.cache
def measuring_version(module: str, *, root: Path = _ROOT) -> str:
    """Return one hash of all that a number of a module rests on.

    It is of `versions`, of the sources of what measures for all studies (`text`, `fast`,
    `stats`, `refusals`) and of the module's own package, and of the data that are shipped.
    """
    digest = hashlib.sha256(repr(sorted(versions().items())).encode())
    names = module.split(".")
    is_ours = names[0] == __name__.partition(".")[0]
    rooms = dict.fromkeys([*_SHARED, *(names[1:2] if is_ours else [])])
    sources = [path for room in rooms for path in (root / room).rglob("*.py")]
    data = [path for path in (root / "data").rglob("*") if path.is_file()]
    for path in [*sorted(sources), *sorted(data), *([] if is_ours else _sources(names[0]))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(package: str) -> list[Path]:
    """Return the sources of another's package."""
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)  # what was typed into an interpreter has none
    folders = getattr(module, "__path__", ())
    paths = [path for folder in folders for path in Path(folder).rglob("*.py")]
    return sorted(paths) or ([Path(file)] if file else [])
