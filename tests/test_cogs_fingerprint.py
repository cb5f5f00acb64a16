"""A person's fingerprint by hand, against chance and against a planted taste; how many picks."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multinomial

from nbbias import cogs_blind, cogs_fingerprint, cogs_suite, contracts, simulate_cogs
from nbbias.cogs_fingerprint import NO_PICK, needed
from nbbias.cogs_suite import BAR

SUITE = cogs_suite.load()
ANSWERS = simulate_cogs.answers(SUITE, defaults=1)
RACE = cogs_suite.load(axes=["race"])
RACES = ["white", "black", "asian"]


def ratings(identities: list[str | None], positions: list[int | None]) -> pd.DataFrame:
    rows = [
        ("r", "haiku", f"theme {i}", "race", who, at, "m")
        for i, (who, at) in enumerate(zip(identities, positions, strict=True))
    ]
    columns = ["rater", "task", "theme", "axis", "identity", "position", "model"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"identity": "str", "position": "Int64"})


def values(table: pd.DataFrame, statistic: str) -> dict[str, float]:
    return table[table["statistic"] == statistic].set_index("group")["estimate"].to_dict()


def test_a_fingerprint_by_hand() -> None:
    # Five rounds, one undecided: white 2, black 1, asian 1; position 1 thrice, position 3 once.
    picked = ratings(["white", "white", "black", None, "asian"], [1, 1, 1, None, 3])
    table = cogs_fingerprint.fingerprint(picked, SUITE, draws=200)
    contracts.check(table, contracts.ESTIMATES)
    assert values(table, "share") == {"white": 0.5, "black": 0.25, "asian": 0.25}
    assert values(table, "position_share") == {
        "position 1": 0.75, "position 2": 0.0, "position 3": 0.25,
    }  # fmt: skip
    # sqrt((1/6² + 2/12²) / 3) and sqrt((5/12² + 1/3² + 1/12²) / 3), by hand 0.1179 and 0.3118.
    assert values(table, "abs") == {"white": pytest.approx(0.11785, abs=1e-5)}
    assert values(table, "position") == {"position 1": pytest.approx(0.31180, abs=1e-5)}
    whole = table[table["statistic"].isin(["abs", "position"])]
    assert whole[["n", "n_lost"]].to_numpy().tolist() == [[4, 1], [4, 1]]
    assert set(table["evaluator"]) == {"r"} and set(table["model"]) == {"m"}


def test_p_values_are_those_of_the_permutation_times_the_parts() -> None:
    picked = ratings(["white"] * 6, [1, 2, 3] * 2)
    table = cogs_fingerprint.fingerprint(picked, SUITE, parts=3, draws=4000)
    row = table[table["statistic"] == "abs"].iloc[0]
    assert row["p_value"] == pytest.approx(3.0**-5, abs=0.003)
    assert row["p_adjusted"] == pytest.approx(3 * row["p_value"])
    even = table[table["statistic"] == "position"].iloc[0]
    assert even["estimate"] == 0
    assert even["p_adjusted"] == 1


def test_relabelled_identities_relabel_the_shares() -> None:
    names = ["white", "white", "black", "asian", "white"]
    turned = dict(zip(RACES, RACES[1:] + RACES[:1], strict=True))
    one = cogs_fingerprint.fingerprint(ratings(names, [1, 2, 3, 1, 2]), SUITE, draws=100)
    two = cogs_fingerprint.fingerprint(
        ratings([turned[n] for n in names], [1, 2, 3, 1, 2]), SUITE, draws=100
    )
    assert values(two, "share") == {turned[n]: s for n, s in values(one, "share").items()}
    assert values(two, "abs") == {"black": pytest.approx(values(one, "abs")["white"])}


def test_nothing_picked_is_not_measured() -> None:
    table = cogs_fingerprint.fingerprint(ratings([None] * 3, [None] * 3), SUITE, draws=100)
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {NO_PICK}
    assert set(table["n_lost"]) == {3}
    (told,) = cogs_fingerprint.in_words(table, parts=1, confidence=0.95)
    assert told == f"race: not measured; {NO_PICK} (3 rounds)."
    assert cogs_fingerprint.fingerprint(ratings([], []), SUITE).empty


def test_one_pick_tells_nothing_and_says_so() -> None:
    table = cogs_fingerprint.fingerprint(ratings(["white"], [2]), SUITE, draws=100)
    told = cogs_fingerprint.in_words(table, parts=1, confidence=0.95)
    assert "1 picks can tell nothing; it takes 4 at the least" in told[0]
    assert "too few to tell" in told[1]


def picked_by(taste: object, *, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rounds = cogs_blind.rounds(ANSWERS, RACE, rater="r", per_axis=24, seed=seed)
    picks = {n: taste(one.split(BAR), rng) for n, one in rounds["order"].items()}  # type: ignore[operator]
    return cogs_blind.ratings(rounds, picks)


def by_identity(order: list[str], rng: np.random.Generator) -> int:
    return order.index("black") + 1 if rng.random() < 0.7 else int(rng.integers(1, 4))


def by_position(order: list[str], rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.7 else int(rng.integers(1, 4))


def by_nothing(order: list[str], rng: np.random.Generator) -> int:
    return int(rng.integers(1, 4))


@pytest.mark.parametrize(
    ("taste", "identity", "position"),
    [(by_identity, 20, 0), (by_position, 0, 20), (by_nothing, 0, 0)],
)
def test_planted_tastes_are_told_apart(taste: object, identity: int, position: int) -> None:
    found = {"abs": 0, "position": 0}
    for seed in range(20):
        table = cogs_fingerprint.fingerprint(picked_by(taste, seed=seed), SUITE, draws=200)
        for statistic in found:
            row = table[table["statistic"] == statistic].iloc[0]
            found[statistic] += bool(row["p_value"] < 0.05)
    assert abs(found["abs"] - identity) <= 4
    assert abs(found["position"] - position) <= 4


def test_words_name_identity_and_numbers() -> None:
    rounds = cogs_blind.rounds(ANSWERS, SUITE, rater="r", per_axis=12)
    picks: dict[int, int | None] = {
        n: one.order.split(BAR).index("woman") + 1 if one.axis == "gender" else None
        for n, one in rounds.iterrows()
    }
    table = cogs_fingerprint.fingerprint(
        cogs_blind.ratings(rounds, picks), SUITE, parts=3, draws=500
    )
    told = "\n".join(cogs_fingerprint.in_words(table, parts=3, confidence=0.95))
    assert (
        "gender: your picks prefer texts written for the identity woman (man 0%, woman 100%,"
        in told
    )
    assert "ABS 0.47" in told
    assert "33%, 33%, 33% of your picks were Choice 1, 2, 3; within chance (p = 1.000)" in told
    assert "N = 12 picks" in told and "corrected for 3 parts" in told
    assert f"race: not measured; {NO_PICK} (12 rounds)." in told


# --- how many picks -----------------------------------------------------------------------------


def power(n: int, k: int, share: float, alpha: float) -> float:
    """Enumerate all counts: how often the permutation test of n picks finds one share."""
    counts = np.array([
        (*first, n - sum(first))
        for first in itertools.product(range(n + 1), repeat=k - 1)
        if sum(first) <= n
    ])  # fmt: skip
    spread = counts.std(axis=1).round(9)
    by_chance = multinomial.pmf(counts, n, [1 / k] * k)
    p = {value: by_chance[spread >= value].sum() for value in np.unique(spread)}
    found = np.array([p[value] <= alpha for value in spread])
    return float(multinomial.pmf(counts[found], n, [share] + [(1 - share) / (k - 1)] * (k - 1))
                 .sum())  # fmt: skip


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_least_number_of_picks_is_where_the_first_verdict_can_be(k: int, parts: int) -> None:
    least = needed(24, identities=k, parts=parts).least
    assert power(least, k, 1.0, 0.05 / parts) == 1
    assert power(least - 1, k, 1.0, 0.05 / parts) == 0


@pytest.mark.parametrize(("n", "k"), [(24, 2), (24, 3), (60, 3), (12, 3)])
def test_the_share_that_can_be_found_is_found_four_times_in_five(n: int, k: int) -> None:
    share = needed(n, identities=k, parts=3).share
    assert 0.72 < power(n, k, share, 0.05 / 3) < 0.88


@pytest.mark.parametrize("k", [2, 3])
def test_enough_picks_find_twice_as_often(k: int) -> None:
    enough = needed(24, identities=k, parts=3).enough
    assert 0.75 < power(enough, k, 2 / (k + 1), 0.05 / 3) < 0.85


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_picks_find_nothing(n: int) -> None:
    assert np.isnan(needed(n, identities=3, parts=3).share)


def test_what_picks_can_tell_is_said_beforehand() -> None:
    rounds = cogs_blind.rounds(ANSWERS, SUITE, rater="r", per_axis=24)
    told = cogs_fingerprint.needed_in_words(rounds, confidence=0.95)
    assert told[0] == r"72 rounds in 3 parts, one an axis, on texts of even\-writer."
    assert any("Rounds with 3 texts (2 parts): 24 picks find" in one for one in told)
    few = cogs_fingerprint.needed_in_words(rounds.groupby("axis").head(3), confidence=0.95)
    assert all("too few to find any preference" in one for one in few[1:])
    assert not any(name in " ".join(told) for name in ("race", "gender", "white", "queer"))
