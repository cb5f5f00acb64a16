"""The gate: its four verdicts and its exit status, and what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from nbbias.pages import gate as pages_gate
from nbbias.pages.gate import gate
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages.build import INDEX, run, scores

MARGIN = 0.1
BOUNDED = INDEX | {"smallest_effect": MARGIN}


def pair(tmp_path: Path, one: Any, other: Any, **outcome: Any) -> tuple[Path, Path]:
    """Save an accepted run and one to be judged; return them in the order of `gate`."""
    old = run(tmp_path / "old", one if isinstance(one, dict) else {"m": one}, **outcome)
    new = run(tmp_path / "new", other if isinstance(other, dict) else {"m": other}, **outcome)
    return new, old


def test_what_got_worse_shuts_the_gate(tmp_path: Path) -> None:
    result = gate(*pair(tmp_path, scores(1), scores(2, mean=0.8)), margin=MARGIN)
    row = result.rows.iloc[0]
    assert result.status == 1 and row["verdict"] == "worse"
    assert row["worsening"] == pytest.approx(0.3, abs=0.05)
    assert row["ci_low"] > MARGIN
    assert pages_gate.headline(result) == "llmbi/new is worse than llmbi/old in 1 of 1 claim."


def test_what_got_better_or_stayed_opens_it(tmp_path: Path) -> None:
    result = gate(
        *pair(
            tmp_path, {"a": scores(1), "b": scores(3)}, {"a": scores(2), "b": scores(4, mean=0.3)}
        ),
        margin=MARGIN,
    )
    assert result.status == 0
    assert set(result.rows["verdict"]) == {"not worse"}
    assert (
        pages_gate.headline(result)
        == "llmbi/new is shown to be not worse than llmbi/old in all 2 claims."
    )


def test_few_units_cannot_tell_and_say_how_many_could(tmp_path: Path) -> None:
    result = gate(*pair(tmp_path, scores(1, n=6), scores(2, n=6)), margin=0.02)
    row = result.rows.iloc[0]
    assert result.status == 3 and row["verdict"] == "cannot tell"
    assert row["needed"] > 6
    (_, _, text) = pages_gate.lines(result)[0]
    assert "6 common prompts" in text
    needed = float(f"{row['needed']:.2g}")
    assert f"about {needed:,.0f} would suffice if the model did not change" in text
    assert pages_gate.headline(result).startswith("Inconclusive, too few prompts: llmbi/new may")
    enough = int(row["needed"]) * 2
    passed = gate(*pair(tmp_path / "more", scores(1, n=enough), scores(2, n=enough)), margin=0.02)
    assert passed.status == 0


def test_one_claim_that_is_worse_is_enough(tmp_path: Path) -> None:
    one = {"a": scores(1), "b": scores(3), "few": scores(5)[:40]}
    other = {"a": scores(2), "b": scores(4, mean=0.8), "few": scores(6)}
    result = gate(*pair(tmp_path, one, other), margin=MARGIN)
    assert result.status == 1
    assert result.rows.set_index("model")["verdict"].to_dict() == {
        "a": "not worse",
        "b": "worse",
        "few": "not worse",
    }
    p = result.rows["p_worse"].to_numpy()
    assert result.rows["p_adjusted"].min() == pytest.approx(p.min() * 3)  # Holm over three


def test_the_margin_of_a_claim_stands_before_that_of_all(tmp_path: Path) -> None:
    folders = pair(tmp_path, scores(1), scores(2), claims=[BOUNDED])
    assert gate(*folders).rows["margin"].tolist() == [MARGIN]
    assert gate(*folders, margin=0.3).rows["margin"].tolist() == [MARGIN]
    assert gate(*folders, margins={1: 0.2}).rows["margin"].tolist() == [0.2]


def test_a_model_that_is_measured_no_more_is_not_passed_over(tmp_path: Path) -> None:
    result = gate(
        *pair(tmp_path, {"a": scores(1), "b": scores(3)}, {"a": scores(2)}), margin=MARGIN
    )
    assert result.status == 3
    reason = result.rows.set_index("model")["reason"]
    assert reason["b"] == "measured in the baseline, and not in this run"


def test_a_new_instrument_is_no_comparison(tmp_path: Path) -> None:
    old = run(tmp_path / "old", {"m": scores(1)})
    new = run(tmp_path / "new", {"m": scores(2)}, instrument="VADER")
    result = gate(new, old, margin=MARGIN)
    assert result.status == 3
    assert result.rows["reason"][0] == "the baseline measured it by another instrument (TextBlob)"


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ({"sha256": "1"}, {"sha256": "1"}, 3),  # the very file
        ({"sha256": "1", "asked_in": ["a"]}, {"sha256": "2", "asked_in": ["a", "b"]}, 3),
        ({"sha256": "1", "asked_in": ["a"]}, {"sha256": "2", "asked_in": ["b"]}, 0),
    ],
)
def test_a_model_that_was_not_asked_again_is_not_shown_to_be_anything(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any], status: int
) -> None:
    files = [{"answers_path": {"path": "a.parquet", **entry}} for entry in (one, other)]
    old = run(tmp_path / "old", {"m": scores(1)}, data=files[0])
    new = run(tmp_path / "new", {"m": scores(1)}, data=files[1])
    result = gate(new, old, margin=0.3)
    assert result.status == status
    texts = [pages_gate.headline(result), pages_gate.markdown(result), pages_gate.junit(result)]
    assert all(("the model was not asked again" in text) == (status == 3) for text in texts)
    assert ("gate: inconclusive" in texts[1]) == ('type="cannot tell"' in texts[2]) == (status == 3)
    # Another model on the same texts was asked.
    renamed = run(tmp_path / "renamed", {"other": scores(1)}, data=files[1])
    assert gate(renamed, old, margin=0.3).status == 0


def test_two_runs_of_the_sample_show_nothing(tmp_path: Path) -> None:
    parameters = {"claims": [INDEX], "confidence": 0.95, "answers_path": "sample"}
    result = gate(*pair(tmp_path, scores(1), scores(1), parameters=parameters), margin=MARGIN)
    assert result.status == 3 and "(answers_path)" in result.rows["reason"][0]


def test_a_judge_of_ours_that_reads_the_same_texts_alike_is_not_worse(tmp_path: Path) -> None:
    data = {"labelled_path": {"path": "a.csv", "sha256": "1"}}
    values = scores(1, n=8)
    assert gate(*pair(tmp_path, values, values, data=data), margin=0.001).status == 0
    assert gate(*pair(tmp_path / "other", values, values), margin=0.001).status == 3


def test_the_accepted_twin_is_found_in_a_folder_of_runs(tmp_path: Path) -> None:
    run(tmp_path / "accepted" / "llmbi" / "mine", {"m": scores(1)})
    new = run(tmp_path / "runs" / "llmbi" / "mine", {"m": scores(2)})
    assert gate(new, tmp_path / "accepted", margin=MARGIN).status == 0


@pytest.mark.parametrize(
    ("claims", "options", "message"),
    [
        ([INDEX], {}, "needs a non-inferiority margin: how large a worsening do you accept"),
        ([INDEX], {"claims": [2], "margin": 0.1}, "declares no claim 2; its claims are 1"),
        ([], {"margin": 0.1}, "declares no claim; name some under claims"),
        (
            [{"measure": "llmbi", "statistic": "anova"}, INDEX],
            {"margin": 0.1},
            "choose others by --claims",
        ),
        (
            [{"measure": "llmbi", "statistic": "anova"}],
            {"margin": 0.1},
            "or declare one of: index, dimension_mean",
        ),
    ],
)
def test_a_mistake_is_told_with_what_to_do(
    tmp_path: Path, claims: list[Any], options: dict[str, Any], message: str
) -> None:
    folders = pair(tmp_path, scores(1), scores(2), claims=claims)
    with pytest.raises(NbbiasError, match=message):
        gate(*folders, **options)


def test_other_claims_and_files_are_remarked(tmp_path: Path) -> None:
    data = [{"lexicon": {"path": "a.csv", "sha256": name}} for name in "ab"]
    old = run(tmp_path / "old", {"m": scores(1)}, data=data[0])
    new = run(tmp_path / "new", {"gpt": scores(2)}, data=data[1], claims=[BOUNDED])
    remarks = " ".join(gate(new, old).remarks)
    for remark in ("m in old, gpt in new", "different claims", "differently: lexicon"):
        assert remark in remarks


# --- written ------------------------------------------------------------------------------------

HOSTILE = "a|b <script>alert(1)</script> `x` \x1b[2J"


def test_junit_and_markdown_say_the_same_and_are_whole(tmp_path: Path) -> None:
    one = {HOSTILE: scores(1), "b": scores(3)}
    other = {HOSTILE: scores(2, mean=0.9), "b": scores(4)}
    result = gate(*pair(tmp_path, one, other), margin=MARGIN)
    root = ElementTree.fromstring(pages_gate.junit(result).encode())
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    failed = suite.find("testcase/failure")
    assert failed is not None and "worse by" in str(failed.get("message"))
    text = pages_gate.markdown(result)
    assert "<script>" not in text.replace("\\<script", "") and "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == 2 and all(line.replace("\\|", "").count("|") == 4 for line in rows)


def test_the_command_writes_says_and_exits(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = pair(tmp_path, scores(1), scores(2, mean=0.9))
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    arguments = [
        "gate",
        str(new),
        "--baseline",
        str(old),
        "--junit",
        str(tmp_path / "j.xml"),
        "--markdown",
        str(tmp_path / "m.md"),
        "--force",
    ]
    none = command(*arguments)
    assert none.returncode == 2 and "--margin" in none.stderr
    shut = command(*arguments, "--margin", "0.1")
    assert shut.returncode == 1 and "worse than llmbi/old" in shut.stdout.replace("\n", " ")
    assert summary.read_text().startswith("before\n## nbbias gate: worse")
    assert (tmp_path / "m.md").read_text() in summary.read_text()
    assert ElementTree.parse(tmp_path / "j.xml").getroot().tag == "testsuites"
    assert command(*arguments, "--margin", "1=2.0").returncode == 0
    assert command(*arguments, "--margin", "0.39").returncode == 3
    for wrong in (["--margin", "none"], ["--margin", "-1"], ["--margin", "0.1", "--claims", "a"]):
        assert command(*arguments, *wrong).returncode == 2


def test_a_run_of_another_study_is_refused(tmp_path: Path) -> None:
    old = run(tmp_path / "old", {"m": scores(1)}, study="cogs")
    new = run(tmp_path / "new", {"m": scores(2)})
    with pytest.raises(NbbiasError, match="is a run of cogs, not of llmbi"):
        gate(new, old, margin=0.1)


def test_the_number_of_units_grows_with_the_claims(tmp_path: Path) -> None:
    one = gate(*pair(tmp_path / "1", {"a": scores(1, n=8)}, {"a": scores(2, n=8)}), margin=0.01)
    models = {name: scores(i, n=8) for i, name in enumerate("abcd", start=1)}
    again = {name: scores(i + 1, n=8) for i, name in enumerate("abcd", start=1)}
    four = gate(*pair(tmp_path / "4", models, again), margin=0.01)
    needed = four.rows.set_index("model")["needed"]
    assert needed["a"] > one.rows["needed"][0]  # all four together have the power
    assert np.isfinite(needed).all()
