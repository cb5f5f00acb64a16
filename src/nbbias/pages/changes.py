"""How the estimates of two runs of a study differ, tested on the units that both have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.pages import manifest
from nbbias.params import Units
from nbbias.reading import significance
from nbbias.studies import STUDIES
from nbbias.tables import CLUSTERS, SAMPLE, UNIT_KEYS, NbbiasError, saved_table

Row = dict[str, Any]
Key = tuple[str, ...]

#: A change this small is rounding.
ROUNDING = 1e-9

#: Of a change between two runs, after its key.
_COLUMNS = (
    *("first", "second", "estimate", "ci_low", "ci_high", "n", "test", "statistic_value", "df"),
    *("p_value", "p_adjusted", "reason", "confidence", "declared", "changed"),
)


class Run(NamedTuple):
    """A finished run: its manifest, ESTIMATES, declared claims, and the units behind its means.

    `units` holds by the key of an estimate its values and their clusters, by unit.
    """

    folder: Path
    manifest: Mapping[str, Any]
    estimates: pd.DataFrame
    declared: pd.DataFrame
    units: Mapping[Key, pd.DataFrame]

    @property
    def study(self) -> Units:
        """What the study says of its units."""
        record = STUDIES.get(self.manifest["study"])
        return (record.units if record else None) or Units({})

    @property
    def label(self) -> str:
        """The study and the run's name."""
        return f"{self.manifest['study']}/{self.manifest['run']}"


def read(folder: Path, *, rename: Mapping[str, str] | None = None) -> Run:
    """Read what a finished run saved, with other names for models.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or one that left no estimates.
    """
    content = manifest.read_finished(folder)
    saved = [saved_table(folder, name) for name in ("estimates", "claims", "units")]
    if (none := saved[0]) is None:
        raise NbbiasError(str(folder), "left no estimates")
    parts = [none[:0] if table is None else table for table in saved]
    try:
        estimates, declared, units = (_with_keys(table, rename or {}) for table in parts)
        return Run(folder, content, estimates, declared, _units_of(estimates, units))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NbbiasError(str(folder), f"its tables cannot be read: {error}") from None


def _with_keys(table: pd.DataFrame, rename: Mapping[str, str]) -> pd.DataFrame:
    """Give a table all columns that name an estimate, a gap being empty text, and its `key`."""
    keys = {name: [""] * len(table) for name in UNIT_KEYS}
    for name in table.columns.intersection(keys):
        keys[name] = ["" if pd.isna(value) else str(value) for value in table[name]]
    keys["model"] = [rename.get(model, model) for model in keys["model"]]
    return table.assign(**keys, key=list(zip(*keys.values(), strict=True)))


def _units_of(estimates: pd.DataFrame, units: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    """Keep units whose mean is the estimate: those of a file that was changed since are not."""
    means = dict(zip(estimates["key"], estimates["estimate"], strict=True))
    return {
        key: rows.set_index("unit").filter(["value", *CLUSTERS])
        for key, rows in units.groupby("key", sort=False)
        if abs(rows["value"].mean() - means.get(key, np.nan)) <= ROUNDING
    }


def as_one_model(first: Run, second: Run) -> tuple[Run, str]:
    """Give the first run's model the name of the second's, where each run has one model only.

    Returns
    -------
    run, remark
        The first run, and which names were equated; nothing where they agree.
    """
    old, new = ([m for m in run.estimates["model"].unique() if m] for run in (first, second))
    if len(old) != 1 or len(new) != 1 or old == new:
        return first, ""
    remark = f"{old[0]} in {first.folder.name}, {new[0]} in {second.folder.name}"
    return read(first.folder, rename={old[0]: new[0]}), remark


def pair_units(first: Run, second: Run, key: Key) -> pd.DataFrame:
    """Return the values of an estimate in both runs, by unit: `first`, `second`, and clusters.

    A value is missing where only the other run has the unit; where one run has no units at all,
    the table is empty.
    """
    if key not in first.units or key not in second.units:
        return pd.DataFrame(columns=["first", "second", "cluster"])
    sides = [run.units[key] for run in (first, second)]
    both = pd.concat([side["value"] for side in sides], axis=1, keys=["first", "second"])
    for name in (name for name in CLUSTERS if all(name in side for side in sides)):
        labels = pd.concat([side[name].astype(str) for side in sides])
        both[name] = labels[~labels.index.duplicated()].reindex(both.index)
    return both


def compare(first: Run, second: Run) -> pd.DataFrame:
    """Compare every estimate of two runs.

    Parameters
    ----------
    first, second
        Of `read`, of one study; the first one's model as of `as_one_model`.

    Returns
    -------
    DataFrame
        One row per estimate that both runs have: its key (`UNIT_KEYS`); `first` and `second`;
        `estimate`, the second minus the first, with `ci_low`, `ci_high`, `test`,
        `statistic_value`, `df`, `p_value` and `reason`, paired over the `n` common units
        (`stats.paired_change`); `changed`, whether anything changed beyond rounding; `declared`,
        whether the second run declared it; `confidence`. `p_adjusted` is Holm's, of the declared
        claims that changed and of the others. What is no mean over units, or has none in common,
        has no test. Of two groups that mirror each other only the first is kept.
    """
    both = [run.estimates.to_dict("records") for run in (first, second)]
    old, new = ({row["key"]: row for row in records} for records in both)
    declared = set(second.declared["key"])
    rows = [
        _change(old[key], new[key], pair_units(first, second, key), second.study.called)
        | dict(zip(UNIT_KEYS, key, strict=True))
        | {"declared": key in declared}
        for key in new
        if key in old and np.isfinite(old[key]["estimate"] - new[key]["estimate"])
    ]
    table = pd.DataFrame(rows, columns=[*UNIT_KEYS, *_COLUMNS])
    mirrored = significance.is_mirrored(table, values=["first", "second"])
    table = table[~mirrored].reset_index(drop=True)
    return stats.adjust(table, family=["declared"], where=table["changed"].astype(bool))


def _change(old: Row, new: Row, pair: pd.DataFrame, units: str) -> Row:
    """Return what changed in an estimate, and the paired test on common units."""
    levels = [level for level in (old["confidence"], new["confidence"]) if level == level]
    confidence = max(levels, default=stats.CONFIDENCE)
    difference = new["estimate"] - old["estimate"]
    common = pair.dropna(subset=["first", "second"])
    row: Row = {"first": old["estimate"], "second": new["estimate"], "estimate": difference}
    row |= {"confidence": confidence, "changed": abs(difference) > ROUNDING, "n": len(common)}
    if common.empty:
        return row | {"reason": f"no mean over {units}, or none of them in both runs"}
    if not row["changed"] and (common["first"] - common["second"]).abs().max() <= ROUNDING:
        return row
    return row | stats.paired_change(common, confidence=confidence).row() | {"changed": True}


def recorded_answers(first: Run, second: Run) -> list[str]:
    """Return the parameters by which two runs read answers that were recorded once.

    Their files are one, or hold answers of the same run of `nbbias generate`.
    """
    old, new = (run.manifest["parameters"] for run in (first, second))
    same = [name for name in second.study.answers if old.get(name) == new.get(name) == SAMPLE]
    earlier = first.manifest.get("data", {})
    for name, entry in second.manifest.get("data", {}).items():
        if name.partition(".")[0] in second.study.answers and name in earlier:
            asked_in = [set(file.get("asked_in", [])) for file in (earlier[name], entry)]
            if earlier[name]["sha256"] == entry["sha256"] or asked_in[0] & asked_in[1]:
                same.append(name)
    return same


def settings(runs: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what differs among manifests: `kind`, `name`, and a column of texts for each run.

    Examples
    --------
    >>> runs = [{"parameters": {"seed": 1, "n": 2}}, {"parameters": {"seed": 3, "n": 2}}]
    >>> settings(runs).to_numpy().tolist()
    [['parameter', 'seed', '1', '3']]
    """
    columns = {number: pd.Series(_settings_of(run)) for number, run in enumerate(runs)}
    table = pd.concat(columns, axis=1).fillna("none").rename_axis(["kind", "name"])
    return table[table.nunique(axis=1) > 1].reset_index()


def _settings_of(run: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return what a run was given, by kind and name, as texts."""
    files = run.get("data", {}).items()
    data = {name: f"{Path(file['path']).name} ({file['sha256'][:12]})" for name, file in files}
    parts = {"parameter": run.get("parameters"), "data": data, "version": run.get("versions")}
    sections = [(kind, part or {}) for kind, part in (parts | {"git": run.get("git")}).items()]
    return {(kind, name): str(value) for kind, part in sections for name, value in part.items()}
