"""Do models differ? Statistics across models for the SCORES of any level.

Models write about the same articles, so what they write is paired, and both tests use the pairing.
Every function works within each source, prompt, measure and bias on its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.regression.mixed_linear_model import MixedLM

from nbbias import tables
from nbbias.stats import families, intervals

Row = dict[str, Any]

#: What must be equal for scores to be compared, where a table has it.
KEYS = ("source", "prompt", "measure", "bias", "instrument")

#: An article variance this small beside the residual one is a boundary, not an estimate; so is a
#: residual one this small beside both.
_SINGULAR, _EXACT = 1e-4, 1e-7

_INTERVAL = ["estimate", "ci_low", "ci_high"]


def mixed_model(
    scores: pd.DataFrame, *, value: str, confidence: float = 0.95, reference: str | None = None
) -> pd.DataFrame:
    """Compare models by a linear mixed model, with a random intercept for every article.

    Parameters
    ----------
    scores
        SCORES with `model` and `article_id`. Articles that only some models have count too.
    value, confidence
        The column that is compared (NaN are left out); level of the intervals.
    reference
        The model that the others are compared with; the first by name where none is given, or
        where a source and prompt lacks it.

    Returns
    -------
    DataFrame
        By source, prompt, measure and bias, one row per model: `statistic` (``"mean"`` for the
        reference, ``"difference"`` from it for the others), `estimate`, `ci_low`, `ci_high`,
        `statistic_value` (Wald's z), two-sided `p_value` and `p_adjusted` (Holm, over all
        differences of the table), `n` (values of the model), `articles` (of the fit), `n_lost`,
        `article_share` (share of the variance that lies between articles, in [0, 1]) and `reason`.
        Fitted by REML. Estimates are NaN where the fit is singular (articles that do not differ at
        all, or nothing beside articles and models that does): then `paired_models` answers. The
        intervals are those of large samples: with fewer than about 30 articles they are too narrow.

    Examples
    --------
    >>> scores = pd.DataFrame(
    ...     {
    ...         "article_id": [1, 2, 3, 4] * 2,
    ...         "model": ["a"] * 4 + ["b"] * 4,
    ...         "score": [0.1, 0.4, 0.5, 0.8, 0.2, 0.6, 0.6, 1.1],
    ...     }
    ... )
    >>> table = mixed_model(scores, value="score")
    >>> table[["model", "statistic", "estimate", "articles"]].round(3)
      model   statistic  estimate  articles
    0     a        mean     0.450         4
    1     b  difference     0.175         4
    """
    rows = []
    for key, cell in _cells(scores, value):
        measured = cell[cell[value].notna()]
        present = sorted(measured["model"].unique())
        base = reference if reference in present else next(iter(present), None)
        coefficients, reason = _fit(measured, value, str(base), confidence)
        sizes, counts = cell["model"].value_counts(), measured["model"].value_counts()
        for name in sorted(sizes.index, key=lambda name: (name != base, name)):
            n = int(counts.get(name, 0))
            row = key | {"model": name, "reference": base, "n": n, "n_lost": sizes[name] - n}
            row |= {"statistic": "mean" if name == base else "difference", "test": "mixed model, z"}
            row |= {"articles": measured["article_id"].nunique()} | coefficients.get(str(name), {})
            rows.append(row | {"reason": reason if n else "no value was measured"})
    names = ["model", "reference", "statistic", *_INTERVAL, "test", "statistic_value", "p_value"]
    names += ["p_adjusted", "n", "n_lost", "articles", "article_share", "reason"]
    return families.adjust(_table(rows, scores, names))


def _fit(
    measured: pd.DataFrame, value: str, base: str, confidence: float
) -> tuple[dict[str, Row], str | None]:
    """Fit by REML (statsmodels' MixedLM): rows by model, or none with the reason."""
    models = measured["model"].astype(str)
    design, articles = pd.get_dummies(models, dtype=float), measured["article_id"].astype(str)
    if design.shape[1] < 2:
        return {}, "fewer than two models have a value"
    if articles.nunique() in {1, len(measured)}:
        return {}, "needs two articles, and an article with two values"
    scores = measured[value].astype(float)
    centre = scores.groupby(models).mean()
    residuals = scores - design @ centre
    unit = residuals.std()  # the optimiser stops by absolute steps
    if residuals.abs().max() <= 1e-12 * max(1.0, scores.abs().max()):
        return {}, "within models all values are alike"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that did not converge has a reason
        fitted = MixedLM(residuals / unit, design, groups=articles).fit(method=["powell", "lbfgs"])
    between = float(np.asarray(fitted.cov_re)[0, 0])
    share = between / (between + fitted.scale)
    covariance = fitted.cov_params().loc[design.columns, design.columns] * unit**2
    if share < _SINGULAR:
        return {}, "the fit is singular: no variance between articles"
    if 1 - share < _EXACT:
        return {}, "the fit is singular: no variance within articles"
    if not fitted.converged or not np.isfinite(covariance.to_numpy()).all():
        return {}, "the fit did not converge"
    means, rows = centre + fitted.fe_params * unit, {}
    for name in design.columns:
        weights = pd.Series(0.0, means.index)
        weights[name] += 1
        weights[base] -= name != base
        estimate, error = weights @ means, np.sqrt(weights @ covariance @ weights)
        low, high = norm.interval(confidence, loc=estimate, scale=error)
        row = {"estimate": estimate, "ci_low": low, "ci_high": high, "article_share": share}
        if name != base:  # whether a mean distance is 0 is no question: only differences are tested
            z = estimate / error
            row |= {"statistic_value": z, "p_value": 2 * norm.sf(abs(z))}
        rows[name] = row
    return rows, None


def paired_models(scores: pd.DataFrame, *, value: str, confidence: float = 0.95) -> pd.DataFrame:
    """Compare each two models on the articles that both have a value for.

    Returns
    -------
    DataFrame
        By source, prompt, measure and bias, one row per pair of models: `model`, `other`;
        `estimate` (mean of `model` minus `other`), `ci_low`, `ci_high`; the paired t-test's
        `statistic_value`, `df`, two-sided `p_value`, `p_adjusted` (Holm) and `p_fdr` (Benjamini
        and Hochberg), both over the whole table; `effect_size`, Cohen's d of the differences;
        `n` articles, `n_lost` (only one of the two has a value); `reason`. Repeated samples of an
        article are averaged first.

    Examples
    --------
    >>> scores = pd.DataFrame(
    ...     {
    ...         "article_id": [1, 2, 3, 4] * 2,
    ...         "model": ["a"] * 4 + ["b"] * 4,
    ...         "score": [0.1, 0.4, 0.5, 0.8, 0.2, 0.6, 0.6, 1.1],
    ...     }
    ... )
    >>> paired_models(scores, value="score")[["model", "other", "estimate", "n"]].round(3)
      model other  estimate  n
    0     a     b    -0.175  4
    """
    rows = []
    for key, cell in _cells(scores, value):
        wide = _units(cell, value).pivot(index="article_id", columns="model", values=value)
        for first, second in combinations(sorted(cell["model"].unique()), 2):
            either = wide[wide[[first, second]].notna().any(axis=1)]
            result = intervals.paired_difference(
                either[first], either[second], confidence=confidence
            )
            rows.append(key | result.row() | {"model": first, "other": second})
    names = ["model", "other", *_INTERVAL, "test", "statistic_value", "df", "p_value", "p_adjusted"]
    names += ["p_fdr", "effect_size", "n", "n_lost", "reason"]
    table = families.adjust(_table(rows, scores, names))
    return families.adjust(table, method="fdr_bh", into="p_fdr")


def _cells(scores: pd.DataFrame, value: str) -> Iterator[tuple[Row, pd.DataFrame]]:
    tables.require_columns(scores, ["model", "article_id", value], where="scores")
    keys = [key for key in KEYS if key in scores]
    if not keys:
        yield {}, scores
        return
    for key, cell in scores.groupby(keys, sort=False, dropna=False):
        yield dict(zip(keys, key, strict=True)), cell


def _units(cell: pd.DataFrame, value: str) -> pd.DataFrame:
    """Average the samples of an article: the article is the independent unit."""
    return cell.groupby(["model", "article_id"], as_index=False)[value].mean()


def _table(rows: list[Row], scores: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Give a table its columns even when it has no row."""
    table = pd.DataFrame(rows, columns=[*(key for key in KEYS if key in scores), *names])
    numbers = {*_INTERVAL, "p_value", "p_adjusted", "statistic_value", "article_share"}
    return table.astype(dict.fromkeys(numbers & {*names}, "float") | {"reason": "str"})
