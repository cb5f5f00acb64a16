"""All that is wrong with a run's inputs, not the first of it: errors collected, then one raised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

import pandas as pd

from nbbias.tables.errors import DataError, InputsError, NbbiasError, ParameterError, closest_match
from nbbias.tables.paths import resolve

P = ParamSpec("P")
T = TypeVar("T")


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


def refuse(problems: Sequence[NbbiasError]) -> None:
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
        raise InputsError([breach for problem in problems for breach in problem.located()])


def require_measurable(models: pd.Series, measurable: pd.Series, *, where: str) -> None:
    """Refuse models none of whose texts can be measured.

    Parameters
    ----------
    models
        Who wrote each text.
    measurable
        Whether that text can be measured, in the same order.
    where
        The table's name, for messages.

    Raises
    ------
    DataError
        Names each such model, with the number of its texts.

    Examples
    --------
    >>> require_measurable(pd.Series(["a", "b"]), pd.Series([True, False]), where="mine.csv")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: mine.csv: model 'b': none of its 1 texts can be measured
    """
    by_model = measurable.to_numpy(bool), models.astype("str").to_numpy()
    counted = pd.Series(by_model[0]).groupby(by_model[1], sort=False).agg(["sum", "size"])
    mute = counted[counted["sum"] == 0]
    if len(mute):
        told = [
            f"model {m!r}: none of its {n} texts can be measured" for m, n in mute["size"].items()
        ]
        raise DataError(where, told)


def check_blank_texts(problems: list[NbbiasError], texts: pd.DataFrame, *, where: str) -> list[str]:
    """Add models whose texts are all blank to the problems; say how many texts are.

    Parameters
    ----------
    problems
        Those found so far.
    texts
        `model`, `text`.
    where
        The table's name, for messages.

    Examples
    --------
    >>> check_blank_texts([], pd.DataFrame({"model": "m", "text": ["So.", " "]}), where="mine.csv")
    ['mine.csv: 1 of 2 answers are blank']
    """
    said = texts["text"].fillna("").astype("str").str.strip() != ""
    attempt(problems, require_measurable, texts["model"], said, where=where)
    return [] if said.all() else [f"{where}: {(~said).sum()} of {len(said)} answers are blank"]


def check_name(parameter: str, value: str, names: Iterable[str]) -> None:
    """Refuse what is none of some names, and no file or folder either.

    Parameters
    ----------
    parameter
        Where it stands, for messages.
    value
        A name, or a path.
    names
        Those that are known.

    Raises
    ------
    ParameterError
        With the nearest name.
    DataError
        A variable in the path is not set.

    Examples
    --------
    >>> check_name("scorer", "vadr", ["textblob", "vader"])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ParameterError: scorer: no 'vadr', nor a path; did you mean vader?
    """
    known = list(names)
    if value in known:
        return
    try:
        if resolve(value).exists():
            return
    except (OSError, ValueError):
        pass
    raise ParameterError(parameter, f"no {value!r}, nor a path; {closest_match(value, known)}")
