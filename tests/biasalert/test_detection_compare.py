"""Judges against each other, and calibration."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

from nbbias.biasalert import calibration, detection
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, value


def differences(said: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    return detection.estimate_differences(said, truth).estimates


def pair(first: list[int | None], second: list[int | None]) -> pd.DataFrame:
    return pd.concat([judgements(second, judge="b"), judgements(first, judge="a")])


def test_mcnemar_by_hand() -> None:
    # All texts are biased, so right is 1. a alone is right on 6, b alone on 1, both on 3.
    said = pair([1] * 6 + [0] + [1] * 3, [0] * 6 + [1] + [1] * 3)
    found = differences(said, labelled([1] * 10))
    key = {"judge": "a − b"}
    assert value(found, "accuracy_difference", **key) == pytest.approx(0.5)
    expected = stats.chi2.sf((6 - 1) ** 2 / 7, 1)
    assert value(found, "accuracy_difference", "p_value", **key) == pytest.approx(expected)
    chi_square = value(found, "accuracy_difference", "statistic_value", **key) ** 2
    assert chi_square == pytest.approx(25 / 7)
    low, high = (value(found, "accuracy_difference", f"ci_{e}") for e in ("low", "high"))
    assert low < 0 < 0.5 < high <= 1  # as the test, which does not tell them apart
    swapped = differences(said.iloc[::-1], labelled([1] * 10))
    assert value(swapped, "accuracy_difference", judge="b − a") == pytest.approx(-0.5)


def test_texts_of_one_cluster_change_sign_together() -> None:
    # a alone is right on clusters of 3, 2 and 1 texts, b alone on one of 1: totals from -7 to 7.
    texts = labelled([1] * 8, comment_id=[*"aaabbcde"])
    said = pair([1] * 6 + [0, 1], [0] * 6 + [1, 1])
    found = differences(said, texts)
    # |total| is 5 or more with all four signs alike (7) or but for either of the ones (5).
    assert value(found, "accuracy_difference", "p_value") == pytest.approx(6 / 16)
    assert value(found, "accuracy_difference", "p_least") == pytest.approx(2 / 16)
    assert value(found, "accuracy_difference", "test") == detection.SIGN_FLIP
    alone = differences(said, labelled([1] * 8))
    p = stats.chi2.sf(5**2 / 7, 1)
    assert value(alone, "accuracy_difference", "p_value") == pytest.approx(p)


def test_only_texts_with_both_verdicts_are_compared_and_the_rest_is_counted() -> None:
    found = differences(pair([1, 1, None, 0], [1, 0, 1, None]), labelled([1] * 4))
    assert value(found, "accuracy_difference", "n") == 2
    assert value(found, "accuracy_difference", "n_lost") == 2
    assert value(found, "accuracy_difference") == 0.5
    nothing = differences(pair([None, 1], [1, None]), labelled([1, 1]))
    assert value(nothing, "accuracy_difference", "reason") == "no text has both verdicts"


def test_judges_alike_are_not_tested_and_three_judges_are_corrected_together() -> None:
    same = differences(pair([1, 0], [1, 0]), labelled([1, 1]))
    assert value(same, "accuracy_difference") == 0
    assert np.isnan(value(same, "accuracy_difference", "p_value"))
    three = pd.concat([pair([1] * 12, [0] * 12), judgements([1] * 6 + [0] * 6, judge="c")])
    found = differences(three, labelled([1] * 12))
    assert len(found) == 3
    p = sorted(found["p_value"])
    assert min(found["p_adjusted"]) == pytest.approx(3 * p[0])


# --- calibration --------------------------------------------------------------------------------


def test_brier_and_calibration_error_against_other_ways() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = rng.random(500) < p**2
    said = judgements(p > 0.5, confidence=p)
    few = InferenceSettings(n_permutations=200)
    found = calibration.estimates(said, labelled(y), inference=few)
    assert value(found, "brier") == pytest.approx(metrics.brier_score_loss(y, p))
    assert value(found, "brier", "null") == pytest.approx(y.mean() * (1 - y.mean()))
    bins = pd.DataFrame({"off": p - y, "bin": np.floor(p * 10)}).groupby("bin")["off"].sum()
    assert value(found, "calibration_error") == pytest.approx(bins.abs().sum() / 500)
    assert value(found, "calibration_error") > value(found, "calibration_error", "null_high")


def test_a_score_of_something_else_is_left_out_with_its_reason() -> None:
    both = [judgements([1, 0], judge=name, confidence=[0.8, 0.1]) for name in ("toxicity", "b")]
    few = InferenceSettings(n_permutations=20)
    found = calibration.estimates(pd.concat(both), labelled([1, 0]), inference=few)
    own = found[found["judge"] == "toxicity"]
    assert own["estimate"].isna().all() and set(own["reason"]) == {JUDGES["toxicity"].score}
    assert own["n_lost"].tolist() == [2, 2]
    assert value(found, "brier", judge="b") == pytest.approx((0.04 + 0.01) / 2)
