"""Bias levels: Wilson, coverage of a known truth by labels and verdicts, agreement with people."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import levels
from tests.biasalert.tables import judgements, value


def answers(n: int, model: str = "m", **columns: Any) -> pd.DataFrame:
    ids = [f"t{i}" for i in range(n)]
    return pd.DataFrame({"text_id": ids, "model": model, "text": ids}).assign(**columns)


def human(biased: list[int], *, random: bool = False) -> levels.HumanLabels:
    ids = [f"t{i}" for i in range(len(biased))]
    labels = pd.DataFrame({"text_id": ids, "biased": [bool(b) for b in biased]})
    return levels.HumanLabels(labels, random)


def test_a_level_is_a_share_with_wilsons_interval() -> None:
    found = levels.estimates(answers(10), judgements([1, 1, 0, 0, 0, 0, 0, 0, None, None]))
    assert value(found, "biased_share") == 2 / 8
    expected = proportion_confint(2, 8, method="wilson")
    ends = [value(found, "biased_share", f"ci_{end}") for end in ("low", "high")]
    assert ends == pytest.approx(list(expected))
    assert value(found, "biased_share", "n_lost") == 2
    assert set(found["measure"]) == {"bias_level"}


def test_answers_that_are_all_alike_are_worth_no_more_than_their_prompts() -> None:
    table = answers(6, prompt_id=["p", "p", "q", "q", "r", "r"])
    alike = levels.estimates(table, judgements([0] * 6))
    assert value(alike, "biased_share") == value(alike, "biased_share", "ci_low") == 0
    high = proportion_confint(0, 3, method="wilson")[1]
    assert value(alike, "biased_share", "ci_high") == pytest.approx(high)


# --- labels and verdicts ------------------------------------------------------------------------


def test_without_a_random_sample_shares_are_flags() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.3
    said = judgements(list(np.where(rng.random(400) < 0.85, truth, ~truth)))
    labels = human([*truth[:200].astype(int)])
    plain = levels.estimates(answers(400), said)
    assert value(plain, "biased_share_two_phase", "reason") == levels.NO_SAMPLE
    picked = levels.estimates(answers(400), said, people=labels)
    assert value(picked, "biased_share_two_phase", "reason") == levels.NOT_RANDOM
    found = levels.estimates(answers(400), said, people=labels._replace(random=True))
    low, high = (value(found, "biased_share_two_phase", f"ci_{end}") for end in ("low", "high"))
    assert low < truth.mean() < high
    assert value(found, "biased_share_labelled") == pytest.approx(truth[:200].mean())
    ends = [value(found, "biased_share_labelled", f"ci_{end}") for end in ("low", "high")]
    expected = proportion_confint(truth[:200].sum(), 200, method="wilson")
    assert ends == pytest.approx(list(expected))
    assert value(found, "biased_share", "null") == pytest.approx(0.15, abs=0.08)


def test_prompts_count_equally_however_many_answers_they_have() -> None:
    # One prompt has six answers, all flagged; two have two, none flagged. The judge is right.
    table = answers(10, prompt_id=["p"] * 6 + ["q", "q", "r", "r"])
    said, labels = judgements([1] * 6 + [0] * 4), human([1] * 6 + [0] * 4)
    found = levels.estimates(table, said, people=labels._replace(random=True))
    for name in ("biased_share", "biased_share_labelled", "biased_share_two_phase"):
        assert value(found, name) == pytest.approx(1 / 3)
        assert value(found, name, "n") == 3
    alone = table.assign(prompt_id=table["text_id"])
    once = levels.estimates(alone, said, people=labels._replace(random=True))
    assert value(once, "biased_share_two_phase") == pytest.approx(0.6)


def test_a_sample_is_random_blind_and_of_every_model() -> None:
    table = answers(60, model=["a"] * 40 + ["b"] * 20)  # type: ignore[arg-type]
    drawn = levels.draw_sample(table, size=25, seed=1)
    assert list(drawn) == ["text_id", "text"]
    models = drawn.merge(table[["text_id", "model"]], on="text_id")["model"]
    assert models.value_counts().to_dict() == {"a": 25, "b": 20}
    assert models.tolist() != sorted(models)
    assert set(levels.draw_sample(table, size=25, seed=2)["text_id"]) != set(drawn["text_id"])


def agreement(table: pd.DataFrame, said: pd.DataFrame, people: levels.HumanLabels) -> pd.DataFrame:
    found = levels.estimates(table, said, people=people)
    return found[found["statistic"].isin(["agreement", "kappa"])]


# --- agreement ----------------------------------------------------------------------------------


def test_kappa_is_scikit_learns_and_lies_beyond_chance() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(80) < 0.4
    said = np.where(rng.random(80) < 0.85, truth, ~truth)
    found = agreement(answers(90), judgements([*said, *[None] * 10]), human([*truth.astype(int)]))
    key = {"model": None}
    assert value(found, "kappa", **key) == pytest.approx(cohen_kappa_score(truth, said))
    assert value(found, "agreement", **key) == pytest.approx((truth == said).mean())
    assert value(found, "kappa", "null", **key) == pytest.approx(0, abs=1e-12)
    assert value(found, "kappa", "null_high", **key) < value(found, "kappa", "ci_low", **key)
    assert value(found, "kappa", model="m") == value(found, "kappa", **key)


def test_where_nothing_is_biased_agreement_is_high_and_kappa_has_no_value() -> None:
    found = agreement(answers(5), judgements([0] * 5), human([0] * 5))
    assert value(found, "agreement", model=None) == value(found, "agreement", "null", model=None)
    assert np.isnan(value(found, "kappa", model=None))
    assert "alike" in value(found, "kappa", "reason", model=None)
    lost = agreement(answers(5), judgements([None] * 5), human([0] * 5))
    assert value(lost, "kappa", "n_lost", model=None) == 5


def test_error_rates_are_of_answers_with_that_label() -> None:
    people = human([1, 1, 0, 0, 0, 0])
    found = levels.estimates(answers(6), judgements([1, 0, 1, 0, 0, None]), people=people)
    assert value(found, "false_negative_rate", model=None) == 1 / 2
    assert value(found, "false_positive_rate", model=None) == pytest.approx(1 / 3)
    assert value(found, "false_positive_rate", "n", model=None) == 3


# --- several annotators -------------------------------------------------------------------------


def test_agreement_of_two_raters_is_of_the_answers_that_both_judged() -> None:
    said = {"ann": [1, 1, 0, 0, 0], "bob": [1, 0, 0, 1, 0]}
    rows = [(f"t{i}", name, bool(b)) for name, all_ in said.items() for i, b in enumerate(all_)]
    labels = pd.DataFrame(rows, columns=["text_id", "annotator", "biased"])
    people = levels.HumanLabels.of(labels, random=True)
    assert people.labels["biased"].tolist() == [True, True, False, True, False]
    verdicts = [judgements([1, 1, 1, 0, 0], judge="one"), judgements([0] * 5, judge="two")]
    found = levels.estimates(answers(5), pd.concat(verdicts), people=people)
    key = {"judge": "one", "model": None}
    each = [value(found, "rater_agreement", evaluator=f"annotator {name}", **key) for name in said]
    assert each == pytest.approx([4 / 5, 2 / 5])
    assert value(found, "annotator_agreement", **key) == pytest.approx(np.mean(each))
    assert value(found, "annotator_agreement_sd", **key) == pytest.approx(np.std(each, ddof=1))
    assert value(found, "rater_agreement", evaluator="two", **key) == pytest.approx(2 / 5)
    people_key = {"judge": "annotator ann", "evaluator": "annotator bob", "model": None}
    assert value(found, "rater_agreement", **people_key) == pytest.approx(3 / 5)
    kappa = cohen_kappa_score(said["ann"], said["bob"])
    assert value(found, "rater_kappa", **people_key) == pytest.approx(kappa)
    assert value(found, "agreement", **key) == pytest.approx(3 / 5)  # with the majority
    both = pd.concat([judgements([1, 0, 1]), judgements([1, None, 0], judge="other")])
    alone = levels.estimates(answers(3), both)
    assert value(alone, "rater_agreement", model=None) == 1 / 2
