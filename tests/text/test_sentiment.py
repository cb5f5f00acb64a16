"""The scorers of sentiment against direct calls of TextBlob and VADER."""

import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from textblob import TextBlob
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

import nbbias
from nbbias import tables
from nbbias.text import sentiment, toxicity
from nbbias.text.instruments import Instrument

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


def test_the_combined_score_is_the_mean_of_standardised_scores() -> None:
    prose = pd.read_json(Path(nbbias.__file__).parent / "data/neutral_prose.jsonl", lines=True)
    sentences = [part for text in prose["text"] for part in re.split(r"(?<=[.!?])\s+", text)]
    scores = {name: sentiment.score(sentences, scorer=name)["polarity"] for name in DIRECT}
    deviations = sentiment.COMBINED
    assert {name: round(values.std(), 2) for name, values in scores.items()} == deviations
    standardised = sum(values / deviations[name] for name, values in scores.items()) / 2
    largest = sum(1 / deviation for deviation in deviations.values()) / 2
    combined = sentiment.score(sentences, scorer="combined")
    assert combined["polarity"].tolist() == pytest.approx((standardised / largest).tolist())
    known = [sentiment.score(sentences, scorer=name)["n_assessed"] for name in DIRECT]
    assert combined["n_assessed"].tolist() == np.maximum(*known).tolist()


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
    assert sentiment.score(["GOOD", "good"], scorer="shouting")["polarity"].tolist() == [1, 0]
    assert sentiment.instrument("shouting") == f"Shouting {pd.__version__}"
    assert sentiment.instrument("vader") == f"VADER {version('vaderSentiment')}"


def test_the_versions_of_a_run_name_every_instruments_package() -> None:
    used = [*sentiment.INSTRUMENTS.values(), *toxicity.INSTRUMENTS.values()]
    assert {instrument.package for instrument in used} <= set(tables.versions())
