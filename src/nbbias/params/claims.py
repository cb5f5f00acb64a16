"""Declared claims: what a run asks, in its parameters, and hashed before data are read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import pandas as pd
from pydantic import Field

from nbbias import tables

#: What a claim can name of a row of ESTIMATES.
CLAIM_KEYS = tuple(key for key in tables.ESTIMATE_KEYS if key != "study")

#: Claims of a run, at most.
MOST = 8

#: The bound of a test of equivalence, in the unit of the claim's statistic.
SMALLEST = "smallest_effect"

Claim: TypeAlias = Mapping[str, Any]

Claims = Annotated[
    list[dict[str, Any]],
    Field(
        max_length=MOST,
        description="the claims that lead the page, hashed before data are read, corrected as "
        "one family; each names statistic and measure, and where not all are meant bias, group, "
        "model …; smallest_effect tests for equivalence, too ([]: all is exploratory)",
    ),
]


def named_statistics(study: str) -> dict[str, tuple[str, ...]]:
    """Return a study's statistics by measure: those that ``words/measures.csv`` names.

    Examples
    --------
    >>> named_statistics("cogs")["agreement"]
    ('fleiss_kappa', 'krippendorff_alpha')
    """
    rows = tables.read_shipped_table("words/measures.csv").query("study == @study")
    by_measure = rows.groupby("measure", sort=False)["statistic"]
    return {str(measure): tuple(names) for measure, names in by_measure}


def worse_directions(study: str) -> dict[str, str]:
    """Return where a study's statistics get worse (`Units`), as ``words/measures.csv`` says.

    Examples
    --------
    >>> worse_directions("llmbi")
    {'index': 'higher', 'dimension_mean': 'higher'}
    """
    rows = tables.read_shipped_table("words/measures.csv").query("study == @study")
    return dict(rows.dropna(subset="worse")[["statistic", "worse"]].to_numpy().tolist())


def claims_sha256(claims: Sequence[Claim]) -> str:
    """Return the SHA-256 of declared claims, written as canonical JSON.

    Examples
    --------
    >>> claim = {"measure": "rbs", "statistic": "rbs"}
    >>> claims_sha256([claim]) == claims_sha256([dict(reversed(claim.items()))])
    True
    >>> claims_sha256([claim]) == claims_sha256([])
    False
    """
    return tables.hash_json(list(claims))


def claim_breaches(
    claims: Sequence[Claim], *, statistics: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return what is wrong with declared claims, all of it, with the nearest known names.

    Parameters
    ----------
    claims
        As in a params file.
    statistics
        The study's statistics, by measure.

    Examples
    --------
    >>> claims = [{"statistic": "distanse", "modle": "a"}]
    >>> print(*claim_breaches(claims, statistics={"rbs": ["rbs", "distance"]}), sep="; ")
    1: modle is not a key; did you mean model?; 1: no statistic 'distanse'; did you mean distance?
    """
    breaches = []
    for number, claim in enumerate(claims, start=1):
        problems = [*_of_keys(claim), *_of_statistic(claim, statistics)]
        if claim in claims[: number - 1]:
            problems.append("occurs twice")
        breaches += [f"{number}: {problem}" for problem in problems]
    return breaches


def _of_keys(claim: Claim) -> Iterator[str]:
    keys = (*CLAIM_KEYS, SMALLEST)
    for key, value in claim.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key not in keys:
            yield f"{key} is not a key; {tables.closest_match(key, keys)}"
        elif key == SMALLEST and not (is_number and 0 < value < math.inf):
            yield f"{key} must be a number above 0, but is {value!r}"
        elif key != SMALLEST and not isinstance(value, str):
            yield f"{key} must be text, but is {value!r} (put it in quotes)"


def _of_statistic(claim: Claim, statistics: Mapping[str, Sequence[str]]) -> list[str]:
    if "statistic" not in claim:
        return ["names no statistic"]
    measure, statistic = claim.get("measure"), claim["statistic"]
    if not isinstance(measure, str | None) or not isinstance(statistic, str):
        return []  # reported with the other keys
    if measure is not None and measure not in statistics:
        return [f"no measure {measure!r}; {tables.closest_match(measure, statistics)}"]
    names = [name for key in statistics if measure in {None, key} for name in statistics[key]]
    of = f" of {measure}" if measure else ""
    hint = tables.closest_match(statistic, names)
    return [] if statistic in names else [f"no statistic {statistic!r}{of}; {hint}"]


def match_claim(rows: pd.DataFrame, claim: Claim) -> tuple[pd.DataFrame, str]:
    """Return the rows that a claim names, and which of its keys names none of them; else "".

    Examples
    --------
    >>> match_claim(pd.DataFrame({"model": ["gpt", "phi"]}), {"model": "gtp"})[1]
    "no model 'gtp'; did you mean gpt?"
    """
    for key in (key for key in CLAIM_KEYS if key in claim and key in rows):
        if (matching := rows[rows[key].eq(claim[key])]).empty:
            near = tables.closest_match(claim[key], rows[key].dropna())
            return matching, f"no {key} {claim[key]!r}; {near}"
        rows = matching
    return rows, ""


def check_claims(chosen: Any, cells: Sequence[pd.DataFrame]) -> None:
    """Refuse declared claims that name what a run's data do not hold.

    Parameters
    ----------
    chosen
        A study's parameters. Its default claims are no wish of the user, and hold.
    cells
        What the data hold: tables whose columns are keys of claims, a row for each combination.
        Keys that no table has are not looked at.

    Raises
    ------
    ParameterError
        Each such claim by its number, with the nearest name.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> claim = {"statistic": "index", "model": "b"}
    >>> check_claims(llmbi.params.Llmbi(claims=[claim]), [pd.DataFrame({"model": ["ab"]})])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ParameterError: claims: 1: not in the data: no model 'b'; did you mean ab?
    """
    if not chosen.pre_specified({**dict(chosen)}):
        return
    problems = [
        f"{number}: not in the data: {problem}"
        for number, claim in enumerate(chosen.claims, start=1)
        for rows in cells
        if (problem := match_claim(rows, claim)[1])
    ]
    tables.ParameterError.refuse("claims", problems)
