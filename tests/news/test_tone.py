"""Claims about tone against scipy, plain loops and every permutation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias import stats
from nbbias.news import corpus, scoring, tone as news_tone
from nbbias.news.claims import Level
from nbbias.text import lexicons, sentiment
from tests.build import GENDER, Study, paired, row_of, stack, study_of

FOUR = pd.DataFrame(
    [("age", group, group, "word", "any") for group in ("child", "teen", "adult", "elder")],
    columns=["bias", "group", "term", "kind", "case"],
)
LEXICON = pd.concat([GENDER, FOUR], ignore_index=True)
BLOB = sentiment.instrument("textblob")


TONES = ["good", "bad", "honest", "awful", "kind", "terrible", "fair", "stupid", "nice", "routine"]
PEOPLE = ["She", "He", "The child", "The teen", "The adult", "The elder", "It"]


def written(rng: np.random.Generator, n: int) -> str:
    people, tones = rng.choice(PEOPLE, n), rng.choice(TONES, n)
    return " ".join(f"{one} was {tone}." for one, tone in zip(people, tones, strict=True))


def random_pairs(n: int, seed: int, model: str) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 12, size=(n, 2))
    return paired(*[(written(rng, h), written(rng, o)) for h, o in sizes], model=model)


@pytest.fixture(scope="module")
def study() -> Study:
    """Two models, two biases (of two and of four groups), two instruments and toxicity."""
    lost = paired(("", "He was good."), ("It was good.", "She was bad."), model="one")
    pairs = stack(random_pairs(48, 1, "one"), random_pairs(30, 2, "two"), lost)
    return study_of(pairs, lexicon=LEXICON, scorers=("textblob", "vader"))


@pytest.fixture(scope="module")
def table(study: Study) -> pd.DataFrame:
    return study.estimates(confidence=0.9)


def of(table: pd.DataFrame, statistic: str, group: str | None = None, **keys: str) -> pd.DataFrame:
    own = table[table["statistic"] == statistic]
    own = own[own["group"] == group] if group else own
    for key, value in keys.items():
        own = own[own[key] == value]
    return own


def claims(study: Study) -> Iterator[tuple[dict[str, str], pd.DataFrame, list[str], int]]:
    """Every cell, bias and instrument: its keys, its scores, its groups, its bad direction."""
    worse = study.scored.measured.set_index("instrument")["worse"]
    keys = ["model", "bias", "instrument"]
    for values, own in study.scores.groupby(keys, sort=False):
        key = dict(zip(keys, values, strict=True))
        yield key, own, lexicons.groups(study.read.lexicon, key["bias"]), worse[key["instrument"]]


# --- estimates and tests ----------------------------------------------------------------------


def test_the_bias_is_the_mean_of_the_pairs_scores(study: Study, table: pd.DataFrame) -> None:
    for key, own, _, _ in claims(study):
        row = row_of(table, "bias", **key)
        values = own["score"].dropna()
        interval = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
        assert row["estimate"] == pytest.approx(values.mean())
        assert row["ci_low"] == pytest.approx(max(interval.low, 0))
        assert row["ci_high"] == pytest.approx(interval.high)
        articles = own["article_id"].nunique()  # the lost answers are of articles that have others
        assert (row["n"], row["n_lost"]) == (len(values), articles - len(values))


@pytest.mark.parametrize(
    ("statistic", "column"),
    [("mean_difference", "difference_"), ("difference_beyond_neutral", "beyond_neutral_")],
)
def test_differences_are_tested_as_scipy_does(
    study: Study, table: pd.DataFrame, statistic: str, column: str
) -> None:
    tested = 0
    for key, own, groups, worse in claims(study):
        if worse > 0 and statistic == "difference_beyond_neutral":
            assert of(table, statistic, **key).empty
            continue
        for group in groups:
            counted = own[own["reason"].isna() & own[column + group].notna()]
            values = counted[column + group]
            expected = scipy.stats.ttest_1samp(values, 0)
            row = row_of(table, statistic, group, **key)
            assert row["estimate"] == pytest.approx(values.mean())
            articles = own["article_id"].nunique()
            assert (row["n"], row["n_lost"]) == (len(values), articles - len(values))
            assert row["null"] == 0
            moved = {"beyond_neutral_": "alone_"}.get(column, column)
            if (counted[f"{moved}{group}"].abs() > 1e-12).sum() < 5:
                assert np.isnan([row["ci_low"], row["ci_high"], row["p_value"], row["df"]]).all()
                assert row["reason"] == "fewer than 5 articles differ in tone"
                continue
            assert row["statistic_value"] == pytest.approx(expected.statistic)
            assert row["p_value"] == pytest.approx(expected.pvalue)
            limit = (1 if worse > 0 else 2) * (2 if column.startswith("beyond") else 1)
            interval = np.clip(expected.confidence_interval(0.9), -limit, limit)
            assert [row["ci_low"], row["ci_high"]] == pytest.approx(interval.tolist())
            tested += 1
    # Five groups' of model two stand in too few articles beside neutral sentences.
    assert tested == {"mean_difference": 36, "difference_beyond_neutral": 17}[statistic]


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down by its definition."""
    order = np.argsort(p_values)
    corrected, largest = [0.0] * len(p_values), 0.0
    for step, at in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[at]))
        corrected[at] = largest
    return corrected


@pytest.mark.parametrize(
    ("statistic", "measures"),
    [("mean_difference", ["sentiment", "toxicity"]), ("difference_beyond_neutral", ["sentiment"])],
)
def test_a_measures_family_is_all_biases_cells_groups_and_instruments(
    table: pd.DataFrame, statistic: str, measures: list[str]
) -> None:
    own = of(table, statistic)
    assert own["measure"].unique().tolist() == measures
    for _, family in own.groupby("measure"):
        tested = family[family["p_value"].notna()]
        assert set(tested["bias"]) == {"gender", "age"} and set(tested["model"]) == {"one", "two"}
        assert tested["p_adjusted"].tolist() == pytest.approx(holm(tested["p_value"].tolist()))
    # Nothing that has a p is without its correction.
    assert (table["p_value"].notna() == table["p_adjusted"].notna()).all()


def test_prejudice_is_counted_by_a_loop_in_the_bad_direction(
    study: Study, table: pd.DataFrame
) -> None:
    directions, checked = set(), 0
    for key, own, groups, worse in claims(study):
        for group in groups:
            changes = own.loc[own["reason"].isna(), f"difference_{group}"].dropna().tolist()
            if any(0 < abs(d) < 1e-12 for d in changes):
                continue  # A change by rounding alone: the test below.
            checked += 1
            # Sentiment falls, toxicity rises.
            bad = [d for d in changes if (d < 0 if worse < 0 else d > 0)]
            share = row_of(table, "prejudice_share", group, **key)
            extent = row_of(table, "prejudice_extent", group, **key)
            wilson = scipy.stats.binomtest(len(bad), len(changes)).proportion_ci(
                0.9, method="wilson"
            )
            assert share["estimate"] == pytest.approx(len(bad) / len(changes))
            assert [share["ci_low"], share["ci_high"]] == pytest.approx(list(wilson))
            assert (share["n"], extent["n"]) == (len(changes), len(bad))
            if not bad:
                assert np.isnan(extent["estimate"])
                continue
            assert extent["estimate"] == pytest.approx(np.mean(bad))
            # Were answers and originals exchanged, as many would fall as rise.
            moved = np.mean([d != 0 for d in changes])
            assert share["null"] == pytest.approx(moved / 2, abs=0.1)
            directions.add((worse, np.sign(extent["estimate"])))
    assert directions == {(-1, -1.0), (1, 1.0)}
    assert checked > 25


# --- little or nothing to count ---------------------------------------------------------------

MEN = [
    ("He was bad.", "He was good."),
    ("His day was fair.", "He was nice."),
    ("He was awful.", "He was honest."),
    ("He was stupid.", "He was kind."),
    ("He was nice.", "He was awful."),
]


def test_a_group_that_never_appears_is_not_measured_and_says_so() -> None:
    table = study_of(paired(*MEN)).estimates()
    own = table[table["group"] == "female"]
    assert own["estimate"].isna().all() and own["reason"].notna().all()
    assert set(own["statistic"]) >= {"mean_difference", "prejudice_share", "prejudice_extent"}
    told = of(own, "mean_difference")
    assert told["reason"].str.contains("sentences of the group female").all()
    assert (told["n"] == 0).all() and (told["n_lost"] == 5).all()
    assert told["p_adjusted"].isna().all()
    assert of(table, "bias")["estimate"].notna().all()
    # The family is the male test alone.
    male = row_of(table, "mean_difference", "male", instrument=BLOB)
    assert np.isfinite(male["p_value"])
    assert male["p_adjusted"] == pytest.approx(male["p_value"])


def test_five_articles_that_differ_are_tested_and_four_are_not() -> None:
    table = study_of(paired(*MEN, *[(said, said + " ") for _, said in MEN])).estimates()
    row = row_of(table, "mean_difference", "male", instrument=BLOB)
    # TextBlob: bad -.7, good .7; fair .7, nice .6; awful -1; stupid -.8, honest .6; kind .6.
    differences = [-1.4, 0.1, -1.6, -1.4, 1.6, *[0] * 5]
    expected = scipy.stats.ttest_1samp(differences, 0)
    assert (row["n"], row["df"]) == (10, 9)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    same = paired(*MEN[:4], ("He was good.", "He was good. He was good."))
    row = row_of(study_of(same).estimates(), "mean_difference", "male", instrument=BLOB)
    assert (row["n"], row["estimate"]) == (5, pytest.approx(-4.3 / 5))
    assert np.isnan([row["ci_low"], row["ci_high"], row["p_value"], row["effect_size"]]).all()
    assert row["reason"] == "fewer than 5 articles differ in tone"


# --- the floor --------------------------------------------------------------------------------


def replicated(answers: list[str], originals: list[str], twins: list[str]) -> Level:
    """The level of stories with two human texts each."""
    keyed = {"source": "s", "article_id": [str(i) for i in range(len(answers))]}
    human = [
        pd.DataFrame({**keyed, "text": own, "sample": i})
        for i, own in enumerate((originals, twins))
    ]
    written = pd.concat(human)
    made = pd.DataFrame({**keyed, "text": answers, "sample": 1, "model": "m", "prompt": "p"})
    sides = []
    for pairs in (corpus.pair(written, made), corpus.twins(written)):
        read = corpus.annotate(pairs, lexicon=GENDER)
        scored = scoring.score(read, scorers=["textblob"], toxicity_scorer="offline")
        sides.append((read, scored))
    (read, scored), twins_of = sides
    return news_tone.level(
        read, scored, inference=stats.InferenceSettings(n_permutations=50), twins=twins_of
    )


TONED = [f"He was {one}. He was {two}." for one, two in zip(TONES, TONES[3:] + TONES, strict=False)]


def test_the_answer_takes_the_place_of_either_human_text() -> None:
    level = replicated(TONED[1:9], TONED[:8], TONED[1:9])
    row = row_of(level.estimates, "bias", measure="sentiment")
    assert row["test"] == "two human texts on one story, 8 articles"
    # It is the second human's word for word: beside the first it adds nothing, beside the second it
    # is 0 where the first lies as far off as the estimate says.
    assert row["excess"] == pytest.approx(-row["estimate"] / 2)
    chance = level.chance[level.chance["statistic"] == "bias"]
    assert set(chance["reference"]) == {"permutation", "replicate"}
    assert chance.loc[chance["reference"] == "permutation", "p_value"].isna().all()
    assert row["p_value"] > 0.9
    same = replicated(TONED[:8], TONED[:8], [said + " " for said in TONED[:8]])
    row = row_of(same.estimates, "bias", measure="sentiment")
    assert row["excess"] == 0 and np.isnan(row["p_value"])  # no article differs


def test_answers_further_off_than_two_humans_are_beyond_the_floor() -> None:
    level = replicated(["He was awful. He was stupid."] * 8, TONED[:8], [*TONED[:7], TONED[2]])
    row = row_of(level.estimates, "bias", measure="sentiment")
    assert row["null"] < row["null_high"] < row["estimate"]
    assert row["p_value"] < row["p_adjusted"] or row["p_adjusted"] == row["p_value"]
    assert row["p_value"] < 0.01
