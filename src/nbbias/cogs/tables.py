"""Tables of the CoGS study; their titles and notes are in ``data/prose/tables.yaml``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import reading, tables
from nbbias.cogs.affinity import ALL, first_texts
from nbbias.cogs.sample import SAMPLE_JUDGES, SAMPLE_WRITERS
from nbbias.cogs.spread import unit
from nbbias.cogs.suite import BAR, Suite
from nbbias.reading import Table, significance

# --- which rows ----------------------------------------------------------------------------------


def over_all(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all tasks and topics."""
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
    return over_all(rows) if by is None else rows[rows[by].notna()]


def by_setting(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name models with their temperature, where one answered at several, one below the other."""
    several = estimates.groupby("model")["prompt"].transform("nunique") > 1
    if not several.any():
        return estimates
    at = np.argsort(pd.factorize(estimates["model"])[0], kind="stable")
    estimates, several = estimates.iloc[at], several.iloc[at]
    named = estimates["model"] + ", " + estimates["prompt"].fillna("temperature unknown")
    return estimates.assign(model=estimates["model"].where(~several, named))


def pooled(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return each judge's rows pooled over writers, or those of the only writer."""
    several = estimates.groupby("evaluator", dropna=False)["model"].transform("nunique") > 1
    return estimates[~several | (estimates["model"] == ALL)]


def chance(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return each estimate's null value, by every reference that it has.

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
    permuted = estimates[estimates["null_low"].notna()]
    people = permuted["measure"] == "agreement"
    permuted = permuted.assign(reference=np.where(people, "verdicts", "identities"))
    floor = estimates[estimates["statistic"] == "floor"]
    floor = floor[[*_PLACE, "estimate", "ci_low", "ci_high"]].set_axis(
        [*_PLACE, "null", "null_low", "null_high"], axis=1
    )
    selected = permuted.loc[permuted["statistic"] == "distance", [*_CLAIM, "confidence"]]
    result = pd.concat([permuted, selected.merge(floor, on=_PLACE).assign(reference="replicate")])
    rows = result[[name for name in tables.CHANCE.columns if name in result]]
    return tables.chance(rows.to_dict("records"), study="cogs")


_CLAIM = [*tables.ESTIMATE_KEYS, "instrument"]
_PLACE = [name for name in _CLAIM if name not in {"group", "statistic"}]


# --- the suite and the answers -------------------------------------------------------------------


def prompts(asked: pd.DataFrame) -> pd.DataFrame:
    """Select a default prompt of `cogs.suite.prompts`, and one with an identity of each axis."""
    return asked.drop_duplicates("axis")[["task", "theme", "axis", "identity", "prompt"]]


def answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Count answers by model and axis (``"default"`` for those without an identity).

    Returns
    -------
    DataFrame
        `model`, `axis`, `identities`, `instances` (task and theme), `answers`, `blank` (excluded),
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
    counts = {
        "identities": ("identity", "nunique"),
        "instances": ("instance", "nunique"),
        "answers": ("blank", "size"),
        "blank": ("blank", "sum"),
        "samples": ("samples", "max"),
        "words": ("words", "mean"),
    }
    groups = table.assign(samples=asked.transform("size")).groupby(cell, sort=False)
    return groups.agg(**counts).reset_index()


def incomplete(answers: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """Count the instances that cannot be judged, because an identity has no answer.

    Returns
    -------
    DataFrame
        By `model` and `axis`: `instances`, `judged`, `incomplete`.
    """
    texts = first_texts(answers)
    rows = []
    for model, asked in answers.groupby("model", sort=False):
        instances = len(asked[["task", "theme"]].drop_duplicates())
        for axis, plan in suite.axes.items():
            chosen = (texts["model"] == model) & texts["identity"].isin(list(plan.identities))
            counts = texts[chosen].groupby(["task", "theme"])["identity"].nunique()
            judged = int((counts == len(plan.identities)).sum())
            rows.append((model, axis, instances, judged, instances - judged))
    return pd.DataFrame(rows, columns=["model", "axis", "instances", "judged", "incomplete"])


def excluded(distances: pd.DataFrame) -> pd.DataFrame:
    """Count the distances that were measured, and the others by reason.

    Examples
    --------
    >>> excluded(pd.DataFrame({"model": "m", "reason": [None, "no default answer"]}))["n"].tolist()
    [1, 1]
    """
    outcome = distances["reason"].fillna("measured").rename("outcome")
    return distances.groupby(["model", outcome], sort=False).size().rename("n").reset_index()


# --- estimates -----------------------------------------------------------------------------------

#: Of each table of estimates, its statistics.
STATISTICS = {
    "rbs": ["rbs"],
    "masked": ["rbs_masked", "distance_masked", "distance_words"],
    "distances": ["distance"],
    "differences": ["difference"],
    "abs": ["abs"],
    "shares": ["share_raw", "share", "position_share"],
}

_KEYS = ["model", "prompt", "bias", "task", "topic", "group"]


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: one of `STATISTICS`.

    N counts instances or tasks; of judges, all writers together are shown.
    """
    keys = _KEYS
    if name in {"abs", "shares"}:
        estimates, keys = pooled(estimates), ["evaluator", *_KEYS[2:]]
    words = reading.caption(estimates, study="cogs", name=name)
    parts = [part for part in ("task", "topic") if estimates[part].notna().any()]
    tested = estimates["test"].dropna()
    n = unit(tested.iloc[0] if len(tested) else "")
    labels = {"bias": "axis", "prompt": "setting", "evaluator": "judge", "n": n}
    return reading.readable(
        estimates,
        keys,
        statistics=STATISTICS[name],
        rows=None,
        title=words.title + (f", by {' and '.join(parts)}" if parts else ""),
        note=words.note,
        labels=labels | dict(words.labels or {}),
    )


def people(agreement: pd.DataFrame, compared: pd.DataFrame, *, rows: int | None = 12) -> Table:
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
        compared = compared[compared["kind"] == "people"]
    names = {"fleiss_kappa": "Fleiss' κ", "krippendorff_alpha": "Krippendorff's α", "abs": "ABS"}
    both = pd.concat([agreement, compared], ignore_index=True)
    both = both.assign(statistic=both["statistic"].map(names)).dropna(subset="statistic")
    levels = agreement["null"].dropna().map(lambda null: reading.number(null, decimals=3))
    return reading.readable(
        both,
        ["statistic", "bias", "evaluator", "group"],
        rows=rows,
        title=f"Agreement and preferences of people{'' if rows else ', by person'}",
        labels={"bias": "axis", "group": "chosen most", "evaluator": "who"},
        note="Agreement: maximum 1; 0 if all people choose from one distribution. The test is "
        f"against the null value, {_range_in_words(levels)}: choices permuted within each person. "
        "ABS: on the instances that people rated; 0: all identities equal. "
        "p adjusted: Holm, over all rows of agreement, and over the ABS of all people and judges.",
    )


def _range_in_words(levels: pd.Series) -> str:
    named = list(dict.fromkeys(levels))
    return " or ".join(filter(None, [", ".join(named[:-1]), *named[-1:]])) or "no level"


# --- what was published, and what was simulated --------------------------------------------------


def published(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of the paper's Table 1, of the axes that ours have."""
    table = tables.read_published("kumar2024")
    return table[table["axis"].isin(set(estimates["bias"]))]


def writers(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return each simulated writer's true and estimated nearest identity.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.

    Returns
    -------
    DataFrame
        By `model` and `axis`: `planted` (the identity, or ``"none"``), `nearest` (``"–"`` where the
        score is not significant), `rbs` and its `p_adjusted`. Empty where no writer was
        simulated.
    """
    selected = over_all(estimates)
    groups = selected[selected["statistic"] == "distance"].groupby("bias")["group"].unique()
    selected = selected[
        (selected["statistic"] == "rbs") & selected["model"].isin(list(SAMPLE_WRITERS))
    ]
    nearest = selected["group"].where(significance.has_significant_p(selected), "–")
    selected = selected.assign(nearest=nearest)
    rows = [
        {
            "model": row.model,
            "axis": row.bias,
            "planted": next(
                (i for i in groups[row.bias] if SAMPLE_WRITERS[row.model].get(i)), "none"
            ),
            "nearest": row.nearest,
            "rbs": row.estimate,
            "p_adjusted": row.p_adjusted,
        }
        for row in selected.itertuples()
    ]
    columns = ["model", "axis", "planted", "nearest", "rbs", "p_adjusted"]
    return pd.DataFrame(rows, columns=columns)


def judges(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return each simulated judge's true preferences, and the estimates.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`.

    Returns
    -------
    DataFrame
        By `evaluator`, `model` and `axis`: `planted_identity` and `planted_position` (``"yes"`` or
        ``"no"``), and of ``abs_raw``, ``abs`` and ``position`` the estimate and its p value before
        correction. Empty where no judge was simulated.
    """
    known = estimates[estimates["evaluator"].isin(list(SAMPLE_JUDGES))]
    rows = []
    for (evaluator, model, axis), selected in known.groupby(
        ["evaluator", "model", "bias"], sort=False
    ):
        plan = SAMPLE_JUDGES[evaluator]
        row = {
            "evaluator": evaluator,
            "model": model,
            "axis": axis,
            "planted_identity": "yes" if any(plan.identity.values()) else "no",
            "planted_position": "yes" if any(plan.position) else "no",
        }
        for statistic in ("abs_raw", "abs", "position"):
            hit = selected[selected["statistic"] == statistic].iloc[0]
            row |= {statistic: hit["estimate"], f"p_{statistic}": hit["p_value"]}
        rows.append(row)
    return pd.DataFrame(rows)
