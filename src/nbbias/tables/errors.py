"""The one family of errors that nbbias raises for a mistake in its input."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import Any, ParamSpec, TypeVar

from nbbias.tables import notes
from nbbias.tables.escape import visible

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")

#: Characters of a breach; breaches, and columns, that a message names: a file may hold any text.
_BREACH, _BREACHES, _COLUMNS = 400, 20, 20


class NbbiasError(Exception):
    """Base class of errors for users: what is wrong, where, and what to do.

    Parameters
    ----------
    where
        The file, table or parameter set that was refused.
    breaches
        Every breach, each a sentence that says what to do about it.
    """

    def __init__(self, where: str, breaches: Sequence[str] | str) -> None:
        self.where = _shorten(where)
        breaches = [breaches] if isinstance(breaches, str) else breaches
        self.breaches = [_shorten(breach) for breach in breaches]
        super().__init__(str(self))

    @classmethod
    def refuse(cls, where: str, breaches: Sequence[str]) -> None:
        """Raise all breaches as one error, if there are any."""
        if breaches:
            raise cls(where, breaches)

    def __reduce__(self) -> tuple[Any, ...]:  # an error of a worker reaches the notebook whole
        return type(self), (self.where, self.breaches)

    def located(self) -> list[str]:
        """Return every breach as a sentence of its own, which begins with where it is."""
        return [f"{self.where}: {breach}" for breach in self.breaches]

    def _render_traceback_(self) -> list[str]:
        """Tell IPython to show the message alone: a user's mistake needs no traceback."""
        return [visible(f"{type(self).__name__}: {self}")]

    def __str__(self) -> str:
        if len(self.breaches) == 1:
            return f"{self.where}: {self.breaches[0]}"
        lines = [f"  - {breach}" for breach in self.breaches[:_BREACHES]]
        more = len(self.breaches) - len(lines)
        lines += [f"  … and {more} more"] if more else []
        return "\n".join([f"{self.where}: {len(self.breaches)} problems", *lines])


def _shorten(breach: str) -> str:
    half = _BREACH // 2
    return breach if len(breach) <= _BREACH else f"{breach[:half]} … {breach[-half:]}"


class ParameterError(NbbiasError):
    """A parameter is unknown, of the wrong type, out of range, or names no file."""


class ContractError(NbbiasError):
    """A table lacks a column, or has values of the wrong type."""


class DataError(NbbiasError):
    """A data file cannot be found, fetched or read."""


class InputsError(DataError, ParameterError):
    """Several tables, files or parameters were refused; each message names its own."""

    def located(self) -> list[str]:
        """Return the breaches, which name their files themselves."""
        return list(self.breaches)


def attempt(
    problems: list[NbbiasError], read: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T | None:
    """Call a reader; where it refuses, add that to the problems and return None.

    Examples
    --------
    >>> from nbbias.tables import read_table
    >>> problems = []
    >>> attempt(problems, read_table, "nowhere.csv", {}) is None, len(problems)
    (True, 1)
    """
    try:
        return read(*args, **kwargs)
    except NbbiasError as error:
        problems.append(error)
        return None


def attempt_all(read: Callable[[A], T], items: Iterable[A], *, where: str = "inputs") -> list[T]:
    """Return what a reader makes of each item; raise all that it refuses as one.

    Examples
    --------
    >>> from nbbias.params import override
    >>> attempt_all(override, ["seed=1", "confidence=0.9"])
    [('seed', 1), ('confidence', 0.9)]
    """
    problems: list[NbbiasError] = []
    results = [attempt(problems, read, item) for item in items]
    refuse(problems, where=where)
    return [result for result in results if result is not None]


def refuse(problems: Sequence[NbbiasError], *, where: str = "inputs") -> None:
    """Raise all problems as one, if there are any: each breach begins with its file or table.

    Raises
    ------
    NbbiasError
        A single problem as it is, several as an InputsError.

    Examples
    --------
    >>> refuse([])
    >>> refuse([DataError("a.csv", "holds no rows"), DataError("b.csv", "holds no rows")])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.InputsError: inputs: 2 problems
      - a.csv: holds no rows
      - b.csv: holds no rows
    """
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise InputsError(where, [breach for problem in problems for breach in problem.located()])


def closest_match(name: object, choices: Iterable[object], *, listed: int = 30) -> str:
    """Suggest the known name that is closest to an unknown one, else list some that are known.

    Parameters
    ----------
    name
        The unknown name.
    choices
        The known names.
    listed
        Names that are listed where none is close.

    Examples
    --------
    >>> closest_match("modle", ["model", "text"])
    'did you mean model?'
    >>> closest_match("x", ["model", "text"])
    'known: model, text'
    """
    names = list(dict.fromkeys(map(str, choices)))
    folded = {choice.lower(): choice for choice in reversed(names)}
    if matches := difflib.get_close_matches(str(name).lower(), folded, n=1, cutoff=0.5):
        return f"did you mean {folded[matches[0]]}?"
    if not names or not listed:
        return "none is near" if names else "there is none"
    more = f", … ({len(names)})" if len(names) > listed else ""
    return f"known: {', '.join(names[:listed])}{more}"


def similar_columns(
    missing: Iterable[str], names: Sequence[str], *, expected: Iterable[str] = ()
) -> dict[str, list[str]]:
    """Return which column a table may have in the place of each that it lacks: one, or none.

    Examples
    --------
    >>> similar_columns(["text", "model"], ["id", "Text "])
    {'text': ['Text '], 'model': []}
    """
    pool = {str(name).strip().lower(): name for name in names if name not in set(expected)}
    close = difflib.get_close_matches
    return {n: [pool[match] for match in close(n, pool, n=1, cutoff=0.75)] for n in missing}


def describe_missing(
    missing: Sequence[str], names: Sequence[str], *, expected: Iterable[str] = (), where: str = ""
) -> list[str]:
    """Say which columns a table needs, which it has, which of these may be meant, and what to do.

    A column whose name is `expected` is no candidate. Columns of a file (`where`) can be named
    behind its path. Where none is missing, nothing is said.

    Examples
    --------
    >>> describe_missing(["text"], ["id", "Text "])
    ['needs the column text; it has id, Text  (did you mean Text  for text?)']
    >>> describe_missing(["model"], ["a&b"], where="x.csv?text=a%26b")[0].partition("as in ")[2]
    "'x.csv?text=a%26b&model=COLUMN'"
    """
    if not missing:
        return []
    have = visible(", ".join(map(str, names[:_COLUMNS]))) or "none at all"
    have += f", … ({len(names)} in all)" if len(names) > _COLUMNS else ""
    noun = "column" if len(missing) == 1 else "columns"
    near = similar_columns(missing, names, expected=expected)
    hints = [f"{visible(match)} for {name}" for name in near for match in near[name]]
    hint = f" (did you mean {', '.join(hints)}?)" if hints else ""
    if notes.split(where)[0].lower().endswith(notes.SUFFIXES):
        noted = notes.add(where, {name: (*near[name], "COLUMN")[0] for name in missing})
        hint += f"; name {'it' if len(missing) == 1 else 'them'} as in {visible(quote(noted))}"
    return [f"needs the {noun} {', '.join(missing)}; it has {have}{hint}"]
