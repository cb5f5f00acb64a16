"""Simulated studies of news against the studies themselves, given the same corpora."""

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.calibration import corpora, news as trials
from nbbias.calibration.corpora import GROUPS, Corpus
from nbbias.calibration.trials import Design, seeded
from nbbias.news import corpus, scoring, tone, words
from nbbias.news.corpus import Read
from tests.build import row_of, topic_estimates
from tests.calibration.toy import assert_same

INFERENCE = stats.InferenceSettings(n_permutations=2, seed=3)
LEXICON = pd.DataFrame(
    [(bias, group, group, "word") for bias, groups in GROUPS.items() for group in groups],
    columns=["bias", "group", "term", "kind"],
)


def read_alike(sample: Corpus) -> tuple[Read, scoring.Scored]:
    """The same corpus as the study reads it."""
    n, texts, _ = sample.tone.shape
    number = np.arange(n * texts).reshape(n, texts)
    at = np.argwhere(~np.isnan(sample.tone))
    sentences = pd.DataFrame(
        {
            "text_id": number[tuple(at[:, :2].T)],
            "sentence_id": at[:, 2],
            "start": 0,
            "end": 1,
            "sentiment_textblob": sample.tone[tuple(at.T)],
        }
    )
    found = []
    for bias, groups in GROUPS.items():
        for i, group in enumerate(groups):
            times = sample.words[bias][(*at.T, i)]
            own = sentences.loc[np.repeat(sentences.index, times), ["text_id", "sentence_id"]]
            found.append(own.assign(bias=bias, group=group, term=group, kind="word", start=0))
    matches = pd.concat(found, ignore_index=True).sort_values(["text_id", "sentence_id"])
    matches = matches.reset_index(drop=True)
    rows = [
        ("s", "m", "p", f"{j}", k, *number[j, [texts - 1, k]])
        for j in range(n)
        for k in range(texts - 1)
    ]
    names = ["source", "model", "prompt", "article_id", "sample", "original_id", "generated_id"]
    pairs = pd.DataFrame(rows, columns=names).assign(pair_id=range(len(rows)))
    pairs["lost"] = pd.Series(pd.NA, pairs.index, dtype="str")
    grouped = corpus.grouped(
        sentences[["text_id", "sentence_id", "start", "end"]], matches, lexicon=LEXICON
    )
    scored = sentences.drop(columns=["start", "end"])
    read = Read(pairs, pd.Series(dtype=str), grouped, matches, LEXICON)
    columns = [name for name in scored if name.startswith("sentiment_")]
    measured = pd.DataFrame({"column": columns, "measure": "sentiment", "instrument": "a scorer"})
    return read, scoring.Scored(scored, measured)


@pytest.mark.parametrize(("scenario", "n"), [("uneven", 30), ("runs", 10)])
@pytest.mark.parametrize("level", ["words", "tone"])
def test_words_and_tone_are_those_of_the_study(level: str, scenario: str, n: int) -> None:
    design, rng = Design(scenario, n, 12, -0.1), seeded(Design(scenario, n, 12, -0.1), 3)
    answers = corpora.SCENARIOS[scenario].answers
    shifts = {"share": [0.0] * answers, "tone": [0.0] * answers}
    shifts["share" if level == "words" else "tone"] = [-0.1] * answers
    read, scored = read_alike(corpora.simulate(rng, design, **shifts))
    if level == "words":
        found = words.level(read, inference=INFERENCE).estimates
        rows = list(trials.words(seeded(design, 3), design, 0.95))
    else:
        found = tone.level(read, scored, inference=INFERENCE).estimates
        rows = list(trials.tone(seeded(design, 3), design, 0.95))
    assert list(dict.fromkeys(row["group"] for row in rows)) == ["female", "Black"]
    for row in rows:
        assert_same(row, row_of(found, row["statistic"], row["group"]))


def test_omissions_are_those_of_the_study() -> None:
    design = Design("terse", 60, 12, 0.0)
    read, _ = read_alike(corpora.simulate(seeded(design, 3), design, share=[0.0], tone=[0.0]))
    found = words.level(read, inference=INFERENCE).estimates
    (row,) = trials.omissions(seeded(design, 3), design, 0.95)
    assert np.isfinite(row["p_value"])
    assert_same(row, row_of(found, "omission_difference", "female"))
    assert trials._true_omission(design._replace(effect=0.3, n=2000)) == pytest.approx(
        0.3, abs=0.05
    )


# --- documents --------------------------------------------------------------------------------


def scores_of(shares: np.ndarray) -> pd.DataFrame:
    """SCORES of the document level, of two answers to each story of a corpus."""
    n, _, fits = shares.shape
    rows = [
        (f"{i}", 2 * i + k, f, shares[i, k, f], shares[i, 2, f])
        for i in range(n)
        for k in range(2)
        for f in range(fits)
    ]
    table = pd.DataFrame(rows, columns=["article_id", "pair_id", "seed", "h_female", "o_female"])
    for side in "ho":
        table[f"{side}_male"] = 1 - table[f"{side}_female"]
    d = table["h_female"] - table["o_female"]
    cell = {"source": "s", "model": "m", "prompt": "p", "bias": "gender", "measure": "document"}
    table = table.assign(**cell, instrument="LDA", sample=1, content_h=1.0, content_o=1.0)
    table = table.assign(score=d.abs(), difference_female=d, difference_male=-d)
    return table.assign(reason=pd.Series("none", table.index, dtype="str").where(d.isna()))


@pytest.mark.parametrize("scenario", ["gaps", "topics"])
def test_documents_are_those_of_the_study(scenario: str) -> None:
    design, lexicon = Design(scenario, 30, 12, -0.1), LEXICON[LEXICON["bias"] == "gender"]
    (row,) = trials.documents(seeded(design, 3), design, 0.95)
    scores = scores_of(trials.fitted(seeded(design, 3), design))
    real = topic_estimates(scores, lexicon=lexicon, inference=INFERENCE)
    assert_same(row, row_of(real, "share_difference", "female"))
