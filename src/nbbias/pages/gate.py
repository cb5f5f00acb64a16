"""The gate: did a declared claim get worse than in the run that was accepted last?

Every declared claim is tested twice on the units that both runs have (`stats.noninferiority_test`):
whether the run is worse by more than the margin, and whether not. The first p values are Holm-
adjusted, so that all claims together raise a false alarm in one of twenty comparisons at most. The
second need no correction: the gate opens where every one of them is small. A claim without a margin
is tested for any worsening at all, and is never shown to be not worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.pages import changes
from nbbias.params import SMALLEST
from nbbias.reading import names, prose, templates
from nbbias.reading.claims import declared as claimed
from nbbias.tables import UNIT_KEYS, NbbiasError, escape, visible

Row = dict[str, Any]
Verdict = Literal["worse", "cannot tell", "not worse"]

#: Exit status of the command, by the verdict on all claims together, the worst first.
STATUS: dict[Verdict, int] = {"worse": 1, "cannot tell": 3, "not worse": 0}

#: Power of all claims together for which units are counted.
POWER = 0.8


class Gate(NamedTuple):
    """The result of a gate: a row for each declared claim, and the exit status that follows.

    `rows` has what names a claim, `claim` (its number), `name` (in words), `verdict`, `text` (what
    changed), `first` and `second`, `worsening`, `margin`, `n` units in both runs of `n_all`,
    `p_worse` (`p_adjusted` is Holm's), `p_not_worse`, and `reason`, why it was not tested; the
    worst verdict comes first. `headline` says it in one sentence; `remarks` say how the runs differ
    and how they are tested.
    """

    run: str
    headline: str
    rows: pd.DataFrame
    status: int
    remarks: list[str]


def gate(
    run: Path,
    baseline: Path,
    *,
    margin: float | None = None,
    claims: Sequence[int] | None = None,
    look: int | None = None,
) -> Gate:
    """Test the declared claims of a run against those of another.

    Parameters
    ----------
    run
        The folder of a finished run, whose declared claims are tested.
    baseline
        That of the run it must not be worse than.
    margin
        How much worse is accepted of claims without a `smallest_effect`; of a claim with neither,
        a worsening above 0 is tested, and nothing else can be shown.
    claims
        The numbers of the claims that are tested; all by default.
    look
        Of runs that are compared with one baseline after another, the number of this one, from 1:
        it is *worse* at the level α/(k(k + 1)), so that all of them together raise a false alarm
        with probability α at most. Without it the comparison stands alone.

    Raises
    ------
    NbbiasError
        A folder holds no finished run, the two are of different studies, nothing is declared, or
        a claim cannot be tested.
    """
    first, second = changes.read(baseline), changes.read(run)
    if (study := first.manifest["study"]) != second.manifest["study"]:
        problem = f"is a run of {study}, not of {second.manifest['study']}"
        raise NbbiasError(str(baseline), problem)
    first, renamed = changes.as_one_model(first, second)
    rows = _declared(first, second, claims, where=str(run))
    rows["margin"] = rows[SMALLEST].fillna(margin or np.nan)
    _refuse_untestable(rows, second, where=str(run))
    confidence = float(second.manifest["parameters"].get("confidence", stats.CONFIDENCE))
    alpha = stats.alpha(confidence)
    recorded = [] if renamed else changes.recorded_answers(first, second)
    tests = [_test(row, first, second, recorded) for row in rows.to_dict("records")]
    table = stats.adjust(pd.DataFrame(tests).assign(p_value=lambda rows: rows["p_worse"]))
    spent = alpha / (look * (look + 1)) if look else alpha
    is_worse = stats.is_significant(table["p_adjusted"], 1 - spent)
    is_not = stats.is_significant(table["p_not_worse"], confidence)
    table["verdict"] = np.select([is_worse, is_not], ["worse", "not worse"], "cannot tell")
    # All claims together have the power.
    design = {"alpha": alpha, "power": 1 - (1 - POWER) / len(table)}
    table["text"] = [_describe(row, first, second, design) for row in table.to_dict("records")]
    order = table["verdict"].map(list(STATUS).index).sort_values(kind="stable").index
    table = table.loc[order].reset_index(drop=True)
    verdict = table["verdict"].iloc[0]
    settings = changes.settings([first.manifest, second.manifest])
    differing = settings.loc[settings["kind"].isin(["parameter", "data"]), "name"]
    remarks = {
        "renamed": renamed,
        "unbounded": sorted(set(table.loc[table["margin"].isna(), "claim"])),
        "unmeasured": sorted({*(claims or second.declared["claim"])} - {*rows["claim"]}),
        "differing": list(differing.unique()),
        "tested": 100 * alpha,
        "look": look and (look, spent),
    }
    of = {"verdict": verdict, "k": (table["verdict"] == verdict).sum(), "n": len(table)}
    sides = {"run": second.label, "baseline": first.label}
    return Gate(
        run=second.label,
        headline=prose.render_plain("gate.headline", **sides, **of),
        rows=table,
        status=STATUS[verdict],
        remarks=[prose.render_plain("gate.remark", kind=k, of=v) for k, v in remarks.items() if v],
    )


def _declared(
    first: changes.Run, second: changes.Run, claims: Sequence[int] | None, *, where: str
) -> pd.DataFrame:
    """Return the chosen claims that a run measured, those that only the baseline did among them."""
    declared = second.declared
    numbers = sorted(declared["claim"].astype(int).unique()) if len(declared) else []
    if not numbers or not set(claims or ()) <= set(numbers):
        listed = ", ".join(map(str, numbers)) or "none; name some under claims: in its params file"
        raise NbbiasError(where, f"declares no such claim; its claims are: {listed}")
    measured = declared[declared["estimate"].notna()]
    # The same claims on the baseline's estimates: what only it measured is missing here.
    keys, now = list(UNIT_KEYS), second.manifest["parameters"].get("claims", [])
    there = first.estimates.dropna(subset="estimate")
    there = there.assign(**there[keys].astype(object).replace("", None))
    before = claimed(there, now, confidence=stats.CONFIDENCE).dropna(subset="estimate")
    before = before.assign(**before[keys].astype(object).fillna(""))
    here = set(measured["key"].str[:-1])  # by whichever scorer
    missing = before[[key[:-1] not in here for key in before["key"]]]
    rows = pd.concat([measured, missing.assign(estimate=np.nan)], ignore_index=True)
    if (rows := rows[rows["claim"].isin(claims or numbers)]).empty:
        raise NbbiasError(where, "no claim was measured in this run or the baseline")
    return rows.assign(name=[names.label(row) for row in rows.to_dict("records")])


def _refuse_untestable(rows: pd.DataFrame, run: changes.Run, *, where: str) -> None:
    """Refuse claims that cannot be tested, each once, with what to do about it."""
    no_units = rows["estimate"].notna() & ~rows["key"].isin(list(run.units))
    no_direction = ~rows["statistic"].isin(list(run.study.worse))
    if len(refused := rows[no_direction | no_units].drop_duplicates("claim")):
        problem = (
            f", has no direction that is worse, or no values by {run.study.called}; choose others "
            f"by --claims, or declare one of: {', '.join(run.study.worse) or 'none'}"
        )
        lines = "claim " + refused["claim"].astype(int).astype(str) + ", " + refused["name"]
        raise NbbiasError(where, (lines + problem).to_list())


def _test(row: Row, first: changes.Run, second: changes.Run, recorded: Sequence[str]) -> Row:
    """Test one claim on the units that both runs have."""
    pair = changes.pair_units(first, second, row["key"])
    common = pair.dropna(subset=["first", "second"])
    worse: Any = second.study.worse[row["statistic"]]
    result = {name: row[name] for name in (*UNIT_KEYS, "key", "claim", "name", "margin")}
    result |= {name: float(common[name].mean()) for name in ("first", "second")}
    margin = 0.0 if pd.isna(row["margin"]) else row["margin"]
    result |= stats.noninferiority_test(common, worse=worse, margin=margin)
    reason = ""
    if common.empty:
        reason = f"no {second.study.called} measured by the same instrument in both runs"
    # Nothing can be said of a model that was not asked between the two runs.
    elif same := [name for name in recorded if name.partition(".")[2] in {"", row["judge"]}]:
        reason = f"the model was not asked again: both runs read the same {' and '.join(same)}"
    if reason or pd.isna(row["margin"]):
        result["p_not_worse"] = np.nan
    return result | {"n_all": len(pair), "reason": reason}


# --- for readers --------------------------------------------------------------------------------


def _describe(row: Row, first: changes.Run, second: changes.Run, design: Row) -> str:
    """Return of one claim what changed, against which margin, and its p value or the reason."""
    sizes = row | {of: abs(row[of]) for of in ("worsening", "margin")}
    values = {of: names.quantity(sizes, of) for of in ("first", "second", "worsening", "margin")}
    bounded, needed = pd.notna(row["margin"]), None
    if row["n"] > 1 and bounded and row["verdict"] == "cannot tell" and not row["reason"]:
        pair = changes.pair_units(first, second, row["key"]).dropna()
        design |= {"worse": second.study.worse[row["statistic"]], "margin": row["margin"]}
        needed = stats.noninferiority_n(pair, **design)
    enough = needed and prose.round_up(max(needed, row["n"] + 1))
    units = {"units": second.study.called, "enough": enough, "power": POWER}
    return prose.render_plain("gate.change", row=row, values=values, bounded=bounded, **units)


def plain(result: Gate) -> str:
    """Write a gate as plain text, for a terminal or the message of a test.

    Examples
    --------
    >>> rows = pd.DataFrame({"verdict": ["worse"], "name": ["index"], "text": ["p < .001"]})
    >>> print(plain(Gate("llmbi/new", "Worse.", rows, 1, ["Compared as one model: a, b."])))
    Worse.
      worse  index
        p < .001
    Compared as one model: a, b.
    """
    rows = result.rows[["verdict", "name", "text"]].itertuples(index=False)
    lines = [f"  {verdict}  {visible(name)}\n    {visible(text)}" for verdict, name, text in rows]
    return "\n".join([visible(result.headline), *lines, *map(visible, result.remarks)])


def markdown(result: Gate) -> str:
    """Write a gate as Markdown, for a merge request or the summary of a job.

    Examples
    --------
    >>> rows = pd.DataFrame(columns=["verdict", "name", "text"])
    >>> markdown(Gate("llmbi/new", "Not worse", rows, 0, [])).splitlines()[:3]
    ['## nbbias gate', '', 'Not worse']
    """
    rows = result.rows[["verdict", "name", "text"]].map(escape.markdown)
    table = [f"| **{verdict}** | {name} | {text} |" for verdict, name, text in rows.to_numpy()]
    headline, *remarks = map(escape.markdown, [result.headline, *result.remarks])
    head = ["## nbbias gate", "", headline, "", "| | claim | what changed |", "| --- | --- | --- |"]
    return "\n".join([*head, *table, "", *(f"- {remark}" for remark in remarks)]) + "\n"


def junit(result: Gate) -> str:
    """Write a gate as JUnit XML: a claim that is worse fails, an inconclusive one is an error.

    Examples
    --------
    >>> rows = pd.DataFrame({"verdict": ["worse"], "name": ["index"], "text": ["p < .001"]})
    >>> junit(Gate("llmbi/new", "Worse.", rows, 1, [])).count("<failure ")
    1
    """
    return templates.render("junit.xml.j2", run=result.run, rows=result.rows.to_dict("records"))
