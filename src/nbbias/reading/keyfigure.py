"""What leads a page, drawn: a panel a measure and group, a row a model, 0 or the reference.

>>> import pandas as pd
>>> from nbbias import tables
>>> row = {"model": "m", "measure": "word", "statistic": "my_share", "group": "x", "estimate": 0.1,
...        "ci_low": 0.0, "ci_high": 0.2, "null": 0.0, "n": 9}
>>> found = tables.estimates([row], study="mine", confidence=0.95)
>>> forest(found, reference="in the originals").rows["panel"].tolist()
['My share']
"""

from __future__ import annotations

import pandas as pd

from nbbias.reading import figures, names, plain, reach
from nbbias.reading.figures import Drawn
from nbbias.tables import escape

#: Panels that a reader takes in at once.
_PANELS = 4

#: What rows of a panel have in common.
_ALIKE = ("study", "measure", "statistic", "bias", "group", "confidence")


def forest(rows: pd.DataFrame, *, reference: str, unit: str = "articles") -> Drawn:
    """Draw what leads a page: every row with its interval, beside what it is compared with.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, of `reading.claims.declared` or those of one measure.
    reference
        What 0 stands for, such as ``"in the originals"``.
    unit
        What N counts.

    Returns
    -------
    Drawn
        With `panel` and `cell` in its rows; of more than four panels those with what is shown.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": 0.1, "n": 9}
    >>> drawn = forest(tables.estimates([row], study="mine"), reference="in the originals")
    >>> drawn.rows["cell"].tolist()
    ['m']
    """
    own = rows.assign(panel=[_panel(row) for row in rows.to_dict("records")])
    own = own[own.groupby("panel")["estimate"].transform("count") > 0]
    own = own.assign(cell=[_cell(row, own) for row in own.to_dict("records")])
    clear = reach.shown(own)["panel"].drop_duplicates().to_list()
    kept = [*clear, *(one for one in own["panel"].unique() if one not in clear)][:_PANELS]
    own = own[own["panel"].isin(kept)].reset_index(drop=True)
    own = _aligned(own)
    in_points = pd.Series([_scale(row) for row in own.to_dict("records")], own.index, dtype=float)
    ends = ["estimate", "ci_low", "ci_high", "null", "null_low", "null_high"]
    drawn = own.assign(**{end: own[end] * in_points for end in ends})

    n = sorted({int(one) for one in own["n"] if one})
    counted = f"N = {n[0]:,}" + (f" to {n[-1]:,}" if len(n) > 1 else "") if n else "N = 0"
    level = f"{own['confidence'].iloc[0]:.0%} " if len(own) else ""
    return Drawn(
        figures.claims(drawn, _axis, draw=figures.zero, hue="group"),
        own,
        f"Estimates with their intervals by model, a panel a measure; 0: as {reference}.",
        escape.without_markdown(plain.heading(own, none="No difference could be shown")),
        f"Means with {level}intervals, a row a model; 0: as {reference}. {counted} {unit}.",
    )


def _aligned(own: pd.DataFrame) -> pd.DataFrame:
    """Give every panel the same rows in the same order, so that their names stand once."""
    panels, cells = own["panel"].unique(), own["cell"].unique()
    if own.duplicated(["panel", "cell"]).any():
        return own
    every = pd.MultiIndex.from_product([panels, cells], names=["panel", "cell"])
    gaps = every.difference(pd.MultiIndex.from_frame(own[["panel", "cell"]]))
    alike = own.drop_duplicates("panel").set_index("panel")[[*_ALIKE]]
    more = gaps.to_frame(index=False).merge(alike, on="panel").reindex(columns=own.columns)
    more = more.assign(n=0, n_lost=0).astype(own.dtypes.to_dict())
    whole = pd.concat([own, more], ignore_index=True)
    return whole.set_index(["panel", "cell"]).reindex(every).reset_index()[list(own)]


def _panel(row: plain.Row) -> str:
    return plain.capital(names.measure(row))


def _cell(row: plain.Row, rows: pd.DataFrame) -> str:
    told = [str(row["model"])]
    by_panel = rows.groupby("panel")
    told += [str(row[key]) for key in ("prompt", "source") if (by_panel[key].nunique() > 1).any()]
    return " · ".join(told)


def _scale(row: plain.Row) -> float:
    """Return by what an estimate is multiplied to be in points."""
    return 100.0 if names.quantity(dict(row)).endswith(("points", "%")) else 1.0


def _axis(rows: pd.DataFrame) -> str:
    row = rows.iloc[0].to_dict()
    return "percentage points" if _scale(row) == 100 else str(row["measure"])
