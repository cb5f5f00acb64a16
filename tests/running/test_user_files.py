"""Runs on the user's own files: what is recognised, the params file, and what is refused.

What is said stands in tests/golden/user_files_*.txt.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import params, studies, tables
from nbbias.running.user_files import plan_files
from nbbias.tables import ParameterError
from tests.conftest import ROOT, Command, Golden

TEXTS = [
    "Ms Alvarez, an engineer, said that she would vote for the tram.",
    "Mr Brandt said he would not; his wife – a teacher – disagreed.",
    "The men at the depot asked “who pays?”, and the women laughed.",
]
ANSWERS = [one.replace("she", "he").replace("Ms", "Mr") for one in TEXTS]
pytestmark = pytest.mark.usefixtures("here")


def write(name: str, sep: str = ",", encoding: str = "utf-8", **columns: object) -> str:
    pd.DataFrame(columns).to_csv(name, index=False, sep=sep, encoding=encoding)
    return name


def sides(**answers: object) -> list[str]:
    return [
        write("human.csv", id=range(3), title="T", body=TEXTS),
        write("bot.csv", ID=range(3), output=ANSWERS, **answers),
    ]


def labelled() -> str:
    """Texts that people judged, no two alike."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation(sorted(set(" ".join(TEXTS).split())))[:9]) for _ in range(80)]
    return write("l.csv", sentence=texts, label=[0, 1] * 40)


# --- what is recognised -------------------------------------------------------------------------


def test_the_preview_says(golden: Golden) -> None:
    both = write("both.csv", nr=range(3), human=TEXTS, generated=ANSWERS)
    odd = write("odd.csv", Kennung=range(3), prose=TEXTS)
    semicolons = write("a.csv", ";", "cp1252", Body=TEXTS, Rubrik="T")
    tabs = write("b.csv", "\t", "utf-16", Response=ANSWERS, LLM="m")
    poems = {"task": "haiku", "theme": "rain", "identity": ["", "white", "black", "asian"]}
    several = [write("o.csv", id=range(9), text=TEXTS * 3)]
    several += [write("g.csv", id=range(9), text=ANSWERS * 3, prompt=[f"Of {i}" for i in range(9)])]
    runs = [
        plan_files("news_bias", sides()),
        plan_files("news_bias", [both, both]),
        plan_files("news_bias", [f"{odd}?text=prose&article_id=Kennung", "bot.csv"]),
        plan_files("news_bias", [semicolons, tabs]),
        plan_files("news_bias", several),
        plan_files("biasalert", [labelled(), f"answers={write('m.csv', model='m', reply=TEXTS)}"]),
        plan_files("cogs", [write("c.csv", text="Rain.", **poems)]),
    ]
    blocks = []
    for found in runs:
        (run,) = found[2]
        blocks += [run.label, *run.exclusions, *found[0], found[1].read_text()]
    golden("user_files_preview", blocks)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_params_file_reads_the_files_without_recognising_anything(encoding: str) -> None:
    files = [
        write("a.csv", ";", encoding, Body=TEXTS, Rubrik="T"),
        write("b.csv", "\t", encoding, Response=ANSWERS, LLM="m"),
    ]
    found = plan_files("news_bias", files)
    stem, values = studies.read(found[1])
    assert studies.validate(stem, values) == found[2][0].parameters
    form = {"text": tables.Column("text", also=("body",))}
    assert tables.read_table(values["originals_path"], form)["text"].tolist() == TEXTS


# --- the params file --------------------------------------------------------------------------


def test_a_params_file_replaces_no_other_and_has_the_run_s_name() -> None:
    Path("human+bot.yaml").write_text("mine")
    first, again = (plan_files("news_bias", sides()) for _ in range(2))
    assert Path("human+bot.yaml").read_text() == "mine"
    assert first[1] == again[1] == Path("human+bot-2.yaml")
    assert first[2][0].repeats == again[2][0].repeats
    other = plan_files("news_bias", sides(), overrides=["seed=1,2"], name="mine")
    assert other[1] == Path("mine.yaml")
    assert [run.name for run in other[2]] == ["mine-seed=1", "mine-seed=2"]
    for name in ("a/b", "x.failed"):
        with pytest.raises(ParameterError, match="--name"):
            plan_files("news_bias", sides(), name=name)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_names_in_files_steer_neither_the_params_file_nor_a_terminal(command: Command) -> None:
    odd = write("o\nseed: 7.csv", id=range(3), text=TEXTS, **{"n\npairs: all": 1})
    found = plan_files("news_bias", [odd, sides()[1]])
    assert params.read_yaml(found[1]).keys() == {"study", "originals_path", "generations_path"}
    assert not any("\n" in line for line in found[0])
    assert found[2][0].parameters.seed != 7
    path = write("a.csv", prompt="Why?", text=["\x1b[31mred\x1b[0m\u202e"], **{"\x1b[2Jx": 1})
    done = command("run", "llmbi", f"{path}?dimension=prompt")
    assert not {"\x1b", "\u202e"} & set(done.stderr + done.stdout)


# --- what is refused --------------------------------------------------------------------------


def test_a_wrong_name_or_option_is_refused_with_a_near_one(
    command: Command, golden: Golden
) -> None:
    files, odd = sides(), write("odd.csv", Kennung=range(3), headline="T", prose=TEXTS)
    Path("mine.yaml").write_text("study: llmbi\n")
    both = ["news_bias", *files]
    lines = [
        *(["lmbi"], ["newsbias", *files], files, ["mine"], ["nowhere.yaml"]),
        *(["news_bias", "humen.csv", "bot.csv"], ["news_bias", "human.csv"], ["llmbi", *files]),
        *(["llmbi", "-p", "lamda_factor=2"], [*both, "-p", "lvels=[word]"]),
        ["news_bias", "human.csv?text=x", "bot.csv"],
        *(["news_bias", odd, "bot.csv"], ["news_bias", f"{odd}?text=prose", "bot.csv"]),
    ]
    messages = []
    for line in lines:
        done = command("run", *line)
        assert done.returncode == 2 and "Traceback" not in done.stderr
        told = done.stderr.replace(str(Path.cwd()), ".").replace(str(ROOT), "<checkout>")
        messages += [f"$ nbbias run {' '.join(line)}", told]
    assert not Path("runs").exists()
    assert [path.name for path in Path().glob("*.yaml")] == ["mine.yaml"]
    golden("user_files_refused", messages)
