"""What the page of a calibration says and draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import calibration, reading
from nbbias.calibration import figures, grid, sentences, tables
from nbbias.calibration.params import STUDY, Calibration
from nbbias.reading import claims
from nbbias.stats import InferenceSettings

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def made() -> dict[str, pd.DataFrame]:
    designs = grid.designs([], n=[10, 30, 80], repeats=120, lead_n=[10, 80], lead_repeats=20)
    found = {
        of: grid.simulate(
            designs[designs["of"] == of], inference=InferenceSettings(n_permutations=20)
        )
        for of in ("trial", "lead")
    }
    estimates = calibration.estimates.estimates(found["trial"], found["lead"], confidence=0.95)
    declared = claims.declared(estimates, Calibration().claims, confidence=0.95)
    return {"designs": designs, "estimates": estimates, "declared": declared, **found}


def test_what_the_page_leads_with(made: dict[str, pd.DataFrame], golden) -> None:
    """As declared, with intervals so wide that they leave all open, and with nothing."""
    wide = made["estimates"].assign(ci_low=-0.5, ci_high=0.5)
    near = {"ci_low": -0.01, "ci_high": 0.01}
    tests = wide["statistic"] == "false_positive_error"
    tables_of = {
        "declared": made["declared"],
        "not declared": made["estimates"],
        "open": wide,
        "tests keep their level": wide.assign(
            **{end: wide[end].mask(tests, value) for end, value in near.items()}
        ),
        "leads alone": made["declared"].query("measure == 'lead'"),
        "nothing": made["estimates"].iloc[:0],
    }
    leads = {name: sentences.lead(rows, texts=STUDY.sample) for name, rows in tables_of.items()}
    golden("calibration_leads", {name: lead.plain for name, lead in leads.items()})
    assert len(leads["declared"].numbers) == 2  # first sentences are false less often than allowed
    assert set(leads["declared"].card) == {"measures", "groups", "N", "instrument", "not"}
    numbers = reading.lead.to_dict(leads["declared"])["numbers"]
    assert all(number["interval"].startswith("95% CI") for number in numbers)


@pytest.mark.parametrize(
    ("statistic", "estimate", "expected"),
    [
        ("coverage_error", -0.1, "worse"),
        ("coverage_error", 0.04, "careful"),
        ("false_positive_error", 0.1, "worse"),
        ("false_positive_error", -0.04, "careful"),
        ("false_lead_error", 0.001, "within"),
    ],
)
def test_a_miss_is_a_harm_on_one_side_only(statistic: str, estimate: float, expected: str) -> None:
    row = {"statistic": statistic, "estimate": estimate}
    ends = {"ci_low": estimate - 0.01, "ci_high": estimate + 0.01}
    assert sentences.kind(row | ends) == expected
    assert sentences.kind(row | {"ci_low": -0.2, "ci_high": 0.2}) == "open"


def test_figures_draw_what_their_rows_say(made: dict[str, pd.DataFrame]) -> None:
    drawn = [
        figures.errors(made["declared"]),
        figures.coverage(made["trial"]),
        figures.recovered(made["trial"]),
        figures.power(made["trial"]),
        figures.least(grid.least(made["trial"])),
    ]
    for one in drawn:
        assert one.alt and one.title and one.caption
        assert len(one.rows)
    # A dot for each number of units, statistic and world, where it belongs.
    (panel,) = drawn[1].figure.axes
    dots = np.concatenate([one.get_offsets() for one in panel.collections])
    own = drawn[1].rows
    assert sorted(dots[:, 0].round(9)) == sorted((100 * own["coverage"].clip(0.6)).round(9))
    # One row: the more units, the lower.
    assert own.groupby(["study", "measure"]).ngroups == 1
    heights = [set(dots[np.isclose(dots[:, 1], y), 1]) for y in (0.3, 0.0, -0.3)]
    assert all(heights) and own["n"].nunique() == 3
    fewest = own.loc[own["n"] == own["n"].min(), "coverage"].mul(100).clip(60)
    assert sorted(dots[np.isclose(dots[:, 1], 0.3), 0].round(9)) == sorted(fewest.round(9))


def test_figures_and_tables_of_nothing_are_no_error(made: dict[str, pd.DataFrame]) -> None:
    none = made["trial"].iloc[:0]
    for one in (figures.coverage, figures.recovered, figures.power):
        assert one(none).rows.empty
    assert figures.least(grid.least(none)).rows.empty
    assert figures.errors(made["estimates"].iloc[:0]).rows.empty
    for table in (tables.selected(none), tables.leads(made["lead"].iloc[:0])):
        assert table.rows.empty
    for told in (sentences.recovered(none), sentences.worst(made["estimates"].iloc[:0])):
        assert told == "Nothing was calibrated"


def test_tables_of_the_body_are_small(made: dict[str, pd.DataFrame]) -> None:
    least = grid.least(made["trial"])
    for table in (
        tables.simulated(made["designs"]),
        tables.misses(made["estimates"]),
        tables.selected(made["trial"]),
        tables.leads(made["lead"]),
        tables.least(least),
    ):
        assert 0 < len(table.rows) <= 12
        assert len(table.rows.columns) <= 8
    assert "toy means: narrow" in str(tables.misses(made["estimates"]).note)
