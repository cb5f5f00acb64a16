"""The pair of texts in a page's body: of the model that is shown, in the finding's direction."""

import re

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.news import corpus, sample, shares, words
from nbbias.news.explore import example, pairs
from nbbias.news.explore.pairs import Corpus
from tests.build import GENDER

FOCUS = {"gender": "female"}


Study = tuple[corpus.Read, tables.Estimated]


@pytest.fixture(scope="module")
def study() -> Study:
    originals, generations = sample.corpus({"even": {}, "fewer-women": {"female": -0.3}}, seed=5)
    keep = originals["article_id"].unique()[:20]
    generations = generations[generations["article_id"].isin(keep)]
    read = corpus.annotate(corpus.pair(originals, generations), lexicon=GENDER)
    settings = {"lexicon": GENDER, "inference": stats.InferenceSettings(n_permutations=100)}
    return read, shares.estimate(words.pair_scores(read), pooling=words.pooling, **settings)


def declared(found: tables.Estimated) -> pd.DataFrame:
    rows = found.estimates.query("statistic == 'share_difference' and group == 'female'")
    return rows.assign(p_adjusted=np.where(rows["model"] == "fewer-women", 0.001, 1.0))


def shown(read: corpus.Read, found: tables.Estimated) -> str:
    made = example.example(Corpus(found.units, read), declared=declared(found), focus=FOCUS)
    return re.sub(r"<style>.*?</style>", "", str(made and made.data), flags=re.DOTALL)


def test_the_pair_is_of_the_model_that_is_shown_and_of_its_direction(study: Study) -> None:
    html = shown(*study)
    assert re.findall("<strong>(.*?)</strong>", html) == ["Human", "fewer-women"]
    assert (
        "share of gendered words: −" in html and "percentage points, generated minus human" in html
    )
    assert "<mark " in html and "x-score" not in html and "<details" not in html


def test_two_answers_differ_by_what_the_prompt_changes(study: Study) -> None:
    read, found = study
    asked = {"even": "neutral", "fewer-women": "biased"}
    units = found.units.query("statistic == 'share_difference' and group == 'female'")
    wide = units.pivot(index="unit", columns="model", values="value")
    change = (wide["fewer-women"] - wide["even"]).rename("value").reset_index()
    key = units.iloc[0][["source", *pairs.CLAIM]].to_dict()
    key |= {"statistic": "share_difference_change", "model": "m", "prompt": "biased − neutral"}
    key |= {"study": "biased_prompts"}
    rows = pd.DataFrame([key | {"p_adjusted": 0.001, "confidence": 0.95, "reason": None}])
    table = read.pairs.assign(prompt=read.pairs["model"].map(asked), model="m")
    both = Corpus(change.assign(**key), read._replace(pairs=table))
    prompts = {name: name for name in asked.values()}
    made = example.answers(both, declared=rows, prompts=prompts)
    size = re.search(r"−([\d.]+) percentage points, biased minus neutral", str(made and made.data))
    most = -100 * change["value"].nsmallest(5)
    assert size and float(size[1]) in most.round(1).tolist()


def test_texts_that_nobody_scored_are_closed_unless_they_are_simulated(study: Study) -> None:
    read, found = study
    real = read._replace(pairs=read.pairs.assign(source="CNN"))
    cnn = tables.Estimated(*(table.assign(source="CNN") for table in found))
    assert "<details><summary>Two texts that may hold" in shown(real, cnn)


def test_without_a_pair_that_counts_there_is_no_example(study: Study) -> None:
    read, found = study
    nothing = tables.estimates([], study="news_bias")
    none = Corpus(found.units.iloc[:0], read)
    assert example.example(none, declared=nothing, focus=FOCUS) is None
    prompts = {"neutral": "neutral", "biased": "biased"}
    assert example.answers(none, declared=nothing, prompts=prompts) is None


def test_of_the_five_furthest_on_one_side_the_shortest_is_chosen() -> None:
    rng = np.random.default_rng(1)
    found = pd.DataFrame({"difference": rng.normal(size=40), "length": rng.permutation(40)})
    for sign in (-1, 1):
        five = found.sort_values("difference", ascending=sign < 0).head(5)
        assert example.shortest(found, sign=sign)["length"] == five["length"].min()
