"""From table rows to sentences. Numbers are never typed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown

from nbbias import stats
from nbbias.tables import UNTESTABLE
from nbbias.tables.escape import markdown as escape


def number(value: float, *, decimals: int = 2) -> str:
    """Write a number with a true minus sign; a value that was not measured says so.

    Examples
    --------
    >>> number(-0.1234), number(float("nan"))
    ('−0.12', 'not measured')
    """
    if not np.isfinite(value):
        return "not measured"
    # Adding 0 takes the sign from a rounded zero.
    return f"{round(value, decimals) + 0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def p_value(p: float | Mapping[str, Any], of: str = "p_adjusted") -> str:
    """Write a p value as APA does: three decimals, no leading zero, never 0.

    Of a row of ESTIMATES it is that of the column `of`. Where the test gave the least that it can
    give, as where none of so many permutations reached what was observed, p is at most that.

    Examples
    --------
    >>> p_value(0.0312), p_value(0)
    ('p = .031', 'p < .001')
    >>> p_value({"p_value": 0.001, "p_least": 0.001, "p_adjusted": 0.006})
    'p ≤ .006'
    """
    at_floor = False
    if isinstance(p, Mapping):
        at_floor = p["p_value"] <= p.get("p_least", np.nan) * (1 + 1e-9)
        p = float(p[of])
    if not np.isfinite(p):
        return "p not computed"
    sign = "\N{LESS-THAN OR EQUAL TO}" if at_floor and p < 1 else "="
    return "p < .001" if p < 0.001 else f"p {sign} {p:.3f}".replace("0.", ".", 1)


def interval(row: Mapping[str, Any], *, confidence: float | None = None, decimals: int = 2) -> str:
    """Write an estimate's interval, or why it has none; its level is the row's `confidence`.

    Examples
    --------
    >>> interval({"ci_low": -0.125, "ci_high": 1.0, "confidence": 0.9})
    '90% CI −0.12 to 1.00'
    """
    if not np.isfinite(row["ci_low"]):
        return f"no interval: {row['reason']}" if isinstance(row["reason"], str) else "no interval"
    low, high = number(row["ci_low"], decimals=decimals), number(row["ci_high"], decimals=decimals)
    return f"{_level(row, confidence):.0%} CI {low} to {high}"


def _level(row: Mapping[str, Any], confidence: float | None) -> float:
    return row["confidence"] if confidence is None else confidence


def estimate_sentence(
    row: Mapping[str, Any], *, subject: str, unit: str, null: str, confidence: float | None = None
) -> str:
    """Write one row of ESTIMATES as a Markdown sentence.

    Parameters
    ----------
    row
        A row of ESTIMATES, as a mapping.
    subject
        What is estimated, with the verb, such as ``"The index of gpt-4 is"``.
    unit
        What `n` counts, such as ``"prompts"``.
    null
        What stands for chance, such as ``"neutral prose of the same length"``.
    confidence
        Level of the interval and of the range of the null; the row's own where None.

    Examples
    --------
    >>> row = {"estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "confidence": 0.9, "n": 18,
    ...        "n_lost": 0, "instrument": "TextBlob", "null_low": float("nan")}
    >>> estimate_sentence(row, subject="The index is", unit="prompts", null="Neutral prose")
    'The index is **0.50** (90% CI 0.40 to 0.60; N = 18 prompts; TextBlob).'
    """
    if not np.isfinite(row["estimate"]):
        return f"{subject} not measured: {row['reason']} (N = {row['n']:.0f} {unit})."
    parts = [interval(row, confidence=confidence), f"N = {row['n']:.0f} {unit}"]
    if row["n_lost"]:
        parts.append(f"{row['n_lost']:.0f} lost")
    parts.append(escape(row["instrument"]))
    text = f"{subject} **{number(row['estimate'])}** ({'; '.join(parts)})."
    if np.isfinite(row["null_low"]):
        low, high = number(row["null_low"]), number(row["null_high"])
        text += (
            f" {null} gives {number(row['null'])}, from which {low} to {high} is not told apart "
            f"(at {_level(row, confidence):.0%})."
        )
    return text


#: Methods of correction in words.
CORRECTIONS = {"holm": "Holm's correction", "fdr_bh": "Benjamini and Hochberg's correction"}


def beyond_chance(
    rows: pd.DataFrame,
    *,
    what: str,
    says: str | Callable[[Mapping[str, Any]], str] = "{which}: {estimate}",
    unit: str = "units",
    reference: str = "by chance",
    correction: str = "holm",
) -> str:
    """Say how many estimates of one family are beyond their reference, and which is the largest.

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
        and p, which otherwise end the sentence. Or what returns such words for a row.
    unit
        What `n` counts; where some were lost, N is told as so many of all.
    reference
        What `null` is; it is written where it is not 0.
    correction
        The method behind `p_adjusted`, a key of `CORRECTIONS`.

    Returns
    -------
    str
        Two sentences of Markdown. What has 0 for its reference is "told apart from 0", what has
        a chance level is "beyond chance". The largest is the one furthest from its `null` (from 0
        where there is none), of those told apart where there are any. It was selected for that,
        so beside it stands what it is shrunken towards the others (`stats.shrink_estimates`), where
        known. Counted are all rows; how many could not be tested is told, with the commonest
        reason; so are those that cannot be told at their N whatever they are (`stats.adjust` says
        which); where that is all, one sentence says so. Rows that were not declared
        (`reading.claims`) are called exploratory.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "llama", "group": "female", "estimate": -0.031, "ci_low": -0.05,
    ...        "ci_high": -0.012, "n": 12, "p_adjusted": 0.004}
    >>> rows = [row, {**row, "model": "phi", "p_adjusted": 0.3}]
    >>> found = tables.estimates(rows, study="news_bias", confidence=0.95)
    >>> told = beyond_chance(found, what="differences", unit="pairs")
    >>> count, largest = told.split(". ", 1)
    >>> count
    "1 of 2 differences are told apart from 0 (exploratory; p below .05 after Holm's correction)"
    >>> largest
    'This one: llama: −0.031 (95% CI −0.050 to −0.012; N = 12 pairs; p = .004; selected of 2).'
    """
    tested = rows[rows["p_adjusted"].notna()].reset_index(drop=True)
    reasons = rows.loc[rows["p_adjusted"].isna(), "reason"].dropna().value_counts()
    why = escape(reasons.index[0]) if len(reasons) else ""
    if tested.empty:
        return f"No {what} could be tested ({why or f'there are no {what}'})."
    confidence = float(tested["confidence"].iloc[0])
    found = tested[tested["p_adjusted"] < 1 - confidence]
    of = found if len(found) else tested
    nulls = of["null"].fillna(0)
    at = (of["estimate"] - nulls).abs().idxmax()
    row = of.loc[at].to_dict()
    far = "furthest" if nulls.any() else "largest"
    lead = {0: f"The {far}", 1: "This one"}.get(len(found), f"The {far} of these")
    names = {
        "which": _which(row, rows),
        "size": number(abs(row["estimate"]), decimals=3),
        "direction": "lower" if row["estimate"] < 0 else "higher",
    }
    told = {name: escape(value) for name, value in row.items()}
    told |= {"estimate": number(row["estimate"], decimals=3), **names}
    parts = [interval(row, confidence=confidence, decimals=3)]
    if np.isfinite(row["null"]) and row["null"] != 0:
        parts.append(f"{reference} {number(row['null'], decimals=3)}")
    lost = f", {row['n_lost']:,.0f} excluded" if row["n_lost"] else ""
    parts += [f"N = {row['n']:,.0f} {unit}{lost}", p_value(row), *selected(tested, at)]
    numbers = f"({'; '.join(parts)})"
    says = says if isinstance(says, str) else says(row)
    says = says if "{numbers}" in says else f"{says} {{numbers}}"
    left = ""
    if len(rows) > len(tested):
        left = f"; {len(rows) - len(tested)} could not be tested" + (f": {why}" if why else "")
    untold = int(tested["reason"].fillna("").str.startswith(UNTESTABLE).sum())
    left += f"; {untold} cannot be told at this N" if untold else ""
    if untold == len(tested):
        return (
            f"None of {len(rows)} {what} can be told at their N{left.split('; ' + str(untold))[0]}."
        )
    alpha = f"{1 - confidence:.3g}".removeprefix("0")
    asked = "claims" if "claim" in rows else "exploratory"
    beyond = "beyond chance" if tested["null"].fillna(0).any() else "told apart from 0"
    return (
        f"{len(found)} of {len(rows)} {what} are {beyond} ({asked}; p below {alpha} after "
        f"{CORRECTIONS[correction]}{left}). {lead}: {says.format_map(told | {'numbers': numbers})}."
    )


def selected(rows: pd.DataFrame, at: Any) -> list[str]:
    """Say that a row was selected, and what it is shrunken towards the rows that it was chosen of.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, all that could have been chosen.
    at
        The index of the one that was.

    Returns
    -------
    list of str
        One part of a sentence; none where there was nothing to choose.

    Examples
    --------
    >>> row = {"df": np.nan, "confidence": 0.95, "null": np.nan}
    >>> rows = [row | {"estimate": y, "ci_low": y - 0.2, "ci_high": y + 0.2} for y in (-0.1, 0, .4)]
    >>> selected(pd.DataFrame(rows), 2)
    ['selected of 3; shrunken towards the others it is 0.355']
    """
    if len(rows) < 2:
        return []
    text, shrunken = f"selected of {len(rows)}", stats.shrink_estimates(rows)[at]
    if np.isfinite(shrunken):
        text += f"; shrunken towards the others it is {number(shrunken, decimals=3)}"
    return [text]


def _which(row: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """Name what tells a row from the others; its model in any case."""
    keys = [key for key in _WHO if key in rows and isinstance(row[key], str)]
    named = [key for key in keys if key == "model" or rows[key].nunique(dropna=False) > 1]
    return ", ".join(escape(row[key]) for key in named)


_WHO = ("evaluator", "judge", "model", "prompt", "source", "bias", "dimension", "task", "topic")


def say(sentences: str | Iterable[str], *, most: int | None = None) -> Markdown:
    """Show sentences; several become a list, of which what is beyond `most` folds.

    Examples
    --------
    >>> print(say(["One.", "Two."]).data)
    - One.
    - Two.
    >>> "<summary>1 more</summary>" in say(["One.", "Two."], most=1).data
    True
    """
    if isinstance(sentences, str):
        return Markdown(sentences)
    told = [f"- {sentence}" for sentence in sentences]
    first, rest = (told, []) if most is None else (told[:most], told[most:])
    text = "\n".join(first)
    if rest:
        listed = "\n".join(rest)
        text += f"\n\n<details><summary>{len(rest)} more</summary>\n\n{listed}\n\n</details>"
    return Markdown(text)
