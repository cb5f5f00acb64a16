"""What people call a measure and a group, and which colour a group has, on all pages alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from nbbias.reading.sentences import number
from nbbias.tables import read_shipped_table

_COLOURS = read_shipped_table("words/colours.csv", role="str")

#: Colours of Okabe and Ito, darkened to be seen on white: a group's by the number in groups.csv.
PALETTE: list[str] = _COLOURS.loc[_COLOURS["colour"].notna(), "light"].to_list()

#: What is paper, ink, small print, and the band of chance.
ROLES: dict[str, str] = _COLOURS[_COLOURS["colour"].isna()].set_index("role")["light"].to_dict()


@cache
def _groups() -> dict[str, dict[str, Any]]:
    return read_shipped_table("words/groups.csv").set_index("group").to_dict("index")


@cache
def _measures() -> dict[tuple[str, str, str], dict[str, Any]]:
    table = read_shipped_table("words/measures.csv").fillna("")
    return table.set_index(["study", "measure", "statistic"]).to_dict("index")


def people(group: str) -> str:
    """Return what the people of a group are called; of an unknown group its name.

    Examples
    --------
    >>> people("female"), people("Sikh"), people("farmers")
    ('women', 'Sikhs', 'farmers')
    """
    return str(_groups().get(group, {}).get("people", group))


def of_people(group: str) -> str:
    """Return whose something is that is a group's.

    Examples
    --------
    >>> of_people("female"), of_people("Sikh")
    ("women's", "Sikhs'")
    """
    return str(_groups().get(group, {}).get("of", f"{group}'s"))


def colour(group: str) -> str | None:
    """Return a group's colour, which it has on all pages; None for one without.

    Examples
    --------
    >>> colour("Black") == colour("black"), colour("a group of the user's")
    (True, None)
    """
    known = _groups().get(group)
    return PALETTE[int(known["colour"]) % len(PALETTE)] if known else None


def judge(name: str) -> str:
    """Return what people call a judge, or two that are compared; of an unknown one its name.

    Examples
    --------
    >>> judge("keywords"), judge("gpt-4 − keywords")
    ('word list', 'gpt-4 − word list')
    """
    return " − ".join(_judges().get(one, one) for one in str(name).split(" − "))


@cache
def _judges() -> dict[str, str]:
    return dict(read_shipped_table("words/judges.csv").set_index("judge")["name"])


def order(models: Iterable[str]) -> list[str]:
    """Return names in the one order that they have on all pages; what is of all stands last.

    Examples
    --------
    >>> order(["gpt-10", "all", "Even", "gpt-2", "Even"])
    ['Even', 'gpt-2', 'gpt-10', 'all']
    """

    def key(name: str) -> tuple[Any, ...]:
        parts = re.split(r"(\d+)", name.casefold())
        numbers = [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]
        return name.split(" ")[0] == "all", numbers, name

    return sorted({str(name) for name in models}, key=key)


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    return _measures().get((str(row["study"]), str(row["measure"]), str(row["statistic"])), {})


def measure(row: Mapping[str, Any]) -> str:
    """Return what people call what a row of ESTIMATES measures; of an unknown one its statistic.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference",
    ...        "group": "female"}
    >>> measure(row), measure(row | {"statistic": "my_own"})
    ("women's share of the words", 'my own')
    """
    group = row.get("group")
    named = group if isinstance(group, str) else ""
    name = str(_told(row).get("name") or str(row["statistic"]).replace("_", " "))
    of = of_people(named) if named else "the group's"
    return name.replace("{of}", of).replace("{people}", people(named) if named else "the group")


def direction(row: Mapping[str, Any]) -> str:
    """Say what the sign of a row's estimate means, such as "smaller"; nothing where unknown.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> direction(row | {"estimate": -0.1}), direction(row | {"estimate": float("nan")})
    ('smaller', '')
    """
    side = {-1.0: "below", 1.0: "above"}.get(float(np.sign(row["estimate"])), "")
    return str(_told(row).get(side, ""))


def quantity(row: Mapping[str, Any], of: str = "estimate") -> str:
    """Write a value of a row as people say it: in points, in percent, or as a number.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference",
    ...        "estimate": -0.123}
    >>> quantity(row), quantity(row | {"statistic": "my_own"})
    ('−12.3 points', '−0.12')
    """
    value, unit = row[of], _told(row).get("unit", "")
    if unit in {"points", "percent"} and np.isfinite(value):
        sign = {"points": " points", "percent": "%"}[str(unit)]
        return f"{number(100 * value, decimals=1)}{sign}"
    return number(value)
