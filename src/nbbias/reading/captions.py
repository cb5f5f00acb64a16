"""Titles, notes and labels of tables, which are text: ``data/prose/tables.yaml``."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from nbbias.reading.tables import Table
from nbbias.tables import read_shipped_yaml


@cache
def _captions() -> dict[str, dict[str, dict[str, Any]]]:
    content: dict[str, dict[str, dict[str, Any]]] = read_shipped_yaml("prose/tables.yaml")
    return content


def caption(rows: pd.DataFrame, *, study: str, name: str) -> Table:
    """Return a table under the title, the note and the labels that its study gives to a name.

    Examples
    --------
    >>> caption(pd.DataFrame({"model": ["m"]}), study="llmbi", name="answers").title
    'Answers by model'
    """
    return Table(rows, **_captions()[study][name])
