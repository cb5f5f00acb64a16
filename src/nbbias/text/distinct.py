"""Texts that are equal are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pandas as pd
from joblib.externals.loky import get_reusable_executor

from nbbias.tables import map_chunks


def on_distinct(
    texts: Iterable[str | None], function: Callable[[list[str]], Any], *, missing: Any = np.nan
) -> np.ndarray:
    """Call a function on the distinct texts that are not blank; return its rows for all texts.

    Parameters
    ----------
    texts
        Texts in any number and order; missing and blank ones are left out.
    function
        A list of texts in, as many numbers or rows out.
    missing
        What stands in the rows of missing and blank texts.

    Returns
    -------
    array
        One row per text, in the order of `texts`.

    Examples
    --------
    >>> on_distinct(["ab", None, "c", "ab"], lambda texts: [len(text) for text in texts]).tolist()
    [2.0, nan, 1.0, 2.0]
    """
    listed = [text if isinstance(text, str) and text.strip() else None for text in texts]
    codes, distinct = pd.factorize(pd.Series(listed, dtype=object))
    rows = np.asarray(function(distinct.tolist()))
    blank = np.broadcast_to(np.asarray(missing), (1, *rows.shape[1:]))
    # Code -1, of a text that was left out, is the last row.
    return np.concatenate([rows, blank.astype(np.result_type(rows, blank), copy=False)])[codes]


def read_distinct(texts: pd.Series, function: str, *args: Any) -> list[pd.DataFrame]:
    """Call a function on chunks of the distinct texts; return its tables for all texts.

    Parameters
    ----------
    texts
        Texts by a unique index; missing ones have no rows.
    function
        As ``"module:function"``, since modules take seconds to load: it takes a list of texts and
        `args`, and returns one table or several, whose column `text` is a text's place in the list.
    *args
        Further arguments.

    Returns
    -------
    list of DataFrame
        The tables, with `text_id` (the index of `texts`) in place of `text`.
    """
    present = texts.dropna().astype(str)
    codes, distinct = pd.factorize(present)
    chunks = map_chunks(_read_chunk, pd.Series(distinct), args=(function, *args))
    if len(chunks) > 1:  # idle workers would hold spaCy and the words of the corpus
        get_reusable_executor(reuse=True).shutdown()
    return [_for_all(_concat(parts), codes, present.index) for parts in zip(*chunks, strict=True)]


def _read_chunk(texts: pd.Series, function: str, *args: Any) -> tuple[pd.DataFrame, ...]:
    """Number texts as the corpus does, of which they are a chunk."""
    tables = resolve_name(function)(texts.tolist(), *args)
    first = texts.index[0] if len(texts) else 0
    parts = tables if isinstance(tables, tuple) else (tables,)
    return tuple(table.assign(text=(table["text"] + first).astype("int32")) for table in parts)


def _concat(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other; categories stay categories."""
    for name in parts[0].select_dtypes("category"):
        categories = sorted(set().union(*(part[name].cat.categories for part in parts)))
        parts = [part.assign(**{name: part[name].cat.set_categories(categories)}) for part in parts]
    return pd.concat(parts, ignore_index=True)


def _for_all(table: pd.DataFrame, codes: np.ndarray, index: pd.Index) -> pd.DataFrame:
    """Give every text the rows of the distinct text that it is."""
    numbers = pd.DataFrame({"text_id": index, "text": codes.astype("int32")})
    return numbers.merge(table, on="text").drop(columns="text")
