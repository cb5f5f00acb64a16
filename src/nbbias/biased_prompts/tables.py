"""Tables of the biased-prompts study whose rows are chosen; titles are in ``prose/tables.yaml``."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import news, refusals
from nbbias.biased_prompts.corpus import NOBODY
from nbbias.biased_prompts.refusing import DISPUTED, TWO_PHASE
from nbbias.reading import Table, caption, names, prose, readable, tables

_KEYS = ["model", "group", "bias", "source", "prompt"]

#: Of each table of estimates, its statistics.
STATISTICS = {
    "refusals": [f"refusal_rate{end}" for end in (TWO_PHASE, DISPUTED)],
    "detector_bias": ["refusal_rate_change_instrument"],
    "by_headline": ["refusal_difference", "refusal_difference_between"],
    "prejudice": ["prejudice_share", "prejudice_share_change", "prejudice_share_change_paired"],
}


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: one of `STATISTICS`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "refusal_difference", "estimate": 0.5, "p_least": 0.01}
    >>> found = tables.estimates([row, row | {"model": "n"}], study="biased_prompts")
    >>> of(found, "by_headline").rows["model"].tolist()
    ['m', 'n']
    """
    settings: dict[str, Any] = {"words": ("biased_prompts", name), "gap": ""}
    if name == "detector_bias":  # where the group named affects it
        estimates = estimates[estimates["ci_low"] < estimates["ci_high"]]
    if name == "by_headline":  # without models that refused none, or all
        estimates = estimates[estimates["p_least"] < 0.999]
        one = ~estimates["statistic"].str.endswith("between")
        whose = estimates["group"].mask(one, estimates["group"] + f" \N{MINUS SIGN} {NOBODY}")
        estimates = estimates.assign(group=whose)
    table = readable(estimates, _KEYS, statistics=STATISTICS[name], **settings)
    return table._replace(rows=table.rows.drop(columns="statistic", errors="ignore"))


def side_by_side(estimates: pd.DataFrame, name: str) -> Table:
    """Return rates from labels (``"refusals"``), or shares of ``"prejudice"`` with tests.

    A cell holds estimate, interval, and p or N.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "prejudice_share", "estimate": 0.5, "n": 9}
    >>> row |= {"measure": "word", "bias": "gender", "instrument": "word list"}
    >>> rows = [row | {"prompt": prompt} for prompt in ("neutral", "biased")]
    >>> table = side_by_side(tables.estimates(rows, study="biased_prompts"), "prejudice")
    >>> table.rows["biased"].tolist()
    ['50.0% (no interval); N = 9']
    """
    rows = estimates[estimates["statistic"].isin(STATISTICS[name])]
    column = rows["statistic"]
    if name != "refusals":
        rows = news.claims.first_instrument(rows)
        column = rows["statistic"].where(rows["test"].notna(), rows["prompt"])
    cells = []
    for row in rows.to_dict("records"):
        tested = pd.notna(row["p_adjusted"])
        last = prose.p_value(row) if tested else f"N = {row['n']:,.0f}"
        cells.append(f"{tables.estimate_cell(names.scaled(row, decimals=3))}; {last}")
    keys = _KEYS if name == "refusals" else ["measure", *_KEYS[:-1]]
    varies = {key: rows[key].nunique(dropna=key != "group") > 1 for key in keys}
    keys = [key for key in keys if varies[key] or key in ("model", "prompt")]
    wide = rows.assign(column=column, cell=cells).set_index([*keys, "column"])["cell"]
    wide = wide.unstack("column", sort=False).rename_axis(columns=None).reset_index()
    return caption(rows, study="biased_prompts", name=name)._replace(rows=wide)


def held_out() -> pd.DataFrame:
    """Return how well refusals are detected on models and prompts that the detector had not seen.

    Examples
    --------
    >>> list(held_out())[:4]
    ['method', 'model', 'answers', 'refusals']
    """
    table = refusals.held_out()
    table["answers"] = table[refusals.COUNTS].sum(axis=1)
    table["refusals"] = table["tp"] + table["fn"]
    detailed = table["method"].str.endswith("area held out")  # what corrects the rates
    table = pd.concat([table[detailed], table[~detailed & table["model"].eq("mean")]])
    return table[["method", "model", "answers", "refusals", "sensitivity", "specificity"]]
