"""From rows of ESTIMATES to sentences: what is significant, how large, and what N can detect.

The words are templates (``data/prose/claims.j2``); here stands what is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import stats
from nbbias.params import SMALLEST
from nbbias.reading import names, significance
from nbbias.reading.claims import CLAIM
from nbbias.reading.prose import capitalize, interval, listed, number, p_value, render, round_up
from nbbias.tables import escape

Row = Mapping[str, Any]

#: What tells rows of one measure apart.
_MODEL = ["model", "prompt", "source"]

#: Significant differences that a lead tells one by one.
_CLAUSES = 2


def measure(row: Row) -> str:
    """Return what people call what a row measures, as Markdown.

    Examples
    --------
    >>> measure({"study": "x", "measure": "m", "statistic": "my_own", "group": "a"})
    'my own'
    """
    return escape.markdown(names.measure(row))


def subject(row: Row, among: pd.DataFrame) -> str:
    r"""Name a row's model, with its prompt and source where these vary, as Markdown.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a_1", "b"], "prompt": "p", "source": "s"})
    >>> print(subject(rows.iloc[0], rows))
    a\_1
    """
    return escape.markdown(names.subject(row, among))


def models(rows: pd.DataFrame, among: pd.DataFrame | None = None) -> str:
    """Count the rows' models, or their combinations with prompts or sources where these vary.

    Examples
    --------
    >>> models(pd.DataFrame({"model": ["a", "b"], "prompt": "p", "source": "s"}))
    '2 models'
    """
    whole = (rows if among is None else among)[_MODEL].drop_duplicates()
    repeated = not whole["model"].is_unique
    by_prompt = repeated and whole["prompt"].nunique() > 1
    n = len(rows[_MODEL].drop_duplicates())
    return render("claims.model_count", n=n, prompts=by_prompt, sources=repeated and not by_prompt)


# --- sizes ------------------------------------------------------------------------------------


def size(row: Row, value: float, *, decimals: int | None = None) -> str:
    """Write a size in the unit of a row's measure, without sign.

    Examples
    --------
    >>> size({"study": "x", "measure": "m", "statistic": "s"}, -0.123)
    '0.12'
    """
    text = names.quantity({**row, "estimate": abs(value)})
    if not text.endswith(("points", "%")) or not np.isfinite(value):
        return text
    unit = "%" if text.endswith("%") else " points"
    return f"{number(100 * abs(value), decimals=1 if decimals is None else decimals)}{unit}"


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
    decimals = 0 if values.max() >= 0.095 else 1
    low, high = (size(row, end, decimals=decimals) for end in (values.min(), values.max()))
    return high if low == high else f"{low.split(' ')[0].removesuffix('%')} to {high}"


def direction(row: Row) -> str:
    """Say on which side of its null value an estimate lies, such as "smaller".

    Examples
    --------
    >>> row = {"study": "x", "measure": "m", "statistic": "s", "estimate": 0.1, "null": 0.2}
    >>> direction(row)
    'lower'
    """
    excess = row["estimate"] - _null(row)
    return names.direction({**row, "estimate": excess}) or ("lower" if excess < 0 else "higher")


def largest_p(rows: Sequence[Row]) -> str:
    """Write the p value that none of some significant rows exceeds.

    Examples
    --------
    >>> largest_p([{"p_adjusted": 0.02, "p_value": 0.01}, {"p_adjusted": 0.001, "p_value": 0.001}])
    'p ≤ .020'
    """
    p = max(map(significance.adjusted_p, rows), default=np.nan)
    return p_value(p).replace("=", "\N{LESS-THAN OR EQUAL TO}")


def _null(row: Row) -> float:
    return float(row["null"]) if np.isfinite(row["null"]) else 0.0


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
    null, lost = _null(row), row.get("n_lost") or 0
    ends = sorted((end - null for end in (row["ci_low"], row["ci_high"])), key=abs)
    signed = not np.isfinite(ends[0]) or ends[0] * ends[1] < 0
    # What is excluded need not be of the same kind: an answer may have no article.
    excluded = f"{lost:,.0f}" if lost > 0 else ""
    p = p_value(row) if np.isfinite(row["p_adjusted"]) else ""
    reason = row.get("reason") if isinstance(row.get("reason"), str) else ""
    low, high = (
        [names.quantity(row, end) for end in ("ci_low", "ci_high")]
        if signed
        else [size(row, end) for end in ends]
    )
    values = _safe(
        unit=unit,
        n=f"{row['n']:,.0f}",
        p=p,
        excluded=excluded,
        level=f"{row['confidence']:.0%}",
        high=high.split(" ")[0],
    )
    values["low"] = Markup(low.split(" ")[0].removesuffix("%")) if np.isfinite(ends[0]) else None
    return render("claims.numbers", row=values | {"reason": reason})


def _safe(**values: Any) -> dict[str, Any]:
    """Mark words and numbers of our own as Markdown; names and texts of others are never given."""
    return {key: Markup(text) if isinstance(text, str) else text for key, text in values.items()}


# --- one family -------------------------------------------------------------------------------


def _sides(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the significant rows, those of one measure, group and direction together."""
    found = significance.significant(rows)
    side = np.sign(found["estimate"] - found["null"].fillna(0))
    keys = [found["measure"], found["statistic"], found["group"].fillna(""), side]
    return [part for _, part in found.groupby(keys, sort=False)]


def _clause(side: pd.DataFrame, rows: pd.DataFrame, *, reference: str, unit: str) -> str:
    """Say of rows of one direction what differs from the reference, by how much, and where."""
    row = side.iloc[0].to_dict()
    n = len(rows[_MODEL].drop_duplicates())
    kind = models(rows).removeprefix(f"{n} ")
    where = {"k": len(side), "n": n, "kind": kind}
    where["names"] = [names.subject(one, rows) for one in side.to_dict("records")]
    values = {"name": names.measure(row), "direction": direction(row)}
    excess = side["estimate"] - side["null"].fillna(0)
    if len(side) == 1:
        values |= _safe(size=_in_full(size(row, excess.iloc[0])), numbers=numbers(row, unit=unit))
    else:
        counts = f"{side['n'].min():,.0f}", f"{side['n'].max():,.0f}"
        n_of = " to ".join(dict.fromkeys(counts))
        p = largest_p(side.to_dict("records"))
        several = render("claims.several", row={"unit": unit}, **_safe(n=n_of, p=p))
        values |= _safe(size=_in_full(size_range(row, excess)), numbers=several)
    place = Markup(render("claims.count", **where))
    return render("claims.clause", row=values, reference=Markup(reference), where=place)


def _in_full(text: str) -> str:
    return text.replace(" points", " percentage points")


def differences(rows: pd.DataFrame, *, mde: pd.Series, unit: str = "articles") -> str:
    """Say which rows of one family are significant, and what the others could have detected.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, each difference once.
    mde
        Of `significance.minimum_detectable_effect`, of the whole family.
    unit
        What N counts.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": -0.25,
    ...        "ci_low": -0.5, "ci_high": -0.125, "n": 9, "p_value": 0.01, "p_adjusted": 0.02}
    >>> rows = [row | {"model": "a"}, row | {"model": "b", "p_adjusted": 0.7}]
    >>> table = tables.estimates(rows, study="mine", confidence=0.95)
    >>> differences(table, mde=pd.Series([0.1, 0.2])).split(". ")[1]
    'No significant difference in the other 1 model (minimum detectable difference at 80% power:...
    """
    sides = _sides(rows)
    parts = []
    for side in sides:
        row = side.iloc[0].to_dict()
        listed_rows = [
            {"model": names.subject(one, rows)}
            | _safe(size=size(one, one["estimate"] - _null(one)), numbers=numbers(one, unit=unit))
            for one in side.to_dict("records")
        ]
        values = {"name": names.measure(row), "direction": direction(row), "rows": listed_rows}
        parts.append(render("claims.difference", **values))
    sentences = [capitalize("; ".join(parts)) + "."] if parts else []
    shown = [index for side in sides for index in side.index]
    rest = significance.valid_tests(rows).drop(index=shown)
    if len(rest):
        groups = rows["group"].nunique(dropna=False) > 1
        n = len(rest) if groups else len(rest[_MODEL].drop_duplicates())
        kind = models(rest, rows).split(" ", 1)[1]
        if groups:
            kind = "comparisons" if n > 1 else "comparison"
        where = render("claims.other_rows", n=n, kind=kind, any=bool(sides))
        detectable = size_range(rest.iloc[0].to_dict(), mde.reindex(rest.index))
        sentences.append(render("claims.others", **_safe(where=where, mde=detectable)))
    return " ".join([*sentences, *_untested(rows)])


def _untested(rows: pd.DataFrame) -> list[str]:
    """Say how many rows could not be tested or significant, and why."""
    untested = rows[rows["p_adjusted"].isna()]
    never = int(significance.never_significant(rows).sum())
    if untested.empty and not never:
        return []
    values = {"untested": len(untested), "of": len(rows), "never": never}
    return [render("claims.excluded", reason=commonest_reason(untested), **values)]


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
    parts: list[str] = []
    for side in _sides(rows.sort_index()):
        row = side.iloc[0].to_dict()
        group = row["group"] if isinstance(row["group"], str) else ""
        whole = rows[rows["group"].fillna("") == group]
        n = len(whole[_MODEL].drop_duplicates())
        where = names.subject(row, whole) if n == 1 else f"{len(side)} of {models(whole)}"
        again = bool(parts) and f"{measure(row)} was " in parts[-1]
        parts.append(("" if again else f"{measure(row)} was ") + f"{direction(row)} in {where}")
    return capitalize(listed(parts)) if parts else none


def headline(rows: pd.DataFrame, template: str, **values: Any) -> str:
    """Fill a heading with how many rows were tested and are significant.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, one family.
    template
        A macro with the arguments `k` (significant rows), `n` (tested rows), `rows` (the
        significant rows as dictionaries) and those in `values`.
    **values
        What else the macro is given.

    Examples
    --------
    >>> row = {"p_adjusted": 0.01, "reason": None, "confidence": 0.95, "model": "a"}
    >>> headline(pd.DataFrame([row, row | {"p_adjusted": 0.4}]), "llmbi.dimensions")
    'Mean LLMBI differed significantly between dimensions in 1 of 2 models'
    """
    tested = [row for row in rows.to_dict("records") if np.isfinite(significance.adjusted_p(row))]
    found = [row for row in tested if significance.is_significant(row)]
    return render(template, k=len(found), n=len(tested), rows=found, **values)


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


class Summary(NamedTuple):
    """The sentences that lead a page, and the significant rows that they name.

    Examples
    --------
    >>> Summary(("No significant difference.",), pd.DataFrame()).claims.empty
    True
    """

    sentences: tuple[str, ...]
    claims: pd.DataFrame


def summarize(parts: Sequence[pd.DataFrame], *, reference: str, unit: str = "articles") -> Summary:
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
    >>> summarize([gone], reference="in the originals").sentences[0]
    'No difference from the values in the originals could be estimated: no words.'
    """
    whole = pd.concat(parts) if parts else pd.DataFrame()
    sides = [(side, part) for part in parts for side in _sides(part)]
    sentences = [
        f"{_clause(side, part, reference=reference, unit=unit)}." for side, part in sides[:_CLAUSES]
    ]
    if len(sides) > _CLAUSES:
        sentences.append(render("claims.further", n=len(sides) - _CLAUSES))
    claims = pd.concat([side for side, _ in sides[:_CLAUSES]]) if sides else whole.head(0)
    rest = [part for part in parts if not len(significance.significant(part))]
    quiet = [part for part in rest if len(significance.valid_tests(part))]
    if not sides and not quiet:
        reason = commonest_reason(whole) if len(whole) else ""
        first = render("claims.nothing_measured", reference=Markup(reference), reason=reason)
        sentences = [first, render("claims.nothing_follows")]
    elif not sides and all(map(_is_equivalent, quiet)):
        bounds = [
            (_name(part), Markup(size(_first(part), _first(part)[SMALLEST]))) for part in quiet
        ]
        level = Markup(f"{whole['confidence'].iloc[0]:.0%}")
        sentences = [render("claims.equivalent", names=bounds, level=level)]
    elif quiet:
        mde = significance.minimum_detectable_effect(whole.reset_index(drop=True))
        mde.index = whole.index
        detectable = [
            (_name(part), Markup(size_range(_first(part), mde[part.index]))) for part in quiet
        ]
        sentences.append(render("claims.not_significant", names=detectable))
    if CLAIM not in whole:
        sentences.append(render("claims.exploratory"))
    return Summary(tuple(sentences), claims)


def _first(part: pd.DataFrame) -> dict[str, Any]:
    return {str(key): value for key, value in part.iloc[0].items()}


def _name(part: pd.DataFrame) -> str:
    return names.measure(_first(part))


def _is_equivalent(part: pd.DataFrame) -> bool:
    return "verdict" in part and bool(part["verdict"].fillna("").str.startswith("equivalent").all())


def technical(parts: Sequence[pd.DataFrame], *, unit: str = "articles") -> str:
    """Write as a paper does what is significant in up to two parts, or that nothing is.

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
    >>> technical([table]).split(" (")[0]
    'My share, m: −0.250, 95% CI [−0.500, −0.125], p = .020, N = 9 articles'
    """
    if not parts:
        return ""
    tested = significance.valid_tests(pd.concat(parts))
    values = {"tests": len(tested), "exploratory": "claim" not in tested}
    found = [(part, rows) for part in parts if len(rows := significance.significant(part))]
    if not found:
        smallest = p_value(tested["p_adjusted"].min()) if len(tested) else ""
        return render("claims.technical_none", p=Markup(smallest), **values)
    lines = []
    for part, rows in found[:_CLAUSES]:
        row = rows.iloc[0].to_dict()
        line = f"{capitalize(measure(row))}, {subject(row, part)}: {_apa(row, unit)}"
        if len(part) > 1:
            shrunken = stats.shrink_estimates(significance.valid_tests(part))[rows.index[0]]
            if np.isfinite(shrunken):
                line += f", selection-adjusted {number(shrunken, decimals=3)}"
        lines.append(Markup(line))
    n = sum(len(rows) for _, rows in found)
    return render("claims.technical", lines=lines, significant=n, **values)


def _apa(row: Row, unit: str) -> str:
    parts = [number(row["estimate"], decimals=3)]
    if np.isfinite(row["ci_low"]):
        low, high = (number(row[end], decimals=3) for end in ("ci_low", "ci_high"))
        parts.append(f"{row['confidence']:.0%} CI [{low}, {high}]")
    if _null(row):
        parts.append(f"null value {number(row['null'], decimals=3)}")
    if np.isfinite(row["statistic_value"]) and np.isfinite(row["df"]):
        df = f"{row['df']:.0f}" if float(row["df"]).is_integer() else f"{row['df']:.1f}"
        parts.append(f"t({df}) = {number(row['statistic_value'])}")
    excluded = f" ({row['n_lost']:,.0f} excluded)" if row["n_lost"] else ""
    return ", ".join([*parts, p_value(row), f"N = {row['n']:,.0f} {unit}{excluded}"])


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
        found = significance.significant(part)
        excess = (measured["estimate"] - measured["null"].fillna(0)).abs()
        row = part.loc[found.index[0] if len(found) else excess.idxmax()].to_dict()
        rows.append(row | {"name": f"{names.measure(row)}, {names.subject(row, part)}"})
    return pd.DataFrame(rows[:most])


# --- power ------------------------------------------------------------------------------------


def power(
    rows: pd.DataFrame,
    *,
    unit: str = "articles",
    name: Callable[[Row], str] | None = None,
    most: int | None = None,
) -> list[str]:
    """Say which differences N can detect, and how many units would detect smaller ones.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family, such as the declared ones. The smaller difference is
        their `smallest_effect`, else half of what N can detect.
    unit
        What N counts.
    name
        Names a row, as Markdown, where each declared row has a sentence of its own; else rows of
        one measure and group share a sentence.
    most
        Rows with a sentence of their own: those with the largest detectable difference.

    Returns
    -------
    list of str
        Of rows that are not significant.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "my_share", "group": "x", "estimate": 0.0, "n": 71,
    ...        "ci_low": -0.1, "ci_high": 0.1, "df": 70, "p_value": 1.0, "p_adjusted": 1.0}
    >>> power(tables.estimates([row], study="mine", confidence=0.95))[0].split(";")[0]
    'My share: with 71 articles the minimum detectable difference at 80% power is 0.14'
    """
    if name is not None and CLAIM not in rows:
        return []
    mde = significance.minimum_detectable_effect(rows)
    smallest = rows.get(SMALLEST, pd.Series(np.nan, rows.index)).astype(float)
    needed = significance.required_n(rows, effect=smallest.fillna(mde / 2))
    table = rows.assign(mde=mde, smallest=smallest, needed=needed)
    if name is None:
        keys = [key for key in ("measure", "statistic", "bias", "group") if key in rows]
        parts = [part for _, part in table.groupby(keys, sort=False, dropna=False)]
        parts = [part for part in parts if len(significance.significant(part)) < len(part)]
    else:
        tested = table[table[["p_adjusted", "p_value"]].notna().any(axis=1)]
        tested = tested[~significance.never_significant(tested)]
        quiet = [not significance.is_significant(row) for row in tested.to_dict("records")]
        left = tested[np.array(quiet, dtype=bool)]
        left = left.sort_values("mde", ascending=False, kind="stable", na_position="first")
        parts = [left.iloc[[at]] for at in range(len(left))]
    shown = parts if most is None else parts[:most]
    sentences = [_power(part, unit=unit, name=name) for part in shown]
    rest = len(parts) - len(shown)
    return [*sentences, *([render("claims.power_rest", n=rest)] if rest else [])]


def _power(part: pd.DataFrame, *, unit: str, name: Callable[[Row], str] | None) -> str:
    row, finite = _first(part), part[part["mde"].notna()]
    values: dict[str, Any] = {"name": Markup(name(row)) if name else names.measure(row)}
    counts = (finite if len(finite) else part)["n"]
    ends = (f"{counts.min():,.0f}", f"{counts.max():,.0f}")
    values |= _safe(n=" to ".join(dict.fromkeys(ends)), unit=unit)
    if finite.empty:
        return render("claims.power_unknown", reason=commonest_reason(part), **values)
    more = finite[finite["needed"] > finite["n"]]["needed"]
    ends = (round_up(more.min()), round_up(more.max())) if len(more) else ("", "")
    effect = size(row, row["smallest"]) if np.isfinite(row["smallest"]) else ""
    values |= _safe(needed=" to ".join(dict.fromkeys(ends)), effect=effect)
    return render("claims.power", mde=Markup(size_range(row, finite["mde"])), **values)


# --- families of tests ------------------------------------------------------------------------

#: Methods of correction in words.
CORRECTIONS = {"holm": "Holm-adjusted", "fdr_bh": "Benjamini-Hochberg-adjusted"}


def estimate_sentence(
    row: Row, *, subject: str, unit: str, null: str, confidence: float | None = None
) -> str:
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
    confidence
        Level of the interval and of the range of the null; the row's own where None.

    Examples
    --------
    >>> row = {"estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "confidence": 0.9, "n": 18,
    ...        "n_lost": 0, "instrument": "TextBlob", "null_low": float("nan")}
    >>> estimate_sentence(row, subject="The index is", unit="prompts", null="Neutral prose")
    'The index is **0.50** (90% CI 0.40 to 0.60; N = 18 prompts; TextBlob).'
    """
    values = _safe(subject=subject, n=f"{row['n']:.0f}", unit=unit)
    if not np.isfinite(row["estimate"]):
        return render("claims.not_estimated", reason=row["reason"], **values)
    has_null = np.isfinite(row["null_low"])
    value, *nulls = (
        number(row[key]) if has_null or key == "estimate" else ""
        for key in ("estimate", "null", "null_low", "null_high")
    )
    level = f"{row['confidence'] if confidence is None else confidence:.0%}"
    values |= _safe(**dict(zip(("null", "low", "high"), nulls, strict=True)), null_name=null)
    values |= _safe(value=value, excluded=f"{row['n_lost']:.0f}" if row["n_lost"] else "")
    values |= {"interval": interval_of(row, confidence=confidence), "level": Markup(level)}
    return render("claims.estimate", instrument=row["instrument"], **values)


def interval_of(row: Row, **options: Any) -> Markup:
    r"""Write an interval (`prose.interval`) as Markdown: why it is missing is escaped.

    Examples
    --------
    >>> print(interval_of({"ci_low": np.nan, "reason": "<b>"}))
    no interval\: \<b\>
    """
    text = interval(row, **options)
    return Markup(text if np.isfinite(row["ci_low"]) else escape.markdown(text))


def count_significant(
    rows: pd.DataFrame,
    *,
    what: str,
    says: str | Callable[[Row], str] = "{which}: {estimate}",
    unit: str = "units",
    reference: str = "null value",
    correction: str = "holm",
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
        The largest one in words, such as ``"for the group {group} in {which} the share is {size}
        {direction}"``. Names in braces are columns of ESTIMATES, escaped; further
        ``{which}``, what tells the row from the others; ``{estimate}``, signed; ``{size}``,
        without its sign; ``{direction}``, ``lower`` or ``higher``; and ``{numbers}``, interval, N
        and p, which otherwise end the sentence. Or a function of the row that returns such words.
    unit
        What `n` counts.
    reference
        What `null` is; it is written where it is not 0.
    correction
        The method behind `p_adjusted`, a key of `CORRECTIONS`.

    Returns
    -------
    str
        Two sentences of Markdown. The largest estimate is the one furthest from its null value,
        among the significant ones where there are any. It was selected for that, so its
        selection-adjusted value stands beside it (`stats.shrink_estimates`), where that is known.

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
    tested = rows[rows["p_adjusted"].notna()].reset_index(drop=True)
    untested = rows[rows["p_adjusted"].isna()]
    reason = commonest_reason(untested)
    if tested.empty:
        return render("claims.family_untested", what=what, reason=reason)
    never = int(significance.never_significant(tested).sum())
    if never == len(tested):
        return render("claims.family_never", n=len(rows), what=what)
    notes = []
    if len(untested):
        notes.append(f"{len(untested)} could not be tested" + (f": {reason}" if reason else ""))
    if never:
        notes.append(f"{never} cannot be significant at their N")
    confidence = float(tested["confidence"].iloc[0])
    found = tested[tested["p_adjusted"] < 1 - confidence]
    among = found if len(found) else tested
    at = (among["estimate"] - among["null"].fillna(0)).abs().idxmax()
    return render(
        "claims.family",
        k=len(found),
        n=len(rows),
        what=Markup(what),
        exploratory=CLAIM not in rows,
        alpha=Markup(f"{1 - confidence:.3g}".removeprefix("0")),
        correction=Markup(CORRECTIONS[correction]),
        notes=notes,
        largest=Markup(_largest(tested, at, rows, says, unit=unit, reference=reference)),
    )


def _largest(
    tested: pd.DataFrame,
    at: Any,
    rows: pd.DataFrame,
    says: str | Callable[[Row], str],
    *,
    unit: str,
    reference: str,
) -> str:
    row = tested.loc[at].to_dict()
    keys = [key for key in names.KEYS if key in rows and key != "group"]
    values = {name: escape.markdown(value) for name, value in row.items()}
    values |= {
        "which": escape.markdown(", ".join(names.details({**row, "group": None}, rows, keys=keys))),
        "size": number(abs(row["estimate"]), decimals=3),
        "direction": "lower" if row["estimate"] < 0 else "higher",
        "estimate": number(row["estimate"], decimals=3),
    }
    parts: list[str] = [interval_of(row, decimals=3)]
    if _null(row):
        parts.append(f"{reference} {number(row['null'], decimals=3)}")
    excluded = f", {row['n_lost']:,.0f} excluded" if row["n_lost"] else ""
    parts += [f"N = {row['n']:,.0f} {unit}{excluded}", p_value(row), *selected(tested, at)]
    text = says if isinstance(says, str) else says(row)
    text = text if "{numbers}" in text else f"{text} {{numbers}}"
    return text.format_map(values | {"numbers": f"({'; '.join(parts)})"})


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
    ['largest of 3 estimates; selection-adjusted 0.355']
    """
    if len(rows) < 2:
        return []
    value = stats.shrink_estimates(rows)[at]
    adjusted = number(value, decimals=3) if np.isfinite(value) else ""
    return [render("claims.selected", n=len(rows), adjusted=Markup(adjusted))]
