"""The gate: did a declared claim get worse than in the run that was accepted last?

Every declared claim is tested twice on the units that both runs have (`stats.gate`): whether the
run is worse by more than the margin, and whether it is not. The first p values are corrected by
Holm's method, so that all claims together raise a false alarm in one of twenty comparisons at most.
The second need no correction: the gate opens where every one of them is small, and a single claim
that is worse keeps it shut as often as its own test promises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import stats
from nbbias.pages import changes, manifest
from nbbias.params import SMALLEST
from nbbias.reading import names, p_value
from nbbias.tables import UNIT_KEYS, NbbiasError, escape, visible

Row = dict[str, Any]
Verdict = Literal["worse", "not worse", "cannot tell", "left out"]

#: Exit status of the command, by the verdict on all claims together.
WORSE, NOT_WORSE, CANNOT_TELL = 1, 0, 3

#: The power that so many units would have, of all claims together.
POWER = 0.8

#: Why nothing can be told of a model that nobody asked.
NOT_ASKED = "the model was not asked again: both runs read the same recorded answers ({files})"

_NAMED = (
    "model",
    "source",
    "prompt",
    "bias",
    "group",
    "dimension",
    "task",
    "topic",
    "judge",
    "evaluator",
)


class Gate(NamedTuple):
    """What a gate found: a row for each declared claim, and the exit status that follows.

    `rows` has what names a claim, `claim` (its number), `name` (in words), `verdict`, `reason`,
    `first` and `second`, `worsening` with `ci_low` and `ci_high`, `margin`, `n`, `only_first`,
    `only_second`, `p_worse` (`p_adjusted` is Holm's), `p_not_worse`, and `needed`, the units that
    could tell. `remarks` are what a reader should know beside.
    """

    run: str
    baseline: str
    called: str
    rows: pd.DataFrame
    status: int
    alpha: float
    remarks: list[str]


def gate(
    run: Path,
    baseline: Path,
    *,
    margins: Mapping[int, float] | None = None,
    margin: float | None = None,
    claims: Sequence[int] | None = None,
) -> Gate:
    """Test the declared claims of a run against those of another.

    Parameters
    ----------
    run
        The folder of a finished run, which says what is declared.
    baseline
        That of the run it must not be worse than; or a folder of runs, in which it has the run's
        study and name.
    margins
        How much worse is accepted, by the number of the claim.
    margin
        The same for all claims that neither name a `smallest_effect` nor stand in `margins`.
    claims
        The numbers of the claims that are tested; all by default.

    Raises
    ------
    NbbiasError
        A folder holds no finished run, the two are of several studies, nothing is declared, a claim
        cannot be tested or has no margin.
    """
    second = changes.read(run)
    first = changes.read(_twin(baseline, second))
    if first.described["study"] != second.described["study"]:
        told = f"is a run of {first.described['study']}, not of {second.described['study']}"
        raise NbbiasError(str(baseline), told)
    first, renamed = changes.as_one_model(first, second)
    rows = _chosen(second, claims, where=str(run))
    rows += _gone(first, second, {int(row["claim"]) for row in rows})
    worse = second.study.worse
    _refuse_untestable(rows, first, second, worse, where=str(run))
    rows = _with_margins(rows, margins or {}, margin, where=str(run))
    alpha = 1 - float(second.described["parameters"].get("confidence", 0.95))
    wanted = 1 - (1 - POWER) / max(len(rows), 1)
    recorded = [] if renamed else changes.answered_before(first, second)
    tested = [_tested(row, first, second, worse[row["statistic"]], alpha) for row in rows]
    tested = [_not_asked(row, recorded) for row in tested]
    table = stats.adjust(pd.DataFrame(tested).assign(p_value=lambda own: own["p_worse"]))
    table["verdict"] = [_verdict(row, alpha) for row in table.to_dict("records")]
    table["needed"] = [
        _needed(row, first, second, worse[row["statistic"]], alpha, wanted)
        for row in table.to_dict("records")
    ]
    if (table["verdict"] == "left out").all():
        raise NbbiasError(str(run), "no claim was measured in both runs")
    remarks = [f"Taken for one model: {renamed}."] if renamed else []
    remarks += _remarks(first, second)
    new, old = (f"{one.described['study']}/{one.described['run']}" for one in (second, first))
    old = "its baseline" if old == new else old
    return Gate(new, old, second.called, table, _status(table), alpha, remarks)


def _twin(baseline: Path, second: changes.Run) -> Path:
    """Return the accepted run: the folder named, or the run's twin in a folder of runs."""
    inside = baseline / str(second.described["study"]) / str(second.described["run"])
    return baseline if (baseline / manifest.NAME).is_file() or not inside.is_dir() else inside


def _chosen(run: changes.Run, claims: Sequence[int] | None, *, where: str) -> list[Row]:
    declared = run.declared
    if declared.empty:
        told = "declares no claim; name some under claims: in its params file, and run it again"
        raise NbbiasError(where, told)
    known = sorted({int(number) for number in declared["claim"]})
    strange = sorted(set(claims or ()) - set(known))
    if strange:
        there = ", ".join(map(str, known))
        raise NbbiasError(where, f"declares no claim {strange[0]}; its claims are {there}")
    own = declared[declared["claim"].isin(claims or known)]
    return [row | {"name": _name(row)} for row in own.to_dict("records")]


def _gone(first: changes.Run, second: changes.Run, chosen: set[int]) -> list[Row]:
    """Return the accepted run's rows of the same claims that the run measured no more."""
    asked = [one.described.get("parameters", {}).get("claims", []) for one in (first, second)]
    there, rows = set(changes.keys_of(second.declared)), []
    for key, row in zip(
        changes.keys_of(first.declared), first.declared.to_dict("records"), strict=True
    ):
        claim = asked[0][int(row["claim"]) - 1] if int(row["claim"]) <= len(asked[0]) else None
        number = asked[1].index(claim) + 1 if claim in asked[1] else 0
        if number in chosen and key not in there and np.isfinite(row["estimate"]):
            gone = {"estimate": np.nan, "reason": "measured in the baseline, and not in this run"}
            rows.append(row | gone | {"claim": number, "name": _name(row)})
    return rows


def _name(row: Row) -> str:
    """Return a claim in people's words: what is measured, and of whom."""
    said = names.measure({key: row[key] or None for key in UNIT_KEYS})
    rest = [
        str(row[key])
        for key in _NAMED
        if row[key] and not (key == "source" and row[key] in {"all", "sample", "simulated"})
    ]
    left = {row["bias"]} if row["group"] else set()
    whose = (names.of_people(row["group"]), names.people(row["group"]))
    left |= {row["group"]} if row["group"] and any(one in said for one in whose) else set()
    rest = [names.people(one) for one in rest if one not in left]
    return f"{said} ({', '.join(dict.fromkeys(rest))})" if rest else said


def _refuse_untestable(
    rows: list[Row],
    first: changes.Run,
    second: changes.Run,
    worse: Mapping[str, str],
    *,
    where: str,
) -> None:
    told: dict[int, str] = {}
    able: set[int] = set()
    for row, key in zip(rows, changes.keys_of(pd.DataFrame(rows)), strict=True):
        number = int(row["claim"])
        no_units = np.isfinite(row["estimate"]) and key not in second.units
        if row["statistic"] not in worse:
            why = f"has no direction in which it is worse, or is no mean over {second.called}"
            told.setdefault(number, f"claim {number}, {row['name']}, {why}")
        elif no_units:
            why = f"the run saves no values by {second.called}"
            told.setdefault(number, f"claim {number}, {row['name']}: {why}")
        else:
            able.add(number)
    if not told:
        return
    left = sorted(able - set(told))
    hint = f"leave it out: --claims {','.join(map(str, left))}"
    if not left:
        hint = f"declare a claim of one of: {', '.join(worse) or 'another study'}"
    raise NbbiasError(where, [f"{one}; {hint}" for one in told.values()])


def _with_margins(
    rows: list[Row], margins: Mapping[int, float], margin: float | None, *, where: str
) -> list[Row]:
    found, told = [], {}
    for row in rows:
        number, own = int(row["claim"]), row.get(SMALLEST, np.nan)
        value = margins.get(number, own if np.isfinite(own) else margin)
        if value is None:
            told[number] = (
                f"claim {number}, {row['name']}, has no margin: how much worse is accepted? Give "
                f"--margin, or smallest_effect in its claim, in the unit of its estimate "
                f"({row['estimate']:.3g}; half its interval is "
                f"{(row['ci_high'] - row['ci_low']) / 2:.2g})"
            )
        found.append(row | {"margin": value})
    if told:
        raise NbbiasError(where, list(told.values()))
    return found


def _tested(row: Row, first: changes.Run, second: changes.Run, worse: Any, alpha: float) -> Row:
    key = tuple(row[name] for name in UNIT_KEYS)
    both = changes.paired(first, second, key)
    common = both.dropna(subset=["first", "second"])
    told = {name: row[name] for name in (*UNIT_KEYS, "claim", "name", "margin", "reason")}
    told["reason"] = told["reason"] if isinstance(told["reason"], str) else None
    there = dict(zip(changes.keys_of(first.estimates), first.estimates["estimate"], strict=True))
    told |= {
        "first": there.get(key, np.nan),
        "second": row["estimate"],
        "only_first": int(both["second"].isna().sum()),
        "only_second": int(both["first"].isna().sum()),
    }
    told |= stats.gate(common, worse=worse, margin=row["margin"])
    if len(common) and _same_files(first, second) and (common["first"] == common["second"]).all():
        told |= {"p_worse": 1.0, "p_not_worse": 0.0, "reason": "the same files were read"}
    half = t.ppf(1 - alpha, told["df"]) * told["se"] if told["n"] > 1 else np.nan
    told |= {"ci_low": told["worsening"] - half, "ci_high": told["worsening"] + half}
    if len(common):  # the estimates, too, are of the common units
        told |= {name: float(common[name].mean()) for name in ("first", "second")}
    elif np.isfinite(told["second"]):
        told["reason"] = _why_none(key, first, there)
    return told


def _not_asked(row: Row, recorded: Sequence[str]) -> Row:
    """Take back what a claim says of a model that was not asked between the two runs."""
    files = {name.partition(".")[0]: name.partition(".")[2] for name in recorded}
    mine = [name for name, judge in files.items() if not judge or judge == row["judge"]]
    if not mine or row["n"] == 0:
        return row
    return row | {"p_not_worse": np.nan, "reason": NOT_ASKED.format(files=" and ".join(mine))}


def _same_files(first: changes.Run, second: changes.Run) -> bool:
    """Tell whether two runs read the same: then what did not change says nothing by chance."""
    read = [
        {name: entry["sha256"] for name, entry in run.described.get("data", {}).items()}
        for run in (first, second)
    ]
    return bool(read[0]) and read[0] == read[1]


def _why_none(key: changes.Key, first: changes.Run, there: Mapping[Any, float]) -> str:
    if np.isfinite(there.get(key, np.nan)):
        return "the two runs have no unit in common"
    others = {one[-1] for one in there if one[:-1] == key[:-1]}
    if others:
        return f"the baseline measured it by another instrument ({', '.join(sorted(others))})"
    return "the baseline did not measure it"


def _verdict(row: Row, alpha: float) -> Verdict:
    if not np.isfinite([row["first"], row["second"]]).any():
        return "left out"
    if row["p_adjusted"] <= alpha:
        return "worse"
    return "not worse" if row["p_not_worse"] <= alpha else "cannot tell"


def _needed(
    row: Row, first: changes.Run, second: changes.Run, worse: Any, alpha: float, wanted: float
) -> float:
    if row["verdict"] != "cannot tell" or (row["n"] and np.isnan(row["p_not_worse"])):
        return np.nan
    both = changes.paired(first, second, tuple(row[name] for name in UNIT_KEYS))
    common = both.dropna(subset=["first", "second"])
    found = stats.units_needed(
        common, worse=worse, margin=row["margin"], alpha=alpha, wanted=wanted
    )
    return np.nan if found is None else float(found)


def _status(table: pd.DataFrame) -> int:
    if (table["verdict"] == "worse").any():
        return WORSE
    return CANNOT_TELL if (table["verdict"] == "cannot tell").any() else NOT_WORSE


def _remarks(first: changes.Run, second: changes.Run) -> list[str]:
    told = []
    declared = [one.described.get("claims_sha256") for one in (first, second)]
    if declared[0] != declared[1]:
        told.append("The two runs declare different claims; those of the run are tested.")
    asked = {"claims", *second.study.answers}  # that these differ is what a gate is for
    differs = [
        name
        for name in changes.read_differently(first, second)
        if name.partition(".")[0] not in asked
    ]
    if differs:
        told.append(f"Set or read differently: {', '.join(differs)}.")
    return told


# --- for readers --------------------------------------------------------------------------------


def headline(found: Gate) -> str:
    """Say in one sentence what the gate found.

    Examples
    --------
    >>> rows = pd.DataFrame({"verdict": ["worse", "not worse"]})
    >>> headline(Gate("llmbi/new", "llmbi/old", "prompts", rows, 1, 0.05, []))
    'llmbi/new is worse than llmbi/old in 1 of 2 claims.'
    """
    tested = found.rows[found.rows["verdict"] != "left out"]
    n = len(tested)
    claims = f"{n} claim{'' if n == 1 else 's'}"
    times = {name: int((tested["verdict"] == name).sum()) for name in ("worse", "cannot tell")}
    pair = f"{found.run} is {{}} than {found.baseline}"
    if found.status == WORSE:
        return f"{pair.format('worse')} in {times['worse']} of {claims}."
    if found.status == NOT_WORSE:
        every = {1: "its claim", 2: "both claims"}.get(n, f"all {claims}")
        return f"{pair.format('shown to be not worse')} in {every}."
    pair = f"whether {found.run} is worse than {found.baseline}"
    unasked = tested["p_not_worse"].isna() & (tested["n"] > 0)
    if unasked[tested["verdict"] == "cannot tell"].all():
        told = f"{pair[0].upper()}{pair[1:]} cannot be told: the model was not asked again"
        return f"{told} ({times['cannot tell']} of {claims})."
    return f"Too few {found.called} to tell {pair}: {times['cannot tell']} of {claims}."


def told(row: Mapping[str, Any], found: Gate) -> str:
    """Say of one claim what changed, against which margin, and how sure that is."""
    if row["verdict"] == "left out":
        return "measured in neither run"
    if not np.isfinite(row["worsening"]):
        return str(row["reason"] or f"{row['n']} {found.called} in both runs")
    size, word = abs(row["worsening"]), "worse" if row["worsening"] > 0 else "better"
    moved = f"{_number(row, 'first')} → {_number(row, 'second')}"
    by = f"{word} by {_amount(row, size)}" if size > 1e-9 else "the same"
    margin = _amount(row, row["margin"])
    text = f"{moved}, {by}; margin {margin}; {row['n']:,} common {found.called}"
    if row["only_first"] or row["only_second"]:
        text += f" ({row['only_first']:,} in the baseline alone, {row['only_second']:,} here alone)"
    if row["verdict"] == "worse":
        return f"{text}; {p_value(row['p_adjusted'])} (Holm)"
    if row["verdict"] == "not worse":
        return f"{text}; {row['reason'] or p_value(row['p_not_worse'])}"
    if np.isnan(row["p_not_worse"]):
        return f"{text}; {row['reason']}"
    return f"{text}; {_could(row, found)}"


def _could(row: Mapping[str, Any], found: Gate) -> str:
    if not np.isfinite(row["needed"]):
        return f"so few {found.called} do not say how many could"
    if row["needed"] <= row["n"]:
        return "as many could have told, had nothing changed; more would tell"
    about = float(f"{row['needed']:.2g}")
    return f"about {about:,.0f} could tell, had nothing changed ({POWER:.0%} power)"


def _number(row: Mapping[str, Any], of: str) -> str:
    return names.quantity(row, of)


def _amount(row: Mapping[str, Any], value: float) -> str:
    return names.quantity({**row, "amount": value}, "amount")


def markdown(found: Gate) -> str:
    """Write a gate as Markdown, for a merge request or the summary of a job.

    Examples
    --------
    >>> rows = pd.DataFrame(columns=["verdict", "name"])
    >>> markdown(Gate("llmbi/new", "llmbi/old", "prompts", rows, 0, 0.05, ["Note."]))[:9]
    '## nbbias'
    """
    title = {WORSE: "worse", NOT_WORSE: "not worse", CANNOT_TELL: "inconclusive"}[found.status]
    lines = [
        f"## nbbias gate: {title}",
        "",
        _cell(headline(found)),
        "",
        "| | claim | what changed |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| **{row['verdict']}** | {_cell(row['name'])} | {_cell(told(row, found))} |"
        for row in _ordered(found)
    ]
    lines += ["", *(f"- {_cell(one)}" for one in (*found.remarks, _small_print(found)))]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return escape.markdown(visible(text)).replace("|", "\\|").replace("\n", " ")


def _ordered(found: Gate) -> list[Row]:
    rank = {"worse": 0, "cannot tell": 1, "not worse": 2, "left out": 3}
    return sorted(found.rows.to_dict("records"), key=lambda row: rank[row["verdict"]])


def _small_print(found: Gate) -> str:
    return (
        f"Paired one-sided tests at {found.alpha:.0%}; Holm's correction over the claims keeps "
        f"false alarms of all together at {found.alpha:.0%} at most."
    )


def junit(found: Gate) -> str:
    """Write a gate as JUnit XML: a claim that is worse fails, one that cannot be told is an error.

    Examples
    --------
    >>> rows = pd.DataFrame(columns=["verdict", "name"])
    >>> junit(Gate("llmbi/new", "llmbi/old", "prompts", rows, 0, 0.05, [])).count("<testsuite ")
    1
    """
    rows = _ordered(found)
    count = {
        name: sum(row["verdict"] == name for row in rows)
        for name in ("worse", "cannot tell", "left out")
    }
    suite = ElementTree.Element(
        "testsuite",
        name=f"nbbias gate {visible(found.run)}",
        tests=str(len(rows)),
        failures=str(count["worse"]),
        errors=str(count["cannot tell"]),
        skipped=str(count["left out"]),
    )
    kinds = {"worse": "failure", "cannot tell": "error", "left out": "skipped"}
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=visible(found.run), name=visible(row["name"])
        )
        text = visible(told(row, found))
        if row["verdict"] in kinds:
            ElementTree.SubElement(case, kinds[row["verdict"]], message=text, type=row["verdict"])
        else:
            ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(suite)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def lines(found: Gate) -> list[tuple[str, str, str]]:
    """Return for a terminal, of each claim, the verdict, its name and what changed."""
    return [(row["verdict"], row["name"], told(row, found)) for row in _ordered(found)]


def small_print(found: Gate) -> list[str]:
    """Return what stands below: remarks, and how the tests are made."""
    return [*found.remarks, _small_print(found)]
