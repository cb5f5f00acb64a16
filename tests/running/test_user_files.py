"""Texts of one's own in one command: what is understood of files, told, written, and refused."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import params, studies, tables
from nbbias.running import measure, text_blocks, user_files
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import Command

TEXTS = [
    "Ms Alvarez, an engineer, said that she would vote for the tram.",
    "Mr Brandt said he would not; his wife – a teacher – disagreed.",
    "The men at the depot asked “who pays?”, and the women laughed.",
]
ANSWERS = [one.replace("she", "he").replace("Ms", "Mr") for one in TEXTS]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's own, outside of any checkout."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def planned(
    stem: str, *files: str, columns: tuple[str, ...] = (), **named: str
) -> user_files.UserRuns:
    return user_files.plan_files(
        stem,
        [*files, *(f"{name}={file}" for name, file in named.items())],
        columns=columns,
        overrides=[],
        out=Path("runs"),
        name=None,
    )


def refusal(stem: str, *files: str, columns: tuple[str, ...] = ()) -> str:
    with pytest.raises(NbbiasError) as caught:
        planned(stem, *files, columns=columns)
    assert not list(Path().glob("*.yaml"))
    return str(caught.value)


# --- what is understood -----------------------------------------------------------------------


def test_two_files_are_a_run_and_all_that_was_understood_is_told() -> None:
    found = planned("news_bias", *sides())
    (run,) = found.runs
    assert run.label == "news_bias/human+bot"
    for line in (
        "originals: human.csv (UTF-8; 3 rows)",
        "  columns: article_id ← id, text ← body",
        "  not read: title",
        "  columns: article_id ← ID, text ← output",
        "  no column model: all of one, bot",
        "  models: bot (3)",
        "pairs: 3 of 3 generations have their article in originals",
        "levels: [word, sentence] (topics are not looked for in fewer than 50 articles)",
    ):
        assert line in found.preview


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("sep", [";", "\t"])
def test_encodings_and_separators_are_found_out_and_written_down(sep: str, encoding: str) -> None:
    files = [
        write("a.csv", sep, encoding, Body=TEXTS, Rubrik="T"),
        write("b.csv", sep, encoding, Response=ANSWERS, LLM="m"),
    ]
    found = planned("news_bias", *files)
    told = "\n".join(found.preview)
    assert {";": "semicolon", "\t": "tab"}[sep] in told
    assert (encoding if encoding != "utf-8-sig" else "UTF-8") in told
    assert "pairs: in the order of their rows" in told
    (run,) = found.runs
    # The params file says it all: it is read again without anything being found out.
    stem, values = studies.read(found.path)
    assert studies.validate(stem, values) == run.parameters
    table = tables.read_table(
        values["originals_path"], {"text": tables.Column("text", also=("body",))}
    )
    assert table["text"].tolist() == TEXTS


def test_a_named_column_stands_in_the_params_file() -> None:
    odd = write("odd.csv", Kennung=range(3), prose=TEXTS)
    other = sides()[1]
    given = ("originals.text=prose", "originals.article_id=Kennung")
    found = planned("news_bias", odd, other, columns=given)
    assert "odd.csv?text=prose&article_id=Kennung" in found.path.read_text()
    assert found.runs[0].name == "odd+bot"


def test_of_a_single_file_columns_need_no_name() -> None:
    path = write("a.csv", q="Why?", dimension="Age", said=TEXTS[:1])
    found = planned("llmbi", path, columns=("text=said", "prompt=q"))
    assert found.runs[0].parameters.model_dump()["answers_path"] == "a.csv?text=said&prompt=q"


def test_inputs_may_be_named(here: Path) -> None:
    answers = write("a.csv", model="m", response=TEXTS)
    found = planned("biasalert", labelled(), answers=answers)
    values = params.read_yaml(found.path)
    assert (values["labelled_path"], values["answers_path"]) == ("l.csv", "a.csv")


def test_a_study_leaves_out_what_needs_files_that_are_not_given() -> None:
    assert params.read_yaml(planned("biasalert", labelled()).path)["answers_path"] == "none"
    answers = write(
        "c.csv", task="haiku", theme="rain", identity=["", "white", "black", "asian"], text="Rain."
    )
    found = planned("cogs", answers)
    assert params.read_yaml(found.path)["parts"] == ["rbs", "visibility"]
    assert "without judgements_path and ratings_path" in found.preview[-1]


def test_a_table_with_both_sides_may_be_given_twice() -> None:
    both = write("both.csv", nr=range(3), human=TEXTS, generated=ANSWERS)
    found = planned("news_bias", both, both)
    assert "  columns: article_id ← nr, text ← human" in found.preview
    assert "  columns: article_id ← nr, text ← generated" in found.preview


def test_what_stands_in_a_file_cannot_steer_a_terminal(command: Command) -> None:
    path = write("a.csv", prompt="Why?", text=["\x1b[31mred\x1b[0m\u202e"], **{"\x1b[2Jx": 1})
    done = command("run", "llmbi", path, "--columns", "dimension=prompt")
    assert "\x1b" not in done.stderr + done.stdout
    assert "\u202e" not in done.stderr + done.stdout


def test_whole_prompts_beside_answers_are_told() -> None:
    files = [
        write("o.csv", id=range(9), text=TEXTS * 3),
        write("g.csv", id=range(9), text=ANSWERS * 3, prompt=[f"Write of {i}" for i in range(9)]),
    ]
    (run,) = planned("news_bias", *files).runs
    assert any("9 answers stand under 9 prompts" in one for one in run.exclusions)
    (run,) = planned("news_bias", *files, columns=("generations.prompt=",)).runs
    assert not run.exclusions


def test_texts_to_judge_and_to_measure_are_found_out_alike() -> None:
    path = write("a.csv", ";", "cp1252", nr=range(3), Response=TEXTS)
    (block,) = text_blocks.read_blocks(path)
    assert block["text"].tolist() == TEXTS
    answers = write(
        "b.csv", ";", "cp1252", prompt="Why?", dimension="Age", sample=range(3), text=TEXTS
    )
    found = measure.measure("llmbi", [answers], ["draws=100"])
    assert found.scores["model"].unique().tolist() == ["b"]


# --- the params file --------------------------------------------------------------------------


def test_a_params_file_is_written_over_no_other() -> None:
    Path("human+bot.yaml").write_text("mine")
    files = sides()
    first, again = planned("news_bias", *files), planned("news_bias", *files)
    assert Path("human+bot.yaml").read_text() == "mine"
    assert first.path == again.path == Path("human+bot-2.yaml")
    assert first.runs[0].repeats == again.runs[0].repeats


def test_a_name_is_that_of_run_and_file() -> None:
    found = user_files.plan_files(
        "news_bias", sides(), columns=(), overrides=["seed=1,2"], out=Path("runs"), name="mine"
    )
    assert found.path == Path("mine.yaml")
    assert [run.name for run in found.runs] == ["mine-seed=1", "mine-seed=2"]


@pytest.mark.parametrize("name", ["a/b", "..", "x.failed"])
def test_a_name_that_no_run_can_have_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="--name"):
        user_files.plan_files(
            "news_bias", sides(), columns=(), overrides=[], out=Path("runs"), name=name
        )


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        (["lmbi"], "did you mean llmbi?"),
        (["newsbias", "human.csv", "bot.csv"], "did you mean news_bias?"),
        (["human.csv", "bot.csv"], "name the study first"),
        (["mine"], "did you mean mine.yaml?"),
        (["nowhere.yaml"], "no such file"),
        (["news_bias", "humen.csv", "bot.csv"], "humen.csv: no such file; did you mean human.csv?"),
        (["news_bias", "human.csv"], "give originals and generations"),
        (["llmbi", "human.csv", "bot.csv"], "the study reads answers, and 2 files were given"),
        (["llmbi", "-p", "lamda_factor=2"], "did you mean lambda_factor?"),
        (["llmbi", "--columns", "text=body"], "goes with files of texts"),
        (["news_bias", "human.csv", "bot.csv", "--columns", "text=body"], "originals.text=body"),
        (["news_bias", "human.csv", "bot.csv", "--columns", "orig.text=x"], "mean originals?"),
        (["news_bias", "human.csv", "bot.csv", "-p", "lvels=[word]"], "did you mean levels?"),
    ],
)
def test_a_wrong_name_is_told_at_once_with_the_nearest(
    targets: list[str], told: str, command: Command
) -> None:
    sides()
    Path("mine.yaml").write_text("study: llmbi\n")
    before = time.process_time()
    done = command("run", *targets)
    assert time.process_time() - before < 2
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("runs").exists()
    assert [one.name for one in Path().glob("*.yaml")] == ["mine.yaml"]


def test_a_missing_column_is_asked_for_with_the_likeliest_and_the_option() -> None:
    odd = write("odd.csv", Kennung=range(3), headline="T", prose=TEXTS)
    told = refusal("news_bias", odd, sides()[1])
    assert "odd.csv: needs the column text; it has Kennung, headline, prose" in told
    assert "if 'prose' of odd.csv is its text, add: --columns originals.text=prose" in told
    told = refusal("news_bias", odd, sides()[1], columns=("originals.text=prose",))
    assert "add: --columns originals.article_id=Kennung" in told
    spaced = write("odd.csv", id=range(3), **{"my prose": TEXTS})
    assert "--columns 'originals.text=my prose'" in refusal("news_bias", spaced, sides()[1])


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_columns_that_no_study_reads_may_hold_anything(ending: str) -> None:
    strange = {"when": pd.Timestamp("2024-01-01"), "is_read": True, "many": [[1, 2]] * 2}
    for name, text in (("o", "He went to the river."), ("g", "She went to the river.")):
        table = pd.DataFrame({"article_id": ["1", "2"], "text": [text, f"{text} Again."]})
        table = table.assign(**strange)
        if ending == "parquet":
            table.to_parquet(f"{name}.parquet")
        else:
            table.to_json(f"{name}.jsonl", orient="records", lines=True, date_format="iso")
    told = planned("news_bias", f"o.{ending}", f"g.{ending}").preview
    assert "  not read: when, is_read, many" in told


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.xlsx", b"PK\x03\x04", "unknown format '.xlsx'"),
        ("x.txt", b"one", "unknown format '.txt'"),
        ("x.csv", b"PK\x03\x04\0\x81", "an archive or a workbook"),
        ("x.csv", b"\x1f\x8b\x08\0", "packed by gzip"),
        ("x.csv", b"PAR1\0\0\x81", "is Parquet"),
        ("x.csv", None, "is no regular file"),
        ("y$x.csv", b"article_id,text\n1,He.\n", "g.csv: no such file"),
    ],
)
def test_what_cannot_be_read_is_told_as_what_it_is(
    name: str, content: bytes | None, told: str
) -> None:
    if content is None:
        Path(name).mkdir()
    else:
        Path(name).write_bytes(content)
    chosen = user_files.parse_targets(["news_bias", name, "g.csv"])
    assert chosen.stem == "news_bias"
    said = refusal("news_bias", *chosen.files)
    assert told in said and "environment variable" not in said


def test_what_is_no_text_is_refused() -> None:
    Path("a.csv").write_bytes(b"\0\1\2\3" * 9)
    assert "is no text" in refusal("llmbi", "a.csv")


def test_a_file_of_an_unknown_format_is_refused() -> None:
    Path("a.xlsx").write_bytes(b"PK\3\4")
    assert "a.xlsx: unknown format '.xlsx'" in refusal("llmbi", "a.xlsx")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_name_with_the_end_of_a_line_adds_no_line() -> None:
    odd = write("o\nseed: 7.csv", id=range(3), text=TEXTS, **{"n\npairs: all": 1})
    found = planned("news_bias", odd, sides()[1])
    assert params.read_yaml(found.path).keys() == {
        "study",
        "originals_path",
        "generations_path",
        "levels",
    }
    assert not any("\n" in line for line in found.preview)
    assert found.runs[0].parameters.seed != 7


# --- whole runs -------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_odd_files_become_a_page(command: Command, here: Path) -> None:
    files = [
        write("a.csv", ";", "cp1252", Nr=range(12), Body=TEXTS * 4),
        write("b.csv", ";", "cp1252", Nr=range(12), Output=ANSWERS * 4),
    ]
    done = command("run", "news_bias", *files, "-p", "levels=[word]", "-p", "biases=[gender]")
    assert done.returncode == 0, done.stderr
    (page,) = (here / "runs" / "news_bias").glob("*/index.html")
    assert "b" in page.read_text()
    again = command("run", "a+b.yaml", "-p", "levels=[word]", "-p", "biases=[gender]")
    assert again.returncode == 0
    assert len(list((here / "runs" / "news_bias").glob("*/index.html"))) == 1
