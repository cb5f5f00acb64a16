"""Measurement cards: what a study measures, for whom and whom not, and how often it was wrong.

Half of a card is written by people (``words/cards.yaml``), half is taken from what the package
knows: the shares of ``calibration.csv``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias.reading import names, prose
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

    By rate, the worst deciding limit first.

    Examples
    --------
    >>> list(calibrated("llmbi").rows)[:3]
    ['measure', 'rate', 'verdict']
    """
    rows = read_shipped_table("calibration.csv")
    if study is not None:
        rows = rows[rows["study"] == study]
    above = (rows["bound"] - rows["nominal"]) * np.where(rows["rate"] == "coverage", 1, -1)
    rows = rows.assign(above=above).sort_values(["rate", "above"], ignore_index=True)
    of = rows["study"].map(names.study).map(prose.capitalize) + ": " if study is None else ""
    keys = rows[["study", "measure", "statistic"]].to_numpy().tolist()
    columns = {
        "measure": of + pd.Series([names.calibrated(*key) for key in keys], dtype=str),
        "rate": rows["rate"],
        "verdict": rows["verdict"],
        "found": in_percent(rows[["share", "low", "high"]]),
        "worst": in_percent(rows[["worst", "worst_low", "worst_high"]]),
        "at": rows["at"],
        "bound": rows["bound"].mul(100).map("{:.1f}".format),
    }
    if study is None:
        columns |= {"n": rows["n"], "worst_n": rows["worst_n"]}
    table = caption(pd.DataFrame(columns), study="cards", name="calibrated")
    named = rows["at"].str.contains("short answers").any()
    return table if named else table._replace(note=str(table.note).partition(" Short answers")[0])


def in_percent(rows: pd.DataFrame) -> list[str]:
    r"""Write shares with their intervals, in percent.

    Examples
    --------
    >>> in_percent(pd.DataFrame([[0.5, 0.4, 0.6]]))
    ['50.0 [40.0,\xa060.0]']
    """
    shares = rows.mul(100).itertuples(index=False)
    return ["{:.1f} [{:.1f},\xa0{:.1f}]".format(*row) for row in shares]
