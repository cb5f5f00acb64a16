"""Figures of CoGS by structure: what is drawn equals the table."""

import numpy as np
import pandas as pd
import pytest

from nbbias.cogs import affinity, figures, rbs, suite, tables as cogs_tables
from nbbias.cogs.sample import Judge
from tests.cogs.test_affinity import decide, judged
from tests.cogs.test_rbs import VALUES, distances
from tests.reading.test_figures import dots

SUITE = suite.load()

pytestmark = pytest.mark.usefixtures("style")


@pytest.fixture(scope="module")
def estimates() -> pd.DataFrame:
    judges = {"one": Judge(), "two": Judge(refuses=1.0)}
    tables = [
        judged(plan, axis=axis, evaluator=evaluator, n=12, seed=seed)
        for seed, axis in enumerate(SUITE.axes)
        for evaluator, plan in judges.items()
    ]
    whole = pd.concat(tables, ignore_index=True)
    return affinity.abs_estimates(whole, SUITE, confidence=0.95).estimates


def test_distances_stand_beside_the_baseline_and_temperatures_in_panels() -> None:
    two = [distances(VALUES).assign(temperature=t, baseline=0.11) for t in (0.2, 1.0)]
    found = rbs.rbs(pd.concat(two, ignore_index=True), confidence=0.95).estimates
    panels = figures.means(found, of="rbs").figure.axes
    assert [ax.get_title(loc="left") for ax in panels] == ["m, temperature 0.2", "m, temperature 1"]
    one = rbs.rbs(two[0], confidence=0.95).estimates
    (ax,) = figures.means(one, of="rbs").figure.axes
    assert ax.get_title(loc="left") == "m"
    assert dots(ax) == pytest.approx(VALUES.mean(axis=0).tolist())
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([0.11])


@pytest.mark.parametrize(("of", "statistic"), [("abs", "share"), ("position", "position_share")])
def test_shares_are_dots_and_a_judge_that_refuses_has_none(
    of: str, statistic: str, estimates: pd.DataFrame
) -> None:
    one, two = figures.means(estimates, of=of).figure.axes[:2]
    own = estimates[(estimates["evaluator"] == "one") & (estimates["statistic"] == statistic)]
    assert dots(one) == pytest.approx(own["estimate"].tolist())
    assert own.groupby("bias")["estimate"].sum().tolist() == pytest.approx([1, 1, 1])
    assert dots(two) == []
    assert sum("not measured" in text.get_text() for text in two.texts) == 8


def test_the_lead_draws_what_the_scores_that_lead_are_made_of(estimates: pd.DataFrame) -> None:
    drawn = figures.both(estimates, estimates=estimates)
    (score,) = cogs_tables.select_leading(cogs_tables.compared(estimates)).to_dict("records")
    (ax,) = drawn.figure.axes
    assert ax.get_title(loc="left") == f"one, {score['bias']}"
    own = estimates[(estimates["evaluator"] == "one") & (estimates["bias"] == score["bias"])]
    shares = own.loc[own["statistic"] == "share", "estimate"].tolist()
    assert dots(ax) == pytest.approx(shares)
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([1 / len(shares)])


def test_orders_are_drawn_and_the_largest_changes_named_whatever_their_direction() -> None:
    values = {"a": (0.1, 0.11), "b": (0.3, 0.1), "c": (0.1, 0.5)}
    row = {"model": "all", "bias": "race", "measure": "abs", "confidence": 0.95, "n": 9}
    row |= dict.fromkeys(("task", "topic", "p_adjusted", "p_value"))
    row |= {"ci_low": 0.0, "ci_high": 0.6, "null": 0.06, "null_low": 0.0, "null_high": 0.2}
    rows = [
        row | {"evaluator": who, "statistic": name, "estimate": value, "excess": value - 0.06}
        for who, both in values.items()
        for name, value in zip(("abs", "abs_raw"), both, strict=True)
    ]
    drawn = figures.orders(pd.DataFrame(rows))
    for ax, both in zip(drawn.figure.axes, values.values(), strict=True):
        assert sorted(dots(ax)) == pytest.approx(sorted(both))
    assert drawn.title.endswith("orders: c, race (0.500 to 0.100); b, race (0.100 to 0.300)")


def test_shares_by_task_stand_in_a_panel_of_judge_and_writer() -> None:
    rng = np.random.default_rng(1)
    names = list(SUITE.axes["race"].identities)
    index = pd.MultiIndex.from_product([["w", "v"], ["haiku", "song"], range(8)])
    asked = index.to_frame(index=False).set_axis(["model", "task", "theme"], axis=1)
    asked = asked.assign(topic="t", theme="theme " + asked["theme"].astype(str))
    plans = {"fair": Judge(), "partial": Judge(identity={"black": 50.0})}
    tables = [decide(asked, plan, names, rng).assign(evaluator=e) for e, plan in plans.items()]
    chosen = pd.concat(tables, ignore_index=True).assign(axis="race")
    table = affinity.abs_estimates(chosen, SUITE, by_task=True, confidence=0.95).estimates
    # A writer without answers as one identity has blank cells.
    lacking = table.eval("model == 'w' and group == 'black' and statistic == 'share'")
    assert len(figures.by_task(table[~lacking]).figure.axes[0].texts) == 4
    drawn = figures.by_task(table)
    # Another way: choices counted, every order asked of every instance.
    shares = chosen.groupby(["evaluator", "model", "task"])["identity"].value_counts(normalize=True)
    *panels, _ = drawn.figure.axes  # and the key of colours
    for ax, key in zip(panels, [(e, w) for e in plans for w in ("w", "v")], strict=True):
        assert ax.get_title(loc="left") == " · ".join(key)
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
