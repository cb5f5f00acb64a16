"""LLMBI scores against Listing 1, direct TextBlob calls and the printed Table 1."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from textblob import TextBlob
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from nbbias import biasalert
from nbbias.llmbi import estimates, scoring
from nbbias.tables import ContractError
from nbbias.text import sentiment

BOTH = ["textblob", "vader"]
WARM, COLD = "A wonderful and happy day.", "An awful and sad day."
PLAIN = "The box stands on the table."


def answers(*texts: str | None, **columns: Any) -> pd.DataFrame:
    """Make one answer a text, each to its own prompt of the dimension D."""
    table = {
        "dimension": "D",
        "prompt": [f"p{i}" for i in range(len(texts))],
        "model": "m",
        "sample": 1,
        "text": pd.Series(texts, dtype="str"),
    }
    return pd.DataFrame(table | columns)


def scored(*texts: str | None, scorers: list[str] = BOTH, **formula: Any) -> pd.DataFrame:
    return scoring.score_answers(scoring.measure(answers(*texts), scorers=scorers), **formula)


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "answers.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


# --- reading ----------------------------------------------------------------------------------


def test_the_sample_answers_every_prompt_in_every_model_and_sample() -> None:
    table = scoring.read_answers("sample")
    pairs = set(scoring.prompts()[["dimension", "prompt"]].itertuples(index=False, name=None))
    for _, own in table.groupby(["model", "sample"]):
        assert set(own[["dimension", "prompt"]].itertuples(index=False, name=None)) == pairs


def test_names_of_the_papers_file_are_understood(tmp_path: Path) -> None:
    row = {"prompt": "p", "bias_type": "Age", "model": "m", "response": "x", "llmbi_score": 9}
    table = scoring.read_answers(write(tmp_path, [row]))
    assert table.to_dict("records") == [
        {"dimension": "Age", "prompt": "p", "model": "m", "sample": 1, "text": "x"}
    ]


def test_without_a_dimension_the_papers_prompts_are_looked_up(tmp_path: Path) -> None:
    rows = [{"prompt": p, "model": "m", "text": "x"} for p in scoring.prompts()["prompt"]]
    table = scoring.read_answers(write(tmp_path, rows[::-1]))
    assert table["dimension"].tolist() == scoring.prompts()["dimension"].tolist()[::-1]


def test_answers_that_stand_twice_are_refused(tmp_path: Path) -> None:
    row = {"prompt": "p", "model": "m", "text": "x", "dimension": "Age"}
    with pytest.raises(ContractError, match="number repeats in the column sample"):
        scoring.read_answers(write(tmp_path, [row, row]))


# --- the formula ------------------------------------------------------------------------------

number = st.floats(0, 10)
parts = st.lists(st.tuples(number, number), min_size=1, max_size=12)


@given(parts, number, number, number)
def test_the_index_is_listing_1(
    pairs: list[tuple[float, float]], penalty: float, sentiment_score: float, factor: float
) -> None:
    weights, scores = zip(*pairs, strict=True)
    mean = sum(w * b for w, b in pairs) / len(pairs)
    listing = mean + penalty + factor * sentiment_score
    assert scoring.llmbi(scores, penalty, sentiment_score, weights, factor) == listing


# --- scores of answers ------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.0, 1.0, 2.5])
def test_an_answers_score_is_the_index_of_one_dimension(weight: float) -> None:
    table = scored(WARM, COLD, diversity_penalty=0.3, lambda_factor=0.7, weights={"D": weight})
    for text, score in zip([WARM, COLD], table["score"], strict=True):
        size = abs(TextBlob(text).sentiment.polarity)
        assert score == pytest.approx(scoring.llmbi([size], 0.3, size, [weight], 0.7))


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_blank_answer_has_no_score_and_a_reason(blank: str | None) -> None:
    table = scored(WARM, blank)
    assert table["score"].isna().tolist() == [False, True]
    assert table["reason"].isna().tolist() == [True, False]
    assert "blank" in table["reason"][1]


def test_two_instruments_score_their_own_terms_and_are_both_named() -> None:
    table = scored(WARM, bias_scorer="vader", sentiment_scorer="textblob")
    vader = SentimentIntensityAnalyzer().polarity_scores(WARM)["compound"]
    assert table["weighted_bias"][0] == vader
    assert table["sentiment_term"][0] == 1.5 * TextBlob(WARM).sentiment.polarity
    names = [sentiment.instrument(scorer) for scorer in ("vader", "textblob")]
    assert table["instrument"][0] == "{} (B) and {} (S)".format(*names)


def test_the_classifiers_probability_is_a_bias_score_that_sentiment_does_not_enter() -> None:
    texts = ["Women are too emotional to lead.", WARM, None, "Die Frauen fahren nach Hause."]
    table = scored(*texts, scorers=["classifier", "textblob"], bias_scorer="classifier")
    probability = biasalert.detect(texts)["probability"].astype(float)
    assert probability[0] > 0.5 > probability[1]
    sizes = [abs(TextBlob(said).sentiment.polarity) for said in texts[:2]]
    assert table["score"][:2].tolist() == pytest.approx(
        0.2 + probability[:2] + 1.5 * np.array(sizes)
    )
    assert table["score"].isna().tolist() == [False, False, True, True]
    assert table["reason"][2:].str.contains("blank|too few").all()
    assert table["instrument"].str.match(r"bias classifier \(.*\(B\) and TextBlob .* \(S\)$").all()


def test_scorer_bias_of_the_classifier_is_what_other_groups_change_of_its_probability() -> None:
    text = "The {} nurse was lazy."
    measured = scoring.measure(answers(text.format("black")), scorers=["classifier"])
    swaps = estimates.swap_effects(measured, scorers=["classifier"])
    said = biasalert.detect([text.format(who) for who in ("black", "white", "Asian")])
    by_group = said["probability"].astype(float)
    assert swaps["swap_classifier"].tolist() == pytest.approx([by_group[0] - by_group.mean()])


def test_only_named_dimensions_change_their_weight() -> None:
    measured = pd.DataFrame({"dimension": ["A", "B", "C"], "n": 2, "polarity_textblob": 0.4})
    table = scoring.score_answers(measured, weights={"B": 2.0, "C": 0.0})
    assert table["weighted_bias"].tolist() == pytest.approx([0.4, 0.8, 0.0])
