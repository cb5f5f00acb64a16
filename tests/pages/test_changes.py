"""What changed between two runs, against scipy on the units by hand."""

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
    table = changes.compare(first, second).set_index("statistic")
    row = table.loc["index"]
    test = scipy.stats.ttest_rel(other[:36], one[4:])
    assert row["n"] == 36 and row["declared"] and row["changed"]
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert row["estimate"] == pytest.approx(np.mean(other[:36]) - np.mean(one[4:]))
    assert (row["first"], row["second"]) == pytest.approx((np.mean(one), np.mean(other)))
    # What is no mean over units changed without a test, and is of another family.
    assert row["p_adjusted"] == row["p_value"]
    assert table.loc["anova", "changed"] and np.isnan(table.loc["anova", "p_value"])
    assert table.loc["anova", "reason"] == "no mean over prompts, or none of them in both runs"


def test_declared_claims_are_adjusted_as_a_family_of_their_own(tmp_path: Path) -> None:
    old = {"a": scores(1), "b": scores(3), "c": scores(5)}
    new = {"a": scores(2, mean=0.52), "b": scores(4, mean=0.52), "c": scores(6, mean=0.52)}
    claims = [INDEX | {"model": name} for name in "ab"]
    first, second = (
        changes.read(run(tmp_path / name, values, claims=claims))
        for name, values in (("a", old), ("b", new))
    )
    table = changes.compare(first, second)
    table = table[table["statistic"] == "index"].set_index("model")
    assert table["declared"].to_dict() == {"a": True, "b": True, "c": False}
    p = table["p_value"]
    assert table["p_adjusted"]["c"] == p["c"]
    assert table["p_adjusted"][["a", "b"]].min() == pytest.approx(2 * p[["a", "b"]].min())


@pytest.mark.parametrize("rounding", [0.0, 1e-12])
def test_equal_runs_did_not_change(tmp_path: Path, rounding: float) -> None:
    values = {"m": scores(1), "other": scores(3)}
    first = changes.read(run(tmp_path / "a", values))
    again = {name: [value + rounding for value in series] for name, series in values.items()}
    table = changes.compare(first, changes.read(run(tmp_path / "b", again)))
    assert len(table) == 4
    assert not table["changed"].any() and table["p_adjusted"].isna().all()


def test_one_model_of_another_name_is_the_same_model(tmp_path: Path) -> None:
    first = changes.read(run(tmp_path / "a", {"old": scores(1)}))
    second = changes.read(run(tmp_path / "b", {"new": scores(2)}))
    renamed, remark = changes.as_one_model(first, second)
    assert remark == "old in a, new in b"
    assert (changes.compare(renamed, second)["n"] == [40, 0]).all()
    assert (renamed.declared["model"] == "new").all()
    both = changes.read(run(tmp_path / "c", {"new": scores(1), "old": scores(2)}))
    assert changes.as_one_model(both, second) == (both, "")


def test_units_that_are_not_those_of_the_estimate_are_left_out(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", {"m": scores(1)})
    assert len(changes.read(folder).units) == 1
    table = tables.saved_table(folder, "units")
    tables.save_table(table.assign(value=table["value"] + 0.1), "units", out=folder)
    assert changes.read(folder).units == {}


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


def test_settings_that_differ_are_listed_and_no_others() -> None:
    first = {"parameters": {"draws": 1, "seed": 2}, "git": {"commit": "a" * 40, "dirty": False}}
    second = {"parameters": {"draws": 3, "seed": 2}, "git": {"commit": "a" * 40, "dirty": True}}
    first["data"] = {"answers_path": {"path": "x/a.csv", "sha256": "1" * 64}}
    second["data"] = {"answers_path": {"path": "y/a.csv", "sha256": "2" * 64}}
    assert changes.settings([first, second, first]).to_numpy().tolist() == [
        ["parameter", "draws", "1", "3", "1"],
        ["data", "answers_path", *(f"a.csv ({digit * 12})" for digit in "121")],
        ["git", "dirty", "False", "True", "False"],
    ]
