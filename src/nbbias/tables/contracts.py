"""The columns and kinds of the tables that flow through a study, and how they are made.

Tables are long, tidy DataFrames. A contract names the columns that must be
there; further columns pass through untouched. `check` reports every breach of
a table at once, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.tables.columns import convert
from nbbias.tables.errors import ContractError, DataError, NbbiasError, attempt, describe_missing

#: What a row of ESTIMATES is about. The last line holds the keys that single studies add.
ESTIMATE_KEYS = (
    *("study", "source", "model", "prompt", "measure", "bias", "group", "statistic"),
    *("dimension", "task", "topic", "evaluator", "judge"),
)

#: What a row of ESTIMATES says: numbers, but for those that `ESTIMATES` makes counts or texts.
ESTIMATE_VALUES = (
    *("estimate", "ci_low", "ci_high", "n", "n_lost"),
    *("null", "null_low", "null_high", "excess"),
    *("effect_size", "test", "statistic_value", "df", "p_value", "p_adjusted"),
    *("instrument", "reason", "confidence", "p_least"),
)

#: What names an estimate in two runs.
UNIT_KEYS = (*ESTIMATE_KEYS, "instrument")

#: Level of confidence of every study, plan and function that is given no other.
CONFIDENCE = 0.95

#: Columns of UNITS that group its units; the second is there where two facets are crossed.
CLUSTERS = ("cluster", "crossed")


Rows = Iterable[Mapping[str, Any]]


class Check(NamedTuple):
    """A rule for every value that is there, or for every row, and the message where it fails."""

    holds: Callable[[Any], Any]
    error: str


class Values(NamedTuple):
    """What a column holds: values of a kind, for which rules hold; a gap where it is `nullable`.

    Values are converted to their kind (`tables.columns.convert`): ``"text"``, ``"count"``,
    ``"float"`` or ``"flag"``. A column that is not `required` may be absent.
    """

    kind: str
    checks: tuple[Check, ...] = ()
    nullable: bool = False
    required: bool = True


class Contract(NamedTuple):
    """The columns of a table, with their types and checks."""

    columns: Mapping[str, Values]
    checks: Sequence[Check] = ()
    unique: Sequence[str] = ()
    name: str = ""


NOT_BLANK = Check(lambda s: s.str.strip() != "", "is blank")
_SHARE = Check(lambda s: s.between(0, 1), "lies outside 0 to 1")
#: What columns hold, for `fields`; `optional` cells may be empty, but the column must be there.
_KINDS = {
    "name": Values("text", (NOT_BLANK,)),
    "text": Values("text"),
    "optional": Values("text", nullable=True),
    "count": Values("count"),
    "number": Values("float", nullable=True),
    "share": Values("float", (_SHARE,), nullable=True),
}


def fields(**columns: str) -> dict[str, Values]:
    """Return the columns of a contract by kind, one of `_KINDS`."""
    return {name: _KINDS[kind] for kind, names in columns.items() for name in names.split()}


#: One recorded answer of a model to one prompt of the LLMBI suite.
ANSWERS = Contract(
    fields(name="dimension prompt model", count="sample", optional="text"),
    unique=["model", "prompt", "sample"],
    name="ANSWERS",
)

#: One answer to one prompt of CoGS; a default has no identity.
COGS_ANSWERS = Contract(
    fields(name="model task theme", count="sample", optional="topic axis identity text"),
    name="COGS_ANSWERS",
)

#: One reply of one judge; `order` is the identities as shown, joined by ``|``.
COGS_JUDGEMENTS = Contract(
    fields(name="evaluator model task theme axis order", count="repeat", optional="topic reply"),
    name="COGS_JUDGEMENTS",
)

#: One human article.
ORIGINALS = Contract(fields(text="source", name="article_id", optional="text"), name="ORIGINALS")

#: One text of one model for one article. `prompt` tells how it was asked for.
GENERATIONS = Contract(
    fields(name="article_id model", count="sample", optional="text", text="source prompt"),
    name="GENERATIONS",
)

#: One thing to ask: the text of the prompt. Further columns say what its answer belongs to.
PROMPTS = Contract(fields(name="prompt_id prompt"), unique=["prompt_id"], name="PROMPTS")

#: One row per unit and measure. `score` is NaN where it was not measured; `reason` says why.
SCORES = Contract(
    fields(text="model prompt measure instrument", number="score", count="n", optional="reason"),
    name="SCORES",
)

#: How `reason` begins where a test could never be below its level, however large what it tests.
UNTESTABLE = "too few data for a significant result: the smallest possible p is "

#: What an estimate stands beside, the leading reference first.
REFERENCES = ("replicate", "permutation")

_MEASURED_OR_REASON = Check(
    lambda d: d["estimate"].notna() | d["reason"].notna(), "a row without an estimate has no reason"
)
_INTERVAL_HOLDS = Check(
    lambda d: d["ci_low"].isna() | d["estimate"].between(d["ci_low"] - 1e-9, d["ci_high"] + 1e-9),
    "an estimate lies outside its interval",
)
_LEVEL_STATED = Check(
    lambda d: d["confidence"].notna() | (d["ci_low"].isna() & d["null_low"].isna()),
    "an interval or a range of chance does not say its level (confidence)",
)
#: The columns of a test, and the level of intervals, that ESTIMATES and CHANCE both have.
_TEST_FIELDS = fields(optional="test", share="p_value p_adjusted confidence p_least")

#: One row per estimate: its value, its interval, N, exclusions, null value, test and instrument.
#: `confidence` is the level of the interval and of the range of chance; NaN where there is neither.
#: `p_least` is the least p that the test could have given (of n permutations 1 / (n + 1)), NaN
#: where it has no floor: a `p_value` at its floor is read as "at most".
ESTIMATES = Contract(
    fields(optional=" ".join(ESTIMATE_KEYS), number=" ".join(ESTIMATE_VALUES))
    | fields(count="n n_lost", optional="instrument reason")
    | _TEST_FIELDS,
    checks=[_MEASURED_OR_REASON, _INTERVAL_HOLDS, _LEVEL_STATED],
    name="ESTIMATES",
)

#: One row per claim of ESTIMATES and reference: what the estimate would be by that chance.
CHANCE = Contract(
    fields(optional=" ".join(UNIT_KEYS), name="reference", number="null null_low null_high")
    | _TEST_FIELDS,
    unique=[*UNIT_KEYS, "reference"],
    name="CHANCE",
)


def check(table: pd.DataFrame, contract: Contract, *, where: str | None = None) -> pd.DataFrame:
    """Check a table against a contract, and return it with converted columns.

    Parameters
    ----------
    table
        Any DataFrame. It is not changed.
    contract
        One of this module's, such as `SCORES`.
    where
        What the user calls this table (a file name), for the message.

    Returns
    -------
    DataFrame
        A copy with the contract's dtypes.

    Raises
    ------
    ContractError
        Lists missing columns (with the columns that are there), wrong kinds
        and duplicate keys, all at once.

    Examples
    --------
    >>> check(pd.DataFrame({"prompt_id": ["a"], "prompt": ["Who is it?"]}), PROMPTS).shape
    (1, 2)
    >>> check(pd.DataFrame({"prompt": ["Who is it?", " "]}), PROMPTS)
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ContractError: PROMPTS: 2 problems
      - needs the column prompt_id; it has prompt
      - column prompt: is blank (row 2)
    """
    missing = [n for n, column in contract.columns.items() if column.required and n not in table]
    expected, table = contract.columns, table.copy()
    breaches = describe_missing(missing, list(table), expected=expected, where=where or "")
    for name in filter(table.__contains__, contract.columns):
        table[name], faults = _check_column(table[name], contract.columns[name])
        breaches += [f"column {name}: {fault}" for fault in faults]
    checks = () if breaches else contract.checks
    rules = [(~rule.holds(table).astype(bool), rule.error) for rule in checks]
    if contract.unique and set(contract.unique) <= set(table):
        hint = "; number repeats in the column sample" if "sample" in contract.unique else ""
        verb = "occur" if len(contract.unique) > 1 else "occurs"
        error = f"the same {', '.join(contract.unique)} {verb} twice{hint}"
        rules.append((table.duplicated(list(contract.unique)), error))
    breaches += [f"the table: {fault}" for fault in _faults(*rules)]
    ContractError.refuse(where or contract.name, breaches)
    return table


def _check_column(values: pd.Series, column: Values) -> tuple[pd.Series, list[str]]:
    """Return a column in its kind, and what is wrong with it."""
    if not column.nullable and values.hasnans:
        return values, _faults((values.isna(), "a value is missing"))
    raw_values, (values, fault) = values, convert(values, column.kind)
    if fault:
        return values, [fault]
    if column.kind == "flag" and not column.nullable:
        values = values.astype(bool)
    rules = ((raw_values.notna() & ~rule.holds(values), rule.error) for rule in column.checks)
    return values, _faults(*rules)


def _faults(*rules: tuple[pd.Series, str]) -> list[str]:
    """Return the message of each rule that fails, with its first rows, counted from 1."""
    faults = []
    for failed, error in rules:
        if len(rows := np.flatnonzero(failed) + 1):
            examples = ", ".join(map(str, rows[:3])) + (", …" if len(rows) > 3 else "")
            faults.append(f"{error} (row {examples})")
    return faults


def require_columns(table: pd.DataFrame, columns: Sequence[str], *, where: str) -> None:
    """Raise an error if a table lacks columns.

    Parameters
    ----------
    table
        The table.
    columns
        Names that it must have.
    where
        What an error calls the table.

    Examples
    --------
    >>> require_columns(pd.DataFrame({"text": ["a"]}), ["text", "model"], where="answers")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ContractError: answers: needs the column model; it has text
    """
    missing, names = [name for name in columns if name not in table], list(table.columns)
    ContractError.refuse(where, describe_missing(missing, names, expected=columns, where=where))


def require_measurable(models: pd.Series, measurable: pd.Series, *, where: str) -> None:
    """Refuse models none of whose texts can be measured.

    Parameters
    ----------
    models
        Who wrote each text.
    measurable
        Whether that text can be measured, in the same order.
    where
        The table's name, for messages.

    Raises
    ------
    DataError
        Names each such model, with the number of its texts.

    Examples
    --------
    >>> require_measurable(pd.Series(["a", "b"]), pd.Series([True, False]), where="mine.csv")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: mine.csv: model 'b': none of its 1 texts can be measured
    """
    rows = pd.Series(measurable.to_numpy(bool)).groupby(models.to_numpy(), sort=False)
    numbers = rows.size()[~rows.any()].items()
    lost = [f"model {m!r}: none of its {n} texts can be measured" for m, n in numbers]
    DataError.refuse(where, lost)


def is_blank(texts: pd.Series) -> pd.Series:
    """Mark texts that are missing, or nothing but white space.

    Examples
    --------
    >>> is_blank(pd.Series(["So.", " ", None])).tolist()
    [False, True, True]
    """
    return texts.fillna("").astype("str").str.strip() == ""


def check_blank_texts(problems: list[NbbiasError], texts: pd.DataFrame, *, where: str) -> list[str]:
    """Add models whose texts are all blank to the problems; say how many texts are blank.

    Parameters
    ----------
    problems
        Errors so far.
    texts
        `model`, `text`.
    where
        The table's name, for messages.

    Examples
    --------
    >>> check_blank_texts([], pd.DataFrame({"model": "m", "text": ["So.", " "]}), where="mine.csv")
    ['mine.csv: 1 of 2 answers are blank']
    """
    filled = ~is_blank(texts["text"])
    attempt(problems, require_measurable, texts["model"], filled, where=where)
    if filled.all():
        return []
    return [f"{where}: {(~filled).sum()} of {len(filled)} answers are blank"]


def estimates(rows: Rows, *, study: str, **common: Any) -> pd.DataFrame:
    """Build an ESTIMATES table with all columns; missing values are NaN.

    Parameters
    ----------
    rows
        One mapping per claim, with any of the columns of `ESTIMATES`.
    study
        The study's stem, such as ``"llmbi"``.
    **common
        Columns with one value for all rows, such as `confidence`, which rows with an interval or a
        range of chance need.

    Returns
    -------
    DataFrame
        Checked against `ESTIMATES`; `excess` is `estimate - null` where both are there.

    Examples
    --------
    >>> row = {"statistic": "bias", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "null": 0.25}
    >>> table = estimates([row | {"n": 8}], study="news_bias", confidence=0.9)
    >>> table[["estimate", "excess", "n", "n_lost", "confidence"]].to_dict("records")
    [{'estimate': 0.5, 'excess': 0.25, 'n': 8, 'n_lost': 0, 'confidence': 0.9}]
    """
    table = _built(rows, ESTIMATES, {"study": study, **common})
    counts = {name: pd.to_numeric(table[name]).fillna(0) for name in ("n", "n_lost")}
    excess = pd.to_numeric(table["estimate"]) - pd.to_numeric(table["null"])
    return check(table.assign(**counts, excess=excess), ESTIMATES)


def chance(rows: Rows, *, study: str, **common: Any) -> pd.DataFrame:
    """Build a CHANCE table with all columns; missing values are NaN.

    Parameters
    ----------
    rows
        One mapping per claim and reference: the claim's keys and `instrument` as in ESTIMATES,
        `reference` (one of `REFERENCES`) `null` with its range, and its test.
    study, **common
        As in `estimates`.

    Returns
    -------
    DataFrame
        Checked against `CHANCE`.

    Examples
    --------
    >>> row = {"statistic": "bias", "null": 0.1, "null_low": 0.0, "null_high": 0.2}
    >>> table = chance([row], study="news_bias", reference="permutation", confidence=0.95)
    >>> table[["reference", "null"]].to_dict("records")
    [{'reference': 'permutation', 'null': 0.1}]
    """
    return check(_built(rows, CHANCE, {"study": study, **common}), CHANCE)


def with_chance(estimates: pd.DataFrame, chance: pd.DataFrame) -> pd.DataFrame:
    """Add the leading null value of each estimate to ESTIMATES.

    Parameters
    ----------
    estimates, chance
        Tables of the two contracts; `study` need not be the same.

    Returns
    -------
    DataFrame
        `estimates` with `null`, `null_low`, `null_high`, `test`, `p_value`, `p_adjusted` and
        `p_least` of the first of `REFERENCES` that a claim has, `excess` anew, and its
        `confidence` where there was none. A claim without a reference stays as it is.

    Examples
    --------
    >>> claim = {"statistic": "bias", "estimate": 0.3}
    >>> table = estimates([claim], study="news_bias")
    >>> levels = [{"statistic": "bias", "reference": "permutation", "null": 0.1}]
    >>> levels += [{"statistic": "bias", "reference": "replicate", "null": 0.2}]
    >>> levels = chance(levels, study="news_bias")
    >>> with_chance(table, levels)["null"].tolist()
    [0.2]
    """
    keys = [*(key for key in ESTIMATE_KEYS if key != "study"), "instrument"]
    leading = pd.concat([chance[chance["reference"] == name] for name in REFERENCES])
    leading = leading.drop_duplicates(keys)
    joined = estimates[keys].merge(leading, on=keys, how="left", validate="many_to_one")
    joined = joined.set_axis(estimates.index)
    table = estimates.copy()
    for name in ("null", "null_low", "null_high", "test", "p_value", "p_adjusted", "p_least"):
        table[name] = table[name].mask(joined["reference"].notna(), joined[name])
    level = table["confidence"].fillna(joined["confidence"])
    return table.assign(excess=table["estimate"] - table["null"], confidence=level)


def _built(rows: Rows, contract: Contract, common: Mapping[str, Any]) -> pd.DataFrame:
    columns = list(contract.columns)
    table = pd.DataFrame([{**common, **row} for row in rows])
    if unknown := sorted({*table} - {*columns}):
        raise ContractError(contract.name, f"no such column: {', '.join(unknown)}")
    table = table.reindex(columns=columns)
    text = [name for name in columns if contract.columns[name].kind == "text"]
    return table.assign(**{name: table[name].astype("str") for name in text})


# --- UNITS: the values that an estimate is the mean of ------------------------------------------


class Estimated(NamedTuple):
    """ESTIMATES, and UNITS: the values by independent unit that they are means of."""

    estimates: pd.DataFrame
    units: pd.DataFrame


def estimates_and_units(
    rows: Rows,
    *,
    study: str,
    clusters: Mapping[str, str] | None = None,
    facets: Sequence[str] = (),
    **common: Any,
) -> Estimated:
    """Build ESTIMATES and UNITS from rows that name an estimate and the values it is a mean of.

    Parameters
    ----------
    rows
        As in `tables.estimates`; where an estimate is a mean over units, the row has `values`, a
        Series by unit.
    study, **common
        As in `tables.estimates`.
    clusters
        Unit → the cluster that it is of, where units stand or fall together.
    facets
        In place of `clusters`, up to two levels of the values' index that stand for others of
        their kind: the clusters of units, and those that cross them.

    Returns
    -------
    Estimated
        UNITS has `UNIT_KEYS` (a missing one is empty text), `unit`, `cluster`, `value`; with two
        facets `crossed`. Gaps are left out, and so is an estimate without a value.

    Examples
    --------
    >>> values = pd.Series([0.1, 0.3], index=["article 1", "article 2"])
    >>> row = {"statistic": "bias", "estimate": 0.2, "n": 2, "values": values}
    >>> result = estimates_and_units([row], study="news_bias", measure="word")
    >>> result.estimates["estimate"].tolist(), result.units["value"].tolist()
    ([0.2], [0.1, 0.3])
    """
    rows = list(rows)
    bare = [{name: value for name, value in row.items() if name != "values"} for row in rows]
    table = estimates(bare, study=study, **common)
    values = enumerate(row.get("values") for row in rows)
    parts = {at: part.dropna() for at, part in values if part is not None}
    # Of each value the keys of its row; then its unit, and what that is of.
    numbers = [at for at, part in parts.items() for _ in part]
    keys = table[list(UNIT_KEYS)].astype(object)
    units = keys.where(keys.notna(), "").astype("str").iloc[numbers].reset_index(drop=True)
    units["unit"] = pd.Categorical([_label(name) for v in parts.values() for name in v.index])
    units["cluster"] = units["unit"].map(lambda name: (clusters or {}).get(name, name))
    for column, facet in zip(CLUSTERS, facets, strict=False):
        levels = [v.index.get_level_values(facet) for v in parts.values() if len(v)]
        units[column] = [str(level) for part in levels for level in part]
    units["value"] = np.concatenate([[], *(v.to_numpy(float) for v in parts.values())])
    return Estimated(table, units)


def split_groups(
    table: pd.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield what a group of rows has in common, by column, and the rows; groups as they appear.

    Examples
    --------
    >>> [key for key, _ in split_groups(pd.DataFrame({"model": ["b", "a", "b"]}), ["model"])]
    [{'model': 'b'}, {'model': 'a'}]
    """
    groups = table.groupby(list(keys), sort=False, dropna=False) if keys else [((), table)]
    for values, rows in groups:
        yield dict(zip(keys, values, strict=True)), rows


def concatenate(parts: Sequence[Estimated]) -> Estimated:
    """Return several ESTIMATES and UNITS as one.

    Examples
    --------
    >>> concatenate([estimates_and_units([], study="news_bias")]).units.empty
    True
    """
    return Estimated(*(pd.concat(of, ignore_index=True) for of in zip(*parts, strict=True)))


def _label(name: Any) -> str:
    return " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)
