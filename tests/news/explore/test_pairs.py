"""What pairs add to an estimate adds up to the estimate, at every level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import corpus, fits, sample, tone, topics, words
from nbbias.news.explore import pairs as inspect_pairs
from nbbias.text import annotate, lexicons
from tests.build import study_of

CELL = ["source", "model", "prompt"]
Tables = dict[str, Any]


@pytest.fixture(scope="module")
def study() -> Tables:
    models = {"even": {}, "fewer-women": {"female": -0.2}}
    originals, generations = sample.corpus(models, seed=5)
    keep = originals["article_id"].unique()[:20]
    generations = generations[generations["article_id"].isin(keep)]
    # One article has two answers of one model.
    again = generations.iloc[[0]].assign(sample=2, text=generations["text"].iloc[3])
    pairs = corpus.pair(originals, pd.concat([generations, again], ignore_index=True))
    lexicon = lexicons.load_all(["gender"])
    return study_of(pairs, lexicon=lexicon).tables()


def adds_up(found: pd.DataFrame, estimates: pd.DataFrame, statistic: str) -> None:
    own = estimates[(estimates["statistic"] == statistic) & (estimates["group"] == "female")]
    expected = own.set_index(CELL)["estimate"]
    total = found.groupby(CELL)["contribution"].sum()
    assert len(expected) == 2
    np.testing.assert_allclose(total[expected.index], expected, atol=1e-12)


def test_words_add_up_with_repeated_answers_pooled(study: Tables) -> None:
    found = inspect_pairs.contributions(study["scores"], group="female")
    estimates = words.estimates(
        study["scores"],
        lexicon=study["read"].lexicon,
        inference=stats.InferenceSettings(n_permutations=100),
    )
    adds_up(found, estimates, "share_difference")
    assert sorted(found["answers"].unique()) == [1, 2]
    assert not found.duplicated([*CELL, "article_id"]).any()


def test_tone_adds_up_for_each_instrument(study: Tables) -> None:
    read = study["read"]
    scored = tone.score(read, scorers=["textblob", "vader"], toxicity_scorer="offline")
    scores = tone.pair_scores(read, scored)
    estimates = tone.estimates(
        scores, read, scored, inference=stats.InferenceSettings(n_permutations=100)
    )
    claims = inspect_pairs.claim_table([scores])
    assert set(claims["instrument"]) == set(scored.measured["instrument"])
    for claim in claims[claims["group"] == "female"].to_dict("records"):
        own = estimates[estimates["instrument"] == claim["instrument"]]
        adds_up(inspect_pairs.of_claim([scores], claim), own, "mean_difference")


def test_topics_add_up_over_fits(study: Tables) -> None:
    read = study["read"]
    how = fits.Fitting(4, [1, 2], threshold=0.5)
    fitted = fits.fit(read, annotate.lemmatize(read.texts), how)
    scores = topics.pair_scores(read, fitted)
    assert scores["difference_female"].notna().any()
    estimates = topics.estimates(scores, lexicon=read.lexicon, inference=stats.InferenceSettings())
    found = inspect_pairs.contributions(scores, group="female")
    adds_up(found, estimates, "share_difference")
    assert not found.duplicated([*CELL, "article_id"]).any()


def scores_of(*differences: float) -> pd.DataFrame:
    n = len(differences)
    return pd.DataFrame(
        {
            "source": "s",
            "model": "m",
            "prompt": "p",
            "article_id": [str(i) for i in range(n)],
            "sample": 1,
            "pair_id": range(n),
            "measure": "sentiment",
            "bias": "gender",
            "instrument": "x",
            "difference_female": differences,
            "reason": pd.Series([None] * n, dtype="str"),
        }
    )


def test_the_rank_is_by_what_raises_the_mean() -> None:
    found = inspect_pairs.contributions(scores_of(0.2, -0.4, np.nan, 0.6), group="female")
    # Three pairs count: a third of each difference.
    assert found["article_id"].tolist() == ["3", "0", "1"]
    assert found["rank"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(found["contribution"], [0.2, 0.2 / 3, -0.4 / 3])


def test_the_outermost_are_on_the_side_that_they_are_on() -> None:
    found = inspect_pairs.contributions(scores_of(0.1, 0.2, 0.0, -0.3), group="female")
    chosen = inspect_pairs.outermost(found, each=3)
    assert chosen[["article_id", "side"]].to_numpy().tolist() == [
        ["1", "raises"],
        ["0", "raises"],
        ["3", "lowers"],
    ]


def test_nothing_counted_is_no_row() -> None:
    assert inspect_pairs.contributions(scores_of(np.nan), group="female").empty
    assert inspect_pairs.contributions(scores_of(), group="female").empty
    assert inspect_pairs.claim_table([scores_of(np.nan)]).empty
    assert inspect_pairs.claim_table([]).empty


def test_sentences_without_scores_have_gaps(study: Tables) -> None:
    one = study["read"].texts.index[0]
    found = inspect_pairs.sentence_scores(study["read"], None, [one], bias="gender", columns={})
    assert (found["text_id"] == one).all()
    assert found["start"].is_monotonic_increasing
    assert found[["sentiment", "toxicity"]].isna().all(axis=None)


def test_a_sentence_carries_the_score_of_the_claims_own_instrument(study: Tables) -> None:
    keys = ["text_id", "sentence_id"]
    scored = (
        study["read"]
        .sentences.drop_duplicates(keys)[keys]
        .assign(
            sentiment_textblob=0.1, sentiment_vader=0.2, sentiment_textblob_masked=0.3, toxicity=0.4
        )
    )
    measured = tone.measures(scored, toxicity_scorer="offline")
    both = tone.Scored(scored, measured)
    labels = measured.set_index("column")["instrument"]
    word = {"measure": "word", "instrument": "lists"}
    unknown = {"measure": "sentiment", "instrument": "another"}
    cases = [
        ({"measure": "sentiment", "instrument": labels[c]}, c, scored[c].iloc[0])
        for c in ("sentiment_vader", "sentiment_textblob_masked", "sentiment_textblob")
    ]
    cases += [(word, "sentiment_textblob", 0.1)]
    for claim, column, value in cases:
        found = inspect_pairs.instruments(both, claim)
        assert found["sentiment"] == (column, labels[column])
        assert found["toxicity"] == ("toxicity", labels["toxicity"])
        said = inspect_pairs.sentence_scores(
            study["read"],
            both,
            [study["read"].texts.index[0]],
            bias="gender",
            columns={name: column for name, (column, _) in found.items()},
        )
        assert (said["sentiment"] == value).all()
        assert (said["toxicity"] == 0.4).all()
    assert "sentiment" not in inspect_pairs.instruments(both, unknown)
