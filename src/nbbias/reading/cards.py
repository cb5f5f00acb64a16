"""Measurement cards: what a study measures, for whom and whom not, and how often it was wrong.

Half of a card is written by people (``words/cards.yaml``), half is taken from what the package
knows: the shares of ``calibration.csv``.
"""

from __future__ import annotations

import pandas as pd

from nbbias.reading import names
from nbbias.reading.tables import Table, caption
from nbbias.tables import read_shipped_table, read_shipped_yaml


def card(study: str) -> Table:
    """Return a study's measurement card; without rows, where it has none.

    Examples
    --------
    >>> card("llmbi").rows["what"].tolist()[:3]
    ['Construct', 'Harm', 'Groups']
    >>> card("a study of another package").rows.empty
    True
    """
    written = read_shipped_yaml("words/cards.yaml")
    headings, answers = written["headings"], written.get(study, {})
    rows = [{"what": headings[key], "answer": answers[key]} for key in headings if answers]
    return caption(pd.DataFrame(rows, columns=["what", "answer"]), study="cards", name="card")


def calibrated(study: str | None = None) -> Table:
    """Return the rows of the calibration that the package ships: of a study, or of all.

    Examples
    --------
    >>> list(calibrated("llmbi").rows)[:3]
    ['measure', 'rate', 'nominal']
    """
    rows = read_shipped_table("calibration.csv")
    if study is not None:
        rows = rows[rows["study"] == study].reset_index(drop=True)
    of = rows["study"].map(names.study) + ": " if study is None else ""
    keys = rows[["study", "measure", "statistic"]].to_numpy().tolist()
    columns = {
        "measure": of + pd.Series([names.calibrated(*key) for key in keys], dtype=str),
        "rate": rows["rate"],
        "nominal": rows["nominal"].map("{:.0%}".format),
        "found": _written_out(rows[["share", "low", "high"]], "{:.1%} [{:.1%}, {:.1%}]"),
        "verdict": rows["verdict"],
        "n": rows["n"],
        "worst": _written_out(rows.loc[:, "worst":"at"], "{:.1%} [{:.1%}, {:.1%}; {} runs] ({})"),
        "bound": rows["bound"].map("{:.1%}".format),
    }
    return caption(pd.DataFrame(columns), study="cards", name="calibrated")


def _written_out(rows: pd.DataFrame, text: str) -> list[str]:
    return [text.format(*row) for row in rows.itertuples(index=False)]
