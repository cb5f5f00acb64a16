"""`nbbias.testing`, as a user's pytest runs it."""

from pathlib import Path

import pytest

from nbbias.tables import NbbiasError
from nbbias.testing import assert_not_worse
from tests.pages.build import scores
from tests.pages.test_gate import pair

pytest_plugins = ["pytester"]

TESTS = """
import pytest
from nbbias.testing import assert_not_worse

def test_one(nbbias_run):
    folder = nbbias_run("llmbi", "answers.csv", overrides=("claims=[]",))
    assert (folder / "finding.json").is_file()

def test_two(nbbias_run, request):
    folder = nbbias_run("llmbi", "answers.csv", overrides=("claims=[]",))
    assert folder.parent.parent == request.config._tmp_path_factory.getbasetemp() / "nbbias0"
    assert len(list(folder.parent.glob("*/manifest.json"))) == 1  # it ran once

def test_mistake(nbbias_run):
    nbbias_run("llmbi", "none.csv")
"""


def test_an_assertion_says_what_the_gate_says(tmp_path: Path) -> None:
    new, old = pair(tmp_path, scores(1), scores(2))
    assert assert_not_worse(str(new), old, margin=0.1).status == 0
    with pytest.raises(AssertionError, match=r"may or may not be worse(.|\n)*Without a margin"):
        assert_not_worse(new, old)
    new, old = pair(tmp_path / "worse", scores(1), scores(2, mean=0.8))
    with pytest.raises(AssertionError, match=r"is worse than llmbi/old in 1 of 1 tests.\n  worse"):
        assert_not_worse(new, old, margin=0.1)
    with pytest.raises(NbbiasError, match="holds no finished run"):
        assert_not_worse(tmp_path, old)


@pytest.mark.slow
def test_a_study_runs_once_a_session(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    rows = "".join(f"{prompt},Gender,She is kind.\n" for prompt in ("Who?", "What?", "Why?"))
    (pytester.path / "answers.csv").write_text(f"prompt,dimension,text\n{rows}")
    result = pytester.runpytest_subprocess("-p", "nbbias.testing", "-q")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*none.csv: no such file*"])
    assert {path.name for path in pytester.path.glob("*.yaml")} == set()
