"""Declared claims: the rows that lead a page, adjusted as one family; all else is exploratory."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import stats
from nbbias.params import CLAIM_KEYS, SMALLEST, Claim
from nbbias.reading import names, significance
from nbbias.reading.prose import capitalize, render
from nbbias.reading.tables import Table, readable, show
from nbbias.tables import ESTIMATE_KEYS, UNTESTABLE

#: The column that numbers the claims: a table without it declares nothing.
CLAIM = "claim"

#: How the reason of a claim begins that a run has no rows for.
NOT_HERE = "not in this run"

#: The value of a key that stands for all its values, as a missing one does.
ALL = "all"

#: Rows of the table that leads.
_FIRST = 12

#: The sentences under declared claims, and in their place where nothing was declared.
EXPLORATORY = render("claims.everything_exploratory")
NOTHING_DECLARED = render("claims.nothing_declared")
#: What the table of claims is called: of a user's own, and of a study's.
TITLES = {True: "Pre-specified claims", False: "Default claims of this study"}


def declared(
    estimates: pd.DataFrame, claims: Sequence[Claim], *, confidence: float
) -> pd.DataFrame:
    """Return the rows that a run declared, in the order of its claims, corrected as one family.

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
        `smallest_effect` and the reference is 0; `verdict` says what follows. A claim that matches
        nothing is a row without an estimate, with the reason.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "difference", "estimate": 0.1, "ci_low": 0.05,
    ...        "ci_high": 0.15, "null": 0, "n": 9, "p_value": 0.01}
    >>> rows = [row | {"model": "a"}, row | {"model": "b", "p_value": 0.04}]
    >>> rows = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> found = declared(rows, [{"statistic": "difference"}], confidence=0.95)
    >>> found[["model", "p_adjusted", "verdict"]].to_dict("split")["data"]
    [['a', 0.02, 'significant'], ['b', 0.04, 'significant']]
    >>> declared(rows, [{"statistic": "bias"}], confidence=0.95)["reason"].tolist()
    ["not in this run: no statistic 'bias'"]
    """
    found = [_rows_of(estimates, claim, n) for n, claim in enumerate(claims, start=1)]
    if not found:
        return estimates.iloc[:0].assign(claim=[], smallest_effect=[], verdict=[])
    rows = _unique(pd.concat(found, ignore_index=True))
    bounded = rows[SMALLEST].notna() & rows["null"].eq(0)
    # What could not be significant in a study's own, larger family may be so in this one.
    reason = rows["reason"].where(~significance.never_significant(rows))
    rows = stats.adjust(rows.assign(p_adjusted=np.nan, reason=reason))
    for name, p in stats.equivalence_test(rows, within=rows[SMALLEST].where(bounded)).items():
        rows[str(name)] = stats.adjust(pd.DataFrame({"p_value": p}))["p_adjusted"]
    return rows.assign(verdict=[_verdict(row, confidence) for row in rows.to_dict("records")])


def _rows_of(estimates: pd.DataFrame, claim: Claim, number: int) -> pd.DataFrame:
    kept, why = np.full(len(estimates), True), NOT_HERE
    for key in (key for key in CLAIM_KEYS if key in claim):
        own = kept & estimates[key].eq(claim[key]).to_numpy(bool, na_value=False)
        there, kept = kept, own
        if not own.any():
            known = list(estimates.loc[there, key].dropna().unique())
            near = difflib.get_close_matches(claim[key], known, n=1)
            hint = f"; there is {near[0]}" if near else ""
            why = f"{why}: no {key} {claim[key]!r}{hint}"
            break
    for key in (key for key in CLAIM_KEYS if key not in claim):
        over_all = estimates[key].isna() | estimates[key].eq(ALL)
        own = kept & over_all.to_numpy(bool, na_value=False)
        kept = own if own.any() else kept
    rows = _once(estimates[kept])
    if rows.empty:
        named = {key: claim[key] for key in CLAIM_KEYS if key in claim}
        gap = {"n": 0, "n_lost": 0, "reason": why, "study": _study(estimates)}
        rows = pd.DataFrame([named | gap]).reindex(columns=list(estimates))
        rows = rows.astype(dict.fromkeys((*ESTIMATE_KEYS, "test", "instrument"), "str"))
    return rows.assign(**{CLAIM: number, SMALLEST: float(claim.get(SMALLEST, np.nan))})


def _unique(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep a row that several claims name with the first, and the bound that any of them gives.

    A claim that is left with nothing keeps a row that says where its rows stand.
    """
    keys = [*ESTIMATE_KEYS, "instrument"]
    again = rows.duplicated(keys)
    if not again.any():
        return rows
    same = rows.groupby(keys, dropna=False)
    rows = rows.assign(**{SMALLEST: same[SMALLEST].transform("first")})
    kept = set(rows.loc[~again, CLAIM])
    gone = again & ~rows[CLAIM].isin(kept) & ~rows.duplicated(CLAIM)
    values = [name for name in rows if name not in {*keys, "study", CLAIM, "n", "n_lost"}]
    reason = "tested already, by claim " + same[CLAIM].transform("first").astype("str")
    rows[values] = rows[values].mask(gone)
    rows["reason"] = rows["reason"].where(~gone, reason)
    return rows[~again | gone].reset_index(drop=True)


def _once(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep one row a claim: of the leading instrument, and of mirrored groups the first."""
    rows = rows.drop_duplicates(list(ESTIMATE_KEYS))
    bare = rows.drop(columns="instrument")
    return rows[~(significance.is_mirrored(bare) & rows["estimate"].ne(0))]


def _study(estimates: pd.DataFrame) -> str:
    return str(estimates["study"].iloc[0]) if len(estimates) else ""


def _verdict(row: dict[str, Any], confidence: float) -> str:
    alpha = 1 - confidence
    if not np.isfinite(row["estimate"]):
        return "not measured"
    bound = f"±{row[SMALLEST]:g}"
    if row["p_within"] < alpha:
        return f"equivalent within {bound}"
    if row["p_beyond"] < alpha:
        return f"beyond {bound}"
    verdict = "significant" if row["p_adjusted"] < alpha else "not significant"
    if np.isnan(row["p_adjusted"]):
        verdict = "not tested"
    if str(row["reason"]).startswith(UNTESTABLE):
        verdict = "cannot be significant at this N"
    if np.isnan(row[SMALLEST]):
        return verdict
    if np.isnan(row["p_within"]):
        return f"{verdict}; equivalence within {bound} not tested"
    return f"{verdict}; neither equivalent within {bound} nor beyond"


# --- for readers --------------------------------------------------------------------------------

#: Who comes first, then of what.
_WHO = ("model", "evaluator", "judge")
_DETAILS = (*_WHO, *(key for key in CLAIM_KEYS if key not in {"measure", "statistic", *_WHO}))


def _label(rows: pd.DataFrame, among: pd.DataFrame | None) -> str:
    """Name what the rows of a claim have in common, and other claims of the table have not."""
    alike = [key for key in names.KEYS if rows[key].nunique(dropna=False) == 1]
    row = {**rows.iloc[0], **({} if "group" in alike else {"group": None})}
    keys = [key for key in alike if key != "model" or len(rows) > 1]
    parts = names.details(row, among, keys=keys)
    rest = [part for part in parts if part != names.measure(row)]
    return capitalize(names.measure(row)) + (f" ({', '.join(rest)})" if rest else "")


def show_claims(rows: pd.DataFrame, *, sha256: str, pre_specified: bool = True) -> list[HTML]:
    """Show declared claims: a dozen, and folded below all, where there are more.

    Parameters
    ----------
    rows
        Of `declared`.
    sha256
        The hash of the claims, of `params.claims_sha256`.
    pre_specified
        Whether a user named them before the data were read; else they are the study's own.
    """
    title = TITLES[pre_specified]
    parts = [show(_table(rows, sha256=sha256, first=_FIRST)._replace(title=title))]
    if len(rows) > _FIRST:
        whole = show(_table(rows, sha256=sha256, first=len(rows))._replace(title=title))
        summary = f"All {len(rows)} rows"
        parts.append(HTML(f"<details><summary>{summary}</summary>{whole.data}</details>"))
    return parts


def _table(rows: pd.DataFrame, *, sha256: str, first: int) -> Table:
    """Write declared rows in their order, each beside its claim in words.

    Of more than `first` those without a test and those with the smallest p values stay.
    """
    order = rows["p_value"].fillna(-1).argsort(kind="stable").to_numpy()
    named = rows.iloc[np.sort(order[:first])].assign(of="")
    among = rows if rows[CLAIM].nunique() > 1 else None
    for number, part in rows.groupby(CLAIM, sort=False):
        here = named[CLAIM] == number
        named.loc[here, "statistic"] = _label(part, among)
        named.loc[here, "of"] = [
            ", ".join(names.details({**row, "statistic": ""}, part, keys=_DETAILS))
            for row in named[here].to_dict("records")
        ]
    note = render(
        "claims.claims_note",
        tests=int(rows["p_value"].notna().sum()),
        sha=sha256[:12],
        more=len(rows) - len(named),
    )
    table = readable(
        named,
        ["statistic", *(["of"] if named["of"].any() else []), "verdict"],
        rows=None,
        note=note,
        title=TITLES[True],
        labels={"statistic": "claim", "null": "reference", "p_adjusted": "p (Holm)"},
    )
    shown = table.rows
    if "statistic" in shown:  # named once, in the first of its rows
        shown = shown.assign(statistic=shown["statistic"].mask(shown["statistic"].duplicated(), ""))
    if "verdict" in shown:
        shown = shown.assign(found=shown["verdict"]).drop(columns="verdict")
    return table._replace(rows=shown)
