"""Choose among estimates: by measure, bias, statistic and model, with the correction of one's own.

Tables only; `explore_estimates` shows them.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.contracts import ESTIMATE_KEYS

#: Name → method of `stats.adjusted`; None: as the study corrected, "": not at all.
CORRECTIONS: dict[str, str | None] = {
    "as in the study": None,
    "none": "",
    "Holm, over the rows shown": "holm",
    "Benjamini-Hochberg, over the rows shown": "fdr_bh",
}

#: What `group` holds where it is a finding, not what the estimate is about: by measure, statistic.
FOUND = {
    ("rbs", "rbs"): "nearest identity", ("abs", "abs_raw"): "most chosen",
    ("abs", "abs"): "most chosen", ("abs", "abs_model"): "most chosen",
    ("abs", "position"): "most chosen", ("abs", "position_model"): "most chosen",
}  # fmt: skip

_FAMILY = ["measure", "bias"]
_CLAIM = ["statistic", "instrument"]


def families(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the estimates by measure and bias, under a label; all rows stay."""
    return _by(estimates, _FAMILY)


def claims(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return one family's estimates by statistic, and by instrument where a judge has several."""
    judges = estimates.groupby(["statistic", "judge"], dropna=False)["instrument"]
    several = bool((judges.nunique() > 1).any())
    return _by(estimates, _CLAIM if several else _CLAIM[:1])


def _by(estimates: pd.DataFrame, keys: list[str]) -> dict[str, pd.DataFrame]:
    found = {}
    for key, own in estimates.groupby(keys, sort=False, dropna=False):
        label = ", ".join(str(part).replace("_", " ") for part in key if pd.notna(part))
        found[label] = own
    return found


def row_keys(rows: pd.DataFrame) -> list[str]:
    """Return the keys that tell the rows apart; the model in any case, unless none is named."""
    keys = [k for k in ESTIMATE_KEYS if k in rows and k not in {"study", *_FAMILY, "statistic"}]
    found = [k for k in keys if rows[k].nunique(dropna=False) > 1]
    named = rows["model"].notna().any() or not found
    return [k for k in keys if k in found or (k == "model" and named)]


def whose(rows: pd.DataFrame) -> pd.Series:
    """Return each row's model, or judge where no row has a model.

    Returns
    -------
    Series
        Its name is the key, ``"model"`` or ``"judge"``; rows without one are about all of them, and
        say so (``"all models"``).
    """
    named = [key for key in ("model", "judge") if key in rows and rows[key].notna().any()]
    key = named[0] if named else "model"
    return rows[key].astype(object).fillna(f"all {key}s")


def chosen(
    rows: pd.DataFrame,
    *,
    models: Collection[str] | None = None,
    correction: str = "as in the study",
) -> pd.DataFrame:
    """Return the rows of some models, with `p_adjusted` by a correction of `CORRECTIONS`.

    Models are named as `whose` names them: judges, where no row has a model.

    A correction over the rows shown takes them as one family: two groups whose differences
    mirror each other count twice there, so it is no milder than the study's.
    """
    own = rows if models is None else rows[whose(rows).isin(list(models))]
    method = CORRECTIONS[correction]
    if method is None:
        return own
    adjusted = stats.adjusted(own["p_value"], method=method) if method else own["p_value"]
    return own.assign(p_adjusted=adjusted)


def reach(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the least and the largest value that a drawing of the rows must hold; 0 is in it."""
    columns = ["estimate", "ci_low", "ci_high", "null_low", "null_high"]
    values = rows[columns].to_numpy(dtype=float)
    values = np.append(values[np.isfinite(values)], 0.0)
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
