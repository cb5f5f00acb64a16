"""Read tables of texts from the formats that people keep them in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.tables.errors import DataError

_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".parquet": pd.read_parquet,
    # Only an empty field is a gap: "None" and "NA" are words.
    ".csv": lambda path: pd.read_csv(
        path,
        encoding="utf-8-sig",
        keep_default_na=False,
        na_values=[""],
        dtype={"article_id": "str"},  # pandas would turn "007" into 7
    ),
    ".json": lambda path: _from_json(path),
    ".jsonl": lambda path: _from_json_lines(path),
}

#: The value of a path parameter that stands for the data shipped with the project.
SAMPLE = "sample"

#: The environment variable that names the folder at which relative paths start.
START = "NBBIAS_START"

#: No system has a longer path; what variables stand for is put in before one is looked up.
_LONGEST = 4096

_SURROGATE = re.compile("[\ud800-\udfff]")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def data_path(name: str) -> Path:
    """Return the path of a file shipped with the package, such as ``sample/x.jsonl``.

    Examples
    --------
    >>> data_path("datasets.csv").is_file()
    True
    """
    return Path(str(resources.files("nbbias").joinpath("data", name)))


def resolve(path: str) -> Path:
    """Turn a path as written in params into a path on this machine.

    ``~`` and environment variables are expanded. A relative path starts at the folder that
    `starting_at` names, that of the params file, else at the current one.

    Raises
    ------
    DataError
        A variable in the path is not set.

    Examples
    --------
    >>> import os
    >>> os.environ["SOME_FOLDER"] = "elsewhere"
    >>> resolve("${SOME_FOLDER}/answers.csv").as_posix()
    'elsewhere/answers.csv'
    """
    if len(path) > _LONGEST:
        raise DataError(path[:200], "is too long for a path")
    unset = [name for name in _VARIABLE.findall(path) if name not in os.environ]
    if unset:
        names = " and ".join(dict.fromkeys(unset))
        raise DataError(path, f"set the environment variable {names} to the folder that holds it")
    try:
        found = Path(os.path.expandvars(path)).expanduser()
    except RuntimeError:
        raise DataError(path, "the home folder it starts with is not known here") from None
    start = os.environ.get(START)
    return Path(os.path.normpath(Path(start, found))) if start and _is_relative(path) else found


def _is_relative(path: str) -> bool:
    """Tell whether a path as written starts at a folder that it does not name."""
    return bool(path) and not path.startswith(("$", "~")) and not Path(path).is_absolute()


@contextmanager
def starting_at(folder: Path) -> Iterator[None]:
    """Let relative paths start at a folder, here and in the processes that are started.

    Examples
    --------
    >>> with starting_at(Path("/studies")):
    ...     resolve("../answers.csv").as_posix(), resolve("/data/answers.csv").as_posix()
    ('/answers.csv', '/data/answers.csv')
    """
    before = os.environ.get(START)
    os.environ[START] = os.path.realpath(folder)
    try:
        yield
    finally:
        os.environ.pop(START)
        os.environ |= {START: before} if before is not None else {}


def written_from(path: str, *, start: Path, to: Path) -> str:
    """Write a relative path that starts at one folder as it is written from another.

    Examples
    --------
    >>> written_from("answers.csv", start=Path("/studies"), to=Path("/studies/runs/llmbi"))
    '../../answers.csv'
    >>> written_from("${SOME_FOLDER}/answers.csv", start=Path("/studies"), to=Path("/runs"))
    '${SOME_FOLDER}/answers.csv'
    """
    # What stands behind a link is elsewhere than it seems, and so is the folder above it.
    start, to = Path(os.path.realpath(start)), Path(os.path.realpath(to))
    if not _is_relative(path) or start == to:
        return path
    try:
        return Path(os.path.relpath(start / path, to)).as_posix()
    except ValueError:  # another drive of Windows
        return (start / path).as_posix()


def is_file(path: Path) -> bool:
    """Tell whether a path names a file; one that cannot even be looked up does not.

    Examples
    --------
    >>> is_file(data_path("datasets.csv"))
    True
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table from Parquet, CSV, JSON or JSON Lines.

    Parameters
    ----------
    path
        The file; its ending tells the format. UTF-8, with or without a byte order mark. JSON is
        a list of records or of texts, or an object: id → text, id → record, group → texts.

    Returns
    -------
    DataFrame
        One row per record, columns as in the file.

    Raises
    ------
    DataError
        The file is missing, empty, of an unknown format, or cannot be read as its format.

    Examples
    --------
    >>> list(read_table(data_path("llmbi_prompts.csv")))
    ['dimension', 'prompt']
    """
    shown, path = str(path), resolve(str(path))
    if not is_file(path):
        raise DataError(shown, f"no such file (looked for {path.absolute()})")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(shown, f"unknown format {path.suffix!r}; use {', '.join(_READERS)}")
    if path.stat().st_size == 0:
        raise DataError(shown, "the file is empty")
    try:
        table = reader(path)
    except UnicodeDecodeError as error:
        at = f"byte {error.start}"
        raise DataError(shown, f"is not UTF-8 ({at}); save it as UTF-8 and try again") from error
    except (ValueError, OSError, pd.errors.ParserError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(shown, f"cannot be read as {path.suffix[1:]}: {reason}") from error
    if table.empty:
        raise DataError(shown, "holds no rows")
    return table


def whole(value: Any) -> Any:
    r"""Return what was read from JSON or YAML with each lone surrogate as U+FFFD.

    Such escapes as ``\ud800`` stand for half a character, which no file, hash or request can hold.
    What is replaced counts as wrongly encoded where texts' health is told.

    Raises
    ------
    ValueError
        Two names of one object would become one.

    Examples
    --------
    >>> whole(["caf" + chr(0xD800), {"n": 1}]) == ["caf" + chr(0xFFFD), {"n": 1}]
    True
    """
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        # Both halves side by side, as YAML reads them, are one character.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {whole(name): whole(one) for name, one in value.items()}
    if len(found) < len(value):
        raise ValueError("holds names that differ only in halves of characters (lone surrogates)")
    return found


def _from_json_lines(path: Path) -> pd.DataFrame:
    """Read one record a line; pandas would turn "007" into 7."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    return pd.DataFrame.from_records([whole(json.loads(line)) for line in lines if line.strip()])


def _from_json(path: Path) -> pd.DataFrame:
    """Read JSON in any of the layouts in which releases come; a plain text becomes `text`."""
    content = whole(json.loads(path.read_text(encoding="utf-8-sig")))
    if isinstance(content, list):
        if all(isinstance(one, str) for one in content):
            return pd.DataFrame({"article_id": range(len(content)), "text": content})
        return pd.DataFrame.from_records(content)
    if not isinstance(content, dict):
        raise ValueError("holds neither a list nor an object")
    if all(isinstance(value, str) for value in content.values()):
        return pd.DataFrame({"article_id": list(content), "text": list(content.values())})
    if all(isinstance(value, dict) for value in content.values()):
        return pd.DataFrame([{"article_id": key, **value} for key, value in content.items()])
    if all(isinstance(value, list) for value in content.values()):
        # Running numbers are articles with several texts; words are groups of sentences.
        name = "article_id" if all(key.isdigit() for key in content) else "group"
        rows = [(key, text) for key, texts in content.items() for text in texts]
        return pd.DataFrame(rows, columns=[name, "text"])
    kinds = sorted({type(value).__name__ for value in content.values()})
    raise ValueError(f"is an object whose values are of several kinds: {', '.join(kinds)}")
