"""YAML that a user wrote: its traps are shut, and what is hostile is refused at once."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from nbbias import params, studies as registry
from nbbias.cogs import suite
from nbbias.params import yaml as reader
from nbbias.running import plan as run_plan
from nbbias.tables import ParameterError
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


@pytest.mark.parametrize("text", ["study: cog\n", "study: [llmbi]\n"])
def test_an_unknown_study_in_a_file_is_refused(text: str, tmp_path: Path) -> None:
    assert "no study called" in refusal(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, text) for text in ("1:30", "yes", "Off", "2024-01-01", "2024-01-01 10:00:00")),
        ("1e-3", 0.001),
        ("010", 10),
        ("'1:30'", "1:30"),
        ("a=b.csv", "a=b.csv"),
        ("", None),
    ],
)
def test_plain_values_are_read_as_yaml_1_2_means_them(text: str, value: object) -> None:
    name, result = params.override(f"x={text}")
    assert (name, result, type(result)) == ("x", value, type(value))


@pytest.mark.parametrize("text", ["- draws\n", "5\n", "1: 2\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str, tmp_path: Path) -> None:
    assert refusal(write(tmp_path, text)) == "must hold lines of the form 'name: value'"


@given(st.dictionaries(st.text("ab:-# 01e\n'\"yn~é[", max_size=6), PLAIN, max_size=3))
def test_what_is_written_is_read_again(values: dict[str, Any]) -> None:
    assert reader.parse(params.as_yaml(values), where="") == values
    assert params.override(f"x={params.as_yaml(values, flow=True)}") == ("x", values)
    assert params.as_yaml(values, flow=True).count("\n") == 0


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    content = "seed: 1\nanswers_path: é".encode("latin-1")
    assert refusal(write(tmp_path, content)) == "is not UTF-8 text (line 2); save it as UTF-8"


@pytest.mark.parametrize("assignment", ["draws", " =5"])
def test_an_assignment_needs_a_name_and_an_equals_sign(assignment: str) -> None:
    with pytest.raises(ParameterError, match="write it as name=value"):
        params.override(assignment)


# --- what is hostile --------------------------------------------------------------------------

#: A name: what the file holds, and what its refusal says.
HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "billion laughs": ("a: &a [lol]\nb: [*a, *a]\n", "line 1: anchors and aliases"),
    "deep lists": ("a: " + "[" * 100_000, "line 1: more than 50 lists"),
    "broken": ("seed: 1\na: [1, 2\n", "line 3: expected"),
    "many values": ("a: [" + "1," * 50_000 + "]", "more than 5,000 values"),
    "another version": ("%YAML 1.1\n---\nseed: 1" + ":59" * 50_000, "only YAML 1.2 is read"),
    "half a character": ('weights: {"x\\ud800": 1.0}\n', "half a character"),
    "long number": ("seed: 0x" + "f" * 6_000, "a number of thousands of digits"),
    "many mistakes": ("\n".join(f"k{n}: 1" for n in range(300)), "… and 280 more"),
    "Python": ("a: !!python/object/apply:os.system [x]\n", "line 1: could not determine"),
    "twice": ("seed: 1\nseed: " + "x" * 100_000, 'line 2: found duplicate key "seed"'),
    "control": (b"seed: 1\na: \x1b[31m\n", "#x001b: special characters are not allowed"),
    "long value": ("aggregation: " + "x" * 200_000, "'mean' or 'sum', but got 'xxx"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_in_seconds(name: str, tmp_path: Path) -> None:
    content, told = HOSTILE[name]
    (tmp_path / "llmbi").mkdir()
    path = write(tmp_path / "llmbi", content)
    started = time.process_time()
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([path])
    assert time.process_time() - started < 5
    assert told in str(caught.value)
    assert len(str(caught.value)) < 60_000
    assert str(path) in str(caught.value)


def test_fifty_lists_and_mappings_within_one_another_are_read() -> None:
    assert reader.parse("a: " + "[" * 49 + "]" * 49)["a"]
    with pytest.raises(Exception, match="more than 50 lists"):
        reader.parse("a: " + "[" * 50 + "]" * 50)


@pytest.mark.skipif(os.name == "nt", reason="has no pipes and devices among its files")
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: path.write_text("# nothing\n" * 26_000), "holds more than 250,000 bytes"),
        (os.mkfifo, "is not a file"),  # who opens it waits for ever
        (lambda path: path.symlink_to("/dev/zero"), "is not a file"),
    ],
)
def test_what_is_no_params_file_is_refused_at_once(
    make: Callable[[Path], object], problem: str, tmp_path: Path
) -> None:
    make(path := tmp_path / "run.yaml")
    with pytest.raises(ParameterError, match=problem):
        run_plan.plan([path])
    with pytest.raises(ParameterError, match=problem):
        suite.load([path])


def test_a_message_shows_what_steers_a_terminal_and_shortens_what_is_long(
    tmp_path: Path, command: Command
) -> None:
    text = '"a\\e[31m": 1\naggregation: "\\e[31m' + "y" * 3000 + '"\n'
    done = command("run", write(tmp_path, "study: llmbi\n" + text))
    assert done.returncode == 2
    assert "\x1b" not in done.stderr.replace("\x1b[31merror\x1b[0m", "")
    assert "a[U+001B][31m: unknown parameter" in done.stderr
    assert len(done.stderr) < 3000
