"""Values as bytes, and back, without a line of code being run: what a stage keeps on disk.

Numbers are NumPy arrays (read with ``allow_pickle=False``), all else is JSON. Neither names a type
that could be imported: what is built is what the reader expects, told by a type such as that of a
function's result. Anything else is an error. A table comes back as it was, to its index and its
kinds of columns, which Parquet does not promise.
"""

from __future__ import annotations

import dataclasses
import json
import typing
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd

#: The member that holds all that is no array.
_TREE = "tree"

#: What is the same in JSON.
_PLAIN = {type(None), bool, int, float, str}


def pack(value: Any) -> bytes:
    """Write a value: tables, arrays, plain values, and lists, tuples and dicts of them.

    A named tuple or dataclass is its fields; what else there is says what it consists of by a
    method `parts`, and its class makes it again by `of_parts`.

    Raises
    ------
    TypeError
        It holds anything else.

    Examples
    --------
    >>> unpack(pack({"n": (1, 2.5)}), dict)
    {'n': (1, 2.5)}
    """
    arrays: list[np.ndarray] = []
    tree = json.dumps(_packed(value, arrays)).encode()
    file = BytesIO()
    members = {_TREE: np.frombuffer(zlib.compress(tree, 1), np.uint8)}
    np.savez(file, **members, **{f"a{at}": one for at, one in enumerate(arrays)})  # type: ignore[arg-type]
    return file.getvalue()


def unpack(data: bytes, kind: Any) -> Any:
    """Read what `pack` wrote, as the type that is expected.

    Raises
    ------
    Exception
        The bytes are damaged, or hold something else than `kind`.

    Examples
    --------
    >>> list(unpack(pack(pd.DataFrame({"a": [1]})), pd.DataFrame))
    ['a']
    """
    with np.load(BytesIO(data), allow_pickle=False) as file:
        tree = json.loads(zlib.decompress(file[_TREE].tobytes()))
        return _unpacked(tree, kind, lambda at: file[f"a{at}"])


def _packed(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return a value as JSON; arrays are put into a list and stand in it by number."""
    if type(value) in _PLAIN:
        return value
    if type(value) is list:
        return [_packed(one, arrays) for one in value]
    if isinstance(value, np.str_):
        return str(value)
    if value is pd.NA:
        return {"gap": 0}
    if type(value) is range:
        return {"numbers": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufM":
        arrays.append(np.asarray(value))
        return {"number" if isinstance(value, np.generic) else "array": len(arrays) - 1}
    if isinstance(value, pd.DataFrame):
        columns = [_values(value.iloc[:, at], arrays) for at in range(value.shape[1])]
        return {"frame": [columns, _index(value.columns, arrays), _index(value.index, arrays)]}
    if isinstance(value, pd.Series):
        name = _packed(value.name, arrays)
        return {"series": [_values(value, arrays), name, _index(value.index, arrays)]}
    if type(value) is tuple:
        return {"tuple": [_packed(one, arrays) for one in value]}
    if type(value) is dict:
        if all(type(k) is str and type(v) in _PLAIN for k, v in value.items()):
            return {"plain": value}
        return {"dict": [[_packed(k, arrays), _packed(v, arrays)] for k, v in value.items()]}
    if hasattr(value, "of_parts"):
        return {"made": _packed(value.parts(), arrays)}
    if isinstance(value, tuple) or dataclasses.is_dataclass(value):
        fields = [getattr(value, name) for name in _fields(type(value))]
        return {"made": [_packed(one, arrays) for one in fields]}
    raise TypeError(f"{type(value).__name__} cannot be kept")


def _fields(kind: Any) -> dict[str, Any]:
    return {name: hint for name, hint in typing.get_type_hints(kind).items() if name[0] != "_"}


def _values(series: pd.Series, arrays: list[np.ndarray]) -> list[Any]:
    """Return a column's kind and values."""
    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        known = _index(kind.categories, arrays)
        told = [known, bool(kind.ordered), _packed(series.cat.codes.to_numpy(), arrays)]
        return ["category", told]
    if isinstance(kind, np.dtype) and kind.kind in "biufM":
        return [kind.str, _packed(series.to_numpy(), arrays)]
    return [str(kind), [_packed(one, arrays) for one in series.tolist()]]


def _index(index: pd.Index, arrays: list[np.ndarray]) -> Any:
    names = [_packed(name, arrays) for name in index.names]
    if isinstance(index, pd.MultiIndex):
        levels = [index.get_level_values(at).to_series() for at in range(index.nlevels)]
        return {"levels": [_values(one, arrays) for one in levels], "names": names}
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    return {"values": _values(index.to_series(), arrays), "names": names}


def _unpacked(tree: Any, kind: Any, array: Any) -> Any:
    """Build what JSON says, if it is of the kind that is expected."""
    if kind is Any and not isinstance(tree, list | dict):
        return tree
    found = _built(tree, kind, array)
    expected = typing.get_origin(kind) or kind
    # What must be what was expected; of numbers and words a hint is a hint.
    held = (pd.DataFrame, pd.Series, np.ndarray, list, tuple, dict)
    whole = isinstance(expected, type) and (
        issubclass(expected, held) or dataclasses.is_dataclass(expected)
    )
    if whole and not isinstance(found, expected):
        raise ValueError(f"{type(found).__name__} in place of {expected.__name__}")
    return found


def _built(tree: Any, kind: Any, array: Any) -> Any:
    inner = typing.get_args(kind)
    if isinstance(tree, list):
        own = inner[0] if inner else Any
        return [_unpacked(one, own, array) for one in tree]
    if not isinstance(tree, dict):
        return tree
    ((told, held),) = tree.items()
    if told in {"array", "number"}:
        return array(held) if told == "array" else array(held)[()]
    if told == "gap":
        return pd.NA
    if told == "numbers":
        return range(*held)
    if told == "frame":
        columns, names, rows = held
        made = {at: _column(one, array) for at, one in enumerate(columns)}
        rows = _labels(rows, array)
        table = pd.DataFrame({at: one.set_axis(rows) for at, one in made.items()}, index=rows)
        return table.set_axis(_labels(names, array), axis=1)
    if told == "series":
        values, name, rows = held
        named = _unpacked(name, Any, array)
        return _column(values, array).set_axis(_labels(rows, array)).rename(named)
    if told == "tuple":
        alike = not inner or inner[-1] is Ellipsis
        kinds = [*inner, Any][:1] * len(held) if alike else inner
        return tuple(_unpacked(one, own, array) for one, own in zip(held, kinds, strict=True))
    if told == "plain" and all(type(one) in _PLAIN for one in held.values()):
        return held
    if told == "dict":
        key, own = inner or (Any, Any)
        return {_unpacked(k, key, array): _unpacked(v, own, array) for k, v in held}
    if told == "made" and hasattr(kind, "of_parts"):
        return kind.of_parts(_unpacked(held, Any, array))
    if told == "made" and (hasattr(kind, "_fields") or dataclasses.is_dataclass(kind)):
        pairs = zip(held, _fields(kind).values(), strict=True)
        return kind(*(_unpacked(one, own, array) for one, own in pairs))
    raise ValueError(f"{told} in place of {kind}")


def _column(told: list[Any], array: Any) -> pd.Series:
    kind, values = told
    if kind == "category":
        known, ordered, codes = values
        made = pd.Categorical.from_codes(
            _unpacked(codes, np.ndarray, array), _labels(known, array), ordered=ordered
        )
        return pd.Series(made)
    if isinstance(values, dict):
        return pd.Series(_unpacked(values, np.ndarray, array).astype(kind, copy=False))
    found = (_unpacked(one, Any, array) for one in values)
    held = np.fromiter(found, dtype=object, count=len(values))  # lists stay lists
    return pd.Series(held, dtype=object).astype(kind)


def _labels(told: Any, array: Any) -> pd.Index:
    names = [_unpacked(name, Any, array) for name in told["names"]]
    if "range" in told:
        return pd.RangeIndex(*told["range"], name=names[0])
    if "levels" in told:
        return pd.MultiIndex.from_arrays(
            [_column(one, array) for one in told["levels"]], names=names
        )
    return pd.Index(_column(told["values"], array), name=names[0])
