"""Where files are: paths as params files write them, and those of what the package brings."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import resources
from pathlib import Path

from nbbias.tables import notes
from nbbias.tables.errors import DataError, ParameterError, closest_match

#: The value of a path parameter that stands for the data shipped with the project.
SAMPLE = "sample"

#: The environment variable that names the folder at which relative paths start.
START = "NBBIAS_START"

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def data_path(name: str) -> Path:
    """Return the path of a file shipped with the package, such as ``sample/x.jsonl``.

    Parameters
    ----------
    name
        Path within the folder of shipped data.

    Examples
    --------
    >>> data_path("datasets.csv").is_file()
    True
    """
    return Path(str(resources.files("nbbias").joinpath("data", name)))


def resolve(path: str) -> Path:
    """Turn a path as written in params into a path on this machine.

    ``~`` and environment variables are expanded, notes on how the file is read (`notes`) are left
    out. A relative path starts at the folder that `starting_at` names, that of the params file,
    else at the current one.

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
    path, _ = notes.split(path)
    unset = [name for name in _VARIABLE.findall(path) if name not in os.environ]
    if unset and not is_file(Path(os.environ.get(START, ""), path)):  # whose name may hold the sign
        names = " and ".join(dict.fromkeys(unset))
        raise DataError(path, f"set the environment variable {names} to the folder that holds it")
    expanded = Path(os.path.expanduser(os.path.expandvars(path)))
    start = os.environ.get(START) if _is_relative(path) else ""
    return Path(os.path.normpath(Path(start, expanded))) if start else expanded


def _is_relative(path: str) -> bool:
    """Tell whether a path as written starts at a folder that it does not name."""
    return bool(path) and not path.startswith(("$", "~")) and not Path(path).is_absolute()


@contextmanager
def set_environment(**values: str) -> Iterator[None]:
    """Set environment variables for a while, for processes that are started meanwhile too.

    Examples
    --------
    >>> with set_environment(NBBIAS_WORKERS="2"):
    ...     os.environ["NBBIAS_WORKERS"]
    '2'
    """
    before = {name: os.environ.get(name) for name in values}
    os.environ |= values
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ |= {name: value} if value is not None else {}


def starting_at(folder: Path) -> AbstractContextManager[None]:
    """Let relative paths start at a folder for a while, in processes that are started too.

    Examples
    --------
    >>> with starting_at(Path("/studies")):
    ...     resolve("../answers.csv").as_posix(), resolve("/data/answers.csv").as_posix()
    ('/answers.csv', '/data/answers.csv')
    """
    return set_environment(**{START: os.path.realpath(folder)})


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
    return Path(os.path.relpath(start / path, to)).as_posix()


def is_file(path: Path) -> bool:
    """Tell whether a path names a file; one that cannot even be looked up does not.

    Examples
    --------
    >>> is_file(data_path("datasets.csv"))
    True
    """
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def others_write(folder: Path) -> str:
    """Say why other users could put files into a folder, or another in its place; else nothing.

    Examples
    --------
    >>> import tempfile
    >>> others_write(Path(tempfile.mkdtemp()))
    ''
    """
    if os.name != "posix":
        return ""
    if (status := folder.stat()).st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & 0o022:
        return f"others can write to it (chmod go-w {folder})"
    for above in folder.resolve().parents:
        if (mode := above.stat().st_mode) & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"others can write to {above}, above it (chmod o-w {above})"
    return ""


def check_name(parameter: str, value: str, names: Iterable[str]) -> None:
    """Refuse a value that is none of some names, and no file or folder either.

    Parameters
    ----------
    parameter
        The parameter's name, for messages.
    value
        A name, or a path.
    names
        The known names.

    Raises
    ------
    ParameterError
        With the closest name.
    DataError
        A variable in the path is not set.

    Examples
    --------
    >>> check_name("scorer", "vadr", ["textblob", "vader"])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ParameterError: scorer: no 'vadr', nor a path; did you mean vader?
    """
    choices = list(names)
    with suppress(OSError, ValueError):
        if value in choices or resolve(value).exists():
            return
    raise ParameterError(parameter, f"no {value!r}, nor a path; {closest_match(value, choices)}")
