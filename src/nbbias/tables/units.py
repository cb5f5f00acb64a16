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
    clusters
        Unit → the cluster that it is of, where units stand or fall together.
    facets
        In place of `clusters`, up to two levels of the values' index that stand for others of
        their kind: the clusters of units, and those that cross them.

    Returns
    -------
    Estimated
        UNITS has `UNIT_KEYS` (a missing one is empty text), `unit`, `cluster`, `value`; with two
        facets `crossed`. Gaps are left out, and so is an estimate without a value.

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
    values = {at: row.get("values") for at, row in enumerate(rows)}
    parts = {at: part.dropna() for at, part in values.items() if part is not None}
    return Estimated(table, _units(table, parts, clusters or {}, facets))


def _units(
    table: pd.DataFrame,
    parts: Mapping[int, pd.Series],
    clusters: Mapping[str, str],
    facets: Sequence[str],
) -> pd.DataFrame:
    """Put the values behind the rows of ESTIMATES, by their numbers, into one long table."""
    numbers = [at for at, values in parts.items() for _ in values]
    keys = table[list(UNIT_KEYS)].astype(object)
    result = keys.where(keys.notna(), "").astype("str").iloc[numbers].reset_index(drop=True)
    result["unit"] = pd.Categorical([_label(name) for v in parts.values() for name in v.index])
    cluster_of = {name: clusters.get(name, name) for name in result["unit"].cat.categories}
    result["cluster"] = result["unit"].map(cluster_of)
    for column, facet in zip(CLUSTERS, facets, strict=False):
        levels = [v.index.get_level_values(facet) for v in parts.values() if len(v)]
        result[column] = [str(level) for part in levels for level in part]
    return result.assign(value=np.concatenate([[], *(v.to_numpy(float) for v in parts.values())]))


def _label(name: Any) -> str:
    return " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)
