"""YAML that a user wrote: its traps are shut, and what is hostile is refused at once."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from nbbias import params, studies as registry
from nbbias.asking.params import Generate
from nbbias.cogs import suite
from nbbias.params import yaml as reader
from nbbias.running import generation, plan as run_plan
from nbbias.studies import STUDIES
from nbbias.tables import DataError, ParameterError
from tests.conftest import Command

FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "run.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ParameterError) as caught:
        registry.read(path)
    assert caught.value.where == str(path)
    (breach,) = caught.value.breaches
    return breach


# --- what a file says -------------------------------------------------------------------------


def test_the_study_is_read_from_its_key(tmp_path: Path) -> None:
    path = write(tmp_path, "study: llmbi\ndraws: 200\nweights: {Age: 2.0}\n")
    assert registry.read(path) == ("llmbi", {"draws": 200, "weights": {"Age": 2.0}})


def test_without_its_key_the_study_is_the_folders_name(tmp_path: Path) -> None:
    (tmp_path / "llmbi").mkdir()
    assert registry.read(write(tmp_path / "llmbi", "draws: 200\n")) == ("llmbi", {"draws": 200})


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "---\n"])
def test_an_empty_file_sets_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "llmbi").mkdir()
    assert registry.read(write(tmp_path / "llmbi", text)) == ("llmbi", {})


def test_an_unknown_study_in_a_file_is_refused(tmp_path: Path) -> None:
    assert "no study called 'cog'" in refusal(write(tmp_path, "study: cog\n"))


@pytest.mark.parametrize("text", ["study: [llmbi]\n", "study: {llmbi: 1}\n"])
def test_a_study_that_is_no_word_is_refused(text: str, tmp_path: Path) -> None:
    assert "no study called" in refusal(write(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "1:30",
        "01:30:00",
        "-1:30",
        "1:30.5",
        "yes",
        "no",
        "on",
        "Off",
        "2024-01-01",
        "2024-01-01 10:00:00",
    ],
)
def test_yaml_traps_stay_the_text_that_was_written(text: str) -> None:
    assert params.override(f"draws={text}") == ("draws", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10", 10),
        ("-3", -3),
        ("0.5", 0.5),
        ("1.0e-3", 0.001),
        ("true", True),
        ("1e-3", 0.001),
        ("1e3", 1000.0),
        ("010", 10),
        ("0123", 123),
        ("sample", "sample"),
        ("'1:30'", "1:30"),
        ("{Age: 2.0}", {"Age": 2.0}),
        ("", None),
    ],
)
def test_plain_values_are_read_as_yaml_means_them(text: str, value: object) -> None:
    name, found = params.override(f"x={text}")
    assert (name, found, type(found)) == ("x", value, type(value))


@pytest.mark.parametrize("text", ["draws: 1\ndraws: 2\n", "weights: {Age: 1.0, Age: 2.0}\n"])
def test_a_key_that_stands_twice_is_refused(text: str, tmp_path: Path) -> None:
    assert "found duplicate key" in refusal(write(tmp_path, "study: llmbi\n" + text))


def test_a_key_that_stands_twice_is_refused_with_the_line_of_its_repeat(tmp_path: Path) -> None:
    found = refusal(write(tmp_path, "study: llmbi\ndraws: 200\nseed: 1\ndraws: 300\n"))
    assert 'line 4: found duplicate key "draws"' in found


@pytest.mark.parametrize("text", ["- draws\n", "draws\n", "5\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str, tmp_path: Path) -> None:
    assert refusal(write(tmp_path, text)) == "must hold lines of the form 'name: value'"


@pytest.mark.parametrize(
    "text", ["draws: !!int many\n", "? {a: 1}\n: b\n", "draws: " + "9" * 5000, "a: \x07\n", "=\n"]
)
def test_a_value_that_yaml_cannot_make_is_refused(text: str, tmp_path: Path) -> None:
    assert refusal(write(tmp_path, text)).startswith("not readable as YAML: ")


@given(st.dictionaries(st.text("ab:-# 01e\n'\"yn~é[", max_size=6), PLAIN, max_size=3))
def test_what_is_written_is_read_again(values: dict[str, Any]) -> None:
    assert reader.parse(params.as_yaml(values), where="") == values
    assert params.override(f"x={params.as_yaml(values, flow=True)}") == ("x", values)
    assert params.as_yaml(values, flow=True).count("\n") == 0


def test_broken_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    found = refusal(write(tmp_path, "study: llmbi\ndraws: [1, 2\n"))
    assert found.startswith("not readable as YAML: line ")


def test_yaml_that_would_make_python_objects_is_refused(tmp_path: Path) -> None:
    text = "draws: !!python/object/apply:os.getcwd []\n"
    assert "line 1: could not determine a constructor" in refusal(write(tmp_path, text))


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    content = "seed: 1\nanswers_path: é".encode("latin-1")
    assert refusal(write(tmp_path, content)) == "is not UTF-8 text (line 2); save it as UTF-8"


def test_a_file_that_is_not_there_is_refused_with_the_place_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.yaml"
    assert refusal(path) == f"no such file (looked for {path})"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("llmbi", "params/llmbi/sample.yaml"),
        ("news-bias", "params/news_bias/sample.yaml"),
        ("params/cogs", "params/cogs/sample.yaml"),
        ("params/cogs/smaple.yaml", "params/cogs/sample.yaml"),
        ("params/llmbi/gpt4_recorded.yml", "params/llmbi/gpt4_recorded.yaml"),
    ],
)
def test_a_file_that_is_not_there_is_answered_with_the_one_that_was_meant(
    typed: str, meant: str
) -> None:
    assert refusal(Path(typed)).endswith(f"; did you mean {meant}?")


@pytest.mark.parametrize("assignment", ["draws", "=5", " =5", ""])
def test_an_assignment_needs_a_name_and_an_equals_sign(assignment: str) -> None:
    with pytest.raises(ParameterError, match="write it as name=value"):
        params.override(assignment)


def test_a_value_may_hold_an_equals_sign() -> None:
    assert params.override("answers_path=a=b.csv") == ("answers_path", "a=b.csv")


# --- what is hostile --------------------------------------------------------------------------

#: A name: what the file holds, and what its refusal says.
HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "billion laughs": ("a: &a [lol]\nb: [*a, *a]\n", "line 1: anchors and aliases"),
    "no such anchor": ("seed: 1\na: *b\n", "line 2: anchors and aliases"),
    "merged with itself": ("a: &a\n  <<: *a\n", "anchors and aliases"),
    "deep lists": ("a: " + "[" * 100_000, "line 1: more than 50 lists or mappings"),
    "deep names": ("? " * 100_000, "more than 50 lists or mappings"),
    "many values": ("a: [" + "1," * 50_000 + "]", "more than 5,000 values"),
    "many names": ("\n".join(f"k{n}: 1" for n in range(20_000)), "more than 5,000 values"),
    "many mistakes": ("\n".join(f"k{n}: 1" for n in range(2_400)), "and 2,381 more mistakes"),
    "Python": ("a: !!python/object/apply:os.system [x]\n", "line 1: could not determine"),
    "own tag": ("seed: 1\na: !mine {b: 1}\n", "line 2: could not determine a constructor"),
    "no number": ("a: !!int ''\n", "not readable as YAML"),
    "5,000 digits": ("seed: " + "9" * 5000, "not readable as YAML"),
    "hexadecimal": ("seed: 0x" + "f" * 100_000, "not readable as YAML"),
    "another version": ("%YAML 1.1\n---\nseed: 1" + ":59" * 50_000, "only YAML 1.2 is read"),
    "infinity": ("lambda_factor: .inf\n", "finite number"),
    "half a character": ('answers_path: "x\\ud800"\n', "half a character"),
    "half in a name": ('seed: 1\nweights: {"y\\udc00": 1}\n', "half a character"),
    "twice": ("seed: 1\nseed: " + "x" * 100_000, 'line 2: found duplicate key "seed"'),
    "two documents": ("seed: 1\n---\nseed: 2\n", "line 2: expected a single document"),
    "control": (b"seed: 1\na: \x1b[31m\n", "line 2: the character U+001B cannot stand in it"),
    "UTF-16": ("seed: 1\n".encode("utf-16"), "is not UTF-8 text (line 1); save it as UTF-8"),
    "name of a number": ("seed: 1\n1: 2\n", "must hold lines of the form 'name: value'"),
    "name of a list": ("? [a, b]\n: 2\n", "must hold lines of the form 'name: value'"),
    "name of a mapping": ("{a: 1}: 2\n", "not readable as YAML"),
    "long value": ("aggregation: " + "x" * 200_000, "'mean' or 'sum', but got 'xxx"),
    "long path": ("answers_path: " + "x" * 200_000, "answers_path: is too long for a path"),
    "claim of lists": ("claims: [{statistic: [a], measure: {b: 1}}]", "measure must be text"),
    "quotes": ("a: " + "'" * 200_001, "not readable as YAML"),
    "a text": ("x" * 200_000, "must hold lines of the form"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_in_under_a_second(name: str, tmp_path: Path) -> None:
    content, told = HOSTILE[name]
    (tmp_path / "llmbi").mkdir()
    path = write(tmp_path / "llmbi", content)
    started = time.process_time()
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([path])
    assert time.process_time() - started < 1
    assert told in str(caught.value)
    assert len(str(caught.value)) < 60_000
    assert str(path) in str(caught.value)


def sparse(path: Path) -> Path:
    """Make a file of 100 MB, of which the disk holds nothing."""
    with path.open("wb") as file:
        file.truncate(100_000_000)
    return path


def full(path: Path) -> Path:
    """Make a file that is a little too large, and plain."""
    path.write_text("seed: 1\n" + "# nothing\n" * 26_000)
    return path


def folder(path: Path) -> Path:
    """Make a folder where a file should be."""
    path.mkdir()
    return path


def pipe(path: Path) -> Path:
    """Make a pipe that nobody writes to: who opens it waits for ever."""
    os.mkfifo(path)
    return path


def device(path: Path) -> Path:
    """Name a file that never ends."""
    path.symlink_to("/dev/zero")
    return path


@pytest.mark.skipif(os.name == "nt", reason="has no pipes and devices among its files")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (sparse, "holds more than 250,000 bytes"),
        (full, "holds more than 250,000 bytes"),
        (folder, "is no file"),
        (pipe, "is no file"),
        (device, "is no file"),
    ],
)
def test_what_is_no_params_file_is_refused_at_once(
    make: Callable[[Path], Path], told: str, tmp_path: Path, command: Command
) -> None:
    path = make(tmp_path / "run.yaml")
    started = time.monotonic()
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([path])
    assert time.monotonic() - started < 1
    assert told in str(caught.value)
    with pytest.raises(DataError, match=told):
        suite.load([path])
    done = command("run", path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["billion laughs", "Python", "twice"])
def test_a_hostile_suite_is_refused_as_a_params_file_is(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, HOSTILE[name][0])
    with pytest.raises(DataError) as caught:
        suite.load([path])
    assert str(path) in str(caught.value)


def test_a_hostile_value_on_the_command_line_is_refused(command: Command) -> None:
    for value in ("&a [*a]", "!!python/name:os.system", "[" * 1000):
        done = command("run", "params/llmbi/sample.yaml", "-p", f"weights={value}")
        assert done.returncode == 2
        assert "not readable as YAML: line 1" in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr


def test_what_is_shared_is_written_without_an_alias() -> None:
    shared = {"input": 1.0}
    given = {"prices": {"a/b": shared, "c/d": shared}}
    assert reader.parse(params.as_yaml(given), where="") == given


def test_a_file_as_large_as_may_be_is_read(tmp_path: Path) -> None:
    text = "weights: {" + "".join(f"k{n}: 1.0, " for n in range(2_490)) + "}"
    assert len(params.read_yaml(write(tmp_path, text))["weights"]) == 2_490
    deep = "a: " + "[" * 48 + "]" * 48
    assert params.read_yaml(write(tmp_path, deep))["a"][0][0] is not None
    long = "a: " + "x" * (reader.LARGEST - 3)
    assert len(params.read_yaml(write(tmp_path, long))["a"]) == reader.LARGEST - 3


SIGNS = st.text("ab01:-?{}[],&*!<>|'\"\\%#@`~=.\n \t\x07é", max_size=30)
WORDS = [
    "%YAML 1.1\n---\n",
    "!!binary ",
    "!!set ",
    '"\\ud800"',
    "1e5",
    ".nan",
    "generate:\n",
    "seed: ",
]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(WORDS) | SIGNS, max_size=5).map("".join))
@example("%YAML 1.1\n---\n%YAML 9.9\n")
def test_of_any_text_either_values_come_or_a_refusal(text: str) -> None:
    try:
        value = reader.parse(text, where="here")
    except ParameterError:
        return
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        taken(value)


def taken(values: dict[str, Any], stem: str = "llmbi") -> None:
    """Check values as those of a params file are; nothing but a refusal may come of it."""
    with contextlib.suppress(ParameterError):
        generation.check(stem, values, where="here")


@pytest.mark.parametrize("stem", STUDIES)
@settings(max_examples=20)
@given(st.data())
def test_of_any_values_nothing_but_a_refusal_comes(stem: str, data: st.DataObject) -> None:
    words = st.sampled_from(["sample", "none", "auto", "~nobody/x", "$X", "\0", "x" * 5000, "race"])
    names = st.sampled_from(list(STUDIES[stem].parameters.model_fields))
    values = PLAIN | words | st.dictionaries(st.sampled_from(["statistic", "measure"]), PLAIN)
    taken(data.draw(st.dictionaries(names | st.text(max_size=3), values, max_size=4)), stem)
    fields = st.sampled_from(list(Generate.model_fields))
    block = {"models": ["openai/a"], "prompts": "llmbi"}
    block |= data.draw(st.dictionaries(fields | st.text(max_size=3), values, max_size=4))
    taken({"generate": block}, stem)


def test_a_message_shows_what_steers_a_terminal_and_shortens_what_is_long(
    tmp_path: Path, command: Command
) -> None:
    text = '"a\\e[31m": 1\naggregation: "\\e[31m' + "y" * 3000 + '"\n'
    done = command("run", write(tmp_path, "study: llmbi\n" + text))
    assert done.returncode == 2
    assert "\x1b" not in done.stderr.replace("\x1b[31merror\x1b[0m", "")
    assert "a[U+001B][31m: unknown parameter" in done.stderr
    assert len(done.stderr) < 3000


def test_unknown_names_of_the_block_point_to_its_list() -> None:
    block = {"models": ["openai/a"], "prompts": "llmbi", "workers": 8, "concurency": 8}
    with pytest.raises(ParameterError) as caught:
        generation.check("llmbi", {"generate": block, "drows": 1}, where="mine.yaml")
    told = str(caught.value)
    pointed = "See `nbbias params generate`"
    near = "generate.concurency: unknown parameter; did you mean concurrency?"
    assert f"{near} {pointed}" in told
    assert re.search(
        rf"generate\.workers: unknown parameter; known: .*, concurrency, .* {pointed}", told
    )
    assert "drows: unknown parameter; did you mean draws? See `nbbias params llmbi`" in told


def test_a_word_list_under_a_misspelt_name_is_named(tmp_path: Path) -> None:
    path = tmp_path / "place.csv"
    path.write_text("group,term\nrural,farm\nrural,field\nurban,street\nurban,city\n")
    given = {"biases": ["place"], "lexicon_paths": {"plaze": str(path)}}
    with pytest.raises(ParameterError, match="no word list for place; did you mean plaze"):
        registry.validate("news_bias", given)
    given = {"biases": ["place"], "lexicon_paths": {"zzz": str(path)}}
    with pytest.raises(ParameterError, match="lexicon_paths: zzz is not among the biases"):
        registry.validate("news_bias", given)
