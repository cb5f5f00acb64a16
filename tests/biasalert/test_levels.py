"""Bias levels: Wilson, coverage of a known truth by labels and verdicts, agreement with people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import levels
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, DataError
from tests.biasalert.tables import judgements, value


def answers(n: int, model: str = "m", **columns: Any) -> pd.DataFrame:
    ids = [f"t{i}" for i in range(n)]
    return pd.DataFrame({"text_id": ids, "model": model, "text": ids}).assign(**columns)


def human(biased: list[int], first: int = 0, *, random: bool = False) -> levels.People:
    ids = [f"t{i + first}" for i in range(len(biased))]
    labels = pd.DataFrame({"text_id": ids, "biased": [bool(b) for b in biased]})
    return levels.People(labels, random)


def test_a_level_is_a_share_with_wilsons_interval_and_its_bounds_take_losses_along() -> None:
    found = levels.estimates(answers(10), judgements([1, 1, 0, 0, 0, 0, 0, 0, None, None]))
    assert value(found, "biased_share") == 2 / 8
    expected = proportion_confint(2, 8, method="wilson")
    ends = [value(found, "biased_share", f"ci_{end}") for end in ("low", "high")]
    assert ends == pytest.approx(list(expected))
    assert value(found, "biased_share", "n_lost") == 2
    assert value(found, "biased_share_lost_unbiased") == 2 / 10
    assert value(found, "biased_share_lost_biased") == 4 / 10
    assert set(found["measure"]) == {"bias_level"}


def test_models_judges_and_domains_stay_apart() -> None:
    table = answers(4, model=["a", "a", "b", "b"], domain=["x", "y", "x", "x"])  # type: ignore[arg-type]
    said = pd.concat([judgements([1, 0, 0, 0]), judgements([1, 1, 1, 0], judge="other")])
    found = levels.estimates(table, said, by="domain")
    assert value(found, "biased_share", judge="judge", model="a", topic=None) == 0.5
    assert value(found, "biased_share", judge="judge", model="a", topic="x") == 1
    assert value(found, "biased_share", judge="other", model="b", topic=None) == 0.5


def test_prompts_asked_repeatedly_are_the_unit() -> None:
    table = answers(6, prompt_id=["p", "p", "q", "q", "r", "r"])
    found = levels.estimates(table, judgements([1, 1, 1, 0, 0, 0]))
    assert value(found, "biased_share") == 0.5
    assert value(found, "biased_share", "n") == 3
    # Answers that are all alike are worth no more than their prompts.
    alike = levels.estimates(table, judgements([0] * 6))
    assert value(alike, "biased_share") == value(alike, "biased_share", "ci_low") == 0
    assert value(alike, "biased_share", "ci_high") == pytest.approx(
        proportion_confint(0, 3, method="wilson")[1]
    )


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
    with pytest.raises(DataError, match="3 human labels are of texts that are not among"):
        levels.estimates(answers(400), said, people=human([1] * 3, first=399 + 1))


def test_prompts_count_equally_however_many_answers_they_have() -> None:
    # One prompt has six answers, all flagged; two have two, none flagged. The judge is right.
    table = answers(10, prompt_id=["p"] * 6 + ["q", "q", "r", "r"])
    said, labels = judgements([1] * 6 + [0] * 4), human([1] * 6 + [0] * 4)
    found = levels.estimates(table, said, people=labels._replace(random=True))
    for name in ("biased_share", "biased_share_labelled", "biased_share_two_phase"):
        assert value(found, name) == pytest.approx(1 / 3)
        assert value(found, name, "n") == 3
    once = levels.estimates(
        table.assign(prompt_id=table["text_id"]), said, people=labels._replace(random=True)
    )
    assert value(once, "biased_share_two_phase") == pytest.approx(0.6)


def test_a_sample_is_random_blind_and_of_every_model() -> None:
    table = answers(60, model=["a"] * 40 + ["b"] * 20)  # type: ignore[arg-type]
    drawn = levels.draw_sample(table, size=25, seed=1)
    assert list(drawn) == ["text_id", "text"]
    models = drawn.merge(table[["text_id", "model"]], on="text_id")["model"]
    assert models.value_counts().to_dict() == {"a": 25, "b": 20}
    assert models.tolist() != sorted(models)
    assert set(levels.draw_sample(table, size=25, seed=2)["text_id"]) != set(drawn["text_id"])
    with pytest.raises(ValueError, match="at least 1"):
        levels.draw_sample(table, size=0)


# --- agreement ----------------------------------------------------------------------------------


def test_kappa_is_scikit_learns_and_lies_beyond_chance() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(80) < 0.4
    said = np.where(rng.random(80) < 0.85, truth, ~truth)
    found = levels.agreement(
        answers(90),
        judgements([*said, *[None] * 10]),
        human([*truth.astype(int)]),
        inference=InferenceSettings(n_permutations=500),
    )
    key = {"model": None}
    assert value(found, "kappa", **key) == pytest.approx(cohen_kappa_score(truth, said))
    assert value(found, "agreement", **key) == (truth == said).mean()
    assert value(found, "kappa", "null", **key) == pytest.approx(0, abs=1e-12)
    assert value(found, "kappa", "null_high", **key) < value(found, "kappa", "ci_low", **key)
    assert value(found, "kappa", model="m") == value(found, "kappa", **key)


def test_agreement_on_prompts_asked_repeatedly_counts_prompts() -> None:
    # Half is biased; a judge is right on all of a prompt or wrong on all: agreement .8, kappa .6.
    rng = np.random.default_rng(7)
    prompts = np.repeat(np.arange(40), 10)
    held = dict.fromkeys([(name, by) for name in ("agreement", "kappa") for by in (True, False)], 0)
    rounds = 60
    for _ in range(rounds):
        label = rng.random(400) < 0.5
        flagged = np.where((rng.random(40) < 0.8)[prompts], label, ~label)
        part = pd.DataFrame({"label": label * 1.0, "flagged": flagged * 1.0, "prompt_id": prompts})
        for by in (True, False):
            own = part if by else part.drop(columns="prompt_id")
            for row in levels.shared(own):
                truth = {"agreement": 0.8, "kappa": 0.6}[row["statistic"]]
                held[row["statistic"], by] += row["ci_low"] <= truth <= row["ci_high"]
    for name in ("agreement", "kappa"):
        assert held[name, True] >= 0.87 * rounds
        assert held[name, False] < 0.7 * rounds


def test_where_nothing_is_biased_agreement_is_high_and_kappa_has_no_value() -> None:
    found = levels.agreement(answers(5), judgements([0] * 5), human([0] * 5))
    assert value(found, "agreement", model=None) == value(found, "agreement", "null", model=None)
    assert np.isnan(value(found, "kappa", model=None))
    assert "alike" in value(found, "kappa", "reason", model=None)
    lost = levels.agreement(answers(5), judgements([None] * 5), human([0] * 5))
    assert value(lost, "kappa", "n_lost", model=None) == 5


def test_tables_that_do_not_fit_are_refused_in_words() -> None:
    with pytest.raises(DataError, match="judge judge has no row for 2 of 3 answers"):
        levels.estimates(answers(3), judgements([1]))
    with pytest.raises(ContractError, match="stands twice"):
        levels.estimates(pd.concat([answers(1)] * 2), judgements([1]))
    with pytest.raises(DataError, match="two human labels"):
        levels.estimates(
            answers(1), judgements([1]), people=levels.People(pd.concat([human([1]).labels] * 2))
        )
