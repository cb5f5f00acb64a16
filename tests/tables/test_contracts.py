"""The contracts: every breach is named at once, and nothing is changed or guessed."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.tables import ContractError, NbbiasError
from nbbias.tables.contracts import NOT_BLANK, Check, Contract, Values


def answers(**columns: Any) -> pd.DataFrame:
    table = {"dimension": ["Age", "Age", "Race"], "prompt": ["p", "q", "r"], "model": "m"}
    return pd.DataFrame(table | {"sample": 1, "text": ["one", None, "three"]} | columns)


def breaches(table: pd.DataFrame, contract: tables.Contract = tables.ANSWERS) -> list[str]:
    with pytest.raises(ContractError) as caught:
        tables.check(table, contract)
    return caught.value.breaches


# --- check ------------------------------------------------------------------------------------


def test_a_table_that_keeps_its_contract_passes_unchanged_with_its_further_columns() -> None:
    table = answers(sample=[1.0, 2.0, 3.0], note=["a", "b", "c"])
    before = table.copy()
    checked = tables.check(table, tables.ANSWERS)
    pd.testing.assert_frame_equal(checked, before.astype({"sample": int}))
    checked.loc[0, "text"] = "changed"
    pd.testing.assert_frame_equal(table, before)


def test_every_breach_is_reported_at_once_with_where_and_how_many() -> None:
    bad = answers(prompt=["p", "p", None], sample=[1, 1, -2], model=["m", "m", " "])
    with pytest.raises(NbbiasError, match=r"^mine\.csv: 5 problems\n  - ") as caught:
        tables.check(bad.drop(columns="text"), tables.ANSWERS, where="mine.csv")
    assert caught.value.breaches == [
        "needs the column text; it has dimension, prompt, model, sample; "
        "name it as in 'mine.csv?text=COLUMN'",
        "column prompt: a value is missing (row 3)",
        "column model: is blank (row 3)",
        "column sample: expected a whole number, 0 or more, but row 3 holds -2",
        "the table: the same model, prompt, sample occur twice; number repeats in the column "
        "sample (row 2)",
    ]


def test_rows_are_shown_as_examples_not_as_a_list_of_thousands() -> None:
    many = pd.concat([answers(prompt=[" "] * 3)] * 50, ignore_index=True)
    many["sample"] = range(150)
    assert breaches(many) == ["column prompt: is blank (row 1, 2, 3, …)"]


COUNT, FLAG = "a whole number, 0 or more", "true or false (or 1 and 0, yes and no)"

#: A contract of all kinds of columns and rules, and values for it that keep and break them.
ALL = Contract(
    {
        "name": Values("text", (NOT_BLANK,)),
        "note": Values("text", nullable=True),
        "count": Values("count"),
        "share": Values("float", (Check(lambda s: s <= 1, "is no share"),), nullable=True),
        "sure": Values("flag"),
        "told": Values("flag", nullable=True, required=False),
    },
    checks=[Check(lambda d: d["sure"] | d["note"].isna(), "a note without being sure")],
    unique=["note", "count"],
    name="ALL",
)


@pytest.mark.parametrize(
    ("column", "values", "breach"),
    [
        ("name", [None, "b"], "column name: a value is missing (row 1)"),
        ("count", [1.5, 1], f"column count: expected {COUNT}, but row 1 holds 1.5"),
        ("share", ["x", 1], "column share: expected a number, but row 1 holds 'x'"),
        ("share", [np.nan, 1.5], "column share: is no share (row 2)"),
        ("sure", [True, "x"], f"column sure: expected {FLAG}, but row 2 holds 'x'"),
        ("sure", [True, False], "the table: a note without being sure (row 2)"),
        ("note", ["x", "x"], "the table: the same note, count occur twice (row 2)"),
    ],
)
def test_each_rule_names_its_column_and_row(column: str, values: list[Any], breach: str) -> None:
    table = pd.DataFrame({"name": ["a", "b"], "note": ["x", "y"], "count": [1, 1]})
    table = table.assign(share=[0.5, np.nan], sure=True)
    assert len(tables.check(table, ALL)) == 2
    assert breaches(table.assign(**{column: values}), ALL) == [breach]


# --- estimates --------------------------------------------------------------------------------


def test_estimates_have_every_column_in_order_and_what_is_not_said_is_missing() -> None:
    table = tables.estimates([{"estimate": 1.0}], study="x")
    assert list(table) == [*tables.ESTIMATE_KEYS, *tables.ESTIMATE_VALUES]
    assert list(tables.estimates([], study="x")) == list(table)
    row = table.iloc[0]
    assert row[["n", "n_lost"]].tolist() == [0, 0]
    assert row.drop(["study", "estimate", "n", "n_lost"]).isna().all()


UNSAID = {"estimate": 0.5, "confidence": None}


@pytest.mark.parametrize(
    ("values", "breach"),
    [
        ({"estimate": -0.1}, "an estimate lies outside its interval"),
        ({"estimate": 0.0, "p_value": -0.01}, "column p_value"),
        ({"estimate": 1.0, "p_valeu": 0.1}, "no such column: p_valeu"),
        ({"estimate": np.nan}, "a row without an estimate has no reason"),
        ({"estimate": 0.5, "n_lost": -1}, "column n_lost"),
        (UNSAID, "does not say its level"),
        (UNSAID | {"ci_low": None, "null_low": 0.1}, "does not say its level"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(values: dict[str, Any], breach: str) -> None:
    row = {"ci_low": 0.0, "ci_high": 1.0, "confidence": 0.95, "n": 3}
    for edge in (0.0, 1.0):
        assert tables.estimates([row | {"estimate": edge}], study="x")["confidence"][0] == 0.95
    with pytest.raises(ContractError, match=breach):
        tables.estimates([row | values], study="x")


# --- chance -----------------------------------------------------------------------------------

CLAIM = {"source": "s", "model": "m", "statistic": "bias", "group": "she", "instrument": "i"}


def levels(*references: str, **more: object) -> pd.DataFrame:
    rows = [
        CLAIM | {"reference": name, "null": i / 10, "null_low": 0.0, "null_high": 1.0} | more
        for i, name in enumerate(references, 1)
    ]
    return tables.chance(rows, study="news_bias", confidence=0.95)


def test_chance_has_a_row_per_claim_and_reference() -> None:
    table = levels("permutation", "replicate")
    assert list(table) == list(levels()) == list(tables.CHANCE.columns)
    assert table["null"].tolist() == [0.1, 0.2]
    assert (table["confidence"] == 0.95).all()
    with pytest.raises(ContractError, match="twice"):
        levels("permutation", "permutation")


def test_the_leading_reference_stands_in_the_estimate() -> None:
    found = tables.estimates(
        [CLAIM | {"estimate": 0.5, "null": 0.0}, CLAIM | {"estimate": 0.5, "group": "he"}],
        study="biased_prompts",
    )
    both = levels("permutation", "replicate", p_value=0.04, test="permutation")
    led = tables.with_chance(found, both)
    assert led["null"].tolist() == pytest.approx([0.2, np.nan], nan_ok=True)
    assert led["excess"].tolist() == pytest.approx([0.3, np.nan], nan_ok=True)
    assert led["p_value"].iloc[0] == 0.04
    assert led["test"].iloc[0] == "permutation"
    assert led["study"].tolist() == ["biased_prompts"] * 2
    tables.check(led, tables.ESTIMATES)
    assert tables.with_chance(found, levels("permutation"))["null"].iloc[0] == 0.1
    assert tables.with_chance(found, levels()).equals(found)
