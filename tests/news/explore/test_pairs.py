"""The differences of pairs have the estimate as their mean, at every level."""

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import corpus, fits, sample, scoring, tone, topics, words
from nbbias.news.explore import pairs
from nbbias.text import annotate
from tests.build import GENDER, topic_estimates, word_estimates

CELL = ["source", "model", "prompt"]
INFERENCE = stats.InferenceSettings(n_permutations=100)


@pytest.fixture(scope="module")
def read() -> corpus.Read:
    models = {"even": {}, "fewer-women": {"female": -0.2}}
    originals, generations = sample.corpus(models, seed=5)
    keep = originals["article_id"].unique()[:20]
    generations = generations[generations["article_id"].isin(keep)]
    # One article has two answers of one model.
    again = generations.iloc[[0]].assign(sample=2, text=generations["text"].iloc[3])
    both = corpus.pair(originals, pd.concat([generations, again], ignore_index=True))
    return corpus.annotate(both, lexicon=GENDER)


def is_mean(table: pd.DataFrame, estimates: pd.DataFrame, statistic: str) -> None:
    rows = estimates[(estimates["statistic"] == statistic) & (estimates["group"] == "female")]
    expected = rows.set_index(CELL)["estimate"]
    total = table.groupby(CELL)["difference"].mean()
    assert len(expected) == 2 and not table.duplicated([*CELL, "article_id"]).any()
    np.testing.assert_allclose(total[expected.index], expected, atol=1e-12)


def test_words_and_tone_are_means_with_repeated_answers_pooled(read: corpus.Read) -> None:
    scores = words.pair_scores(read)
    estimates = word_estimates(scores, lexicon=GENDER, inference=INFERENCE)
    is_mean(pairs.differences(scores, group="female"), estimates, "share_difference")
    scored = scoring.score(read, scorers=["textblob", "vader"], toxicity_scorer="offline")
    scores = tone.pair_scores(read, scored)
    estimates = tone.estimates(scores, read, scored, inference=INFERENCE).estimates
    claims = pairs.list_claims([scores])
    assert set(claims["instrument"]) == set(scored.measured["instrument"])
    for claim in claims[claims["group"] == "female"].to_dict("records"):
        rows = estimates[estimates["instrument"] == claim["instrument"]]
        is_mean(pairs.differences_of([scores], claim), rows, "mean_difference")


def test_topics_are_means_over_fits(read: corpus.Read) -> None:
    how = fits.Fitting(4, [1, 2], threshold=0.5)
    scores = topics.pair_scores(read, fits.fit(read, annotate.lemmatize(read.texts), how))
    estimates = topic_estimates(scores, lexicon=GENDER, inference=INFERENCE)
    is_mean(pairs.differences(scores, group="female"), estimates, "share_difference")


def scores_of(*differences: float) -> pd.DataFrame:
    n = len(differences)
    table = pd.DataFrame({"article_id": [str(i) for i in range(n)], "pair_id": range(n)})
    table = table.assign(source="s", model="m", prompt="p", sample=1, measure="sentiment")
    reason = pd.Series([None] * n, dtype="str")
    return table.assign(bias="b", instrument="x", difference_female=differences, reason=reason)


def test_pairs_that_do_not_count_have_no_difference() -> None:
    table = pairs.differences(scores_of(0.2, -0.4, np.nan, 0.6), group="female")
    assert table["article_id"].tolist() == ["0", "1", "3"]
    np.testing.assert_allclose(table["difference"], [0.2, -0.4, 0.6])
    assert pairs.differences(scores_of(np.nan), group="female").empty
    assert pairs.list_claims([scores_of(np.nan)]).empty


def test_a_sentence_carries_the_score_of_the_claims_own_instrument(read: corpus.Read) -> None:
    keys = ["text_id", "sentence_id"]
    distinct = read.sentences.drop_duplicates(keys)[keys]
    values = {"sentiment_textblob": 0.1, "sentiment_vader": 0.2, "toxicity": 0.4}
    scored = distinct.assign(**values)
    kinds = ["sentiment", "sentiment", "toxicity"]
    measured = pd.DataFrame({"column": [*values], "measure": kinds, "instrument": [*values]})
    seen = pairs.Corpus([], read, scoring.Scored(scored, measured))
    labels = measured.set_index("column")["instrument"]
    text = [read.texts.index[0]]
    for column, measure in (
        ("sentiment_vader", "sentiment"),
        ("sentiment_textblob", "sentiment"),
        ("sentiment_textblob", "word"),
    ):
        claim = {"measure": measure, "bias": "gender", "instrument": labels[column]}
        found = pairs.sentence_scores(seen, claim, text)
        assert len(found) and (found["sentiment"] == values[column]).all()
        assert (found["toxicity"] == 0.4).all() and (found["text_id"] == text[0]).all()
    claim = {"measure": "sentiment", "bias": "gender", "instrument": "another"}
    assert "sentiment" not in pairs.sentence_scores(seen, claim, text)
