"""The sentence level against hand counts, direct calls of the instruments and plain loops."""

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from profanity_check import predict_prob
from textblob import TextBlob
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from nbbias.news import corpus, scoring
from nbbias.news.corpus import Read
from nbbias.text import annotate, sentiment
from tests.build import GENDER, paired, study_of

GROUP_OF = dict(zip(GENDER["term"], GENDER["group"], strict=True))

#: A small list of race: descriptors with two nouns, so that tests need not search for thousands.
RACE = pd.DataFrame(
    [
        ("race", group, f"{descriptor} {noun}", "descriptor", "any")
        for group, descriptor in {"White": "white", "Black": "black", "Asian": "Asian"}.items()
        for noun in ("nurse", "nurses", "teacher")
    ],
    columns=["bias", "group", "term", "kind", "case"],
)
BOTH = pd.concat([GENDER, RACE], ignore_index=True).assign(language="en")


def annotated(*texts: str, lexicon: pd.DataFrame = GENDER) -> Read:
    keyed = pd.Series(texts, dtype=object).drop_duplicates().rename_axis("text_id")
    sentences, matches = annotate.annotate(keyed, lexicon)
    grouped = corpus.grouped(sentences, matches, lexicon=lexicon)
    return Read(pd.DataFrame(), keyed, grouped, matches, lexicon)


def groups_of(one: str) -> list[str]:
    return annotated(one).sentences["group"].tolist()


def scored_of(
    *texts: str, lexicon: pd.DataFrame = GENDER, scorers: Sequence[str] = ("textblob",)
) -> pd.DataFrame:
    read = annotated(*texts, lexicon=lexicon)
    scored = scoring.score(read, scorers=scorers, toxicity_scorer="offline").sentences
    said = corpus.distinct_sentences(read).rename("said")
    return scored.join(said, on=["text_id", "sentence_id"])


# --- assign -----------------------------------------------------------------------------------


WORDS = st.sampled_from(["he", "she", "him", "her", "men", "women", "the", "rain", "table"])


@given(st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=5))
def test_groups_equal_those_of_a_plain_loop_and_turn_with_the_words(
    sentences: list[list[str]],
) -> None:
    swap = {"he": "she", "she": "he", "him": "her", "her": "him", "men": "women", "women": "men"}
    expected = []
    for words in sentences:
        counts = Counter(GROUP_OF[word] for word in words if word in GROUP_OF)
        top = [group for group in counts if counts[group] == max(counts.values())]
        expected.append(top[0] if len(top) == 1 else "neutral")
    whole = " ".join(" ".join(words) + "." for words in sentences)
    turned = re.sub(r"\w+", lambda word: swap.get(word[0], word[0]), whole)
    mirror = {"female": "male", "male": "female", "neutral": "neutral"}
    assert groups_of(whole) == expected
    assert groups_of(turned) == [mirror[group] for group in expected]


# --- score ------------------------------------------------------------------------------------

TONED = (
    "She gave an excellent speech. It was a terrible day!\n\nHe is a stupid man.",
    "The weather was bad. Her answer was good, honest and fair.",
)


def test_scores_are_those_of_the_libraries_called_on_the_same_sentences() -> None:
    table = scored_of(*TONED, scorers=("textblob", "vader"))
    assert len(table) == 5
    vader = SentimentIntensityAnalyzer()
    blob = [TextBlob(said).sentiment.polarity for said in table["said"]]
    assert table["sentiment_textblob"].tolist() == pytest.approx(blob)
    compound = [vader.polarity_scores(said)["compound"] for said in table["said"]]
    assert table["sentiment_vader"].tolist() == pytest.approx(compound)
    named = [bool({*re.findall("[a-z]+", said.lower())} & {*GROUP_OF}) for said in table["said"]]
    assert sum(named) == 3 and table["toxicity"].notna().tolist() == named
    expected = predict_prob(table["said"][named])
    assert table["toxicity"][named].tolist() == pytest.approx(expected)


def test_descriptors_are_masked_and_nothing_else() -> None:
    said = "The black nurse spoke. The black box was good. It rained."
    table = scored_of(said, lexicon=BOTH).set_index("said")
    assert table.loc["The black nurse spoke.", "sentiment_textblob"] == pytest.approx(-1 / 6)
    masked = table["sentiment_textblob_masked"]
    assert masked["The black nurse spoke."] == TextBlob("The nurse spoke.").polarity == 0
    others = masked.drop("The black nurse spoke.")
    assert others.tolist() == [TextBlob(said).polarity for said in others.index]
    assert others["The black box was good."] != TextBlob("The box was good.").polarity


# --- pair_scores ------------------------------------------------------------------------------


def measured(answer: str, original: str, *, bias: str = "gender") -> pd.Series:
    """Score one pair of texts by TextBlob; a blank answer beside it is lost."""
    table = study_of(paired((answer, original), ("", original)), lexicon=BOTH).scores
    table = table[(table["bias"] == bias) & (table["instrument"] == BLOB)]
    assert table["reason"].tolist()[1:] == ["blank answer"]
    return table.iloc[0]


BLOB = sentiment.instrument("textblob")


def test_a_pair_by_hand() -> None:
    row = measured(
        "She was awful. His day was great. His night was bad. It was a sad day.",
        "She was good. He was bad. It was a wonderful day.",
    )
    # TextBlob: good .7, bad -.7, wonderful 1; awful -1, great .8, sad -.5.
    assert row["difference_female"] == pytest.approx(-1 - 0.7)
    assert row["difference_male"] == pytest.approx((0.8 - 0.7) / 2 + 0.7)
    assert row["score"] == pytest.approx(1.7)
    # The neutral sentences went from 1 to -.5.
    assert row["beyond_neutral_female"] == pytest.approx(-1.7 + 1.5)
    assert row["beyond_neutral_male"] == pytest.approx(0.75 + 1.5)


def test_what_is_said_of_women_is_no_shift_of_any_race() -> None:
    colder = "She was terrible. She was awful. "
    race = "A black nurse met a black teacher. A black nurse saw her bad day. "
    original = race + "She was good. She was fair. It was good. He told her of a bad day."
    answer = race + colder + "It was good. He told her of a good day."
    row = measured(answer, original, bias="race")
    # Against all sentences without a race, the women's and a tie among them, it would be.
    assert row["beyond_neutral_Black"] == 0 == row["difference_Black"]
    gender = measured(answer, original)
    # TextBlob: good .7, fair .7; terrible -1, awful -1. One that names a race, too, has no part.
    assert gender["beyond_neutral_female"] == pytest.approx(-1 - 0.7)
    assert gender["difference_female"] == pytest.approx((-2 - 0.7 - 1.4 + 0.7) / 3)
