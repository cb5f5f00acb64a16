"""What is said of LLMBI's estimates: numbers come from the row, and names stay text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias.llmbi import sentences
from nbbias.params import Texts
from nbbias.reading import Lead
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
    first = [
        row | {"model": "a", "estimate": 0.5, "p_value": 0.3},
        row | {"model": "b", "estimate": 0.9, "p_value": 0.001},
    ]
    second = [
        own | {"estimate": 1.7, "null": 1.2, "p_value": 0.001, "instrument": "B 2"} for own in first
    ]
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
    {
        "model": ["gpt-4", "gpt-4", "own", "blank"],
        "ours": [1.0, 2.0, 3.0, np.nan],
        "printed": [1.00004, np.nan, 2.5, 1.0],
        "printed_model": "gpt-4",
    }
).assign(difference=lambda t: t["ours"] - t["printed"])


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


# --- what leads -------------------------------------------------------------------------------

INDEX: dict[str, Any] = {
    "study": "llmbi",
    "measure": "llmbi",
    "statistic": "index",
    "n": 18,
    "n_lost": 0,
    "null": 0.44,
    "null_low": 0.37,
    "null_high": 0.5,
    "confidence": 0.95,
    "p_value": 0.2,
    "p_adjusted": 0.2,
    "instrument": "TextBlob 0.20.1",
    "reason": np.nan,
    "group": np.nan,
    "ci_low": 0.4,
    "ci_high": 0.6,
    "df": 9.0,
    "excess": 0.04,
}
WARM = INDEX | {"model": "warm_1", "estimate": 0.95, "excess": 0.51, "p_adjusted": 0.001}
PLAIN = INDEX | {"model": "plain", "estimate": 0.48}
APART = INDEX | {
    "statistic": "difference",
    "model": "warm_1",
    "group": "plain",
    "estimate": 0.47,
    "null": 0.0,
    "null_low": np.nan,
    "null_high": np.nan,
    "ci_low": 0.36,
    "ci_high": 0.58,
    "df": 17.0,
    "p_adjusted": 0.0002,
    "statistic_value": 9.06,
    "effect_size": 2.14,
}
OWN = Texts("own", "answers.csv")


def led(*rows: dict[str, Any]) -> Lead:
    return sentences.lead(pd.DataFrame(rows), texts=OWN)


def plain(lead: Lead) -> list[str]:
    return [shown(one) for one in lead.plain]


def test_two_models_lead_with_how_they_differ_and_how_each_stands_beside_prose() -> None:
    lead = led(APART, PLAIN, WARM)
    assert plain(lead) == [
        "On the same 18 prompts, the answers of warm_1 are more strongly worded than those of "
        "plain: 0.95 against 0.48 on the index; were the two alike, chance would give as large a "
        "difference in fewer than 1 of 1,000 such runs.",
        "Ordinary prose about things, in which nobody appears, scores 0.44: warm_1 lies above it, "
        "plain is not told apart from it (0.12 from it would have been, four times of five).",
    ]
    assert "t(17) = 9.06" in shown(lead.technical)
    assert lead.numbers["name"].tolist() == [
        "warm_1 less plain",
        "index of warm_1",
        "index of plain",
    ]
    assert lead.card["N"] == "18 prompts, 2 models"
    assert (lead.figure, lead.texts) == ("dimensions", OWN)


def test_the_weaker_worded_is_named_second_whichever_was_taken_away() -> None:
    swapped = APART | {"model": "plain", "group": "warm_1", "estimate": -0.47}
    assert plain(led(swapped, PLAIN, WARM))[0] == plain(led(APART, PLAIN, WARM))[0]


def test_where_nothing_is_told_apart_the_size_that_would_have_been_is() -> None:
    first, second = plain(led(APART | {"p_adjusted": 0.3}, PLAIN, WARM | {"p_adjusted": 0.4}))
    # Half the interval's length over t(17), times the quantiles of the test and of its power: the
    # first of three that are corrected together.
    size = 0.11 / t.ppf(0.975, 17) * (t.ppf(1 - 0.025 / 3, 17) + t.ppf(0.8, 17))
    assert f"a difference of {size:.2f} or more would have been, four times of five" in first
    assert "plain and warm_1 are not told apart from it" in second


def test_one_model_leads_with_its_index_beside_prose() -> None:
    first, second = plain(led(WARM))
    assert first.startswith("The answers of warm_1 to 18 prompts score 0.95 on the index")
    assert second.endswith(
        "warm_1 lies above it, which chance alone would give in at most 1 of 1,000 such runs."
    )
    assert led(WARM).numbers["name"].tolist() == ["index of warm_1"]


def test_many_models_are_counted_and_the_ends_named() -> None:
    models = [WARM | {"model": f"m{n}", "estimate": 0.5 + n / 10} for n in range(5)]
    pairs = [APART | {"model": "m1", "group": f"m{n}", "p_adjusted": 0.2 * n} for n in (0, 2, 3)]
    first, second = plain(led(*pairs, *models))
    assert first.startswith("Of 5 models the answers of m4 are the most strongly worded (0.90")
    assert "those of m0 the least (0.50); 1 of 3 pairs of models are told apart" in first
    assert "5 of 5 models lie above it" in second


def test_where_nothing_was_measured_the_reason_leads() -> None:
    blank = {"estimate": np.nan, "reason": "the answer is blank", "n": 0}
    lead = led(PLAIN | blank, APART | blank)
    assert plain(lead) == ["Nothing was measured: the answer is blank."]
    assert lead.numbers.empty and lead.technical == ""


def test_rows_that_are_not_told_say_how_many_prompts_would_tell_half_as_much() -> None:
    told = sentences.more(pd.DataFrame([APART, PLAIN, WARM]).assign(claim=1))
    # Told apart: the difference and one index. Half as much takes four times the prompts.
    assert [shown(one) for one in told] == [
        "Index of plain: 18 prompts tell 0.12 or more; half as much takes about 72."
    ]
    small = pd.DataFrame([PLAIN | {"smallest_effect": 0.01, "claim": 1}])
    assert "0.01, which matters, takes about 1,900." in sentences.more(small)[0]


def test_a_claim_without_its_rows_is_not_told_of_twice() -> None:
    gap = APART | {
        "estimate": np.nan,
        "model": np.nan,
        "group": np.nan,
        "reason": "not in this run",
    }
    assert "nan" not in led(gap, WARM).technical
    assert sentences.more(pd.DataFrame([gap, WARM])) == []


def test_an_index_without_an_interval_says_what_would_give_one() -> None:
    (told,) = sentences.more(pd.DataFrame([WARM | {"ci_low": np.nan, "ci_high": np.nan}]))
    assert "an interval takes a second prompt about a dimension" in told


def test_headings_say_what_their_sections_found() -> None:
    rows = ESTIMATES.assign(p_adjusted=np.nan, p_value=0.01, confidence=0.95)
    assert sentences.dimensions(rows) == (
        "Some dimensions are worded more strongly than others in 1 of 1 models"
    )
    untested = rows.assign(p_value=np.nan)
    assert sentences.dimensions(untested) == ""  # its question stays the heading


def test_a_replication_and_other_writers_are_told_apart_where_asked() -> None:
    assert [shown(one)[:5] for one in sentences.printed(BESIDE, again=True)] == ["gpt-4"]
    assert len(sentences.printed(BESIDE, again=False)) == 2
