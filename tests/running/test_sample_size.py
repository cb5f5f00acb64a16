"""`nbbias plan`: its table and JSON, the cost beside `generate --dry-run`, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from nbbias import studies
from nbbias.asking import plan as generate
from nbbias.calibration import plannable
from nbbias.params.yaml import as_yaml
from nbbias.running import generation
from nbbias.running.sample_size import plan_sample_size, select_columns
from nbbias.tables import ParameterError
from tests.conftest import Command

QUICK = ["draws=100", "effect=-0.2"]


def test_every_study_has_a_claim_that_can_be_planned() -> None:
    five = {"news_bias", "biased_prompts", "cogs", "llmbi", "biasalert"}
    assert five == set(plannable.PLANS) & set(studies.STUDIES)
    for stem, claims in plannable.PLANS.items():
        known = {
            f"{measure} {name}"
            for measure, names in studies.STUDIES[stem].parameters.statistics.items()
            for name in names
        }
        for model in claims.values():
            assert model.statistic in known
            assert model.unit


def test_several_values_make_a_row_each() -> None:
    found = plan_sample_size("news_bias", ["draws=100", "effect=-0.2,-0.3", "models=1,2"])
    assert found.varying == ["effect", "models"]
    assert len(found.rows) == 4
    assert found.rows["n"].is_unique or found.rows["n"].nunique() > 2
    assert (found.rows["calls"] == found.rows["n"] * found.rows["models"]).all()


def test_the_power_of_a_number_of_units() -> None:
    row = plan_sample_size("news_bias", [*QUICK, "units=40"]).rows.iloc[0]
    assert row["n"] == 40
    assert row["low"] < row["reached"] < row["high"]


def params_file(folder: Path, **block: object) -> Path:
    headlines = {"article_id": [f"a{i}" for i in range(40)], "headline": ["Rain in town"] * 40}
    pd.DataFrame(headlines).to_csv(folder / "headlines.csv", index=False)
    asks = {
        "models": ["openai/a", "openai/b"],
        "prompts": "news",
        "prompts_path": "headlines.csv",
        "replicates": 2,
        "max_tokens": 500,
        "store_path": "s.sqlite",
        "export_path": "e.parquet",
        "prices": {
            "openai/a": {"input": 1.0, "output": 2.0},
            "openai/b": {"input": 3.0, "output": 6.0},
        },
    }
    values = {"study": "news_bias", "originals_path": "o.csv", "generations_path": "e.parquet"}
    path = folder / "mine.yaml"
    path.write_text(as_yaml(values | {"generate": asks | block}))
    return path


def test_a_params_file_says_how_many_are_asked_and_at_what_price(tmp_path: Path) -> None:
    path = params_file(tmp_path)
    found = plan_sample_size(str(path), [*QUICK, "units=40"])
    row = found.rows.iloc[0]
    assert (row["models"], row["repeats"], row["answer_tokens"]) == (2, 2, 500)
    # As many articles as the file asks about: what a dry run would say.
    dry = generate.estimate(generation.plan_file(path, dry_run=True))
    assert row["calls"] == dry["calls"].sum() == 160
    assert row["tokens_in"] == dry["input_tokens"].sum()
    assert row["tokens_out"] == dry["output_tokens"].sum()
    assert row["cost"] == pytest.approx(dry["cost"].sum())
    assert not any("too few for that" in note for note in found.notes)
    more = plan_sample_size(str(path), [*QUICK, "units=41"])
    assert any("40 prompts, which are too few" in note for note in more.notes)
    unpriced = plan_sample_size(str(params_file(tmp_path, prices={})), [*QUICK, "units=40"])
    assert unpriced.rows["cost"].isna().all()


def test_the_papers_settings_of_cogs_cost_what_a_dry_run_says() -> None:
    path = Path("params/cogs/kumar2024.yaml")
    found = plan_sample_size(str(path), ["draws=100", "units=360"])  # 12 tasks by 30 themes
    dry = generate.estimate(generation.plan_file(path, dry_run=True))
    row = found.rows.iloc[0]
    assert (row["calls"], row["claims"]) == (dry["calls"].sum(), 1)
    assert row["cost"] == pytest.approx(dry["cost"].sum(), rel=1e-3)  # tokens are whole numbers


def test_what_is_printed(command: Command) -> None:
    done = command("plan", "news_bias", "-p", "effect=-0.2", "-p", "draws=100")
    assert done.returncode == 0
    assert "articles" in done.stdout
    assert "Assumed, in 100 simulated studies" in done.stderr
    listed = command("plan", "news_bias", "--list")
    assert "claim=words" in listed.stdout
    assert "spread" in listed.stdout


def test_json_holds_every_assumption(command: Command) -> None:
    given = ["-p", "effect=0.2,0.0001", "-p", "draws=100", "-p", "bias=race"]
    done = command("plan", "news_bias", *given, "--json")
    found = json.loads(done.stdout)["rows"]
    assert [row["share"] for row in found] == [0.2, 0.2]
    assert found[0]["n"] > 10
    assert found[1]["n"] is None
    assert found[0]["cost"] is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["news"], "no study called 'news'"),
        (["news_bias", "-p", "efect=1"], "did you mean effect?"),
        (["news_bias", "-p", "effect=0"], "0 is none"),
        (["news_bias", "-p", "effect=-0.7"], "a share of 0.5 cannot change by -0.7"),
        (["news_bias", "-p", "spread=0.9"], "it is below 0.28"),
        (["cogs", "-p", "claim=abs", "-p", "effect=0.48"], "it is at most 0.47"),
        (["biasalert", "-p", "effect=0.3"], "differ on 0.25 of texts cannot differ by 0.3"),
        (["biased_prompts", "-p", "effect=-0.1"], "a rate of 0.02 cannot change by -0.1"),
        (["llmbi", "-p", "models=1"], "greater than or equal to 2"),
        (["news_bias", "-p", "power=2"], "less than 0.9999"),
        (["news_bias", "-p", "claim=wrods"], "did you mean words?"),
        (["news_bias", "-p", "claim=[words]"], "claim: no ['words']"),
        (["calibration"], "no claim of calibration can be planned yet"),
        (["news_bias", "-p", "models=2", "-p", "differing=3"], "3 of 2 models are too many"),
        (["news_bias", "-p", "models"], "write it as name=value"),
        (["news_bias", "-p", "bias=[gender]"], "bias: input should be 'gender' or 'race'"),
        (["nowhere.yaml"], "no such file"),
        (["params/news_bias/sample.yaml"], "has no 'generate:' block"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], told: str, command: Command) -> None:
    done = command("plan", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_labels_cost_and_claims_are_rows() -> None:
    given = ["claim=accuracy,level", "label_price=0.5", "draws=100"]
    rows = plan_sample_size("biasalert", given).rows
    assert rows["claim"].tolist() == ["accuracy", "level"]
    assert rows["cost"].tolist() == (rows["n"] / 2).tolist()
    assert rows["calls"].isna().all()
    table = select_columns(plan_sample_size("biasalert", given))
    assert table["labelled texts or labels"].tolist() == rows["n"].tolist()
    assert "calls" not in table and table["cost"].tolist() == rows["cost"].tolist()


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ParameterError) as error:
        plan_sample_size("news_bias", ["effect=0", "power=3", "nothing=1"])
    assert len(error.value.breaches) >= 2
