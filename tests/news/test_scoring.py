"""Scorer bias of tone by counterfactual substitution: raw = corrected + scorer bias."""

import numpy as np
import pandas as pd
import pytest

from nbbias import news, text
from nbbias.news.corpus import NEUTRAL, SENTENCE, distinct_sentences
from nbbias.news.scoring import Scorers
from tests.build import Study, paired, row_of, study_of

BY = Scorers(["textblob", "vader"], "offline")


def corpus(original: str, answer: str) -> pd.DataFrame:
    """Pair one text with another, over several articles that differ by a neutral sentence."""
    ends = [f" It rained {'good ' * i}in May." for i in range(8)]
    return paired(*((answer + end, original + end) for end in ends))


def test_scorer_bias_is_estimated_and_subtracted() -> None:
    """Answers say "black nurse" where the originals have a listed name: nobody is any colder."""
    pairs = corpus("Toni Morrison spoke.", "The black nurse spoke.")
    found = study_of(pairs, lexicon=text.lexicons.expand(text.lexicons.load("race"))).estimates()
    found = found[found["instrument"] == found["instrument"].iloc[0]]
    raw, corrected, alone = (
        row_of(found, f"mean_difference{of}", "Black") for of in ("", "_corrected", "_instrument")
    )
    black = text.sentiment.score(["The black nurse spoke."])["polarity"][0]
    assert raw["estimate"] == pytest.approx(black) and black < -0.1
    # Of three groups one has the word: a third of its polarity is what all have in common.
    assert alone["estimate"] == pytest.approx(black * 2 / 3)
    assert corrected["estimate"] == pytest.approx(black / 3)
    assert raw["n"] == corrected["n"] == alone["n"] == 8


def test_raw_is_corrected_plus_scorer_bias_in_every_row() -> None:
    originals, generations = news.sample.corpus(
        {"even": {}, "colder": {"tone_female": -0.4}}, seed=1
    )
    few = originals["article_id"].unique()[:24]
    pairs = news.pair(originals, generations[generations["article_id"].isin(few)])
    lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
    study = study_of(pairs, lexicon=lexicon, scorers=BY.sentiment)
    found = study.estimates()
    keys = ["model", "measure", "bias", "group", "instrument"]
    checked = 0
    for shift in ("mean_difference", "difference_beyond_neutral"):
        raw, corrected, alone = (
            found[found["statistic"] == shift + of].set_index(keys)["estimate"]
            for of in ("", "_corrected", "_instrument")
        )
        assert not [one for one in alone.index if "masked" in one[-1]]
        both = (corrected + alone).dropna()
        np.testing.assert_allclose(both, raw.reindex(both.index), atol=1e-9)
        checked += len(both)
    assert checked > 20
    # Names and tests: each part is a family of its own, and the raw one is as it was without.
    bare = Study(study.read, study.scored._replace(swaps=None)).estimates()
    kept = found[~found["statistic"].str.contains("_corrected|_instrument")]
    pd.testing.assert_frame_equal(kept.reset_index(drop=True), bare, check_like=True)


def test_swap_effects_of_a_studys_sentences_by_hand() -> None:
    pairs = corpus("She met a poor man. A white nurse came.", "He left. A black nurse came.")
    lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
    read = news.annotate(pairs, lexicon=lexicon)
    scored = news.scoring.score(read, scorers=BY.sentiment, toxicity_scorer=BY.toxicity)
    found = scored.swaps.set_index([*SENTENCE, "bias"])
    words, about = distinct_sentences(read), read.sentences[read.sentences["group"] != NEUTRAL]
    assert len(found) == len(about)
    for row in about.drop_duplicates(["bias", "group"]).itertuples():
        sentence = words[row.text_id, row.sentence_id]
        versions = ["He left.", "She left."]
        if row.bias == "race":
            versions = [f"{who} nurse came." for who in ("A white", "A black", "An Asian")]
        scores = text.sentiment.score(versions)["polarity"]
        own = text.sentiment.score([sentence])["polarity"][0]
        effect = found.loc[(row.text_id, row.sentence_id, row.bias), "sentiment_textblob"]
        assert effect == pytest.approx(own - scores.mean())
