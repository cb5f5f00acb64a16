"""Repeated answers to one article are one unit at every level, against means and sums by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import claims, corpus, measured, sample, shares, words
from nbbias.news.explore import lexicon
from tests.build import GENDER, row_of, word_estimates

CELL = {"source": "s", "model": "m", "prompt": "p", "bias": "b", "instrument": "list"}


def scores_of(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"reason": None, **columns}).assign(**CELL)


def test_columns_are_summed_or_averaged_over_the_answers_that_count() -> None:
    values = {"h_a": [1.0, 2, 3, 5], "x_a": [0.2, 0.5, 0.4, np.nan]}
    scores = scores_of(article_id=[*"1211"], **values, reason=[None, None, None, "no x"])
    pooling = claims.Pooling({"h_": "sum", "x_": "mean"})
    found = claims.per_article(scores, pooling).set_index("article_id")
    assert found["h_a"].to_dict() == {"1": 4, "2": 2}
    assert found["x_a"].to_dict() == pytest.approx({"1": 0.3, "2": 0.5})
    also = claims.per_article(scores, pooling._replace(usable=["no x"])).set_index("article_id")
    assert also.loc["1", "h_a"] == 9


def test_an_article_is_lost_where_all_its_answers_are_and_keeps_its_place() -> None:
    reasons = ["first", None, "second", None]
    scores = scores_of(article_id=[*"2121"], x_a=[np.nan, 0.1, np.nan, 0.3], reason=reasons)
    found = claims.per_article(scores, claims.Pooling({"x_": "mean"}))
    assert found["article_id"].tolist() == ["2", "1"]
    assert found["reason"].fillna("").tolist() == ["first", ""]


def test_a_cell_is_made_of_articles_and_of_pairs_only_where_that_is_said() -> None:
    scores = scores_of(article_id=["1", "1", "2"], x_a=[0.1, 0.3, 0.5])
    pooling = claims.Pooling({"x_": "mean"})
    assert [len(own) for _, own in claims.cells(scores, pooling)] == [2]
    assert [len(own) for _, own in claims.cells(scores, None)] == [3]


def twice() -> corpus.Read:
    """Two models, every article answered twice."""
    originals, first = sample.corpus({"m": {"female": -0.2}, "n": {}}, seed=1)
    _, second = sample.corpus({"m": {"female": -0.2}, "n": {}}, seed=2)
    both = pd.concat([first, second.assign(sample=2)], ignore_index=True)
    both = both[both["article_id"].isin(originals["article_id"].unique()[:24])]
    return corpus.annotate(corpus.pair(originals, both), lexicon=GENDER)


def test_leaving_out_a_word_and_comparing_models_use_the_estimates_own_units() -> None:
    read = twice()
    scores = words.pair_scores(read)
    inference = stats.InferenceSettings(n_permutations=1)
    result = shares.estimate(scores, pooling=words.pooling, lexicon=GENDER, inference=inference)
    found = result.estimates
    changes = lexicon.without_each_term(scores, read)
    compared = measured.compare_models(result, focus={}, confidence=0.95)
    she = read.matches[read.matches["term"] != "she"]
    without = words.pair_scores(read._replace(matches=she))
    expected = word_estimates(without, lexicon=GENDER, inference=inference)
    key = {"statistic": "share_difference", "group": "female"}
    chosen = changes[(changes["term"] == "she") & (changes["group"] == "female")]
    for own in chosen.to_dict("records"):
        row = row_of(found, model=own["model"], **key)
        assert row["n"] <= 24
        assert own["estimate"] == pytest.approx(row["estimate"], abs=1e-9)
        again = row_of(expected, model=own["model"], **key)
        assert own["without"] == pytest.approx(again["estimate"])
    assert compared["articles"].max() <= 24 and set(compared["model"]) == {"m", "n"}


def test_a_family_is_a_measure_and_statistic_over_all_biases_and_mirror_images_count_once() -> None:
    row = {"statistic": "share_difference", "estimate": 0.1, "model": "m", "measure": "word"}
    p = {"female": 0.01, "male": 0.01, "White": 0.02, "Black": 0.03, "Asian": 0.5}
    rows = [
        row | {"group": group, "p_value": value, "bias": "gender" if "male" in group else "race"}
        for group, value in p.items()
    ]
    found = claims.tested(rows, ["share_difference"], confidence=0.95).estimates
    found = found.set_index("group")
    # Four tests: .01 x 4, .02 x 3, .03 x 2, .5.
    expected = {"female": 0.04, "male": 0.04, "White": 0.06, "Black": 0.06, "Asian": 0.5}
    assert found["p_adjusted"].to_dict() == pytest.approx(expected)
