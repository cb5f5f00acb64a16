"""Measurement cards: what a study measures, for whom and whom not, and how often it was wrong.

Half of a card is written by people (``words/cards.yaml``), half is taken from what the package
knows: names and directions (``words/measures.csv``), and the shares of ``calibration.csv``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from nbbias.reading.tables import Table
from nbbias.tables import read_shipped_table, read_shipped_yaml

#: What is asked of every study, in this order, and how it is called.
ASKED = {
    "construct": "Construct",
    "harm": "Harm",
    "groups": "Groups",
    "left_out": "Who is left out",
    "unit": "Unit",
    "references": "References",
    "assumptions": "Assumptions",
    "failures": "Known failures",
    "not": "What not to conclude",
}


@cache
def _written() -> dict[str, dict[str, str]]:
    read: dict[str, Any] = read_shipped_yaml("words/cards.yaml")
    return {stem: {key: str(text) for key, text in one.items()} for stem, one in read.items()}


def card(study: str) -> Table:
    """Return a study's measurement card; without rows, where it has none.

    Examples
    --------
    >>> card("llmbi").rows["what"].tolist()[:3]
    ['Construct', 'Harm', 'Groups']
    >>> card("a study of another package").rows.empty
    True
    """
    written = _written().get(study)
    rows = [{"what": ASKED[key], "answer": written[key]} for key in ASKED] if written else []
    if rows:
        rows.insert(list(ASKED).index("unit") + 1, {"what": "Direction", "answer": _way(study)})
    return Table(
        pd.DataFrame(rows, columns=["what", "answer"]), "Measurement card", labels={"what": "asked"}
    )


def _way(study: str) -> str:
    """Say of the first statistic of each measure which way is which."""
    told = read_shipped_table("words/measures.csv")
    own = told[(told["study"] == study) & told["below"].notna()].drop_duplicates("measure")
    names = own["name"].str.replace("{of}", "a group's").str.replace("{people}", "a group")
    each = zip(names, own["below"], own["above"], strict=True)
    ways = [f"{name}: lower is {below}, higher {above}" for name, below, above in each]
    return "; ".join(ways) + "." if ways else "None has one."


def calibrated(study: str) -> Table:
    """Return a study's rows of the calibration that the package ships: what each measure errs.

    Examples
    --------
    >>> list(calibrated("llmbi").rows)[:3]
    ['measure', 'studies', 'coverage']
    """
    shipped = read_shipped_table("calibration.csv")
    own = shipped[shipped["study"] == study]
    rows = pd.DataFrame(
        {
            "measure": (own["measure"] + ": " + own["statistic"]).str.replace("_", " "),
            "studies": own["studies"].astype(int),
            "coverage": _share(own, "coverage"),
            "lowest": _worst(own, "coverage"),
            "false positives": _share(own, "false_positives"),
            "highest": _worst(own, "false_positives"),
        }
    )
    return Table(
        rows.reset_index(drop=True),
        "How often it was wrong where the truth was known",
        "Simulated studies over all worlds, sizes and numbers of units, with 95% intervals of the "
        "simulation: share of 95% intervals that hold the truth, and of tests at 5% that tell what "
        "is not there; then the number of units and the world in which it was worst, which was "
        "picked among many. Empty: it has no interval, or no test.",
    )


def _share(own: pd.DataFrame, name: str) -> list[str]:
    ends = own[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
    return ["" if pd.isna(at) else f"{at:.1%} [{low:.1%}, {high:.1%}]" for at, low, high in ends]


def _worst(own: pd.DataFrame, name: str) -> list[str]:
    ends = own[[f"{name}_worst", f"{name}_at"]].itertuples(index=False)
    return ["" if pd.isna(share) else f"{share:.1%} ({at})" for share, at in ends]
