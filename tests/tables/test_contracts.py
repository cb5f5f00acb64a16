"""The contracts: every breach is named at once, and nothing is changed or guessed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings, strategies as st

from nbbias import tables
from nbbias.tables import ContractError, NbbiasError
from nbbias.tables.contracts import NOT_BLANK, Check, Contract, Part


def answers(**columns: Any) -> pd.DataFrame:
    table = {
        "dimension": ["Age", "Age", "Race"],
        "prompt": ["p", "q", "r"],
        "model": ["m", "m", "m"],
        "sample": [1, 1, 1],
        "text": ["one", None, "three"],
    }
    return pd.DataFrame(table | columns)


def breaches(table: pd.DataFrame, contract: tables.Contract = tables.ANSWERS) -> list[str]:
    with pytest.raises(ContractError) as caught:
        tables.check(table, contract)
    return caught.value.breaches


# --- check ------------------------------------------------------------------------------------


def test_a_table_that_keeps_its_contract_passes_with_its_values() -> None:
    pd.testing.assert_frame_equal(tables.check(answers(), tables.ANSWERS), answers())


def test_further_columns_pass_through() -> None:
    assert "note" in tables.check(answers(note=["a", "b", "c"]), tables.ANSWERS)


def test_a_missing_column_is_named_with_the_columns_that_are_there() -> None:
    (breach,) = breaches(answers().drop(columns=["text"]))
    assert breach == "needs the column text; it has dimension, prompt, model, sample"
    (breach,) = breaches(answers()[["prompt"]])
    assert breach == "needs the columns dimension, model, sample, text; it has prompt"


def test_a_table_without_columns_is_told_so() -> None:
    (breach,) = breaches(pd.DataFrame())
    assert breach.endswith("it has none at all")


def test_every_breach_is_reported_at_once() -> None:
    bad = answers(prompt=["p", "p", None], sample=[1, 1, -2], model=["m", "m", " "])
    found = "\n".join(breaches(bad.drop(columns="text")))
    for part in (
        "needs the column text",
        "column prompt: a value is missing (row 3)",
        "column model: is blank (row 3)",
        "column sample: ",
        "stand twice",
    ):
        assert part in found


def test_the_message_says_where_and_how_many() -> None:
    bad = answers(model=["m", None, "m"]).drop(columns="text")
    with pytest.raises(NbbiasError, match=r"^mine\.csv: 2 problems\n  - ") as caught:
        tables.check(bad, tables.ANSWERS, where="mine.csv")
    assert caught.value.where == "mine.csv"


def test_rows_are_shown_as_examples_not_as_a_list_of_thousands() -> None:
    many = pd.concat([answers(prompt=[" "] * 3)] * 50, ignore_index=True)
    many["sample"] = range(150)
    (breach,) = breaches(many)
    assert breach == "column prompt: is blank (row 1, 2, 3, …)"


def test_whole_floats_become_counts() -> None:
    checked = tables.check(answers(sample=[1.0, 2.0, 3.0]), tables.ANSWERS)
    assert checked["sample"].dtype == int


def test_the_same_prompt_may_stand_once_per_model_and_sample() -> None:
    same = answers(prompt=["p"] * 3, dimension=["Age"] * 3, model=["m", "m", "n"], sample=[1, 2, 1])
    assert len(tables.check(same, tables.ANSWERS)) == 3


def test_the_input_is_not_changed() -> None:
    table = answers(sample=[1.0, 2.0, 3.0])
    before = table.copy()
    checked = tables.check(table, tables.ANSWERS)
    checked.loc[0, "text"] = "changed"
    pd.testing.assert_frame_equal(table, before)


#: A contract of all kinds of columns and rules, and values for it that keep and break them.
ALL = Contract(
    {
        "name": Part("str", (NOT_BLANK,), unique=True, coerce=False),
        "note": Part("str", nullable=True),
        "count": Part("int64", (Check(lambda s: s >= 0, "is below 0"),)),
        "share": Part("float64", (Check(lambda s: s.between(0, 1), "is no share"),), nullable=True),
        "sure": Part("bool"),
        "told": Part("boolean", nullable=True, required=False),
    },
    checks=[Check(lambda d: d["sure"] | d["note"].isna(), "a note without being sure")],
    unique=["note", "count"],
    name="ALL",
)
_WORDS = st.sampled_from([*"abcdefghijkl", " ", None])
VALUES: dict[str, tuple[st.SearchStrategy[Any], list[str]]] = {
    "name": (_WORDS, ["str", "object"]),
    "note": (_WORDS, ["str", "object"]),
    "count": (st.integers(-1, 30), ["int64", "float64", "Int64", "str"]),
    "share": (st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.5, np.nan, np.inf]), ["float64", "object"]),
    "sure": (st.sampled_from([True] * 5 + [False]), ["bool", "object", "boolean"]),
    "told": (st.sampled_from([True, False, None]), ["boolean", "object"]),
}


@st.composite
def of_all(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(0, 3))
    made = {}
    for name, (values, kinds) in VALUES.items():
        if draw(st.integers(0, 30)):  # else the column is missing
            held = draw(st.lists(values, min_size=n, max_size=n))
            kind = draw(st.sampled_from([*kinds[:1] * 15, *kinds]))
            made[name] = pd.Series(held, dtype=object).astype(kind)
    return pd.DataFrame(made)


def keeps_all(rows: list[dict[str, Any]]) -> bool:
    """Whether rows keep ALL, looked at one by one."""
    for row in rows:
        if set(row) | {"told"} != set(VALUES):
            return False
        if not isinstance(row["name"], str) or not row["name"].strip():
            return False
        if row["count"] is None or pd.isna(row["count"]) or float(row["count"]) < 0:
            return False
        if not pd.isna(row["share"]) and not 0 <= row["share"] <= 1:
            return False
        if not row["sure"] and not pd.isna(row["note"]):
            return False
    names = [row["name"] for row in rows]
    pairs = [(None if pd.isna(r["note"]) else r["note"], float(r["count"])) for r in rows]
    return len(set(names)) == len(names) and len(set(pairs)) == len(pairs)


@settings(max_examples=200, deadline=None)
@given(of_all())
def test_a_table_passes_where_each_of_its_rows_does(table: pd.DataFrame) -> None:
    rows = table.to_dict("records")
    whole = set(table) | {"told"} == set(VALUES)
    event(str(keeps_all(rows) and whole))
    if not (keeps_all(rows) and whole):
        with pytest.raises(ContractError):
            tables.check(table, ALL)
        return
    checked = tables.check(table, ALL)
    assert {name: str(checked[name].dtype) for name in checked} == {
        name: ALL.columns[name].kind for name in table
    }
    for name in table:
        for before, after in zip(table[name], checked[name], strict=True):
            if pd.isna(before):
                assert pd.isna(after)
            else:
                assert after == (float(before) if name == "count" else before)


@pytest.mark.parametrize(
    ("column", "values", "breach"),
    [
        ("name", ["a", "a"], "column name: a value stands twice; each row needs its own (row 2)"),
        ("name", [None, "b"], "column name: a value is missing (row 1)"),
        ("name", ["a", 7], "column name: values are of another kind than str (row 2)"),
        ("count", [1, -1], "column count: is below 0 (row 2)"),
        ("count", [1.5, 1], "column count: values are of another kind than int64 (row 1)"),
        ("count", [1, "x"], "column count: values are of another kind than int64 (row 2)"),
        ("share", [0.5, 1.5], "column share: is no share (row 2)"),
        ("share", [np.nan, 1.5], "column share: is no share (row 2)"),
        ("sure", [True, "x"], "column sure: values are of another kind than bool (row 2)"),
        ("sure", [True, False], "the table: a note without being sure (row 2)"),
        ("note", ["x", "x"], "the table: the same note, count stand twice (row 2)"),
    ],
)
def test_each_rule_names_its_column_and_row(column: str, values: list[Any], breach: str) -> None:
    table = pd.DataFrame(
        {
            "name": ["a", "b"],
            "note": ["x", "y"],
            "count": [1, 1],
            "share": [0.5, np.nan],
            "sure": [True, True],
            "told": pd.array([True, None], dtype="boolean"),
        }
    )
    assert len(tables.check(table.drop(columns="told"), ALL)) == 2
    assert breaches(table.assign(**{column: values}), ALL) == [breach]


def test_a_column_that_stands_twice_is_named() -> None:
    table = answers()
    twice = pd.concat([table, table[["model"]]], axis=1)
    assert breaches(twice) == ["the column model stands twice; keep one"]


# --- estimates --------------------------------------------------------------------------------


def test_estimates_have_every_column_in_order() -> None:
    table = tables.estimates([{"estimate": 1.0}], study="x")
    assert list(table) == [*tables.ESTIMATE_KEYS, *tables.ESTIMATE_VALUES]
    assert list(table) == list(tables.ESTIMATES.columns)


def test_what_is_not_said_is_missing_except_for_counts() -> None:
    row = tables.estimates([{"estimate": 1.0}], study="x").iloc[0]
    assert row[["n", "n_lost"]].tolist() == [0, 0]
    assert row.drop(["study", "estimate", "n", "n_lost"]).isna().all()


def test_common_columns_stand_in_every_row_but_a_row_wins() -> None:
    rows = [{"estimate": 1.0}, {"estimate": 2.0, "bias": "race"}]
    table = tables.estimates(rows, study="x", bias="gender")
    assert table["bias"].tolist() == ["gender", "race"]
    assert table["study"].tolist() == ["x", "x"]


def test_excess_is_the_estimate_less_the_null_where_both_are_there() -> None:
    rows = [{"estimate": 1.0, "null": 1.5}, {"estimate": 1.0}, {"null": 1.0, "reason": "none"}]
    excess = tables.estimates(rows, study="x")["excess"]
    assert excess[0] == -0.5
    assert excess[1:].isna().all()


def test_no_rows_make_an_empty_table_with_every_column() -> None:
    table = tables.estimates([], study="x")
    assert table.shape == (0, len(tables.ESTIMATES.columns))


def test_an_unknown_column_is_refused_by_name() -> None:
    with pytest.raises(ContractError, match="no such column: p_valeu"):
        tables.estimates([{"estimate": 1.0, "p_valeu": 0.1}], study="x")


def test_a_missing_estimate_needs_a_reason() -> None:
    with pytest.raises(ContractError, match="a row without an estimate has no reason"):
        tables.estimates([{"estimate": np.nan}], study="x")


@pytest.mark.parametrize("estimate", [-0.1, 1.1])
def test_an_estimate_outside_its_interval_is_refused(estimate: float) -> None:
    row = {"estimate": estimate, "ci_low": 0.0, "ci_high": 1.0, "confidence": 0.95}
    with pytest.raises(ContractError, match="an estimate lies outside its interval"):
        tables.estimates([row], study="x")


@pytest.mark.parametrize("estimate", [0.0, 1.0])
def test_an_estimate_on_the_edge_of_its_interval_passes(estimate: float) -> None:
    row = {"estimate": estimate, "ci_low": 0.0, "ci_high": 1.0, "confidence": 0.95}
    assert len(tables.estimates([row], study="x")) == 1


def test_a_full_row_is_checked_as_well_as_a_sparse_one() -> None:
    full = dict.fromkeys(tables.ESTIMATE_KEYS, "x") | {
        name: 0.5 for name in tables.ESTIMATE_VALUES if name not in {"n", "n_lost"}
    }
    full |= {"test": "t", "instrument": "i", "reason": "r", "estimate": 2.0, "ci_high": 1.0}
    del full["excess"]
    with pytest.raises(ContractError, match="outside its interval"):
        tables.estimates([full], study="x")


@pytest.mark.parametrize(
    ("column", "value"), [("p_value", -0.01), ("p_adjusted", 1.01), ("n_lost", -1)]
)
def test_a_share_beyond_zero_and_one_or_a_negative_count_is_refused(
    column: str, value: float
) -> None:
    with pytest.raises(ContractError, match=column):
        tables.estimates([{"estimate": 1.0, column: value}], study="x")


# --- chance -----------------------------------------------------------------------------------

CLAIM = {"source": "s", "model": "m", "statistic": "bias", "group": "she", "instrument": "i"}


def levels(*references: str, **more: object) -> pd.DataFrame:
    rows = [
        CLAIM | {"reference": name, "null": i / 10, "null_low": 0.0, "null_high": 1.0} | more
        for i, name in enumerate(references, 1)
    ]
    return tables.chance(rows, study="news_bias", confidence=0.95)


def test_chance_has_a_row_per_claim_and_reference() -> None:
    table = levels("words", "sentences")
    assert list(table) == list(tables.CHANCE.columns)
    assert table["null"].tolist() == [0.1, 0.2]
    assert (table["confidence"] == 0.95).all()


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(ContractError, match="reference: is no known reference"):
        levels("letters")


def test_a_claim_has_one_row_of_a_reference() -> None:
    with pytest.raises(ContractError, match="twice"):
        levels("words", "words")


def test_a_range_of_chance_must_not_end_before_it_begins() -> None:
    with pytest.raises(ContractError, match="ends below its beginning"):
        levels("words", null_low=1.0, null_high=0.0)


def test_no_chance_is_an_empty_table() -> None:
    assert list(levels()) == list(tables.CHANCE.columns)


def test_the_leading_reference_stands_in_the_estimate() -> None:
    found = tables.estimates(
        [CLAIM | {"estimate": 0.5, "null": 0.0}, CLAIM | {"estimate": 0.5, "group": "he"}],
        study="biased_prompts",
    )
    both = levels("words", "sentences", p_value=0.04, test="permutation")
    led = tables.with_chance(found, both, lead=["sentences", "words"])
    assert led["null"].tolist() == pytest.approx([0.2, np.nan], nan_ok=True)
    assert led["excess"].tolist() == pytest.approx([0.3, np.nan], nan_ok=True)
    assert led["p_value"].iloc[0] == 0.04
    assert led["test"].iloc[0] == "permutation"
    assert led["study"].tolist() == ["biased_prompts"] * 2
    tables.check(led, tables.ESTIMATES)
    assert tables.with_chance(found, both, lead=["words"])["null"].iloc[0] == pytest.approx(0.1)
    assert tables.with_chance(found, both, lead=["topics"]).equals(found)


def test_the_instrument_is_part_of_a_claim() -> None:
    found = tables.estimates([CLAIM | {"estimate": 0.5, "instrument": "j"}], study="news_bias")
    assert tables.with_chance(found, levels("words"))["null"].isna().all()


def test_the_level_of_the_interval_is_told_in_the_row() -> None:
    row = CLAIM | {"estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    assert tables.estimates([row], study="llmbi", confidence=0.9)["confidence"].tolist() == [0.9]
    for told in (row, CLAIM | {"estimate": 0.5, "null_low": 0.1, "null_high": 0.2}):
        with pytest.raises(ContractError, match="does not say its level"):
            tables.estimates([told], study="llmbi")
    alone = tables.estimates([CLAIM | {"estimate": 0.5}], study="llmbi")
    assert alone["confidence"].isna().all()
    with pytest.raises(ContractError, match="column confidence"):
        tables.estimates([row], study="llmbi", confidence=95)
