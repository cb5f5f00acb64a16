"""The scorers of sentiment against direct calls of TextBlob, VADER and a tiny classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from textblob import TextBlob
from transformers import BertForSequenceClassification, BertTokenizer
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from nbbias import tables
from nbbias.tables import DataError
from nbbias.text import sentiment, toxicity
from nbbias.text.instruments import Instrument, list_names
from tests import tiny_bert

TEXTS = [
    "A wonderful day.",
    "The weather was awful, and the food was bad!",
    "The box stands on the table.",
    "Not good at all, but not terrible either.",
]
DIRECT: dict[str, Callable[[str], float]] = {
    "textblob": lambda text: TextBlob(text).sentiment.polarity,
    "vader": lambda text: SentimentIntensityAnalyzer().polarity_scores(text)["compound"],
}


@pytest.mark.parametrize("scorer", ["textblob", "vader"])
def test_polarity_is_that_of_the_library_text_by_text(scorer: str) -> None:
    texts = pd.Series([*TEXTS, None, "", "  \n\t", TEXTS[0]], index=[7, 3, 7, 1, 2, 3, 0, 9])
    table = sentiment.score(texts, scorer=scorer)
    direct = [DIRECT[scorer](text) for text in TEXTS]
    expected = [*direct, np.nan, np.nan, np.nan, direct[0]]
    assert table["polarity"].tolist() == pytest.approx(expected, abs=0, nan_ok=True)
    assert table.index.tolist() == texts.index.tolist()
    # A text without a known word is 0 and says so.
    assert (table["n_assessed"] > 0).tolist() == [True, True, False, True, *[False] * 3, True]


@pytest.mark.parametrize(
    ("scorer", "text", "n"),
    [
        ("textblob", "great bad awful brilliant", 4),  # a balance of praise and blame
        ("vader", '"GOOD", (bad) table!', 2),
        ("vader", "The box :)", 1),
    ],
)
def test_known_words_are_counted(scorer: str, text: str, n: int) -> None:
    assert sentiment.score([text], scorer=scorer)["n_assessed"].tolist() == [n]


def _shouted(texts: Sequence[str]) -> tuple[list[float], list[int]]:
    return [text.isupper() * 1.0 for text in texts], [1] * len(texts)


def test_a_line_in_the_registry_is_an_instrument(monkeypatch: pytest.MonkeyPatch) -> None:
    shouting = Instrument("Shouting {}", "pandas", lambda: _shouted)
    monkeypatch.setitem(sentiment.INSTRUMENTS, "shouting", shouting)
    scored = sentiment.score(["GOOD", "good"], scorer="shouting")
    assert scored["polarity"].tolist() == [1, 0]
    assert sentiment.instrument("shouting") == f"Shouting {pd.__version__}"
    assert sentiment.instrument("vader") == f"VADER {version('vaderSentiment')}"
    assert list_names(sentiment.INSTRUMENTS) == "textblob (the papers'), vader, shouting"


def test_the_versions_of_a_run_name_every_instruments_package() -> None:
    used = [*sentiment.INSTRUMENTS.values(), *toxicity.INSTRUMENTS.values()]
    assert {instrument.package for instrument in used} <= set(tables.versions())


# --- classifiers ------------------------------------------------------------------------------

WORDS = ["good", "bad", "the", "nurse", "spoke", "well", "."]
SHORT = ["The nurse spoke well.", "bad", "The nurse was good. Bad nurse.", "good good bad"]
LONGEST = 64


def save(folder: Path, labels: list[str]) -> str:
    tiny_bert.save(folder, WORDS, labels=labels, max_position_embeddings=LONGEST)
    return str(folder)


def probabilities(folder: str, text: str) -> np.ndarray:
    """The probabilities of the labels, by the model itself."""
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = BertTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = model(**tokenizer(text, return_tensors="pt", truncation=True)).logits[0]
    return torch.softmax(logits, dim=0).numpy()


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        (["NEGATIVE", "NEUTRAL", "POSITIVE"], (-1, 0, 1)),
        (["Very Positive", "Negative", "Neutral", "Positive", "neg"], (1, -1, 0, 1, -1)),
    ],
)
def test_polarity_is_the_probability_of_positive_minus_that_of_negative(
    tmp_path: Path, labels: list[str], weights: tuple[int, ...]
) -> None:
    folder = save(tmp_path, labels)
    texts = [*SHORT, "good bad nurse " * LONGEST]  # the last is longer than the model reads
    expected = [probabilities(folder, text) @ np.array(weights) for text in texts]
    assert np.ptp(expected) > 0.01
    series = pd.Series([*texts, None, texts[0]], index=[5, 4, 3, 4, 1, 0, 2])
    table = sentiment.score(series, scorer=folder)
    polarity = [*expected, np.nan, expected[0]]
    assert table["polarity"].tolist() == pytest.approx(polarity, abs=1e-6, nan_ok=True)
    words = [len(text.split()) for text in texts]
    assert table["n_assessed"].tolist() == [*words, 0, words[0]]
    assert table.index.tolist() == series.index.tolist()
    name = f"classifier {tmp_path.name} (transformers {version('transformers')})"
    assert sentiment.instrument(folder) == name


@pytest.mark.parametrize("labels", [["positive", "other"], ["anger", "negative"]])
def test_labels_that_lack_positive_or_negative_are_refused_by_name(
    tmp_path: Path, labels: list[str]
) -> None:
    with pytest.raises(DataError, match=f"'pos' and one with 'neg'.* {', '.join(labels)}"):
        sentiment.score(SHORT, scorer=save(tmp_path, labels))


def test_a_folder_without_a_classifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be loaded as a text classifier"):
        sentiment.score(SHORT, scorer=str(tmp_path))
