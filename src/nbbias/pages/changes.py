"""How the estimates of two runs of a study differ, tested on the units that both have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from nbbias import stats
from nbbias.pages import manifest
from nbbias.params import Units
from nbbias.reading import names
from nbbias.studies import STUDIES
from nbbias.tables import SAMPLE, UNIT_KEYS, NbbiasError, saved_table

Row = dict[str, Any]
Key = tuple[str, ...]

#: A change this small is rounding.
ROUNDING = 1e-9

#: Why a change has no test.
NO_UNITS = "no mean over single {units} that the run saves: a change has no paired test"
NO_INTERVAL = "measured without an interval: a change has no test"

#: What distinguishes rows of one measure, in the order of their weight.
_PARTS = (
    *("model", "source", "prompt", "bias", "group"),
    *("dimension", "task", "topic", "judge", "evaluator"),
)


class Run(NamedTuple):
    """A finished run: its manifest, ESTIMATES, declared claims, and the units behind its means."""

    folder: Path
    manifest: Mapping[str, Any]
    estimates: pd.DataFrame
    declared: pd.DataFrame
    units: dict[Key, pd.DataFrame]

    @property
    def study(self) -> Units:
        """What the study says of its units."""
        record = STUDIES.get(self.manifest["study"])
        load = record.units if record else None
        return load() if load else Units(lambda *_: pd.DataFrame(), {})

    @property
    def files(self) -> dict[str, str]:
        """The hashes of the files that it read, by parameter."""
        return {name: entry["sha256"] for name, entry in self.manifest.get("data", {}).items()}

    @property
    def label(self) -> str:
        """The study and the run's name."""
        return f"{self.manifest['study']}/{self.manifest['run']}"


def read(folder: Path) -> Run:
    """Read what a finished run saved.

    Raises
    ------
    NbbiasError
        The folder holds no finished run, or one that left no estimates.
    """
    content = manifest.read(folder)
    if content is None or content["status"] != "ok":
        raise NbbiasError(str(folder), "holds no finished run; `nbbias list` shows those that are")
    estimates = saved_table(folder, "estimates")
    if estimates is None:
        raise NbbiasError(str(folder), "left no estimates")
    estimates = _with_keys(estimates)
    declared = saved_table(folder, "claims")
    declared = estimates[:0] if declared is None else _with_keys(declared)
    run = Run(folder, content, estimates, declared, {})
    try:
        units = run.study.values(folder, content.get("parameters", {}))
        return run._replace(units=_units_of(estimates, units))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NbbiasError(str(folder), f"its tables cannot be read: {error}") from None


def _with_keys(table: pd.DataFrame) -> pd.DataFrame:
    """Give a table all columns that name an estimate; a gap is empty text."""
    keys = table.reindex(columns=list(UNIT_KEYS)).astype(object)
    return table.assign(**keys.where(keys.notna(), "").astype(str))


def _units_of(estimates: pd.DataFrame, units: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    """Keep units whose mean is the estimate: those of a file that was changed since are not."""
    if units.empty:
        return {}
    means = dict(zip(keys_of(estimates), estimates["estimate"], strict=True))
    return {
        key: rows.set_index("unit")[["value", "cluster"]]
        for key, rows in units.groupby(list(UNIT_KEYS), observed=True, sort=False)
        if abs(rows["value"].mean() - means.get(key, np.nan)) <= ROUNDING
    }


def keys_of(table: pd.DataFrame) -> list[Key]:
    """Return the key of each row of a table of a `Run`."""
    return list(table[list(UNIT_KEYS)].itertuples(index=False, name=None))


def as_one_model(first: Run, second: Run) -> tuple[Run, str]:
    """Give the first run's model the name of the second's, where each run has one model only.

    Returns
    -------
    run, remark
        The first run, and which names were equated; nothing where they agree.
    """
    old, new = (
        [name for name in run.estimates["model"].unique() if name] for run in (first, second)
    )
    if len(old) != 1 or len(new) != 1 or old == new:
        return first, ""
    position, name = UNIT_KEYS.index("model"), new[0]
    estimates, declared = (
        table.assign(model=table["model"].replace(old[0], name))
        for table in (first.estimates, first.declared)
    )
    units = {
        (*key[:position], name if key[position] else "", *key[position + 1 :]): rows
        for key, rows in first.units.items()
    }
    remark = f"{old[0]} in {first.folder.name}, {name} in {second.folder.name}"
    return Run(first.folder, first.manifest, estimates, declared, units), remark


def pair_units(first: Run, second: Run, key: Key) -> pd.DataFrame:
    """Return the values of an estimate in both runs, by unit: `first`, `second`, `cluster`.

    A value is missing where only the other run has the unit; where one run has no units at all,
    the table is empty.
    """
    if key not in first.units or key not in second.units:
        return pd.DataFrame(columns=["first", "second", "cluster"])
    sides = [run.units[key] for run in (first, second)]
    both = pd.concat([side["value"] for side in sides], axis=1, keys=["first", "second"])
    cluster = pd.concat([side["cluster"].astype(str) for side in sides])
    return both.assign(cluster=cluster[~cluster.index.duplicated()].reindex(both.index))


def compare(first: Run, second: Run) -> pd.DataFrame:
    """Compare every estimate of two runs.

    Parameters
    ----------
    first, second
        Of `read`, of one study; the first one's model as of `as_one_model`.

    Returns
    -------
    DataFrame
        One row per estimate that both runs have: its key (`UNIT_KEYS`); `first` and `second` with
        `_low` and `_high`; `declared`, whether the second run declared it; `estimate`, the second
        minus the first, with `ci_low`, `ci_high`, `test`, `statistic_value`, `df`, `p_value` and
        `reason`; `n`, the common units that these are of, `only_first` and `only_second`;
        `changed`, whether anything changed beyond rounding; `confidence`. `p_adjusted` is Holm's,
        of the declared claims that changed and of the others. Of two groups that mirror each other
        only the first is kept.

        Means over units are tested on the common ones, paired (`stats.paired_change`). Runs
        without a common unit are independent: a two-sample test. Others have no test.
    """
    old, new = (
        dict(zip(keys_of(run.estimates), run.estimates.to_dict("records"), strict=True))
        for run in (first, second)
    )
    declared = set(keys_of(second.declared))
    rows = [
        _change(old[key], new[key], pair_units(first, second, key), second.study.called)
        | dict(zip(UNIT_KEYS, key, strict=True))
        | {"declared": key in declared}
        for key in new
        if key in old and np.isfinite(old[key]["estimate"] - new[key]["estimate"])
    ]
    table = pd.DataFrame(rows, columns=[*UNIT_KEYS, *_COLUMNS])
    mirrors = mirrored(table, ["first", "second"], by=[k for k in UNIT_KEYS if k != "group"])
    table = table[~mirrors].reset_index(drop=True)
    return stats.adjust(table, family=["declared"], where=table["changed"].astype(bool))


_COLUMNS = (
    *("first", "first_low", "first_high", "second", "second_low", "second_high", "declared"),
    *("estimate", "ci_low", "ci_high", "n", "only_first", "only_second", "test"),
    *("statistic_value", "df", "p_value", "p_adjusted", "reason", "changed", "confidence"),
)


def _change(old: Row, new: Row, pair: pd.DataFrame, units: str) -> Row:
    confidence = max((c for c in (old["confidence"], new["confidence"]) if c == c), default=0.95)
    difference = new["estimate"] - old["estimate"]
    changed = bool(abs(difference) > ROUNDING)
    row: Row = {"confidence": confidence, "estimate": difference, "changed": changed, "n": 0}
    row |= {"only_first": 0, "only_second": 0}
    for name, estimate in (("first", old), ("second", new)):
        ends = {f"{name}_{end}": estimate[f"ci_{end}"] for end in ("low", "high")}
        row |= {name: estimate["estimate"], **ends}
    if pair.empty:
        return row | {"reason": NO_UNITS.format(units=units)}
    common = pair.dropna(subset=["first", "second"])
    row["n"] = len(common)
    row["only_first"], row["only_second"] = (
        int(pair[name].isna().sum()) for name in ("second", "first")
    )
    if common.empty:
        return row | _two_samples(old, new, confidence)
    same = (common["first"] - common["second"]).abs().max() <= ROUNDING
    if same and (len(common) == len(pair) or not changed):
        return row | {"estimate": 0.0, "changed": False}
    return row | stats.paired_change(common, confidence=confidence).row() | {"changed": True}


def _two_samples(old: Row, new: Row, confidence: float) -> Row:
    """Return interval and test of the difference of two runs that share no unit."""
    rows = pd.DataFrame([old, new]).astype({"df": float, "confidence": float})
    errors = stats.standard_errors(rows)
    if errors.isna().any():
        return {"reason": NO_INTERVAL}
    difference, error = new["estimate"] - old["estimate"], float(np.sqrt((errors**2).sum()))
    half = norm.ppf((1 + confidence) / 2) * error
    return {
        "ci_low": difference - half,
        "ci_high": difference + half,
        "statistic_value": difference / error,
        "p_value": float(2 * norm.sf(abs(difference / error))),
        "test": "two samples, no unit in common",
    }


def mirrored(table: pd.DataFrame, values: list[str], *, by: list[str]) -> pd.Series:
    """Mark, of two groups of which one gains what the other loses, the second.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": "m", "group": ["female", "male"], "estimate": [0.1, -0.1]})
    >>> mirrored(rows, ["estimate"], by=["model"]).tolist()
    [False, True]
    """
    groups = table.groupby(by, sort=False, dropna=False)
    two = groups["group"].transform("size").eq(2) & table["group"].fillna("").ne("")
    opposite = [groups[name].transform("sum").abs() <= ROUNDING for name in values]
    return two & np.logical_and.reduce(opposite) & groups.cumcount().eq(1)


def recorded_answers(first: Run, second: Run) -> list[str]:
    """Return the parameters by which two runs read answers that were recorded once."""
    old, new = _answers(first), _answers(second)
    return [
        name
        for name, (sha256, asked_in) in new.items()
        if name in old and (sha256 == old[name][0] or asked_in & old[name][1])
    ]


def _answers(run: Run) -> dict[str, tuple[str, set[str]]]:
    """Return by parameter the hash of the files of models' answers, and the runs that asked."""
    parameters = run.manifest.get("parameters", {})
    files = {
        name: (entry["sha256"], set(entry.get("asked_in", [])))
        for name, entry in run.manifest.get("data", {}).items()
        if name.partition(".")[0] in run.study.answers
    }
    samples = [name for name in run.study.answers if parameters.get(name) == SAMPLE]
    return files | {name: (SAMPLE, set[str]()) for name in samples}


def settings(runs: list[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what differs among manifests: `kind`, `name`, and a column of texts for each run.

    Examples
    --------
    >>> runs = [{"parameters": {"seed": 1, "n": 2}}, {"parameters": {"seed": 3, "n": 2}}]
    >>> settings(runs).to_numpy().tolist()
    [['parameter', 'seed', '1', '3']]
    """
    rows = []
    for kind, sides in (
        ("parameter", [run.get("parameters", {}) for run in runs]),
        ("data", [_hashes(run) for run in runs]),
        ("version", [run.get("versions", {}) for run in runs]),
        ("commit", [{"commit": _commit(run)} for run in runs]),
    ):
        for name in dict.fromkeys(name for side in sides for name in side):
            values = [json.dumps(side.get(name), sort_keys=True) for side in sides]
            if len(set(values)) > 1:
                rows.append([kind, name, *(str(side.get(name, "none")) for side in sides)])
    return pd.DataFrame(rows, columns=["kind", "name", *range(len(runs))])


def _hashes(run: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: f"{Path(entry['path']).name} ({entry['sha256'][:12]})"
        for name, entry in run.get("data", {}).items()
    }


def _commit(run: Mapping[str, Any]) -> str:
    git = run.get("git") or {}
    return str(git.get("commit"))[:12] + (", changed" if git.get("dirty") else "")


def name_row(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a row of a `Run` measures, and of whom: model, group and parts.

    Examples
    --------
    >>> row = dict.fromkeys(UNIT_KEYS, "") | {"statistic": "my_own", "model": "m", "group": "male"}
    >>> name_row(row)
    ('my own', 'm, men')
    """
    measure = names.measure({key: row[key] or None for key in UNIT_KEYS})
    group = row["group"]
    implied = {row["bias"]} if group else set()
    if group and any(name in measure for name in (names.of_people(group), names.people(group))):
        implied.add(group)
    unsaid = {"source": {"all", "sample", "simulated"}}
    parts = [
        names.people(str(row[key]))
        for key in _PARTS
        if row[key] and row[key] not in implied | unsaid.get(key, set())
    ]
    return measure, ", ".join(dict.fromkeys(parts))
