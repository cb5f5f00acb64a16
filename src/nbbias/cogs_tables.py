"""Tables that a reader of the CoGS study needs, laid out from its estimates."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from nbbias import published
from nbbias.cogs import representative_bias_score
from nbbias.cogs_affinity import ALL, affinity_bias_score
from nbbias.cogs_suite import Suite, rubrics

#: The ways to a judge's spread, in the order of the argument.
WAYS = {"abs_raw": "raw", "abs": "balanced", "abs_model": "logit", "position": "position"}
_SHARES = {"share_raw": "identity, raw", "share": "identity, balanced",
           "share_model": "identity, logit", "position_share": "position"}  # fmt: skip

_NUMBERS = [
    *("estimate", "ci_low", "ci_high", "n", "n_lost", "null", "null_low", "null_high", "excess"),
    *("p_value", "p_adjusted", "reason"),
]


def whole(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are about all tasks and topics together."""
    return estimates[estimates[["task", "topic"]].isna().all(axis=1)]


def together(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return, of each judge, the rows of all writers together, or those of the only one."""
    several = estimates.groupby("evaluator", dropna=False)["model"].transform("nunique") > 1
    return estimates[~several | (estimates["model"] == ALL)]


def columns(estimates: pd.DataFrame, statistics: list[str]) -> pd.DataFrame:
    """Return what a reader needs of some statistics, in plain columns, leaving out empty ones."""
    table = estimates[estimates["statistic"].isin(statistics)]
    keys = ["evaluator", "model", "prompt", "bias", "task", "topic", "statistic", "group"]
    said = [name for name in [*keys, *_NUMBERS] if table[name].notna().any()]
    if table["statistic"].nunique() == 1:
        said.remove("statistic")
    names = {"bias": "axis", "group": "identity", "prompt": "setting"}
    return table[said].rename(columns=names).reset_index(drop=True)


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
    """Put the paper's analysis of variance beside the design's own, a row a model and axis.

    Returns
    -------
    DataFrame
        `model`, `axis`; of ``one way`` (answers to one prompt taken for independent) and of
        ``repeated`` (instances as subjects) the F value, p, adjusted p and effect size; `n`.
    """
    own = whole(estimates)
    keys = ["model", "prompt", "bias"]
    parts = []
    for statistic, name in {"anova": "one_way", "anova_repeated": "repeated"}.items():
        rows = own[own["statistic"] == statistic].set_index(keys)
        parts.append(pd.DataFrame({
            f"f_{name}": rows["statistic_value"], f"p_{name}": rows["p_value"],
            f"p_{name}_adjusted": rows["p_adjusted"], f"effect_{name}": rows["effect_size"],
            **({"n": rows["n"]} if name == "repeated" else {}),
        }))  # fmt: skip
    table = pd.concat(parts, axis=1).reset_index().rename(columns={"bias": "axis"})
    return table.rename(columns={"prompt": "setting"}).dropna(axis=1, how="all")


def ways(estimates: pd.DataFrame) -> pd.DataFrame:
    """Lay out each judge's spreads in all ways, a row a judge and axis.

    Returns
    -------
    DataFrame
        `evaluator`, `axis`; for each of `WAYS` the spread, its chance level, adjusted p and
        favourite; `n` (instances, balanced).
    """
    own = together(whole(estimates))
    keys = ["evaluator", "bias"]
    parts = []
    for statistic, name in WAYS.items():
        rows = own[own["statistic"] == statistic].set_index(keys)
        parts.append(pd.DataFrame({
            name: rows["estimate"], f"{name}_by_chance": rows["null"],
            f"{name}_p": rows["p_adjusted"], f"{name}_most": rows["group"],
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
    ].reset_index(drop=True)  # fmt: skip


def worked_examples() -> pd.DataFrame:
    """Compute the paper's worked examples (sections 3.1 and 3.2) from the values that it gives.

    Returns
    -------
    DataFrame
        `score`, `example`, `values`, `ours`, `printed`, `difference`, `identity` and
        `printed_identity`.
    """
    rows = []
    for (score, example), own in published.load("kumar2024_examples").groupby(
        ["score", "example"], sort=False
    ):
        values = own.set_index("identity")["value"]
        compute = representative_bias_score if score == "RBS" else affinity_bias_score
        found = compute(values)
        printed = own["printed"].iloc[0]
        rows.append({
            "score": score, "example": example,
            "values": ", ".join(f"{name} {value:g}" for name, value in values.items()),
            "ours": found.score, "printed": printed, "difference": found.score - printed,
            "identity": found.identity, "printed_identity": own["printed_identity"].iloc[0],
        })  # fmt: skip
    return pd.DataFrame(rows)


def printed_rows(estimates: pd.DataFrame, *, score: Literal["RBS", "ABS"]) -> pd.DataFrame:
    """Put our scores and those of the paper's Table 1 below one another, for one scale.

    Parameters
    ----------
    estimates
        Of `cogs_estimates.rbs`, or of `cogs_affinity.abs_estimates`: the ABS as published, of all
        writers together.

    Returns
    -------
    DataFrame
        `axis`, `side` (``"ours"`` or ``"printed"``), `who`, `estimate`, `ci_low`, `ci_high`,
        `null`, `null_low`, `null_high`, `identity`, and for printed values `significant`. Printed
        are the axes that ours have.
    """
    own = whole(estimates)
    own = own[own["statistic"] == {"RBS": "rbs", "ABS": "abs_raw"}[score]]
    own = together(own) if score == "ABS" else own
    who = own["evaluator"] if score == "ABS" else own["model"]
    ours = own.assign(side="ours", who=who, axis=own["bias"], identity=own["group"])
    paper = published.load("kumar2024")
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
