"""Designs are simulated once, with their own seed, and say of a known measure what is true."""

from pathlib import Path
from statistics import NormalDist
from typing import Any

import pandas as pd
import pytest
from scipy.stats import t

from nbbias import calibration, tables
from nbbias.calibration import designs, estimates
from nbbias.calibration.params import Calibration
from tests.calibration.toy import NARROW, TOY

pytestmark = pytest.mark.usefixtures("toy")

NOTHING = pd.DataFrame()


def listed(repeats: Any = 40, families: int = 0, n: tuple[int, ...] = (10, 80)) -> pd.DataFrame:
    sizes = {"n": [*n], "family_n": [*n]}
    chosen = Calibration(repeats=repeats, family_repeats=families, **sizes)
    return designs.list_designs(chosen)


def simulated(table: pd.DataFrame, kind: str = "trial") -> pd.DataFrame:
    return designs.simulate(table[table["kind"] == kind], confidence=0.95, seed=7)


def test_every_design_is_listed_once_with_the_nearest_numbers_of_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = listed(families=5)
    assert not table.duplicated([*designs.DESIGN, "kind"]).any()
    # Two scenarios, two of the numbers of units that it has, three effects; of runs the two ends.
    assert table.groupby("kind").size().to_dict() == {"family": 8, "trial": 12}
    assert set(table.loc[table["held_out"], "scenario"]) == {"tails"}
    assert set(listed(n=(7, 9, 400, 40))["n"]) == {10, 80, 30}
    assert simulated(listed().head(0)).empty
    with pytest.raises(tables.ParameterError, match="no measure 'toy/mean'; did you mean toy/mea"):
        designs.list_designs(Calibration(measures=["toy/mean"]))
    slow = {"toy/means": TOY._replace(share=0.25)}
    monkeypatch.setattr(designs, "measures", lambda: slow)
    assert set(listed()["repeats"]) == {10}
    named = {"default": 40, "toy/means": 80}
    assert set(listed(named)["repeats"]) == {20}
    for wrong, message in (
        ({"toy/means": 9}, "default"),
        ({"default": 9, "toy/mean": 9}, "toy/mea"),
    ):
        with pytest.raises(tables.ParameterError, match=message):
            designs.check(Calibration(repeats=wrong))


def test_designs_draw_independent_studies_and_the_same_design_the_same() -> None:
    table = simulated(listed())
    assert table.groupby("statistic")["estimate"].nunique().eq(12).all()
    pd.testing.assert_frame_equal(table, simulated(listed()))
    other = designs.simulate(listed(), confidence=0.95, seed=8)
    assert not table["estimate"].equals(other["estimate"])


def test_a_run_that_was_killed_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "cache"))
    calls = []

    def trial(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return TOY.trial(*given)

    monkeypatch.setattr(designs, "measures", lambda: {"toy/means": TOY._replace(trial=trial)})
    with pytest.raises(KeyboardInterrupt):
        simulated(listed(2))
    table = simulated(listed(2))
    assert len(calls) == 9 + 2 * 8  # four designs of two studies each were kept
    simulated(listed(2))
    assert len(calls) == 25
    monkeypatch.setenv("NBBIAS_CACHE", "off")
    monkeypatch.setattr(designs, "measures", lambda: {"toy/means": TOY})
    pd.testing.assert_frame_equal(table, simulated(listed(2)))


def test_a_right_measure_is_right_and_a_narrow_one_is_not() -> None:
    table = estimates.estimates(simulated(listed(400, n=(30,))), NOTHING, confidence=0.95)
    rows = table[table["topic"].isna() & table["prompt"].isna()].set_index(["measure", "task"])
    right, narrow = (rows.loc[("interval", name)] for name in ("mean", "narrow"))
    assert right["ci_low"] < 0 < right["ci_high"]
    # By t of 29 degrees of freedom, of an interval of 0.6 of its length.
    expected = 2 * t.cdf(NARROW * t.ppf(0.975, 29), 29) - 1
    assert narrow["ci_low"] < expected - 0.95 < narrow["ci_high"]
    assert narrow["p_adjusted"] < 1e-6
    assert rows.loc[("test", "narrow"), "estimate"] > 0.1


def test_estimates_are_the_shares_that_a_groupby_gives() -> None:
    trials, families = listed(30, families=60), listed(30, families=60)
    trials, families = simulated(trials), simulated(families, "family")
    table = estimates.estimates(trials, families, confidence=0.95)
    mean = trials[trials["statistic"] == "mean"]
    by_n = table[(table["measure"] == "interval") & (table["task"] == "mean")]
    by_n = by_n[by_n["topic"].notna()]
    expected = mean.groupby("n")["coverage"].mean() - 0.95
    assert by_n["estimate"].tolist() == pytest.approx(expected.tolist())
    assert by_n["n"].tolist() == [30 * 6, 30 * 6]
    first = table[table["task"].isin(["mean", "family"])].drop_duplicates("measure")
    row = first.set_index("measure")
    null = mean[mean["true_effect"] == 0]["rejected"].mean()
    assert row.loc["test", "estimate"] == pytest.approx(null - 0.05)
    null = families[families["true_effect"] == 0]["false"].mean()
    assert row.loc["family", "estimate"] == pytest.approx(null - 0.05)
    assert row.loc["test", "n"] == 30 * 4 and row.loc["family", "n"] == 60 * 4


def test_groups_of_one_study_are_no_more_studies() -> None:
    trials = simulated(listed(30))
    twice = pd.concat([trials.assign(group="she"), trials.assign(group="he")])
    by_trials, by_groups = (
        estimates.estimates(table, NOTHING, confidence=0.95) for table in (trials, twice)
    )
    pd.testing.assert_frame_equal(by_trials, by_groups)
    assert estimates.estimates(NOTHING, NOTHING, confidence=0.95).empty


def test_the_detectable_effect_is_where_the_power_passes() -> None:
    row = {"study": "s", "measure": "m", "statistic": "d", "unit": "u", "n": 9, "n_tested": 50}
    row |= {"wrong_sign": 0.1, "exaggeration": 1.5, "scenario": "a"}
    power = ((0.0, 0.05), (0.1, 0.3), (-0.1, 0.5), (0.2, 0.9), (0.4, 0.99))
    rows = pd.DataFrame([row | {"true_effect": size, "rejected": at} for size, at in power])
    rows["effect"] = rows["true_effect"]
    table = estimates.minimum_detectable_effects(rows)
    at, low, high = (NormalDist().inv_cdf(share) for share in (0.8, 0.4, 0.9))
    assert table["effect"].tolist() == pytest.approx([0.1 + 0.1 * (at - low) / (high - low)])
    assert table["power_smallest"].item() == pytest.approx(0.4) and table["largest"].item() == 0.4
    assert table.loc[0, ["power_largest", "smallest", "studies"]].tolist() == [0.99, 0.1, 50]
    # Of one setting the true effect may differ between scenarios.
    smaller = rows.assign(true_effect=rows["true_effect"].replace(-0.1, -0.08))
    other = estimates.minimum_detectable_effects(smaller)
    assert other["smallest"].item() == 0.09
    assert other["power_smallest"].item() == table["power_smallest"].item()
    assert estimates.minimum_detectable_effects(rows.assign(rejected=0.1))["effect"].isna().all()


def test_what_is_shipped_is_what_a_groupby_gives() -> None:
    outcomes, families = (simulated(listed(30, families=9), kind) for kind in ("trial", "family"))
    summary = calibration.summarize(outcomes, families, confidence=0.95)
    table = summary.set_index(["statistic", "rate"])
    shipped = table.loc[("narrow", "coverage")]
    rows = outcomes[outcomes["statistic"] == "narrow"]
    cells = rows.groupby(["n", "scenario"])["coverage"].mean()
    assert shipped["share"] == pytest.approx(rows["coverage"].mean())
    assert shipped["worst"] == pytest.approx(cells.min())
    n, scenario = cells.idxmin()
    assert shipped["at"] == f"{scenario}, N\xa0=\xa0{n}" and shipped["verdict"] == "fails"
    assert shipped["n"] == 30 * 12 and summary["share"].iloc[0] == shipped["share"]
    null = rows[rows["true_effect"] == 0]["rejected"]
    positives = table.xs("false positives", level="rate")
    assert positives.loc["narrow", "share"] == pytest.approx(null.mean())
    false = families[families["true_effect"] == 0]["false"]
    assert positives.loc["family", "share"] == pytest.approx(false.mean())
    assert positives.loc["family", "n"] == 9 * 4
    assert list(calibration.shipped())[:-1] == list(summary)
