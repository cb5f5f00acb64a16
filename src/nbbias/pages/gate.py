"""The gate: did a declared claim get worse than in the run that was accepted last?

Every declared claim is tested twice on the units that both runs have (`stats.noninferiority_test`):
whether the run is worse by more than the margin, and whether not. The first p values are Holm-
adjusted, so that all claims together raise a false alarm in one of twenty comparisons at most. The
second need no correction: the gate opens where every one of them is small.
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

#: Power of all claims together for which units are counted.
POWER = 0.8

_ORDER = ["worse", "cannot tell", "not worse", "left out"]


class Gate(NamedTuple):
    """The result of a gate: a row for each declared claim, and the exit status that follows.

    `rows` has what names a claim, `claim` (its number), `name` (in words), `verdict`, `reason`,
    `first` and `second`, `worsening` with `ci_low` and `ci_high`, `margin`, `n`, `only_first`,
    `only_second`, `p_worse` (`p_adjusted` is Holm's), `p_not_worse`, and `needed`, the number of
    units for a verdict; the worst verdict comes first. `remarks` say how the runs differ.
    """

    run: str
    baseline: str
    units: str
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
        The folder of a finished run, whose declared claims are tested.
    baseline
        That of the run it must not be worse than; or a folder of runs that has one of the same
        study and name.
    margins
        How much worse is accepted, by the number of the claim.
    margin
        The same for all claims that neither have a `smallest_effect` nor stand in `margins`.
    claims
        The numbers of the claims that are tested; all by default.

    Raises
    ------
    NbbiasError
        A folder holds no finished run, the two are of different studies, nothing is declared, a
        claim cannot be tested or has no margin.
    """
    second = changes.read(run)
    study, name = str(second.manifest["study"]), str(second.manifest["run"])
    inside = baseline / study / name
    direct = (baseline / manifest.NAME).is_file() or not inside.is_dir()
    first = changes.read(baseline if direct else inside)
    if first.manifest["study"] != study:
        problem = f"is a run of {first.manifest['study']}, not of {study}"
        raise NbbiasError(str(baseline), problem)
    first, renamed = changes.as_one_model(first, second)
    rows = _declared(first, second, claims, where=str(run))
    rows = [row | {"margin": _margin(row, margins or {}, margin)} for row in rows]
    _refuse_untestable(rows, second, where=str(run))
    alpha = 1 - float(second.manifest["parameters"].get("confidence", 0.95))
    recorded = [] if renamed else changes.recorded_answers(first, second)
    tested = [_test(row, first, second, recorded, alpha) for row in rows]
    table = stats.adjust(pd.DataFrame(tested).assign(p_value=lambda rows: rows["p_worse"]))
    table["verdict"] = [_verdict(row, alpha) for row in table.to_dict("records")]
    if (table["verdict"] == "left out").all():
        raise NbbiasError(str(run), "no claim was measured in both runs")
    power = 1 - (1 - POWER) / len(table)
    table["needed"] = [
        _needed(row, first, second, alpha, power) for row in table.to_dict("records")
    ]
    order = table["verdict"].map(_ORDER.index).sort_values(kind="stable").index
    verdicts = set(table["verdict"])
    status = CANNOT_TELL if "cannot tell" in verdicts else NOT_WORSE
    remarks = [f"Compared as one model: {renamed}."] if renamed else []
    return Gate(
        second.label,
        "its baseline" if first.label == second.label else first.label,
        second.study.called,
        table.loc[order].reset_index(drop=True),
        WORSE if "worse" in verdicts else status,
        alpha,
        remarks + _remarks(first, second),
    )


def _declared(
    first: changes.Run, second: changes.Run, claims: Sequence[int] | None, *, where: str
) -> list[Row]:
    """Return the rows of the chosen claims, and those that only the baseline measured."""
    if second.declared.empty:
        problem = "declares no claim; name some under claims: in its params file, and run it again"
        raise NbbiasError(where, problem)
    numbers = sorted({int(number) for number in second.declared["claim"]})
    if unknown := sorted(set(claims or ()) - set(numbers)):
        known = ", ".join(map(str, numbers))
        raise NbbiasError(where, f"declares no claim {unknown[0]}; its claims are {known}")
    chosen = set(claims or numbers)
    rows = second.declared[second.declared["claim"].isin(chosen)].to_dict("records")
    before, now = (run.manifest["parameters"].get("claims", []) for run in (first, second))
    measured = set(changes.keys_of(second.declared))
    for row in first.declared.to_dict("records"):
        number = int(row["claim"])
        claim = before[number - 1] if number <= len(before) else None
        number = now.index(claim) + 1 if claim in now else 0
        gone = _key(row) not in measured and np.isfinite(row["estimate"])
        if gone and number in chosen:
            reason = "measured in the baseline, and not in this run"
            rows.append(row | {"estimate": np.nan, "reason": reason, "claim": number})
    for row in rows:
        measure, rest = changes.name_row(row)
        row["name"] = f"{measure} ({rest})" if rest else measure
    return rows


def _key(row: Row) -> changes.Key:
    return tuple(row[name] for name in UNIT_KEYS)


def _margin(row: Row, margins: Mapping[int, float], default: float | None) -> float | None:
    smallest = row.get(SMALLEST, np.nan)
    return margins.get(int(row["claim"]), smallest if np.isfinite(smallest) else default)


def _refuse_untestable(rows: list[Row], run: changes.Run, *, where: str) -> None:
    """Refuse claims that cannot be tested, each once, with what to do about it."""
    units, problems = run.study.called, dict[int, str]()
    for row in rows:
        if row["statistic"] not in run.study.worse:
            testable = ", ".join(run.study.worse) or "another study"
            problem = (
                f"has no direction in which it is worse, or is no mean over {units}; "
                f"choose others by --claims, or declare one of: {testable}"
            )
        elif np.isfinite(row["estimate"]) and _key(row) not in run.units:
            problem = f"has no values by {units} in the run; choose others by --claims"
        elif row["margin"] is None:
            half = (row["ci_high"] - row["ci_low"]) / 2
            problem = (
                "needs a non-inferiority margin: how large a worsening do you accept? Give "
                "--margin, or smallest_effect in its claim, in the unit of its estimate "
                f"({row['estimate']:.3g}; half its interval is {half:.2g})"
            )
        else:
            continue
        problems.setdefault(int(row["claim"]), f"claim {row['claim']}, {row['name']}, {problem}")
    if problems:
        raise NbbiasError(where, list(problems.values()))


def _test(
    row: Row, first: changes.Run, second: changes.Run, recorded: Sequence[str], alpha: float
) -> Row:
    """Test one claim on the units that both runs have."""
    key = _key(row)
    pair = changes.pair_units(first, second, key)
    common = pair.dropna(subset=["first", "second"])
    before = dict(zip(changes.keys_of(first.estimates), first.estimates["estimate"], strict=True))
    result = {name: row[name] for name in (*UNIT_KEYS, "claim", "name", "margin")}
    result |= {
        "reason": row["reason"] if isinstance(row["reason"], str) else None,
        "first": before.get(key, np.nan),
        "second": row["estimate"],
        "only_first": int(pair["second"].isna().sum()),
        "only_second": int(pair["first"].isna().sum()),
    }
    worse: Any = second.study.worse[row["statistic"]]
    result |= stats.noninferiority_test(common, worse=worse, margin=row["margin"])
    unchanged = len(common) and (common["first"] == common["second"]).all()
    if unchanged and first.files and first.files == second.files:
        result |= {"p_worse": 1.0, "p_not_worse": 0.0, "reason": "the same files were read"}
    half = t.ppf(1 - alpha, result["df"]) * result["se"] if result["n"] > 1 else np.nan
    result |= {"ci_low": result["worsening"] - half, "ci_high": result["worsening"] + half}
    if len(common):  # the estimates, too, are of the common units
        result |= {name: float(common[name].mean()) for name in ("first", "second")}
    elif np.isfinite(result["second"]):
        result["reason"] = _why_not(key, before)
    # Nothing can be said of a model that was not asked between the two runs.
    parameters = {name.partition(".")[0]: name.partition(".")[2] for name in recorded}
    same = [name for name, judge in parameters.items() if judge in {"", row["judge"]}]
    if same and result["n"]:
        reason = "the model was not asked again: both runs read the same recorded answers"
        result |= {"p_not_worse": np.nan, "reason": f"{reason} ({' and '.join(same)})"}
    return result


def _why_not(key: changes.Key, before: Mapping[changes.Key, float]) -> str:
    """Say why a claim has no unit in both runs."""
    if np.isfinite(before.get(key, np.nan)):
        return "the two runs have no unit in common"
    instruments = {other[-1] for other in before if other[:-1] == key[:-1]}
    if instruments:
        return f"the baseline measured it by another instrument ({', '.join(sorted(instruments))})"
    return "the baseline did not measure it"


def _verdict(row: Row, alpha: float) -> Verdict:
    if not np.isfinite([row["first"], row["second"]]).any():
        return "left out"
    if row["p_adjusted"] <= alpha:
        return "worse"
    return "not worse" if row["p_not_worse"] <= alpha else "cannot tell"


def _needed(row: Row, first: changes.Run, second: changes.Run, alpha: float, power: float) -> float:
    if row["verdict"] != "cannot tell" or (row["n"] and np.isnan(row["p_not_worse"])):
        return np.nan
    pair = changes.pair_units(first, second, _key(row))
    worse: Any = second.study.worse[row["statistic"]]
    needed = stats.noninferiority_n(
        pair.dropna(), worse=worse, margin=row["margin"], alpha=alpha, power=power
    )
    return np.nan if needed is None else float(needed)


def _remarks(first: changes.Run, second: changes.Run) -> list[str]:
    remarks = []
    if first.manifest.get("claims_sha256") != second.manifest.get("claims_sha256"):
        remarks.append("The two runs declare different claims; those of the run are tested.")
    settings = changes.settings([first.manifest, second.manifest])
    differing = settings.loc[settings["kind"].isin(["parameter", "data"]), "name"]
    expected = {"claims", *second.study.answers}  # a gate is for these to differ
    differing = [
        name for name in dict.fromkeys(differing) if name.partition(".")[0] not in expected
    ]
    if differing:
        remarks.append(f"Set or read differently: {', '.join(differing)}.")
    return remarks


# --- for readers --------------------------------------------------------------------------------


def headline(result: Gate) -> str:
    """Return the result of a gate in one sentence.

    Examples
    --------
    >>> rows = pd.DataFrame({"verdict": ["worse", "not worse"]})
    >>> headline(Gate("llmbi/new", "llmbi/old", "prompts", rows, 1, 0.05, []))
    'llmbi/new is worse than llmbi/old in 1 of 2 claims.'
    """
    tested = result.rows[result.rows["verdict"] != "left out"]
    claims = f"{len(tested)} claim{'s' * (len(tested) != 1)}"
    worse, unclear = ((tested["verdict"] == name) for name in ("worse", "cannot tell"))
    if result.status == WORSE:
        return f"{result.run} is worse than {result.baseline} in {worse.sum()} of {claims}."
    if result.status == NOT_WORSE:
        return f"{result.run} is shown to be not worse than {result.baseline} in all {claims}."
    asked = tested["p_not_worse"].notna() | (tested["n"] == 0)
    why = f"too few {result.units}"
    if not asked[unclear].any():
        why = "the model was not asked again"
    return (
        f"Inconclusive, {why}: {result.run} may or may not be worse than {result.baseline} "
        f"in {unclear.sum()} of {claims}."
    )


def describe(row: Mapping[str, Any], result: Gate) -> str:
    """Return of one claim what changed, against which margin, and its p value."""
    if row["verdict"] == "left out":
        return "measured in neither run"
    if not np.isfinite(row["worsening"]):
        return str(row["reason"] or f"{row['n']} {result.units} in both runs")

    def written(value: float) -> str:
        return names.quantity({**row, "amount": value}, "amount")

    word = "worse" if row["worsening"] > 0 else "better"
    size = abs(row["worsening"])
    text = (
        f"{written(row['first'])} → {written(row['second'])}, "
        f"{f'{word} by {written(size)}' if size > changes.ROUNDING else 'the same'}; "
        f"margin {written(row['margin'])}; {row['n']:,} common {result.units}"
    )
    if row["only_first"] or row["only_second"]:
        text += f" ({row['only_first']:,} in the baseline only, {row['only_second']:,} here only)"
    if row["verdict"] == "worse":
        return f"{text}; {p_value(row['p_adjusted'])} (Holm)"
    if row["verdict"] == "not worse":
        return f"{text}; {row['reason'] or p_value(row['p_not_worse'])}"
    if np.isnan(row["p_not_worse"]):
        return f"{text}; {row['reason']}"
    if not np.isfinite(row["needed"]):
        return f"{text}; too few {result.units} to estimate how many would suffice"
    needed = float(f"{max(row['needed'], row['n'] + 1):.2g}")
    power = f"if the model did not change ({POWER:.0%} power)"
    return f"{text}; about {needed:,.0f} would suffice {power}"


def lines(result: Gate) -> list[tuple[str, str, str]]:
    """Return of each claim the verdict, its name and what changed; the worst come first."""
    rows = result.rows.to_dict("records")
    return [(row["verdict"], row["name"], describe(row, result)) for row in rows]


def notes(result: Gate) -> list[str]:
    """Return what stands below: remarks, and how the tests are made."""
    return [
        *result.remarks,
        f"Paired one-sided tests at {result.alpha:.0%}; Holm's correction over the claims keeps "
        f"the rate of false alarms of all together at {result.alpha:.0%} at most.",
    ]


def markdown(result: Gate) -> str:
    """Write a gate as Markdown, for a merge request or the summary of a job.

    Examples
    --------
    >>> rows = pd.DataFrame(columns=["verdict", "name", "p_not_worse", "n"])
    >>> print(markdown(Gate("llmbi/new", "llmbi/old", "prompts", rows, 0, 0.05, []))[:22])
    ## nbbias gate: not wor
    """
    title = {WORSE: "worse", NOT_WORSE: "not worse", CANNOT_TELL: "inconclusive"}[result.status]
    table = ["| | claim | what changed |", "| --- | --- | --- |"]
    table += [
        f"| **{verdict}** | {_cell(name)} | {_cell(text)} |"
        for verdict, name, text in lines(result)
    ]
    below = [f"- {_cell(note)}" for note in notes(result)]
    head = [f"## nbbias gate: {title}", "", _cell(headline(result)), ""]
    return "\n".join([*head, *table, "", *below]) + "\n"


def _cell(text: str) -> str:
    return escape.markdown(visible(text)).replace("|", "\\|").replace("\n", " ")


def junit(result: Gate) -> str:
    """Write a gate as JUnit XML: a claim that is worse fails, one that cannot be told is an error.

    Examples
    --------
    >>> rows = pd.DataFrame(columns=["verdict", "name"])
    >>> junit(Gate("llmbi/new", "llmbi/old", "prompts", rows, 0, 0.05, [])).count("<testsuite ")
    1
    """
    kinds = {"worse": "failure", "cannot tell": "error", "left out": "skipped"}
    count = result.rows["verdict"].value_counts()
    numbers = {"failures": "worse", "errors": "cannot tell", "skipped": "left out"}
    attributes = {name: str(count.get(verdict, 0)) for name, verdict in numbers.items()}
    attributes |= {"name": f"nbbias gate {visible(result.run)}", "tests": str(len(result.rows))}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", attributes)
    for verdict, name, text in lines(result):
        case = {"classname": visible(result.run), "name": visible(name)}
        element = ElementTree.SubElement(suite, "testcase", case)
        kind, message = kinds.get(verdict, "system-out"), visible(text)
        about = {"message": message, "type": verdict} if verdict in kinds else {}
        ElementTree.SubElement(element, kind, about).text = "" if about else message
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
