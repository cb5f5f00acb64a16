"""Polarity by pieces against the libraries themselves, on texts made to tear and to join."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from textblob._text import ABBREVIATIONS, EMOTICONS
from textblob.en import sentiment as textblob
from vaderSentiment.vaderSentiment import BOOSTER_DICT, NEGATE, SPECIAL_CASES

from nbbias.text import blob, vader
from nbbias.text.pieces import Vocabulary

textblob.load()

#: What either library has a rule for, whole and as single characters.
SAID = [
    *sorted(textblob)[::40],
    "really",
    "very",
    "not",
    "no",
    "never",
    "n't",
    "kind",
    "of",
    "black",
    *NEGATE,
    *BOOSTER_DICT,
    *SPECIAL_CASES,
    "least",
    "at",
    "but",
    "BUT",
    "or",
    "nor",
    "without",
    "doubt",
    "so",
    "this",
    "GOOD",
    "Bad",
    "awful",
    "great",
    "terribly",
    "is",
    "a",
    *sorted(ABBREVIATIONS),
    *(one for kind in EMOTICONS.values() for one in sorted(kind)),
    "END-OF-SENTENCE",
    "(in",
    "2018)",
    "max",
    "D",
    "(",
    "!",
    ")",
    "(!)",
    "!!!",
    "?",
    "??",
    "????",
    "...",
    ".",
    ",",
    "'",
    '"',
    "\N{RIGHT SINGLE QUOTATION MARK}",
    "\N{LEFT DOUBLE QUOTATION MARK}",
    "it's",
    "don't",
    "X",
    "\N{SMILING FACE WITH OPEN MOUTH}",
    "\N{BROKEN HEART}",
    "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}",
    "\N{KELVIN SIGN}",
    "-",
    "=",
    ":",
    ";",
    "*",
    "8",
    "3",
    "/",
    "\\",
    "^",
    ">",
    "<3",
    "a-00193480",
]
GAPS = [
    "",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "\N{NO-BREAK SPACE}",
    "\x1c",
    "\N{ZERO WIDTH SPACE}",
    "\u2028",
]

ugly = st.lists(
    st.tuples(st.sampled_from(SAID) | st.text(max_size=4), st.sampled_from(GAPS)), max_size=25
).map(lambda parts: "".join(word + gap for word, gap in parts))

Read = Callable[[Sequence[str]], tuple[np.ndarray, np.ndarray]]
#: One of each for all cases: what one text taught must not change another.
BLOB, VADER = blob.Blob(), vader.Vader()
both = pytest.mark.parametrize(
    ("ours", "plain"), [(BLOB, blob.plain), (VADER, vader.plain)], ids=["textblob", "vader"]
)


def alike(texts: Sequence[str], ours: Read, plain: Callable[[str], tuple[float, int]]) -> None:
    polarity, known = ours(texts)
    expected = [plain(text) for text in texts]
    assert polarity.tolist() == pytest.approx([one for one, _ in expected], rel=0, abs=1e-12)
    assert known.tolist() == [n for _, n in expected]


@both
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(ugly, max_size=4))
@example(texts=["Not a very good day (in 2018) , it was : (", "the max D was good", ": ' ("])
@example(texts=["Really not good ! Not really good!! ( ! ) :) !", "so BAD but so BAD but bad"])
@example(texts=[": Sn't it", "> : Dn't", "= Dn't good"])
@example(texts=["", " ", "END-OF-SENTENCE good\n\nEND-OF-SENTENCE :\n\n)"])
def test_ugly_texts_score_as_the_library_scores_them(texts, ours, plain):  # type: ignore[no-untyped-def]
    alike(texts, ours, plain)


@both
def test_many_texts_of_the_libraries_own_words(ours: Read, plain: Callable[..., tuple]) -> None:
    rng = random.Random(1)
    texts = [" ".join(rng.choices(SAID, k=rng.randint(1, 40))) for _ in range(1500)]
    texts += ["x" * 4000 + "!", "good" * 1500, "(" * 300 + ":" + ")" * 300, "." * 500 + "bad"]
    alike(texts, ours, plain)


def test_only_texts_whose_pieces_might_join_are_left_to_textblob(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(blob, "plain", lambda text: (read.append(text) or 0.0, 0))
    torn = ["It was (2018) ; )", "she : D", ": - ) oh", "sure ( !)", "all of 8 )"]
    whole = ["It was (2018).", "The D: she", "a:b (good)!", "8), 9)", "music ) max D ."]
    blob.Blob()([*torn, *whole])
    assert read == [*torn, whole[-1]]


def test_a_piece_is_analysed_once() -> None:
    seen: list[str] = []
    named = ["a", "b", "c"]
    vocabulary = Vocabulary(
        lambda piece: seen.append(piece) or piece, lambda known, new: [*known, *new], list[str]()
    )
    texts = ["a b a", "", "c\n\na  b "] * 30_000
    for _ in range(2):
        ids, starts, known = vocabulary.read(texts)
        assert known == seen == named
        assert np.diff(starts).tolist() == [3, 0, 3] * 30_000
        assert [named[i] for i in ids[:6]] == ["a", "b", "a", "c", "a", "b"]
    ids, starts, known = vocabulary.read([])
    assert len(ids) == 0 and starts.tolist() == [0] and known == named
