"""Sentences and tables: numbers come from the row, and names from corpora stay text."""

from __future__ import annotations

from typing import Any

import mistune
import numpy as np
import pytest
from bs4 import BeautifulSoup
from IPython.display import Markdown

from nbbias import reading, stats, tables

MINUS = "\N{MINUS SIGN}"


def html_of(markdown: str) -> BeautifulSoup:
    return BeautifulSoup(mistune.html(markdown), "html.parser")


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.00"), (1.005, "1.00"), (-1.5, f"{MINUS}1.50"), (1234.5, "1234.50")]
)
def test_a_number_has_two_decimals_and_a_true_minus(value: float, text: str) -> None:
    assert reading.number(value) == text


def test_decimals_are_an_argument() -> None:
    assert reading.number(-0.12345, decimals=4) == f"{MINUS}0.1235"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_not_measured(value: float) -> None:
    assert reading.number(value) == "not measured"


@pytest.mark.parametrize("value", [-0.001, -0.0])
def test_zero_has_no_sign(value: float) -> None:
    assert reading.number(value) == "0.00"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "p < .001"),
        (0.000999, "p < .001"),
        (0.001, "p = .001"),
        (0.0496, "p = .050"),
        (0.05, "p = .050"),
        (0.5, "p = .500"),
        (0.9996, "p = 1.000"),
        (1.0, "p = 1.000"),
        (np.nan, "p not computed"),
    ],
)
def test_p_values_are_written_as_apa_does(p: float, text: str) -> None:
    assert reading.p_value(p) == text


def test_an_interval_names_its_level() -> None:
    row = {"ci_low": -0.125, "ci_high": 1.0, "reason": None}
    assert reading.interval(row, confidence=0.9, decimals=3) == f"90% CI {MINUS}0.125 to 1.000"


@pytest.mark.parametrize(
    ("reason", "text"),
    [("one value", "no interval: one value"), (None, "no interval"), (np.nan, "no interval")],
)
def test_a_missing_interval_says_why_if_it_is_known(reason: object, text: str) -> None:
    row = {"ci_low": np.nan, "ci_high": np.nan, "reason": reason}
    assert reading.interval(row, confidence=0.95) == text


# --- sentences --------------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "statistic": "index",
    "model": "gpt_4",
    "group": "other*",
    "estimate": -0.456,
    "ci_low": -0.9,
    "ci_high": -0.1,
    "n": 18.0,
    "n_lost": 2,
    "null": 0.3,
    "null_low": 0.21,
    "null_high": 0.4,
    "effect_size": -0.5,
    "statistic_value": -2.349,
    "df": 17.0,
    "p_value": 0.0312,
    "p_adjusted": 0.0623,
    "instrument": "TextBlob 0.20.1",
    "reason": np.nan,
}


def sentence(**changed: Any) -> str:
    return reading.estimate_sentence(
        ROW | changed, subject="The index is", unit="prompts", null="Neutral prose", confidence=0.95
    )


def shown(markdown: str) -> str:
    return html_of(markdown).get_text().strip()


def test_an_estimate_is_written_with_all_that_stands_behind_it() -> None:
    assert shown(sentence()) == (
        f"The index is {MINUS}0.46 (95% CI {MINUS}0.90 to {MINUS}0.10; N = 18 prompts; 2 lost; "
        "TextBlob 0.20.1). Neutral prose gives 0.30, from which 0.21 to 0.40 is not told apart "
        "(at 95%)."
    )


def test_losses_are_named_only_where_there_are_any() -> None:
    assert "lost" not in sentence(n_lost=0)


def test_without_a_chance_level_nothing_is_said_of_it() -> None:
    assert "Neutral prose" not in sentence(null=np.nan, null_low=np.nan, null_high=np.nan)


def test_an_estimate_without_an_interval_says_why() -> None:
    text = sentence(ci_low=np.nan, ci_high=np.nan, reason="one prompt")
    assert "(no interval: one prompt; N = 18 prompts" in text


def test_what_was_not_measured_is_written_with_its_reason_and_n() -> None:
    text = sentence(estimate=np.nan, reason="no answer", n=0)
    assert text == "The index is not measured: no answer (N = 0 prompts)."


def test_one_sentence_is_a_paragraph_and_several_are_a_list() -> None:
    assert isinstance(reading.say("One."), Markdown)
    assert html_of(reading.say("One.").data).find("li") is None
    items = html_of(reading.say(["One.", "Two."]).data).find_all("li")
    assert [item.get_text().strip() for item in items] == ["One.", "Two."]


def test_a_long_list_folds_behind_its_first_sentences() -> None:
    text = reading.say([f"{n}." for n in range(7)], most=5).data
    page = html_of(text)
    assert page.details.summary.get_text() == "2 more"
    assert text.index("4.") < text.index("<details>") < text.index("5.")
    assert "<details>" not in reading.say(["One.", "Two."], most=2).data


# --- families ---------------------------------------------------------------------------------

CLAIM = {
    "model": "llama",
    "group": "female",
    "estimate": -0.031,
    "ci_low": -0.05,
    "ci_high": -0.012,
    "n": 1200,
    "p_adjusted": 0.004,
}


def beyond(rows: list[dict[str, Any]], **options: Any) -> str:
    found = tables.estimates([CLAIM | row for row in rows], study="news_bias", confidence=0.95)
    found = found.set_axis([0] * len(found))  # as concatenated tables
    written = reading.beyond_chance(found, what="differences", **options)
    return shown(written)


def test_a_family_is_counted_and_its_largest_beyond_chance_is_told() -> None:
    rows = [
        {},
        {"model": "phi_3", "estimate": -0.02},
        {"model": "b", "estimate": -9.0, "ci_low": None, "ci_high": None, "p_adjusted": 0.051},
    ]
    assert beyond(rows, unit="pairs") == (
        "2 of 3 differences are told apart from 0 "
        "(exploratory; p below .05 after Holm's correction). "
        f"The largest of these: llama: {MINUS}0.031 (95% CI {MINUS}0.050 to {MINUS}0.012; "
        "N = 1,200 pairs; p = .004; selected of 3)."
    )


def test_of_a_family_within_chance_the_largest_is_told_as_such() -> None:
    told = beyond([{"p_adjusted": 0.2}, {"p_adjusted": 0.3, "estimate": -0.03, "model": "b"}])
    assert told.startswith("0 of 2 differences are told apart from 0")
    assert "The largest: llama:" in told


def test_beyond_a_reference_the_furthest_from_it_is_told() -> None:
    none = {"ci_low": None, "ci_high": None}
    rows = [none | {"estimate": 0.5, "null": 0.45}, none | {"estimate": 0.3, "null": 0.1}]
    told = beyond([rows[0], rows[1] | {"model": "b"}], reference="neutral prose")
    assert "The furthest of these: b: 0.300 (no interval; neutral prose 0.100;" in told


def test_the_largest_is_told_in_the_studys_words_and_names_are_text() -> None:
    told = beyond(
        [{"group": "<b>x</b>", "source": "*CNN*"}, {"source": "AP", "p_adjusted": 0.5}],
        says="in {which} {group} is {size} {direction}",
    )
    assert "This one: in llama, *CNN* <b>x</b> is 0.031 lower (95% CI" in told


def test_what_could_not_be_tested_is_counted_and_a_family_without_tests_says_why() -> None:
    lost = {"p_adjusted": None, "reason": "one article", "model": "b"}
    told = beyond([{}, lost], correction="fdr_bh")
    assert "after Benjamini and Hochberg's correction; 1 could not be tested: one article)" in told
    assert beyond([lost, lost]) == "No differences could be tested (one article)."
    assert beyond([]) == "No differences could be tested (there are no differences)."


def test_the_level_is_the_rows_own_where_none_is_given() -> None:
    row = ROW | {"confidence": 0.9}
    assert reading.interval(row) == f"90% CI {MINUS}0.90 to {MINUS}0.10"
    told = reading.estimate_sentence(row, subject="It is", unit="prompts", null="Chance")
    assert "90% CI" in told and "(at 90%)" in told


def test_a_p_at_its_floor_is_at_most_that() -> None:
    row = {"p_value": 1 / 1001, "p_least": 1 / 1001, "p_adjusted": 6 / 1001}
    assert reading.p_value(row) == "p ≤ .006"
    assert reading.p_value(row, "p_value") == "p < .001"
    assert reading.p_value({**row, "p_value": 2 / 1001}) == "p = .006"
    assert reading.p_value({**row, "p_least": np.nan}) == "p = .006"


def test_those_that_cannot_be_told_are_counted() -> None:
    row = {
        "statistic": "rbs",
        "model": "a",
        "estimate": 0.1,
        "n": 4,
        "p_value": 1 / 16,
        "p_least": 1 / 16,
    }
    rows = [row, {**row, "model": "b"}, {**row, "model": "c", "p_least": np.nan, "p_value": 0.001}]
    found = stats.adjust(tables.estimates(rows, study="cogs", confidence=0.95))
    told = reading.beyond_chance(found, what="scores")
    assert told.startswith(
        "1 of 3 scores are told apart from 0 (exploratory; p below .05 after Holm's correction; "
        "2 cannot be told at this N). This one: c"
    )
