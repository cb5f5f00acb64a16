"""Which article a row is about: its source, and its id, read alike on every side of a corpus."""

from __future__ import annotations

import re

import pandas as pd

#: The source of every row of a file that names none.
ONE_SOURCE = "all"


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
    table = table.copy()
    if "source" not in table:
        table["source"] = table.get("outlet", ONE_SOURCE)
    table["source"] = table["source"].astype("str").where(table["source"].notna())
    if "article_id" in table:
        ids = table["article_id"]
        table["article_id"] = ids.map(_id, na_action="ignore").astype("str").where(ids.notna())
    return table


def _id(value: object) -> str:
    """Write an id as text, whatever a file made of it."""
    text = str(value).strip()
    return text[:-2] if re.fullmatch(r"\d+\.0", text) else text
