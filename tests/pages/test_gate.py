"""The gate: its verdicts and its exit status, and what it writes."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import scipy.stats

from nbbias.pages import gate as pages_gate
from nbbias.pages.gate import Gate, gate
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
    one, other = scores(1), scores(2, mean=0.8)
    result = gate(*pair(tmp_path, one, other), margin=MARGIN)
    row = result.rows.iloc[0]
    assert result.status == 1 and row["verdict"] == "worse"
    assert result.headline == "llmbi/new is worse than llmbi/old in 1 of 1 tests."
    less = [value - MARGIN for value in other]
    test = scipy.stats.ttest_rel(less, one, alternative="greater")
    assert row["p_worse"] == row["p_adjusted"] == pytest.approx(test.pvalue)
    first, second = (f"{sum(values) / 40:.2f}" for values in (one, other))
    assert row["text"].startswith(f"{first} → {second}, worse by 0.3")
    assert "; margin 0.10; 40 of 40 prompts in both runs; p" in row["text"]


def test_what_got_better_or_stayed_opens_it(tmp_path: Path) -> None:
    one = {"a": scores(1), "b": scores(3)}
    result = gate(*pair(tmp_path, one, {"a": scores(2), "b": scores(4, mean=0.3)}), margin=MARGIN)
    assert result.status == 0 and set(result.rows["verdict"]) == {"not worse"}
    assert result.headline == "llmbi/new is shown to be not worse than llmbi/old in 2 of 2 tests."
    assert "better by 0.2" in result.rows["text"][1]


def test_few_units_cannot_tell_and_say_how_many_could(tmp_path: Path) -> None:
    def judged(n: int) -> Gate:
        return gate(*pair(tmp_path / f"{n}", scores(1, n=n), scores(2, n=n)), margin=0.02)

    result = judged(6)
    row = result.rows.iloc[0]
    assert result.status == 3 and row["verdict"] == "cannot tell"
    assert "may or may not be worse (inconclusive)" in result.headline
    number, _, _ = row["text"].partition(" would suffice if nothing changed")
    enough = 2 * int(number.split("about ")[1])
    assert enough > 12
    assert judged(enough).status == 0
    assert judged(1).rows["text"].tolist() == ["only 1 of the prompts is in both runs"]
    assert "2 of 2 prompts in both runs" in judged(2).rows["text"][0]


def test_one_claim_that_is_worse_is_enough_and_stands_first(tmp_path: Path) -> None:
    one = {"a": scores(1), "b": scores(3), "c": scores(5)}
    other = {"a": scores(2), "b": scores(4, mean=0.8), "c": scores(6)}
    result = gate(*pair(tmp_path, one, other), margin=MARGIN)
    assert result.status == 1
    assert result.rows["verdict"].tolist() == ["worse", "not worse", "not worse"]
    assert result.rows["model"][0] == "b"
    p = result.rows["p_worse"].to_numpy()
    assert result.rows["p_adjusted"].min() == pytest.approx(p.min() * 3)  # Holm over three


def test_repeated_comparisons_share_the_level(tmp_path: Path) -> None:
    folders = pair(tmp_path, scores(1), scores(2, mean=0.64))
    p = gate(*folders, margin=MARGIN).rows["p_adjusted"][0]
    looks = [look for look in range(1, 40) if p < 0.05 / (look * (look + 1))]
    assert 1 < max(looks) < 39
    for look in (max(looks), max(looks) + 1):
        result = gate(*folders, margin=MARGIN, look=look)
        assert result.status == (1 if look in looks else 3)
        assert f"Comparison {look} with this baseline" in result.remarks[-1]


def test_the_margin_of_a_claim_stands_before_that_of_all(tmp_path: Path) -> None:
    folders = pair(tmp_path, scores(1), scores(2), claims=[BOUNDED])
    for options, margin in (({}, MARGIN), ({"margin": 0.3}, MARGIN)):
        assert gate(*folders, **options).rows["margin"].tolist() == [margin]


def test_without_a_margin_worse_is_told_and_nothing_passes(tmp_path: Path) -> None:
    one, other = scores(1), scores(2, mean=0.8)
    worse = gate(*pair(tmp_path, one, other))
    test = scipy.stats.ttest_rel(other, one, alternative="greater")
    assert worse.status == 1 and worse.rows["p_worse"][0] == pytest.approx(test.pvalue)
    assert "; no margin; 40 of 40 prompts in both runs; p < .001 (Holm)" in worse.rows["text"][0]
    assert "Without a margin" in worse.remarks[0]
    for name, mean in (("same", 0.5), ("better", 0.1)):
        result = gate(*pair(tmp_path / name, one, scores(2, mean=mean)))
        assert result.status == 3 and result.rows["p_not_worse"].isna().all()
    # A margin of one claim is not that of another: neither passes for both.
    claims = [BOUNDED | {"model": "a"}, INDEX | {"model": "b"}]
    runs = {"a": scores(1), "b": scores(3)}, {"a": scores(2), "b": scores(4)}
    mixed = gate(*pair(tmp_path / "mixed", *runs, claims=claims))
    assert sorted(mixed.rows["verdict"]) == ["cannot tell", "not worse"] and mixed.status == 3
    assert "any worsening is tested: claim 2." in mixed.remarks[0]


@pytest.mark.parametrize("second", [INDEX | {"model": "b"}, {"statistic": "index", "model": "b"}])
def test_a_claim_that_only_the_baseline_measured_is_no_pass(
    tmp_path: Path, second: dict[str, str]
) -> None:
    claims = [INDEX | {"model": "a"}, second]
    old = run(tmp_path / "old", {"a": scores(1), "b": scores(3), "c": scores(7)}, claims=claims)
    new = run(tmp_path / "new", {"a": scores(2), "c": scores(8)}, claims=claims)
    result = gate(new, old, margin=0.1)
    verdicts = dict(zip(result.rows["claim"], result.rows["verdict"], strict=True))
    assert verdicts == {1: "not worse", 2: "cannot tell"}
    assert [text.rpartition("; ")[2][:3] for text in result.rows["text"]] == ["no ", "p <"]
    assert result.status == 3 and not any("neither" in remark for remark in result.remarks)
    # Nor where the baseline measured it, and claimed something else.
    other = run(tmp_path / "other", {"a": scores(1), "b": scores(3)}, claims=claims[:1])
    assert gate(new, other, margin=0.1).status == 3
    # Nor where one claim is of all models, and the baseline claimed nothing of the kind.
    every = run(tmp_path / "every", {"a": scores(2)}, claims=[INDEX])
    unlike = [{"measure": "llmbi", "statistic": "dimension_mean"}]
    plain = run(tmp_path / "plain", {"a": scores(1), "b": scores(3)}, claims=unlike)
    result = gate(every, plain, margin=0.1)
    assert result.rows["verdict"].tolist() == ["cannot tell", "not worse"] and result.status == 3


def test_what_neither_run_measured_is_named(tmp_path: Path) -> None:
    claims = [INDEX, {"measure": "llmbi", "statistic": "dimension_mean"}]
    result = gate(*pair(tmp_path, scores(1), scores(2), claims=claims), margin=MARGIN)
    assert (result.status, len(result.rows)) == (0, 1)
    assert "Measured in neither run: claim 2." in result.remarks


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
    for text in (pages_gate.markdown(result), pages_gate.junit(result)):
        assert ("the model was not asked again" in text) == (status == 3)
    # Another model on the same texts was asked.
    renamed = run(tmp_path / "renamed", {"other": scores(1)}, data=files[1])
    assert gate(renamed, old, margin=0.3).status == 0


@pytest.mark.parametrize(
    ("claims", "options", "message"),
    [
        ([INDEX], {"claims": [2], "margin": 0.1}, "declares no such claim; its claims are: 1"),
        ([], {"margin": 0.1}, "declares no such claim; its claims are: none; name some"),
        (
            [{"measure": "llmbi", "statistic": "anova"}, INDEX],
            {"margin": 0.1},
            "choose others by --claims, or declare one of: index, dimension_mean",
        ),
    ],
)
def test_a_mistake_is_told_with_what_to_do(
    tmp_path: Path, claims: list[Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(NbbiasError, match=message):
        gate(*pair(tmp_path, scores(1), scores(2), claims=claims), **options)


def test_a_run_of_another_study_is_refused(tmp_path: Path) -> None:
    old = run(tmp_path / "old", {"m": scores(1)}, study="cogs")
    with pytest.raises(NbbiasError, match="is a run of cogs, not of llmbi"):
        gate(run(tmp_path / "new", {"m": scores(2)}), old, margin=0.1)


def test_other_names_claims_and_files_are_remarked(tmp_path: Path) -> None:
    data = [{"lexicon": {"path": "a.csv", "sha256": name}} for name in "ab"]
    old = run(tmp_path / "old", {"m": scores(1)}, data=data[0])
    new = run(tmp_path / "new", {"gpt": scores(2)}, data=data[1], claims=[BOUNDED])
    assert gate(new, old).remarks[:2] == [
        "Compared as one model: m in old, gpt in new.",
        "Set or read differently: claims, lexicon.",
    ]


# --- written ------------------------------------------------------------------------------------

HOSTILE = "a|b <script>alert(1)</script> `x` \x1b[2J"


def test_junit_and_markdown_say_the_same_and_are_whole(tmp_path: Path) -> None:
    one = {HOSTILE: scores(1), "b": scores(3), "gone": scores(5)}
    other = {HOSTILE: scores(2, mean=0.9), "b": scores(4)}
    result = gate(*pair(tmp_path, one, other), margin=MARGIN)
    suite = ElementTree.fromstring(pages_gate.junit(result).encode()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert "worse by" in suite.find("testcase/failure").get("message")
    text = pages_gate.markdown(result)
    assert "<script>" not in text.replace("\\<script", "") and "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == 3 and all(line.replace("\\|", "").count("|") == 4 for line in rows)


def test_the_command_writes_says_and_exits(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = pair(tmp_path, scores(1), scores(2, mean=0.9))
    summary, junit, markdown = (tmp_path / name for name in ("summary.md", "j.xml", "m.md"))
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    arguments = ["gate", new, "--baseline", old, "--force"]
    arguments += ["--junit", junit, "--markdown", markdown]
    shut = command(*arguments, "--margin", "0.1")
    assert shut.returncode == 1 and "worse than llmbi/old" in shut.stdout.replace("\n", " ")
    assert summary.read_text().startswith("before\n## nbbias gate")
    assert markdown.read_text() in summary.read_text()
    assert ElementTree.parse(junit).getroot().tag == "testsuites"
    assert command(*arguments, "--margin", "2.0").returncode == 0
    assert command(*arguments, "--margin", "0.39").returncode == 3
    for wrong in (["--margin", "none"], ["--margin", "-1"], ["--margin", "0.1", "--claims", "a"]):
        assert command(*arguments, *wrong).returncode == 2
