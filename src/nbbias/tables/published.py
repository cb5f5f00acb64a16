"""The figures that the papers print, to stand beside ours."""

from __future__ import annotations

import pandas as pd

from nbbias.tables.paths import data_path

#: The papers whose figures are shipped, by file.
PAPERS = (
    *("fang2024", "fang2024_models", "fang2024_refusals"),
    *("kumar2024", "kumar2024_examples", "oketunji2023", "fan2024"),
)


def read_published(name: str) -> pd.DataFrame:
    """Return a paper's printed figures as a table.

    Parameters
    ----------
    name
        One of `PAPERS`, such as ``"oketunji2023"``.

    Examples
    --------
    >>> len(read_published("oketunji2023"))
    18
    """
    return pd.read_csv(data_path(f"published/{name}.csv"))


def compare_with_published(
    ours: pd.DataFrame, printed: pd.DataFrame, *, on: list[str], value: str, printed_value: str
) -> pd.DataFrame:
    """Put printed figures beside measured ones.

    Parameters
    ----------
    ours, printed
        Tables that share the key columns `on`; keys are unique in `printed`.
    value, printed_value
        The measured and the printed column.

    Returns
    -------
    DataFrame
        Every row and column of `ours`, the measured one named `ours`, with `printed` (NaN
        where the paper prints none) and `difference`, ours minus printed.

    Examples
    --------
    >>> ours = pd.DataFrame({"model": ["a", "b"], "score": [0.5, 0.7]})
    >>> paper = pd.DataFrame({"model": ["a"], "value": [0.4]})
    >>> columns = {"on": ["model"], "value": "score", "printed_value": "value"}
    >>> compare_with_published(ours, paper, **columns).round(3)
      model  ours  printed  difference
    0     a   0.5      0.4         0.1
    1     b   0.7      NaN         NaN
    """
    left = ours.rename(columns={value: "ours"})
    right = printed[[*on, printed_value]].rename(columns={printed_value: "printed"})
    table = left.merge(right, on=on, how="left", validate="many_to_one")
    return table.assign(difference=table["ours"] - table["printed"])
