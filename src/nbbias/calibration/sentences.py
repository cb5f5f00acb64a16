"""What a calibration says, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias.calibration.params import BAND
from nbbias.calibration.tables import called
from nbbias.params import Texts
from nbbias.reading import Lead, interval, names, number, p_value, plain

Row = dict[str, Any]

#: On which side of its level each kind of row does harm: an interval that holds less, a test or a
#: lead that errs more.
_WORSE = {"coverage_error": -1, "false_positive_error": 1, "false_lead_error": 1}


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: how many intervals and tests err as often as they say.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    texts
        Where the texts are from.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "interval", "statistic": "coverage_error", "source": "s",
    ...        "dimension": "m", "task": "d", "estimate": -0.1, "ci_low": -0.12, "ci_high": -0.08,
    ...        "n": 900, "null": 0.0}
    >>> rows = tables.estimates([row], study="calibration", confidence=0.95)
    >>> lead(rows, texts=Texts("simulated", "")).plain[0].partition(", and ")[2]
    '1 less often (s m: d in 85.0%).'
    """
    own = _overall(rows)
    of = {name: own[own["statistic"] == name] for name in _WORSE}
    if own.empty:
        reasons = rows["reason"].dropna()
        why = f": {reasons.iloc[0]}" if len(reasons) else ""
        said, numbers = [f"Nothing was measured{why}."], pd.DataFrame()
    else:
        said = [_coverage(of["coverage_error"]), _errors(of)]
        numbers = _numbers(of)
    return Lead(
        plain=tuple(said), technical=_technical(numbers), figure="errors", numbers=numbers,
        card=_card(own), texts=texts,
    )  # fmt: skip


def _overall(rows: pd.DataFrame) -> pd.DataFrame:
    """Return measured rows over all designs, each with `kind`: how it stands to its level."""
    own = rows[rows["topic"].isna() & rows["prompt"].isna() & rows["estimate"].notna()]
    return own.assign(kind=[kind(row) for row in own.to_dict("records")], what=called(own))


def kind(row: Row) -> str:
    """Say how a row stands to its level: within two points, beyond and harmful or not, or open.

    Declared rows go by their verdict, which is corrected for all that was declared.

    Examples
    --------
    >>> row = {"statistic": "coverage_error", "estimate": -0.1, "ci_low": -0.12, "ci_high": -0.08}
    >>> kind(row), kind(row | {"verdict": "equivalent within ±0.02"})
    ('worse', 'within')
    """
    verdict = row.get("verdict")
    if isinstance(verdict, str):
        within, beyond = verdict.startswith("equivalent"), verdict.startswith("beyond")
    else:
        within = max(-row["ci_low"], row["ci_high"]) < BAND
        beyond = row["ci_low"] > BAND or row["ci_high"] < -BAND
    if within or not beyond:
        return "within" if within else "open"
    return "worse" if np.sign(row["estimate"]) == _WORSE[row["statistic"]] else "careful"


def _coverage(own: pd.DataFrame) -> str:
    if own.empty:
        return "No interval was calibrated."
    level = own["confidence"].iloc[0]
    said = f"Of {_count(own, 'interval')}, {_of(own, 'within')} hold the truth as often as they say"
    said += f", to within {100 * BAND:.0f} points of {level:.0%}"
    return said + _rest(own, level, "less often", "more often", lowest=True)


def _errors(of: dict[str, pd.DataFrame]) -> str:
    own, leads = of["false_positive_error"], of["false_lead_error"]
    said = ""
    if len(own):
        level = 1 - own["confidence"].iloc[0]
        said = f"Of {_count(own, 'test')}, {_of(own, 'within')} tell what is not there as often as "
        said += f"they say, to within {100 * BAND:.0f} points of {level:.0%}"
        said += _rest(own, level, "more often", "less often", lowest=False)[
            : -1 if len(leads) else None
        ]
    if len(leads):
        level = 1 - leads["confidence"].iloc[0]
        share = float(np.average(leads["estimate"], weights=leads["n"])) + level
        pages = int(leads["n"].sum())
        about = (
            f"where nothing is planted, the first sentence of a page is false in {share:.1%} of "
        )
        about += f"{pages:,} simulated pages."
        said = f"{said}; {about}" if said else plain.capital(about)
    return said or "No test was calibrated."


def _rest(own: pd.DataFrame, level: float, harm: str, care: str, *, lowest: bool) -> str:
    """Say how many are off their level, with the furthest, and how many stay open."""
    parts = []
    for which, told in (("worse", harm), ("careful", care)):
        some = own[own["kind"] == which]
        if len(some):
            low = (which == "worse") == lowest
            furthest = some.loc[some["estimate"].idxmin() if low else some["estimate"].idxmax()]
            share = level + furthest["estimate"]
            parts.append(f"{len(some)} {told} ({furthest['what']} in {share:.1%})")
    if n := _of(own, "open"):
        parts.append(f"of {n} it stays open after so many simulated studies")
    return (", and " if parts else "") + ", ".join(parts) + "."


def _of(own: pd.DataFrame, which: str) -> int:
    return int((own["kind"] == which).sum())


def _count(own: pd.DataFrame, what: str) -> str:
    return f"{len(own)} {what}{'' if len(own) == 1 else 's'}"


def _numbers(of: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Choose three rows: of each kind the one that is furthest on the harmful side."""
    called_ = {"coverage_error": "points off coverage, the narrowest: ",
               "false_positive_error": "points off false positives, the most: ",
               "false_lead_error": "points off false first sentences, the most: "}  # fmt: skip
    found = []
    for name, own in of.items():
        if len(own):
            row = own.loc[(own["estimate"] * _WORSE[name]).idxmax()].to_dict()
            found.append(row | {"name": called_[name] + row["what"].removesuffix(": lead")})
    return pd.DataFrame(found)


def _technical(numbers: pd.DataFrame) -> str:
    told = [
        f"{plain.capital(names.measure(row))} is furthest off for {row['what']}: "
        f"{number(100 * row['estimate'], decimals=1)} points ({interval(row, decimals=3)} as a "
        f"share; N = {row['n']:,.0f} simulated studies; {p_value(row)}, Holm)."
        for row in numbers.to_dict("records")[:2]
    ]
    return " ".join(told)


def _card(own: pd.DataFrame) -> dict[str, str]:
    n = own.groupby("statistic")["n"].sum() if len(own) else pd.Series(dtype=int)
    counted = n.get("coverage_error", 0)
    return {
        "measures": "how often intervals hold the truth, tests err, and first sentences are false",
        "groups": "none: effects are planted on the groups that each measure compares",
        "N": f"{counted:,.0f} intervals of simulated studies, {own['source'].nunique()} studies "
        "of this package",
        "instrument": "simulation; no word list, scorer or judge is tested by it",
        "not": "that a measure is right about the world: its instrument, its groups and its "
        "construct are not simulated",
    }  # fmt: skip


def worst(estimates: pd.DataFrame) -> str:
    """Say how many measures miss their level at some number of units, told apart after correction.

    Examples
    --------
    >>> from nbbias import tables
    >>> worst(tables.estimates([], study="calibration"))
    'Nothing was calibrated'
    """
    own = estimates[estimates["topic"].notna() & (estimates["measure"] == "interval")]
    if own.empty:
        return "Nothing was calibrated"
    off = own[(own["p_adjusted"] < 1 - own["confidence"]) & (own["estimate"] < 0)]
    if off.empty:
        return "No interval is shown to be too narrow at any number of units"
    row = off.loc[off["estimate"].idxmin()]
    share = row["confidence"] + row["estimate"]
    what = called(off.loc[[row.name]]).iloc[0]
    return (
        f"{len(off.drop_duplicates(['source', 'dimension', 'task']))} of "
        f"{len(own.drop_duplicates(['source', 'dimension', 'task']))} intervals are too narrow at "
        f"some number of units: the most, {what}, holds the truth in {share:.0%} at {row['topic']}"
    )


def held_out(outcomes: pd.DataFrame) -> str:
    """Say whether worlds that were held out do worse than those that methods were made on.

    Examples
    --------
    >>> row = {"coverage": 0.95, "n_covered": 100, "held_out": False}
    >>> rows = pd.DataFrame([row, row | {"held_out": True, "coverage": 0.9}])
    >>> held_out(rows)
    'In worlds that were held out intervals hold the truth in 90.0%, in the others in 95.0%.'
    """
    if outcomes.empty:
        return ""
    own = outcomes[outcomes["n_covered"] > 0]
    shares = {
        bool(held): float(np.average(some["coverage"], weights=some["n_covered"]))
        for held, some in own.groupby("held_out")
    }
    if len(shares) < 2:
        return ""
    return (
        f"In worlds that were held out intervals hold the truth in {shares[True]:.1%}, in the "
        f"others in {shares[False]:.1%}."
    )


def recovered(outcomes: pd.DataFrame) -> str:
    """Say of how many statistics the mean estimate is told apart from the truth.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "bias_low": 0.1, "bias_high": 0.2}
    >>> recovered(pd.DataFrame([row]))
    'Of 1 statistic, 1 is off what was planted on average in some world, beyond what chance gives'
    """
    keys = ["study", "measure", "statistic"]
    if outcomes.empty:
        return "Nothing was calibrated"
    known = outcomes[outcomes["bias_low"].notna()]
    # Twice the width of the interval: there are hundreds of them.
    middle, half = (
        (known["bias_low"] + known["bias_high"]) / 2,
        known["bias_high"] - known["bias_low"],
    )
    off = known[(middle.abs() > half)].drop_duplicates(keys)
    total = len(known.drop_duplicates(keys))
    return (
        f"Of {total} statistic{'' if total == 1 else 's'}, {len(off)} "
        f"{'is' if len(off) == 1 else 'are'} off what was planted on average in some world, beyond "
        "what chance gives"
    )


def least(table: pd.DataFrame) -> str:
    """Say how many effects are seen with few units, and how many with many.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": "s", "measure": "m", "statistic": "d", "n": [10, 80],
    ...                      "least": [None, 0.2], "unit": "articles"})
    >>> least(rows)
    'With 10 units 0 of 1 tests tell the largest planted effect four times of five, with 80 1 of 1'
    """
    if table.empty:
        return "No test was calibrated"
    told = [
        f"{n} {'units ' if i == 0 else ''}{int(own['least'].notna().sum())} of {len(own)}"
        + (" tests tell the largest planted effect four times of five" if i == 0 else "")
        for i, (n, own) in enumerate(_ends(table))
    ]
    return "With " + ", with ".join(told)


def _ends(table: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    every = sorted(table["n"].unique())
    return [(int(n), table[table["n"] == n]) for n in dict.fromkeys([every[0], every[-1]])]


def false_leads(table: pd.DataFrame) -> str:
    """Say how often a page's first sentence is false, with nothing and with something planted.

    Examples
    --------
    >>> row = {"planted": 0.0, "repeats": 40, "false": 0.05}
    >>> false_leads(pd.DataFrame([row, row | {"planted": 0.1, "false": 0.0}]))
    'Of pages with nothing planted 5.0% lead with a false sentence, of those with an effect 0.0%'
    """
    if table.empty:
        return "No page was simulated"
    shares = {}
    for planted, own in table.groupby(table["planted"] != 0):
        shares[bool(planted)] = (own["false"] * own["repeats"]).sum() / own["repeats"].sum()
    parts = [f"{'of those with an effect' if one else 'of pages with nothing planted'} "
             f"{share:.1%}{'' if one else ' lead with a false sentence'}"
             for one, share in sorted(shares.items())]  # fmt: skip
    return plain.capital(", ".join(parts))


def simulated(designs: pd.DataFrame) -> str:
    """Say how many studies and pages are simulated, of how many measures.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "of": "trial", "repeats": 40}
    >>> simulated(pd.DataFrame([row, row | {"of": "lead", "repeats": 10}]))
    '40 studies and 10 pages with a known truth, for 1 measure of 1 study of this package'
    """
    times = designs.groupby("of")["repeats"].sum()
    n = len(designs.drop_duplicates(["study", "measure"]))
    studies = designs["study"].nunique()
    pages = f" and {times['lead']:,} pages" if "lead" in times else ""
    return (
        f"{times.get('trial', 0):,} studies{pages} with a known truth, for {n} "
        f"measure{'' if n == 1 else 's'} of {studies} "
        f"{'study' if studies == 1 else 'studies'} of this package"
    )


def lost(designs: pd.DataFrame) -> list[str]:
    """Say which worlds were not simulated.

    Examples
    --------
    >>> lost(pd.DataFrame({"world": ["halves"], "study": ["s"]}))
    ['Not simulated, since its data are not here (`NBBIAS_DATA`): halves.']
    """
    if designs.empty:
        return []
    told = plain.listed(sorted(designs["world"].unique()))
    return [f"Not simulated, since its data are not here (`NBBIAS_DATA`): {told}."]
