"""A Hugging Face classifier as an instrument of sentiment."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from nbbias.tables import DataError
from nbbias.text import sentiment

WORDS = ["good", "bad", "the", "nurse", "spoke", "well", "."]
TEXTS = ["The nurse spoke well.", "bad", "The nurse was good. Bad nurse.", "good good bad"]
LONGEST = 64


def save_classifier(folder: Path, labels: list[str]) -> Path:
    """Save a tiny classifier with random weights."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(vocabulary), model_max_length=LONGEST).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=LONGEST,
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def chances(folder: Path, text: str) -> np.ndarray:
    """The probabilities of the labels, by the model itself."""
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = BertTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = model(**tokenizer(text, return_tensors="pt", truncation=True)).logits[0].numpy()
    return np.exp(logits) / np.exp(logits).sum()


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        (["NEGATIVE", "NEUTRAL", "POSITIVE"], (-1, 0, 1)),
        (["pos", "neg"], (1, -1)),
        (["Very Negative", "Negative", "Neutral", "Positive", "Very Positive"], (-1, -1, 0, 1, 1)),
    ],
)
def test_polarity_is_the_probability_of_positive_minus_that_of_negative(
    tmp_path: Path, labels: list[str], weights: tuple[int, ...]
) -> None:
    folder = save_classifier(tmp_path, labels)
    expected = [chances(folder, text) @ np.array(weights) for text in TEXTS]
    assert np.ptp(expected) > 0.01
    found = sentiment.score(TEXTS, scorer=str(folder))
    assert found["polarity"].tolist() == pytest.approx(expected, abs=1e-6)
    assert found["polarity"].abs().max() <= 1
    assert found["n_assessed"].tolist() == [len(text.split()) for text in TEXTS]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("tone"), ["NEGATIVE", "NEUTRAL", "POSITIVE"])


def test_order_repeats_index_and_blanks_are_kept(classifier: Path) -> None:
    texts = pd.Series(["bad", None, "good", " ", "bad"], index=[5, 4, 3, 4, 1])
    found = sentiment.score(texts, scorer=str(classifier))
    bad, good = sentiment.score(["bad", "good"], scorer=str(classifier))["polarity"]
    assert found["polarity"].tolist() == pytest.approx(
        [bad, np.nan, good, np.nan, bad], nan_ok=True
    )
    assert found.index.tolist() == texts.index.tolist()
    assert found["n_assessed"].tolist() == [1, 0, 1, 0, 1]


def test_a_text_longer_than_the_model_reads_is_cut_off(classifier: Path) -> None:
    text = "good bad nurse " * LONGEST
    found = sentiment.score([text], scorer=str(classifier))["polarity"].item()
    negative, _, positive = chances(classifier, text)
    assert found == pytest.approx(positive - negative, abs=1e-6)


@pytest.mark.parametrize(
    "labels", [["LABEL_0", "LABEL_1"], ["positive", "other"], ["anger", "negative"]]
)
def test_labels_that_lack_positive_or_negative_are_refused_by_name(
    tmp_path: Path, labels: list[str]
) -> None:
    folder = save_classifier(tmp_path, labels)
    with pytest.raises(DataError, match=f"'pos' and one with 'neg'.* {', '.join(labels)}"):
        sentiment.score(TEXTS, scorer=str(folder))


def test_a_folder_without_a_classifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be loaded as a text classifier"):
        sentiment.score(TEXTS, scorer=str(tmp_path))


def test_a_classifier_is_named_by_its_folder_and_the_library(classifier: Path) -> None:
    name = f"classifier {classifier.name} (transformers {version('transformers')})"
    assert sentiment.instrument(str(classifier)) == name
