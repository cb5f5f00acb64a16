"""What the columns of a user's file may hold: every table that comes in is checked here, first.

A file says little of its kinds: CSV knows text alone, JSON nests, Parquet holds bytes, dates and
lists. A `Form` names the columns that a reader knows and what each may hold; what comes out has
plain cells of these kinds, or is refused with the column, the first row and what was expected.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from nbbias.tables.errors import ContractError, closest_match, describe_missing
from nbbias.tables.escape import visible
from nbbias.tables.notes import parted


class Column(NamedTuple):
    """What a column of a file may hold.

    Attributes
    ----------
    kind
        ``"text"`` (a number is the text that writes it: 7, 7.0 and "7" are one id), ``"number"``
        (finite), ``"count"`` (whole, not below 0), ``"flag"`` (true or false, 1 or 0, yes or no),
        ``"nested"`` (a list or an object: its reader looks into it). Any cell may be empty.
    needed
        Whether a file without the column is refused.
    also
        Names under which files have it too.
    without
        What each row of a file has that has neither the column nor anything like it: ``"file"``,
        the name of the file; ``"row"``, the number of the row, as in ``"row 1"``.

    Examples
    --------
    >>> from nbbias.tables import Column
    >>> Column("text", also=("response",)).needed
    False
    """

    kind: Literal["text", "number", "count", "flag", "nested"]
    needed: bool = False
    also: tuple[str, ...] = ()
    without: Literal["", "file", "row"] = ""


#: The columns of a file that a reader knows, by name.
Form = Mapping[str, Column]
_NOTHING: Mapping[str, str] = MappingProxyType({})

#: Names that people give to what is read most.
WRITTEN = ("body", "content", "article", "article_text", "full_text", "story")
ANSWERED = (
    *("response", "answer", "output", "completion", "generation", "generated", "generated_text"),
    "reply",
)
SENTENCE = ("sentence", *WRITTEN[:2])
MODEL = ("llm", "model_name", "system", "engine", "generator")
ID = ("id", "uid", "doc_id", "document_id", "story_id", "item_id", "nr", "number")
ASKED = ("question", "input", "instruction")

#: Columns of a table of which all are kept.
_WIDEST = 500

_FLAGS = {
    **dict.fromkeys(("1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "false", "no"), False),
}
#: Whole numbers up to here are told apart by floats, too.
_COUNTABLE = 2**53


def parse_flag(value: object) -> bool | None:
    """Return what a cell says of yes and no, or None where it says neither.

    Examples
    --------
    >>> [parse_flag(one) for one in ("yes", 0, True, "maybe")]
    [True, False, True, None]
    """
    plain = isinstance(value, str | bool | int | float | np.generic)
    return _FLAGS.get(str(value).strip().lower()) if plain else None


def convert_columns(
    table: pd.DataFrame,
    form: Form,
    *,
    where: str,
    rest: bool = False,
    names: Sequence[str] = (),
    given: Mapping[str, str] = _NOTHING,
) -> pd.DataFrame:
    """Return the columns of a form with plain cells of its kinds, or say everything that is wrong.

    Parameters
    ----------
    table
        As a file holds it.
    form
        The columns that are known.
    where
        The file, for messages.
    rest
        Whether other columns are kept, as text.
    names
        What the file has, where that is more than `table`.
    given
        Columns of the file by the name that the form has for them; "" for none.

    Raises
    ------
    ContractError
        Needed columns that are not there, names that stand twice, and each column with a cell of
        another kind: the first such row, counted from 1.

    Examples
    --------
    >>> from nbbias.tables import Column, convert_columns
    >>> form = {"text": Column("text", needed=True, also=("response",)), "n": Column("count")}
    >>> table = pd.DataFrame({"response": ["a", 7], "n": ["1", None]})
    >>> convert_columns(table, form, where="it")["text"][1]
    '7'
    >>> convert_columns(pd.DataFrame({"n": [1, -1]}), form, where="answers.csv")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ContractError: answers.csv: 2 problems
      - needs the column text; it has n
      - column n: expected a whole number, 0 or more, but row 2 holds -1
    """
    names = [str(name) for name in (names or table.columns)]
    chosen = _chosen(form, names, given)
    absent = [name for name in form if name not in chosen]
    filled = [name for name in absent if form[name].without and not _near(name, names, form)]
    missing = [name for name in absent if form[name].needed and name not in filled]
    breaches = [describe_missing(missing, names, known=form)] if missing else []
    breaches += _strange(form, names, given)
    asked = {own: name for name, own in chosen.items()}
    if rest and len(names) > _WIDEST:
        raise ContractError(where, f"has {len(names):,} columns; {_WIDEST} or fewer are read")
    if rest:
        asked |= {name: name for name in names if name not in asked and name not in form}
    twice = [name for name in asked if names.count(name) > 1]
    breaches += [f"the column {visible(name)} stands twice; keep one" for name in twice]
    if twice:
        raise ContractError(where, breaches)
    columns = {}
    for own, name in asked.items():
        kind = form[name].kind if name in form else "any"
        values, told = _KINDS[kind](table[own].reset_index(drop=True))
        columns[name] = values
        breaches += [f"column {visible(own)}: {told}"] if told else []
    if breaches:
        raise ContractError(where, breaches)
    # The order of the file, whatever the order of the form.
    order = [asked[name] for name in names if name in asked]
    found = pd.DataFrame({name: columns[name] for name in order}, index=range(len(table)))
    instead = {"file": Path(parted(where)[0]).stem, "row": number_rows(found)}
    return found.assign(**{name: instead[form[name].without] for name in filled})


def number_rows(rows: pd.DataFrame) -> pd.Series:
    """Return ids for rows that have none: their numbers.

    Examples
    --------
    >>> number_rows(pd.DataFrame({"text": ["a", "b"]})).tolist()
    ['row 1', 'row 2']
    """
    return pd.Series([f"row {n}" for n in range(1, len(rows) + 1)], rows.index, dtype="str")


def known(form: Form, names: Sequence[str], *, given: Mapping[str, str]) -> dict[str, str]:
    """Return by the names of a form those columns of a file that it has names for.

    Examples
    --------
    >>> known({"text": Column("text", also=("body",))}, ["Body ", "n"], given={})
    {'text': 'Body '}
    """
    return _chosen(form, list(map(str, names)), given)


def _chosen(form: Form, names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return which column is which: as given, by its own name, then by names it has too."""
    chosen = {name: own for name, own in given.items() if name in form and own and own in names}
    left = [name for name in form if name not in given]
    spelt = Counter(map(_folded, dict.fromkeys(names)))
    for read in (str, _folded):
        for also in (False, True):
            free = {read(one): one for one in names if one not in chosen.values()}
            for name in (one for one in left if one not in chosen):
                tried = [read(one) for one in (form[name].also if also else (name,))]
                found = next((free.pop(one) for one in tried if one in free), None)
                # Of two columns that differ in capitals alone neither is meant.
                if found is not None and (read is str or spelt[_folded(found)] == 1):
                    chosen[name] = found
    return chosen


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _near(name: str, names: Sequence[str], form: Form) -> bool:
    strange = [one for one in names if one not in form]
    return "did you mean" in describe_missing([name], strange)


def _strange(form: Form, names: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """Say what was given that is no column: of the form, or of the file."""
    told = [
        f"no column {visible(name)!r} is read here; {closest_match(name, form)}"
        for name in given
        if form and name not in form
    ]
    return told + [
        f"{name}: there is no column {visible(own)!r}; {visible(closest_match(own, names))}"
        for name, own in given.items()
        if own and name in form and own not in names
    ]


# --- kinds ------------------------------------------------------------------------------------

_Told: TypeAlias = "tuple[pd.Series, str | None]"


def _each(values: pd.Series, convert: Callable[[Any], Any], expected: str) -> _Told:
    """Convert every cell that is not empty; `convert` returns None for one of another kind."""
    cells = values.tolist()
    found = [None if _gap(cell) else convert(cell) for cell in cells]
    bad = [i for i, cell in enumerate(cells) if found[i] is None and not _gap(cell)]
    told = None
    if bad:
        told = f"expected {expected}, but row {bad[0] + 1} holds {_shown(cells[bad[0]])}"
        told += f" ({len(bad)} such rows)" if len(bad) > 1 else ""
    return pd.Series(found, dtype=object), told


def _gap(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or value is pd.NA or value is pd.NaT


def _shown(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return "bytes"
    if isinstance(value, list | tuple | np.ndarray | set):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return visible(reprlib.repr(value))
    if isinstance(value, int | float | np.number | Decimal):
        return reprlib.repr(value.item() if isinstance(value, np.generic) else value)
    return f"{value} (a {type(value).__name__.lower()})"


def _text(values: pd.Series) -> _Told:
    if pd.api.types.infer_dtype(values, skipna=True) in {"string", "empty"}:
        return values.astype("str"), None
    found, told = _each(values, _written, "text")
    return found.astype("str"), told


def _written(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, Decimal) and value.is_finite():  # as written, not as a float has it
        whole = value == value.to_integral_value()
        return str(int(value)) if whole else f"{value:f}".rstrip("0")
    if isinstance(value, float | np.floating) and math.isfinite(value):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return None


def _number(values: pd.Series) -> _Told:
    found, told = _each(values, _finite, "a number")
    return found.astype(float), told


def _finite(value: object) -> float | None:
    if isinstance(value, bool | np.bool_):
        return None
    if not isinstance(value, str | int | float | np.number | Decimal):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _count(values: pd.Series) -> _Told:
    def whole(value: object) -> float | None:
        number = _finite(value)
        fits = number is not None and number.is_integer() and 0 <= number < _COUNTABLE
        return number if fits else None

    found, told = _each(values, whole, "a whole number, 0 or more")
    return found.astype(float if found.isna().any() or told else int), told


def _flag(values: pd.Series) -> _Told:
    found, told = _each(values, parse_flag, "true or false (or 1 and 0, yes and no)")
    return found.astype("boolean"), told


def _nested(values: pd.Series) -> _Told:
    def inside(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.tolist()
        return value if isinstance(value, list | dict) else None

    return _each(values, inside, "a list or an object")


def _any(values: pd.Series) -> _Told:
    """Read a column that no form names: what is no text is shown, and nothing is refused."""
    found, told = _text(values)
    if told is None:
        return found, None
    shown = [None if _gap(cell) else _written(cell) or _shown(cell) for cell in values.tolist()]
    return pd.Series(shown, dtype="str"), None


_KINDS: dict[str, Callable[[pd.Series], _Told]] = {
    "text": _text,
    "number": _number,
    "count": _count,
    "flag": _flag,
    "nested": _nested,
    "any": _any,
}
