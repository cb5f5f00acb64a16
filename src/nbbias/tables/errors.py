"""The one family of errors that nbbias raises for a mistake in its input."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from nbbias.tables.escape import visible

#: Characters of a breach, and breaches of a message, that a person reads: a file may hold any text.
_LONGEST, _MOST = 400, 20
#: Columns that a message names.
_SHOWN = 20
#: Characters of all breaches that are told.
_PAGE = 4700


def _shortened(breach: str) -> str:
    half = _LONGEST // 2
    return breach if len(breach) <= _LONGEST else f"{breach[:half]} … {breach[-half:]}"


class NbbiasError(Exception):
    """What was wrong, where, and what to do; one entry per breach.

    Parameters
    ----------
    where
        The file, table or parameter set that was refused.
    breaches
        Every breach found, each a sentence that says what to do about it.
    """

    def __init__(self, where: str, breaches: Sequence[str] | str) -> None:
        self.where = _shortened(where)
        told = [breaches] if isinstance(breaches, str) else list(breaches)
        self.breaches = [_shortened(breach) for breach in told]
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:  # an error of a worker is told here, whole
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
        lengths = list(accumulate(map(len, self.breaches[:_MOST])))
        told = sum(length <= _PAGE for length in lengths)
        lines = "\n".join(f"  - {breach}" for breach in self.breaches[:told])
        if len(self.breaches) > told:
            lines += f"\n  … and {len(self.breaches) - told} more"
        return f"{self.where}: {len(self.breaches)} problems\n{lines}"


class ParameterError(NbbiasError):
    """A parameter is unknown, of the wrong type, out of range, or names no file."""


class ContractError(NbbiasError):
    """A table breaks its contract: a column is missing, or values are of the wrong kind."""


class DataError(NbbiasError):
    """A data file cannot be found, fetched or read."""


class InputsError(DataError):
    """Several tables or files were refused; each breach begins with its own."""

    def __init__(self, breaches: Sequence[str]) -> None:
        super().__init__("inputs", breaches)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.breaches,)

    def located(self) -> list[str]:
        """Return the breaches, which name their files themselves."""
        return list(self.breaches)


def closest_match(name: object, known: Iterable[object], *, told: int = 30) -> str:
    """Say which known name another one may stand for, or which there are.

    Parameters
    ----------
    name
        What is not known.
    known
        What is.
    told
        Names that are listed where none is near.

    Examples
    --------
    >>> closest_match("modle", ["model", "text"])
    'did you mean model?'
    >>> closest_match("x", ["model", "text"])
    'known: model, text'
    """
    names = list(dict.fromkeys(map(str, known)))
    folded = {one.lower(): one for one in reversed(names)}
    near = difflib.get_close_matches(str(name).lower(), folded, n=1, cutoff=0.5)
    if near:
        return f"did you mean {folded[near[0]]}?"
    if not names or not told:
        return "there is none" if not names else "none is near"
    more = f", … ({len(names)})" if len(names) > told else ""
    return f"known: {', '.join(names[:told])}{more}"


def describe_missing(
    missing: Sequence[str], names: Sequence[str], *, known: Iterable[str] = ()
) -> str:
    """Say which columns a table needs, which it has, and which of these may be meant.

    A column of a name that is `known` means itself.

    Examples
    --------
    >>> describe_missing(["text"], ["id", "Text "])
    'needs the column text; it has id, Text  (did you mean Text  for text?)'
    """
    have = visible(", ".join(map(str, names[:_SHOWN])))
    have += f", … ({len(names)} in all)" if len(names) > _SHOWN else ""
    noun = "column" if len(missing) == 1 else "columns"
    strange = [str(name) for name in names if name not in set(known)]
    folded = {name.strip().lower(): name for name in strange}
    near = {name: difflib.get_close_matches(name, folded, n=1, cutoff=0.75) for name in missing}
    near_by = [f"{visible(folded[one[0]])} for {name}" for name, one in near.items() if one]
    hint = f" (did you mean {', '.join(near_by)}?)" if near_by else ""
    return f"needs the {noun} {', '.join(missing)}; it has {have or 'none at all'}{hint}"
