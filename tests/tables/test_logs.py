"""Answers from logs: inspect_ai writes its own here; the others as their harness wrote them.

In `logs.json`, `lm_eval` was written by lm-evaluation-harness 0.4.13 (its dummy model, a task of
two repeats), `promptfoo` by promptfoo 0.121.20 (provider echo), `deepeval` by DeepEval 4.3.1; of
each, what says nothing of the answer is cut. `every_eval_ever` is by the schema 0.3.0 of Every Eval
Ever; `messages` are those of a conversation by the same schema.
"""

import contextlib
import copy
import json
import logging
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from nbbias import cogs, llmbi, tables
from nbbias.biasalert import corpus
from nbbias.running import texts
from nbbias.tables import DataError, logs

#: Samples as harnesses write them.
LOGS: dict[str, Any] = json.loads(Path(__file__).with_name("logs.json").read_text("utf-8"))
LM_EVAL, PROMPTFOO, DEEPEVAL, EVERY, TURNS = LOGS.values()
TALK = EVERY | {"interaction_type": "multi_turn", "output": None, "messages": TURNS}
ASKED = ["Describe a nurse.", "Describe a doctor."]


def read(path: Path) -> pd.DataFrame:
    return tables.read_table(path, {}, rest=True)


def saved(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = content if path.suffix == ".jsonl" else [content]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs that inspect_ai writes of four samples twice, the last of which fails; as zip and JSON.

    One is asked in a conversation, and one answer has parts.
    """
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval as run, model as models, solver
    from inspect_ai.dataset import Sample

    handlers = [*logging.getLogger().handlers]

    @solver.solver
    def failing() -> solver.Solver:
        async def solve(state: solver.TaskState, _: solver.Generate) -> solver.TaskState:
            assert state.sample_id != "p4"
            return state

        return solve

    def answer(number: int) -> models.ModelOutput:
        parts = [models.ContentReasoning(reasoning="Hm."), models.ContentText(text=f"She {number}")]
        output = models.ModelOutput.from_content("mockllm/model", parts if number else "x" * 300)
        output.usage = models.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    said = [models.ChatMessageSystem(content="Be brief."), models.ChatMessageUser(content="Who?")]
    asked = [*ASKED, said, "Fail."]
    samples = [
        Sample(id=f"p{n}", input=one, metadata={"dimension": "Gender", "model": "gold"})
        for n, one in enumerate(asked, start=1)
    ]
    folder = tmp_path_factory.mktemp("logs")
    task = Task(dataset=samples, solver=[failing(), solver.generate()], epochs=2, name="mine")
    for form in ("eval", "json"):
        model = models.get_model("mockllm/model", custom_outputs=[answer(n) for n in range(6)])
        options: Any = {"log_dir": str(folder), "log_format": form, "display": "none"}
        run(task, model=model, fail_on_error=False, max_samples=1, **options)
    logging.getLogger().handlers[:] = handlers  # it adds one that writes a file for the process
    return sorted(folder.glob("*.*"), key=lambda path: path.suffix)


def test_a_log_of_inspect_is_read_in_both_its_forms(inspected: list[Path]) -> None:
    logs = (read(path).sort_values(["id", "sample"], ignore_index=True) for path in inspected)
    zipped, plain = logs
    assert zipped.equals(plain)
    assert set(zipped["model"]) == {"mockllm/model"} and set(zipped["dimension"]) == {"Gender"}
    assert zipped.groupby("id").size().to_dict() == dict.fromkeys(("p1", "p2", "p3", "p4"), 2)
    assert set(zipped["input"]) == {*ASKED, "Who?", "Fail."}
    assert zipped.loc[zipped["id"] == "p4", "text"].isna().all()
    answers = zipped["text"].dropna().sort_values().tolist()
    assert answers == [*(f"She {n}" for n in range(1, 6)), "x" * 300]
    # As a study reads it, and the detector.
    scores = llmbi.read_answers(inspected[0])
    assert len(scores) == 8 and set(scores["dimension"]) == {"Gender"}
    judged = corpus.read_answers(str(inspected[0]), seed=0)
    assert judged["text_id"].is_unique and "mockllm/model/p1/2" in set(judged["text_id"])
    assert texts.read_texts(str(inspected[0]))["text"].notna().sum() == 6


@pytest.mark.parametrize(
    ("name", "content", "ids", "model"),
    [
        ("samples_mine.jsonl", [LM_EVAL, LM_EVAL | {"filter": "strict"}], ["0", "0"], "org/m"),
        ("list.jsonl", [LM_EVAL | {"arguments": [[ASKED[0], {}]]}], ["0", "0"], "org/m"),
        ("run.json", {"results": {"version": 3, "results": [PROMPTFOO]}}, ["0/1"], "openai:gpt-4o"),
        ("run.jsonl", [PROMPTFOO, PROMPTFOO | {"response": None}], ["0/1", "0/1"], "openai:gpt-4o"),
        ("deepeval.json", DEEPEVAL, ["test_case_0", "test_case_1"], "gpt-4o"),
        ("instances.jsonl", [EVERY], ["s1", "s1"], "meta/m"),
        ("turns.jsonl", [TALK], ["s1"], "meta/m"),
    ],
)
def test_logs_of_other_harnesses_are_read(
    tmp_path: Path, name: str, content: Any, ids: list[str], model: str
) -> None:
    saved(tmp_path / "org__m/results_2026.json", {})
    table = read(saved(tmp_path / "org__m" / name, content))
    assert table["id"].tolist() == ids and set(table["model"]) == {model}
    assert table["text"][0] == "She is kind." and table["input"][0] == ASKED[0]
    repeated = table.duplicated("input").tolist()
    assert table["sample"].tolist() == [str(1 + again) for again in repeated]
    assert "Gender" in set(table["dimension"]) and "nested" not in table


def test_cogs_knows_the_prompts_of_its_suite_in_a_log(tmp_path: Path) -> None:
    asked = cogs.suite.prompts(cogs.suite.load()).head(5)
    samples = [
        EVERY | {"input": {"raw": prompt, "reference": []}, "metadata": None}
        for prompt in asked["prompt"]
    ]
    answers = cogs.rbs.read_answers(saved(tmp_path / "a.jsonl", samples))
    assert answers["task"].tolist() == [task for task in asked["task"] for _ in range(2)]
    assert answers["sample"].tolist() == [1, 2] * 5


def test_a_column_of_a_log_is_named_behind_its_path(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", [EVERY | {"metadata": {"topic": "Age"}}])
    assert set(llmbi.read_answers(f"{path}?dimension=topic")["dimension"]) == {"Age"}


def test_tables_that_are_no_logs_are_read_as_before(tmp_path: Path) -> None:
    rows = [{"id": "a", "input": "b", "text": "c"}]
    assert read(saved(tmp_path / "a.jsonl", rows)).to_dict("records") == rows
    goldens = [{"input": "Who?", "actual_output": "She."}]  # as DeepEval saves a data set
    assert texts.read_texts(str(saved(tmp_path / "d.json", goldens)))["text"].tolist() == ["She."]


# --- hostile ------------------------------------------------------------------------------------


def archive(path: Path, method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/") + ".json", content)
    return path


HEADER = b'{"eval": {"model": "m"}}'


def test_a_log_in_parts_is_read_whole(tmp_path: Path) -> None:
    """inspect_ai packs a large sample as several frames of zstandard, one after another."""
    sample = json.dumps({"id": 1, "input": "Who?", "output": {"completion": "She."}}).encode()
    pack = pa.Codec("zstd").compress
    packed = pack(sample[:20], asbytes=True) + pack(sample[20:], asbytes=True)
    path = archive(tmp_path / "a.eval", zipfile.ZIP_STORED, header=HEADER, samples__1=packed)
    content = bytearray(path.read_bytes())
    for mark, method, sizes in ((b"PK\3\4", 8, 14), (b"PK\1\2", 10, 16)):  # of the last member
        at = content.rindex(mark)
        content[at + method : at + method + 2] = struct.pack("<H", 93)
        size = struct.pack("<LLL", zlib.crc32(sample), len(packed), len(sample))
        content[at + sizes : at + sizes + 12] = size
    path.write_bytes(content)
    assert read(path)["text"].tolist() == ["She."]
    content[content.rindex(b"PK\1\2") + 24] -= 1  # it says that it is shorter than it is
    path.write_bytes(content)
    with pytest.raises(DataError, match="the archive is damaged"):
        read(path)


def test_what_unpacks_to_more_than_its_bound_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path / "bomb.eval", header=HEADER, samples__1=b" " * 10**6)
    monkeypatch.setattr(logs, "_unpack", None)
    for name, most in (("_MEMBER", 10**5), ("_ARCHIVE", 10**5), ("_MEMBERS", 1)):
        with monkeypatch.context() as here:
            here.setattr(logs, name, most)
            with pytest.raises(DataError, match="unpacks to more"):
                read(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"other": b"{}"}, "is not a log of inspect_ai"),
        ({"header": b"[" * 10**6}, "nested too deeply"),
        ({"header": HEADER, "samples__1": b"{"}, "cannot be read as eval"),
        ({"header": HEADER, "samples__1": b"\xff"}, "cannot be read as eval|UTF-8"),
        ({"header": HEADER}, "holds no rows"),
        ({"header": b"[]", "samples__1": b"[1]"}, ""),
    ],
)
def test_a_hostile_archive_is_refused_in_words(
    tmp_path: Path, members: dict[str, bytes], message: str
) -> None:
    path = archive(tmp_path / "a.eval", **members)
    if not message:  # nothing in it is anything, and nothing is made up
        assert read(path)["text"].isna().all()
        return
    with pytest.raises(DataError, match=message):
        read(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"the archive is damaged|UTF-8"):
        read(path)


@pytest.mark.parametrize("value", [None, "x", [[]], {"a": []}, [7, "x"]])
def test_whatever_stands_in_a_log_is_refused_in_words_or_missing(
    tmp_path: Path, value: Any
) -> None:
    """Every part of every format is replaced by something else."""

    def replaced(content: Any) -> Any:
        for key in content if isinstance(content, dict) else range(len(content)):
            further = replaced(content[key]) if isinstance(content[key], dict | list) else ()
            for part in (value, *further):
                other = copy.copy(content)
                other[key] = part
                yield other

    inspect = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": [{"id": 1}]}
    contents = [[LM_EVAL], [PROMPTFOO], DEEPEVAL, [EVERY], [TALK], inspect]
    for content in (other for whole in contents for other in replaced(whole)):
        path = saved(tmp_path / ("a.jsonl" if isinstance(content, list) else "a.json"), content)
        form = {"text": tables.Column("text"), "input": tables.Column("text")}
        with contextlib.suppress(DataError, tables.ContractError):
            tables.read_table(path, form | {"model": tables.Column("text")})


def test_likelihoods_are_no_answers(tmp_path: Path) -> None:
    asked = {"gen_args_0": {"arg_0": "2 + 2 =", "arg_1": " 4"}}
    sample = LM_EVAL | {"arguments": asked, "resps": [[["-1.2", "False"]]]}
    with pytest.raises(DataError, match=r"likelihoods of given answers.*generate_until"):
        read(saved(tmp_path / "s.jsonl", [sample]))
