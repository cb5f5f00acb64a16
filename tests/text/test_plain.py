"""Texts by pieces against spaCy's reading of each whole, on texts made to trip tokenisers."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pandas as pd
import pytest
from benchmarks import fuzz
from hypothesis import example, given, settings, strategies as st

from nbbias.text import annotate, lexicons, plain, tokeniser, tokens, topics

LEXICON = lexicons.expand(lexicons.load_all(["gender", "race"], paths={}, names_path="sample"))
LEXICON = LEXICON[LEXICON["kind"] != "name"].groupby(["bias", "group"]).head(40)

RULES = ["''", ":(", ":)", "(:", "Mr.", "p.m.", "'em", "He's", ":'(", "8)", "don't", "end.Next"]
SAID = [
    "She",
    "he",
    "white",
    "non",
    "-",
    "–",
    "Black",
    "men",
    ".",
    "!",
    "”",
    "’",
    "'",
    '"',
    "(",
    ")",
]
GAPS = ["", "", " ", " ", "\n", "\n\n", "\t", "\u00a0", "\u200b", "\u2028"]

ugly = st.lists(
    st.tuples(st.sampled_from(SAID + RULES) | st.text(max_size=3), st.sampled_from(GAPS)),
    max_size=20,
).map(lambda parts: "".join(word + gap for word, gap in parts))


@settings(max_examples=60, deadline=None)
@given(st.lists(ugly, max_size=5))
@example(["he said : (' ' ) :)", "non-white\n\n-white –Black non Black", "", " \n", "a", "a"])
@example(["' '' '", "She left.He came.”\n\nmen", "İ ΣΑΣ ﬁ", "x" * 300])
def test_a_text_by_pieces_is_that_text_read_whole(texts: list[str]) -> None:
    assert fuzz.group_words(texts, LEXICON)
    assert fuzz.lemmas(texts, LEXICON)


def test_many_texts_of_the_tokenisers_own_rules() -> None:
    rules = list(plain.pipeline().tokenizer.rules)
    texts = fuzz.texts(random.Random(0), LEXICON["term"].tolist(), rules)
    assert fuzz.group_words(texts, LEXICON)
    assert fuzz.lemmas(texts, LEXICON)


def test_only_texts_in_doubt_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = plain.search

    def spy(texts: list[str], found: dict) -> tuple[list, list]:
        read.extend(texts)
        return real(texts, found)

    monkeypatch.setattr(plain, "search", spy)
    torn, whole = ["she: x:) )", "it '' '"], ["It's (she) : (he).", "Mr. (X) at 5 p.m. - he"]
    annotate.annotate(pd.Series([*torn, *whole]), LEXICON)
    assert set(read) <= set(torn)


def test_letters_that_are_blanked_are_gone_and_all_others_stand() -> None:
    texts = ["Sie sagte: „Männer“ 😀 men", "", "he"]
    found = tokeniser.blanked(
        texts, pd.Series([2, 0]).to_numpy(), pd.DataFrame([[0, 2], [12, 18]]).to_numpy()
    )
    assert found == [texts[0][:12] + " " * 6 + texts[0][18:], "", "  "]


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["bold/bold_prompts", "news/fang2024_headlines", "news/llmfake_originals"]
)
def test_shared_texts_are_the_same_either_way(name: str) -> None:
    table = pd.read_parquet(Path(os.environ["NBBIAS_DATA"]) / f"{name}.parquet")
    said = {one for column in table for one in table[column] if isinstance(one, str)}
    batch = sorted(one for one in said if len(one) > 25)[:2000]
    assert len(batch) > 500
    assert fuzz.group_words(batch, LEXICON) and fuzz.lemmas(batch, LEXICON)


def test_no_texts_have_no_words() -> None:
    assert tokens.lists(topics.tokens(pd.Series([None, ""], dtype=object))).tolist() == [[], []]
