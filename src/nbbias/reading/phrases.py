"""From rows of ESTIMATES to sentences: what is significant, how large, and what N can detect.

The words are templates (``data/prose/claims.j2``); here stands what is true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.params import SMALLEST
from nbbias.reading import names, prose, significance
from nbbias.reading.claims import CLAIM
from nbbias.reading.prose import capitalize, count_range, number, render

Row = Mapping[str, Any]
#: Tables of rows of ESTIMATES, one for each claim, measure and group; and tables of the rows of one
#: direction, each with the table that they are part of.
Parts = Sequence[pd.DataFrame]
Sides = Sequence[tuple[pd.DataFrame, pd.DataFrame]]

#: What tells rows of one measure apart.
_MODEL = ["model", "prompt", "source"]

#: Significant differences that a lead tells one by one; models of one that it tells apart;
#: measures without a significant difference that it names.
_CLAUSES, _MODELS, _NAMED = 3, 3, 6

#: How many times as large as the smallest the largest of a wide range is.
_WIDE = 4


def _kind(rows: pd.DataFrame, n: int) -> str:
    """Return what tells rows apart, in the number of `n`: models, or combinations with others."""
    several = not rows[_MODEL].drop_duplicates()["model"].is_unique
    return render("claims.kind", n=n, combinations=several)


# --- sizes ------------------------------------------------------------------------------------


def size(row: Row, value: float) -> str:
    """Write a size in the unit of a row's measure, without sign.

    Examples
    --------
    >>> size({"study": "x", "measure": "m", "statistic": "s"}, -0.123)
    '0.12'
    """
    unit = names.unit(row)
    return f"{number(unit.factor * abs(value), decimals=unit.decimals)}{unit.name}"


def size_range(row: Row, values: pd.Series, *, median: bool = False) -> str:
    """Write the range of some sizes, with their unit once; empty where none is known.

    With `median`, that of a wide range follows.

    Examples
    --------
    >>> size_range({"study": "x", "measure": "m", "statistic": "s"}, pd.Series([-0.25, -0.1]))
    '0.10 to 0.25'
    """
    unit = names.unit(row)
    if (values := unit.factor * values.abs().dropna()).empty:
        return ""
    decimals = 0 if values.min() >= 9.5 else unit.decimals
    least = 10.0**-decimals
    ends = [
        number(end, decimals=decimals) if end > least / 2 else f"< {least:g}"
        for end in (values.min(), values.max())
    ]
    wide = bool(median and values.max() > _WIDE * values.min())
    middle = f", median {number(values.median(), decimals=decimals)}" * wide
    return f"{' to '.join(dict.fromkeys(ends))}{unit.name}{middle}"


def _null(row: Row) -> float:
    return float(row["null"]) if np.isfinite(row["null"]) else 0.0


def _excess(rows: pd.DataFrame) -> pd.Series:
    return rows["estimate"] - rows["null"].fillna(0)


def numbers(row: Row, *, unit: str, sep: str = ";", sign: int = 1) -> str:
    """Write the interval of a difference from the null value, N and, between semicolons, p.

    What adjusts them is said once, by `reading.lead.to_dict` or `reading.claims.EXPLORATORY`.
    `sign` is -1 where the difference is reported in the opposite direction, or as a decrease.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": -0.25, "ci_low": -0.5,
    ...        "ci_high": -0.125, "null": 0.0, "confidence": 0.95, "n": 9, "p_value": 0.01,
    ...        "p_adjusted": 0.02}
    >>> numbers(row, unit="articles")
    '95% CI −0.50 to −0.12; N = 9 articles; p = .020'
    """
    factor, decimals, *_ = names.unit(row)
    *ends, _ = prose.confidence_interval(row)
    ends = sorted(sign * factor * (end - _null(row)) for end in ends)
    low, high = (Markup(number(end, decimals=decimals)) for end in ends)
    return render("claims.numbers", row=row, low=low, high=high, unit=unit, sep=sep)


# --- clauses ----------------------------------------------------------------------------------


def _sides(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the significant rows, those of one measure, group and direction together."""
    rows = significance.significant(rows)
    keys = [rows["measure"], rows["statistic"], rows["group"].fillna(""), np.sign(_excess(rows))]
    return [part for _, part in rows.groupby(keys, sort=False)]


def _where(side: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any]:
    """Return in how many models, of how many, the rows of one direction are, and in which."""
    rows = rows[rows["group"].fillna("") == side["group"].fillna("").iloc[0]]
    k, n = (len(part[_MODEL].drop_duplicates()) for part in (side, rows))
    subjects = [names.subject(row, rows) for row in side.to_dict("records")]
    return {"k": k, "n": n, "kind": _kind(rows, n), "names": list(dict.fromkeys(subjects))}


def _clause(
    side: pd.DataFrame, rows: pd.DataFrame, *, reference: str, unit: str, is_first: bool
) -> str:
    """Say of rows of one direction what differs from the reference, by how much, and where.

    Only the first of several says what the reference is, and of how many models one is.
    """
    side = side.loc[_excess(side).abs().sort_values(ascending=False, kind="stable").index]
    row, excess, where = side.iloc[0].to_dict(), _excess(side), _where(side, rows)
    values = {"where": where, "name": names.measure(row), "direction": names.direction(row)}
    values["reference"] = Markup(reference) if is_first else ""
    sign = -1 if excess.iloc[0] < 0 else 1
    if len(side) == 1:
        values["where"] = where if is_first else where | {"n": 1}
        values["size"] = Markup(size(row, excess.iloc[0]))
        in_brackets = Markup(numbers(row, unit=unit if is_first else "", sign=sign))
        return render("claims.clause", numbers=in_brackets, **values)
    last_unit, clauses = "", list[tuple[str, str, str]]()
    for row in side.to_dict("records") if len(side) <= _MODELS else ():
        of = [names.subject(row, rows), *names.details(row, keys=("dimension",), always=())]
        of_row = size(row, row["estimate"] - _null(row)).removesuffix(last_unit)
        last_unit = names.unit(row).name  # units are said once
        unit_once = "" if clauses or not is_first else unit
        in_brackets = Markup(numbers(row, unit=unit_once, sep=",", sign=sign))
        clauses.append((", ".join(of), Markup(of_row), in_brackets))
    values |= {"size": Markup(size_range(row, excess)), "n": Markup(count_range(side["n"]))}
    p = Markup(prose.p_value(significance.adjusted_p(side).max(), is_bound=True))
    return render("claims.clauses", each=clauses, unit=unit, p=p, **values)


def _clauses(sides: Sides, *, reference: str, unit: str) -> list[str]:
    """Say each direction, of the rows that it is one of, and which go with it; name the rest."""
    tree, sentences = list(_implied(sides).items()), []
    for n, (at, implied) in enumerate(tree[:_CLAUSES]):
        side, rows = sides[at]
        sentences.append(_clause(side, rows, reference=reference, unit=unit, is_first=not n))
        if implied:
            text = Markup(sentences.pop().removesuffix("."))
            dependents = _dependent(*sides[at], implied)
            sentences.append(render("claims.dependent", clause=text, each=dependents))
    further = [
        f"{names.measure(side.iloc[0].to_dict())} ({prose.listed(_where(side, part)['names'])})"
        for side, part in (sides[at] for at, _ in tree[_CLAUSES:])
    ]
    return [*sentences, render("claims.further", names=further)] if further else sentences


def _dependent(
    side: pd.DataFrame, rows: pd.DataFrame, implied: Sides
) -> list[tuple[list[tuple[str, Markup, Markup]], str, list[str]]]:
    """Return whose shares went with another's, how far, in which direction, where elsewhere."""
    models, by_direction = _where(side, rows)["names"], dict[tuple[str, ...], list[Any]]()
    for part, of in implied:
        row, where = part.iloc[0].to_dict(), _where(part, of)["names"]
        key = (names.direction(row), *(where if {*where} != {*models} else ()))
        ends = (size(row, end) for end in _excess(part).abs().agg(["min", "max"]))
        unit = names.unit(row).name
        by = " to ".join(dict.fromkeys(ends)).replace(unit, "") + unit.removeprefix(" percentage")
        p, first = (significance.adjusted_p(of).max() for of in (part, side))
        whole = numbers(row, unit="", sign=np.sign(_excess(part).iloc[0]))
        p_of_all = prose.p_value(p, is_bound=True) if p != first else ""
        details = whole if len(part) == 1 else p_of_all
        in_brackets = Markup(f" ({details})" if details else "")
        phrase = names.of_people(str(row["group"])), Markup(by), in_brackets
        by_direction.setdefault(key, []).append(phrase)
    return [(whose, direction, where) for (direction, *where), whose in by_direction.items()]


def signed(row: Row) -> str:
    """Write the difference from the null value with its sign and unit.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "null": 0.5}
    >>> signed(row | {"estimate": 0.75}), signed(row | {"estimate": 0.5})
    ('+0.25', '0.00')
    """
    excess = row["estimate"] - _null(row)
    sign = "+" if excess > 0 else "\N{MINUS SIGN}" if excess < 0 else ""
    return f"{sign}{size(row, excess)}"


def missed(rows: pd.DataFrame) -> list[str]:
    """Say how many simulated differences (`truth` of rows) are significant; or nothing.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "model": "a", "null": 0.0}
    >>> row |= {"truth": 0.5, "estimate": 0.25, "p_adjusted": 0.2, "p_value": 0.1}
    >>> missed(pd.DataFrame([row | {"confidence": 0.95, "group": None}]))[0].partition("in a ")[2]
    '(simulated +0.50, estimated +0.25).'
    """
    if "truth" not in rows:
        return []
    rows = rows[rows["truth"].fillna(0).ne(0) & rows["estimate"].notna()]
    simulated = []
    for row in rows[~significance.is_significant(rows)].to_dict("records"):
        name = re.sub(" of .* (terms|words)$", "", names.measure(row))
        mde = size_range(row, pd.Series(row.get("mde"), dtype=float))
        sizes = [of.removesuffix(names.unit(row).name) for of in (signed(row), mde)]
        truth = signed(row | {"estimate": row["truth"]})
        simulated.append((name, row["model"], *map(Markup, (truth, *sizes))))
    return [render("claims.missed", rows=simulated, n=len(rows))] if len(rows) else []


def differences(
    rows: pd.DataFrame, *, mde: pd.Series, reference: str, unit: str = "articles"
) -> list[str]:
    """Say which rows of one family are significant, and what the others could have detected.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, each difference once.
    mde
        Of `significance.minimum_detectable_effect`, of the whole family.
    reference
        What is compared with, as Markdown, such as ``"in the human articles"``.
    unit
        What N counts.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "ci_low": -0.5, "ci_high": -0.125, "n": 9, "p_value": 0.01, "p_adjusted": 0.02}
    >>> rows = [row | {"model": "a"}, row | {"model": "b", "p_adjusted": 0.7}]
    >>> table = tables.estimates(rows, study="mine", confidence=0.95)
    >>> differences(table, mde=pd.Series([0.1, 0.2]), reference="in the originals")[1]
    'In b, the difference was not significant (−0.25; 95% CI −0.50 to −0.12, N = 9 articles; ...
    """
    sides = sorted(_sides(rows), key=lambda side: -_excess(side).abs().max())
    sentences = _clauses([(side, rows) for side in sides], reference=reference, unit=unit)
    rest = significance.valid_tests(rows).drop(index=[at for side in sides for at in side.index])
    if len(rest):
        groups = rows["group"].nunique(dropna=False) > 1
        n = len(rest) if groups else len(rest[_MODEL].drop_duplicates())
        row = rest.loc[_excess(rest).abs().idxmax()].to_dict()
        one = names.subject(row, rows) if sides and n == 1 and not groups else ""
        values = {"n": n, "kind": _kind(rows, n) * (not groups), "other": bool(sides), "one": one}
        values["mde"] = Markup(size_range(row, mde.reindex(rest.index), median=True))
        of_one = Markup(f"{signed(row)}; {numbers(row, unit=unit, sep=',')}")
        if not one and stats.is_significant(row["p_value"], row["confidence"]):
            where = f"{names.measure(row)} in {names.subject(row, rows)}"
            values["largest"] = where, Markup(f"{signed(row)}; {numbers(row, unit=unit)}")
        sentences.append(render("claims.others", numbers=of_one, **values))
    return [*sentences, *_excluded(rows)]


def exploratory(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are no claims (`reading.claims.with_claims`).

    Examples
    --------
    >>> exploratory(pd.DataFrame({"claim": [1, np.nan]})).index.tolist()
    [1]
    """
    return rows[rows[CLAIM].isna()] if CLAIM in rows else rows


def commonest_reason(rows: pd.DataFrame) -> str:
    """Return the most frequent reason of rows without a test, and whether there are others.

    Examples
    --------
    >>> commonest_reason(pd.DataFrame({"reason": ["few texts", "few texts", None]}))
    'few texts'
    """
    reasons = rows["reason"].dropna().value_counts()
    return "most often " * (len(reasons) > 1) + str(reasons.index[0]) if len(reasons) else ""


def heading(
    rows: pd.DataFrame, *, what: str, none: str, untested: str | None = None, most: int = 3
) -> str:
    """Say in a heading what is significant, and where; `none` where nothing is.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.
    what
        What is said where more things differ than are said one by one, before the models.
    none
        What is said where nothing differs.
    untested
        What is said where nothing was tested.
    most
        How many differences are said one by one, each with its direction and models.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "n": 9, "p_value": 0.01, "p_adjusted": 0.02, "model": "a"}
    >>> rows = tables.estimates([row, row | {"group": "y"}], study="mine", confidence=0.95)
    >>> heading(rows[:1], what="the shares differ", none="No difference")
    'My share was lower in a'
    >>> heading(rows, what="the shares differ", none="No difference", most=1)
    'The shares differ in a'
    """
    if not (sides := sorted(_sides(rows), key=lambda side: side.index.min())):
        tested = untested is None or len(significance.valid_tests(rows))
        return none if tested else str(untested)
    if len(sides) <= most:
        entries = _headed([(side, rows) for side in sides])
        return capitalize(render("claims.heading", each=entries))
    models = pd.concat(sides).sort_index()["model"].drop_duplicates().to_list()
    n = rows["model"].nunique()
    where = {"k": len(models), "n": n, "kind": _kind(rows.head(1), n), "names": models}
    return capitalize(render("claims.headings", where=where, what=what))


def _headed(sides: Sides) -> list[tuple[str, str, dict[str, Any]]]:
    """Return what each side measures, its direction, and where; what names share is said once."""
    entries, last = [], ("", "")
    for side, rows in sides:
        row = side.iloc[0].to_dict()
        name, of = names.measure(row), names.of_people(str(row["group"]))
        rest = name.removeprefix(of)  # what follows "women's"
        short = name != last[0] and name != rest == last[1]
        entries.append((of if short else name, names.direction(row), _where(side, rows)))
        last = (name, rest)
    return entries


# --- what leads a page ------------------------------------------------------------------------


def families(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Split what leads a page by claim, measure and group.

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
    keys = [key for key in ("claim", "measure", "statistic", "bias", "group") if key in rows]
    return [part for _, part in rows.groupby(keys, sort=False, dropna=False)]


def summarize(parts: Parts, *, reference: str, simulated: Sequence[str] = ()) -> tuple[str, ...]:
    """Say in up to four sentences what is significant, what is not, and what was detectable.

    Parameters
    ----------
    parts
        Of `families`, the most important first.
    reference
        What is compared with, as Markdown, such as ``"in the human articles"``.
    simulated
        Of `missed`: stands in the place of what was detectable.

    Examples
    --------
    >>> gone = pd.DataFrame([{"measure": "m", "reason": "no words", "p_adjusted": np.nan}])
    >>> gone = gone.assign(statistic="s", study="x", group="g", estimate=0, null=0, confidence=0.95)
    >>> summarize([gone], reference="in the originals")[0]
    'No difference from the values in the originals could be tested: no words.'
    """
    whole = pd.concat(parts) if parts else pd.DataFrame({"reason": []})
    sides = [(side, part) for part in parts for side in _sides(part)]
    clauses = _clauses(sides, reference=reference, unit="articles")
    sentences, last = clauses[:_CLAUSES], clauses[_CLAUSES:]
    tested = [part for part in parts if len(significance.valid_tests(part))]
    untested = [part for part in parts if significance.valid_tests(part).empty]
    if rest := [part for part in tested if significance.significant(part).empty]:
        last.append(_not_significant(rest, whole, sizes=not (sentences and simulated)))
    if not tested:
        n = whole.get("n", pd.Series([0])).max()
        never = whole[significance.never_significant(whole)]
        few = n if n == 1 or (len(never) and never["n"].max() == n) else 0
        reason = commonest_reason(never if few and len(never) else whole)
        values = {"reference": Markup(reference), "reason": reason, "unit": "articles"}
        nothing = render("claims.nothing_measured", **values, few=few)
        sentences, last = [nothing], [render("claims.nothing_follows")]
    elif untested and not simulated:
        last.append(render("claims.untested", names=_measures(pd.concat(untested))))
    if CLAIM not in whole:
        last.append(render("claims.exploratory"))
    if not sentences:
        sentences.append(last.pop(0))
    last += simulated
    return (*sentences, *([" ".join(last)] if last else []))


def _measures(rows: pd.DataFrame) -> list[str]:
    """Name what rows measure, a name a measure and bias, which has words that all share once.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> _measures(pd.DataFrame([row | {"bias": "race", "group": of} for of in ("Asian", "Black")]))
    ["Asian or Black people's share of race terms"]
    """
    kinds = rows.groupby(["measure", "statistic", "bias"], sort=False, dropna=False)
    lists = ([*map(names.measure, part.to_dict("records"))] for _, part in kinds)
    return [*dict.fromkeys(_merged([*dict.fromkeys(part)]) for part in lists)]


def _merged(labels: Sequence[str]) -> str:
    words = [name.split() for name in labels]
    first = _alike(words)
    last = _alike([of[first:][::-1] for of in words])
    middle = [" ".join(of[first : len(of) - last]) for of in words]
    if len(labels) == 1 or not all(middle):
        return prose.listed(labels, most=_NAMED, last="or")
    shared = words[0][len(words[0]) - last :]
    return " ".join([*words[0][:first], prose.listed(middle, most=_NAMED, last="or"), *shared])


def _alike(words: Sequence[Sequence[str]]) -> int:
    differ = (n for n, of in enumerate(zip(*words, strict=False)) if len({*of}) > 1)
    return next(differ, min(map(len, words)))


def _implied(sides: Sides) -> dict[int, list[Any]]:
    """Return the differences, by place, each with those of other shares of the same models."""
    tree: dict[int, list[Any]] = {}
    first: dict[Any, int] = {}
    for at, (side, part) in enumerate(sides):
        keys = side[[*_MODEL, "measure", "bias"]].astype(object).fillna("")
        models = list(keys.itertuples(index=False, name=None))
        is_share = names.is_share(side.iloc[0].to_dict())
        if is_share and all(model in first for model in models):
            tree[first[models[0]]].append((side, part))
        else:
            tree[at] = []
            first |= {model: first.get(model, at) for model in models if is_share}
    return tree


def _not_significant(
    parts: Parts, whole: pd.DataFrame, *, further: int = 0, most: int = _NAMED, sizes: bool = True
) -> str:
    """Say of parts without a significant row that they are equivalent, or what was detectable."""
    most += len(parts) == most + 1  # the last is named, rather than counted
    rows = [part.iloc[0].to_dict() for part in parts]
    verdicts = pd.concat([part.get("verdict", pd.Series("")) for part in parts])
    if verdicts.astype("str").str.startswith("equivalent").all():
        margins = [(names.measure(row), Markup(size(row, row[SMALLEST]))) for row in rows]
        values = {"names": margins[:most], "confidence": rows[0]["confidence"]}
        return render("claims.equivalent", **values, others=len(margins[most:]))
    mde = significance.minimum_detectable_effect(whole.reset_index(drop=True))
    mde, entries = mde.set_axis(whole.index), list[tuple[str, Markup, int]]()
    kinds = pd.concat(parts[:most]).groupby(["measure", "statistic"], sort=False)
    for _, kind in kinds:  # a kind's range stands once, behind the last
        text = size_range(kind.iloc[0].to_dict(), mde[kind.index]) if sizes else ""
        tested = kind[["p_adjusted", "ci_low"]].notna().all(axis=1)
        tested &= ~significance.never_significant(kind)  # has no minimum, whatever the scale
        above = int(mde[kind.index[tested]].isna().sum()) if text else 0
        *head, last = _measures(kind)
        entries += [*((name, Markup(), 0) for name in head), (last, Markup(text), above)]
    values = {"names": entries, "others": len(parts[most:]), "further": further}
    return render("claims.not_significant", **values)


def technical(parts: Parts, *, unit: str = "articles") -> str:
    """Write every significant row of some parts as a paper does, and count the others.

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
    >>> table = tables.estimates([row], study="mine", confidence=0.95)
    >>> technical([table])
    "One of one test was significant (exploratory; Holm's method, α = .05): my share (m) −0.250, ...
    """
    if not parts:
        return ""
    whole = pd.concat(parts, ignore_index=True)
    tested, significant = significance.valid_tests(whole), significance.significant(whole)
    rows = [
        (names.measure(row), ", ".join(names.details(row, whole)), names.scaled(row))
        for row in significant.to_dict("records")
    ]
    n = whole["p_adjusted"].count()
    counts = {"n": n, "rows": rows, "unit": unit, "exploratory": CLAIM not in whole}
    sentences = []
    if len(tested):
        sentences.append(render("claims.paper", alpha=1 - whole["confidence"].max(), **counts))
    if len(rest := tested.drop(index=significant.index)):
        labels = [names.measure(row) for row in rest.to_dict("records")]
        by_name = rest.groupby([rest.get(CLAIM, rest["study"]), labels], sort=False)
        of_rest = [part for _, part in by_name]
        further = len(rest) * (len(significant) > 0)
        sentences.append(_not_significant(of_rest, whole, further=further, most=len(rest)))
    excluded = _excluded(whole, with_names=True)
    return " ".join([*sentences, *excluded]).replace(" percentage points", " pp")


def _excluded(rows: pd.DataFrame, *, with_names: bool = False) -> list[str]:
    """Say how many rows could not be tested, and most often why; nothing where all were."""
    untested = rows[rows["p_adjusted"].isna()]
    records = rows[significance.never_significant(rows)].to_dict("records")
    never = [f"{names.measure(row)} in {names.subject(row, rows)}" for row in records]
    counts = {"untested": len(untested), "of": len(rows), "never": never}
    counts["names"] = _measures(untested) if with_names and len(untested) < len(rows) else []
    reason = commonest_reason(untested)
    return [render("claims.excluded", reason=reason, **counts)] if len(untested) or records else []


def choose_key_numbers(parts: Parts) -> pd.DataFrame:
    """Return a row of each part, the one with the smallest p or the largest, with its `name`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": -0.25, "n": 9}
    >>> rows = tables.estimates([row], study="mine", confidence=0.95)
    >>> choose_key_numbers([rows])["name"].tolist()
    ['my share, m']
    """
    rows = []
    for part in parts:
        if (measured := part[part["estimate"].notna()]).empty:
            continue
        significant = significance.significant(part)
        largest = _excess(measured).abs().idxmax()
        row = part.loc[significant.index[0] if len(significant) else largest].to_dict()
        rows.append(row | {"name": f"{names.estimated(row)}, {names.subject(row, part)}"})
    return pd.DataFrame(rows)


# --- families of tests ------------------------------------------------------------------------


def estimate_sentence(row: Row, *, subject: str, unit: str, null: str) -> str:
    """Write one row of ESTIMATES, with its null value, as a Markdown sentence.

    Parameters
    ----------
    row
        A row of ESTIMATES, as a mapping.
    subject
        What is estimated, with the verb, as Markdown, such as ``"The index of gpt-4 is"``.
    unit
        What `n` counts, such as ``"prompts"``.
    null
        What the null value is, such as ``"Neutral prose of the same length"``.

    Examples
    --------
    >>> row = {"estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "confidence": 0.9, "n": 18,
    ...        "n_lost": 0, "instrument": "TextBlob", "null_low": float("nan")}
    >>> estimate_sentence(row, subject="The index is", unit="prompts", null="Neutral prose")
    'The index is **0.50** (90% CI 0.40 to 0.60; N = 18 prompts; TextBlob).'
    """
    macro = "estimate" if np.isfinite(row["estimate"]) else "not_estimated"
    values = {"subject": Markup(subject), "unit": unit, "null_name": Markup(null)}
    return render(f"claims.{macro}", row=row, **values)


def count_significant(rows: pd.DataFrame, *, what: str, unit: str = "units") -> str:
    """Say how many estimates of one family are significant, and which is the largest.

    Parameters
    ----------
    rows
        Rows of ESTIMATES: one family, each claim once (of two groups whose differences mirror
        each other, one).
    what
        What the estimates are, many of them, such as ``"signed differences"``.
    unit
        What `n` counts.

    Returns
    -------
    str
        A sentence of Markdown, and one of what could not be tested. The largest estimate is the
        one furthest from its null value, among the significant ones where there are any. It was
        selected for that, so its shrunken value stands beside it (`stats.shrink_estimates`),
        where that is known.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "llama", "group": "female", "estimate": -0.031, "ci_low": -0.05,
    ...        "ci_high": -0.012, "n": 12, "p_adjusted": 0.004}
    >>> rows = [row, {**row, "model": "phi", "p_adjusted": 0.3}]
    >>> table = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> text = count_significant(table, what="differences", unit="pairs").split(", N")
    >>> text[0]
    'One of two differences was significant (exploratory; llama: −0.031, 95% CI [−0.050, −0.012]'
    >>> text[1]
    ' = 12 pairs, Holm-adjusted p = .004).'
    """
    untested = rows[rows["p_adjusted"].isna()]
    tested = rows[rows["p_adjusted"].notna()].reset_index(drop=True)
    never = int(significance.never_significant(tested).sum())
    values: dict[str, Any] = {"n": len(rows), "what": Markup(what), "never": never}
    values |= {"untested": len(untested), "reason": commonest_reason(untested)}
    if never == len(tested):
        return render("claims.family_untested", **values)
    significant = tested[significance.is_significant(tested)]
    at = _excess(significant if len(significant) else tested).abs().idxmax()
    row = tested.loc[at].to_dict()
    which = names.details({**row, "group": None}, rows, always=("judge", "model"))
    values |= {"which": ", ".join(which), "selected": Markup("; ".join(selected(tested, at)))}
    values |= {"k": len(significant), "exploratory": CLAIM not in rows, "row": row, "unit": unit}
    return render("claims.family", **values)


def selected(rows: pd.DataFrame, at: Any) -> list[str]:
    """Say the selection-adjusted value of a row that was selected as the largest.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, all that could have been selected.
    at
        The index of the one that was.

    Returns
    -------
    list of str
        One part of a sentence; none where there was no choice, or where it is not known.

    Examples
    --------
    >>> row = {"df": np.nan, "confidence": 0.95, "null": np.nan}
    >>> rows = [row | {"estimate": y, "ci_low": y - 0.2, "ci_high": y + 0.2} for y in (-0.1, 0, .4)]
    >>> selected(pd.DataFrame(rows), 2)
    ['shrunken estimate 0.355']
    """
    value = stats.shrink_estimates(rows)[at] if len(rows) > 1 else np.nan
    text = Markup(number(value, decimals=3))
    return [render("claims.selected", adjusted=text)] if np.isfinite(value) else []
