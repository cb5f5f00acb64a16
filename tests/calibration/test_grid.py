"""The grid: each design once, with its own seed, kept; and what it says of a measure known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import calibration, tables
from nbbias.calibration import grid, measures
from nbbias.stats import InferenceSettings
from tests.calibration.toy import NARROW, TOY

pytestmark = pytest.mark.usefixtures("toy")

INFERENCE = InferenceSettings(n_permutations=20, seed=7)


def made(repeats: int = 40, leads: int = 0, n: tuple[int, ...] = (10, 80)) -> pd.DataFrame:
    return grid.designs([], n=n, repeats=repeats, lead_n=n, lead_repeats=leads)


def simulated(designs: pd.DataFrame) -> pd.DataFrame:
    return grid.simulate(designs[designs["of"] == "trial"], inference=INFERENCE)


def test_every_design_stands_once() -> None:
    designs = made(leads=5)
    assert not designs.duplicated([*grid.DESIGN, "of"]).any()
    # Two worlds, two of the numbers of units that it has, three sizes; of pages the two ends.
    assert designs.groupby("of").size().to_dict() == {"lead": 8, "trial": 12}
    assert set(designs.loc[designs["held_out"], "world"]) == {"tails"}
    assert designs["repeats"].groupby(designs["of"]).first().to_dict() == {"lead": 5, "trial": 40}


def test_a_measure_takes_the_nearest_numbers_that_it_has_once() -> None:
    assert set(made(n=(7, 9, 400, 40))["n"]) == {10, 80, 30}
    assert not made(n=(7, 9)).duplicated([*grid.DESIGN, "of"]).any()
    assert made(n=()).empty
    assert simulated(made(n=())).empty


def test_a_slow_measure_gets_its_share_and_one_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(measures._found, "toy/means", TOY._replace(share=0.25))
    assert set(made()["repeats"]) == {10}
    with pytest.raises(tables.ParameterError, match="no measure 'toy/mean'; did you mean toy/mea"):
        grid.designs(["toy/mean"], n=[10], repeats=2)


def test_designs_draw_other_studies_and_the_same_design_the_same() -> None:
    found = simulated(made())
    assert found.groupby("statistic")["estimate"].nunique().eq(12).all()
    pd.testing.assert_frame_equal(found, simulated(made()))
    assert not found["estimate"].equals(
        grid.simulate(made(), inference=INFERENCE._replace(seed=8))["estimate"]
    )


def test_what_was_simulated_is_not_simulated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "kept"))
    made_again = []

    def trial(*given: object) -> pd.DataFrame:
        made_again.append(given)
        if len(made_again) == 5:
            raise KeyboardInterrupt  # killed midway
        return TOY.trial(*given)  # type: ignore[arg-type]

    monkeypatch.setitem(measures._found, "toy/means", TOY._replace(trial=trial))
    with pytest.raises(KeyboardInterrupt):
        simulated(made())
    found = simulated(made())
    assert len(made_again) == 5 + 8
    simulated(made())
    assert len(made_again) == 13
    monkeypatch.setenv("NBBIAS_CACHE", "off")
    monkeypatch.setitem(measures._found, "toy/means", TOY)
    pd.testing.assert_frame_equal(found, simulated(made()))


def test_a_world_without_its_data_is_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def trial(
        design: calibration.Design, repeats: int, inference: InferenceSettings
    ) -> pd.DataFrame:
        found = TOY.trial(design, repeats, inference)
        return found.iloc[:0] if design.world == "tails" else found

    monkeypatch.setitem(measures._found, "toy/means", TOY._replace(trial=trial))
    designs = made()
    found = simulated(designs)
    assert set(found["world"]) == {"normal"}
    lost = grid.left_out(designs, [found])
    assert len(lost) == 6
    assert set(lost["world"]) == {"tails"}
    assert "tails" in calibration.sentences.lost(lost)[0]
    assert grid.left_out(designs, [simulated(made().query("world == 'tails'"))]).shape[0] == 12


def test_real_articles_that_are_not_here_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBBIAS_DATA", raising=False)
    monkeypatch.setattr(measures, "_found", {})  # the package's own
    every = grid.designs([], n=[10], repeats=2, lead_n=[10], lead_repeats=2)
    halves = every[(every["world"] == "halves") & (every["size"] == 0)]
    assert set(halves["of"]) == {"trial", "lead"}
    for of, own in halves.groupby("of"):
        assert grid.simulate(own, inference=INFERENCE).empty, of


def test_a_right_measure_is_right_and_a_narrow_one_is_not() -> None:
    found = simulated(made(repeats=400, n=(30,)))
    of = calibration.estimates.estimates(found, pd.DataFrame(), confidence=0.95)
    own = of[of["topic"].isna() & of["prompt"].isna()].set_index(["measure", "task"])
    assert own.loc[("interval", "mean"), "ci_low"] < 0 < own.loc[("interval", "mean"), "ci_high"]
    # By t of 29 degrees of freedom, of an interval of 0.6 of its length.
    from scipy.stats import t

    expected = 2 * t.cdf(NARROW * t.ppf(0.975, 29), 29) - 1
    narrow = own.loc[("interval", "narrow")]
    assert narrow["ci_low"] < expected - 0.95 < narrow["ci_high"]
    assert narrow["p_adjusted"] < 1e-6
    assert own.loc[("test", "narrow"), "estimate"] > 0.1


def test_estimates_are_the_shares_that_a_groupby_gives() -> None:
    found = simulated(made(repeats=30))
    of = calibration.estimates.estimates(found, pd.DataFrame(), confidence=0.95)
    by_n = of[(of["measure"] == "interval") & (of["task"] == "mean") & of["topic"].notna()]
    own = found[found["statistic"] == "mean"].groupby("n")["coverage"].mean() - 0.95
    assert by_n["estimate"].tolist() == pytest.approx(own.tolist())
    assert by_n["n"].tolist() == [30 * 6, 30 * 6]
    nothing = found[(found["statistic"] == "mean") & (found["planted"] == 0)]
    row = of[(of["measure"] == "test") & (of["task"] == "mean")].iloc[0]
    assert row["estimate"] == pytest.approx(nothing["told"].mean() - 0.05)
    assert row["n"] == 30 * 4


def test_groups_of_one_study_are_no_more_studies() -> None:
    trials, nothing = simulated(made(repeats=30)), pd.DataFrame()
    twice = pd.concat([trials.assign(group="she"), trials.assign(group="he")])
    by_trials, by_groups = (
        calibration.estimates.estimates(table, nothing, confidence=0.95)
        for table in (trials, twice)
    )
    pd.testing.assert_frame_equal(by_trials, by_groups)
    assert calibration.estimates.estimates(nothing, nothing, confidence=0.95).empty
    assert grid.least(nothing).empty


def test_the_least_effect_is_where_the_power_passes() -> None:
    row = {"study": "s", "measure": "m", "statistic": "d", "unit": "u", "n": 9, "n_tested": 50}
    power = ((0.0, 0.05), (0.1, 0.3), (-0.1, 0.5), (0.2, 0.9), (0.4, 0.99))
    rows = [row | {"planted": size, "told": told} for size, told in power]
    found = grid.least(pd.DataFrame(rows))
    assert found["least"].tolist() == pytest.approx([0.1 + 0.1 * 0.4 / 0.5])
    low = grid.least(pd.DataFrame(rows).assign(told=0.1))
    assert np.isnan(low["least"].iloc[0])
    assert low["largest"].iloc[0] == 0.4
    assert "80%" in low["reason"].iloc[0]


def test_false_leads_are_counted_where_nothing_is_planted() -> None:
    designs = made(leads=60)
    leads = grid.simulate(designs[designs["of"] == "lead"], inference=INFERENCE)
    of = calibration.estimates.estimates(pd.DataFrame(), leads, confidence=0.95)
    row = of[of["topic"].isna() & of["prompt"].isna()].iloc[0]
    own = leads[leads["planted"] == 0]
    assert row["estimate"] == pytest.approx(own["false"].mean() - 0.05)
    assert row["n"] == 60 * 4


def test_what_is_shipped_is_what_a_groupby_gives() -> None:
    found = simulated(made(repeats=30))
    of = calibration.shipped(found, confidence=0.95).set_index("statistic")
    own = found[found["statistic"] == "narrow"]
    assert of.loc["narrow", "coverage"] == pytest.approx(own["coverage"].mean())
    cells = own.groupby(["n", "world"])["coverage"].mean()
    assert of.loc["narrow", "coverage_worst"] == pytest.approx(cells.min())
    assert of.loc["narrow", "coverage_at"] == "N = {}, {}".format(*cells.idxmin())
    assert of.loc["narrow", "studies"] == 30 * 12
    told = own[own["planted"] == 0]["told"]
    assert of.loc["narrow", "false_positives"] == pytest.approx(told.mean())
