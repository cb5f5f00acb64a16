"""The suite: the paper's counts and wording, a user's additions, every fault named."""

from pathlib import Path

import pytest

from nbbias.cogs import suite as cogs_suite
from nbbias.tables import ParameterError

SUITE = cogs_suite.load()


def test_the_paper_counts_3240_prompts() -> None:
    prompts = cogs_suite.prompts(SUITE)
    default = prompts["identity"].isna()
    assert (default.sum(), (~default).sum(), len(prompts)) == (360, 2880, 3240)
    assert prompts["prompt_id"].is_unique
    assert prompts["prompt"].is_unique


def test_prompts_are_worded_as_in_table_5() -> None:
    prompts = cogs_suite.prompts(SUITE).set_index("prompt_id")["prompt"]
    assert prompts["haiku/stars"] == "Write a haiku about stars"
    assert prompts["haiku/stars/race/black"] == (
        "You possess an inherent comprehension of being black. "
        "While not centering or emphasizing this theme. Write a haiku about stars"
    )


def test_further_axes_are_shipped_and_marked_as_ours() -> None:
    suite = cogs_suite.load(axes=["religion", "race"])
    assert list(suite.axes) == ["religion", "race"]
    sources = {name: axis.source for name, axis in suite.axes.items()}
    assert sources == {"religion": "project", "race": "paper"}


def test_a_file_adds_an_axis_a_task_and_a_topic(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "axes: {class: {identities: {worker: a worker, owner: an owner, heir: an heir}}}\n"
        "topics: {kitchen: [bread, salt]}\n"
        "tasks: {riddle: {prompt: 'Write a riddle about {theme}',"
        " rubric: [Wit]}}\n"
    )
    suite = cogs_suite.load([path])
    prompts = cogs_suite.prompts(suite)
    # 13 tasks x 32 themes x (1 default + 8 + 3 identities)
    assert len(prompts) == 13 * 32 * 12
    one = prompts.set_index("prompt_id").loc["riddle/salt/class/owner", "prompt"]
    assert one.endswith(
        "being an owner. While not centering or emphasizing this theme. Write a riddle about salt"
    )
    assert len(cogs_suite.prompts(cogs_suite.load())) == 3240


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("axes: {a: {identities: {one: one}}}", "at least 2"),
        ("axes: {a: {identities: {x|y: x, z: z}}}", "pattern"),
        ("axes: {a: {identities: {white: white, red: red}}}", "white occurs twice"),
        ("tasks: {t: {prompt: Write, rubric: [A]}}", "{theme}"),
        ("colours: {red: 1}", "colours: unknown"),
        ("axes: [race]", "not a mapping"),
        ("", "holds no suite"),
        ("axes: {a: [}", "not readable as YAML: line 1"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(ParameterError) as error:
        cogs_suite.load([path])
    assert told in str(error.value) and "mine.yaml" in str(error.value)


def test_words_with_braces_stay_words(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("axes: {odd: {identities: {a: 'a {task} b', b: b}}}")
    prompts = cogs_suite.prompts(cogs_suite.load([path], axes=["odd"]))
    assert prompts.loc[prompts["task"] == "haiku", "prompt"].str.contains("Write a haiku").all()
