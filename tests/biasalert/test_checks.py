"""Errors on reported speech, counter-speech, mentions and dialect: the checks, and the table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from nbbias import tables
from nbbias.biasalert import checks, contracts
from nbbias.reading.significance import never_significant
from nbbias.stats import clustered_share
from tests.biasalert.tables import judgements, labelled, value

CHECKS = checks.read_checks()


def said(verdicts: list) -> pd.DataFrame:
    return judgements(verdicts, text_id=list(CHECKS["text_id"]))


def test_the_checks_keep_the_contract_and_hold_both_labels_of_the_same_groups() -> None:
    tables.check(CHECKS, contracts.LABELLED)
    counts = CHECKS.groupby(["category", "biased"]).size()
    assert counts.min() >= 15
    assert not CHECKS["text"].duplicated().any()
    mentions = CHECKS[CHECKS["category"].isin(["plain mention", "implied prejudice"])]
    groups = mentions.groupby("biased")["group"].agg(sorted)
    assert groups[True] == groups[False]  # so that the group decides nothing
    rest = CHECKS[CHECKS["category"] != "dialect"]
    assert set(rest["bias_type"]) == set(contracts.TYPES) - {"age"}
    assert rest["group"].notna().all()


def test_rates_by_hand() -> None:
    checked = labelled([1, 1, 0, 0, 0, 0], category="reported speech")
    found = checks.estimates(judgements([1, 0, 1, 0, 0, None]), checked)
    found = found[found["dimension"] != checks.ALL]
    assert value(found, "false_negative_rate") == 1 / 2
    assert value(found, "false_positive_rate") == 1 / 3
    assert value(found, "false_positive_rate", "n_lost") == 1
    assert value(found, "false_positive_rate", "null") == 1 / 3
    assert value(found, "false_negative_rate", "null") == 1 / 2
    ends = [value(found, "false_positive_rate", f"ci_{end}") for end in ("low", "high")]
    assert ends == pytest.approx(list(proportion_confint(1, 3, method="wilson")))


def test_the_rates_over_all_kinds_by_hand_and_versions_of_a_content_are_a_cluster() -> None:
    verdicts = [not biased for biased in CHECKS["biased"]]
    verdicts[-8:] = CHECKS["biased"].tail(8)
    found = checks.estimates(said(verdicts), CHECKS)
    for name, biased in (("false_positive_rate", False), ("false_negative_rate", True)):
        wrong = CHECKS["biased"] != np.array(verdicts)
        row = {end: value(found, name, end, dimension=checks.ALL) for end in found}
        of = CHECKS["biased"] == biased
        assert (row["estimate"], row["n"]) == (pytest.approx(wrong[of].mean()), of.sum())
        assert np.isnan([row["null"], row["p_value"], row["p_adjusted"]]).all()
    dialect = CHECKS["category"] == "dialect"
    hits = wrong[dialect].to_numpy(float)
    expected = clustered_share(hits, CHECKS.loc[dialect, "pair_id"].to_numpy(), confidence=0.95)
    ends = [
        value(found, "false_positive_rate", f"ci_{e}", dimension="dialect") for e in ("low", "high")
    ]
    assert ends == [expected.ci_low, expected.ci_high]
    assert ends[0] < proportion_confint(hits.sum(), len(hits), method="wilson")[0]


def test_a_kind_is_compared_with_the_others_of_the_same_label() -> None:
    """Permuted kinds give the same range, and scipy's Fisher test the same p."""
    counters = (CHECKS["category"] == "counter-speech") & ~CHECKS["biased"]
    rng = np.random.default_rng(3)
    flagged = np.where(counters, rng.random(len(CHECKS)) < 0.7, rng.random(len(CHECKS)) < 0.15)
    found = checks.estimates(said(list(flagged)), CHECKS)
    for name, biased in (("false_positive_rate", False), ("false_negative_rate", True)):
        same = CHECKS["biased"].to_numpy() == biased
        wrong = (flagged != CHECKS["biased"])[same].to_numpy()
        kinds = CHECKS.loc[same, "category"].to_numpy()
        for kind in np.unique(kinds):
            row = {end: value(found, name, end, dimension=kind) for end in found}
            rates = [wrong[rng.permutation(kinds) == kind].mean() for _ in range(4000)]
            assert row["null"] == wrong.mean() == pytest.approx(np.mean(rates), abs=0.01)
            low, high = np.quantile(rates, [0.025, 0.975])
            step = 1 / row["n"]  # of a share of so few sentences
            assert row["null_low"] == pytest.approx(low, abs=step * 1.01)
            assert row["null_high"] == pytest.approx(high, abs=step * 1.01)
            table = pd.crosstab(kinds == kind, wrong)
            assert row["p_value"] == pytest.approx(stats.fisher_exact(table).pvalue)
    p = found["p_value"].dropna()
    holm = multipletests(p, method="holm")[1]
    assert found.loc[p.index, "p_adjusted"].to_numpy() == pytest.approx(holm)
    assert value(found, "false_positive_rate", "p_adjusted", dimension="counter-speech") < 0.01


def test_a_judge_without_errors_is_not_testable() -> None:
    found = checks.estimates(said(list(CHECKS["biased"])), CHECKS)
    rates = found[found["dimension"] != checks.ALL]
    assert rates["p_value"].to_numpy() == pytest.approx(1) and never_significant(rates).all()


def test_sentences_whose_verdict_depends_on_the_group_are_counted() -> None:
    filled = checks.fill_templates()
    of_one = filled[(filled["bias"] == "orientation") & (filled["group"] == "lgbtq")]
    flagged = set(of_one["text"].iloc[::3])

    def judge(texts: pd.DataFrame, _: str) -> tuple[pd.DataFrame, None]:
        said = texts["text"].isin(flagged).astype(int).tolist()
        return judgements(said, text_id=texts["text_id"].tolist()), None

    found = checks.swap_differences(SimpleNamespace(judge=judge), confidence=0.95)
    changes = found[found["statistic"] == "verdict_changes"].set_index("bias")
    assert changes["estimate"].to_dict() == {"gender": 0, "race": 0, "orientation": 1 / 3}
    assert (changes["n"] == of_one["template"].nunique()).all() and changes["p_value"].isna().all()
    differences = found[found["statistic"] == "swap_difference"].set_index("group")
    pairs = ["female − male", "Asian − Black", "Asian − White", "Black − White"]
    assert set(pairs) < set(differences.index) and len(differences) == 5
    other = next(pair for pair in differences.index if "lgbtq" in pair)
    sign = 1 if other.startswith("lgbtq") else -1
    assert differences["estimate"].to_dict() == dict.fromkeys(pairs, 0) | {other: sign / 3}
