"""From rows of ESTIMATES to sentences: what is significant, how large, and what N can detect.

The words are templates (``data/prose/claims.j2``); here stands what is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.params import SMALLEST
from nbbias.reading import names, prose, significance
from nbbias.reading.claims import CLAIM
from nbbias.reading.prose import capitalize, count_range, number, render
from nbbias.tables import escape

Row = Mapping[str, Any]

#: What tells rows of one measure apart.
_MODEL = ["model", "prompt", "source"]

#: Significant differences that a lead tells one by one.
_CLAUSES = 2


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


def size_range(row: Row, values: pd.Series) -> str:
    """Write the range of some sizes, with their unit once; empty where none is known.

    Examples
    --------
    >>> size_range({"study": "x", "measure": "m", "statistic": "s"}, pd.Series([-0.25, -0.1]))
    '0.10 to 0.25'
    """
    values = values.abs().dropna()
    if values.empty:
        return ""
    unit = names.unit(row)
    decimals = 0 if unit.factor * values.max() >= 9.5 else unit.decimals
    ends = [number(unit.factor * end, decimals=decimals) for end in (values.min(), values.max())]
    return f"{' to '.join(dict.fromkeys(ends))}{unit.name}"


def largest_p(rows: Sequence[Row]) -> str:
    """Write the p value that none of some significant rows exceeds.

    Examples
    --------
    >>> largest_p([{"p_adjusted": 0.02, "p_value": 0.01}, {"p_adjusted": 0.001, "p_value": 0.001}])
    'p ≤ .020'
    """
    p = max(map(significance.adjusted_p, rows), default=np.nan)
    return prose.p_value(p).replace("=", "\N{LESS-THAN OR EQUAL TO}")


def _null(row: Row) -> float:
    return float(row["null"]) if np.isfinite(row["null"]) else 0.0


def _excess(rows: pd.DataFrame) -> pd.Series:
    return rows["estimate"] - rows["null"].fillna(0)


def numbers(row: Row, *, unit: str) -> str:
    """Write the interval, N and p of an estimate, in the direction in which it lies.

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": -0.25, "ci_low": -0.5,
    ...        "ci_high": -0.125, "null": 0.0, "confidence": 0.95, "n": 9, "p_value": 0.01,
    ...        "p_adjusted": 0.02}
    >>> numbers(row, unit="articles")
    '95% CI 0.12 to 0.50; N = 9 articles; p = .020, Holm-adjusted'
    """
    factor, decimals, *_ = names.unit(row)
    *values, level = prose.confidence_interval(row)
    ends = [factor * (value - _null(row)) for value in values]
    if ends[0] * ends[1] >= 0:
        ends = sorted(map(abs, ends))
    low, high = (number(end, decimals=decimals) for end in ends)
    return render(
        "claims.numbers", row=row, level=level, low=Markup(low), high=Markup(high), unit=unit
    )


# --- clauses ----------------------------------------------------------------------------------


def _sides(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the significant rows, those of one measure, group and direction together."""
    rows = significance.significant(rows)
    keys = [rows["measure"], rows["statistic"], rows["group"].fillna(""), np.sign(_excess(rows))]
    return [part for _, part in rows.groupby(keys, sort=False)]


def _where(side: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any]:
    """Return in how many models, of how many, the rows of one direction are, and in which."""
    rows = rows[rows["group"].fillna("") == side["group"].fillna("").iloc[0]]
    n = len(rows[_MODEL].drop_duplicates())
    subjects = [names.subject(row, rows) for row in side.to_dict("records")]
    return {"k": len(side), "n": n, "kind": _kind(rows, n), "names": subjects}


def _clause(side: pd.DataFrame, rows: pd.DataFrame, *, reference: str, unit: str) -> str:
    """Say of rows of one direction what differs from the reference, by how much, and where."""
    row, excess = _first(side), _excess(side)
    one = len(side) == 1
    return render(
        "claims.clause",
        where=_where(side, rows),
        name=names.measure(row),
        direction=names.direction(row),
        size=Markup(size(row, excess.iloc[0]) if one else size_range(row, excess)),
        numbers=Markup(numbers(row, unit=unit)) if one else "",
        n=Markup(count_range(side["n"])),
        unit=unit,
        p=Markup(largest_p(side.to_dict("records"))),
        reference=Markup(reference),
    )


def differences(
    rows: pd.DataFrame, *, mde: pd.Series, reference: str, unit: str = "articles"
) -> str:
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
    >>> text = differences(table, mde=pd.Series([0.1, 0.2]), reference="in the originals")
    >>> text.split(". ")[1]
    'No significant difference in the other model (minimum detectable difference at 80% power: 0...
    """
    sides = _sides(rows)
    sentences = [_clause(side, rows, reference=reference, unit=unit) for side in sides]
    rest = significance.valid_tests(rows).drop(index=[at for side in sides for at in side.index])
    if len(rest):
        groups = rows["group"].nunique(dropna=False) > 1
        n = len(rest) if groups else len(rest[_MODEL].drop_duplicates())
        kind = "" if groups else _kind(rows, n)
        size = Markup(size_range(_first(rest), mde.reindex(rest.index)))
        sentences.append(render("claims.others", n=n, kind=kind, other=bool(sides), mde=size))
    untested = rows[rows["p_adjusted"].isna()]
    never = int(significance.never_significant(rows).sum())
    if len(untested) or never:
        counts = {"untested": len(untested), "of": len(rows), "never": never}
        reason = commonest_reason(untested)
        sentences.append(render("claims.excluded", reason=reason, **counts))
    return " ".join(sentences)


def commonest_reason(rows: pd.DataFrame) -> str:
    """Return the most frequent reason of rows without a test; empty where none has one.

    Examples
    --------
    >>> commonest_reason(pd.DataFrame({"reason": ["few texts", "few texts", None]}))
    'few texts'
    """
    reasons = rows["reason"].dropna().value_counts()
    return str(reasons.index[0]) if len(reasons) else ""


def heading(rows: pd.DataFrame, *, none: str) -> str:
    """Say in a heading what is significant; `none` where nothing is.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "n": 9, "p_value": 0.01, "p_adjusted": 0.02, "model": "a"}
    >>> heading(tables.estimates([row], study="mine", confidence=0.95), none="No difference")
    'My share was lower in a'
    """
    parts, previous = [], ""
    for side in _sides(rows.sort_index()):
        row = _first(side)
        name = names.measure(row)
        values = {"name": "" if name == previous else name, "direction": names.direction(row)}
        parts.append(render("claims.heading", where=_where(side, rows), **values))
        previous = name
    return capitalize(prose.listed(parts)) or none


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


def summarize(
    parts: Sequence[pd.DataFrame], *, reference: str, unit: str = "articles"
) -> tuple[str, ...]:
    """Say in up to four sentences what is significant, what is not, and what was detectable.

    Parameters
    ----------
    parts
        Of `families`, the most important first.
    reference
        What is compared with, as Markdown, such as ``"in the human articles"``.
    unit
        What N counts.

    Examples
    --------
    >>> gone = pd.DataFrame([{"measure": "m", "reason": "no words", "p_adjusted": np.nan}])
    >>> gone = gone.assign(statistic="s", study="x", group="g", estimate=0, null=0, confidence=0.95)
    >>> summarize([gone], reference="in the originals")[0]
    'No difference from the values in the originals could be estimated: no words.'
    """
    whole = pd.concat(parts) if parts else pd.DataFrame({"reason": []})
    sides = [(side, part) for part in parts for side in _sides(part)]
    values = {"reference": reference, "unit": unit}
    sentences = [_clause(side, part, **values) for side, part in sides[:_CLAUSES]]
    if len(sides) > _CLAUSES:
        sentences.append(render("claims.further", n=len(sides) - _CLAUSES))
    rest = [part for part in parts if significance.significant(part).empty]
    rest = [part for part in rest if len(significance.valid_tests(part))]
    if rest:
        sentences.append(_not_significant(rest, whole))
    elif not sides:
        reason = commonest_reason(whole)
        nothing = render("claims.nothing_measured", reference=Markup(reference), reason=reason)
        sentences += [nothing, render("claims.nothing_follows")]
    if CLAIM not in whole:
        sentences.append(render("claims.exploratory"))
    return tuple(sentences)


def _not_significant(parts: Sequence[pd.DataFrame], whole: pd.DataFrame) -> str:
    """Say of parts without a significant row that they are equivalent, or what was detectable."""
    rows = [_first(part) for part in parts]
    verdicts = pd.concat([part.get("verdict", pd.Series("")) for part in parts])
    if verdicts.astype("str").str.startswith("equivalent").all():
        sizes, macro = [size(row, row[SMALLEST]) for row in rows], "claims.equivalent"
    else:
        mde = significance.minimum_detectable_effect(whole.reset_index(drop=True))
        mde = mde.set_axis(whole.index)
        sizes = [size_range(row, mde[part.index]) for row, part in zip(rows, parts, strict=True)]
        macro = "claims.not_significant"
    named = [(names.measure(row), Markup(text)) for row, text in zip(rows, sizes, strict=True)]
    return render(macro, names=named, confidence=rows[0]["confidence"])


def _first(part: pd.DataFrame) -> dict[str, Any]:
    return {str(key): value for key, value in part.iloc[0].items()}


def technical(parts: Sequence[pd.DataFrame], *, unit: str = "articles") -> str:
    """Write as a paper does how many rows of up to two parts are significant, and the largest.

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
    >>> technical([table]).split(". ")[1]
    'It is: m: −0.250 (95% CI −0.500 to −0.125; N = 9 articles; p = .020).'
    """
    named = [(escape.markdown(names.measure(_first(part))), part) for part in parts[:_CLAUSES]]
    return " ".join(
        count_significant(part, what=f"differences in {name}", unit=unit) for name, part in named
    )


def leading(parts: Sequence[pd.DataFrame], *, most: int = 3) -> pd.DataFrame:
    """Return a row of each part, the one with the smallest p or the largest, with its `name`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": -0.25, "n": 9}
    >>> leading([tables.estimates([row], study="mine", confidence=0.95)])["name"].tolist()
    ['my share, m']
    """
    rows = []
    for part in parts:
        measured = part[part["estimate"].notna()]
        if measured.empty:
            continue
        significant = significance.significant(part)
        largest = _excess(measured).abs().idxmax()
        row = part.loc[significant.index[0] if len(significant) else largest].to_dict()
        rows.append(row | {"name": f"{names.measure(row)}, {names.subject(row, part)}"})
    return pd.DataFrame(rows[:most])


# --- power ------------------------------------------------------------------------------------


def power(rows: pd.DataFrame, *, unit: str = "articles") -> list[str]:
    """Say which differences N can detect.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family, such as the declared ones.
    unit
        What N counts.

    Returns
    -------
    list of str
        A sentence a measure and group, of the rows that were tested and are not significant.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": 0.0, "n": 71,
    ...        "ci_low": -0.1, "ci_high": 0.1, "df": 70, "p_value": 1.0, "p_adjusted": 1.0}
    >>> power(tables.estimates([row], study="mine", confidence=0.95))
    ['My share: with 71 articles the minimum detectable difference at 80% power is 0.14.']
    """
    rows = rows.reset_index(drop=True)
    table = rows.assign(mde=significance.minimum_detectable_effect(rows)).dropna(subset="mde")
    table = table[~significance.is_significant(table)]
    labels = [names.measure(row) for row in table.to_dict("records")]
    sentences = []
    for _, part in table.groupby(labels, sort=False):
        row = _first(part)
        values = {"n": count_range(part["n"]), "mde": size_range(row, part["mde"])}
        marked = {key: Markup(text) for key, text in values.items()}
        sentences.append(render("claims.power", name=names.measure(row), unit=unit, **marked))
    return sentences


# --- families of tests ------------------------------------------------------------------------


def estimate_sentence(row: Row, *, subject: str, unit: str, null: str) -> str:
    """Write one row of ESTIMATES, beside its null value, as a Markdown sentence.

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


def count_significant(
    rows: pd.DataFrame,
    *,
    what: str,
    says: str | Callable[[Row], str] = "{which}: {estimate}",
    unit: str = "units",
) -> str:
    """Say how many estimates of one family are significant, and which is the largest.

    Parameters
    ----------
    rows
        Rows of ESTIMATES: one family, each claim once (of two groups whose differences mirror
        each other, one).
    what
        What the estimates are, many of them, such as ``"signed differences"``.
    says
        The largest one in words, such as ``"{which}: ABS {estimate}, most preferred: {group}"``.
        Names in braces are columns of ESTIMATES, escaped, and ``{which}``, what tells the row from
        the others. Or a function of the row that returns such words.
    unit
        What `n` counts.

    Returns
    -------
    str
        Two sentences of Markdown. The largest estimate is the one furthest from its null value,
        among the significant ones where there are any. It was selected for that, so its
        shrunken value stands beside it (`stats.shrink_estimates`), where that is known.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "llama", "group": "female", "estimate": -0.031, "ci_low": -0.05,
    ...        "ci_high": -0.012, "n": 12, "p_adjusted": 0.004}
    >>> rows = [row, {**row, "model": "phi", "p_adjusted": 0.3}]
    >>> table = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> count, largest = count_significant(table, what="differences", unit="pairs").split(". ", 1)
    >>> count
    '1 of 2 differences was significant (exploratory; p < .05, Holm-adjusted)'
    >>> largest
    'It is: llama: −0.031 (95% CI −0.050 to −0.012; N = 12 pairs; p = .004; largest of 2 esti...
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
    alpha = stats.alpha(float(row["confidence"]))
    return render(
        "claims.family",
        k=len(significant),
        exploratory=CLAIM not in rows,
        alpha=Markup(f"{alpha:.3g}".removeprefix("0")),
        largest=Markup(_in_words(row, rows, says if isinstance(says, str) else says(row))),
        row=row,
        unit=unit,
        selected=Markup("; ".join(selected(tested, at))),
        **values,
    )


def _in_words(row: Row, rows: pd.DataFrame, says: str) -> str:
    """Fill `says` with what a row holds, escaped, and what tells it from others (`which`)."""
    keys = [key for key in names.KEYS if key in rows and key != "group"]
    which = ", ".join(names.details({**row, "group": None}, rows, keys=keys))
    texts = {name: escape.markdown(value) for name, value in {**row, "which": which}.items()}
    texts["estimate"] = number(row["estimate"], decimals=3)
    return says.format_map(texts).removeprefix(": ")  # without a name where all rows share it


def selected(rows: pd.DataFrame, at: Any) -> list[str]:
    """Say that a row was selected as the largest, and its selection-adjusted value.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, all that could have been selected.
    at
        The index of the one that was.

    Returns
    -------
    list of str
        One part of a sentence; none where there was no choice.

    Examples
    --------
    >>> row = {"df": np.nan, "confidence": 0.95, "null": np.nan}
    >>> rows = [row | {"estimate": y, "ci_low": y - 0.2, "ci_high": y + 0.2} for y in (-0.1, 0, .4)]
    >>> selected(pd.DataFrame(rows), 2)
    ['largest of 3 estimates; shrunken estimate 0.355']
    """
    if len(rows) < 2:
        return []
    value = stats.shrink_estimates(rows)[at]
    adjusted = number(value, decimals=3) if np.isfinite(value) else ""
    return [render("claims.selected", n=len(rows), adjusted=Markup(adjusted))]
