"""A measure of your own: one function from texts to scores, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import params, stats, tables
from nbbias.params import Input, InputFile, Parameters
from nbbias.tables import SAMPLE, Column, DataError, Estimated, columns

_FORM = {
    "unit": Column("text", also=("prompt_id", *columns.ID, "article_id", "prompt"), without="row"),
    "model": Column("text", also=columns.MODEL, without="file"),
    "group": Column("text"),
    "reference": Column("text", also=("original", "human")),
    "text": Column("text", needed=True, also=(*columns.ANSWERED, *columns.WRITTEN)),
}


class _Texts(Parameters):
    texts_path: InputFile = SAMPLE


def measure(score: Callable[[list[str]], Sequence[float | None]]) -> Callable[..., Estimated]:
    """Make a measure of a function from texts to scores (a decorator).

    Parameters
    ----------
    score
        Takes a list of texts, none of them blank, and returns a number for each (0 or 1 of a
        classifier); None or NaN where a text was not measured. Its name names the measure.

    Returns
    -------
    function
        Takes a table or the path of a file, and `confidence` (0.95). Columns: `text`; optionally
        `model`, `group` (whom or what the text is about), `reference` (a human text on the same
        subject), and `unit`, `prompt_id` or `id` (texts of one unit are averaged). Returns
        `tables.Estimated`: `estimates` (ESTIMATES) and `units`. `statistic` is ``mean``, by model
        and by group; ``reference_difference``, text minus reference; ``group_difference``, a group
        minus the other groups of the model (once where there are two); ``difference``, the model
        minus the model in `group`. The null value of differences is 0. `n` counts units,
        `n_lost` those without a score.

    Notes
    -----
    Two sides that share units are compared on these (paired *t*; for scores of 0 and 1 McNemar's
    test and Tango's interval), others as independent samples (Welch's *t*; *z* test and Newcombe's
    interval). p values are Holm-adjusted over the rows of a statistic.

    Examples
    --------
    >>> import nbbias
    >>> @nbbias.measure
    ... def words(texts):
    ...     return [len(text.split()) for text in texts]
    >>> answers = pd.DataFrame({"text": ["So it is.", "No.", "It is so now."]})
    >>> words(answers.assign(reference="It is.")).estimates[["statistic", "estimate", "n"]]
                  statistic  estimate  n
    0                  mean  2.666667  3
    1  reference_difference  0.666667  3
    """

    @wraps(score)
    def measured(texts: Input, *, confidence: float = stats.CONFIDENCE) -> Estimated:
        with params.validate_inputs(_Texts, {"confidence": confidence}, texts_path=texts) as chosen:
            table = tables.read_table(chosen.texts_path, _FORM)
        for column in [column for column in ("text", "reference") if column in table]:
            table[column] = _score(score, table[column])
        name = {"measure": score.__name__, "instrument": score.__name__}
        of: Any = {"study": "custom", "confidence": confidence, **name}
        result = tables.estimates_and_units(_rows(table, confidence), **of)
        return result._replace(estimates=stats.adjust(result.estimates, family=["statistic"]))

    return measured


def _score(score: Callable[[list[str]], Sequence[float | None]], texts: pd.Series) -> pd.Series:
    """Return the score of each text, NaN where it is blank or was not measured."""
    filled = texts[~tables.is_blank(texts)]
    returned = score(filled.tolist()) if len(filled) else []
    try:
        values = np.asarray(returned, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.inf)
    if values.shape != filled.shape or np.isinf(values).any():
        message = f"must return a finite number or None for each of {len(filled)} texts"
        raise DataError(score.__name__, message)
    return pd.Series(values, index=filled.index).reindex(texts.index)


def _rows(table: pd.DataFrame, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of ESTIMATES: means, and differences of models, groups and references."""
    by_model = dict(iter(table.groupby("model", sort=False)))
    for model, texts in by_model.items():
        averages = _average(texts)
        yield {"statistic": "mean", "model": model, **_mean(averages, confidence)}
        if "reference" in texts:
            row = _compare(averages, _average(texts, "reference"), confidence)
            yield {"statistic": "reference_difference", "model": model, **row}
        groups = list(texts["group"].dropna().unique()) if "group" in texts else []
        for number, group in enumerate(groups):
            within, of = texts["group"] == group, {"model": model, "group": group}
            averages = _average(texts[within])
            yield {"statistic": "mean", **of, **_mean(averages, confidence)}
            if len(groups) > 2 or number < len(groups) - 1:  # of two groups it is one test
                reference = _average(texts[~within & texts["group"].notna()])
                row = _compare(averages, reference, confidence)
                yield {"statistic": "group_difference", **of, **row}
    for first, second in combinations(by_model, 2):
        row = _compare(_average(by_model[first]), _average(by_model[second]), confidence)
        yield {"statistic": "difference", "model": first, "group": second, **row}


def _average(texts: pd.DataFrame, column: str = "text") -> pd.Series:
    return texts.groupby("unit", sort=False)[column].mean()


def _is_share(*sides: pd.Series) -> bool:
    return bool(pd.concat(sides).dropna().isin([0, 1]).all())


def _mean(values: pd.Series, confidence: float) -> dict[str, Any]:
    interval = stats.share_interval if _is_share(values) else stats.mean_interval
    return _row(interval(values, confidence=confidence), values)


def _compare(first: pd.Series, second: pd.Series, confidence: float) -> dict[str, Any]:
    """Compare the means of two sides: on the units that they share, else as independent."""
    shares = _is_share(first, second)
    if len(first.index.intersection(second.index)):
        first, second = first.align(second)
        paired = stats.paired_shares if shares else stats.paired_difference
        return _row(paired(first, second, confidence=confidence), first - second) | {"null": 0.0}
    compare = stats.two_shares if shares else partial(stats.two_sample, pooled=False)
    row, lost = compare(first, second, confidence=confidence), pd.concat([first, second]).isna()
    return _row(row.replace(n_lost=int(lost.sum()))) | {"null": 0.0}


def _row(estimate: stats.Estimate, values: pd.Series | None = None) -> dict[str, Any]:
    """Return the columns of an estimate; equal values give no interval."""
    if np.isclose(estimate.ci_low, estimate.ci_high, rtol=1e-9, atol=1e-12):
        estimate = estimate.without_test(estimate.reason or "scores do not vary")
    return {**estimate.row(), "values": values}
