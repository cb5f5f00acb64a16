"""The values that an estimate is the mean of, one for each independent unit of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.tables.contracts import ESTIMATE_KEYS

#: What names an estimate in two runs.
UNIT_KEYS = (*ESTIMATE_KEYS, "instrument")


def units(
    blocks: Iterable[tuple[Mapping[str, Any], pd.Series]],
    *,
    study: str,
    clusters: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Put the values behind several estimates into one long table.

    Parameters
    ----------
    blocks
        Of each estimate its keys, and its values by unit. Gaps are left out, and so is an estimate
        without a value.
    study
        The study's stem.
    clusters
        Unit → the cluster that it is of, where units stand or fall together.

    Returns
    -------
    DataFrame
        `UNIT_KEYS` (as categories, a gap being empty text), `unit`, `cluster`, `value`.

    Examples
    --------
    >>> values = pd.Series([0.5, float("nan")], index=["article 1", "article 2"])
    >>> table = units([({"statistic": "bias"}, values)], study="news_bias")
    >>> table[["statistic", "unit", "cluster", "value"]].to_dict("records")
    [{'statistic': 'bias', 'unit': 'article 1', 'cluster': 'article 1', 'value': 0.5}]
    """
    measured = [(key, values.dropna()) for key, values in blocks]
    measured = [(key, values) for key, values in measured if len(values)]
    keys = pd.DataFrame([{"study": study, **key} for key, _ in measured]).reindex(
        columns=list(UNIT_KEYS)
    )
    keys = keys.astype(object).where(keys.notna(), "").astype("category")
    rows = np.repeat(np.arange(len(measured)), [len(values) for _, values in measured])
    table = keys.take(rows).reset_index(drop=True)
    parts = [values for _, values in measured]
    table["unit"] = pd.Categorical([str(name) for values in parts for name in values.index])
    cluster_of = {name: (clusters or {}).get(name, name) for name in table["unit"].cat.categories}
    table["cluster"] = table["unit"].map(cluster_of)
    table["value"] = np.concatenate([values.to_numpy(float) for values in parts]) if parts else []
    return table
