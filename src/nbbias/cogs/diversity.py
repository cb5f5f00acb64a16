"""Are texts written as one identity more alike than those written as another, or as nobody?

Models describe some groups more uniformly than others (Lee, Montgomery and Lai 2024), and make
caricatures of personas (Cheng, Piccardi and Yang 2023). Diversity is the mean cosine distance of
two texts of one task on different themes: lower means more alike, or flattened.

>>> from nbbias import cogs
>>> answers = cogs.visible.mask(cogs.rbs.read_answers("sample"))
>>> table = diversity(answers[answers["task"] == "haiku"], model="offline")
>>> estimate(table, confidence=0.95).estimates["statistic"].unique().tolist()
['diversity_spread', 'diversity', 'diversity_difference']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.cogs import rbs
from nbbias.cogs.spread import FACETS, Row, spread_rows
from nbbias.text import embeddings

#: What the texts are called that name no identity.
DEFAULT = "default"


def diversity(
    answers: pd.DataFrame, *, model: str = embeddings.AUTO, device: str = "cpu"
) -> pd.DataFrame:
    """Measure how unlike a model's texts on different themes are, of each task and identity.

    Parameters
    ----------
    answers
        The table of `cogs.visible.mask`: texts that repeat their identity would be alike for it.
    model, device
        As in `text.embeddings.embed`.

    Returns
    -------
    DataFrame
        One row per model (and temperature), task, theme, axis and identity (``"default"``: texts
        without one): `diversity`, the jackknife value of the mean distance to the texts on other
        themes (`stats.pairwise_distances`), at the mean length of the task's texts
        (`adjust_length`), and `instrument`. NaN where a theme lacks a text of an identity, so that
        all have the same themes and equally many texts, and where a task has fewer than three.
    """
    answers = answers[~tables.is_blank(answers["text"])].reset_index(drop=True)
    vectors = embeddings.embed(answers["text"], model=model, device=device)
    writer = ["model", *([rbs.SETTING] if rbs.SETTING in answers else [])]
    keys = [*writer, *rbs.INSTANCE, "axis", "identity"]
    cells, totals = rbs.sum_vectors(answers, vectors, keys)
    means = totals[:-1] / cells["n"].to_numpy()[:, None]
    words = answers["text"].str.split().str.len()
    lengths = words.groupby([answers[key] for key in keys], sort=False, dropna=False).mean()
    parts = []
    for labels, of_writer in tables.split_groups(cells, writer):
        defaults = of_writer[of_writer["identity"].isna()].assign(identity=DEFAULT)
        for axis, part in of_writer.dropna(subset="identity").groupby("axis", sort=False):
            both = pd.concat([part, defaults])
            at = both.pivot(index=["task", "theme"], columns="identity", values="at")
            values = _jackknife(at[both["identity"].unique()], means, np.log(lengths.to_numpy()))
            long = values.stack(future_stack=True).rename("diversity").reset_index()
            parts.append(long.assign(**labels, axis=axis))
    columns = [*writer, "task", "theme", "axis", "identity", "diversity"]
    table = pd.concat(parts) if parts else pd.DataFrame(columns=columns)
    return table[columns].assign(instrument=embeddings.instrument(model))


def _jackknife(at: pd.DataFrame, means: np.ndarray, lengths: np.ndarray) -> pd.DataFrame:
    """Return the values of one axis: `at` numbers its cells, by task and theme."""
    whole = at.dropna().astype(int)
    values = whole.astype(float)
    for _, rows in whole.groupby("task", sort=False):
        values.loc[rows.index] = stats.pairwise_distances(means[rows.to_numpy().T]).T
    words = pd.DataFrame(lengths[whole.to_numpy()], whole.index, whole.columns)
    return adjust_length(values, words).reindex(at.index)


def adjust_length(values: pd.DataFrame, lengths: pd.DataFrame) -> pd.DataFrame:
    """Adjust values to the mean length of the texts of a task: an analysis of covariance.

    Parameters
    ----------
    values, lengths
        Themes by identities, with ``"task"`` among the levels of the index; lengths are logarithms
        of words. The slope is that within themes and within identities of a task.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["haiku"], ["a", "b", "c"]], names=["task", "theme"])
    >>> lengths = pd.DataFrame({"man": [0.0, 1, 0], "woman": [1.0, 0, 2]}, index)
    >>> adjust_length(3 - 2 * lengths, lengths)["woman"].round(2).tolist()
    [1.67, 1.67, 1.67]
    """
    of_tasks = lengths.groupby("task").transform("mean")
    x, y = lengths - of_tasks, values - values.groupby("task").transform("mean")
    x, y = (table.sub(table.mean(axis=1), axis=0).to_numpy() for table in (x, y))
    squares = np.nansum(x**2)
    slope = np.nansum(x * y) / squares if squares else 0.0
    return values - slope * lengths.sub(of_tasks.mean(axis=1), axis=0)


def estimate(
    diversity: pd.DataFrame, *, facets: Sequence[str] = FACETS, confidence: float
) -> tables.Estimated:
    """Estimate and test whose texts are more alike, by model and axis.

    Parameters
    ----------
    diversity
        The table of `diversity`.
    facets, confidence
        As in `rbs.rbs`.

    Returns
    -------
    tables.Estimated
        ESTIMATES and UNITS of the measure ``diversity``, tested and corrected as in `rbs.rbs`, by
        `statistic`:

        - ``diversity_spread``: standard deviation over identities of their diversity; `group` is
          the identity whose texts are most alike;
        - ``diversity``: mean distance of an identity's texts on different themes (0 to 2; lower:
          more alike); `null` is the mean over identities, against which the test is;
        - ``diversity_difference``: of an identity minus the default texts, below 0: more alike than
          these; of the same themes.
    """
    rows: list[Row] = []
    options: dict[str, Any] = {"facets": facets, "confidence": confidence}
    for key, part in rbs.cells(diversity, by_task=False):
        values = part.pivot(index=["task", "theme"], columns="identity", values="diversity")
        values = values[list(part["identity"].unique())]
        identities = values.drop(columns=DEFAULT, errors="ignore")
        result = spread_rows(identities, "diversity_spread", part="diversity", **options)
        for identity in identities if DEFAULT in values else ():
            difference = values[identity] - values[DEFAULT]
            labels = {"statistic": "diversity_difference", "group": str(identity), "null": 0.0}
            row = stats.crossed_mean(difference, **options).row()
            result.append(labels | row | {"values": difference})
        rows += [key | row for row in result]
    parts = ["diversity", "diversity_difference"]
    return rbs.adjusted(rows, parts=parts, measure="diversity", **options)
