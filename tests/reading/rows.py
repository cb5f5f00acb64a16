"""Rows of estimates whose spread is known: three models, 30 to 200 articles each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import stats, tables


def rows_of(*values: np.ndarray, p: float = 1.0) -> pd.DataFrame:
    found = [
        stats.one_sample(one, confidence=0.95).row()
        | {
            "model": f"m{i}",
            "measure": "word",
            "bias": "gender",
            "group": "female",
            "null": 0.0,
            "statistic": "share_difference_common",
            "p_adjusted": p,
        }
        for i, one in enumerate(values)
    ]
    return tables.estimates(found, study="news_bias", confidence=0.95)


RNG = np.random.default_rng(4)
SOME = [RNG.normal(0, 0.4, n) for n in (30, 71, 200)]
