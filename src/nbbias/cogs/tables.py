"""Tables of the CoGS study; their titles and notes are in ``data/prose/tables.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import reading, tables
from nbbias.cogs import sample
from nbbias.cogs.rbs import ALL
from nbbias.cogs.spread import UNITS
from nbbias.cogs.suite import BAR
from nbbias.reading import Table, names, significance
from nbbias.reading.prose import level, number

#: What a score is the spread of.
PARTS = {"rbs": "distance", "abs": "share"}

#: Measures of writers' texts.
OF_WRITERS = ("rbs", "diversity")

#: Significant scores of writers, and of judges, that lead a page.
_LEADING = 2

# --- which rows ----------------------------------------------------------------------------------


def over_all(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all tasks and topics."""
    return estimates[estimates[["task", "topic"]].isna().all(axis=1)]


def select(estimates: pd.DataFrame, measure: str, *, by_task: bool = False) -> pd.DataFrame:
    """Return the rows of a measure: over all tasks, or by task.

    Examples
    --------
    >>> rows = pd.DataFrame({"measure": "rbs", "task": [None, "haiku"], "topic": None})
    >>> len(select(rows, "rbs")), select(rows, "rbs", by_task=True)["task"].tolist()
    (1, ['haiku'])
    """
    rows = estimates[estimates["measure"] == measure]
    return rows[rows["task"].notna()] if by_task else over_all(rows)


def by_setting(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name models with their temperature, where one answered at several, one below the other."""
    several = estimates.groupby("model")["prompt"].transform("nunique") > 1
    if not several.any():
        return estimates
    order = np.argsort(pd.factorize(estimates["model"])[0], kind="stable")
    labels = estimates["model"] + ", " + estimates["prompt"].fillna("temperature unknown")
    return estimates.assign(model=estimates["model"].where(~several, labels)).iloc[order]


def pooled(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return each judge's rows pooled over writers, or those of the only writer."""
    several = estimates.groupby("evaluator", dropna=False)["model"].transform("nunique") > 1
    return estimates[~several | (estimates["model"] == ALL)]


def compared(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all tasks: of writers by setting, of judges all writers together."""
    rows = over_all(estimates)
    of_judges, of_writers = rows["measure"] == "abs", rows["measure"].isin(OF_WRITERS)
    return pd.concat([by_setting(rows[of_writers]), pooled(rows[of_judges])])


def select_leading(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores that lead a page: two significant RBS and ABS, or the largest of each.

    Parameters
    ----------
    scores
        Of `compared`.
    """
    by_score = []
    for name in PARTS:
        of_score = scores[(scores["statistic"] == name) & scores["estimate"].notna()]
        significant = significance.significant(of_score).head(_LEADING)
        by_score.append(significant if len(significant) else of_score.nlargest(1, "excess"))
    return pd.concat(by_score)


def score_parts(score: Mapping[str, Any], estimates: pd.DataFrame) -> pd.DataFrame:
    """Return what a score is made of, of the rows `compared`."""
    who = "model" if score["statistic"] == "rbs" else "evaluator"
    rows = estimates[estimates["statistic"] == PARTS[score["statistic"]]]
    rows = rows[(rows["bias"] == score["bias"]) & (rows[who] == score[who])]
    return rows.assign(who=score[who])


# --- the suite and the answers -------------------------------------------------------------------


def example(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the first default text of a model, and those with an identity for the same prompt.

    Parameters
    ----------
    answers
        Of `cogs.rbs.read_answers`.
    scores
        ESTIMATES, whose leading RBS chooses model and axis; else the first are shown.

    Examples
    --------
    >>> same = {"model": "m", "task": "poem", "theme": "truth", "axis": None, "identity": None}
    >>> rows = [same | {"text": "a"}, same | {"axis": "gender", "identity": "man", "text": "b"}]
    >>> scores = tables.estimates([], study="cogs")
    >>> example(pd.DataFrame(rows), scores)[["identity", "text"]].values.tolist()
    [['default', 'a'], ['man', 'b']]
    """
    keys = ["model", "task", "theme"]
    rows = answers.dropna(subset="text").sort_values("axis", na_position="first", kind="stable")
    leads = select_leading(scores).rename(columns={"bias": "axis"})
    chosen = pd.concat([leads, rows.dropna(subset="axis")])[["model", "axis"]].head(1)
    in_axis = rows["axis"].isna() | rows["axis"].isin(chosen["axis"])
    rows = rows[in_axis & rows["model"].isin(chosen["model"])]
    rows = rows.merge(rows[keys].head(1)).drop_duplicates("identity")
    rows = rows.assign(identity=rows["identity"].fillna("default"), text=rows["text"].str[:400])
    return rows[[*keys, "identity", "text"]]


def answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Count answers by model and axis (``"default"`` for those without an identity).

    Returns
    -------
    DataFrame
        `model`, `axis`, `answers`, `blank` (excluded), `instances` (task and theme) and `words`,
        the mean of what is not blank.

    Examples
    --------
    >>> row = {"model": "m", "task": "poem", "theme": "truth", "axis": None}
    >>> answers(pd.DataFrame([row | {"text": "So it is."}, row | {"text": " "}])).values.tolist()
    [['m', 'default', 2, 1, 1, 3.0]]
    """
    words = answers["text"].fillna("").str.split().str.len()
    rows = answers.assign(
        axis=answers["axis"].fillna("default"),
        instance=answers["task"] + BAR + answers["theme"],
        blank=words == 0,
        words=words.where(words > 0),
    )
    table = rows.groupby(["model", "axis"], sort=False).agg(
        answers=("blank", "size"),
        blank=("blank", "sum"),
        instances=("instance", "nunique"),
        words=("words", "mean"),
    )
    return table.reset_index()


# --- estimates -----------------------------------------------------------------------------------

#: Of tables that are not of the statistic of their name, the statistics.
STATISTICS = {
    "diversity": ["diversity_spread", "diversity_difference"],
    "orders": ["abs_raw", "position"],
    "people": ["krippendorff_alpha", "abs"],
}

#: Tables of scores alone.
_SCORES = ("rbs", "rbs_masked", "abs", "orders")

#: What a table calls them.
_NAMES = {
    "abs": "ABS",
    "abs raw": "ABS in the paper's order",
    "position": "position bias",
    "krippendorff alpha": "Krippendorff's α",
    "diversity spread": "SD",
    "diversity difference": "minus default texts",
}


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: of one statistic, or of `STATISTICS`.

    N counts instances; of judges, all writers together are shown, the smallest p first. Beside p of
    the RBS is that of the paper's test.
    """
    of_writers = estimates["measure"].isin(OF_WRITERS).any()
    judge = ["evaluator"] * ("agreement" not in {*estimates["measure"]})
    who = ["model", "prompt"] if of_writers else judge
    labels = {"bias": "axis", "prompt": "setting", "evaluator": "judge", "n": UNITS}
    labels |= dict(reading.caption(estimates, study="cogs", name=name).labels or {})
    rows = estimates if of_writers else pooled(estimates)
    rows = rows.sort_values(["statistic", "p_adjusted"], ascending=[False, True], kind="stable")
    rows = rows.assign(group=rows["group"].str.replace(" - ", " \N{MINUS SIGN} "))
    keys = [*["statistic"] * (name in STATISTICS), *who, "bias", "task", "group"]
    options: dict[str, Any] = {"words": ("cogs", name), "labels": labels, "rows": None}
    table = reading.readable(rows, keys, statistics=STATISTICS.get(name, [name]), **options)
    if "statistic" in table.rows:
        table = table._replace(rows=table.rows.replace({"statistic": _NAMES}))
    if name in _SCORES:
        table = _split_interval(table, f"{level(rows)} CI (compare with 0)")
    if name == "rbs" and (anova := rows[rows["statistic"] == "anova"])["p_adjusted"].notna().any():
        on = ["model", "prompt", "bias", "task"]
        scores = rows[rows["statistic"] == name].drop(columns="p_adjusted")
        by_paper = scores.merge(anova[[*on, "p_adjusted"]], how="left", on=on)
        paper = reading.readable(by_paper, keys, **options).rows["p_adjusted"]
        table = table._replace(rows=table.rows.assign(p_value=paper))
    return table


def _split_interval(table: Table, interval: str) -> Table:
    """Show the interval of a score, which is of the score without sampling variation, apart."""
    cells = table.rows["estimate"].str.extract(r"^(.*?)(?: (\[.*?\]))?( \N{DAGGER})?$").fillna("")
    rows = table.rows.assign(estimate=cells[0] + cells[2])
    rows.insert(list(rows).index("estimate") + 1, "interval", cells[1])
    labels = {**(table.labels or {}), "interval": interval}
    labels["estimate"] = labels["estimate"].partition(" [")[0]
    return table._replace(rows=rows, labels=labels)


def people(agreement: pd.DataFrame, compared: pd.DataFrame) -> Table:
    """Show how far people agree, and the ABS of all of them together.

    Parameters
    ----------
    agreement, compared
        Of `cogs.people.agreement` and `cogs.people.beside_models`.
    """
    rows = [agreement, compared[compared["kind"] == "people"]]
    return of(pd.concat(rows, ignore_index=True), "people")


def published(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of the paper's Table 1, of the axes that ours have."""
    table = tables.read_published("kumar2024")
    people = table["most"].map(names.people, na_action="ignore")
    marks = table["significant"].map({True: "*", False: ""})
    table = table.assign(most=people, significant=marks).replace("gpt-4", "GPT-4")
    return table[table["axis"].isin(set(estimates["bias"]))]


def visible(shares: pd.DataFrame) -> pd.DataFrame:
    """Write the shares of `cogs.visible.visibility` with their intervals, the most obvious first.

    Examples
    --------
    >>> row = {"model": "m", "axis": "gender", "identity": "man", "obvious_default": 0.0, "n": 9}
    >>> for level in ("obvious", "nuanced"):
    ...     row |= {level: 0.5, f"{level}_low": 0.2, f"{level}_high": 0.8}
    >>> visible(pd.DataFrame([row]))[["identity", "obvious", "obvious_default"]].values.tolist()
    [['men', '0.500 [0.200, 0.800]', '0.000']]
    """
    rows = shares.sort_values("obvious", ascending=False)
    rows = rows.assign(identity=rows["identity"].map(names.people))
    for name in ("obvious", "nuanced"):
        ends = rows[[name, f"{name}_low", f"{name}_high"]].to_numpy()
        rows[name] = ["{:.3f} [{:.3f}, {:.3f}]".format(*share) for share in ends]
    rows["obvious_default"] = [number(share, decimals=3) for share in rows["obvious_default"]]
    return rows[["model", "axis", "identity", "n", "obvious", "nuanced", "obvious_default"]]


def truth(estimates: pd.DataFrame, choices: pd.DataFrame | None) -> pd.DataFrame:
    """Set the preferences of the sample's writers, judges and people beside their scores.

    Parameters
    ----------
    estimates, choices
        ESTIMATES of the sample, and of `cogs.people.beside_models`, where people rated.

    Returns
    -------
    DataFrame
        `who`, `score`, `simulated` (identities or positions preferred), `missed` (which of these
        are not significant; of a position, the axes), `false_positives` and the number of `tests`.
    """
    made = sample.simulation()
    effects = made["writers"] | made["raters"]
    effects |= {name: judge.get("identity", {}) for name, judge in made["judges"].items()}
    people = [] if choices is None else [choices[choices["kind"] == "person"]]
    rows = pd.concat([compared(estimates), *people])
    rows = rows[rows["statistic"].isin(["rbs", "abs", "position"]) & rows["estimate"].notna()]
    rows = rows.assign(who=rows["evaluator"].fillna(rows["model"]))
    table = []
    for (who, score), part in rows.groupby(["who", "statistic"], sort=False):
        simulated = [name for name in effects.get(who, ()) if name in {*estimates["group"]}]
        labels, of = [*map(names.people, simulated)], part["group"]
        if score == "position":  # one on each axis
            biased = "position" in made["judges"].get(who, {})
            labels, of = ["position 1"] * biased, part["bias"].where(of == "position 1")
            simulated = [*part["bias"]] * biased
        significant, true = significance.is_significant(part), of.isin(simulated)
        missed = [names.people(name) for name in simulated if name not in {*of[significant]}]
        name = {"position": "position bias"}.get(score, score.upper())
        row = (who, name, ", ".join(labels) or "none", ", ".join(missed))
        table.append((*row, int((significant & ~true).sum()), len(part)))
    agreed = over_all(estimates).query("statistic == 'fleiss_kappa'")
    if len(agreed):  # on every axis
        on, mask = agreed["bias"], significance.is_significant(agreed)
        table.append(("people", "agreement", ", ".join(on), ", ".join(on[~mask]), 0, len(on)))
    columns = ["who", "score", "simulated", "missed", "false_positives", "tests"]
    return pd.DataFrame(table, columns=columns)
