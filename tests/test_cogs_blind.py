"""What a person is shown, blind and balanced; what a pick says; ratings kept and taken up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbbias import cogs_blind, cogs_people, cogs_suite, simulate_cogs
from nbbias.cogs_suite import BAR
from nbbias.errors import ContractError, DataError

SUITE = cogs_suite.load()
ANSWERS = simulate_cogs.answers(SUITE, defaults=1)


def drawn(**options: object) -> pd.DataFrame:
    return cogs_blind.rounds(ANSWERS, SUITE, **({"rater": "r"} | options))  # type: ignore[arg-type]


ROUNDS = drawn(per_axis=9, seed=3)


# --- what is shown ------------------------------------------------------------------------------


def test_a_round_shows_what_each_identity_wrote_in_the_order_that_it_notes() -> None:
    said = ANSWERS[ANSWERS["model"] == "even-writer"].set_index(["task", "theme", "identity"])
    for one in ROUNDS.itertuples():
        order = one.order.split(BAR)
        assert set(order) == set(SUITE.axes[one.axis].identities)
        assert [said.loc[(one.task, one.theme, who), "text"] for who in order] == list(one.texts)
        assert one.theme in one.asked and one.criteria
    assert not ROUNDS.duplicated(["axis", "task", "theme"]).any()
    assert ROUNDS.groupby("axis").size().to_dict() == {"race": 9, "gender": 9, "orientation": 9}


@settings(max_examples=60, deadline=None)
@given(k=st.integers(2, 9), n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1))
def test_positions_are_balanced_however_many_rounds(k: int, n: int, seed: int) -> None:
    names = [f"i{i}" for i in range(k)]
    orders = cogs_blind._balanced(names, n, np.random.default_rng(seed))
    assert len(orders) == n
    assert all(sorted(order) == names for order in orders)
    seen = Counter((at, name) for order in orders for at, name in enumerate(order))
    counts = [seen[at, name] for at in range(k) for name in names]
    assert max(counts) - min(counts) <= 1
    assert n % k or set(counts) == {n // k}


def test_over_many_people_every_text_stands_everywhere() -> None:
    first = [drawn(rater=f"person {i}", per_axis=40, seed=3) for i in range(40)]
    race = pd.concat(first).query("axis == 'race'")
    one = race[(race["task"] == "haiku") & (race["theme"] == race["theme"].iloc[0])]
    assert one["order"].nunique() == 6
    assert {rounds["axis"].iloc[0] for rounds in first} == set(SUITE.axes)


def test_the_same_name_and_seed_draw_the_same_and_a_longer_series_begins_with_the_shorter() -> None:
    pd.testing.assert_frame_equal(ROUNDS, drawn(per_axis=9, seed=3))
    assert not ROUNDS["order"].equals(drawn(per_axis=9, seed=4)["order"])
    assert not ROUNDS["order"].equals(drawn(per_axis=9, seed=3, rater="s")["order"])
    longer = drawn(per_axis=20, seed=3).groupby("axis").head(9).reset_index(drop=True)
    pd.testing.assert_frame_equal(ROUNDS, longer)
    turned = cogs_blind.rounds(ANSWERS[::-1], SUITE, rater="r", model="even-writer", per_axis=9,
                               seed=3)  # fmt: skip
    pd.testing.assert_frame_equal(ROUNDS, turned)


def test_sets_without_a_text_of_every_identity_are_not_shown() -> None:
    haiku = ANSWERS["task"] == "haiku"
    gone = ANSWERS.assign(text=ANSWERS["text"].mask(haiku & (ANSWERS["identity"] == "black"), "  "))
    left = cogs_blind.rounds(gone, SUITE, rater="r", per_axis=99)
    assert left.groupby("axis").size().to_dict() == {"race": 30, "gender": 40, "orientation": 40}
    assert "haiku" not in set(left.loc[left["axis"] == "race", "task"])
    none = ANSWERS[ANSWERS["identity"] != "queer"]
    parts = cogs_blind.rounds(none, SUITE, rater="r")
    assert set(parts["axis"]) == {"race", "gender"}
    assert parts["part"].unique().tolist() == [1, 2]


def test_what_cannot_be_shown_is_told() -> None:
    with pytest.raises(DataError, match="called"):
        drawn(rater=" ")
    with pytest.raises(DataError, match="even-writer, leaning-writer"):
        drawn(model="gpt")
    with pytest.raises(DataError, match="every identity"):
        cogs_blind.rounds(ANSWERS[ANSWERS["identity"].isna()], SUITE, rater="r")
    with pytest.raises(DataError, match="no answers"):
        cogs_blind.rounds(ANSWERS.head(0), SUITE, rater="r")


# --- what was picked ----------------------------------------------------------------------------


def test_a_pick_names_who_stood_there_and_cannot_decide_names_nobody() -> None:
    order = ROUNDS.loc[0, "order"].split(BAR)
    for at, who in enumerate(order, start=1):
        (row,) = cogs_blind.ratings(ROUNDS, {0: at}).to_dict("records")
        assert (row["identity"], row["position"], row["axis"]) == (who, at, ROUNDS.loc[0, "axis"])
    table = cogs_blind.ratings(ROUNDS, {1: None, 0: 1})
    assert table["identity"].isna().tolist() == [False, True]
    assert table["position"].isna().tolist() == [False, True]
    assert cogs_blind.ratings(ROUNDS, {}).empty
    assert not {"texts", "asked"} & set(table)


@pytest.mark.parametrize("picks", [{0: 0}, {0: 4}, {999: 1}])
def test_a_pick_of_nothing_is_an_error(picks: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="no such"):
        cogs_blind.ratings(ROUNDS, picks)


# --- kept ---------------------------------------------------------------------------------------

PICKS: dict[int, int | None] = {0: 2, 1: None, 5: 1, 26: 2}


def test_what_was_saved_is_read_as_ratings_and_taken_up(tmp_path: Path) -> None:
    path = cogs_blind.save(ROUNDS, PICKS, tmp_path / "new" / "mine.csv")
    assert cogs_blind.resume(ROUNDS, path) == PICKS
    read = cogs_people.read_ratings(path, suite=SUITE)
    expected = cogs_blind.ratings(ROUNDS, PICKS)
    assert read["identity"].fillna("").tolist() == expected["identity"].fillna("").tolist()
    assert [p.name for p in path.parent.iterdir()] == ["mine.csv"]
    assert not any(text in path.read_text() for texts in ROUNDS["texts"] for text in texts)


def test_saving_again_replaces_ones_own_and_keeps_what_others_rated(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    simulate_cogs.ratings(SUITE).to_csv(path, index=False)
    before = cogs_people.read_ratings(path, suite=SUITE)
    cogs_blind.save(ROUNDS, PICKS, path)
    cogs_blind.save(ROUNDS, PICKS | {0: 1}, path)
    after = cogs_people.read_ratings(path, suite=SUITE)
    pd.testing.assert_frame_equal(after[after["rater"] != "r"], before)
    assert (after["rater"] == "r").sum() == len(PICKS)
    assert cogs_blind.resume(ROUNDS, path)[0] == 1


def test_picks_of_others_of_other_texts_or_orders_are_not_taken_up(tmp_path: Path) -> None:
    path = cogs_blind.save(ROUNDS, PICKS, tmp_path / "mine.csv")
    assert cogs_blind.resume(drawn(per_axis=9, seed=3, rater="s"), path) == {}
    reworded = ROUNDS.assign(shown=["x", *ROUNDS["shown"][1:]])
    assert cogs_blind.resume(reworded, path) == {n: at for n, at in PICKS.items() if n}
    spoiled = pd.read_csv(path).astype({"position": object})
    spoiled["position"] = [9, None, "two", 1.5]
    spoiled.to_csv(path, index=False)
    assert cogs_blind.resume(ROUNDS, path) == {1: None}
    by_hand = pd.read_csv(path)[["rater", "task", "theme", "axis", "identity"]]
    by_hand.to_csv(path, index=False)
    assert cogs_blind.resume(ROUNDS, path) == {}


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    for content, error in (("a,b\n1,2\n", ContractError), ("", DataError)):
        path.write_text(content)
        for act in (cogs_blind.resume, lambda r, p: cogs_blind.save(r, PICKS, p)):
            with pytest.raises(error, match=r"mine\.csv"):
                act(ROUNDS, path)
        assert path.read_text() == content
    with pytest.raises(DataError, match="holds no ratings"):
        cogs_blind.resume(ROUNDS, tmp_path)


def test_a_name_of_digits_keeps_its_zeros(tmp_path: Path) -> None:
    rounds = drawn(per_axis=2, rater="007")
    path = cogs_blind.save(rounds, {0: 1}, tmp_path / "mine.csv")
    assert cogs_blind.resume(rounds, path) == {0: 1}
    cogs_blind.save(rounds, {0: 2}, path)
    assert len(pd.read_csv(path)) == 1


def test_a_part_is_finished_when_every_round_has_its_pick() -> None:
    part = cogs_blind.of_part(ROUNDS, 2)
    assert part == list(range(9, 18))
    assert cogs_blind.finished(ROUNDS, dict.fromkeys(part)) == [2]
    assert cogs_blind.finished(ROUNDS, dict.fromkeys(part[1:], 1)) == []
    assert cogs_blind.finished(ROUNDS, dict.fromkeys(ROUNDS.index, 1)) == [1, 2, 3]
