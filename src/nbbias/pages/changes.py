"""How the claims of two runs of a study differ, tested on the units that both have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from nbbias import stats
from nbbias.pages import manifest
from nbbias.params import Units
from nbbias.studies import STUDIES
from nbbias.tables import SAMPLE, UNIT_KEYS, NbbiasError, saved_table

Row = dict[str, Any]
Key = tuple[str, ...]

#: A change this small is rounding.
_ROUNDING = 1e-9

#: What stands where a change has no test.
NO_UNITS = "no mean over single {units} that the run saves: a change has no paired test"
NOT_KNOWN = "measured without an interval: a change has no test"

_MODEL = UNIT_KEYS.index("model")


class Run(NamedTuple):
    """A finished run as it is compared: its manifest, ESTIMATES, and the units behind them."""

    folder: Path
    described: Mapping[str, Any]
    estimates: pd.DataFrame
    declared: pd.DataFrame
    units: dict[Key, pd.DataFrame]

    @property
    def study(self) -> Units:
        """What the study says of its units."""
        record = STUDIES.get(self.described["study"])
        load = record.units if record else None
        return load() if load else Units(lambda *_: pd.DataFrame(), {})

    @property
    def called(self) -> str:
        """What people call the study's units."""
        return self.study.called

    @property
    def answers(self) -> dict[str, tuple[str, list[str]]]:
        """The files of models' answers: the hash, and the runs that asked, by parameter."""
        found = {
            name: (entry["sha256"], list(entry.get("asked_in", [])))
            for name, entry in self.described.get("data", {}).items()
            if name.partition(".")[0] in self.study.answers
        }
        given = self.described.get("parameters", {})
        return found | {
            name: (SAMPLE, []) for name in self.study.answers if given.get(name) == SAMPLE
        }


def read(folder: Path) -> Run:
    """Read what a finished run saved.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or one that left no estimates.
    """
    path = folder / manifest.NAME
    return _read(folder, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=10)  # of ten runs each is compared with nine
def _read(folder: Path, _written: int) -> Run:
    described = manifest.read(folder)
    if described is None or described["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    estimates = saved_table(folder, "estimates")
    if estimates is None:
        raise NbbiasError(str(folder), "left no estimates")
    declared = saved_table(folder, "claims")
    study = STUDIES.get(described["study"])
    units: dict[Key, pd.DataFrame] = {}
    if study is not None and study.units is not None:
        try:
            units = _by_key(study.units().values(folder, described.get("parameters", {})))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise NbbiasError(str(folder), f"its tables cannot be read: {error}") from None
    named = [_named(one) for one in (estimates, estimates[:0] if declared is None else declared)]
    return Run(folder, described, named[0], named[1], _means_of(named[0], units))


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Give a table all that names a claim, a gap being empty text."""
    keys = table.reindex(columns=list(UNIT_KEYS)).astype(object)
    return table.assign(**keys.where(keys.notna(), "").astype(str))


def keys_of(table: pd.DataFrame) -> list[Key]:
    """Return what names each row of a table of a `Run`."""
    return list(table[list(UNIT_KEYS)].itertuples(index=False, name=None))


def _by_key(units: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    own = units.groupby(list(UNIT_KEYS), observed=True, sort=False)
    return {key: rows.set_index("unit")[["value", "cluster"]] for key, rows in own}


def _means_of(estimates: pd.DataFrame, units: dict[Key, pd.DataFrame]) -> dict[Key, pd.DataFrame]:
    """Keep the units whose mean the estimate is: a file that was changed since says nothing."""
    known = dict(zip(keys_of(estimates), estimates["estimate"], strict=True))
    return {
        key: rows
        for key, rows in units.items()
        if abs(rows["value"].mean() - known.get(key, np.nan)) <= _ROUNDING
    }


def as_one_model(first: Run, second: Run) -> tuple[Run, str]:
    """Give the first run's model the name of the second's, where each run is of one model alone.

    Returns
    -------
    run, told
        The first run, and what was taken for what; nothing where names agree.
    """
    one, other = (
        [name for name in run.estimates["model"].unique() if name] for run in (first, second)
    )
    if len(one) != 1 or len(other) != 1 or one == other:
        return first, ""
    name = other[0]

    def renamed(key: Key) -> Key:
        return (*key[:_MODEL], name if key[_MODEL] else "", *key[_MODEL + 1 :])

    tables = [
        table.assign(model=table["model"].where(table["model"] == "", name))
        for table in (first.estimates, first.declared)
    ]
    units = {renamed(key): rows for key, rows in first.units.items()}
    told = f"{one[0]} in {first.folder.name}, {name} in {second.folder.name}"
    return first._replace(estimates=tables[0], declared=tables[1], units=units), told


def paired(first: Run, second: Run, key: Key) -> pd.DataFrame:
    """Return the values of a claim in both runs, by unit: `first`, `second` and `cluster`.

    A value is missing where only the other run has the unit; without units the table is empty.
    """
    sides = [run.units[key] for run in (first, second) if key in run.units]
    if len(sides) < 2:
        return pd.DataFrame(columns=["first", "second", "cluster"])
    both = pd.concat([one["value"] for one in sides], axis=1, keys=["first", "second"])
    cluster = pd.concat([one["cluster"].astype(str) for one in sides])
    return both.assign(cluster=cluster[~cluster.index.duplicated()].reindex(both.index))


def changes(first: Run, second: Run) -> pd.DataFrame:
    """Say of every claim of two runs how it changed.

    Parameters
    ----------
    first, second
        Of `read`, of one study; the first one's model as of `as_one_model`.

    Returns
    -------
    DataFrame
        One row per claim that both runs measured: what names it (`UNIT_KEYS`); `first` and
        `second` with `_low`, `_high` and `_n`; `declared`, whether the second run declared it;
        `estimate`, the second less the first, with `ci_low`, `ci_high`, `test`,
        `statistic_value`, `df`, `p_value` and `reason`; `n`, the common units that these are of,
        and `only_first` and `only_second`; `moved`, whether anything changed beyond rounding.
        `p_adjusted` is Holm's, of the declared claims that moved and of the others. Of two groups
        that mirror each other the first stands.

        Claims that are means over units are tested on the common ones, paired (`stats.
        paired_change`). Where the runs have no unit in common they are independent, and the
        interval is that of two samples. Others have no interval and no test.
    """
    one, other = (
        dict(zip(keys_of(run.estimates), run.estimates.to_dict("records"), strict=True))
        for run in (first, second)
    )
    declared = set(keys_of(second.declared))
    rows = [
        _change(first, second, key, (one[key], other[key])) | {"declared": key in declared}
        for key in other
        if key in one and np.isfinite(one[key]["estimate"] - other[key]["estimate"])
    ]
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    table = table[~_mirrors(table)].reset_index(drop=True)
    moved = table["moved"].astype(bool)
    return stats.adjust(table, family=["declared"], where=moved)


_COLUMNS = (
    *UNIT_KEYS,
    "first",
    "first_low",
    "first_high",
    "first_n",
    "second",
    "second_low",
    "second_high",
    "second_n",
    "declared",
    "estimate",
    "ci_low",
    "ci_high",
    "n",
    "only_first",
    "only_second",
    "test",
    "statistic_value",
    "df",
    "p_value",
    "p_adjusted",
    "reason",
    "moved",
    "confidence",
)


def _change(first: Run, second: Run, key: Key, rows: tuple[Row, Row]) -> Row:
    told: Row = dict(zip(UNIT_KEYS, key, strict=True))
    for name, row in zip(("first", "second"), rows, strict=True):
        told |= {
            name: row["estimate"],
            f"{name}_low": row["ci_low"],
            f"{name}_high": row["ci_high"],
            f"{name}_n": row["n"],
        }
    levels = [row["confidence"] for row in rows if np.isfinite(row["confidence"])]
    level = max(levels, default=0.95)
    gaps = ("ci_low", "ci_high", "statistic_value", "df", "p_value", "p_adjusted")
    told |= dict.fromkeys(gaps, np.nan) | {"test": None, "confidence": level}
    difference = told["second"] - told["first"]
    if _same(first.units.get(key), second.units.get(key)):
        n = len(second.units[key])
        return told | {
            "estimate": 0.0,
            "n": n,
            "only_first": 0,
            "only_second": 0,
            "reason": None,
            "moved": False,
        }
    if key not in first.units or key not in second.units:
        why = {"reason": NO_UNITS.format(units=second.called), "n": 0, "only_first": 0}
        moved = bool(abs(difference) > _ROUNDING)
        return told | why | {"only_second": 0, "estimate": difference, "moved": moved}
    both = paired(first, second, key)
    common = both.dropna(subset=["first", "second"])
    told |= {
        "n": len(common),
        "only_first": int(both["second"].isna().sum()),
        "only_second": int(both["first"].isna().sum()),
    }
    if len(common):
        found = stats.paired_change(common, confidence=level).row()
        same = np.abs(common["first"] - common["second"]).max() <= _ROUNDING
        whole = told["only_first"] + told["only_second"] == 0
        return told | found | {"moved": not (same and (whole or abs(difference) <= _ROUNDING))}
    told |= {"estimate": difference, "moved": bool(abs(difference) > _ROUNDING)}
    return told | _independent(difference, rows, level)


def _same(one: pd.DataFrame | None, other: pd.DataFrame | None) -> bool:
    """Tell quickly whether units and values are the same, in the same order."""
    if one is None or other is None or not one.index.equals(other.index):
        return False
    return bool(np.abs(one["value"].to_numpy() - other["value"].to_numpy()).max() <= _ROUNDING)


def _independent(difference: float, rows: tuple[Row, Row], level: float) -> Row:
    """Return the interval and test of a difference of two runs that share no unit."""
    errors = stats.standard_errors(pd.DataFrame(rows).astype({"df": float, "confidence": float}))
    if errors.isna().any():
        return {"reason": NOT_KNOWN}
    error = float(np.sqrt((errors**2).sum()))
    z = difference / error
    half = norm.ppf((1 + level) / 2) * error
    return {
        "ci_low": difference - half,
        "ci_high": difference + half,
        "statistic_value": z,
        "p_value": float(2 * norm.sf(abs(z))),
        "test": "two samples, no unit in common",
        "reason": None,
    }


def _mirrors(table: pd.DataFrame) -> pd.Series:
    """Mark, of two groups of which one gains what the other loses, the second."""
    keys = [key for key in UNIT_KEYS if key != "group"]
    by = table.groupby(keys, sort=False)
    size = by["group"].transform("size")
    away = [by[name].transform("sum").abs() <= _ROUNDING for name in ("first", "second")]
    return (size == 2) & away[0] & away[1] & (by.cumcount() == 1) & (table["group"] != "")


def answered_before(first: Run, second: Run) -> list[str]:
    """Return the parameters by which two runs read answers that were recorded once."""
    old = first.answers
    return [
        name
        for name, (sha256, runs) in second.answers.items()
        if name in old and (sha256 == old[name][0] or set(runs) & set(old[name][1]))
    ]


def read_differently(first: Run, second: Run) -> list[str]:
    """Name the files and parameters in which two runs differ, those of claims and texts too."""
    sides = [run.described for run in (first, second)]
    files = [
        {name: entry["sha256"] for name, entry in one.get("data", {}).items()} for one in sides
    ]
    values = [one.get("parameters", {}) for one in sides]
    named = []
    for one, other in (files, values):
        named += [
            name
            for name in dict.fromkeys([*one, *other])
            if json.dumps(one.get(name), sort_keys=True)
            != json.dumps(other.get(name), sort_keys=True)
        ]
    return list(dict.fromkeys(named))
