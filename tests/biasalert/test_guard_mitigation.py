"""What a guard is worth, by labels that are not its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as distributions
from statsmodels.stats.proportion import proportion_confint

from nbbias import tables
from nbbias.biasalert import guard, sentences
from nbbias.biasalert.guard import guard_texts
from nbbias.tables import ContractError, DataError


def table(pairs: list[tuple[bool | None, bool | None, bool]], model: str = "m") -> pd.DataFrame:
    """One row per (biased without, biased with, stopped)."""
    rows = [
        (f"{model}{n}", model, "openai/judge, no steps", stopped, 0.1 * (n + 1), before, after)
        for n, (before, after, stopped) in enumerate(pairs)
    ]
    columns = ["text_id", "model", "judge", "stopped", "seconds", "biased_without", "biased_with"]
    made = pd.DataFrame(rows, columns=columns)
    return made.astype({"biased_without": "boolean", "biased_with": "boolean"})


#: 6 biased and stopped in time, 1 stopped too late, 1 missed, 1 stopped for nothing, 11 fine.
PAIRS: list[tuple[bool | None, bool | None, bool]] = (
    [(True, False, True)] * 6
    + [(True, True, True), (True, None, False), (False, False, True)]
    + [(False, None, False)] * 11
)


def by_statistic(estimates: pd.DataFrame) -> pd.DataFrame:
    return estimates.set_index("statistic")


def test_shares_with_and_without_are_those_of_the_labels() -> None:
    found = guard.estimates(table(PAIRS), labelled_by="people")
    tables.check(found, tables.ESTIMATES)
    own = by_statistic(found)
    assert own["estimate"].round(6).to_dict() == {
        "biased_share_without": 8 / 20,
        "biased_share_with": 2 / 20,
        "biased_share_difference": -6 / 20,
        "stopped_share": 8 / 20,
        "stopped_without_bias": round(1 / 12, 6),
        "seconds": 0.1 * 21 / 2,
    }
    low, high = proportion_confint(8, 20, method="wilson")
    assert own.loc["biased_share_without", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [low, high]
    )
    # Exact McNemar: all 6 discordant pairs on one side, twice 1/2 to the 6th.
    assert own.loc["biased_share_difference", "p_value"] == pytest.approx(2 * 0.5**6)
    assert own.loc["biased_share_difference", "null"] == 0
    assert set(found["evaluator"]) == {"people"}
    assert set(found["judge"]) == {"openai/judge, no steps"}
    assert (found["study"].iloc[0], found["measure"].iloc[0]) == ("biasalert", "mitigation")


def test_what_was_stopped_is_told_first_by_what_it_was() -> None:
    both = pd.concat([table(PAIRS), table(PAIRS, model="n")])
    first, second = sentences.mitigation(guard.estimates(both, labelled_by="people"))
    assert first == "The guard stopped 2 of 24 unbiased answers, and 14 of 16 biased ones."
    assert "2 changes of a model's share" in second
    unknown = table([*PAIRS, (None, None, True)])
    first, _ = sentences.mitigation(guard.estimates(unknown, labelled_by="people"))
    assert first == "The guard stopped 1 of 12 unbiased answers."


@pytest.mark.parametrize("by", ["openai/judge", "openai/judge, no steps", "OpenAI/Judge "])
def test_the_guards_own_judge_may_not_label(by: str) -> None:
    with pytest.raises(DataError, match="judge itself"):
        guard.estimates(table(PAIRS), labelled_by=by)
    assert len(guard.estimates(table(PAIRS), labelled_by="openai/judge-2")) == 6


def test_pairs_without_a_label_are_lost_and_counted() -> None:
    found = by_statistic(
        guard.estimates(
            table([*PAIRS, (None, None, False), (True, None, True)]), labelled_by="people"
        )
    )
    assert found.loc["biased_share_difference", ["n", "n_lost"]].tolist() == [20, 2]
    assert found.loc["biased_share_without", "estimate"] == 8 / 20


def test_what_was_stopped_before_its_first_word_needs_no_label() -> None:
    own = table([(True, None, True), (True, None, True)]).assign(characters=[0, 5])
    found = by_statistic(guard.estimates(own, labelled_by="people"))
    assert found.loc["biased_share_with", ["estimate", "n", "n_lost"]].tolist() == [0, 1, 1]


def test_a_text_on_which_the_judge_failed_throughout_is_lost_and_not_clean() -> None:
    failed = [(True, None, False)] * 4 + [(False, None, False)] * 3
    own = table([*PAIRS, *failed]).assign(
        judged=[2] * 20 + [0] * 7, without_verdict=[0] * 19 + [1] + [2] * 7
    )
    found = by_statistic(guard.estimates(own, labelled_by="people"))
    tables.check(found.reset_index(), tables.ESTIMATES)
    for name in ("without", "with", "difference"):
        assert found.loc[f"biased_share_{name}", ["n", "n_lost"]].tolist() == [20, 7]
    assert found.loc["biased_share_without", "estimate"] == 8 / 20
    assert found.loc["stopped_share", ["estimate", "n", "n_lost"]].tolist() == [8 / 20, 20, 7]
    assert found.loc["stopped_without_bias", "estimate"] == pytest.approx(1 / 12)
    assert found.loc["unguarded_share", "estimate"] == pytest.approx(8 / 27)


def test_a_guard_that_never_judged_is_worth_nothing_measured() -> None:
    def dead(texts: pd.DataFrame, evidence: pd.DataFrame | None) -> pd.DataFrame:
        raise TimeoutError("no verdict")

    texts = pd.DataFrame({"text_id": ["a", "b"], "text": ["Fine.", "Not so."], "model": "m"})
    own = guard_texts(texts, dead).assign(biased_without=[False, False], biased_with=False)
    found = by_statistic(guard.estimates(own, labelled_by="people"))
    assert found.loc["biased_share_with", ["n", "n_lost"]].tolist() == [0, 2]
    assert np.isnan(found.loc["biased_share_with", "estimate"])
    assert found.loc["unguarded_share", "estimate"] == 1


def test_no_bias_at_all_is_no_difference_with_an_interval() -> None:
    found = by_statistic(guard.estimates(table([(False, None, False)] * 9), labelled_by="people"))
    row = found.loc["biased_share_difference"]
    assert (row["estimate"], row["p_value"]) == (0, 1)
    assert row["ci_low"] < 0 < row["ci_high"]


def test_nothing_labelled_is_nothing_measured() -> None:
    found = by_statistic(guard.estimates(table([(None, None, False)]), labelled_by="people"))
    row = found.loc["biased_share_difference"]
    assert np.isnan(row["estimate"]) and row["reason"] == "no unit has both labels"
    assert found.loc["stopped_share", "estimate"] == 0
    assert guard.estimates(table([]), labelled_by="people").empty
    with pytest.raises(ContractError, match="biased_with"):
        guard.estimates(table(PAIRS).drop(columns="biased_with"), labelled_by="people")


def test_models_are_told_apart_and_tests_corrected_together() -> None:
    both = pd.concat([table(PAIRS, "a"), table(PAIRS[:9], "b"), table(PAIRS[8:], "c")])
    found = guard.estimates(both, labelled_by="people")
    tests = found[found["statistic"] == "biased_share_difference"].set_index("model")
    # Holm by hand: 1/32 twice of three, then 1.
    assert tests["p_value"].tolist() == pytest.approx([1 / 32, 1 / 32, 1])
    assert tests["p_adjusted"].tolist() == pytest.approx([3 / 32, 3 / 32, 1])


# --- the interval ---------------------------------------------------------------------------------


def paired(more: int, less: int, same: int, **settings: Any) -> dict[str, Any]:
    before = pd.Series([False] * more + [True] * less + [False] * same)
    after = pd.Series([True] * more + [False] * less + [False] * same)
    return guard.paired_shares(before, after, confidence=settings.get("confidence", 0.95))


def test_the_interval_by_hand() -> None:
    # more 1, less 6, n 20: p12 = 2/22, p21 = 7/22; d = -5/22; se² = (9/22 - 25/484)/22.
    half = distributions.norm.ppf(0.975) * np.sqrt((9 / 22 - 25 / 484) / 22)
    row = paired(1, 6, 13)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([-5 / 22 - half, -5 / 22 + half])
    assert row["estimate"] == pytest.approx(-0.25)


def test_swapped_sides_swap_the_sign() -> None:
    one, other = paired(2, 7, 30), paired(7, 2, 30)
    assert one["estimate"] == -other["estimate"] and one["p_value"] == other["p_value"]
    assert [one["ci_low"], one["ci_high"]] == pytest.approx([-other["ci_high"], -other["ci_low"]])


@pytest.mark.parametrize(("more", "less", "same"), [(0, 10, 0), (10, 0, 0), (0, 0, 1), (0, 1, 0)])
def test_at_the_edges_the_interval_holds_the_estimate(more: int, less: int, same: int) -> None:
    row = paired(more, less, same)
    assert -1 <= row["ci_low"] <= row["estimate"] <= row["ci_high"] <= 1


def test_the_interval_covers_a_planted_difference() -> None:
    rng = np.random.default_rng(7)
    covered, runs = 0, 600
    for _ in range(runs):
        drawn = rng.multinomial(40, [0.025, 0.15, 0.825])  # the paper's 40 texts
        row = paired(*map(int, drawn))
        covered += row["ci_low"] <= 0.025 - 0.15 <= row["ci_high"]
    # 95% give or take 3 standard errors of 600 runs
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
