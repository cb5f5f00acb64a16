"""Figures of CoGS by structure: what is drawn equals the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias.cogs import affinity, figures, rbs, suite, tables as cogs_tables
from nbbias.cogs.sample import Judge, judge
from tests.cogs.test_rbs_estimates import VALUES, distances
from tests.reading.test_figures import dots

SUITE = suite.load()


pytestmark = pytest.mark.usefixtures("style")


@pytest.fixture(scope="module")
def estimates() -> pd.DataFrame:
    judged = []
    for seed, axis in enumerate(SUITE.axes):
        themes = [f"theme {i}" for i in range(12)]
        asked = pd.DataFrame({"model": "m", "task": "haiku", "topic": "t", "theme": themes})
        names = list(SUITE.axes[axis].identities)
        for evaluator, plan in {"one": Judge(), "two": Judge(refuses=1.0)}.items():
            table = judge(asked, plan, names, rng=np.random.default_rng(seed))
            judged.append(table.assign(evaluator=evaluator, axis=axis))
    return affinity.abs_estimates(
        pd.concat(judged, ignore_index=True), SUITE, confidence=0.95
    ).estimates


def test_temperatures_have_panels_of_their_own() -> None:
    two = [distances(VALUES).assign(temperature=t) for t in (0.2, 1.0)]
    found = rbs.rbs(pd.concat(two, ignore_index=True), confidence=0.95).estimates
    panels = figures.distances(found).figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == ["m, temperature 0.2", "m, temperature 1"]
    assert [len(ax.get_yticks()) for ax in panels] == [3, 3]
    one = rbs.rbs(two[0], confidence=0.95).estimates
    assert [ax.get_title(loc="left") for ax in figures.distances(one).figure.axes] == ["m"]
    pd.testing.assert_frame_equal(cogs_tables.by_setting(one), one)


def test_preferences_are_dots_and_a_judge_that_refuses_has_none(estimates: pd.DataFrame) -> None:
    drawn = figures.preferences(estimates)
    one, two = drawn.figure.axes[:2]
    assert set(drawn.rows["statistic"]) == {"share"}
    assert "each identity's text was chosen" in drawn.alt
    own = estimates[(estimates["evaluator"] == "one") & (estimates["statistic"] == "share")]
    assert dots(one) == pytest.approx(own["estimate"].tolist())
    assert dots(two) == []
    assert sum("not measured" in text.get_text() for text in two.texts) == 8


def test_the_lead_draws_what_the_scores_that_lead_are_made_of(estimates: pd.DataFrame) -> None:
    drawn = figures.both(estimates, estimates=estimates)
    (score,) = cogs_tables.leading(cogs_tables.compared(estimates)).to_dict("records")
    (ax,) = drawn.figure.axes
    assert ax.get_title(loc="left") == f"one, {score['bias']}"
    own = estimates[(estimates["evaluator"] == "one") & (estimates["bias"] == score["bias"])]
    shares = own.loc[own["statistic"] == "share", "estimate"].tolist()
    assert dots(ax) == pytest.approx(shares)
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([1 / len(shares)])
    assert "dashed: equal share" in ax.get_xlabel()
    assert (
        drawn.title
        == "Share of comparisons in which a judge chose each identity's text (not significant)"
    )


def test_identity_and_position_stand_in_one_panel(estimates: pd.DataFrame) -> None:
    drawn = figures.identity_or_position(estimates)
    figure = drawn.figure
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["one", "two"]
    ax = figure.axes[0]
    ways = {"paper's order": "abs_raw", "counterbalanced": "abs", "positions": "position"}
    places = [(axis, way) for axis in ("race", "gender", "orientation") for way in ways]
    labels = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    assert labels == [f"{axis}: {way}" for axis, way in places]
    by = estimates.query("evaluator == 'one'").set_index(["bias", "statistic"])["estimate"]
    assert dots(ax) == pytest.approx([by[axis, ways[way]] for axis, way in places])


def test_distances_stand_over_chance_with_the_floor() -> None:
    table = distances(VALUES).assign(baseline=0.11)
    drawn = figures.distances(rbs.rbs(table, confidence=0.95).estimates)
    assert drawn.rows["statistic"].tolist() == ["distance"] * 3 + ["baseline"]
    ax = drawn.figure.axes[0]
    assert dots(ax) == pytest.approx(VALUES.mean(axis=0).tolist())
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([0.11])
