"""Answers in the logs of evaluation harnesses, as records that `read_table` can lay out.

Each format is recognised by what it holds and read by one short function. A record has `text` (the
answer; missing where a call failed), `input` (what was asked), `model`, `id` and `sample` (the
number of the answer among those of one model to one input), and every plain value that the log
keeps beside a sample under other names. A log is data from anywhere: sizes are bounded before
anything is unpacked, and nothing in it is run.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow as pa

Record = dict[str, Any]

#: The most bytes of one member of an archive, and of all, unpacked; and the most members.
_MEMBER, _ARCHIVE, _MEMBERS = 1 << 28, 1 << 32, 1_000_000
#: Compression that inspect_ai uses and `zipfile` lacks before Python 3.14.
_ZSTANDARD = 93


def read_answers(content: Any, path: Path) -> list[Record] | None:
    """Return the answers of a log as records, or None of JSON that is no known log.

    Parameters
    ----------
    content
        Parsed JSON; of JSON Lines the list of its values.
    path
        The file, whose folder names the model of lm-evaluation-harness.

    Raises
    ------
    ValueError
        A log without answers.

    Examples
    --------
    >>> case = {"input": "Who?", "actualOutput": "She."}
    >>> read_answers({"testCases": [case], "hyperparameters": {"model": "m"}}, Path("run.json"))
    [{'input': 'Who?', 'text': 'She.', 'model': 'm', 'sample': 1}]
    """
    for harness, (is_log, read) in _FORMATS.items():
        if is_log(content):
            try:
                return _number_samples(read(content, path))
            except (LookupError, TypeError, AttributeError):
                raise ValueError(f"looks like a log of {harness}, but is damaged") from None
    return None


def read_eval(path: Path, parse: Callable[[str], Any]) -> list[Record]:
    """Return the answers of an `.eval` file of inspect_ai, a zip of JSON, as records.

    Parameters
    ----------
    path
        The file; `parse` parses the JSON of its members.

    Raises
    ------
    ValueError
        It is damaged, encrypted, no log, or unpacks to more than is read of a file.
    """
    try:
        with ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}  # the last of a name
            entries = [name for name in members if name.startswith("samples/")]
            heads = [name for name in ("header.json", "_journal/start.json") if name in members]
            if not heads:
                raise ValueError("is not a log of inspect_ai: it has no header.json")
            _require_bounded([members[name] for name in (*heads[:1], *entries)])
            header = parse(_unpack(archive, members[heads[0]]))
            samples = (parse(_unpack(archive, members[name])) for name in entries)
            return _number_samples(_from_inspect({**_object(header), "samples": samples}, path))
    except (BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"the archive is damaged ({error})") from None
    except (RuntimeError, NotImplementedError) as error:
        if isinstance(error, RecursionError):
            raise
        raise ValueError(f"the archive cannot be unpacked: {error}") from None


def _require_bounded(members: list[ZipInfo]) -> None:
    total, largest = sum(m.file_size for m in members), max(m.file_size for m in members)
    if total > _ARCHIVE or largest > _MEMBER or len(members) > _MEMBERS:
        most = f"{_MEMBER >> 20} MB a sample, {_ARCHIVE >> 30} GB and {_MEMBERS:,} samples"
        raise ValueError(f"unpacks to more than is read of a log, {most}")


def _unpack(archive: ZipFile, member: ZipInfo) -> str:
    """Return a member's text; never more of it than the archive says, which is bounded."""
    if member.compress_type in {ZIP_STORED, ZIP_DEFLATED}:
        return archive.read(member).decode("utf-8")
    if member.compress_type != _ZSTANDARD or member.flag_bits & 1:
        raise NotImplementedError("it is encrypted, or packed in another way than inspect_ai packs")
    file: Any = archive.fp
    file.seek(member.header_offset)
    header = file.read(30)
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    packed = file.read(min(member.compress_size, _MEMBER))
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        content: bytes = stream.read(member.file_size + 1)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise BadZipFile(member.filename)
    return content.decode("utf-8")


# --- formats --------------------------------------------------------------------------------------


def _from_inspect(content: Record, _: Path) -> Iterator[Record]:
    """Read a log of inspect_ai: the last answer to each sample of each epoch."""
    model = _object(content.get("eval")).get("model")
    for sample in map(_object, content.get("samples") or []):
        output, attachments = _object(sample.get("output")), _object(sample.get("attachments"))
        answer = output.get("completion")
        if not answer and (choices := _objects(output.get("choices"))):
            answer = _read_message(_object(choices[0].get("message")).get("content"))
        asked = _read_message(sample.get("input"))
        record = {"input": asked, "text": answer, "id": sample.get("id"), "model": model}
        if sample.get("error"):
            record["text"] = None  # what there is of it is cut off
        for name in ("input", "text"):
            key = str(record[name]).removeprefix("attachment://")
            record[name] = attachments.get(key, record[name])
        yield _plain(sample.get("metadata")) | record


def _from_lm_eval(content: list[Record], path: Path) -> Iterator[Record]:
    """Read samples of lm-evaluation-harness: answers before its filters, once each."""
    # It writes a folder for each model, with its results beside the samples.
    model = path.parent.name.replace("__", "/") if any(path.parent.glob("results_*.json")) else None
    first = content[0].get("filter")
    for sample in content:
        if sample.get("filter") != first:
            continue
        asked = sample["arguments"]
        asked = list(asked.values()) if isinstance(asked, dict) else asked
        asked = [list(call.values()) if isinstance(call, dict) else call for call in asked]
        for call, answers in zip(asked, sample["resps"], strict=False):
            if not isinstance(call[-1], dict):  # what a model is to generate by
                problem = "holds likelihoods of given answers, not texts that a model wrote"
                raise ValueError(f"{problem}; tasks of output_type generate_until have these")
            for answer in answers:
                record = {"input": call[0], "text": answer, "id": sample.get("doc_id")}
                yield _plain(sample.get("doc")) | record | ({"model": model} if model else {})


def _from_promptfoo(content: Any, _: Path) -> Iterator[Record]:
    """Read results of promptfoo: each provider's output to each prompt of each test."""
    for result in map(_object, _results(content)):
        provider, prompt = _object(result.get("provider")), _object(result.get("prompt"))
        output = _object(result.get("response")).get("output")
        metadata = _plain(_object(result.get("testCase")).get("metadata")) | _plain(result["vars"])
        yield metadata | {
            "prompt_label": prompt.get("label"),
            "input": prompt.get("raw"),
            "text": output if output is None or isinstance(output, str) else json.dumps(output),
            "id": f"{result.get('testIdx')}/{result.get('promptIdx')}",
            "model": provider.get("label") or provider.get("id"),
        }


def _from_deepeval(content: Record, _: Path) -> Iterator[Record]:
    """Read a test run of DeepEval, which names a model only among its hyperparameters."""
    model = _object(content.get("hyperparameters")).get("model")
    for case in map(_object, content["testCases"]):
        record = {"input": case.get("input"), "text": case.get("actualOutput")}
        record |= {"id": case["name"]} if case.get("name") else {}
        yield _plain(case.get("metadata")) | record | ({"model": model} if model else {})


def _from_instances(content: list[Record], _: Path) -> Iterator[Record]:
    """Read instance records of Every Eval Ever; of a conversation, the last answer."""
    for sample in content:
        output = _object(sample.get("output")).get("raw")
        turns = [t for t in _objects(sample.get("messages")) if t.get("role") == "assistant"]
        answers = output if isinstance(output, list) else [output]
        for answer in [turn.get("content") for turn in turns[-1:]] or answers:
            yield _plain(sample.get("metadata")) | {
                "input": _object(sample["input"]).get("raw"),
                "text": answer,
                "id": sample.get("sample_id"),
                "model": sample.get("model_id"),
            }


# --- parts ----------------------------------------------------------------------------------------


def _lines_with(*names: str) -> Callable[[Any], bool]:
    """Recognise a list of objects by the names that its first ones have."""
    return lambda log: bool(_objects(log)) and all({*names} <= {*item} for item in _objects(log))


def _results(content: Any) -> Any:
    """Return what promptfoo lists under `results`, in JSON once more under `results`."""
    for _ in range(2):
        content = content.get("results") if isinstance(content, dict) else content
    return content


_is_promptfoo = _lines_with("vars", "provider", "prompt")
_Reader = Callable[[Any, Path], Iterable[Record]]

#: Formats of JSON: what recognises one, and what reads it.
_FORMATS: dict[str, tuple[Callable[[Any], bool], _Reader]] = {
    "inspect_ai": (lambda log: {"eval", "status", "version"} <= {*_object(log)}, _from_inspect),
    "lm-evaluation-harness": (_lines_with("doc_id", "arguments", "resps"), _from_lm_eval),
    "promptfoo": (lambda log: _is_promptfoo(_results(log)), _from_promptfoo),
    "DeepEval": (lambda log: isinstance(_object(log).get("testCases"), list), _from_deepeval),
    "Every Eval Ever": (_lines_with("interaction_type", "input", "sample_id"), _from_instances),
}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [_object(item) for item in value] if isinstance(value, list) else []


def _plain(value: Any) -> Record:
    """Return the texts, numbers and flags of an object; none of its lists and objects."""
    return {k: v for k, v in _object(value).items() if isinstance(v, str | int | float)}


def _read_message(value: Any) -> Any:
    """Return a message's text, or of a conversation what its user said."""
    if not isinstance(value, list):
        return value
    users = [part for part in _objects(value) if part.get("role", "user") == "user"]
    texts = [_read_message(p.get("content")) if "content" in p else p.get("text") for p in users]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _number_samples(records: Iterable[Record]) -> list[Record]:
    """Number the answers of one model to one input."""
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    keyed = ((record, repr((record.get("model"), record["input"]))) for record in records)
    return [record | {"sample": next(numbers[key])} for record, key in keyed]
