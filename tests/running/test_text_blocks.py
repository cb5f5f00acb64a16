"""Texts to judge from a file or a pipe, and `nbbias detect` and `nbbias measure` in a shell."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from nbbias import llmbi
from nbbias.running import text_blocks
from nbbias.tables import NbbiasError

SAID = ["Women make good clerks.", "", "It rains.", "=1+1"]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def hold(held: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(held)))

    return hold


def test_a_line_of_a_pipe_is_a_text(pipe: Callable[[bytes], None]) -> None:
    pipe(b"\xef\xbb\xbfone\r\n\ntwo\n" + b"x\n" * 100)
    first, second = text_blocks.read_blocks("-")
    assert (len(first), len(second)) == (text_blocks.LINES, 103 - text_blocks.LINES)
    assert first["text"].tolist()[:4] == ["one", "", "two", "x"]
    assert [*first["row"], *second["row"]] == list(range(1, 104))


def test_a_pipe_that_is_no_utf_8_or_is_closed_is_refused(
    pipe: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(b"one\ntw\xff\n")
    with pytest.raises(NbbiasError, match="line 2 is no UTF-8"):
        next(text_blocks.read_blocks("-"))
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(NbbiasError, match="it is closed"):
        next(text_blocks.read_blocks("-"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_lines_of_a_file_are_read_as_they_are_written(tmp_path: Path, encoding: str) -> None:
    told = ["Women are naïve.", "", "He went to the café."]
    (tmp_path / "a.txt").write_bytes("\r\n".join(told).encode(encoding))
    (block,) = text_blocks.read_blocks(str(tmp_path / "a.txt"))
    assert block["text"].tolist() == told
    (tmp_path / "packed.txt").write_bytes(b"PK\x03\x04\0\0\0\x81\x8d")
    with pytest.raises(NbbiasError, match="an archive or a workbook"):
        next(text_blocks.read_blocks(str(tmp_path / "packed.txt")))


def test_a_file_brings_its_ids_and_any_column(tmp_path: Path) -> None:
    table = pd.DataFrame({"text_id": ["a", "b"], "answer": SAID[:2], "other": 1})
    table.to_csv(tmp_path / "a.csv", index=False)
    (block,) = text_blocks.read_blocks(str(tmp_path / "a.csv"), column="answer")
    assert list(block) == ["text_id", "text"] and block["text_id"].tolist() == ["a", "b"]
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    (block,) = text_blocks.read_blocks(str(tmp_path / "b.txt"))
    assert block.to_dict("records") == [{"row": 1, "text": "one"}, {"row": 2, "text": "two"}]
    with pytest.raises(NbbiasError, match="prose"):
        next(text_blocks.read_blocks(str(tmp_path / "a.csv"), column="prose"))


def run(command: Callable[..., object], *given: str) -> SimpleNamespace:
    return command("detect", *given, "--judge", "keywords")  # type: ignore[return-value]


def test_detect_writes_csv_that_no_spreadsheet_runs(
    command: Callable[..., object], pipe: Callable[[bytes], None]
) -> None:
    pipe("\n".join(SAID).encode())
    done = run(command, "-")
    assert done.returncode == 0
    table = pd.read_csv(io.StringIO(done.stdout))
    assert table["verdict"].tolist() == ["biased", "not judged", "not biased", "not biased"]
    assert table["text"].iloc[3] == "'=1+1"
    assert table["group"].iloc[0] == "women"
    assert "tried on 252 texts" in done.stderr and "1 biased" in done.stderr
    assert "simulated" in table["instrument"].iloc[0]


def test_detect_writes_json_lines_and_fails_where_it_is_asked_to(
    command: Callable[..., object], tmp_path: Path
) -> None:
    pd.DataFrame({"text": [*SAID[:3], "bell\a"]}).to_csv(tmp_path / "a.csv", index=False)
    out = tmp_path / "found.jsonl"
    done = run(command, str(tmp_path / "a.csv"), "--out", str(out), "--fail-on-biased")
    assert done.returncode == 1 and not done.stdout
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[0]["verdict"] == "biased"
    assert [row["row"] for row in rows] == [1, 2, 3, 4]
    assert "\a" not in out.read_text()


def test_detect_tells_mistakes(command: Callable[..., object], tmp_path: Path) -> None:
    done = run(command, str(tmp_path / "nowhere.csv"))
    assert done.returncode == 2 and "no such file" in done.stderr
    pd.DataFrame({"ID": ["a"], "answer": ["It rains."]}).to_csv(tmp_path / "a.csv", index=False)
    done = run(command, str(tmp_path / "a.csv"), "--column", "answr")
    assert done.returncode == 2 and "did you mean answer" in done.stderr
    assert "RedditBias" not in done.stderr  # no judge was made before
    (block,) = text_blocks.read_blocks(str(tmp_path / "a.csv"), column="answer")
    assert block.to_dict("records") == [{"text_id": "a", "text": "It rains."}]
    done = command(  # type: ignore[assignment]
        "detect", str(tmp_path / "a.csv"), "--column", "answer", "--judge", "keyword"
    )
    assert done.returncode == 2 and "did you mean keywords" in done.stderr


def test_measure_prints_and_writes_the_tables(
    command: Callable[..., object], tmp_path: Path
) -> None:
    done: SimpleNamespace = command(  # type: ignore[assignment]
        "measure", "llmbi", "-p", "draws=100", "--out", str(tmp_path)
    )
    assert done.returncode == 0
    assert "estimate [95% CI]" in done.stdout or "estimate" in done.stdout
    kept = pd.read_parquet(tmp_path / "tables" / "estimates.parquet")
    pd.testing.assert_frame_equal(kept, llmbi.measure(draws=100).estimates)


def test_measure_tells_mistakes(command: Callable[..., object]) -> None:
    done: SimpleNamespace = command("measure", "llmby")  # type: ignore[assignment]
    assert done.returncode == 2 and "no study called" in done.stderr
    done = command("measure", "llmbi", "-p", "drows=100")  # type: ignore[assignment]
    assert done.returncode == 2 and "did you mean draws" in done.stderr


@pytest.mark.parametrize("value", ["2", "-1", "nan", "0.4"])
def test_no_judge_is_fitted_for_a_probability_that_is_none(
    value: str, command: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    monkeypatch.setattr("nbbias.biasalert.detector.detector", None)
    done = run(command, str(tmp_path / "a.txt"), "--sure-from", value)
    assert done.returncode == 2 and "is no probability from 0.5 to 1" in done.stderr
