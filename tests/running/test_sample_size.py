"""`nbbias plan`: its rows, its table, and mistakes."""

from pathlib import Path

import pytest

from nbbias import studies
from nbbias.asking import plan as asking_plan
from nbbias.calibration.planning import PLANS
from nbbias.running import generation
from nbbias.running.sample_size import plan_sample_size, readable
from nbbias.tables import ParameterError
from tests.conftest import Command


def test_every_study_has_a_claim_that_can_be_planned() -> None:
    five = {"news_bias", "biased_prompts", "cogs", "llmbi", "biasalert"}
    assert five == set(PLANS) & set(studies.STUDIES)
    for stem, claims in PLANS.items():
        statistics = studies.STUDIES[stem].parameters.statistics
        for model in claims.values():
            measure, name = model.statistic.split(" ", 1)
            assert name in statistics[measure] and model.unit


def test_several_values_make_a_row_each() -> None:
    rows = plan_sample_size("news_bias", ["effect=-0.2,-0.3", "models=1,2"])
    assert rows["effect"].tolist() == [-0.2, -0.2, -0.3, -0.3]
    assert rows["n"].iloc[0] > rows["n"].iloc[2]  # a larger effect takes fewer articles
    assert (rows["calls"] == rows["n"] * rows["models"]).all()
    assert list(readable(rows)[0])[:4] == ["effect", "models", "articles", "power"]


def test_the_power_of_a_number_of_units_and_what_no_number_reaches() -> None:
    row = plan_sample_size("news_bias", ["effect=-0.2", "units=40"]).iloc[0]
    assert row["n"] == 40 and 0.8 < row["reached"] < 1
    rows = plan_sample_size("news_bias", ["effect=-0.2,-0.0001"])
    assert rows["n"].notna().tolist() == [True, False]
    table, _ = readable(rows)
    assert table["articles"].iloc[1].startswith("more than ") and table["power"].iloc[1] == ""


def test_cost_is_that_of_a_dry_run() -> None:
    plan = generation.plan_file(Path("params/cogs/kumar2024.yaml"), dry_run=True)
    dry, block = asking_plan.estimate(plan), plan.block
    price = next(iter(block.prices.values()))
    assumed = {
        "models": len(block.models),
        "repeats": block.replicates,
        "prompt_tokens": round(dry["input_tokens"].sum() / dry["calls"].sum()),
        "answer_tokens": block.max_tokens,
        "input_price": price.input,
        "output_price": price.output,
        "units": 360,  # 12 tasks by 30 themes
    }
    row = plan_sample_size("cogs", [f"{name}={value}" for name, value in assumed.items()])
    assert row["calls"].item() == dry["calls"].sum()
    assert row["tokens_out"].item() == dry["output_tokens"].sum()
    money = row["tokens_in"] * price.input + row["tokens_out"] * price.output
    assert row["cost"].item() == pytest.approx(money.item() / 1e6)


def test_what_is_printed(command: Command) -> None:
    assert ": confidence 0.95" in command("plan", "news_bias", "-p", "effect=-0.2").stderr
    listed = command("plan", "news_bias", "--list")
    assert "claim=words" in listed.stdout and "1024.0" not in listed.stdout


@pytest.mark.parametrize(
    ("stem", "assumption", "message"),
    [
        ("calibration", "effect=1", "no claim of calibration can be planned yet"),
        ("news_bias", "efect=1", "did you mean effect?"),
        ("biasalert", "effect=0", "0 is none; name the smallest that matters"),
    ],
)
def test_a_mistake_is_refused(stem: str, assumption: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan_sample_size(stem, [assumption])
