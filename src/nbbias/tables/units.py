"""The values that an estimate is the mean of, one for each independent unit of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables.contracts import ESTIMATE_KEYS, estimates

#: Columns of UNITS that group its units; the second is there where two facets are crossed.
CLUSTERS = ("cluster", "crossed")

#: What names an estimate in two runs.
UNIT_KEYS = (*ESTIMATE_KEYS, "instrument")


def units(
    blocks: Iterable[tuple[Mapping[str, Any], pd.Series]],
    *,
    study: str,
    clusters: Mapping[str, str] | None = None,
    facets: Sequence[str] = (),
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
    facets
        In place of `clusters`, up to two levels of the values' index that stand for others of
        their kind: the clusters of units, and those that cross them.

    Returns
    -------
    DataFrame
        `UNIT_KEYS` (a missing one is empty text), `unit`, `cluster`, `value`; with two facets
        `crossed`.

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
    keys = keys.astype(object).where(keys.notna(), "").astype("str")
    rows = np.repeat(np.arange(len(measured)), [len(values) for _, values in measured])
    table = keys.take(rows).reset_index(drop=True)
    parts = [values for _, values in measured]
    table["unit"] = pd.Categorical([_label(name) for values in parts for name in values.index])
    cluster_of = {name: (clusters or {}).get(name, name) for name in table["unit"].cat.categories}
    table["cluster"] = table["unit"].map(cluster_of)
    for column, facet in zip(CLUSTERS, facets, strict=False):
        levels = [values.index.get_level_values(facet).astype(str) for values in parts]
        table[column] = np.concatenate(levels) if levels else []
    table["value"] = np.concatenate([values.to_numpy(float) for values in parts]) if parts else []
    return table


def _label(name: Any) -> str:
    return " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)


class Estimated(NamedTuple):
    """ESTIMATES, and UNITS: the values by independent unit that they are means of."""

    estimates: pd.DataFrame
    units: pd.DataFrame


def estimates_and_units(
    rows: Iterable[Mapping[str, Any]],
    *,
    study: str,
    clusters: Mapping[str, str] | None = None,
    facets: Sequence[str] = (),
    **common: Any,
) -> Estimated:
    """Build ESTIMATES and UNITS from rows that name an estimate and the values it is a mean of.

    Parameters
    ----------
    rows
        As in `tables.estimates`; where an estimate is a mean over units, the row has `values`, a
        Series by unit.
    study, **common
        As in `tables.estimates`.
    clusters, facets
        As in `units`.

    Examples
    --------
    >>> values = pd.Series([0.1, 0.3], index=["article 1", "article 2"])
    >>> row = {"statistic": "bias", "estimate": 0.2, "n": 2, "values": values}
    >>> result = estimates_and_units([row], study="news_bias", measure="word")
    >>> result.estimates["estimate"].tolist(), result.units["value"].tolist()
    ([0.2], [0.1, 0.3])
    """
    rows = list(rows)
    bare = [{name: value for name, value in row.items() if name != "values"} for row in rows]
    table = estimates(bare, study=study, **common)
    keys = table[list(UNIT_KEYS)].to_dict("records")
    blocks = [
        ({str(name): part for name, part in key.items() if name != "study"}, row["values"])
        for key, row in zip(keys, rows, strict=True)
        if row.get("values") is not None
    ]
    return Estimated(table, units(blocks, study=study, clusters=clusters, facets=facets))
