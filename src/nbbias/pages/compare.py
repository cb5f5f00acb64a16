"""Two runs of a study compared: what was set, what was read, and how the estimates moved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import reading
from nbbias.tables import ESTIMATE_KEYS, saved_table

_ROWS = 60


def settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what differs between two manifests: parameters, data, versions and the commit.

    Returns
    -------
    list of dict
        `kind`, `name`, and the value of the `first` and of the `second` run, as text.
    """
    rows = []
    for kind, one, other in (
        ("parameter", first.get("parameters", {}), second.get("parameters", {})),
        ("data", _hashes(first), _hashes(second)),
        ("version", first.get("versions", {}), second.get("versions", {})),
        ("commit", {"commit": _commit(first)}, {"commit": _commit(second)}),
    ):
        for name in dict.fromkeys([*one, *other]):
            if one.get(name) != other.get(name):
                rows.append(
                    {"kind": kind, "name": str(name), "first": str(one.get(name, "none")),
                     "second": str(other.get(name, "none"))}
                )  # fmt: skip
    return rows


def _hashes(described: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: f"{Path(entry['path']).name} ({entry['sha256'][:12]})"
        for name, entry in described.get("data", {}).items()
    }


def _commit(described: Mapping[str, Any]) -> str:
    git = described.get("git") or {}
    return str(git.get("commit"))[:12] + (", changed" if git.get("dirty") else "")


def estimates(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join the estimates of two runs, those that moved most first.

    Parameters
    ----------
    first, second
        ESTIMATES of two runs of one study.

    Returns
    -------
    DataFrame
        One row per claim of either run: its keys and `instrument`; `first` and `second` (the
        estimates), their intervals (`first_low`, …) and N; `difference` (second less first);
        `moved`, the difference in units of the wider interval's half; and `within`, whether each
        estimate lies in the other's interval. Two runs often share texts, so no test is made of
        the difference.
    """
    keys = [*ESTIMATE_KEYS, "instrument"]
    sides = []
    for name, one in (("first", first), ("second", second)):
        kept = one.reindex(columns=[*keys, "estimate", "ci_low", "ci_high", "n"])
        kept[keys] = kept[keys].astype(object).where(kept[keys].notna(), "")
        kept = kept.rename(
            columns={"estimate": name, "ci_low": f"{name}_low", "ci_high": f"{name}_high",
                     "n": f"{name}_n"}
        )  # fmt: skip
        sides.append(kept.drop_duplicates(keys))
    both = sides[0].merge(sides[1], on=keys, how="outer", sort=False)
    both["difference"] = both["second"] - both["first"]
    halves = [(both[f"{name}_high"] - both[f"{name}_low"]) / 2 for name in ("first", "second")]
    half = np.fmax(*halves)
    both["moved"] = both["difference"].abs() / half.where(half > 0)
    inside = both["second"].between(both["first_low"], both["first_high"])
    inside &= both["first"].between(both["second_low"], both["second_high"])
    known = both[
        ["difference", *(f"{s}_{e}" for s in ("first", "second") for e in ("low", "high"))]
    ]
    both["within"] = inside.astype("boolean").mask(known.isna().any(axis=1))
    order = both.sort_values(["moved", "difference"], ascending=False, na_position="last", key=abs)
    return order.reset_index(drop=True)


def shown(first: Path, second: Path) -> dict[str, Any]:
    """Return what a page shows of two runs' estimates: a sentence and a table."""
    tables = []
    for folder in (first, second):
        table = saved_table(folder, "estimates")
        if table is None:
            return {"sentence": f"{folder.name} left no estimates.", "table": ""}
        tables.append(table)
    joined = estimates(*tables)
    both = joined.dropna(subset=["difference"])
    if both.empty:
        return {"sentence": "No claim was measured in both runs.", "table": ""}
    told = both["within"].dropna()
    sentence = (
        f"{len(both)} of {len(joined)} claims were measured in both runs. Of the {len(told)} with "
        f"intervals in both, {int((~told.astype(bool)).sum())} have an estimate outside the other "
        "run's interval."
    )
    keys = [name for name in ESTIMATE_KEYS if name != "study" and (both[name] != "").any()]
    numbers = ["first", "first_low", "first_high", "second", "second_low", "second_high"]
    columns = [*keys, *numbers, "difference", "within"]
    words = both["within"].map({True: "yes", False: "no"}).astype(object)
    rows = both.assign(within=words.where(both["within"].notna(), "not known"))[columns]
    html = reading.show(
        rows.head(_ROWS), title="What moved most",
        labels={
            "first": first.name, "second": second.name, "first_low": "low", "first_high": "high",
            "second_low": "low ", "second_high": "high ", "within": "within both intervals",
        },
        note=f"The {min(len(rows), _ROWS)} of {len(rows)} claims that moved most, measured by the "
        "wider interval. The runs may share texts, so the difference has no test.",
    ).data  # fmt: skip
    return {"sentence": sentence, "table": html}
