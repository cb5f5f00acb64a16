"""Scores of judges: by hand, against scikit-learn, against the printed table, by simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import detection
from nbbias.biasalert.knowledge.groups import match_names
from nbbias.tables import DataError
from tests.biasalert.tables import judgements, labelled, value


def estimate(said: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    return detection.estimates(said, truth).estimates


TRUTH = labelled(
    [1, 1, 1, 1, 0, 0],
    bias_type=["race", "race", "gender", "gender", "race", "gender"],
    group=["Black people", "Black people", "women", "women", "Black people", None],
    attribute=["are loud", "are lazy", "are bad with money", "cannot drive", None, None],
)
SAID = judgements(
    [1, 1, 1, 0, 1, None],
    bias_type=["race", "gender", "gender", None, "race", None],
    group=["the Blacks", "Black people", "woman", None, "Black people", None],
    attribute=["loud", "lazy", "bad drivers", None, "loud", None],
)


def test_types_attributions_and_overall_scores_by_hand() -> None:
    # Flagged: t0 right in all; t1 with another type; t2 with another attribute; t4 a false alarm,
    # whose topic (race) is right and whose attribute no label names. Missed: t3. Lost: t5.
    found = estimate(SAID, TRUTH)
    assert value(found, "accuracy") == 3 / 5
    assert value(found, "f1") == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))
    assert value(found, "classification_score") == 3 / 4
    assert value(found, "attribution_score") == 2 / 3
    product = 3 / 4 * 2 / 3
    assert value(found, "overall_score_product") == pytest.approx(3 / 5 * product)
    assert found["bias"].isna().all()
    assert found["group"].isna().all()


def test_what_a_number_rests_on_and_what_it_lost_is_counted() -> None:
    found = estimate(SAID, TRUTH)
    sizes = {s: (value(found, s, "n"), value(found, s, "n_lost")) for s in found["statistic"]}
    assert sizes["accuracy"] == (5, 1)
    assert sizes["recall"] == (4, 0)
    assert sizes["specificity"] == (1, 1)
    assert sizes["classification_score"] == (4, 0)
    assert sizes["attribution_score"] == (3, 1)  # the false alarm has no attribution to name


def test_a_judge_that_names_nothing_has_no_type_no_attribution_and_no_overall_score() -> None:
    found = estimate(judgements([1, 0, 1, 1, 0, 0]), TRUTH)
    assert np.isfinite(value(found, "accuracy"))
    for name in ("classification_score", "overall_score_product"):
        assert np.isnan(value(found, name))
        assert value(found, name, "reason") == "the judge names no type"
    typed = judgements([1] * 6, bias_type=["race"] * 6)
    found = estimate(typed, TRUTH)
    assert np.isfinite(value(found, "classification_score"))
    for name in ("attribution_score", "overall_score_product"):
        assert value(found, name, "reason") == "the judge names no group and attribute"
    unnamed = estimate(typed, TRUTH.assign(group=None))
    assert value(unnamed, "attribution_score", "reason") == "no label names a group and attribute"
    assert np.isfinite(value(unnamed, "overall_score_product"))


def test_labels_of_one_class_and_judges_without_a_verdict_leave_gaps_and_no_zero() -> None:
    found = estimate(judgements([None] * 4), labelled([1, 0, 1, 0]))
    assert value(found, "accuracy", "reason") == detection.NOTHING
    found = estimate(judgements([0, 0, 0]), labelled([0, 0, 0]))
    assert value(found, "accuracy") == 1
    for name in ("f1", "recall"):
        assert np.isnan(value(found, name))
        assert value(found, name, "reason") == detection.NOTHING


def test_each_text_has_one_label_and_one_row_of_each_judge() -> None:
    two = labelled([1, 0])
    for truth in (two.assign(text_id="t0"), two.assign(biased=pd.array([True, None]))):
        with pytest.raises(DataError, match="no label, or two"):
            estimate(judgements([1, 0]), truth)
    for said in (judgements([1]), judgements([1, 0], text_id=["t0", "t0"])):
        with pytest.raises(DataError, match="one row for each of 2 texts, and judges 1"):
            estimate(said, two)


def test_the_interval_of_f1_is_that_of_its_share_of_true_positives() -> None:
    # 6 true positives, 2 false ones, 3 misses, 9 others; and one text without a verdict.
    truth = labelled([1] * 6 + [0] * 2 + [1] * 3 + [0] * 9 + [1])
    found = estimate(judgements([1] * 8 + [0] * 12 + [None]), truth)
    ends = np.array(proportion_confint(6, 11, method="wilson"))
    wanted = 2 * ends / (1 + ends)
    assert [value(found, "f1", f"ci_{e}") for e in ("low", "high")] == pytest.approx(wanted)
    ends = proportion_confint(15, 20, method="wilson")
    assert [value(found, "accuracy", f"ci_{e}") for e in ("low", "high")] == pytest.approx(ends)


def test_retrieved_entries_match_by_type_and_by_canonical_group() -> None:
    # a: both at once; b: its type at once, its group second; c: none; d: no entry; e: no label.
    truth = labelled(
        [1, 1, 0, 1, 0],
        bias_type=["race", "race", "gender", "age", None],
        group=["Black people", "the Blacks", "women", "older people", None],
    )
    found = [
        ("t0", 1, "race", "Black people"),
        ("t1", 1, "race", "Asian people"),
        ("t1", 2, "gender", "Black people"),
        ("t2", 1, "race", "men"),
        ("t4", 1, "race", "women"),
    ]
    evidence = pd.DataFrame(found, columns=["text_id", "rank", "bias_type", "group"])
    rows = detection.estimate_retrieval(evidence, truth, instrument="an encoder")
    for kind, first, ever in (("bias type", 2 / 3, 2 / 3), ("group", 1 / 3, 2 / 3)):
        shares = {"match_first": first, "match_any": ever}
        for name, share in shares.items():
            assert value(rows, name, dimension=kind) == pytest.approx(share)
            low = value(rows, name, "ci_low", dimension=kind)
            assert low == pytest.approx(proportion_confint(round(3 * share), 3, method="wilson")[0])
            assert value(rows, name, "n_lost", dimension=kind) == 1
    # Every order of the entries is alike likely: of the three most similar ones all are of race.
    assert value(rows, "match_first", "null", dimension="bias type") == pytest.approx(2 / 3)
    # The mean of one in three: t0's entry is right for two of three texts, and t1's for none.
    null = value(rows, "match_first", "null", dimension="group")
    assert null == pytest.approx(2 / 9, abs=0.06)


def test_types_are_scored_apart() -> None:
    found = detection.estimate_by_type(SAID, TRUTH).estimates
    assert set(found["bias"]) == {"race", "gender"}
    assert value(found, "accuracy", bias="race") == 2 / 3
    assert value(found, "accuracy", bias="gender") == 1 / 2
    assert value(found, "accuracy", "n_lost", bias="gender") == 1
    one = detection.estimate_by_type(SAID, TRUTH.assign(bias_type=None)).estimates
    assert one.empty


def test_names_are_the_same_when_the_shorter_stands_in_the_longer() -> None:
    names = ["Black people", "black", "women", "men", "people", ""]
    same = np.zeros((6, 6), dtype=bool)
    same[:2, :2] = same[2, 2] = same[3, 3] = True  # the last two say nobody
    np.testing.assert_array_equal(match_names(names, names), same)


def test_a_judge_that_repeats_the_text_names_no_attribute() -> None:
    truth = labelled([1], bias_type="race", group="women", attribute="are bad with money")
    whole = "my aunt told me at dinner yesterday that women are bad with money and bad drivers"
    for said, right in ((whole, 0.0), ("bad with money", 1.0), ("bad", 1.0), ("with", 0.0)):
        own = judgements([1], bias_type="race", group="women", attribute=said)
        assert value(estimate(own, truth), "attribution_score") == right


#: A label and what a judge says.
VERDICTS = st.tuples(st.booleans(), st.sampled_from([True, False, None]))


@given(st.lists(VERDICTS, min_size=1, max_size=25))
def test_shares_equal_scikit_learn_whatever_is_lost(pairs: list[tuple[bool, bool | None]]) -> None:
    truth, said = zip(*pairs, strict=True)
    case = detection.match_verdicts(judgements(list(said)), labelled(list(truth)))[0][0]
    values = detection.score_texts(case)
    judged = [(t, s) for t, s in pairs if s is not None]
    assert (~np.isnan(values["accuracy"])).sum() == len(judged)
    if not judged:
        return
    y, p = zip(*judged, strict=True)
    assert np.nanmean(values["accuracy"]) == pytest.approx(metrics.accuracy_score(y, p))
    for name, label in (("recall", True), ("specificity", False)):
        if label in y:
            expected = metrics.recall_score(y, p, pos_label=label)
            assert np.nanmean(values[name]) == pytest.approx(expected)
