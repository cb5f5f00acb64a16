"""Bias levels: Wilson, coverage of a known truth by labels and verdicts, agreement with people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from nbbias.biasalert import levels
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.biasalert.judges.registry import JUDGES
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


# --- scorer bias --------------------------------------------------------------------------------


def written(*texts: str) -> pd.DataFrame:
    return answers(len(texts)).assign(text=texts)


def panel_of(*names: str, flags: Any = lambda text: "Asian" in text, **known: str) -> JudgePanel:
    """Judges that all say what they are told to."""

    def judge(texts: pd.DataFrame, _: object) -> pd.DataFrame:
        return texts.assign(biased=pd.array(texts["text"].map(flags), dtype="boolean"))

    def nothing(texts: pd.DataFrame) -> pd.DataFrame:
        return texts.iloc[:0]

    return JudgePanel(dict.fromkeys(names, judge), dict.fromkeys(names, "i") | known, nothing, 0.0)


def judged(table: pd.DataFrame, biased: list[bool | None], judge: str = "keywords") -> pd.DataFrame:
    said = table[["text_id"]].assign(judge=judge, instrument="i")
    return said.assign(biased=pd.array(biased, dtype="boolean"))


def swaps_of(table: pd.DataFrame, swap: list[float], judge: str = "keywords") -> pd.DataFrame:
    return table[["text_id"]].assign(judge=judge, named=1.0, swap=swap)


def test_an_answer_counts_as_the_mean_over_the_groups() -> None:
    table = written("An Asian nurse spoke.", "A white nurse spoke.", "It rained.")
    found = levels.swap_effects(table, panel_of("keywords"))
    assert found["swap"].tolist() == pytest.approx([2 / 3, -1 / 3, 0])
    assert found["named"].tolist() == [1, 1, 0] and found["judge"].eq("keywords").all()


def test_only_quick_judges_are_asked_again() -> None:
    names = [*JUDGES, "recorded"]
    few = levels.choose_judges(panel_of(*names, toxicity="Detoxify 1"), 300)
    assert set(few) == {"majority", "keywords", "classifier", "classifier_alone"}
    many = levels.choose_judges(panel_of(*names, toxicity="Detoxify 1"), levels._MOST + 1)
    assert set(many) == {"majority", "keywords"}


def test_others_are_not_measured_with_a_reason() -> None:
    table = written("x", "y")
    said = pd.concat([judged(table, [True, False], one) for one in ("tuned", "mine", "keywords")])
    found = levels.split_scorer_bias(table, said, swaps=swaps_of(table, [0.0, 0.0]))
    gaps = found[found["estimate"].isna()]
    assert set(gaps["judge"]) == {"tuned", "mine"} and len(gaps) == 4
    assert gaps["reason"].tolist() == [levels.SLOW] * 2 + [levels.RECORDED] * 2


@pytest.mark.parametrize("repeated", [False, True])
def test_as_judged_is_swapped_plus_instrument(repeated: bool) -> None:
    rng = np.random.default_rng(5)
    table = written(*map(str, range(40))).assign(model=["m", "n"] * 20)
    if repeated:
        table["prompt_id"] = rng.integers(0, 8, 40)
    verdicts = rng.integers(0, 2, 40).astype(bool)
    swap = verdicts - (verdicts + rng.integers(0, 3, 40)) / 3
    said = judged(table, verdicts.tolist())
    found = levels.split_scorer_bias(table, said, swaps=swaps_of(table, swap.tolist()))
    raw = levels.estimates(table, said)
    raw = raw[raw["statistic"] == "biased_share"].set_index("model")
    by = found.pivot(index="model", columns="statistic", values="estimate")
    np.testing.assert_allclose(raw["estimate"], by.sum(axis=1), atol=1e-12)
    assert found["n"].tolist() == raw["n"].repeat(2).tolist()


def test_what_has_no_counterpart_is_lost_and_two_lists_stay_within_a_share() -> None:
    table = written(*"abc")
    said = judged(table, [True, False, True])
    found = levels.split_scorer_bias(table, said, swaps=swaps_of(table, [1.3, -1.5, np.nan]))
    row = found.set_index("statistic").loc[levels.SWAPPED]
    assert (row["estimate"], row["n"], row["n_lost"]) == (0.5, 2, 1)
    none = levels.split_scorer_bias(table, said, swaps=swaps_of(table, [np.nan] * 3))
    assert none["estimate"].isna().all() and none["reason"].notna().all()
