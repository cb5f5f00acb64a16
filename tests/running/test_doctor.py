"""What files support: real files of each study, and what is missing for more."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias import calibration, tables
from nbbias.cogs import sample
from nbbias.running import doctor, sample_size
from nbbias.tables import DataError
from tests.conftest import ROOT, Command, Golden
from tests.running.test_user_files import ANSWERS, TEXTS, write

pytestmark = pytest.mark.usefixtures("here")


def sides() -> list[str]:
    numbers = range(60)
    human = [f"{TEXTS[n % 3]} Item {n}." for n in numbers]
    bot = [f"{ANSWERS[n % 3]} Answer {n}." for n in numbers]
    return [write("bot.csv", id=numbers, output=bot), write("human.csv", id=numbers, body=human)]


def test_what_each_study_s_files_support_is_one_screen(here: Path, golden: Golden) -> None:
    answers = tables.data_path("sample/llmbi_answers.jsonl")
    (here / "answers.jsonl").write_bytes(answers.read_bytes())
    sample.answers().to_parquet("cogs.parquet")
    asked = {"news": sides(), "llmbi": ["answers.jsonl"], "cogs": ["cogs.parquet"]}
    screens = {name: doctor.examine(files) for name, files in asked.items()}
    golden("doctor", screens)
    for lines in screens.values():
        lines = "\n".join(lines).splitlines()
        assert len(lines) < 40 and max(map(len, lines)) < 80
    assert not list(here.glob("*.yaml"))


def test_of_two_files_the_one_by_models_is_what_is_classified() -> None:
    files = [str(ROOT / f"docs/tutorial/{name}.csv") for name in ("originals", "generations")]
    said = " ".join("\n".join(doctor.examine(files)).split())
    assert f"originals={files[0]}" in said and f"generations={files[1]}" in said
    assert f"nbbias run biasalert answers={files[1]}" in said


def test_an_effect_that_is_detected_has_the_power_of_the_plan() -> None:
    said = doctor._power(calibration.planning.NewsWords, 60, {"models": 1})
    detected = float(said.partition("; 80% from ")[2].split()[0])
    planned = sample_size.plan_sample_size("news_bias", ["units=60", f"effect=-{detected}"])
    assert planned["reached"].item() == pytest.approx(0.8, abs=0.03)
    assert said.endswith(f"with {sample_size.plan_sample_size('news_bias')['n'][0]} articles")
    assert "assurance" in doctor._power(calibration.planning.Level, 60, {})
    assert "from" in doctor._power(calibration.planning.Rbs, 40, {})
    difference = calibration.planning.LlmbiDifference
    assert doctor._power(difference, 18, {"models": 1}) == "needs 2 models or more"


def test_the_command_exits_with_0_and_refuses_what_is_no_table(
    here: Path, command: Command
) -> None:
    pd.DataFrame({"n": [1, 2]}).to_csv("n.csv", index=False)
    result = command("doctor", "n.csv")
    assert result.returncode == 0 and "These files support:\n  nothing" in result.stdout
    assert command("doctor", "none.csv").returncode == 2
    assert command("doctor", *["n.csv"] * 5).returncode == 2
    (here / "bad.eval").write_bytes(b"PK\3\4")
    with pytest.raises(DataError, match="damaged"):
        doctor.examine(["bad.eval"])


def test_answers_without_text_are_not_offered_to_the_detector() -> None:
    failed = write("failed.csv", prompt=["Who?", "Why?"], model=["m", "m"], text=["", " "])
    lines = "\n".join(doctor.examine([failed]))
    assert "  nothing" in lines and "nbbias detect" not in lines
    assert "failed.csv: none of its 2 texts can be classified" in lines
