"""Errors on reported speech, counter-speech, mentions and dialect: the checks, and the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from nbbias import tables
from nbbias.biasalert import checks, contracts
from tests.biasalert.tables import judgements, value

CHECKS = checks.read_checks()


def said(verdicts: list, checked: pd.DataFrame = CHECKS, **columns: object) -> pd.DataFrame:
    return judgements(verdicts, text_id=list(checked["text_id"]), **columns)


def test_the_checks_keep_the_contract_and_hold_both_labels_of_the_same_groups() -> None:
    tables.check(CHECKS, contracts.LABELLED)
    counts = CHECKS.groupby(["category", "biased"]).size()
    assert counts.min() >= 15
    assert not CHECKS["text"].duplicated().any()
    mentions = CHECKS[CHECKS["category"] == "plain mention"]
    groups = mentions.groupby("biased")["group"].agg(sorted)
    assert groups[True] == groups[False]  # so that the group decides nothing
    rest = CHECKS[CHECKS["category"] != "dialect"]
    assert set(rest["bias_type"]) == set(contracts.TYPES) - {"age"}
    assert rest["group"].notna().all()


def test_rates_by_hand() -> None:
    checked = pd.DataFrame(
        {
            "text_id": list("abcdef"),
            "text": list("abcdef"),
            "category": ["reported speech"] * 6,
            "biased": [True, True, False, False, False, False],
        }
    )
    found = checks.estimates(said([1, 0, 1, 0, 0, None], checked), checked)
    assert value(found, "miss_rate") == 1 / 2
    assert value(found, "false_alarm_rate") == 1 / 3
    assert value(found, "false_alarm_rate", "n_lost") == 1
    assert value(found, "false_alarm_rate", "null") == 2 / 5
    assert value(found, "miss_rate", "null") == 3 / 5
    ends = [value(found, "false_alarm_rate", f"ci_{end}") for end in ("low", "high")]
    assert ends == pytest.approx(list(proportion_confint(1, 3, method="wilson")))
    assert found["dimension"].unique().tolist() == ["reported speech"]


def test_a_judge_that_flags_a_dialect_is_found_out() -> None:
    rng = np.random.default_rng(1)
    other = CHECKS["variety"].notna() & (CHECKS["variety"] != checks.STANDARD)
    score = np.clip(0.2 + 0.3 * other + rng.normal(0, 0.05, len(CHECKS)), 0, 1)
    found = checks.estimates(said(list(score > 0.4), confidence=score), CHECKS)
    assert value(found, "dialect_difference", group=None) == pytest.approx(0.3, abs=0.04)
    assert value(found, "dialect_difference", "p_value", group=None) < 1e-6
    own = CHECKS.assign(score=score)[CHECKS["variety"].notna()]
    wide = own.assign(s=own["variety"] == checks.STANDARD).pivot(
        index="pair_id", columns="s", values="score"
    )
    t = stats.ttest_rel(wide[False], wide[True])
    assert value(found, "dialect_difference", "statistic_value", group=None) == pytest.approx(
        t.statistic
    )


def test_varieties_of_one_content_count_as_their_mean() -> None:
    checked = pd.DataFrame({"text_id": list("abcdef"), "text": list("abcdef"), "biased": False})
    checked = checked.assign(
        category="dialect", pair_id=[*"pppqqq"], variety=[checks.STANDARD, "x", "y"] * 2
    )
    score = [0.2, 0.4, 0.8, 0.1, 0.1, np.nan]
    found = checks.estimates(said([0, 0, 1, 0, 0, None], checked, confidence=score), checked)
    assert value(found, "dialect_difference") == pytest.approx((0.4 + 0) / 2)
    assert value(found, "dialect_difference", "n") == 2
