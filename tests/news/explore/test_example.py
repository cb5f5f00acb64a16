"""The pair of texts in a page's body: of the model that is shown, in the finding's direction."""

import re

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.news import corpus, sample, words
from nbbias.news.explore import example
from nbbias.news.explore.pairs import Corpus
from tests.build import GENDER, word_estimates

FOCUS = {"gender": "female"}


@pytest.fixture(scope="module")
def read() -> corpus.Read:
    originals, generations = sample.corpus({"even": {}, "fewer-women": {"female": -0.3}}, seed=5)
    keep = originals["article_id"].unique()[:20]
    generations = generations[generations["article_id"].isin(keep)]
    return corpus.annotate(corpus.pair(originals, generations), lexicon=GENDER)


@pytest.fixture(scope="module")
def scores(read: corpus.Read) -> pd.DataFrame:
    return words.pair_scores(read)


@pytest.fixture(scope="module")
def declared(scores: pd.DataFrame) -> pd.DataFrame:
    inference = stats.InferenceSettings(n_permutations=100)
    found = word_estimates(scores, lexicon=GENDER, inference=inference)
    return found[(found["statistic"] == "share_difference") & (found["group"] == "female")]


def test_the_pair_is_of_the_model_that_is_shown_and_of_its_direction(
    read: corpus.Read, scores: pd.DataFrame, declared: pd.DataFrame
) -> None:
    p = np.where(declared["model"] == "fewer-women", 0.001, 1.0)
    rows = declared.assign(p_adjusted=p)
    made = example.example(Corpus([scores], read), declared=rows, focus=FOCUS)
    assert made is not None
    html = re.sub(r"<style>.*?</style>", "", str(made.data), flags=re.DOTALL)
    assert "<strong>fewer-women</strong>" in html and "<strong>even</strong>" not in html
    assert (
        "share of gendered words: −" in html and "percentage points, generated minus human" in html
    )
    assert "<mark " in html and "x-score" not in html and "<details" not in html


def test_two_answers_differ_by_what_the_prompt_changes(
    read: corpus.Read, scores: pd.DataFrame, declared: pd.DataFrame
) -> None:
    asked = {"even": "neutral", "fewer-women": "biased"}
    rows = declared.assign(statistic="share_difference_change", model="m", p_adjusted=0.001)
    prompts = {name: name for name in asked.values()}
    table = scores.assign(prompt=scores["model"].map(asked), model="m")
    made = example.answers(Corpus([table], read), declared=rows, prompts=prompts)
    shown = re.search(
        r"words: −([\d.]+) percentage points, biased minus neutral", str(made and made.data)
    )
    wide = table.pivot(index="article_id", columns="prompt", values="difference_female")
    most = 100 * (wide["neutral"] - wide["biased"]).nlargest(5)
    assert shown and float(shown[1]) in most.round(1).tolist()


def test_texts_that_nobody_scored_are_closed_unless_they_are_simulated(
    read: corpus.Read, scores: pd.DataFrame, declared: pd.DataFrame
) -> None:
    real = read._replace(pairs=read.pairs.assign(source="CNN"))
    scores, rows = (one.assign(source="CNN") for one in (scores, declared))
    made = example.example(Corpus([scores], real), declared=rows, focus=FOCUS)
    assert made is not None and "<details><summary>Two texts that may hold" in made.data


def test_without_a_pair_that_counts_there_is_no_example(
    read: corpus.Read, scores: pd.DataFrame
) -> None:
    nothing = tables.estimates([], study="news_bias")
    none = Corpus([scores.iloc[:0]], read)
    assert example.example(none, declared=nothing, focus=FOCUS) is None
    prompts = {"neutral": "neutral", "biased": "biased"}
    assert example.answers(none, declared=nothing, prompts=prompts) is None


def test_of_the_five_furthest_on_one_side_the_shortest_is_chosen() -> None:
    rng = np.random.default_rng(1)
    found = pd.DataFrame({"difference": rng.normal(size=40), "length": rng.permutation(40)})
    for sign in (-1, 1):
        five = found.sort_values("difference", ascending=sign < 0).head(5)
        assert example.shortest(found, sign=sign)["length"] == five["length"].min()
