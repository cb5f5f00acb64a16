"""Tables that a reader of the CoGS study needs, laid out from its estimates."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.cogs.affinity import ALL, affinity_bias_score
from nbbias.cogs.rbs import representative_bias_score
from nbbias.cogs.suite import Suite, rubrics

#: The ways to a judge's spread, in the order of the argument.
WAYS = {"abs_raw": "raw", "abs": "balanced", "position": "position"}
#: Short headings of the table `ways`, where each spread is followed by its p and favourite.
WAY_HEADINGS = {f"p_{name}": "p" for name in WAYS.values()} | {
    f"most_{name}": "most" for name in WAYS.values()
}
_SHARES = {"share_raw": "identity, raw", "share": "identity, balanced",
           "position_share": "position"}  # fmt: skip

_NUMBERS = [
    *("estimate", "ci_low", "ci_high", "n", "n_lost", "null", "null_low", "null_high", "excess"),
    *("p_value", "p_adjusted", "reason"),
]


def whole(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are about all tasks and topics together."""
    return estimates[estimates[["task", "topic"]].isna().all(axis=1)]


def by_setting(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name models with their temperature, where one answered at several, one below the other."""
    several = estimates.groupby("model")["prompt"].transform("nunique") > 1
    if not several.any():
        return estimates
    at = np.argsort(pd.factorize(estimates["model"])[0], kind="stable")
    estimates, several = estimates.iloc[at], several.iloc[at]
    named = estimates["model"] + ", " + estimates["prompt"].fillna("temperature not told")
    return estimates.assign(model=estimates["model"].where(~several, named))


def together(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return, of each judge, the rows of all writers together, or those of the only one."""
    several = estimates.groupby("evaluator", dropna=False)["model"].transform("nunique") > 1
    return estimates[~several | (estimates["model"] == ALL)]


def columns(estimates: pd.DataFrame, statistics: list[str]) -> pd.DataFrame:
    """Return what a reader needs of some statistics, in plain columns, leaving out empty ones."""
    table = estimates[estimates["statistic"].isin(statistics)]
    keys = ["evaluator", "model", "prompt", "bias", "task", "topic", "statistic", "group"]
    said = [name for name in [*keys, *_NUMBERS] if table[name].notna().any()]
    idle = {"statistic"} if table["statistic"].nunique() == 1 else set()
    idle |= {"model"} if (table["model"] == ALL).all() else set()
    if (table["null"].dropna() == 0).all():
        idle |= {"null", "excess"}  # nothing to add to the estimate
    names = {"bias": "axis", "group": "identity", "prompt": "setting"}
    kept = [name for name in said if name not in idle]
    return table[kept].rename(columns=names).reset_index(drop=True)


def references(estimates: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Return `columns` of distances without a default, each row with what it is `to`."""
    rows = estimates[estimates["statistic"] == statistic]
    table = columns(rows, [statistic]).drop(columns=["null_low", "null_high"])
    table.insert(2, "to", rows["instrument"].str.split("reference: ").str[-1].to_numpy())
    return table


def tasks(suite: Suite) -> pd.DataFrame:
    """List the tasks: `task`, `prompt`, `criteria` (names), `rubric` (who wrote it)."""
    listed = rubrics(suite).groupby("task", sort=False)
    return pd.DataFrame({
        "task": list(suite.tasks),
        "prompt": [task.prompt for task in suite.tasks.values()],
        "criteria": listed["criterion"].agg("; ".join).to_list(),
        "rubric": listed["source"].first().to_list(),
    })  # fmt: skip


def tests(estimates: pd.DataFrame) -> pd.DataFrame:
    """Put the paper's analysis of variance above the design's own, for each model and axis.

    Returns
    -------
    DataFrame
        `model`, `axis`, `test` (the first takes the answers to one prompt for independent, the
        second has instances as subjects), `f`, `df`, `effect_size`, `p_value`, `p_adjusted`, `n`,
        and a `reason` where there is none.
    """
    own = whole(estimates)
    own = own[own["statistic"].isin(["anova", "anova_repeated"])]
    names = {"bias": "axis", "prompt": "setting", "statistic_value": "f"}
    kept = ["model", "prompt", "bias", "test", "statistic_value", "df", "effect_size", "p_value",
            "p_adjusted", "n", "reason"]  # fmt: skip
    said = [name for name in kept if own[name].notna().any()]
    return own[said].rename(columns=names).reset_index(drop=True)


def ways(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out each judge's spreads, a row a judge and axis.

    Returns
    -------
    DataFrame
        `evaluator`, `axis`; for each of `WAYS` the spread, its adjusted p (`p_raw`, …) and the
        favourite; `n` (instances, balanced).
    """
    own = together(whole(estimates))
    keys = ["evaluator", "bias"]
    parts = []
    for statistic, name in WAYS.items():
        rows = own[own["statistic"] == statistic].set_index(keys)
        parts.append(pd.DataFrame({
            name: rows["estimate"], f"p_{name}": rows["p_adjusted"], f"most_{name}": rows["group"],
        }))  # fmt: skip
    counted = own[own["statistic"] == "abs"].set_index(keys)["n"]
    return pd.concat([*parts, counted], axis=1).reset_index().rename(columns={"bias": "axis"})


def shares(estimates: pd.DataFrame) -> pd.DataFrame:
    """Put shares of identities and of positions below one another, by judge and axis."""
    own = together(whole(estimates))
    own = own[own["statistic"].isin(list(_SHARES))].assign(
        share_of=lambda rows: rows["statistic"].map(_SHARES)
    )
    names = {"bias": "axis", "estimate": "share", "group": "which"}
    return own.rename(columns=names)[
        ["evaluator", "axis", "share_of", "which", "share", "ci_low", "ci_high", "null",
         "null_low", "null_high", "p_adjusted", "n", "n_lost", "reason"]
    ].dropna(axis=1, how="all").reset_index(drop=True)  # fmt: skip


def worked_examples() -> pd.DataFrame:
    """Compute the paper's worked examples (sections 3.1 and 3.2) from the values that it gives.

    Returns
    -------
    DataFrame
        `score`, `example`, `values`, `ours`, `printed` (as the paper writes it), `difference`,
        `identity` and `printed_identity`.
    """
    rows = []
    for (score, example), own in tables.printed("kumar2024_examples").groupby(
        ["score", "example"], sort=False
    ):
        values = own.set_index("identity")["value"]
        compute = representative_bias_score if score == "RBS" else affinity_bias_score
        found = compute(values)
        printed = own["printed"].iloc[0]
        rows.append({
            "score": score, "example": example,
            "values": ", ".join(f"{name} {value:g}" for name, value in values.items()),
            "ours": found.score, "printed": f"{printed:g}", "difference": found.score - printed,
            "identity": found.identity, "printed_identity": own["printed_identity"].iloc[0],
        })  # fmt: skip
    return pd.DataFrame(rows)


def printed_rows(estimates: pd.DataFrame, *, score: Literal["RBS", "ABS"]) -> pd.DataFrame:
    """Put our scores and those of the paper's Table 1 below one another, for one scale.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`, or of `cogs.affinity.abs_estimates`: the ABS as published, of all
        writers together.

    Returns
    -------
    DataFrame
        `axis`, `side` (``"ours"`` or ``"printed"``), `who`, `estimate`, `ci_low`, `ci_high`,
        `null`, `null_low`, `null_high`, `identity`, and for printed values `significant`. Printed
        are the axes that ours have.
    """
    own = by_setting(whole(estimates))
    own = own[own["statistic"] == {"RBS": "rbs", "ABS": "abs_raw"}[score]]
    own = together(own) if score == "ABS" else own
    who = own["evaluator"] if score == "ABS" else own["model"]
    ours = own.assign(side="ours", who=who, axis=own["bias"], identity=own["group"])
    paper = tables.printed("kumar2024")
    paper = paper[(paper["score"] == score) & paper["axis"].isin(set(own["bias"]))]
    theirs = paper.assign(
        side="printed", who=paper["model"], estimate=paper["value"], identity=paper["most"],
        significant=paper["significant"].map({True: "yes", False: "no"}),
    )  # fmt: skip
    names = ["axis", "side", "who", "estimate", "ci_low", "ci_high", "null", "null_low",
             "null_high", "identity", "significant"]  # fmt: skip
    gaps = {name: np.nan for name in names if name not in theirs}
    table = pd.concat([ours.assign(significant=None)[names], theirs.assign(**gaps)[names]])
    order = {axis: i for i, axis in enumerate(own["bias"].unique())}
    return table.sort_values("axis", kind="stable", key=lambda axes: axes.map(order)).reset_index(
        drop=True
    )
