"""How unlike the texts of a set are: the mean distance between two of them, by the jackknife.

>>> import numpy as np
>>> pairwise_distances(np.eye(4)).tolist()
[1.0, 1.0, 1.0, 1.0]
"""

from __future__ import annotations

import numpy as np

#: Units that the jackknife needs: of two it leaves one, which has no pair.
FEWEST = 3


def pairwise_distances(vectors: np.ndarray) -> np.ndarray:
    r"""Return the jackknife value of every unit of the mean cosine distance between two units.

    Parameters
    ----------
    vectors : array, … × units × dimensions
        A vector of length 1 for each unit, such as a text, or the mean of its vectors where it has
        several: only pairs of different units count, so their number has no effect on average.

    Returns
    -------
    array, … × units
        Their mean is the mean of 1 - cosine over all pairs (0 to 2; lower: more alike), a
        U-statistic, which does not depend on the number of units on average. Their variance over
        units gives its standard error. NaN of fewer than `FEWEST` units.

    Notes
    -----
    With :math:`d_i` the mean distance of unit i to the others, and U the mean of all,
    :math:`n U - (n - 1) U_{-i} = U + \frac{2 (n - 1)}{n - 2} (d_i - U)`. Of vectors of length 1,
    U is the trace of their sample covariance: a difference of groups in direction adds nothing.

    References
    ----------
    Arvesen 1969, Annals of Mathematical Statistics 40(6): jackknife of U-statistics.

    Examples
    --------
    >>> values = pairwise_distances(np.array([[1.0, 0], [0.6, 0.8], [0, 1]]))
    >>> values.round(2).tolist(), round(float(values.mean()), 2)
    ([1.2, -0.4, 0.8], 0.53)
    """
    n = vectors.shape[-2]
    if n < FEWEST:
        return np.full(vectors.shape[:-1], np.nan)
    cosines = (vectors * (vectors.sum(axis=-2, keepdims=True) - vectors)).sum(axis=-1) / (n - 1)
    mean = 1 - cosines.mean(axis=-1, keepdims=True)
    return np.asarray(mean + 2 * (n - 1) / (n - 2) * (1 - cosines - mean))
