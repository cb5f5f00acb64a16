"""What changed between two runs, against scipy on the units by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from nbbias import tables
from nbbias.pages import changes
from nbbias.tables import NbbiasError
from tests.pages.build import INDEX, run, scores


def test_a_change_is_tested_on_the_units_that_both_runs_have(tmp_path: Path) -> None:
    one, other = scores(1), scores(2, n=44, mean=0.7)
    names = [f"p{i}" for i in range(48)]
    first = changes.read(run(tmp_path / "a", {"m": one}, prompts=names[:40]))
    second = changes.read(run(tmp_path / "b", {"m": other}, prompts=names[4:48]))
    table = changes.compare(first, second)
    row = table[table["statistic"] == "index"].iloc[0]
    test = scipy.stats.ttest_rel(other[:36], one[4:])
    assert (row["n"], row["only_first"], row["only_second"]) == (36, 4, 8)
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert row["estimate"] == pytest.approx(np.mean(other[:36]) - np.mean(one[4:]))
    assert row["declared"] and row["changed"]
    assert row["p_adjusted"] == row["p_value"]  # the other row that changed is of another family


def test_equal_runs_did_not_change(tmp_path: Path) -> None:
    values = {"m": scores(1), "other": scores(3)}
    pair = [changes.read(run(tmp_path / name, values)) for name in "ab"]
    table = changes.compare(*pair)
    assert len(table) == 4
    assert not table["changed"].any()
    assert table["p_adjusted"].isna().all()


def test_rounding_is_no_change(tmp_path: Path) -> None:
    values = scores(1)
    first = changes.read(run(tmp_path / "a", {"m": values}))
    second = changes.read(run(tmp_path / "b", {"m": [v + 1e-12 for v in values]}))
    assert not changes.compare(first, second)["changed"].any()


def test_what_is_no_mean_has_no_test_and_says_so(tmp_path: Path) -> None:
    first = changes.read(run(tmp_path / "a", {"m": scores(1)}))
    second = changes.read(run(tmp_path / "b", {"m": scores(2, mean=0.9)}))
    table = changes.compare(first, second).set_index("statistic")
    row = table.loc["anova"]
    assert row["changed"] and np.isnan(row["p_value"])
    assert (
        row["reason"]
        == "no mean over single prompts that the run saves: a change has no paired test"
    )


def test_runs_without_a_common_unit_are_two_samples(tmp_path: Path) -> None:
    one, other = scores(1), scores(2, mean=0.9)
    first = changes.read(run(tmp_path / "a", {"m": one}))
    second = changes.read(run(tmp_path / "b", {"m": other}, prompts=[f"q{i}" for i in range(40)]))
    row = changes.compare(first, second).set_index("statistic").loc["index"]
    assert row["n"] == 0 and row["test"] == "two samples, no unit in common"
    error = np.sqrt(np.var(one, ddof=1) / 40 + np.var(other, ddof=1) / 40)
    assert (row["ci_high"] - row["ci_low"]) / 2 == pytest.approx(1.96 * error, rel=0.02)


def test_one_model_of_another_name_is_the_same_model(tmp_path: Path) -> None:
    first = changes.read(run(tmp_path / "a", {"old": scores(1)}))
    second = changes.read(run(tmp_path / "b", {"new": scores(2)}))
    renamed, remark = changes.as_one_model(first, second)
    assert remark == "old in a, new in b"
    assert (changes.compare(renamed, second)["n"] == [40, 0]).all()
    both = changes.read(run(tmp_path / "c", {"new": scores(1), "old": scores(2)}))
    assert changes.as_one_model(both, second)[1] == ""


def test_units_that_are_not_those_of_the_estimate_are_left_out(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", {"m": scores(1)})
    table = tables.saved_table(folder, "scores")
    assert table is not None
    tables.save_table(table.assign(score=table["score"] + 0.1), "scores", out=folder)
    assert changes.read(folder).units == {}


def test_of_mirror_images_one_stands(tmp_path: Path) -> None:
    rows = [
        {
            "measure": "word",
            "statistic": "share_difference",
            "bias": "gender",
            "group": group,
            "model": "m",
            "estimate": sign * 0.1,
            "n": 9,
        }
        for group, sign in (("female", 1), ("male", -1))
    ]
    for name, times in (("a", 1), ("b", 2)):
        changed = [row | {"estimate": row["estimate"] * times} for row in rows]
        folder = run(tmp_path / name, {"m": scores(1)})
        tables.save_table(tables.estimates(changed, study="llmbi"), "estimates", out=folder)
    table = changes.compare(changes.read(tmp_path / "a"), changes.read(tmp_path / "b"))
    assert table["group"].tolist() == ["female"]


@pytest.mark.parametrize(
    ("status", "message"), [("failed", "holds no finished run"), ("ok", "left no estimates")]
)
def test_a_folder_without_a_finished_run_is_refused(
    tmp_path: Path, status: str, message: str
) -> None:
    folder = run(tmp_path / "a", {"m": scores(1)}, status=status)
    for path in (folder / "tables").glob("estimates.*"):
        path.unlink()
    with pytest.raises(NbbiasError, match=message):
        changes.read(folder)


def test_what_was_read_and_set_differently_is_named(tmp_path: Path) -> None:
    files = [{"answers_path": {"path": "a.csv", "sha256": name}} for name in "ab"]
    pair = [
        changes.read(run(tmp_path / name, {"m": scores(1)}, data=data, claims=claims))
        for name, data, claims in (
            ("a", files[0], [INDEX]),
            ("b", files[1], [INDEX | {"smallest_effect": 0.1}]),
        )
    ]
    settings = changes.settings([one.manifest for one in pair])
    assert settings["name"].tolist() == ["claims", "answers_path"]
    assert settings.iloc[1].tolist() == ["data", "answers_path", "a.csv (a)", "a.csv (b)"]


def test_settings_that_differ_are_listed_and_no_others() -> None:
    first = {"parameters": {"draws": 1, "seed": 2}, "git": {"commit": "a" * 40, "dirty": False}}
    second = {"parameters": {"draws": 3, "seed": 2}, "git": {"commit": "a" * 40, "dirty": True}}
    rows = changes.settings([first, second, first])
    assert rows.drop(columns="kind").to_numpy().tolist() == [
        ["draws", "1", "3", "1"],
        ["commit", "a" * 12, "a" * 12 + ", changed", "a" * 12],
    ]
