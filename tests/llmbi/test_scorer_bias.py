"""Scorer bias of the index: what exchanging the groups of an answer changes, by hand."""

import numpy as np
import pandas as pd
import pytest

from nbbias.llmbi import estimates, scoring
from nbbias.text import sentiment
from tests.llmbi.test_scoring import answers


def swaps_of(*texts: str | None) -> pd.DataFrame:
    measured = scoring.measure(answers(*texts), scorers=["textblob", "vader"])
    return estimates.swap_effects(measured, scorers=["textblob", "vader"])


def size(text: str) -> float:
    return abs(float(sentiment.score([text])["polarity"][0]))


def test_an_answer_counts_as_the_mean_over_the_groups_that_could_stand_there() -> None:
    found = swaps_of("The black nurse spoke.", "A good day.", None)
    sizes = [size(f"The {who} nurse spoke.") for who in ("black", "white", "Asian")]
    assert sizes[0] > 0.1
    assert found["swap_textblob"].tolist() == pytest.approx([sizes[0] - np.mean(sizes), 0, 0])
    assert found["named"].tolist() == [1, 0, 0]


def test_what_is_left_is_the_same_whoever_is_named() -> None:
    texts = [f"A warm {who} nurse gave a great speech." for who in ("black", "white", "Asian")]
    left = [size(text) for text in texts] - swaps_of(*texts)["swap_textblob"].to_numpy()
    np.testing.assert_allclose(left, left[0], atol=1e-9)


def test_effects_of_two_lists_add_up() -> None:
    """The other list's words stay as they are written while one's are exchanged."""
    text = "The {} nurse met {} in May."
    found = swaps_of(text.format("black", "gay people"), text.format("black", "her"))
    assert found["named"].tolist() == [2, 2]
    own = size(text.format("black", "gay people"))
    races = [size(text.format(who, "gay people")) for who in ("black", "white", "Asian")]
    others = [own, size(text.format("black", "heterosexual people"))]
    expected = own - np.mean(races) + own - np.mean(others)
    assert own != np.mean(others) and found["swap_textblob"][0] == pytest.approx(expected)
    alone = swaps_of("The black nurse met us in May.")["swap_textblob"][0]
    assert found["swap_textblob"][1] == pytest.approx(alone)  # "her" and "him" have no polarity
