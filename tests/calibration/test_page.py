"""What the page of a calibration says and draws."""

from typing import Any

import pandas as pd
import pytest

from nbbias import calibration, reading, stats, tables
from nbbias.calibration import figures, sentences
from nbbias.calibration.params import STUDY

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def results() -> calibration.Results:
    return calibration.measure(
        n=[10, 30, 80], repeats=120, family_n=[10, 80], family_repeats=20, draws=20, claims=[]
    )


def test_what_the_page_says(results: calibration.Results, golden: Any) -> None:
    """Of a run, of one that shows nothing, of families alone, and of nothing."""
    summary = calibration.summarize(results.outcomes, results.families, confidence=0.95)
    rows = calibration.estimates.errors(summary)
    variants = {
        "a run": rows,
        "undecided": rows.assign(verdict="undecided"),
        "adequate": rows.assign(verdict=calibration.estimates.ADEQUATE[0]),
        "families alone": rows.query("measure == 'family'"),
        "nothing": rows.iloc[:0],
    }
    said = {name: sentences.summarize(rows) for name, rows in variants.items()}
    full = calibration.shipped()
    lead = sentences.lead(full, texts=STUDY.sample)
    said["the full run"] = [*lead.plain, lead.technical]
    said["sections"] = [sentences.usable(full), sentences.held_out(full)]
    said["sections"].append(sentences.power(results.minimum_detectable_effects))
    golden("calibration", said)
    numbers = reading.lead.to_dict(lead)["numbers"]
    assert numbers and all("95% CI" in number["interval"] for number in numbers)
    assert set(lead.card) == {"measures", "groups", "N", "instrument", "not"}


def test_the_shipped_run_has_the_errors_of_its_shares() -> None:
    table, full = tables.read_shipped_table("calibration.csv"), calibration.shipped()
    for name, share in (("estimate", "share"), ("ci_low", "low"), ("worst", "worst")):
        assert full[name].to_list() == pytest.approx((table[share] - table["nominal"]).to_list())
    assert full["n"].to_list() == table["n"].to_list()
    kinds = full["measure"].value_counts()
    assert kinds["interval"] == (table["rate"] == "coverage").sum()
    assert kinds["family"] == (table["statistic"] == "family").sum()


@pytest.mark.parametrize(
    ("level", "share", "verdict"),
    [
        (0.95, 0.85, "fails"),
        (0.95, 0.95, "adequate"),
        (0.95, 0.99, "adequate (conservative)"),
        (0.05, 0.15, "fails"),
        (0.05, 0.05, "adequate"),
        (0.05, 0.001, "adequate (conservative)"),
    ],
)
def test_an_error_is_a_harm_on_one_side_only(level: float, share: float, verdict: str) -> None:
    side = 1 if level > 0.5 else -1
    decide = calibration.estimates._verdict
    assert decide(stats.wilson(share, 5000, confidence=0.95), level, side) == verdict
    assert decide(stats.wilson(share, 4, confidence=0.95), level, side) == "undecided"


@pytest.mark.parametrize(
    ("measure", "band"), [("interval", [90, 100]), ("test", [0, 10])], ids=["interval", "test"]
)
def test_a_figure_draws_the_limit_of_each_measure(measure: str, band: list[int]) -> None:
    full = calibration.shipped()
    drawn = figures.limits(full, measure)
    assert drawn.alt and drawn.caption and len(drawn.rows) == (full["measure"] == measure).sum()
    (ax,) = drawn.figure.axes
    ends = ax.patches[0].get_extents().transformed(ax.transData.inverted()).intervalx
    assert [*ends] == pytest.approx(band)
    (legend,) = drawn.figure.legends
    named = {text.get_text() for text in legend.get_texts()}
    assert named == {
        "fails",
        "undecided",
        "adequate",
        "95% CI of all",
        f"nominal {sum(band) // 2}%",
    }
    # All adequate limits are in the band, and no other is; what is off the axis is a number.
    markers = [line for line in ax.lines if line.get_marker() in ("o", "X")]
    places = [float(line.get_xdata()[0]) for line in markers]
    inside = sum(band[0] <= place <= band[1] for place in places)
    assert len(places) == len(drawn.rows) and f" {inside} of {len(places)} " in drawn.title
    assert len(ax.texts) == 2


def test_what_does_not_fail_and_power_are_each_row_that_ships() -> None:
    full, table = calibration.shipped(), calibration.shipped_power()
    sound, failing = sentences.split(full)
    fails = failing["verdict"].isin(calibration.estimates.FAILS)
    assert len(sound) + fails.sum() == (full["measure"] != "family").sum()
    assert not sound["verdict"].isin(calibration.estimates.FAILS).any()
    named = ["source", "dimension", "task"]
    assert failing[~fails].merge(failing[fails], on=named).shape[0] == (~fails).sum()
    by_n = sentences.effects_by_n(table, full).set_index("test")
    assert list(by_n) == ["N = 30", "N = 80", "N = 400"]
    by_n.index = by_n.index.str.removesuffix(" †")
    for row in sentences.named_tests(table[table["n"] == 80]).itertuples():
        few, many = row.power_largest < 0.8, row.power_smallest >= 0.8
        sign, effect = (
            (">", row.largest) if few else ("≤", row.smallest) if many else ("", row.effect)
        )
        assert by_n.loc[row.test, "N = 80"] == f"{sign} {effect:.3f}".strip()


def design(share: float, repeats: int, n: int = 30, scenario: str = "s") -> dict[str, Any]:
    row = dict.fromkeys(calibration.estimates.DESIGN, "s") | {"n": n, "scenario": scenario}
    row |= {"statistic": "d", "true_effect": 0.1, "estimate": 0.1, "coverage": share}
    counts = {"n_covered": repeats, "rejected": 0.5, "n_tested": repeats, "repeats": repeats}
    return row | counts


@pytest.mark.parametrize(
    ("worst", "of", "verdict"),
    [
        (0.95, 1000, "adequate"),
        (0.90, 60, "undecided"),  # 80% coverage is not ruled out
        (0.94, 100, "undecided"),
        (0.92, 1000, "adequate"),  # not shown to be below 93%, and above 90%
        (0.912, 3000, "fails in one scenario"),  # above 90%, and below 93%: fails comes first
        (0.80, 1000, "fails in one scenario"),
    ],
)
def test_a_scenario_that_too_few_studies_decide_leaves_a_measure_undecided(
    worst: float, of: int, verdict: str
) -> None:
    rows = pd.DataFrame([design(0.95, 5000), design(worst, of, scenario="hard")])
    table = calibration.summarize(rows, pd.DataFrame(), confidence=0.95)
    assert table["verdict"].to_list() == [verdict]
    assert table["bound"].item() <= table["worst"].item()


def test_one_rule_decides_what_fails_and_what_is_detected() -> None:
    full, table = calibration.shipped(), calibration.shipped_power()
    failing = full[full["verdict"].isin(calibration.estimates.FAILS)]
    failing = failing[failing["measure"] == "interval"]
    keys = failing[["source", "dimension", "task"]].to_numpy().tolist()
    assert all(reading.names.calibrated(of, measure, name, "instead") for of, measure, name in keys)
    tests = table[table["n"] == 400]
    many = (tests["power_largest"] >= 0.8).sum()
    assert f" and {many} at N = 400; " in sentences.power(table)
    assert f" of {len(sentences.exclude_failing(tests, full))} tests" in sentences.power(
        sentences.exclude_failing(table, full)
    )
    reached = table["effect"].notna()
    assert (table["power_largest"][reached] >= 0.8).all()
    assert (table["smallest"] <= table["largest"]).all()


def test_the_table_of_what_fails_has_the_worst_shares_that_ship() -> None:
    full, shipped = calibration.shipped(), tables.read_shipped_table("calibration.csv")
    shipped = shipped[shipped["verdict"].isin(calibration.estimates.FAILS)]
    table = sentences.failing(full)
    assert (table["instead"] != "").all() and table["measure"].is_unique
    for rate, column in (("coverage", "interval"), ("false positives", "test")):
        shown = table[column].dropna().str.extract(r"^([\d.]+) \[").astype(float)[0] / 100
        expected = shipped.loc[shipped["rate"] == rate, "worst"].round(3)
        assert {*expected} <= {*shown.round(3)}
