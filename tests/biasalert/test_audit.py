"""What of a model's bias level hangs on whom its answers name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.biasalert import audit, levels
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.biasalert.judges.registry import JUDGES


def bench_of(*names: str, flags: Any = lambda text: "Asian" in text, **known: str) -> JudgePanel:
    """A bench whose judges all say what they are told to."""

    def judge(texts: pd.DataFrame, _: object) -> pd.DataFrame:
        return texts.assign(biased=pd.array(texts["text"].map(flags), dtype="boolean"))

    def nothing(texts: pd.DataFrame) -> pd.DataFrame:
        return texts.iloc[:0]

    return JudgePanel(dict.fromkeys(names, judge), dict.fromkeys(names, "i") | known, nothing, 0.0)


def answers(*texts: str) -> pd.DataFrame:
    ids = [f"a{i}" for i in range(len(texts))]
    return pd.DataFrame({"text_id": ids, "model": "m", "text": texts})


def judged(table: pd.DataFrame, biased: list[bool | None], judge: str = "keywords") -> pd.DataFrame:
    said = table[["text_id"]].assign(judge=judge, instrument="i")
    return said.assign(biased=pd.array(biased, dtype="boolean"))


def swaps_of(table: pd.DataFrame, swap: list[float], judge: str = "keywords") -> pd.DataFrame:
    return table[["text_id"]].assign(judge=judge, named=1.0, swap=swap)


def test_an_answer_counts_as_the_mean_over_the_groups() -> None:
    table = answers("An Asian nurse spoke.", "A white nurse spoke.", "It rained.")
    found = audit.swap_effects(table, bench_of("keywords"))
    assert found["swap"].tolist() == pytest.approx([2 / 3, -1 / 3, 0])
    assert found["named"].tolist() == [1, 1, 0] and found["judge"].eq("keywords").all()


def test_no_verdict_is_a_gap() -> None:
    silent = bench_of("keywords", flags=lambda text: None if "Asian" in text else False)
    found = audit.swap_effects(answers("A white nurse spoke.", "It rained."), silent)
    assert np.isnan(found["swap"][0]) and found["swap"][1] == 0


def test_only_quick_judges_are_asked_again() -> None:
    names = [*JUDGES, "recorded"]
    few = audit.asked_again(bench_of(*names, toxicity="Detoxify 1"), 300)
    assert set(few) == {"majority", "keywords", "classifier", "classifier_alone"}
    many = audit.asked_again(bench_of(*names, toxicity="Detoxify 1"), audit.MOST + 1)
    assert set(many) == {"majority", "keywords"}


def test_others_are_not_measured_with_a_reason() -> None:
    table = answers("x", "y")
    said = pd.concat([judged(table, [True, False], one) for one in ("tuned", "mine", "keywords")])
    found = audit.estimates(table, said, swaps=swaps_of(table, [0.0, 0.0]))
    gaps = found[found["estimate"].isna()]
    assert set(gaps["judge"]) == {"tuned", "mine"} and len(gaps) == 4
    assert gaps["reason"].tolist() == [audit.SLOW] * 2 + [audit.RECORDED] * 2


@pytest.mark.parametrize("repeated", [False, True])
def test_as_judged_is_swapped_plus_instrument(repeated: bool) -> None:
    rng = np.random.default_rng(5)
    table = answers(*map(str, range(40))).assign(model=["m", "n"] * 20)
    if repeated:
        table["prompt_id"] = rng.integers(0, 8, 40)
    verdicts = rng.integers(0, 2, 40).astype(bool)
    swap = verdicts - (verdicts + rng.integers(0, 3, 40)) / 3
    said = judged(table, verdicts.tolist())
    found = audit.estimates(table, said, swaps=swaps_of(table, swap.tolist()))
    raw = levels.estimates(table, said)
    raw = raw[raw["statistic"] == "biased_share"].set_index("model")
    by = found.pivot(index="model", columns="statistic", values="estimate")
    np.testing.assert_allclose(raw["estimate"], by.sum(axis=1), atol=1e-12)
    assert found["n"].tolist() == raw["n"].repeat(2).tolist()
    own = table.assign(swapped=verdicts - swap)[table["model"] == "m"]
    units = own.groupby("prompt_id")["swapped"].mean() if repeated else own["swapped"]
    row = found[(found["model"] == "m") & (found["statistic"] == audit.SWAPPED)].iloc[0]
    expected = stats.mean_interval(units, confidence=0.95, bounds=(0, 1)).row()
    assert [row["estimate"], row["ci_low"]] == pytest.approx(
        [expected["estimate"], expected["ci_low"]]
    )


def test_where_nothing_is_moved_the_level_and_its_interval_stay() -> None:
    table = answers(*"abcd")
    said = judged(table, [True, False, None, True])
    found = audit.estimates(table, said, swaps=swaps_of(table, [0.0] * 4))
    raw = levels.estimates(table, said).iloc[0]
    for name in ("estimate", "ci_low", "ci_high", "n", "n_lost"):
        assert found.iloc[0][name] == pytest.approx(raw[name])
    alone = found.iloc[1]
    assert alone["estimate"] == 0 and np.isnan(alone["ci_low"])
    assert alone["reason"] == "fewer than 5 answers are moved by the instrument alone"


def test_what_has_no_counterpart_is_lost_and_two_lists_stay_within_a_share() -> None:
    table = answers(*"abc")
    said = judged(table, [True, False, True])
    found = audit.estimates(table, said, swaps=swaps_of(table, [1.3, -1.5, np.nan]))
    row = found.set_index("statistic").loc[audit.SWAPPED]
    assert (row["estimate"], row["n"], row["n_lost"]) == (0.5, 2, 1)
    none = audit.estimates(table, said, swaps=swaps_of(table, [np.nan] * 3))
    assert none["estimate"].isna().all() and none["reason"].notna().all()
