"""ABS in two ways: the paper's example, shares by hand, simulated preferences."""

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.cogs import affinity, spread, suite as cogs_suite
from nbbias.cogs.sample import Judge, judge
from tests.build import row_of

RACES = ["white", "black", "asian"]
SUITE = cogs_suite.load()


def judged(
    plan: Judge,
    *,
    seed: int = 0,
    names: list[str] | None = None,
    axis: str = "race",
    **options: object,
) -> pd.DataFrame:
    themes = [f"theme {i}" for i in range(30)]
    asked = pd.DataFrame({"model": "m", "task": "haiku", "topic": "t", "theme": themes})
    rng = np.random.default_rng(seed)
    table = judge(asked, plan, names or RACES, rng=rng, **options)  # type: ignore[arg-type]
    return table.assign(evaluator="j", axis=axis)


def estimated(table: pd.DataFrame, **options: object) -> pd.DataFrame:
    return affinity.abs_estimates(table, SUITE, confidence=0.95, **options).estimates  # type: ignore[arg-type]


# --- the score --------------------------------------------------------------------------------


def test_the_papers_example_gives_its_scores() -> None:
    shares = np.array([[0.7, 0.2, 0.1], [0.4, 0.3, 0.3]])  # the paper prints .262 and .047
    assert spread.spread(shares).tolist() == pytest.approx([0.2625, 0.0471], abs=5e-5)


# --- shares within an instance ----------------------------------------------------------------


def replies(*said: tuple[str, float], theme: str = "sun") -> pd.DataFrame:
    rows = []
    for order, at in said:
        who = None if np.isnan(at) else order.split("|")[int(at) - 1]
        rows.append((order, at, who))
    table = pd.DataFrame(rows, columns=["order", "position", "identity"])
    table = table.assign(evaluator="j", model="m", task="haiku", topic="t", theme=theme)
    table = table.assign(axis="race", repeat=1, reason=None)
    return table.astype({"position": float})


def test_a_judge_of_the_first_place_prefers_no_identity() -> None:
    orders = ["a|b|c", "a|c|b", "b|a|c", "b|c|a", "c|a|b", "c|b|a"]
    table = replies(*((order, 1) for order in orders))
    found = {
        name: one.iloc[0].tolist() for name, one in affinity.shares(table, list("abc")).items()
    }
    assert found["abs"] == pytest.approx([1 / 3] * 3)
    assert found["position"] == found["abs_raw"] == [1, 0, 0]


def test_positions_weigh_alike_when_replies_fail() -> None:
    # Two orders, the second asked twice more: a wins at place 1 always, at place 2 never.
    table = replies(("a|b", 1), ("b|a", 1), ("b|a", 1), ("a|b", np.nan))
    identity = affinity.shares(table, ["a", "b"])["abs"]
    assert identity.iloc[0].to_dict() == {"a": 0.5, "b": 0.5}


def test_an_instance_that_cannot_be_balanced_is_lost() -> None:
    one = replies(("a|b", 1), ("b|a", 2))
    two = replies(("a|b", 1), ("b|a", np.nan), theme="rain")
    shares = affinity.shares(pd.concat([one, two]), ["a", "b"])["abs"]
    assert shares.loc[("m", "haiku", "sun")].tolist() == [1, 0]
    assert shares.loc[("m", "haiku", "rain")].isna().all()


# --- estimates --------------------------------------------------------------------------------


def test_a_judge_of_position_alone_has_the_most_as_published_and_none_when_balanced() -> None:
    table = judged(Judge(position=(99.0,), content=0.0))
    assert row_of(estimated(table), "abs")["estimate"] == pytest.approx(0)
    assert row_of(estimated(table), "abs_raw")["estimate"] == pytest.approx(np.sqrt(2) / 3)


def test_estimates_are_recomputed_by_groupby() -> None:
    table = judged(Judge(identity={"white": 1.0}, position=(0.5,)))
    estimates = estimated(table)
    tables.check(estimates, tables.ESTIMATES)
    by_hand = table.groupby("identity").size() / len(table)  # all orders, no failures
    rows = estimates[estimates["statistic"] == "share"].set_index("group")["estimate"]
    assert rows.to_dict() == pytest.approx(by_hand.to_dict())
    assert row_of(estimates, "abs")["estimate"] == pytest.approx(np.std(by_hand))
    assert row_of(estimates, "abs")["group"] == "white"
    raw = table[table["order"] == "white|black|asian"]["identity"].value_counts(normalize=True)
    assert row_of(estimates, "abs_raw")["estimate"] == pytest.approx(
        np.std(raw.reindex(RACES, fill_value=0))
    )
    positions = estimates[estimates["statistic"] == "position_share"]["estimate"]
    assert positions.tolist() == pytest.approx(
        table["position"].value_counts(normalize=True).sort_index().tolist()
    )


def test_a_judge_that_always_refuses_is_not_measured() -> None:
    table = judged(Judge(refuses=1.0))
    estimates = estimated(table)
    assert estimates["estimate"].isna().all()
    assert estimates["reason"].notna().all()
    assert row_of(estimates, "abs")["n_lost"] == 30


def test_two_and_five_identities_and_parts() -> None:
    two = judged(Judge(identity={"queer": 2.0}), names=["straight", "queer"], axis="orientation")
    assert row_of(estimated(two), "abs")["group"] == "queer"
    suite = cogs_suite.load(axes=["disability"])
    names = list(suite.axes["disability"].identities)
    five = judged(Judge(identity={"blind": 2.0}), names=names, axis="disability")
    assert five["order"].nunique() == 10
    rows = affinity.abs_estimates(five, suite, confidence=0.95).estimates
    assert row_of(rows, "abs")["group"] == "blind"
    parts = estimated(two.assign(task=np.where(two.index % 4 < 2, "a", "b")), by_task=True)
    assert parts.loc[parts["statistic"] == "abs", "task"].tolist() == ["a", "b"]


def test_models_together_are_averaged_within_the_instance() -> None:
    one = judged(Judge(identity={"white": 1.5}), seed=1)
    two = judged(Judge(identity={"black": 1.5}), seed=2).assign(model="j")
    both = estimated(pd.concat([one, two], ignore_index=True))
    shares = both[both["statistic"] == "share"].pivot(index="group", columns="model")["estimate"]
    np.testing.assert_allclose(shares["all"], (shares["m"] + shares["j"]) / 2)
    favourites = both[both["statistic"] == "abs"].set_index("model")["group"]
    assert favourites[["m", "j"]].tolist() == ["white", "black"]
