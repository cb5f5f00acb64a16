"""The instruments against direct calls of TextBlob and VADER."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from textblob import TextBlob
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from nbbias import tables
from nbbias.text import sentiment, toxicity
from nbbias.text.instruments import Instrument, list_names

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
both = pytest.mark.parametrize("scorer", ["textblob", "vader"])


@both
def test_polarity_is_that_of_the_library(scorer: str) -> None:
    found = sentiment.score(TEXTS, scorer=scorer)["polarity"]
    assert found.tolist() == [DIRECT[scorer](text) for text in TEXTS]


@both
def test_a_text_without_a_known_word_is_zero_and_says_so(scorer: str) -> None:
    row = sentiment.score(["The box stands on the table."], scorer=scorer).iloc[0]
    assert (row["polarity"], row["n_assessed"]) == (0, 0)


def test_a_balance_of_praise_and_blame_is_told_from_silence() -> None:
    # TextBlob: great 0.8, bad -0.7, and awful -1.0, brilliant 0.9: together 0.
    row = sentiment.score(["great bad awful brilliant"]).iloc[0]
    assert row["polarity"] == pytest.approx(0)
    assert row["n_assessed"] == 4


@both
@pytest.mark.parametrize("blank", [None, np.nan, "", "  \n\t"])
def test_a_blank_text_has_no_polarity(scorer: str, blank: object) -> None:
    found = sentiment.score(["good", blank], scorer=scorer)
    assert found["polarity"].isna().tolist() == [False, True]
    assert found["n_assessed"].tolist()[1] == 0


def test_a_series_keeps_its_index() -> None:
    texts = pd.Series(["good", None, "bad"], index=[7, 3, 7])
    assert sentiment.score(texts).index.tolist() == [7, 3, 7]


def test_known_words_of_vader_are_counted_without_punctuation_and_case() -> None:
    assert sentiment.score(['"GOOD", (bad) table!'], scorer="vader")["n_assessed"].tolist() == [2]


def test_an_emoticon_that_moves_vader_counts_as_known() -> None:
    row = sentiment.score(["The box :)"], scorer="vader").iloc[0]
    assert row["polarity"] > 0
    assert row["n_assessed"] == 1


@pytest.mark.parametrize(
    ("scorer", "name", "package"),
    [("textblob", "TextBlob", "textblob"), ("vader", "VADER", "vaderSentiment")],
)
def test_an_instrument_is_named_with_its_version(scorer: str, name: str, package: str) -> None:
    assert sentiment.instrument(scorer) == f"{name} {version(package)}"


def _shouted(texts: Sequence[str]) -> tuple[list[float], list[int]]:
    return [text.isupper() * 1.0 for text in texts], [1] * len(texts)


def test_a_line_in_the_registry_is_an_instrument(monkeypatch: pytest.MonkeyPatch) -> None:
    shouting = Instrument("Shouting {}", "pandas", lambda: _shouted)
    monkeypatch.setitem(sentiment.INSTRUMENTS, "shouting", shouting)
    scored = sentiment.score(["GOOD", "good"], scorer="shouting")
    assert scored["polarity"].tolist() == [1, 0]
    assert sentiment.instrument("shouting") == f"Shouting {pd.__version__}"
    assert list_names(sentiment.INSTRUMENTS) == "textblob (the papers'), vader, shouting"


def test_the_versions_of_a_run_name_every_instruments_package() -> None:
    used = [*sentiment.INSTRUMENTS.values(), *toxicity.INSTRUMENTS.values()]
    assert {one.package for one in used} <= set(tables.versions())
