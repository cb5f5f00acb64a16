"""What a calibration says, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias.calibration.params import BAND
from nbbias.calibration.tables import called
from nbbias.params import Texts
from nbbias.reading import Lead, number, p_value, prose

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
    >>> lead(rows, texts=Texts("simulated", "")).plain[0].partition(" (")[0]
    'Of 1 interval, 1 holds the truth less often than it says'
    """
    own = _overall(rows)
    of = {name: own[own["statistic"] == name] for name in _WORSE}
    if own.empty:
        reasons = rows["reason"].dropna()
        why = f": {reasons.iloc[0]}" if len(reasons) else ""
        said, numbers = [f"Nothing was measured{why}."], pd.DataFrame()
    else:
        said = [_coverage(of["coverage_error"]), _errors(of)]
        parts = own[own["statistic"] != "false_lead_error"]
        if len(parts) and _of(parts, "open") == len(parts):
            said = [_all_open(of), _false_leads(of["false_lead_error"])]
        numbers = _numbers(of)
    return Lead(
        plain=tuple(said),
        technical=_technical(numbers),
        figure="errors",
        numbers=numbers,
        card=_card(own),
        texts=texts,
    )


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
    parts = {
        "worse": "hold{s} the truth less often than {it} say{s}",
        "within": f"as often, to within {100 * BAND:.0f} points of {level:.0%}",
        "careful": "more often",
    }
    return f"Of {_count(own, 'interval')}, {_told(own, level, parts, 'hold{s} the truth')}."


def _errors(of: dict[str, pd.DataFrame]) -> str:
    own, leads = of["false_positive_error"], of["false_lead_error"]
    said = ""
    if len(own):
        level = 1 - own["confidence"].iloc[0]
        parts = {
            "worse": "tell{s} what is not there more often than {it} say{s}",
            "within": f"as often, to within {100 * BAND:.0f} points of {level:.0%}",
            "careful": "less often",
        }
        said = f"Of {_count(own, 'test')}, {_told(own, level, parts, 'tell{s} what is not there')}"
    if len(leads):
        about = _false_leads(leads)
        said = f"{said}; {about[0].lower()}{about[1:-1]}" if said else about[:-1]
    return f"{said}." if said else "No test was calibrated."


def _all_open(of: dict[str, pd.DataFrame]) -> str:
    """Say that nothing is told of any interval or test, and where more is."""
    counted = {"interval": of["coverage_error"], "test": of["false_positive_error"]}
    names = [_count(own, what) for what, own in counted.items() if len(own)]
    return (
        f"Of {prose.listed(names)} none is told to miss its level by more than {100 * BAND:.0f} "
        "points, nor to keep to it, by so few simulated studies: "
        "params/calibration/full.yaml simulates enough."
    )


def _false_leads(own: pd.DataFrame) -> str:
    if own.empty:
        return "No first sentence was calibrated."
    share = float(np.average(own["estimate"], weights=own["n"])) + 1 - own["confidence"].iloc[0]
    return (
        f"Where nothing is planted, the first sentence of a page is false in {share:.1%} of "
        f"{int(own['n'].sum()):,} simulated pages."
    )


def _told(own: pd.DataFrame, level: float, parts: dict[str, str], verb: str) -> str:
    """Say how many stand how to their level, with those furthest off it, and how many stay open."""
    if (n := _of(own, "open")) == len(own):
        off = f"by more than {100 * BAND:.0f} points"
        return f"none is told to miss its level {off}, nor to keep to it"
    said: list[str] = []
    for which, told in parts.items():
        some = own[own["kind"] == which]
        if some.empty:
            continue
        full = told if said or which == "worse" else f"{verb} {told}"
        one = len(some) == 1
        text = f"{len(some)} " + full.format(s="s" if one else "", it="it" if one else "they")
        if which != "within":
            furthest = some.loc[some["estimate"].abs().idxmax()]
            text += f" (the furthest, {furthest['what']}, in {level + furthest['estimate']:.1%})"
        said.append(text)
    if n:
        said.append(f"{n} {'is' if n == 1 else 'are'} left open by so few simulated studies")
    return prose.listed(said, most=len(said))


def _of(own: pd.DataFrame, which: str) -> int:
    return int((own["kind"] == which).sum())


def _count(own: pd.DataFrame, what: str) -> str:
    return f"{len(own)} {what}{'' if len(own) == 1 else 's'}"


def _numbers(of: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Choose up to three rows: of each kind the furthest on the harmful side, if any is there."""
    called_ = {
        "coverage_error": "coverage off its level, at the worst: ",
        "false_positive_error": "false positives off their level, at the worst: ",
        "false_lead_error": "false first sentences off their level, at the worst: ",
    }
    found = []
    for name, own in of.items():
        harm = own["estimate"] * _WORSE[name]
        if (harm > 0).any():
            row = own.loc[harm.idxmax()].to_dict()
            found.append(row | {"name": called_[name] + row["what"].removesuffix(": lead")})
    return pd.DataFrame(found)


def _technical(numbers: pd.DataFrame) -> str:
    told = []
    ends = ("estimate", "ci_low", "ci_high")
    for row in numbers.head(2).to_dict("records"):
        covers = row["statistic"] == "coverage_error"
        level = row["confidence"] if covers else 1 - row["confidence"]
        share, low, high = (number(100 * (level + row[end]), decimals=1) for end in ends)
        verb = "The intervals of {what} cover" if covers else "The tests of {what} reject"
        of_level = f"{row['confidence']:.0%} CI {low} to {high}, nominally {level:.0%}"
        # What is tested is the claim of the lead: further off than the band, and not just off.
        beyond = row.get("p_beyond", np.nan)
        tested = row | {"p_adjusted": beyond} if np.isfinite(beyond) else row
        off = f"more than {100 * BAND:.0f} points off: " if np.isfinite(beyond) else ""
        n = f"N = {row['n']:,.0f} simulated studies; {off}{p_value(tested)}, Holm"
        told.append(f"{verb.format(what=row['what'])} {share}% ({of_level}; {n}).")
    return " ".join(told)


def _card(own: pd.DataFrame) -> dict[str, str]:
    n = own.groupby("statistic")["n"].sum() if len(own) else pd.Series(dtype=int)
    counted = n.get("coverage_error", 0)
    stems = [str(one).replace("_", " ") for one in own["source"].unique()]
    return {
        "measures": "how often intervals hold the truth, tests err, and first sentences are false",
        "groups": "none: effects are planted on the groups that each measure compares",
        "N": f"{counted:,.0f} simulated studies by interval, of {prose.listed(stems, most=9)}",
        "instrument": "simulation; no word list, scorer or judge is tested by it",
        "not": "that a measure is right about the world: its instrument, its groups and its "
        "construct are not simulated",
    }


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
    narrow, of = (len(one.drop_duplicates(["source", "dimension", "task"])) for one in (off, own))
    return (
        f"{narrow} of {of} intervals {'is' if narrow == 1 else 'are'} too narrow at some number of "
        f"units: the most, {what}, holds the truth in {share:.0%} at {row['topic']}"
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
    """Say how many effects are seen with the fewest units, and how many with the most.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": "s", "measure": "m", "statistic": "d", "n": [10, 80],
    ...                      "least": [None, 0.2]})
    >>> least(rows).partition(" tests tell ")[0], least(rows)[-15:]
    ('Four times of five, 0 of 1', '1 with the most')
    """
    if table.empty:
        return "No test was calibrated"
    own = table.sort_values("n").groupby(["study", "measure", "statistic"], sort=False)["least"]
    few, many = (int(one.notna().sum()) for one in (own.nth(0), own.nth(-1)))
    return (
        f"Four times of five, {few} of {own.ngroups} tests tell the largest planted effect with "
        f"the fewest units, {many} with the most"
    )


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
    parts = [
        f"{'of those with an effect' if one else 'of pages with nothing planted'} "
        f"{share:.1%}{'' if one else ' lead with a false sentence'}"
        for one, share in sorted(shares.items())
    ]
    return prose.capitalize(", ".join(parts))


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


def printed(shares: pd.DataFrame) -> str:
    """Say how many of a paper's printed distances chance alone may give whole, and how many half.

    Examples
    --------
    >>> rows = pd.DataFrame({"share_low": [0.6, 0.2], "share_high": [1.1, 0.4]})
    >>> printed(rows)
    'Of 2 printed distances chance alone gives at least half of 1, and may give all of 1'
    """
    known = shares[shares["share_low"].notna()]
    if known.empty:
        return "Without human articles nothing can be said of the printed distances"
    half, whole = int((known["share_low"] >= 0.5).sum()), int((known["share_high"] >= 1).sum())
    return (
        f"Of {len(known)} printed distances chance alone gives at least half of {half}, and may "
        f"give all of {whole}"
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
    told = prose.listed(sorted(designs["world"].unique()))
    return [f"Not simulated, since its data are not here (`NBBIAS_DATA`): {told}."]
