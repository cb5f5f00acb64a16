"""Does the distance from human articles fall with a model's size? (Fang et al. 2024)

Few models, which differ in more than size: each trend says over how many models it is.

>>> from nbbias import news, tables
>>> rows = news.sizes.by_size(tables.estimates([], study="news_bias"))
>>> trends = news.sizes.trends(rows, confidence=0.95)
>>> trends.loc[trends["measure"] == "word", ["bias", "estimate", "n"]].round(3).values.tolist()
[['gender', -0.054, 7], ['race', -0.066, 7]]
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from statsmodels.formula.api import ols

from nbbias.tables import SAMPLE, Column, ContractError, read_published, read_table

OURS, PUBLISHED = "this run", "published"

_FACTS = {name: Column("text", needed=True) for name in ("model", "parameters")}
_UNITS = {rf"\s*{unit}$": f"e{zeros}" for unit, zeros in {"M": 6, "B": 9, "T": 12}.items()}

_CELL = ["whose", "measure", "bias"]


def facts(path: str = SAMPLE) -> pd.DataFrame:
    """Return facts about models: the paper's seven (its Tables 2 and 3), and those of a file.

    Parameters
    ----------
    path
        A table with `model`, `parameters` (a number, or one with M, B or T behind it) and `rlhf`
        (yes, no or any other word; may be left out).

    Returns
    -------
    DataFrame
        `model`, `parameters` (as written), `rlhf`, `average_word_count` (printed), `size`, the
        number of parameters.

    Raises
    ------
    ContractError
        A size is no number above 0, or a model stands twice.
    """
    table = read_published("fang2024_models").dropna(subset="parameters")
    if path != SAMPLE:
        added = read_table(path, _FACTS | {"rlhf": Column("text")})
        table = pd.concat([table[~table["model"].isin(added["model"])], added], ignore_index=True)
    written = table["parameters"].str.strip().replace(_UNITS, regex=True)
    size = pd.to_numeric(written, errors="coerce")
    breaches = [f"{name}: parameters is no size" for name in table["model"][~size.between(1, 1e18)]]
    breaches += [f"{name} stands twice" for name in table.loc[table["model"].duplicated(), "model"]]
    if breaches:
        raise ContractError(path, breaches)
    return table.assign(size=size, rlhf=table.get("rlhf", pd.Series()).fillna("undisclosed"))


def by_size(estimates: pd.DataFrame, path: str = SAMPLE) -> pd.DataFrame:
    """Put mean distances beside the sizes of their models, the published ones last.

    Parameters
    ----------
    estimates
        ESTIMATES; of several instruments of a measure the first counts. Models without facts are
        left out, and published toxicity where ours is a fallback's: the scales differ.
    path
        As in `facts`.

    Returns
    -------
    DataFrame
        `whose` (``"this run"``, ``"published"``), `measure`, `bias`, `model`, `prompt`, `size`,
        `log_size` (its decimal logarithm), `rlhf`, `estimate`, `ci_low`, `ci_high`, `n`.
    """
    ours = estimates[estimates["statistic"] == "bias"]
    ours = ours[ours["instrument"] == ours.groupby(_CELL[1:])["instrument"].transform("first")]
    printed = read_published("fang2024").rename(columns={"value": "estimate"})
    printed = printed[(printed["statistic"] == "bias") & (printed["prompt"] == "neutral")]
    fallback = ours.loc[ours["instrument"].str.contains("fallback"), "measure"]
    printed = printed[~printed["measure"].isin(fallback)]
    both = pd.concat([ours.assign(whose=OURS), printed.assign(whose=PUBLISHED)], ignore_index=True)
    both = both.merge(facts(path)[["model", "size", "rlhf"]], on="model")
    both["log_size"] = np.log10(both["size"])
    names = ["model", "prompt", "size", "log_size", "rlhf", "estimate", "ci_low", "ci_high", "n"]
    return both[[*_CELL, *names]].dropna(subset="estimate")


def trends(rows: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Fit a line over models: mean distance on the logarithm of size, by least squares.

    Parameters
    ----------
    rows
        Of `by_size`; a model's rows are averaged.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        By `whose`, `measure` and `bias`: `estimate`, the change of the mean distance with ten times
        the parameters, its t interval and `p_value` (not adjusted), and `n`, the models. Fewer than
        three have no trend.
    """
    slopes = []
    for key, part in rows.groupby(_CELL, sort=False):
        models = part.groupby("model")[["estimate", "log_size"]].mean()
        if len(models) < 3 or models["log_size"].nunique() < 2:
            continue
        fit = ols("estimate ~ log_size", models).fit()
        low, high = fit.conf_int(1 - confidence).loc["log_size"]
        slope, p_value = fit.params["log_size"], fit.pvalues["log_size"]
        slopes.append((*key, slope, low, high, p_value, int(fit.nobs)))
    columns = [*_CELL, "estimate", "ci_low", "ci_high", "p_value", "n"]
    return pd.DataFrame(slopes, columns=columns)
