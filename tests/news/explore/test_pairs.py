"""The differences of pairs have the estimate as their mean."""

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import corpus, sample, scoring, tone
from nbbias.news.corpus import CELL
from nbbias.news.explore import pairs
from tests.build import GENDER


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


def test_differences_are_means_with_repeated_answers_pooled(read: corpus.Read) -> None:
    scored = scoring.score(read, scorers=["textblob", "vader"], toxicity_scorer="offline")
    found = tone.level(read, scored, inference=stats.InferenceSettings(n_permutations=100))
    claims = pairs.list_claims(found.units)
    assert set(claims["instrument"]) == set(scored.measured["instrument"])
    estimates = found.estimates.set_index([*pairs.CLAIM, *CELL])["estimate"]
    for claim in claims.to_dict("records"):
        table = pairs.differences(found.units, claim)
        assert not table.duplicated([*CELL, "article_id"]).any()
        means = table.groupby(CELL)["difference"].mean()
        np.testing.assert_allclose(means, estimates[tuple(claim.values())][means.index], atol=1e-12)


def test_a_sentence_carries_the_score_of_the_claims_own_instrument(read: corpus.Read) -> None:
    distinct = read.sentences[corpus.SENTENCE].drop_duplicates()
    values = {"sentiment_textblob": 0.1, "sentiment_vader": 0.2, "toxicity": 0.4}
    scored = distinct.assign(**values)
    kinds = ["sentiment", "sentiment", "toxicity"]
    measured = pd.DataFrame({"column": [*values], "measure": kinds, "instrument": [*values]})
    seen = pairs.Corpus(pd.DataFrame(), read, scoring.Scored(scored, measured))
    text = [read.texts.index[0]]
    blob, vader, _ = values
    for column, measure in ((vader, "sentiment"), (blob, "sentiment"), (blob, "word")):
        claim = {"measure": measure, "bias": "gender", "instrument": column}
        found = pairs.sentence_scores(seen, claim, text)
        assert len(found) and (found["sentiment"] == values[column]).all()
        assert (found["toxicity"] == 0.4).all() and (found["text_id"] == text[0]).all()
    claim = {"measure": "sentiment", "bias": "gender", "instrument": "another"}
    assert "sentiment" not in pairs.sentence_scores(seen, claim, text)
