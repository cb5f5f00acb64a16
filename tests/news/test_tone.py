"""Claims about tone against scipy, plain loops and every permutation."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias import stats
from nbbias.news import corpus, tone as news_tone
from nbbias.news.claims import Level
from nbbias.text import lexicons, sentiment
from tests.build import GENDER, Study, paired, row_of, stack, study_of

FOUR = pd.DataFrame(
    [("age", group, group, "word", "any") for group in ("child", "teen", "adult", "elder")],
    columns=["bias", "group", "term", "kind", "case"],
)
LEXICON = pd.concat([GENDER, FOUR], ignore_index=True).assign(language="en")
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


def claims(study: Study) -> Iterator[tuple[dict[str, str], pd.DataFrame, str]]:
    """Every cell, bias and scorer of sentiment: its keys, its scores, each of its groups."""
    keys = ["model", "bias", "instrument"]
    for values, own in study.scores.query("measure == 'sentiment'").groupby(keys, sort=False):
        key = dict(zip(keys, values, strict=True))
        for group in lexicons.groups(study.read.lexicon, key["bias"]):
            yield key, own, group


# --- estimates and tests ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statistic", "column", "moved"),
    [
        ("mean_difference", "difference_", "difference_"),
        ("difference_beyond_neutral", "beyond_neutral_", "alone_"),
    ],
)
def test_differences_are_tested_as_scipy_does(
    study: Study, table: pd.DataFrame, statistic: str, column: str, moved: str
) -> None:
    tested = 0
    for key, own, group in claims(study):
        counted = own[own["reason"].isna() & own[column + group].notna()]
        values = counted[column + group]
        row = row_of(table, statistic, group, **key)
        assert row["estimate"] == pytest.approx(values.mean())
        articles = own["article_id"].nunique()  # the lost answers are of articles that have others
        assert (row["n"], row["n_lost"]) == (len(values), articles - len(values))
        if (counted[f"{moved}{group}"].abs() > 1e-12).sum() < 5:
            assert row["reason"] == "fewer than 5 articles differ in tone"
            continue
        expected = scipy.stats.ttest_1samp(values, 0)
        assert row["p_value"] == pytest.approx(expected.pvalue)
        interval = expected.confidence_interval(0.9)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([interval.low, interval.high])
        tested += 1
    assert tested == {"mean_difference": 24, "difference_beyond_neutral": 17}[statistic]


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
    told = own[own["statistic"] == "mean_difference"]
    assert told["reason"].str.contains("sentences of the group female").all()
    assert (told["n"] == 0).all() and (told["n_lost"] == 5).all()
    assert told["p_adjusted"].isna().all()
    assert table.loc[table["statistic"] == "bias", "estimate"].notna().all()
    # Sentences about men are there, neutral ones are not.
    lacking = row_of(table, "difference_beyond_neutral", "male", instrument=BLOB)
    assert lacking["reason"].endswith("group male alone, and neutral ones, on both sides")
    # The family is the male test alone.
    male = row_of(table, "mean_difference", "male", instrument=BLOB)
    assert (
        table.query("statistic == 'mean_difference' and group == 'male'")["p_value"].notna().all()
    )
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


def replicated(answers: list[str], originals: list[str], second_texts: list[str]) -> Level:
    """The level of stories with two human texts each."""
    pairs = paired(*zip(answers, originals, strict=True))
    further = paired(*zip(second_texts, originals, strict=True), model="human", prompt="-")
    first, second = map(study_of, (pairs, further))
    inference = stats.InferenceSettings(n_permutations=50)
    sides = {"second_texts": second.read, "scored_second": second.scored}
    return news_tone.level(first.read, first.scored, inference=inference, **sides)


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


def test_neutral_sentences_say_by_how_much_wording_is_stronger(
    study: Study, table: pd.DataFrame
) -> None:
    keys, pairs = corpus.SENTENCE, study.read.pairs.query("lost.isna() and model == 'two'")
    named = study.read.sentences.groupby(keys, as_index=False)["n"].sum()
    scores = study.scored.sentences.merge(named[named["n"] == 0], on=keys).set_index("text_id")
    h, o = (
        scores.loc[scores.index.isin(pairs[side]), "sentiment_textblob"].std(ddof=0)
        for side in ("generated_id", "original_id")
    )
    row = table.query("statistic == @news_tone.SPREAD and model == 'two'").iloc[0]
    assert row["estimate"] == pytest.approx(h / o) and row["ci_low"] < h / o < row["ci_high"]
