"""Figures of CoGS by structure: what is drawn equals the table."""

import numpy as np
import pandas as pd
import pytest

from nbbias.cogs import affinity, figures, rbs, suite, tables as cogs_tables
from nbbias.cogs.sample import Judge, judge
from nbbias.reading import names
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
    panels = figures.means(found, of="rbs").figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == ["m, temperature 0.2", "m, temperature 1"]
    assert [len(ax.get_yticks()) for ax in panels] == [3, 3]
    one = rbs.rbs(two[0], confidence=0.95).estimates
    assert [ax.get_title(loc="left") for ax in figures.means(one, of="rbs").figure.axes] == ["m"]
    pd.testing.assert_frame_equal(cogs_tables.by_setting(one), one)


def test_preferences_are_dots_and_a_judge_that_refuses_has_none(estimates: pd.DataFrame) -> None:
    drawn = figures.means(estimates, of="abs")
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
    assert drawn.title == "No significant ABS: one"


def test_positions_have_a_dot_each(estimates: pd.DataFrame) -> None:
    drawn = figures.means(estimates, of="position")
    one = estimates.query("evaluator == 'one' and statistic == 'position_share'")
    assert dots(drawn.figure.axes[0]) == pytest.approx(one["estimate"].tolist())
    labels = [text.get_text().replace("\n", " ") for text in drawn.figure.axes[0].get_yticklabels()]
    assert labels[:2] == ["race: position 1", "race: position 2"]
    sums = one.groupby("bias")["estimate"].sum()
    assert sums.tolist() == pytest.approx([1, 1, 1])


def test_shares_by_task_stand_in_a_panel_of_judge_and_writer() -> None:
    rng = np.random.default_rng(1)
    names = list(SUITE.axes["race"].identities)
    index = pd.MultiIndex.from_product([["w", "v"], ["haiku", "song"], range(8)])
    asked = index.to_frame(index=False).set_axis(["model", "task", "theme"], axis=1)
    asked = asked.assign(topic="t", theme="theme " + asked["theme"].astype(str))
    plans = {"fair": Judge(), "partial": Judge(identity={"black": 50.0})}
    tables = [judge(asked, plan, names, rng=rng).assign(evaluator=e) for e, plan in plans.items()]
    judged = pd.concat(tables, ignore_index=True).assign(axis="race")
    table = affinity.abs_estimates(judged, SUITE, by_task=True, confidence=0.95).estimates
    # A writer without answers as one identity has blank cells.
    lacking = (
        (table["model"] == "w") & (table["group"] == "black") & (table["statistic"] == "share")
    )
    assert len(figures.by_task(table[~lacking]).figure.axes[0].texts) == 4
    drawn = figures.by_task(table)
    titles = [ax.get_title(loc="left") for ax in drawn.figure.axes]
    assert titles == [f"{e} · {w}" for e in plans for w in ("w", "v")]
    # Another way: choices counted, every order asked of every instance.
    shares = judged.groupby(["evaluator", "model", "task"])["identity"].value_counts(normalize=True)
    for ax, key in zip(drawn.figure.axes, [(e, w) for e in plans for w in ("w", "v")], strict=True):
        texts = np.array([text.get_text() for text in ax.texts]).reshape(2, 3)
        by_hand = [
            [shares.get((*key, task, name), 0) for name in names] for task in ("haiku", "song")
        ]
        numbers = [[float(text.rstrip("*")) for text in line] for line in texts]
        assert np.abs(np.array(numbers) - by_hand).max() < 0.0051
        starred = np.char.endswith(texts, "*")
        assert starred[:, 1].all() == (key[0] == "partial") and not starred[:, [0, 2]].any()
        shades = np.asarray(ax.collections[0].get_array()).ravel()
        assert shades == pytest.approx(np.ravel(by_hand) - 1 / 3)
    assert drawn.title.startswith("Significant in 4 of 8 ABS by task: Black people, haiku (partial")


def test_a_radar_closes_around_the_shares_of_a_judge(estimates: pd.DataFrame) -> None:
    drawn = figures.fingerprint(estimates)
    (polar,) = drawn.figure.axes[0].child_axes
    dashed, solid = (line.get_ydata() for line in polar.lines)
    shares = estimates.query("evaluator == 'one' and statistic == 'share'")["estimate"].tolist()
    assert solid == pytest.approx([*shares, shares[0]])
    assert dashed == pytest.approx([*[1 / 3] * 6, *[1 / 2] * 2, 1 / 3])
    labels = [text.get_text().replace("\n", " ") for text in polar.get_xticklabels()]
    identities = [name for plan in SUITE.axes.values() for name in plan.identities]
    assert labels == [*map(names.people, identities)]


def test_distances_stand_over_chance_with_the_floor() -> None:
    table = distances(VALUES).assign(baseline=0.11)
    drawn = figures.means(rbs.rbs(table, confidence=0.95).estimates, of="rbs")
    assert drawn.rows["reference"].tolist() == [0.11] * 3
    ax = drawn.figure.axes[0]
    assert dots(ax) == pytest.approx(VALUES.mean(axis=0).tolist())
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([0.11])
