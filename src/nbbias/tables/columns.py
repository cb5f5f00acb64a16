"""What the columns of a user's file may hold: every table that comes in is checked here, first.

A file says little of its kinds: CSV knows text alone, JSON nests, Parquet holds bytes, dates and
lists. A `Form` names the columns that a reader knows and what each may hold (a study's forms stand
where it reads); the result has plain cells of these kinds, or the table is refused with the column,
the first row and what was expected.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables import notes
from nbbias.tables.errors import ContractError, closest_match, describe_missing, similar_columns
from nbbias.tables.escape import visible


class Column(NamedTuple):
    """What a column of a file may hold.

    Attributes
    ----------
    kind
        ``"text"`` (a number is the text that writes it: 7, 7.0 and "7" are one id), ``"number"``
        (finite), ``"count"`` (whole, not below 0), ``"flag"`` (true or false, 1 or 0, yes or no).
        Any cell may be empty.
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

    kind: Literal["text", "number", "count", "flag"]
    needed: bool = False
    also: tuple[str, ...] = ()
    without: Literal["", "file", "row"] = ""


#: The columns of a file that a reader knows, by name.
Form = Mapping[str, Column]

#: Names that people give to what is read most.
WRITTEN = ("body", "content", "article", "article_text", "full_text", "story")
ANSWERED = (
    *("response", "answer", "output", "completion", "generation", "generated", "generated_text"),
    *("reply", "actual_output"),
)
SENTENCE = ("sentence", *WRITTEN[:2])
MODEL = ("llm", "model_name", "system", "engine", "generator")
ID = ("id", "uid", "doc_id", "document_id", "story_id", "item_id", "nr", "number")
ASKED = ("question", "input", "instruction")

#: The source of every row of a file that names none.
ONE_SOURCE = "all"

#: Whole numbers up to here are distinct as floats, too.
_LARGEST_COUNT = 2**53

_FLAGS = dict.fromkeys(("1", "1.0", "true", "yes"), True)
_FLAGS |= dict.fromkeys(("0", "0.0", "false", "no"), False)


@dataclass
class FileReading:
    """What was understood of a file: its columns, which of them is which, and the table made of it.

    Without a table it was refused. `assigned` are columns of the file by the name that the form has
    for them; "" for none.
    """

    path: str
    names: list[str]
    form: Form
    assigned: Mapping[str, str] = field(default_factory=dict)
    table: pd.DataFrame | None = None

    @cached_property
    def columns(self) -> dict[str, str]:
        """The column of the file for each name of the form that it has one for.

        A column that is `assigned` comes first, then one of the name itself, then one of the names
        that files have too; each as it is written, else without regard to capitals, spaces and
        underscores. Of two columns that differ in these alone, neither is taken.

        Examples
        --------
        >>> FileReading("it", ["Body ", "n"], {"text": Column("text", also=("body",))}).columns
        {'text': 'Body '}
        """
        names = list(dict.fromkeys(self.names))
        spellings = Counter(map(_fold, names))
        unique = {_fold(column): column for column in names if spellings[_fold(column)] == 1}
        matches = {name: column for name, column in self.assigned.items() if name in self.form}
        for also in (False, True):
            for name in [name for name in self.form if name not in matches]:
                words = self.form[name].also if also else (name,)
                candidates = [word if word in names else unique.get(_fold(word)) for word in words]
                free = [c for c in candidates if c and c not in matches.values()]
                matches |= {name: free[0]} if free else {}
        return {name: column for name, column in matches.items() if column in names}


def convert_columns(table: pd.DataFrame, file: FileReading, *, rest: bool = False) -> pd.DataFrame:
    """Return the columns of a form with plain cells of its kinds, or say everything that is wrong.

    Parameters
    ----------
    table
        As the file holds it; other columns than those of the form may be missing.
    file
        How the file is understood.
    rest
        Whether other columns are kept, as text.

    Raises
    ------
    ContractError
        Needed columns that are not there, names that occur twice, and each column with a cell of
        another kind: the first such row, counted from 1.

    Examples
    --------
    >>> form = {"text": Column("text", needed=True, also=("response",)), "n": Column("count")}
    >>> table = pd.DataFrame({"response": ["a", 7], "n": ["1", None]})
    >>> convert_columns(table, FileReading("it", list(table), form))["text"][1]
    '7'
    >>> convert_columns(pd.DataFrame({"n": [1, -1]}), FileReading("answers.csv", ["n"], form))
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ContractError: answers.csv: 2 problems
      - needs the column text; it has n; name it as in 'answers.csv?text=COLUMN'
      - column n: expected a whole number, 0 or more, but row 2 holds -1
    """
    names, form, matches = file.names, file.form, file.columns
    extras = [name for name in names if name not in form]
    absent = [name for name in form if name not in matches]
    near = similar_columns(absent, extras)
    filled = [name for name in absent if form[name].without and not near[name]]
    missing = [n for n in absent if form[n].needed and n not in filled and not file.assigned.get(n)]
    breaches = describe_missing(missing, names, expected=form, where=file.path)
    breaches += _unknown_columns(file)
    roles = {name: name for name in extras if rest} | {c: name for name, c in matches.items()}
    twice = [column for column in roles if names.count(column) > 1]
    breaches += [f"the column {visible(column)} occurs twice; keep one" for column in twice]
    if twice:
        raise ContractError(file.path, breaches)
    converted = {}
    for column in filter(roles.__contains__, names):  # in the order of the file
        kind = form[roles[column]].kind if roles[column] in form else "any"
        values, fault = convert(table[column].reset_index(drop=True), kind)
        converted[roles[column]] = values
        breaches += [f"column {visible(column)}: {fault}"] if fault else []
    ContractError.refuse(file.path, breaches)
    result = pd.DataFrame(converted, index=range(len(table)))
    defaults = {"file": Path(notes.split(file.path)[0]).stem, "row": number_rows(result)}
    return result.assign(**{name: defaults[form[name].without] for name in filled})


def number_rows(rows: pd.DataFrame) -> pd.Series:
    """Return ids for rows that have none: their numbers.

    Examples
    --------
    >>> number_rows(pd.DataFrame({"text": ["a", "b"]})).tolist()
    ['row 1', 'row 2']
    """
    return pd.Series([f"row {n}" for n in range(1, len(rows) + 1)], rows.index, dtype="str")


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _unknown_columns(file: FileReading) -> list[str]:
    """Say which of the columns that were given are none of the form, or none of the file."""
    faults = []
    for name, column in file.assigned.items() if file.form else ():
        if name not in file.form:
            near = closest_match(name, file.form)
            faults.append(f"no column {visible(name)!r} is read here; {near}")
        elif column and column not in file.names:
            near = visible(closest_match(column, file.names))
            faults.append(f"{name}: there is no column {visible(column)!r}; {near}")
    return faults


def identify_articles(table: pd.DataFrame) -> pd.DataFrame:
    """Give every row a source and, where the table has ids, a textual one.

    Headlines that are asked, originals and answers are joined by both, so a file without sources
    says the same on every side.

    Parameters
    ----------
    table
        `source`, or `outlet` in its place; ``"all"`` where there is neither. `article_id`: 7, 7.0
        and "7" are one article.

    Returns
    -------
    DataFrame
        A copy with `source` and `article_id` as text; what is missing stays missing.

    Examples
    --------
    >>> identify_articles(pd.DataFrame({"article_id": [7.0]})).to_dict("records")
    [{'article_id': '7', 'source': 'all'}]
    """
    source = table.get("source", table.get("outlet", ONE_SOURCE))
    table = table.assign(source=source).astype({"source": "str"})
    if "article_id" in table:
        ids = table["article_id"].astype("str")
        table["article_id"] = ids.str.strip().str.replace(r"^(\d+)\.0$", r"\1", regex=True)
    return table


# --- kinds ------------------------------------------------------------------------------------


def convert(values: pd.Series, kind: str) -> tuple[pd.Series, str]:
    """Return a column in its kind, and what is wrong with its cells, or "".

    Examples
    --------
    >>> convert(pd.Series(["1", "2.5"]), "count")[1]
    "expected a whole number, 0 or more, but row 2 holds '2.5'"
    """
    if (dtype := {"float": "float64", "text": "str"}.get(kind)) and values.dtype == dtype:
        return values, ""
    if kind == "float" and pd.api.types.is_float_dtype(values):
        return values.astype(float), ""
    if kind in {"text", "any"} and pd.api.types.infer_dtype(values) in {"string", "empty"}:
        return values.astype("str"), ""
    parse, expected, dtype = _KINDS[kind]
    cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in values]
    gaps = values.isna().to_numpy()
    converted = [None if gap else parse(cell) for cell, gap in zip(cells, gaps, strict=True)]
    if wrong := [i for i, cell in enumerate(converted) if cell is None and not gaps[i]]:
        fault = f"expected {expected}, but row {wrong[0] + 1} holds {_show(cells[wrong[0]])}"
        return values, fault + (f" ({len(wrong)} such rows)" if len(wrong) > 1 else "")
    result = pd.Series(converted, values.index, dtype=object).astype(dtype)
    whole = kind == "count" and result.notna().all()
    return (result.astype(int) if whole else result), ""


def _show(value: object) -> str:
    """Describe a cell in a message."""
    nouns = {bytes: "bytes", list: "a list", np.ndarray: "a list", dict: "an object"}
    text = str(value).lower() if isinstance(value, bool) else reprlib.repr(value)
    return nouns.get(type(value)) or visible(text)


def _to_text(value: object) -> str | None:
    """Return a text, or a number as it is written, in full."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not (number := Decimal(str(value))).is_finite():
        return None
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _to_any(value: object) -> str:
    text = _to_text(value)
    return _show(value) if text is None else text


def _to_number(value: object, holds: Callable[[float], bool] = math.isfinite) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if holds(number) else None


def _to_flag(value: object) -> bool | None:
    return _FLAGS.get(str(value).strip().lower())


def _is_count(number: float) -> bool:
    return number.is_integer() and 0 <= number < _LARGEST_COUNT


#: By kind: what converts a cell (None where it cannot), what is expected, and the column's dtype.
#: A float is a number that a measure gave, which may be infinite, as an F is where within groups
#: nothing varies. A column that no form names is shown as text, whatever it holds (`any`).
_KINDS: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "text": (_to_text, "text", "str"),
    "number": (_to_number, "a number", float),
    "float": (partial(_to_number, holds=lambda _: True), "a number", float),
    "count": (partial(_to_number, holds=_is_count), "a whole number, 0 or more", float),
    "flag": (_to_flag, "true or false (or 1 and 0, yes and no)", "boolean"),
    "any": (_to_any, "text", "str"),
}
