"""Do models differ? Models write about the same articles, so what they write is paired."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.regression.mixed_linear_model import MixedLM

from nbbias import tables
from nbbias.stats import families

Row = dict[str, Any]

#: What must be equal for scores to be compared, where a table has it.
KEYS = ("source", "prompt", "measure", "bias", "instrument")

#: An article variance this small beside the residual one is a boundary, not an estimate; so is a
#: residual one this small beside both.
_SINGULAR, _EXACT = 1e-4, 1e-7

_INTERVAL = ["estimate", "ci_low", "ci_high"]


def mixed_model(
    scores: pd.DataFrame, *, value: str, confidence: float = tables.CONFIDENCE
) -> pd.DataFrame:
    """Compare models by a linear mixed model, with a random intercept for every article.

    Parameters
    ----------
    scores
        SCORES with `model` and `article_id`. Articles that only some models have count too.
    value, confidence
        The column that is compared (NaN are left out); level of the intervals.

    Returns
    -------
    DataFrame
        By source, prompt, measure and bias, one row per model: its difference from the mean of all
        models (`estimate`, `ci_low`, `ci_high`), `statistic_value` (Wald's z), two-sided `p_value`
        and `p_adjusted` (Holm, over all rows; of two models both rows are one test), `n` (values of
        the model), `articles` (of the fit), `n_lost`, `article_share` (share of the variance that
        lies between articles, in [0, 1]) and `reason`.
        Fitted by REML. Estimates are NaN where the fit is singular (articles that do not differ at
        all, or nothing beside articles and models that does). The intervals are those of large
        samples: with fewer than about 30 articles they are too narrow.

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
    >>> table[["model", "estimate", "articles"]].round(4)
      model  estimate  articles
    0     a   -0.0875         4
    1     b    0.0875         4
    """
    tables.require_columns(scores, ["model", "article_id", value], where="scores")
    keys = [key for key in KEYS if key in scores]
    rows = []
    for key, cell in tables.split_groups(scores, keys):
        measured = cell[cell[value].notna()]
        coefficients, reason = _fit(measured, value, confidence)
        sizes, counts = cell["model"].value_counts(), measured["model"].value_counts()
        for name in sorted(sizes.index):
            n = int(counts.get(name, 0))
            row = key | {"model": name, "n": n}
            row |= {"statistic": "difference", "test": "mixed model, z"}
            row |= {"articles": measured["article_id"].nunique(), "n_lost": sizes[name] - n}
            row |= {"reason": reason if n else "no value was measured"}
            rows.append(row | coefficients.get(str(name), {}))
    names = ["model", "statistic", *_INTERVAL, "test", "statistic_value", "p_value"]
    names += ["p_adjusted", "n", "n_lost", "articles", "article_share", "reason"]
    table = pd.DataFrame(rows, columns=[*keys, *names])
    numbers = [*_INTERVAL, "p_value", "p_adjusted", "statistic_value", "article_share"]
    return families.adjust(table.astype(dict.fromkeys(numbers, "float") | {"reason": "str"}))


def _fit(
    measured: pd.DataFrame, value: str, confidence: float
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
        return {}, "no variance within models"
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
    means = centre + fitted.fe_params * unit
    estimates, weights = means - means.mean(), np.eye(len(means)) - 1 / len(means)
    errors = np.sqrt(np.diag(weights @ covariance.to_numpy() @ weights))
    low, high = norm.interval(confidence, loc=estimates, scale=errors)
    z = estimates / errors
    rows = {"estimate": estimates, "ci_low": low, "ci_high": high, "article_share": share}
    rows |= {"statistic_value": z, "p_value": 2 * norm.sf(z.abs())}
    return pd.DataFrame(rows).to_dict("index"), None
