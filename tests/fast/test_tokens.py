"""Texts by pieces against spaCy's reading of each whole, on texts made to trip tokenisers."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st

from nbbias.fast import tokens
from nbbias.text import lexicons, pipeline

LEXICON = lexicons.expand(lexicons.load_all(["gender", "race"], paths={}, names_path="sample"))
NAMES = LEXICON[LEXICON["kind"] == "name"].groupby("group").head(5)
LEXICON = pd.concat([LEXICON[LEXICON["kind"] != "name"].groupby(["bias", "group"]).head(40), NAMES])

RULES = ["''", ":(", ":)", "(:", "Mr.", "p.m.", "'em", "He's", ":'(", "8)", "don't", "end.Next"]
WORDS = ["She", "he", "white", "non", "-", "–", "Black", "men", *".!”’'\"()"]
GAPS = ["", "", " ", " ", "\n", "\n\n", "\n \n", "\t", "\u00a0", "\u200b", "\u2028"]

ugly = st.lists(
    st.tuples(st.sampled_from(WORDS + RULES) | st.text(max_size=3), st.sampled_from(GAPS)),
    max_size=20,
).map(lambda parts: "".join(word + gap for word, gap in parts))


def compare(texts: list[str]) -> None:
    """Sentences, group words and lemmas are those of spaCy, to the row."""
    expected = (*pipeline.annotate(texts, LEXICON), pipeline.lemmatize(texts))
    for table, plain in zip(
        (*tokens.annotate(texts, LEXICON), tokens.lemmatize(texts)), expected, strict=True
    ):
        pd.testing.assert_frame_equal(
            table.astype(object), plain.astype(object), check_column_type=False
        )


@settings(max_examples=25, deadline=None)
@given(st.lists(ugly, max_size=5))
@example(["he said : (' ' ) :)", "non-white\n\n-white –Black non Black", "", " \n", "a", "a"])
@example(["' '' '", "She left.He came.”\n\nmen", "İ ΣΑΣ ﬁ", "x" * 300])
@example(["\n\n. White man! (He.) She\n \n\n  “Hi.” non-white teacher", "white\n\nman", "x \n"])
def test_a_text_by_pieces_is_that_text_read_whole(texts: list[str]) -> None:
    compare(texts)


def test_many_texts_of_the_tokenisers_own_rules() -> None:
    rng = random.Random(0)
    words = [*LEXICON["term"], *pipeline.load_pipeline().tokenizer.rules, *WORDS]
    texts = []
    for _ in range(150):
        drawn = rng.choices(words, k=rng.randint(1, 40))
        texts.append("".join(word + rng.choice([" ", " ", " ", *GAPS]) for word in drawn))
    compare(texts)


def test_only_doubtful_texts_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    annotate = pipeline.annotate

    def spy(texts: list[str], lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        read.extend(texts)
        return annotate(texts, lexicon)

    monkeypatch.setattr(pipeline, "annotate", spy)
    torn, whole = ["she: x:) )", "it ' ' '"], ["It's (she), he.", "Mr. (X) at 5 p.m. - he"]
    tokens.annotate([*torn, *whole], LEXICON)
    assert set(read) <= set(torn)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["bold/bold_prompts", "news/fang2024_headlines", "news/llmfake_originals"]
)
def test_shared_texts_are_the_same_either_way(name: str) -> None:
    table = pd.read_parquet(Path(os.environ["NBBIAS_DATA"]) / f"{name}.parquet")
    strings = {value for column in table for value in table[column] if isinstance(value, str)}
    batch = sorted(text for text in strings if len(text) > 25)[:2000]
    assert len(batch) > 500
    compare(batch)
