"""The figure that leads a page: a panel per measure and group, a row per model, 0 the reference.

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

from nbbias.reading import figures, names, phrases, prose, significance
from nbbias.reading.figures import Drawn
from nbbias.reading.prose import capitalize
from nbbias.tables import escape

#: Panels that a reader takes in at once.
_PANELS = 4

#: What rows of a panel have in common.
_ALIKE = ("study", "measure", "statistic", "bias", "group", "confidence")


def forest(rows: pd.DataFrame, *, reference: str, unit: str = "articles") -> Drawn:
    """Draw the rows that lead a page, with their intervals, around their reference.

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
        With `panel` and `cell` in its rows; of more than four panels the significant ones first.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": 0.1, "n": 9}
    >>> drawn = forest(tables.estimates([row], study="mine"), reference="in the originals")
    >>> drawn.rows["cell"].tolist()
    ['m']
    """
    shown = rows.assign(panel=[capitalize(names.measure(row)) for row in rows.to_dict("records")])
    shown = shown[shown.groupby("panel")["estimate"].transform("count") > 0]
    values_of = shown.groupby("panel")[["prompt", "source"]].nunique()
    varying = [key for key in values_of if (values_of[key] > 1).any()]
    shown = shown.assign(cell=figures.cells(shown, ("model", *varying)))
    first = significance.significant(shown)["panel"].drop_duplicates().to_list()
    panels = [*first, *(name for name in shown["panel"].unique() if name not in first)][:_PANELS]
    shown = shown[shown["panel"].isin(panels)].reset_index(drop=True)
    title = phrases.heading(shown, none=prose.render("figures.no_difference"))
    shown = _aligned(shown)
    scale = pd.Series([_scale(row) for row in shown.to_dict("records")], shown.index, dtype=float)
    ends = ["estimate", "ci_low", "ci_high", "null", "null_low", "null_high"]
    counts = [f"{end:,.0f}" for end in (shown["n"][shown["n"] > 0].min(), shown["n"].max())]
    values = {"n": " to ".join(dict.fromkeys(counts)) if len(shown) else "0", "unit": unit}
    values["level"] = f"{shown['confidence'].iloc[0]:.0%}" if len(shown) else ""
    return Drawn(
        figures.claims(
            shown.assign(**{end: shown[end] * scale for end in ends}),
            _axis,
            draw=figures.zero,
            hue="group",
        ),
        shown,
        prose.render_plain("figures.forest_alt", reference=reference),
        escape.without_markdown(title),
        prose.render_plain("figures.forest_caption", reference=reference, **values),
    )


def _aligned(rows: pd.DataFrame) -> pd.DataFrame:
    """Give every panel the same rows in the same order, so that their names stand once."""
    if rows.duplicated(["panel", "cell"]).any():
        return rows
    keys = [rows["panel"].unique(), rows["cell"].unique()]
    index = pd.MultiIndex.from_product(keys, names=["panel", "cell"])
    whole = rows.set_index(["panel", "cell"]).reindex(index)
    by_panel = whole.groupby("panel", sort=False)
    for key in _ALIKE:  # what all rows of a panel have in common
        whole[key] = by_panel[key].transform("first")
    whole[["n", "n_lost"]] = whole[["n", "n_lost"]].fillna(0)
    return whole.reset_index()[list(rows)]


def _scale(row: significance.Row) -> float:
    """Return the factor by which an estimate is drawn: percentage points are drawn as such."""
    return 100.0 if names.quantity(row).endswith(("points", "%")) else 1.0


def _axis(rows: pd.DataFrame) -> str:
    row = rows.iloc[0].to_dict()
    return "percentage points" if _scale(row) == 100 else str(row["measure"])
