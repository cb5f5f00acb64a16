"""What is said of LLMBI's estimates: numbers come from the row, and names stay text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias.llmbi import sentences
from tests.reading.test_sentences import MINUS, ROW as PLAIN_ROW, shown

ROW: dict[str, Any] = PLAIN_ROW | {"confidence": 0.95}


def difference(**changed: Any) -> str:
    return shown(
        sentences.differences(pd.DataFrame([ROW | {"statistic": "difference"} | changed]))[0]
    )


def test_a_difference_is_written_with_its_test() -> None:
    assert difference() == (
        f"gpt_4 scores lower than other* on the same prompts (difference {MINUS}0.46, 95% CI "
        f"{MINUS}0.90 to {MINUS}0.10; N = 18; t(17) = {MINUS}2.35, p = .062 (Holm), "
        f"d = {MINUS}0.50)."
    )


def test_the_direction_of_a_difference_follows_its_sign() -> None:
    assert "scores higher than" in difference(estimate=0.456, ci_low=0.1, ci_high=0.9)


def test_no_difference_is_neither_higher_nor_lower() -> None:
    text = difference(estimate=0.0, p_value=np.nan, ci_low=0.0, ci_high=0.0)
    assert "lower" not in text
    assert "higher" not in text


def test_a_difference_without_a_test_claims_none() -> None:
    text = difference(p_value=np.nan, ci_low=np.nan, ci_high=np.nan, reason="one prompt")
    assert text.endswith("no interval: one prompt; N = 18).")


def test_models_that_were_not_compared_are_named_with_the_reason() -> None:
    text = difference(estimate=np.nan, reason="no value was measured")
    assert text == "gpt_4 and other* were not compared: no value was measured."


ESTIMATES = pd.DataFrame(
    [ROW, ROW | {"model": "<b>"}, ROW | {"statistic": "difference"}, ROW | {"statistic": "anova"}]
)


def test_every_row_of_a_statistic_gets_a_sentence_with_its_own_names() -> None:
    found = sentences.index(ESTIMATES, subject="The index of {model} is")
    starts = [shown(text).split(" is ")[0] for text in found]
    assert starts == ["The index of gpt_4", "The index of <b>"]


def test_a_statistic_without_rows_gets_no_sentence() -> None:
    none = ESTIMATES.head(0)
    assert sentences.differences(none) == []
    assert sentences.anova(none) == []


def test_models_that_instruments_disagree_about_are_named_and_others_are_not() -> None:
    row = {"statistic": "index", "confidence": 0.95, "instrument": "A 1", "null": 0.4}
    first = [row | {"model": "a", "estimate": 0.5, "p_value": 0.3},
             row | {"model": "b", "estimate": 0.9, "p_value": 0.001}]  # fmt: skip
    second = [own | {"estimate": 1.7, "null": 1.2, "p_value": 0.001, "instrument": "B 2"}
              for own in first]  # fmt: skip
    agreed = pd.DataFrame({"model": ["a", "b"], "rho": [-0.19, 0.7]})
    (told,) = sentences.instruments(pd.DataFrame(first), pd.DataFrame(second), agreed)
    assert shown(told) == (
        "What is told of a depends on the instrument: A 1 does not tell its index apart from "
        "neutral prose (0.50 against 0.40, p = .300), B 2 does (1.70 against 1.20, p = .002); over "
        f"prompts the two rank its answers with ρ = {MINUS}0.19."
    )
    assert sentences.instruments(pd.DataFrame(first), pd.DataFrame(first), agreed) == []


def test_an_anova_is_written_as_apa_does() -> None:
    (text,) = sentences.anova(ESTIMATES.assign(statistic_value=2.341, effect_size=0.12))
    assert shown(text) == (
        "gpt_4: F = 2.34 with 17 degrees of freedom within dimensions, p = .031, ω² = 0.12 "
        "(N = 18 prompts)."
    )


def test_an_anova_that_was_not_run_says_why() -> None:
    (text,) = sentences.anova(ESTIMATES.assign(statistic_value=np.nan, reason="one group"))
    assert shown(text) == "gpt_4: no analysis of variance: one group."


BESIDE = pd.DataFrame(
    {"model": ["gpt-4", "gpt-4", "own", "blank"], "ours": [1.0, 2.0, 3.0, np.nan],
     "printed": [1.00004, np.nan, 2.5, 1.0], "printed_model": "gpt-4"}
).assign(difference=lambda t: t["ours"] - t["printed"])  # fmt: skip


def test_a_replication_is_told_from_another_writer_and_from_nothing() -> None:
    same, other, none = sentences.printed(BESIDE, paper="A 2023")
    assert shown(same) == (
        "gpt-4 (the model that the paper names): over 1 prompts the largest difference from "
        "A 2023 is 0.00004."
    )
    assert "another writer than the paper's gpt-4: no replication" in shown(other)
    assert other.endswith(" is 0.50.")  # five decimals are for a replication
    assert shown(none) == "blank: A 2023 prints none of these prompts."


def test_the_level_is_the_rows_own() -> None:
    assert "90% CI" in difference(confidence=0.9)


def test_the_finding_is_how_models_differ_and_of_one_model_its_index() -> None:
    assert "lower than" in sentences.lead(ESTIMATES)[0]
    assert sentences.lead(ESTIMATES.head(1)) == sentences.index(ESTIMATES.head(1))
