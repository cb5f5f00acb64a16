"""Declared claims: which rows they mean, corrected together, and what readers are told."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import reading, tables
from nbbias.reading import claims
from tests.reading.rows import cells, soup

ROW: dict[str, Any] = {"measure": "word", "bias": "gender", "group": "she", "model": "a"}
ROW |= {"statistic": "difference", "instrument": "list", "n": 31, "df": 30.0, "null": 0.0}
ROW |= {"estimate": -0.1, "ci_low": -0.2, "ci_high": 0.0, "p_value": 0.04, "p_adjusted": 0.9}
SHE = {"measure": "word", "statistic": "difference", "group": "she"}


def estimates(*rows: dict[str, Any]) -> pd.DataFrame:
    return tables.estimates([ROW | row for row in rows], study="news_bias", confidence=0.95)


def declared(table: pd.DataFrame, *given: dict[str, Any]) -> pd.DataFrame:
    return claims.declared(table, given, confidence=0.95)


# --- which rows -------------------------------------------------------------------------------


def test_a_key_that_is_left_out_means_every_value() -> None:
    table = estimates({}, {"model": "b"}, {"model": "c", "group": "he"}, {"statistic": "bias"})
    assert declared(table, SHE)["model"].tolist() == ["a", "b"]
    assert declared(table, {"statistic": "difference"})["model"].tolist() == ["a", "b", "c"]


def test_a_row_over_all_values_stands_for_them_unless_they_are_named() -> None:
    other = {"instrument": "other", "p_value": 0.001}
    table = estimates({}, {"task": "haiku", "estimate": -0.05}, {"task": "blog"} | other)
    assert declared(table, SHE)["task"].isna().tolist() == [True]
    of_two = declared(estimates({}, other), SHE)  # of several instruments the first is meant
    assert of_two["instrument"].tolist() == ["list"]
    assert declared(table, SHE | {"task": "haiku"})["estimate"].tolist() == [-0.05]


def test_what_was_not_measured_does_not_stand_for_other_models() -> None:
    gap = {"group": None, "estimate": None, "ci_low": None, "ci_high": None, "p_value": None}
    gap |= {"n": 0, "reason": "nothing was measured"}
    table = estimates(gap, {"model": "b", "group": "he"}, {"model": "c"}, {"group": "she"})
    found = declared(table, {"statistic": "difference"})
    assert found["model"].tolist() == ["a", "b", "c"]
    assert found["estimate"].isna().tolist() == [True, False, False]
    # Models b and c are corrected together, and a stays as what could not be tested.
    assert found["p_adjusted"].tolist()[1:] == pytest.approx([0.08, 0.08])


def test_mirror_images_are_one_test_and_three_groups_are_three() -> None:
    he = {"group": "he", "estimate": 0.1, "ci_low": 0.0, "ci_high": 0.2}
    both = {"statistic": "difference"}
    found = declared(estimates({}, he, {"model": "b"}, he | {"model": "b"}), both)
    assert found["group"].tolist() == ["she", "she"]
    assert found["p_adjusted"].tolist() == pytest.approx([0.08, 0.08])
    they = {"group": "they", "estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1}
    assert len(declared(estimates({}, he, they), both)) == 3


def test_a_bound_that_a_second_claim_gives_holds_and_that_claim_says_where_its_row_stands() -> None:
    found = declared(estimates({}), SHE, SHE | {"model": "a", "smallest_effect": 0.5})
    assert found[["claim", "smallest_effect"]].to_numpy().tolist() == [[1, 0.5], [2, 0.5]]
    assert found["reason"].tolist()[1] == "tested already, by an earlier claim"
    assert found["estimate"].notna().tolist() == [True, False]
    assert found["p_adjusted"].iloc[0] == found["p_value"].iloc[0]  # one test, not two


def test_what_could_not_be_measured_stays_with_its_reason_and_count() -> None:
    gone = dict.fromkeys(["estimate", "ci_low", "ci_high", "p_value"], np.nan)
    gone |= {"model": "b", "n": 3, "reason": "too few pairs"}
    found = declared(estimates({}, gone), SHE, SHE | {"model": "cc"}, SHE | {"group": "shhe"})
    assert found["verdict"].tolist() == ["significant", *["not measured"] * 3]
    assert found["n"].tolist() == [31, 3, 0, 0]
    assert found["reason"].tolist()[1:] == [
        "too few pairs",
        "not in this run: no model 'cc'; known: a, b",
        "not in this run: no group 'shhe'; did you mean she?",
    ]
    assert found["p_adjusted"].iloc[0] == pytest.approx(0.04)  # they take no part in the family
    shown = reading.show(reading.claims.tabulate(found)).data
    assert "not measured: too few pairs" in shown and "no model" in shown


# --- one family -------------------------------------------------------------------------------


def test_all_declared_rows_are_one_family_and_the_others_are_not_in_it() -> None:
    p = [0.001, 0.02, 0.03, 0.5]
    table = estimates(
        *[{"model": m, "p_value": v} for m, v in zip("abcd", p, strict=True)],
        {"measure": "tone", "p_value": 0.012},
        *[{"statistic": "bias", "p_value": 0.001, "model": m} for m in "abcd"],
    )
    found = declared(table, SHE, {"measure": "tone", "statistic": "difference"})
    # Holm by hand: .001 x 5, .012 x 4, .02 x 3, .03 x 2 (raised to .06), .5.
    expected = [0.005, 0.06, 0.06, 0.5, 0.048]
    assert found["p_adjusted"].tolist() == pytest.approx(expected)
    assert found["verdict"].tolist() == ["significant", *["not significant"] * 3, "significant"]


def test_what_cannot_be_significant_in_a_larger_family_may_be_so_in_the_declared_one() -> None:
    untold = {"p_value": 0.02, "p_least": 0.02, "reason": f"{tables.UNTESTABLE}4"}
    assert declared(estimates(untold), SHE)["reason"].isna().all()
    found = declared(estimates(*[untold | {"model": m} for m in "abc"]), SHE)
    assert found["verdict"].unique().tolist() == ["not testable"]


# --- equivalence ------------------------------------------------------------------------------


NEITHER = "could be within or beyond ±0.05"


@pytest.mark.parametrize(
    ("estimate", "half", "verdict"),
    [
        (0.02, 0.01, "equivalent within ±0.05"),  # significant, and too small to matter
        (-0.20, 0.05, "beyond ±0.05"),
        (0.00, 0.20, f"not significant; {NEITHER}"),
        (0.08, 0.05, f"significant; {NEITHER}"),
    ],
)
def test_with_a_smallest_effect_a_verdict_says_more_than_not_significant(
    estimate: float, half: float, verdict: str
) -> None:
    row = {"estimate": estimate, "ci_low": estimate - half, "ci_high": estimate + half}
    row["p_value"] = 0.001 if abs(estimate) > half else 0.5
    found = declared(estimates(row), SHE | {"smallest_effect": 0.05})
    assert found["verdict"].tolist() == [verdict]


def test_equivalence_is_corrected_over_the_claims_that_ask_for_it() -> None:
    row = {"estimate": 0.0, "ci_low": -0.03, "ci_high": 0.03, "p_value": 0.9}
    asked = SHE | {"smallest_effect": 0.03}
    alone, _ = declared(estimates(row), asked)["p_within"], None
    three = declared(estimates(*[row | {"model": m} for m in "abc"]), asked)["p_within"]
    assert three.tolist() == pytest.approx([3 * alone[0]] * 3)


# --- for readers ------------------------------------------------------------------------------


def shown(found: pd.DataFrame) -> tuple[list[list[str]], str]:
    """The cells of the table of claims, and its words."""
    page = soup(reading.show(claims.tabulate(found)).data)
    return cells(page), page.get_text()


def test_a_row_says_what_is_claimed_of_whom_and_what_was_found() -> None:
    table = estimates({"p_value": 0.6}, {"model": "b_1", "p_value": 0.001})
    rows, text = shown(declared(table, SHE))
    assert [(row[0], row[-2], row[-1] != "") for row in rows] == [
        ("Difference (b_1)", ".002", False),  # what could have been detected is of the others
        ("Difference (a)", ".600", True),
    ]
    assert "Holm's method over both tests" in text
    assert "computed at 97.5%" in text and "\\" not in text  # a note is text, not Markdown
    rows, _ = shown(declared(table, SHE | {"smallest_effect": 0.03}))
    assert "within or beyond" in rows[0][-2]


def test_claims_have_the_unit_of_their_measure_as_the_lead_has() -> None:
    keys = {"measure": "word", "statistic": "share_difference"}
    found = declared(estimates(keys | {"p_value": 0.6}), keys).assign(study="news_bias")
    rows, _ = shown(found)
    assert rows[0][1] == "−10.0 pp [−20.0, 0.0]" and rows[0][-1].endswith(" pp")


def test_what_is_significant_and_what_is_not_measured_are_always_shown() -> None:
    models = [{"model": f"m{n:02d}", "p_value": 0.5 - n / 100} for n in range(14)]
    models[0] |= dict.fromkeys(("estimate", "ci_low", "ci_high", "p_value"), np.nan)
    models[0] |= {"reason": "no words"}
    rows, _ = shown(declared(estimates(*models), SHE))
    order = [*(f"m{n:02d}" for n in range(13, 9, -1)), "m00"]  # all others have p = 1
    assert [row[0] for row in rows] == [f"Difference ({m})" for m in order]


def test_the_smallest_p_are_shown_even_where_most_was_not_measured() -> None:
    gone = dict.fromkeys(("estimate", "ci_low", "ci_high", "p_value"), np.nan)
    models = [{"model": f"m{n}", "reason": "no words"} | gone for n in range(12)]
    rows, _ = shown(declared(estimates(*models, {"model": "found", "p_value": 0.001}), SHE))
    assert rows[0][0] == "Difference (found)"


def test_a_table_without_a_test_speaks_of_no_p() -> None:
    gone = dict.fromkeys(("ci_low", "ci_high", "p_value"), np.nan) | {"reason": "one article"}
    found = declared(estimates(*[{"model": f"m{n}"} | gone for n in range(9)]), SHE)
    shown = reading.show(reading.claims.tabulate(found)).data
    assert "No p: none could be tested" in shown and "Shown: 5 of 9 rows;" in shown
    assert reading.forest(found, reference="here").title == "No difference could be tested"
