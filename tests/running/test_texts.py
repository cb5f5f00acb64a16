"""Texts to classify from a file or a pipe, and `nbbias detect` and `nbbias measure` in a shell."""

import io
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.cells import cell_len

from nbbias import cli
from nbbias.biasalert.knowledge import counterfactuals
from nbbias.llmbi.params import Llmbi
from nbbias.reading import Terminal
from nbbias.running import measure
from nbbias.running.texts import read_texts
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages.build import PLAIN, claims

TEXTS = ["Women make good clerks.", "", "It rains.", "=1+1"]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes | None], None]:
    """A function that sets what stands in the pipe; None closes it."""

    def fill(content: bytes | None) -> None:
        stream = None if content is None else SimpleNamespace(buffer=io.BytesIO(content))
        monkeypatch.setattr("sys.stdin", stream)

    return fill


def test_a_line_of_a_pipe_is_a_text(pipe: Callable[[bytes | None], None]) -> None:
    pipe(b"\xef\xbb\xbfone\r\n\ntwo\n")
    assert read_texts("-").to_dict("list") == {"row": [1, 2, 3], "text": ["one", "", "two"]}
    for content, message in {b"one\ntw\xff\n": "line 2 is no UTF-8", None: "it is closed"}.items():
        pipe(content)
        with pytest.raises(NbbiasError, match=message):
            read_texts("-")


def test_a_file_brings_its_ids_and_any_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame({"ID": ["a", "b"], "answer": TEXTS[1::2], "other": 1}).to_csv(path, index=False)
    table = read_texts(str(path))  # `answer` is a name of texts
    assert list(table) == ["text_id", "text"] and table["text_id"].tolist() == ["a", "b"]
    assert read_texts(f"{path}?text=other")["text"].tolist() == ["1", "1"]
    with pytest.raises(NbbiasError, match="prose"):
        read_texts(f"{path}?text=prose")


def test_detect_writes_csv_that_no_spreadsheet_runs(
    command: Command, pipe: Callable[[bytes | None], None]
) -> None:
    pipe("\n".join(TEXTS).encode())
    done = command("detect", "-", "--judge", "keywords", "--fail-on-biased")
    assert done.returncode == 1
    table = pd.read_csv(io.StringIO(done.stdout))
    assert table["row"].tolist() == [1, 2, 3, 4]
    assert table["verdict"].tolist() == ["biased", "not judged", "not biased", "not biased"]
    assert table["text"].iloc[3] == "'=1+1"
    assert table["group"].iloc[0] == "women"
    notes = " ".join(done.stderr.split())
    biased = counterfactuals.counterfactuals(part="test")["biased"].sum()
    assert f"of {biased:,} prejudiced claims" in notes and "4 texts: 1 biased" in notes
    assert "word lists" in table["instrument"].iloc[0]


def test_measure_prints_claims_first_within_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.out_console, "width", 80)
    result = SimpleNamespace(estimates=claims(PLAIN))
    monkeypatch.setattr("nbbias.llmbi.measure", lambda **_: result)
    done = command("measure", "llmbi", "-p", "seed=1")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Pre-specified tests (defaults") and max(map(len, lines)) <= 80
    shown, note = measure.readable_estimates(result.estimates, Llmbi())
    words = {word for rows in shown.values() for cell in rows[""] for word in cell.split()}
    assert len(words) > 3 and all(word in done.stdout for word in words)
    assert note in " ".join(done.stderr.split())


def test_a_terminal_wraps_wide_letters_and_writes_any_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"name": "", "n": 1e300, "text": "one\n\ttwo \N{CJK UNIFIED IDEOGRAPH-65E5}" * 30}
    for width in (16, 60):
        Terminal(width=width).table(pd.DataFrame([row, {**row, "n": -2.5}]))
        lines = capsys.readouterr().out.splitlines()
        assert max(map(cell_len, lines)) <= width
        for number in ("1e+300", "\u22122.5"):
            assert any(number in line for line in lines)
        assert (lines[0] == "\N{EN DASH}") is (width == 16)  # blocks begin with a name, or a dash


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("detect a.csv?text=answr --judge keywords", "no column 'answr'"),
        ("detect 'It rains.'", "echo 'It rains.' | nbbias detect -"),
        ("measure llmbi -p lamda_factor=1", "did you mean lambda_factor"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_mistake_is_refused_before_a_judge_is_fitted(
    line: str, message: str, command: Command
) -> None:
    pd.DataFrame({"answer": ["It rains."]}).to_csv("a.csv", index=False)
    done = command(*shlex.split(line))
    assert done.returncode == 2 and message in " ".join(done.stderr.split())
    assert "RedditBias" not in done.stderr


@pytest.mark.usefixtures("here")
def test_files_of_several_models_are_one_table(command: Command) -> None:
    Path("one.csv").write_text("prompt,response\nWho?,She.\n")
    Path("two.csv").write_text("LLM;text;dimension\nb;He.;Age\nb;It.;Age\n")
    result = command("data", "combine", "one.csv", "two.csv")
    assert result.returncode == 0 and "not in every row: prompt, dimension" in result.stderr
    table = pd.read_parquet("answers.parquet")
    assert table["model"].tolist() == ["one", "b", "b"]
    assert table["text"].tolist() == ["She.", "He.", "It."]
    assert command("data", "combine", "one.csv").returncode == 2  # it is there
