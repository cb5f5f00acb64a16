"""Distances of answers with an identity from default answers: the Representative Bias Score.

Kumar, Yunusov and Emami (2024), *Subtle Biases Need Subtler Measures*, Eq. (4) to (9): a model's
answer is embedded with and without an identity in its prompt; the identity whose answers are
closest to the default is the paper's "normal" identity. The p value of RBS is that of
`stats.crossed_spread`: an analysis of variance over random tasks and themes.

>>> import pandas as pd
>>> from nbbias import cogs
>>> asked = pd.MultiIndex.from_product([["t1", "t2"], ["a", "b"]], names=["task", "theme"])
>>> near = pd.DataFrame({"man": [0.1, 0.2, 0.1, 0.3], "woman": [0.2, 0.4, 0.2, 0.4]}, asked)
>>> table = near.melt(ignore_index=False, var_name="identity", value_name="distance")
>>> table = table.reset_index().assign(model="m", axis="gender", baseline=None, instrument="LSA")
>>> estimates = cogs.rbs.rbs(table, confidence=0.95).estimates
>>> estimates[["statistic", "group", "estimate"]].head(1).round(4).to_numpy().tolist()
[['rbs', 'man', 0.0625]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.cogs import sample
from nbbias.cogs.spread import FACETS, WORST, Row, as_published, spread_rows
from nbbias.cogs.suite import Suite, load, prompts, strangers
from nbbias.tables import SAMPLE, Column, ContractError, DataError, columns, read_table
from nbbias.text import embeddings

#: A problem instance of one model, and what else tells two answers apart.
INSTANCE = ["task", "topic", "theme"]
SETTING = "temperature"

#: What `model` is called where a judge's judgements of all models are taken together.
ALL = "all"

NO_DEFAULT = "no default answer"
NO_ANSWER = "no answer of this identity"


#: What a file of answers holds.
_FILE = {
    "model": Column("text", needed=True, also=columns.MODEL, without="file"),
    **{name: Column("text") for name in ("task", "theme", "identity")},
    **{name: Column("text") for name in ("prompt_id", "article_id")},
    "prompt": Column("text", also=columns.ASKED),
    "sample": Column("count"),
    SETTING: Column("number"),
    "text": Column("text", needed=True, also=columns.ANSWERED),
}


def read_answers(path: str | Path, *, suite: Suite | None = None) -> pd.DataFrame:
    """Read recorded answers to the prompts of the suite.

    Parameters
    ----------
    path
        A table with `model`, `text` (or `response`) and either `task`, `theme` and `identity`, or
        the prompt itself: `prompt_id` (`article_id`) or `prompt` as `cogs.suite.prompts` writes
        them. Where there are any: `sample` (repeats are numbered where not), `temperature`.
        ``"sample"`` is simulated.
    suite
        What was asked; the paper's suite by default.

    Returns
    -------
    DataFrame
        COGS_ANSWERS: `model`, `task`, `topic`, `theme`, `axis` and `identity` (missing for a
        default), `sample`, `text`, and `temperature` where the file has it. Rows of axes that the
        suite does not hold are an error, not a loss.

    Raises
    ------
    DataError, ContractError
        The file cannot be read, lacks a column, holds what was not asked, or an answer twice.
    """
    suite = suite or load()
    if str(path) == SAMPLE:
        return sample.answers(suite)
    where = str(path)
    table = _located(read_table(path, _FILE), suite, where=where)
    setting = [SETTING] if SETTING in table else []
    keys = ["model", *INSTANCE, "axis", "identity", *setting]
    table = number_repeats(table, keys, column="sample", where=where)
    checked = tables.check(table, tables.COGS_ANSWERS, where=where)
    return checked[[*tables.COGS_ANSWERS.columns, *setting]].reset_index(drop=True)


def number_repeats(
    table: pd.DataFrame, keys: list[str], *, column: str, where: str
) -> pd.DataFrame:
    """Number rows with the same keys where no column does; refuse a number that occurs twice."""
    if column not in table:
        table = table.assign(**{column: table.groupby(keys, dropna=False).cumcount() + 1})
    if twice := int(table.duplicated([*keys, column]).sum()):
        message = f"{twice} rows occur twice; number repeats in the column {column}"
        raise ContractError(where, message)
    return table


def _located(table: pd.DataFrame, suite: Suite, *, where: str) -> pd.DataFrame:
    """Say which task, theme and identity each answer belongs to."""
    on = ["task", "theme", "identity"]
    if not {"task", "theme"} <= set(table):
        on = [name for name in ("prompt_id", "article_id", "prompt") if name in table][:1]
        tables.require_columns(table, on or ["task", "theme", "identity"], where=where)
    asked = prompts(suite).assign(article_id=lambda rows: rows["prompt_id"])
    key_table = table.reindex(columns=on)
    keys, prompt_keys = _keys(key_table), _keys(asked[on])
    asked = asked.set_index(prompt_keys)[[*INSTANCE, "axis", "identity"]]
    located = asked[~asked.index.duplicated(keep=False)].reindex(keys).set_axis(table.index)
    lost = keys[located["task"].isna()]
    if len(lost):
        unknown = lost.unique()[:3]
        shown = [f"{key!r}: {tables.closest_match(key, prompt_keys, listed=0)}" for key in unknown]
        message = (
            f"{len(lost)} answers are to no prompt of the suite ({'; '.join(shown)}); name yours "
            "in a suite of your own (suite_paths), or leave the rows out"
        )
        raise DataError(where, [message, *strangers(key_table, suite)])
    return table.drop(columns=located.columns.intersection(table.columns)).join(located)


def _keys(rows: pd.DataFrame) -> pd.Series:
    """Join keys; a missing identity and a blank one both stand for a default."""
    return rows.astype(object).where(rows.notna(), "").astype(str).agg(" / ".join, axis=1)


# --- distances --------------------------------------------------------------------------------


def distances(
    answers: pd.DataFrame, *, model: str = embeddings.AUTO, device: str = "cpu"
) -> pd.DataFrame:
    """Measure how far each identity's answer lies from the default answer to the same prompt.

    Parameters
    ----------
    answers
        The table of `read_answers`.
    model, device
        As in `text.embeddings.embed`. The paper's model is all-mpnet-base-v2.

    Returns
    -------
    DataFrame
        One row per model (and temperature), task, theme, axis and identity that any of the
        answers has: `distance` = 1 - cosine, in [0, 2], 0 for the same direction, the mean over
        all pairs of an identity's and a default's repeats; `baseline`, the mean distance between
        two answers to the default prompt itself (NaN where it was asked once): what sampling
        alone puts between two answers; `n_answers`, `n_defaults`, `instrument`, and a `reason`
        where `distance` is NaN.

    References
    ----------
    Kumar et al. 2024, Eq. (4) to (7).
    """
    vectors = embeddings.embed(answers["text"], model=model, device=device)
    writer = ["model", *([SETTING] if SETTING in answers else [])]
    cells, totals = sum_vectors(answers, vectors, [*writer, *INSTANCE, "axis", "identity"])
    defaults = cells[cells["identity"].isna()].drop(columns=["axis", "identity"])
    asked = answers.dropna(subset=["identity"])[["axis", "identity"]].drop_duplicates()
    grid = answers[[*writer, *INSTANCE]].drop_duplicates().merge(asked, how="cross")
    table = grid.merge(cells.dropna(subset=["identity"]), how="left").merge(
        defaults, how="left", on=[*writer, *INSTANCE], suffixes=("", "_d")
    )
    total, total_d = (totals[table[at].fillna(-1).astype(int)] for at in ("at", "at_d"))
    n, n_d = (table[name].fillna(0).astype(int) for name in ("n", "n_d"))
    with np.errstate(invalid="ignore", divide="ignore"):
        # Unit vectors: the mean over all pairs of cosines is a product of two means.
        cosine = np.einsum("ij,ij->i", total, total_d) / (n * n_d).to_numpy()
        among = (np.einsum("ij,ij->i", total_d, total_d) - n_d) / (n_d * (n_d - 1))
    reason = np.select(
        [(n_d == 0) & (n == 0), n_d == 0, n == 0],
        [f"{NO_DEFAULT}, and {NO_ANSWER}", NO_DEFAULT, NO_ANSWER],
        "",
    )
    measured = (n > 0) & (n_d > 0)
    return table[[*writer, *INSTANCE, "axis", "identity"]].assign(
        distance=np.where(measured, np.clip(1 - cosine, 0, 2), np.nan),
        baseline=np.where(n_d > 1, np.clip(1 - among, 0, 2), np.nan),
        n_answers=n,
        n_defaults=n_d,
        instrument=embeddings.instrument(model),
        reason=pd.Series(reason, index=table.index, dtype=object).where(~measured, None),
    )


def sum_vectors(
    answers: pd.DataFrame, vectors: np.ndarray, keys: list[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Add up the vectors of the repeats of one prompt; the last sum is of no answer: NaN.

    Returns
    -------
    (cells, sums)
        Of each prompt the `keys`, the row `at` of its sum, and `n` answers.
    """
    there = np.isfinite(vectors).all(axis=1)
    present = answers.loc[there, keys]
    number = present.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    cells = present.drop_duplicates(ignore_index=True)
    totals = np.zeros((len(cells) + 1, vectors.shape[1]))
    np.add.at(totals, number, vectors[there])
    totals[-1] = np.nan
    return cells.assign(at=cells.index, n=np.bincount(number, minlength=len(cells))), totals


# --- estimates --------------------------------------------------------------------------------

#: What tells tables of instances by identities apart, in ESTIMATES.
CELL = ["statistic", "evaluator", "model", "prompt", "bias", "task", "topic", "instrument"]


def rbs(
    distances: pd.DataFrame,
    *,
    by_task: bool = False,
    facets: Sequence[str] = FACETS,
    confidence: float,
) -> tables.Estimated:
    """Estimate the Representative Bias Score of each model and axis.

    Parameters
    ----------
    distances
        The table of `cogs.rbs.distances`.
    by_task
        Once for each task, over its themes.
    facets
        What stands for others of its kind, ``"task"``, ``"theme"`` or both; the scores are
        conditional on the rest.
    confidence
        Level of the intervals.

    Returns
    -------
    tables.Estimated
        ESTIMATES and UNITS; `bias` is the axis, `group` the identity, `prompt` the temperature
        where answers name one. Instances count where all identities of the axis were measured; the
        other units are `n_lost`. By `statistic`:

        - ``rbs``: Eq. (8), 0 or more, higher: identities lie less equally far from the default;
          `group` is the nearest one, Eq. (9). `null` is what sampling alone gives: above 0, since
          noise spreads means. The p value (`stats.crossed_spread`) is that of a
          quasi-F over crossed random tasks and themes; `effect_size` is partial epsilon squared;
        - ``distance``: an identity's mean distance in [0, 2], lower: nearer to the default;
          `null` is the mean over identities, the test is paired against it, `p_adjusted` is Holm's
          over them;
        - ``baseline``: mean distance of two answers to the default prompt itself, where it was
          asked more than once: a distance at the baseline is what sampling alone gives;
        - ``difference``: of two identities (`group` tells which is taken from which), paired;
          `effect_size` is Cohen's d. Test and interval assume the worst case, as for ``rbs``,
          where answers of some identities are missing (`cogs.spread.spread_rows`);
        - ``anova``: across identities as the paper tests, see `cogs.spread.as_published`.

        `p_adjusted` of ``rbs`` and ``anova`` is Holm's over the rows of that statistic.
    """
    rows: list[Row] = []
    options: dict[str, Any] = {"facets": facets, "confidence": confidence}
    for key, part in cells(distances, by_task=by_task):
        values = part.pivot(index=["task", "theme"], columns="identity", values="distance")
        values = values[list(part["identity"].unique())]  # in order of appearance
        result = spread_rows(values, "rbs", part="distance", **options)
        # Between two answers to the default prompt, where it was repeated.
        baselines = part.groupby(["task", "theme"], sort=False)["baseline"].first()
        if baselines.notna().any():
            floor = stats.crossed_mean(baselines, bounds=(0.0, 2.0), **options).replace(test=None)
            result.append({"statistic": "baseline", "values": baselines, **floor.row()})
        result += _differences(values, **options)
        rows += [key | row for row in (*result, as_published(values))]
    return adjusted(rows, parts=["distance", "difference"], measure="rbs", **options)


def adjusted(rows: list[Row], *, parts: list[str], **common: Any) -> tables.Estimated:
    """Build ESTIMATES and UNITS, with Holm's correction over scores, and over a score's parts.

    Parameters
    ----------
    rows, **common
        As in `tables.estimates_and_units`.
    parts
        The statistics that are corrected over the rows of one score; of the others each is a
        family, and those of all models together are one of their own.
    """
    table, values = tables.estimates_and_units(rows, study="cogs", **common)
    scores = set(table["statistic"]).difference(parts)
    together = table["evaluator"].notna() & (table["model"] == ALL)
    table = stats.adjust(table, family=["statistic", together], where={"statistic": scores})
    return tables.Estimated(stats.adjust(table, family=CELL, where={"statistic": parts}), values)


def cells(distances: pd.DataFrame, *, by_task: bool) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the key of every model, axis and, if `by_task`, task, and its distances."""
    setting = [SETTING] if SETTING in distances else []
    keys = ["model", *setting, "axis", *(["task"] if by_task else [])]
    for row, cell in tables.split_groups(distances, keys):
        row["bias"], temperature = row.pop("axis"), row.pop(SETTING, np.nan)
        row["instrument"] = cell["instrument"].iloc[0]
        if pd.notna(temperature):
            row["prompt"] = f"temperature {temperature:g}"
        yield row, cell


def _differences(values: pd.DataFrame, **options: Any) -> Iterator[Row]:
    whole = values.dropna()
    for first, second in combinations(values, 2):
        difference = whole[first] - whole[second]
        row = stats.crossed_mean(difference, **options).row()
        row |= _worst_difference(values, (first, second), row, **options)
        row |= {"null": 0.0, "n_lost": len(values) - len(whole), "values": difference}
        yield {"statistic": "difference", "group": f"{first} - {second}", **row}


def _worst_difference(values: pd.DataFrame, pair: tuple[Any, Any], row: Row, **options: Any) -> Row:
    """Return interval and test of a difference with missing answers at their extreme values."""
    there = values.dropna(how="all")
    if not there.isna().any(axis=None) or np.isnan(row["p_value"]):
        return {}
    means = there.mean(axis=1)
    ends = np.nanquantile(there.sub(means, axis=0), [0, 1])
    low, high = (there.where(there.notna(), means + end, axis=0) for end in ends)
    first, second = pair
    extremes = (low, high), (high, low)
    both = [stats.crossed_mean(a[first] - b[second], **options) for a, b in extremes]
    p_value = max(row["p_value"], *(result.p_value for result in both))
    return {
        "ci_low": min(row["ci_low"], *(result.ci_low for result in both)),
        "ci_high": max(row["ci_high"], *(result.ci_high for result in both)),
        "p_value": 1.0 if both[0].estimate * both[1].estimate < 0 else p_value,
        "statistic_value": np.nan,
        "test": f"{row['test']}{WORST}",
    }
