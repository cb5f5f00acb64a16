"""Declared claims: the rows that lead a page, adjusted as one family; all else is exploratory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.params import CLAIM_KEYS, SMALLEST, Claim, match_claim
from nbbias.reading import names, significance
from nbbias.reading.prose import number, render, render_plain
from nbbias.reading.tables import Table, labelled
from nbbias.tables import ESTIMATE_KEYS, UNIT_KEYS, UNTESTABLE

#: The column that numbers the claims: a table without it declares nothing.
CLAIM = "claim"

#: How the reason of a claim begins that a run has no rows for.
NOT_HERE = "not in this run"

#: The value of a key that stands for all its values, as a missing one does.
ALL = "all"

#: Rows of the table that leads.
_FIRST, _FEWEST = 8, 5

#: The sentences under declared claims, and in their place where nothing was declared.
EXPLORATORY = render("claims.everything_exploratory")
ALL_EXPLORATORY = render("claims.exploratory")
NOTHING_DECLARED = render("claims.nothing_declared")
#: What the table of claims is called: of a user's own, and of a study's.
TITLES = {True: "Pre-specified tests", False: "Pre-specified tests (defaults of this study)"}


def declared(
    estimates: pd.DataFrame, claims: Sequence[Claim], *, confidence: float
) -> pd.DataFrame:
    """Return the estimates of a run's claims, in their order, adjusted as one family.

    Parameters
    ----------
    estimates
        ESTIMATES, with whatever corrections a study has made.
    claims
        As the parameters hold them.
    confidence
        1 less this is the level of the tests.

    Returns
    -------
    DataFrame
        Rows of ESTIMATES, each once, with `claim`, the number of the claim that it is of. A key
        that a claim leaves out means every value; where there is a row over all of them (a gap in
        that key), that row. Of several instruments the one that comes first stands, of two rows
        that mirror each other the first. `p_adjusted` is Holm's over all these rows. `p_within` and
        `p_beyond` are those of `stats.equivalence_test`, corrected likewise, where the claim has a
        `smallest_effect` and the reference is 0; `verdict` says what follows. `ci_low_selected` and
        `ci_high_selected` are the interval of a significant row, adjusted for its selection
        (`stats.selection_interval`). A claim that matches
        nothing is a row without an estimate, with the reason.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "difference", "estimate": 0.1, "ci_low": 0.05,
    ...        "ci_high": 0.15, "null": 0, "n": 9, "p_value": 0.01}
    >>> rows = [row | {"model": "a"}, row | {"model": "b", "p_value": 0.04}]
    >>> rows = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> table = declared(rows, [{"statistic": "difference"}], confidence=0.95)
    >>> table[["model", "p_adjusted", "verdict"]].to_dict("split")["data"]
    [['a', 0.02, 'significant'], ['b', 0.04, 'significant']]
    >>> declared(rows, [{"statistic": "bias"}], confidence=0.95)["reason"].tolist()
    ["not in this run: no statistic 'bias'; known: difference"]
    """
    if not claims:
        columns = (CLAIM, SMALLEST, *significance.SELECTED, "confidence_selected", "verdict")
        return estimates.iloc[:0].assign(**{name: [] for name in columns})
    parts = [_rows_of(estimates, claim, n) for n, claim in enumerate(claims, start=1)]
    rows = _unique(pd.concat(parts, ignore_index=True), estimates, claims)
    bounded = rows[SMALLEST].notna() & rows["null"].eq(0)
    # What could not be significant in a study's own, larger family may be so in this one.
    reason = rows["reason"].where(~significance.never_significant(rows))
    rows = stats.adjust(rows.assign(p_adjusted=np.nan, reason=reason))
    for name, p in stats.equivalence_test(rows, within=rows[SMALLEST].where(bounded)).items():
        rows[str(name)] = stats.adjust(pd.DataFrame({"p_value": p}))["p_adjusted"]
    rows = rows.assign(**stats.selection_interval(rows))
    return rows.assign(verdict=[_verdict(row, confidence) for row in rows.to_dict("records")])


def _rows_of(estimates: pd.DataFrame, claim: Claim, number: int) -> pd.DataFrame:
    """Return the rows that a claim matches, or one that says which of its keys matches nothing."""
    rows, problem = match_claim(estimates, claim)
    if problem:
        return _missing(estimates, claim, number, reason=f"{NOT_HERE}: {problem}")
    for key in (key for key in CLAIM_KEYS if key not in claim):
        whole = rows[key].isna() | rows[key].eq(ALL)
        if rows.loc[whole, "estimate"].notna().any():
            rows = rows[whole]
        elif whole.any():  # what was not measured stands for its own cell alone
            cells = rows.groupby([k for k in CLAIM_KEYS if k != key], dropna=False).ngroup()
            rows = rows[whole | ~cells.isin(cells[whole])]
    # Of several instruments the one that leads, and of mirrored groups the first.
    rows = rows.drop_duplicates(list(ESTIMATE_KEYS))
    mirrored = significance.is_mirrored(rows.drop(columns="instrument"))
    return _numbered(rows[~(mirrored & rows["estimate"].ne(0))], claim, number)


def _missing(estimates: pd.DataFrame, claim: Claim, number: int, *, reason: str) -> pd.DataFrame:
    """Return the row of a claim that has no rows of its own."""
    study = str(estimates["study"].iloc[0]) if len(estimates) else ""
    row: dict[str, Any] = {key: claim[key] for key in CLAIM_KEYS if key in claim}
    row |= {"n": 0, "n_lost": 0, "reason": reason, "study": study}
    rows = pd.DataFrame([row]).reindex(columns=list(estimates))
    texts = dict.fromkeys((*ESTIMATE_KEYS, "test", "instrument"), "str")
    return _numbered(rows.astype(texts), claim, number)


def _numbered(rows: pd.DataFrame, claim: Claim, number: int) -> pd.DataFrame:
    return rows.assign(**{CLAIM: number, SMALLEST: float(claim.get(SMALLEST, np.nan))})


def _unique(rows: pd.DataFrame, estimates: pd.DataFrame, claims: Sequence[Claim]) -> pd.DataFrame:
    """Keep a row that several claims name with the first, and the bound that any of them gives."""
    keys = list(UNIT_KEYS)
    bounds = rows.groupby(keys, dropna=False)[SMALLEST].transform("first")
    rows = rows.assign(**{SMALLEST: bounds})[~rows.duplicated(keys)]
    earlier = "tested already, by an earlier claim"
    numbers = sorted({*range(1, len(claims) + 1)} - {*rows[CLAIM]})
    emptied = [_missing(estimates, claims[n - 1], n, reason=earlier) for n in numbers]
    return pd.concat([rows, *emptied]).sort_values(CLAIM, kind="stable", ignore_index=True)


def _verdict(row: dict[str, Any], confidence: float) -> str:
    if not np.isfinite(row["estimate"]):
        return "not measured"
    factor, _, _, short, _ = names.unit(row)
    bound = f"±{factor * row[SMALLEST]:g}{short}"
    if stats.is_significant(row["p_within"], confidence):
        return f"equivalent within {bound}"
    if stats.is_significant(row["p_beyond"], confidence):
        return f"beyond {bound}"
    verdict = "not tested" if np.isnan(row["p_adjusted"]) else "not significant"
    if str(row["reason"]).startswith(UNTESTABLE):
        verdict = "not testable"
    elif stats.is_significant(row["p_adjusted"], confidence):
        verdict = "significant"
    if np.isnan(row[SMALLEST]):
        return verdict
    if np.isnan(row["p_within"]):
        return f"{verdict}; equivalence within {bound} not tested"
    return f"{verdict}; could be within or beyond {bound}"


def with_claims(estimates: pd.DataFrame, declared: pd.DataFrame) -> pd.DataFrame:
    """Return ESTIMATES of which declared rows have their claim's number, p, reason and interval.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "difference", "estimate": 0.1, "ci_low": 0.05,
    ...        "ci_high": 0.15, "null": 0, "n": 9, "p_value": 0.01, "p_adjusted": 0.04}
    >>> rows = [row | {"model": m} for m in "ab"]
    >>> rows = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> claim = declared(rows, [{"statistic": "difference", "model": "a"}], confidence=0.95)
    >>> with_claims(rows, claim)["p_adjusted"].tolist()
    [0.01, 0.04]
    """
    if CLAIM not in declared:
        return estimates
    keys, columns = list(UNIT_KEYS), [CLAIM, *significance.SELECTED, "p_adjusted", "reason"]
    claim = estimates[keys].merge(declared[[*keys, *columns]], how="left", on=keys)
    claim = claim[columns].set_axis(estimates.index)
    for name in ("p_adjusted", "reason"):
        claim[name] = claim[name].where(claim[CLAIM].notna(), estimates[name])
    return estimates.assign(**claim)


# --- for readers --------------------------------------------------------------------------------


def tabulate(rows: pd.DataFrame, *, pre_specified: bool = True) -> Table:
    """Lay out declared claims by p value: eight rows at most, of more five and those below p = 1.

    Those with the smallest p values stay, and those that were not measured, if these are few. What
    a claim could have detected stands where it is not significant, a verdict where equivalence was
    tested.

    Parameters
    ----------
    rows
        Of `declared`.
    pre_specified
        Whether a user named them before the data were read; else they are the study's own.
    """
    without_test = rows["p_value"].isna() & rows["estimate"].notna() & rows["reason"].isna()
    mde = significance.minimum_detectable_effect(rows)
    mde = mde.mask(significance.is_significant(rows) | without_test)
    rows = significance.minus_prose(rows)
    labels = [names.label(row, rows) for row in rows.to_dict("records")]
    rows = significance.with_selection(rows.assign(label=labels, mde=mde))
    gone = rows["estimate"].isna()
    place = -1 if gone.sum() < _FEWEST else 3
    order = rows["p_value"].fillna(2).mask(gone, place).argsort(kind="stable")
    below = rows["p_adjusted"].lt(1) | (gone & (place < 0))
    few = below.sum() if len(rows) > _FIRST else _FIRST
    shown = rows.iloc[order[: max(_FEWEST, min(_FIRST, few))]].sort_values("p_value", kind="stable")
    low = significance.SELECTED[0]
    counts = {"tests": rows["p_value"].count(), "without": without_test.sum()}
    counts["untested"] = len(rows) - counts["tests"] - counts["without"]
    adjusted = rows["p_adjusted"].dropna()
    counts["ties"] = adjusted[adjusted < 1].duplicated().any()
    counts |= {"mde": bool(shown["mde"].notna().any()), "measures": [*shown["measure"]]}
    level = rows["confidence_selected"].max()
    counts |= {"selected": level if level > 0 else 0, "rows": len(rows), "shown": len(shown)}
    note = render_plain("claims.claims_note", **counts, zero=shown["null"].fillna(0).eq(0).all())
    headings = {"statistic": "measure", "p_value": "p", "p_adjusted": "p (Holm)", "mde": "MDE"}
    table = labelled(shown, shown["label"].to_list(), note=note, labels=headings, gap="")
    scaled = [names.scaled(row) for row in shown.to_dict("records")]
    mde = [number(row["mde"], decimals=row["decimals"]) + row["short"] for row in scaled]
    columns = table.rows.assign(mde=np.where(shown["mde"].notna(), mde, ""))
    if rows[SMALLEST].notna().any():
        columns.insert(len(columns.columns) - 1, "verdict", shown["verdict"].to_list())
    columns["estimate"] += np.where(shown[low].notna(), " \N{DOUBLE DAGGER}", "")
    columns = columns if counts["mde"] else columns.drop(columns="mde")
    part = f", {len(shown)} of {len(rows)} rows" * (len(shown) < len(rows))
    return table._replace(rows=columns, title=TITLES[pre_specified] + part)
