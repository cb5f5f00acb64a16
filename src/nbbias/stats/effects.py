"""What an estimate's size can claim: equivalence to nothing, and the largest of many shrunken."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.meta_analysis import combine_effects

#: Estimates that say something of each other's spread; of two it is not known.
_FEWEST = 3


def standard_errors(rows: pd.DataFrame) -> pd.Series:
    """Return the standard error of each estimate, read off its interval.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.

    Returns
    -------
    Series
        Half the interval's length over its quantile: of *t* with the row's `df`, of the normal
        distribution where it has none. An interval may be cut at a bound of its statistic, so its
        longer half counts. NaN without an interval.

    Examples
    --------
    >>> row = {"estimate": 0.1, "ci_low": -0.096, "ci_high": 0.296, "df": np.nan}
    >>> standard_errors(pd.DataFrame([row | {"confidence": 0.95}])).round(3).tolist()
    [0.1]
    """
    longer = np.maximum(rows["ci_high"] - rows["estimate"], rows["estimate"] - rows["ci_low"])
    quantile = t.ppf((1 + rows["confidence"]) / 2, rows["df"].fillna(np.inf))
    return (longer / quantile).where(longer > 0)


def equivalence(rows: pd.DataFrame, *, within: pd.Series) -> pd.DataFrame:
    """Test whether signed estimates lie within bounds around 0, and whether beyond them.

    Two one-sided *t* tests (Schuirmann 1987) and the two-sided test against the nearer bound. Rows
    hold no single values, which `statsmodels.stats.weightstats.ttost_paired` asks for; with an
    estimate, its standard error and df the tests are the same, and they hold for pooled rows, too.

    Parameters
    ----------
    rows
        Rows of ESTIMATES of statistics that are 0 where there is no difference.
    within
        By row, the smallest effect that matters, above 0, in the estimate's unit; NaN: no test.

    Returns
    -------
    DataFrame
        By row `p_within` (small: nearer to 0 than the smallest effect) and `p_beyond` (small:
        further from 0 than that). NaN where there is no bound or no interval.

    Examples
    --------
    >>> row = {"estimate": 0.01, "ci_low": -0.03, "ci_high": 0.05, "df": 40, "confidence": 0.95}
    >>> equivalence(pd.DataFrame([row]), within=pd.Series([0.06])).round(3).to_dict("records")
    [{'p_within': 0.008, 'p_beyond': 1.0}]
    """
    df, size = rows["df"].fillna(np.inf), rows["estimate"].abs()
    # Of the two one-sided tests that against the nearer bound decides, and the half of the interval
    # that faces it: an interval of a share is longer on the side of one half.
    outwards = (size < within) == (rows["estimate"] >= 0)
    halves = (rows["ci_high"] - rows["estimate"]).where(outwards, rows["estimate"] - rows["ci_low"])
    quantile = t.ppf((1 + rows["confidence"]) / 2, df)
    errors = (halves / quantile).where(halves > 0, standard_errors(rows))
    nearer = t.cdf((size - within) / errors, df)
    beyond = np.minimum(2 * t.sf((size - within) / errors, df), 1.0)
    return pd.DataFrame({"p_within": nearer, "p_beyond": beyond}, index=rows.index)


def shrunken(rows: pd.DataFrame) -> pd.Series:
    r"""Shrink the estimates of a family towards each other: empirical Bayes, normal-normal.

    Whoever picks the largest of many picks error with it; the posterior mean
    :math:`\mu + (y_i - \mu) \tau^2 / (\tau^2 + s_i^2)` does not care how a row was picked. The
    spread :math:`\tau^2` of true effects is Paule and Mandel's, by statsmodels.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, comparable with each other; where there is a `null`, what lies beyond it
        is shrunken, and the `null` added again. A row whose `null` has a range is left out: its
        interval is not that of what lies beyond the `null`.

    Returns
    -------
    Series
        By row; all NaN where fewer than three rows have a standard error.

    Examples
    --------
    >>> row = {"ci_low": -0.2, "ci_high": 0.2, "df": np.nan, "confidence": 0.95, "null": 0.0}
    >>> rows = [row | {"estimate": y, "ci_low": y - 0.2, "ci_high": y + 0.2} for y in (-0.1, 0, .4)]
    >>> shrunken(pd.DataFrame(rows)).round(2).tolist()
    [-0.07, 0.01, 0.36]
    """
    found = pd.Series(np.nan, index=rows.index)
    nulls = rows["null"].fillna(0.0)
    variances = standard_errors(rows) ** 2
    known = variances.notna() & rows["estimate"].notna()
    if "null_low" in rows:  # an estimated reference: what lies beyond it has another error
        known &= rows["null_low"].isna()
    if known.sum() < _FEWEST:
        return found
    y, own = (rows["estimate"] - nulls)[known].to_numpy(), variances[known].to_numpy()
    family = combine_effects(y, own, method_re="iterated")
    spread = max(float(family.tau2), 0.0)
    means = family.mean_effect_re + (y - family.mean_effect_re) * spread / (spread + own)
    found[known] = means + nulls[known]
    return found
