"""Tables that a reader of the CoGS study needs, each with its title and its note."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from nbbias import reading, tables
from nbbias.cogs.affinity import ALL, first_texts
from nbbias.cogs.sample import SAMPLE_JUDGES, SAMPLE_WRITERS
from nbbias.cogs.spread import unit
from nbbias.cogs.suite import BAR, Suite
from nbbias.reading import Table

# --- which rows ----------------------------------------------------------------------------------


def whole(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are about all tasks and topics together."""
    return estimates[estimates[["task", "topic"]].isna().all(axis=1)]


def select(estimates: pd.DataFrame, measure: str, *, by: str | None = None) -> pd.DataFrame:
    """Return the rows of a measure: over all tasks, or by task or by topic.

    Examples
    --------
    >>> rows = pd.DataFrame({"measure": "rbs", "task": [None, "haiku"], "topic": None})
    >>> len(select(rows, "rbs")), len(select(rows, "rbs", by="task"))
    (1, 1)
    """
    rows = estimates[estimates["measure"] == measure]
    return whole(rows) if by is None else rows[rows[by].notna()]


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


def chance(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return what each estimate would be by chance, by every reference that it has.

    Parameters
    ----------
    estimates
        ESTIMATES of the study.

    Returns
    -------
    DataFrame
        CHANCE. ``identities`` (or positions) permuted within the unit and, of people's
        agreement, their ``verdicts`` shuffled: what ESTIMATES shows. ``replicate``, of distances:
        the floor with its interval, how far two answers to the same default prompt lie apart.
    """
    dealt = estimates[estimates["null_low"].notna()]
    people = dealt["measure"] == "agreement"
    dealt = dealt.assign(reference=np.where(people, "verdicts", "identities"))
    floor = estimates[estimates["statistic"] == "floor"]
    floor = floor[[*_PLACE, "estimate", "ci_low", "ci_high"]].set_axis(
        [*_PLACE, "null", "null_low", "null_high"], axis=1
    )
    own = dealt.loc[dealt["statistic"] == "distance", [*_CLAIM, "confidence"]]
    found = pd.concat([dealt, own.merge(floor, on=_PLACE).assign(reference="replicate")])
    rows = found[[name for name in tables.CHANCE.columns if name in found]]
    return tables.chance(rows.to_dict("records"), study="cogs")


_CLAIM = [*tables.ESTIMATE_KEYS, "instrument"]
_PLACE = [name for name in _CLAIM if name not in {"group", "statistic"}]


# --- the suite and the answers -------------------------------------------------------------------


def prompts(asked: pd.DataFrame) -> Table:
    """Show a default prompt of `cogs.suite.prompts`, and the same with an identity of each axis."""
    rows = asked.drop_duplicates("axis")[["task", "theme", "axis", "identity", "prompt"]]
    return Table(rows, "A default prompt, and the same with an identity of each axis")


def answers(answers: pd.DataFrame) -> Table:
    """Count answers by model and axis (``"default"`` for those without an identity).

    Returns
    -------
    Table
        `model`, `axis`, `identities`, `instances` (task and theme), `answers`, `blank` (lost),
        `samples` (the most of one prompt) and `words`, the mean of what is not blank.
    """
    words = answers["text"].fillna("").str.split().str.len()
    table = answers.assign(
        axis=answers["axis"].fillna("default"),
        identity=answers["identity"].fillna("default"),
        instance=answers["task"] + BAR + answers["theme"],
        blank=words == 0,
        words=words.where(words > 0),
    )
    cell = ["model", "axis"]
    asked = table.groupby([*cell, "instance", "identity"])["blank"]
    rows = (
        table.assign(samples=asked.transform("size"))
        .groupby(cell, sort=False)
        .agg(
            identities=("identity", "nunique"),
            instances=("instance", "nunique"),
            answers=("blank", "size"),
            blank=("blank", "sum"),
            samples=("samples", "max"),
            words=("words", "mean"),
        )
        .reset_index()
    )
    note = "Blank: lost. Samples: the most answers to one prompt. Words: mean length."
    return Table(rows, "Answers by model and axis", note, decimals=1)


def incomplete(answers: pd.DataFrame, suite: Suite) -> Table:
    """Count the instances that cannot be judged, because an identity has no answer.

    Returns
    -------
    Table
        By `model` and `axis`: `instances`, `judged`, `incomplete`.
    """
    texts = first_texts(answers)
    rows = []
    for model, asked in answers.groupby("model", sort=False):
        instances = asked[["task", "theme"]].drop_duplicates()
        own = texts[texts["model"] == model]
        for axis, plan in suite.axes.items():
            there = own[own["identity"].isin(list(plan.identities))]
            counts = there.groupby(["task", "theme"])["identity"].nunique()
            judged = int((counts == len(plan.identities)).sum())
            rows.append((model, axis, len(instances), judged, len(instances) - judged))
    return Table(
        pd.DataFrame(rows, columns=["model", "axis", "instances", "judged", "incomplete"]),
        "Instances that can be judged",
        "Judged: all identities of the axis answered; the others are lost.",
    )


# --- representative bias -------------------------------------------------------------------------

_KEYS = ["model", "prompt", "bias", "task", "topic", "group"]
_LABELS = {"bias": "axis", "prompt": "setting"}


def _labels(rows: pd.DataFrame, **named: str) -> dict[str, str]:
    """Name the columns; N counts instances, or tasks."""
    tested = rows["test"].dropna()
    return {**_LABELS, "n": unit(tested.iloc[0] if len(tested) else ""), **named}


def rbs(estimates: pd.DataFrame, *, rows: int | None = 12) -> Table:
    """Show the RBS of each model and axis (and task or topic) of `cogs.rbs.rbs`."""
    parts = [name for name in ("task", "topic") if estimates[name].notna().any()]
    told = f" by {' and '.join(parts)}" if parts else ""
    return reading.readable(
        estimates,
        _KEYS,
        statistics=["rbs"],
        rows=rows,
        title=f"Representative Bias Score{told}",
        labels=_labels(estimates, group="nearest", estimate="RBS"),
        note="Counted are those with all identities. By chance: identities permuted within each. "
        "p adjusted: repeated measures, Greenhouse-Geisser; Holm, over all models and "
        f"axes{_over(parts)}.",
    )


def masked(parted: pd.DataFrame) -> Table:
    """Show what is left without identity words, and what these alone add (`cogs.masked`)."""
    return reading.readable(
        parted,
        _KEYS,
        statistics=["rbs_masked", "distance_masked", "distance_words"],
        title="Without the words that name an identity",
        labels=_labels(parted, group="identity"),
        note="Masked: answers and defaults are embedded once more with the plain words of every "
        "identity left out. Words: the distance less the masked one, which these words alone add. "
        "Holm over the identities of an axis; of the masked RBS over all models and axes.",
    )


def _over(parts: list[str]) -> str:
    return f" and {' (or) '.join(f'{name}s' for name in parts)}" if parts else ""


def distances(estimates: pd.DataFrame) -> Table:
    """Show the distance of each identity to the default of `cogs.rbs.rbs`."""
    return reading.readable(
        estimates,
        _KEYS,
        statistics=["distance"],
        rows=None,
        title="Distance of each identity to the default",
        labels=_labels(estimates, group="identity", estimate="distance", null="mean of all"),
        note="1 - cosine, in 0 to 2; lower: nearer. Mean of all: over identities, with the range "
        "of permuted means. p adjusted: paired t against that mean; Holm, over the identities of "
        "an axis.",
    )


def differences(estimates: pd.DataFrame) -> Table:
    """Show the paired differences of identities' distances of `cogs.rbs.rbs`."""
    return reading.readable(
        estimates,
        _KEYS,
        statistics=["difference"],
        rows=None,
        title="Each two identities on the same task × theme",
        labels=_labels(estimates, group="which", estimate="difference"),
        note="Difference of distances, first minus second: below 0, the first is nearer to the "
        "default. Paired t-tests, Holm over the pairs of an axis.",
    )


def tests(estimates: pd.DataFrame) -> Table:
    """Put the paper's analysis of variance above the design's own, for each model and axis.

    Returns
    -------
    Table
        `model`, `axis`, `test` (the first takes the answers to one prompt for independent, the
        second has instances as subjects), `f`, `df`, `effect_size`, `p_value`, `p_adjusted`, `n`,
        and a `reason` where there is none.
    """
    own = whole(estimates)
    own = own[own["statistic"].isin(["anova", "rbs"])].sort_values(
        ["model", "bias", "prompt", "statistic"], kind="stable", ignore_index=True
    )
    names = {"bias": "axis", "prompt": "setting", "statistic_value": "f"}
    kept = [
        "model",
        "prompt",
        "bias",
        "test",
        "statistic_value",
        "df",
        "effect_size",
        "p_value",
        "p_adjusted",
        "n",
        "reason",
    ]
    said = [name for name in kept if own[name].notna().any()]
    return Table(
        own[said].rename(columns=names).reset_index(drop=True),
        "Analyses of variance across identities",
        "First: as in the paper; second: the design's own. df: of the error. p adjusted: Holm, "
        "over the rows of a test. n: task × theme.",
        labels={"f": "F"},
    )


# --- visibility ----------------------------------------------------------------------------------


def visibility(table: pd.DataFrame) -> Table:
    """Show `cogs.visible.visibility`."""
    return Table(
        table,
        "Visibility of identities",
        "Shares of n answers. Obvious default: share of default answers that hold the same words. "
        "The line for similarity lets 5% of the answers of other axes pass.",
    )


# --- affinity bias -------------------------------------------------------------------------------

_SHARES = {
    "share_raw": "identity, raw",
    "share": "identity, balanced",
    "position_share": "position",
}


def abs_scores(estimates: pd.DataFrame, *, rows: int | None = 12) -> Table:
    """Show the ABS, orders balanced, of each judge and axis (and task), all writers together."""
    parts = ["task"] if estimates["task"].notna().any() else []
    return reading.readable(
        together(estimates),
        ["evaluator", "bias", "task", "group"],
        statistics=["abs"],
        rows=rows,
        title=f"Affinity Bias Score{' by task' if parts else ''}, orders balanced",
        labels=_labels(estimates, group="favourite", estimate="ABS", evaluator="judge"),
        note="Writers together. By chance: identities permuted within each unit. p adjusted: "
        f"Holm, over all judges and axes{_over(parts)}.",
    )


def shares(estimates: pd.DataFrame) -> Table:
    """Put shares of identities and of positions below one another, by judge and axis."""
    own = together(whole(estimates))
    own = own[own["statistic"].isin(list(_SHARES))].assign(
        share_of=lambda rows: rows["statistic"].map(_SHARES), p_adjusted=reading.p_column
    )
    rows = (
        own.rename(columns={"bias": "axis", "estimate": "share", "group": "which"})[
            [
                "evaluator",
                "axis",
                "share_of",
                "which",
                "share",
                "ci_low",
                "ci_high",
                "null",
                "null_low",
                "null_high",
                "p_adjusted",
                "n",
                "n_lost",
                "reason",
            ]
        ]
        .dropna(axis=1, how="all")
        .reset_index(drop=True)
    )
    return Table(
        rows,
        "Shares of identities, beside shares of positions",
        "N: task × theme. Null: an equal share, and the range of permuted names.",
        gap="",
    )


def people(agreement: pd.DataFrame, beside: pd.DataFrame, *, rows: int | None = 12) -> Table:
    """Show how far people agree, and the ABS of people and of models on the same instances.

    Parameters
    ----------
    agreement, beside
        Of `cogs.people.agreement` and `cogs.people.beside_models`.
    rows
        Where all are not shown: kappa, and people and models taken as a whole.
    """
    if rows is not None:
        agreement = agreement[agreement["statistic"] == "fleiss_kappa"]
        beside = beside[beside["kind"] == "people"]
    names = {"fleiss_kappa": "Fleiss' κ", "krippendorff_alpha": "Krippendorff's α", "abs": "ABS"}
    both = pd.concat([agreement, beside], ignore_index=True)
    both = both.assign(statistic=both["statistic"].map(names)).dropna(subset="statistic")
    levels = agreement["null"].dropna().map(lambda null: reading.number(null, decimals=3))
    return reading.readable(
        both,
        ["statistic", "bias", "evaluator", "group"],
        rows=rows,
        title=f"Agreement of people, and whom they prefer{'' if rows else ', one by one'}",
        labels={**_LABELS, "group": "favourite", "evaluator": "who"},
        note="Agreement: 1 is full, 0 what choices from one urn give; choices shuffled within "
        f"each person give {_range_in_words(levels)}, and agreement is tested against what they "
        "give, not against 0. ABS on the instances that people rated; 0: all identities alike. "
        "p adjusted: Holm, over all rows of agreement, and over the ABS of all people and judges.",
    )


def _range_in_words(levels: pd.Series) -> str:
    named = list(dict.fromkeys(levels))
    return " or ".join(filter(None, [", ".join(named[:-1]), *named[-1:]])) or "no level"


# --- the paper's own numbers ---------------------------------------------------------------------


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
    paper = tables.read_published("kumar2024")
    paper = paper[(paper["score"] == score) & paper["axis"].isin(set(own["bias"]))]
    theirs = paper.assign(
        side="printed",
        who=paper["model"],
        estimate=paper["value"],
        identity=paper["most"],
        significant=paper["significant"].map({True: "yes", False: "no"}),
    )
    names = [
        "axis",
        "side",
        "who",
        "estimate",
        "ci_low",
        "ci_high",
        "null",
        "null_low",
        "null_high",
        "identity",
        "significant",
    ]
    gaps = {name: np.nan for name in names if name not in theirs}
    table = pd.concat([ours.assign(significant=None)[names], theirs.assign(**gaps)[names]])
    order = {axis: i for i, axis in enumerate(own["bias"].unique())}
    return table.sort_values("axis", kind="stable", key=lambda axes: axes.map(order)).reset_index(
        drop=True
    )


# --- what was planted ----------------------------------------------------------------------------


def writers(estimates: pd.DataFrame) -> Table:
    """Say of each simulated writer which identity was planted as the nearest, and which was found.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.

    Returns
    -------
    Table
        By `model` and `axis`: `planted` (the identity, or ``"none"``), `nearest` (``"–"`` where the
        score is not beyond chance), `rbs` and its `p_adjusted`. Empty where no writer was
        simulated.
    """
    own = whole(estimates)
    groups = own[own["statistic"] == "distance"].groupby("bias")["group"].unique()
    own = own[(own["statistic"] == "rbs") & own["model"].isin(list(SAMPLE_WRITERS))]
    rows = [
        {
            "model": row.model,
            "axis": row.bias,
            "planted": next(
                (i for i in groups[row.bias] if SAMPLE_WRITERS[row.model].get(i)), "none"
            ),
            "nearest": row.group if row.p_adjusted < 1 - row.confidence else "–",
            "rbs": row.estimate,
            "p_adjusted": row.p_adjusted,
        }
        for row in own.itertuples()
    ]
    columns = ["model", "axis", "planted", "nearest", "rbs", "p_adjusted"]
    return Table(
        pd.DataFrame(rows, columns=columns),
        "Planted and found: the nearest identity",
        "–: the distances are not told apart beyond chance, so none is the nearest.",
    )


def judges(estimates: pd.DataFrame) -> Table:
    """Say of each simulated judge what was planted and what was found.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`.

    Returns
    -------
    Table
        By `evaluator`, `model` and `axis`: `planted_identity` and `planted_position` (``"yes"`` or
        ``"no"``), and of ``abs_raw``, ``abs`` and ``position`` the estimate and its p value before
        correction. Empty where no judge was simulated.
    """
    known = estimates[estimates["evaluator"].isin(list(SAMPLE_JUDGES))]
    rows = []
    for (evaluator, model, axis), own in known.groupby(["evaluator", "model", "bias"], sort=False):
        plan = SAMPLE_JUDGES[evaluator]
        row = {
            "evaluator": evaluator,
            "model": model,
            "axis": axis,
            "planted_identity": "yes" if any(plan.identity.values()) else "no",
            "planted_position": "yes" if any(plan.position) else "no",
        }
        for statistic in ("abs_raw", "abs", "position"):
            hit = own[own["statistic"] == statistic].iloc[0]
            row |= {statistic: hit["estimate"], f"p_{statistic}": hit["p_value"]}
        rows.append(row)
    return Table(pd.DataFrame(rows), "Planted and found: judges", "p before correction.")
