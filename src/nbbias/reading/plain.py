"""What somebody who is no statistician can repeat: who, which way, how far, how sure.

Of rows of ESTIMATES whose statistics are 0, or lie at their `null`, where there is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.reading import names, reach
from nbbias.reading.sentences import escape, interval, number, p_value
from nbbias.tables import UNTESTABLE

Row = Mapping[str, Any]

#: The difference that is asked about where no claim names a smallest effect: 10 points.
SIZE = 0.1

#: What tells rows of one model apart.
_CELL = ("model", "prompt", "source")


# --- names ------------------------------------------------------------------------------------


def who(row: Row, among: pd.DataFrame) -> str:
    """Name a row's model, with its prompt and source where these vary among the rows; escaped.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "a"], "prompt": ["plain", "role"], "source": "s"})
    >>> who(rows.iloc[1], rows)
    'a (role prompt)'
    """
    rest = [
        f"{escape(row[key])}{' prompt' if key == 'prompt' else ''}"
        for key in _CELL[1:]
        if among[key].nunique() > 1 and isinstance(row[key], str)
    ]
    return escape(row["model"]) + (f" ({', '.join(rest)})" if rest else "")


def models(rows: pd.DataFrame, among: pd.DataFrame | None = None) -> str:
    """Count the rows' models, or, where a model has several prompts or sources, what is compared.

    Examples
    --------
    >>> models(pd.DataFrame({"model": ["a", "b"], "prompt": "p", "source": "s"}))
    '2 models'
    """
    every = (rows if among is None else among)[list(_CELL)].drop_duplicates()
    n = len(rows[list(_CELL)].drop_duplicates())
    if every["model"].is_unique:
        return f"{n} model{'' if n == 1 else 's'}"
    what = "model and prompt" if every["prompt"].nunique() > 1 else "model and source"
    return f"{n} combination{'' if n == 1 else 's'} of {what}"


def listed(parts: Sequence[str], *, most: int = 3) -> str:
    """Join parts by commas and "and"; what is more than `most` is counted.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(parts) > most:
        parts = [*parts[:most], f"{len(parts) - most} more"]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + "".join(parts[-1:])


def capital(text: str) -> str:
    """Let a sentence start with a capital.

    Examples
    --------
    >>> capital("women's share")
    "Women's share"
    """
    return text[:1].upper() + text[1:]


def uncapital(text: str) -> str:
    """Let what began a sentence go on within one.

    Examples
    --------
    >>> uncapital("In 4 models")
    'in 4 models'
    """
    return text[:1].lower() + text[1:]


def called(row: Row) -> str:
    """Return what people call what a row measures, escaped.

    Examples
    --------
    >>> called({"study": "x", "measure": "m", "statistic": "my_own", "group": "a"})
    'my own'
    """
    return escape(names.measure(row))


# --- numbers ----------------------------------------------------------------------------------


def size(row: Row, value: float, *, decimals: int | None = None) -> str:
    """Write a size in the unit of a row's measure, without sign: points in whole ones.

    Examples
    --------
    >>> size({"study": "x", "measure": "m", "statistic": "s"}, -0.123)
    '0.12'
    """
    told = names.quantity(dict(row) | {"estimate": abs(value)})
    if not told.endswith(("points", "%")) or not np.isfinite(value):
        return told
    amount = 100 * abs(value)
    decimals = (0 if amount >= 0.95 else 1) if decimals is None else decimals
    unit = "%" if told.endswith("%") else f" point{'' if round(amount, decimals) == 1 else 's'}"
    return f"{number(amount, decimals=decimals)}{unit}"


def between(row: Row, values: Iterable[float]) -> str:
    """Write from which to which size values lie, the unit once.

    Examples
    --------
    >>> between({"study": "x", "measure": "m", "statistic": "s"}, [-0.25, -0.1])
    '0.10 to 0.25'
    """
    ends = sorted(abs(value) for value in values)
    whole = 0 if 100 * ends[-1] >= 0.95 else 1
    low, high = size(row, ends[0], decimals=whole), size(row, ends[-1], decimals=whole)
    return low if low == high else f"{low.split(' ')[0].removesuffix('%')} to {high}"


def numbers(row: Row, *, unit: str) -> str:
    """Write a row's estimate with its interval, N and p.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": -0.25, "ci_low": -0.5,
    ...        "ci_high": -0.125, "confidence": 0.95, "n": 9, "p_value": 0.01, "p_adjusted": 0.02}
    >>> numbers(row, unit="articles")
    '−0.25; 95% CI −0.50 to −0.12; N = 9 articles; p = .020'
    """
    p = [p_value(row)] if np.isfinite(row["p_adjusted"]) else []
    lost = row.get("n_lost") or 0
    # What is excluded need not be of the same kind: an answer may have no article.
    n = f"N = {row['n']:,.0f} {unit}" + (f" ({lost:,.0f} excluded)" if lost > 0 else "")
    return "; ".join([names.quantity(row), _interval(row), n, *p])


def _interval(row: Row) -> str:
    if not np.isfinite(row["ci_low"]):
        return interval(row)
    low, high = (names.quantity(row, end) for end in ("ci_low", "ci_high"))
    return f"{row['confidence']:.0%} CI {low.split(' ')[0]} to {high.split(' ')[0]}"


# --- sentences --------------------------------------------------------------------------------


def differences(rows: pd.DataFrame, *, reaches: pd.Series, unit: str = "articles") -> str:
    """Say of rows of one family which are shown, and what the others could have shown.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, each difference once.
    reaches
        What `reach` returned for the whole family.
    unit
        What N counts.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "ci_low": -0.5, "ci_high": -0.125, "n": 9, "p_value": 0.01, "p_adjusted": 0.02}
    >>> rows = [row | {"model": "a"}, row | {"model": "b", "p_adjusted": 0.7}]
    >>> found = tables.estimates(rows, study="mine", confidence=0.95)
    >>> differences(found, reaches=pd.Series([0.1, 0.2])).split(". ")[1]
    'In the other model no difference could be shown: it would have taken about 0.20.'
    """
    found, own = reach.shown(rows), reach.decided(rows)
    parts = []
    for _, side in found.groupby(_side(found), sort=False):
        row = side.iloc[0].to_dict()
        told = [f"{who(one, rows)} ({numbers(one, unit=unit)})" for one in side.to_dict("records")]
        parts.append(f"{called(row)} is {direction(row)} in {listed(told)}")
    text = capital("; ".join(parts)) + ". " if parts else ""
    left = own.drop(found.index)
    if len(left):
        far = reaches.reindex(left.index).dropna()
        what = between(left.iloc[0].to_dict(), [far.min(), far.max()]) if len(far) else ""
        text += f"{_others(left, rows, bool(parts))} no difference could be shown"
        text += f": it would have taken about {what}. " if what else ". "
    return (text + _silent(rows)).strip()


def _side(rows: pd.DataFrame) -> list[pd.Series]:
    group = rows["group"].fillna("")
    return [rows["measure"], rows["statistic"], group, np.sign(rows["estimate"] - _null(rows))]


def _null(rows: pd.DataFrame) -> pd.Series:
    return rows["null"].fillna(0)


def direction(row: Row) -> str:
    """Say which way a row lies from its reference, such as "smaller".

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": 0.1, "null": 0.2}
    >>> direction(row)
    'lower'
    """
    null = row["null"] if np.isfinite(row["null"]) else 0.0
    word = names.direction(dict(row) | {"estimate": row["estimate"] - null})
    return word or ("lower" if row["estimate"] < null else "higher")


def _others(left: pd.DataFrame, rows: pd.DataFrame, after: bool) -> str:
    """Name the rows of which nothing could be shown."""
    if rows["group"].nunique(dropna=False) > 1:
        n = f"{len(left)} comparison{'' if len(left) == 1 else 's'}"
        return f"In the other {n}" if after else f"In {n}"
    if not after:
        return f"In {who(left.iloc[0], rows)}" if len(rows) == 1 else f"In {models(left, rows)}"
    return "In the other " + models(left, rows).removeprefix("1 ")


def _silent(rows: pd.DataFrame) -> str:
    """Say how many rows could not be tested, or not be told whatever they are; with the reason."""
    parts = []
    untested = rows[rows["p_adjusted"].isna()]
    if len(untested):
        reasons = untested["reason"].dropna().value_counts()
        why = f" ({escape(reasons.index[0])})" if len(reasons) else ""
        many = f"{len(untested)} of {len(rows)} could not"
        parts.append(f"{'none could' if len(untested) == len(rows) else many} be tested{why}")
    untold = int(rows["reason"].fillna("").str.startswith(UNTESTABLE).sum())
    if untold:
        parts.append(f"{untold} cannot be told at their N, whatever they are")
    return capital("; ".join(parts)) + "." if parts else ""


def heading(rows: pd.DataFrame, *, none: str) -> str:
    """Say in a heading what is shown; `none` where nothing is.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "n": 9, "p_value": 0.01, "p_adjusted": 0.02, "model": "a"}
    >>> heading(tables.estimates([row], study="mine", confidence=0.95), none="Nothing is shown")
    'My share is lower in a'
    """
    found = reach.shown(rows).sort_index()
    parts: list[str] = []
    first: dict[str, Any] = {}
    alone = False
    for _, side in found.groupby(_side(found), sort=False):
        row = side.iloc[0].to_dict()
        name, way = called(row), direction(row)
        alike = all(row[key] == first.get(key) for key in ("measure", "statistic"))
        if parts:
            short = _besides(name, called(first)) if alike else f"{name} is"
            parts.append(f"{short} {way}" + ("" if alone else f" in {len(side)}"))
            continue
        whole = rows[rows["group"].fillna("") == (row["group"] if _text(row["group"]) else "")]
        alone = len(whole[list(_CELL)].drop_duplicates()) == 1
        where = who(row, whole) if alone else f"{len(side)} of {models(whole)}"
        first = row
        parts.append(f"{name} is {way} in {where}")
    return capital(listed(parts)) if parts else none


def _besides(name: str, first: str) -> str:
    """Leave out of a name the words that it begins and ends with like the first one.

    Examples
    --------
    >>> _besides("White people's share of words", "women's share of words")
    "White people's"
    """
    own, other = name.split(), first.split()
    while own and other and own[-1] == other[-1] and not own[-1].startswith("people"):
        own, other = own[:-1], other[:-1]
    while own and other and own[0] == other[0]:
        own, other = own[1:], other[1:]
    return " ".join(own) or name


def _text(value: object) -> bool:
    return isinstance(value, str)


def reaching(rows: pd.DataFrame, *, unit: str = "articles") -> list[str]:
    """Say of each measure and group what N can show, and how many units would show more.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family, such as the declared ones; where they have a
        `smallest_effect`, the units are those that would show it, else `SIZE`.
    unit
        What N counts.

    Returns
    -------
    list of str
        One sentence each; none for what is shown in every row.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": 0.0, "n": 71,
    ...        "ci_low": -0.1, "ci_high": 0.1, "df": 70, "p_value": 1.0, "p_adjusted": 1.0}
    >>> reaching(tables.estimates([row], study="mine", confidence=0.95))
    ['My share: 71 articles show differences of about 0.14 or more; for 0.10 it takes about 150.']
    """
    wanted = rows["smallest_effect"] if "smallest_effect" in rows else pd.Series(np.nan, rows.index)
    wanted = wanted.fillna(SIZE)
    table = rows.assign(far=reach.reach(rows), wanted=wanted, units=reach.needed(rows, size=wanted))
    sentences = []
    keys = [key for key in ("measure", "statistic", "bias", "group") if key in rows]
    for _, own in table.groupby(keys, sort=False, dropna=False):
        row = own.iloc[0].to_dict()
        name = capital(called(row))
        known = own[own["far"].notna()]
        if known.empty:
            why = own["reason"].dropna()
            told = escape(why.iloc[0]) if len(why) else "there is no test"
            sentences.append(f"{name}: nothing can be told ({told}).")
            continue
        if len(reach.shown(own)) == len(own):
            continue
        n, far = known["n"], known["far"]
        have = f"{n.min():,.0f}" + (f" to {n.max():,.0f}" if n.max() > n.min() else "")
        ends = [reach.about(end) for end in (known["units"].min(), known["units"].max())]
        takes = ends[0] if ends[0] == ends[1] else " to ".join(ends)
        text = f"{name}: {have} {unit} show differences of about "
        text += f"{between(row, [far.min(), far.max()])} or more"
        if (known["units"] > n).any():
            text += f"; for {size(row, row['wanted'])} it takes about {takes}"
        sentences.append(f"{text}.")
    return sentences


# --- the first screen -------------------------------------------------------------------------


def families(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return what leads a page in parts that one clause can tell: by claim, measure and group.

    Parameters
    ----------
    rows
        Of `reading.claims.declared`, or rows of ESTIMATES where nothing was declared.

    Examples
    --------
    >>> rows = pd.DataFrame({"measure": "m", "statistic": "s", "bias": "b", "group": ["x", "y"]})
    >>> len(families(rows))
    2
    """
    keys = ["claim", "measure", "statistic", "bias", "group"]
    named = [key for key in keys if key in rows]
    return [own for _, own in rows.groupby(named, sort=False, dropna=False)]


def sides(own: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of a part that are shown, those of one direction together.

    Examples
    --------
    >>> row = {"measure": "m", "statistic": "s", "group": "x", "null": 0, "p_adjusted": 0.01,
    ...        "reason": None, "confidence": 0.95}
    >>> len(sides(pd.DataFrame([row | {"estimate": 0.1}, row | {"estimate": -0.1}])))
    2
    """
    found = reach.shown(own)
    return [side for _, side in found.groupby(_side(found), sort=False)]


_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def subject(side: pd.DataFrame, own: pd.DataFrame, *, again: bool = False) -> tuple[str, bool]:
    """Say of whom a clause speaks, and whether these are several.

    Parameters
    ----------
    side, own
        The rows that it speaks of, and all that it could.
    again
        Whether it was said before of how many.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b", "c"], "prompt": "p", "source": "s"})
    >>> subject(rows.head(1), rows), subject(rows, rows)
    (('One of 3 models, a,', False), ('All 3 models', True))
    >>> subject(rows.head(1), rows, again=True)
    ('a', False)
    """
    if len(own) == 1:
        return who(own.iloc[0], own), False
    if len(side) == len(own):
        return f"All {models(own)}", True
    n = _WORDS[len(side)] if len(side) < len(_WORDS) else f"{len(side)}"
    them = listed([who(row, own) for row in side.to_dict("records")])
    if len(side) > 3:
        return f"{n} of {models(own)}", True
    return them if again else f"{n} of {models(own)}, {them},", len(side) > 1


def lower(clause: str) -> str:
    """Let a clause that begins with a number or "all" go on within a sentence.

    Examples
    --------
    >>> lower("One of 3 models, a, is"), lower("GPT-4 is")
    ('one of 3 models, a, is', 'GPT-4 is')
    """
    word = clause.split(" ")[0]
    return clause[:1].lower() + clause[1:] if word in {*_WORDS, "All"} else clause


def far(side: pd.DataFrame, way: str) -> str:
    """Say by how much rows differ: of one its interval, too; of several from which to which.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": -0.25, "ci_low": -0.5,
    ...        "ci_high": -0.125}
    >>> far(pd.DataFrame([row]), "less")
    '0.25 less (between 0.12 and 0.50)'
    """
    row = side.iloc[0].to_dict()
    told = f"{between(row, side['estimate'])} {way}".strip()
    ends = sorted([row["ci_low"], row["ci_high"]], key=abs)
    if len(side) > 1 or not np.isfinite(ends[0]):
        return told
    same = np.sign(ends[0]) == np.sign(ends[1]) or ends[0] == 0
    low, high = (size(row, end) for end in ends)
    return f"{told} (between {low.split(' ')[0]} and {high.split(' ')[0]})" if same else told


def chance(parts: Sequence[pd.DataFrame], were: str) -> str:
    """Say how often results as clear as those shown would come up, `were` nothing to be found.

    `p_adjusted` is Holm's: the share of studies without any difference in which one of the
    family's comparisons is called one at that level.

    Examples
    --------
    >>> row = {"p_adjusted": 0.016, "reason": None, "confidence": 0.95}
    >>> chance([pd.DataFrame([row])], "If nothing differed")
    'If nothing differed, a result this clear would come up in at most 2 of 100 such runs'
    """
    clearest = [found["p_adjusted"].iloc[0] for own in parts if len(found := reach.shown(own))]
    often = reach.by_chance({"p_adjusted": max(clearest)})
    return f"{were}, a result this clear would come up {often}"


def nothing(parts: Sequence[pd.DataFrame], *, reference: str, unit: str = "articles") -> list[str]:
    """Say in two sentences that nothing is shown, and what could have been; or measured.

    Parameters
    ----------
    parts
        Of `families`, none with a row that is shown.
    reference
        What is compared with, such as ``"the human articles"``.
    unit
        What N counts.

    Examples
    --------
    >>> gone = pd.DataFrame([{"measure": "m", "reason": "no words", "p_adjusted": np.nan}])
    >>> nothing([gone.assign(statistic="s", study="x")], reference="the originals")[0]
    'Nothing could be compared with the originals: no words.'
    """
    some = [own for own in parts if len(reach.decided(own))]
    if not some:
        reasons = pd.concat([own["reason"] for own in parts] or [pd.Series(dtype=str)]).dropna()
        why = f": {escape(reasons.value_counts().index[0])}" if len(reasons) else ""
        return [
            f"Nothing could be compared with {reference}{why}.",
            "That says nothing for the model, and nothing against it.",
        ]
    within = [own for own in some if _within(own).all()]
    if len(within) == len(some):
        bounds = {f"{called(o.iloc[0].to_dict())} to {_bound(o)}" for o in within}
        sure_of = some[0]["confidence"].iloc[0]
        first = f"In {models(some[0])} no difference from {reference} larger than what was declared"
        return [
            f"{first} to matter is there: {listed(sorted(bounds))}.",
            f"A difference as large as that is ruled out with {sure_of:.0%} confidence.",
        ]
    named = [called(own.iloc[0].to_dict()) for own in some]
    alone = len(some[0]) == 1
    whose = f"For {who(some[0].iloc[0], some[0])}" if alone else f"In none of {models(some[0])}"
    joined = listed(named) if len(named) == 1 else ", ".join(named[:-1]) + f" or {named[-1]}"
    verb = "no difference" if alone else "could a difference"
    first = f"{whose} {verb} from {reference} {'could be shown' if alone else 'be shown'} in"
    family = pd.concat(some)
    own = family[_alike(family, some[0])]
    reaches = reach.reach(family).reindex(own.index).dropna()
    row = own.iloc[0].to_dict()
    n = f"{own['n'].max():,.0f}"
    return [
        f"{first} {joined}.",
        f"With these {n} {unit} a difference of about {between(row, reaches)} in {named[0]} "
        "would probably have been seen; smaller ones may be there.",
    ]


def _within(own: pd.DataFrame) -> pd.Series:
    if "verdict" not in own:
        return pd.Series(False, own.index)
    return own["verdict"].fillna("").str.startswith("equivalent")


def _bound(own: pd.DataFrame) -> str:
    row = own.iloc[0].to_dict()
    return f"within {size(row, row['smallest_effect'])}"


def _alike(family: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
    return (family.index.isin(own.index)) & (family["measure"] == own["measure"].iloc[0]).to_numpy()


def technical(parts: Sequence[pd.DataFrame], *, unit: str = "articles") -> str:
    """Say as a paper does what is shown in up to two parts, or that nothing is.

    Parameters
    ----------
    parts
        Of `families`.
    unit
        What N counts.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": -0.25, "n": 9,
    ...        "ci_low": -0.5, "ci_high": -0.125, "p_value": 0.01, "p_adjusted": 0.02}
    >>> found = tables.estimates([row], study="mine", confidence=0.95)
    >>> technical([found]).split(" (")[0]
    'My share, m: −0.250, 95% CI [−0.500, −0.125], p = .020, N = 9 articles'
    """
    if not parts:
        return ""
    every = pd.concat(parts)
    tests = len(reach.decided(every))
    asked = "" if "claim" in every else "exploratory "
    over = f"Holm over {tests} {asked}test{'' if tests == 1 else 's'}"
    told = [own for own in parts if len(reach.shown(own))]
    if not told:
        least = reach.decided(every)["p_adjusted"].min()
        least_p = f"; the least adjusted {p_value(least)}" if tests else ""
        return f"No comparison is told apart from its reference ({over}{least_p})."
    lines = []
    for own in told[:2]:
        found = reach.shown(own)
        row = found.iloc[0].to_dict()
        lines.append(f"{capital(called(row))}, {who(row, own)}: {_apa(row, unit)}")
        pulled = (
            stats.shrink_estimates(reach.decided(own))[found.index[0]] if len(own) > 1 else np.nan
        )
        if np.isfinite(pulled):
            n = len(reach.decided(own))
            lines[-1] += f", shrunken towards the mean of all {n} {number(pulled, decimals=3)}"
    return f"{'; '.join(lines)} ({over}, two-sided; told apart: {sum(map(_told, parts))})."


def _told(own: pd.DataFrame) -> int:
    return len(reach.shown(own))


def _apa(row: Row, unit: str) -> str:
    low, high = (number(row[end], decimals=3) for end in ("ci_low", "ci_high"))
    told = number(row["estimate"], decimals=3)
    if np.isfinite(row["ci_low"]):
        told += f", {row['confidence']:.0%} CI [{low}, {high}]"
    if np.isfinite(row["null"]) and row["null"]:
        told += f", reference {number(row['null'], decimals=3)}"
    if np.isfinite(row["statistic_value"]) and np.isfinite(row["df"]):
        df = f"{row['df']:.0f}" if float(row["df"]).is_integer() else f"{row['df']:.1f}"
        told += f", t({df}) = {number(row['statistic_value'])}"
    # What is excluded need not be of the same kind: an answer may have no article.
    lost = f" ({row['n_lost']:,.0f} excluded)" if row["n_lost"] else ""
    return f"{told}, {p_value(row)}, N = {row['n']:,.0f} {unit}{lost}"


def leading(parts: Sequence[pd.DataFrame], *, most: int = 3) -> pd.DataFrame:
    """Return one row of each part, the surest or the largest, with what people call it: `name`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": -0.25, "n": 9}
    >>> leading([tables.estimates([row], study="mine", confidence=0.95)])["name"].tolist()
    ['my share, m']
    """
    rows = []
    for own in parts:
        measured = own[own["estimate"].notna()]
        if measured.empty:
            continue
        found = reach.shown(own)
        far = (measured["estimate"] - _null(measured)).abs()
        at = found.index[0] if len(found) else far.idxmax()
        row = own.loc[at]
        rows.append(row.to_dict() | {"name": f"{names.measure(row.to_dict())}, {_cell(row, own)}"})
    return pd.DataFrame(rows[:most])


def _cell(row: pd.Series, among: pd.DataFrame) -> str:
    rest = [str(row[key]) for key in _CELL[1:] if among[key].nunique() > 1]
    return str(row["model"]) + (f" ({', '.join(rest)})" if rest else "")
