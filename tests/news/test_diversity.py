"""How alike texts about a group are: by hand, at equal length, and where a group is flattened."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import ttest_ind

from nbbias import news
from tests.build import encode_as, paired, random_vector


def vector(text: str) -> np.ndarray:
    return random_vector(text) + 3 * np.eye(8)[0] * ("again" in text)


@pytest.fixture(autouse=True)
def simulated_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    encode_as(monkeypatch, vector)


def estimated(originals: Sequence[str], generated: Sequence[str]) -> pd.DataFrame:
    pairs = paired(*zip(generated, originals, strict=True))
    read = news.annotate(pairs, lexicon=news.lexicon(["gender"]))
    rows = news.diversity.estimate(read, confidence=0.95).estimates
    return rows.set_index(["statistic", "group"])


def test_texts_about_a_group_are_compared_at_equal_length() -> None:
    originals = [f"She has {n} oranges today" for n in range(5)] + [f"He is {n}" for n in range(4)]
    of_women, of_men = (
        [f"She ate {n} and left" for n in range(5)],
        [f"He had {n}" for n in range(4)],
    )
    generated = of_women + [f"{text} plums" for text in of_men]
    rows = estimated([*originals, "She met him"], [*generated, "He met her"])  # the last is a tie

    def mean(texts: list[str]) -> float:
        return float(pdist(np.array([vector(text) for text in texts]), "cosine").mean())

    women, men = (mean(of_women), mean(originals[:5])), (mean(of_men), mean(originals[5:]))
    for group, expected in (("female", women), ("male", men)):
        shown = rows.loc[("diversity", group), ["estimate", "null"]]
        assert shown.tolist() == pytest.approx(expected)
    difference = rows.loc["diversity_difference"]["estimate"]
    assert difference["female"] == pytest.approx(women[0] - women[1])
    beyond = rows.loc["diversity_difference_beyond_others"]
    expected = difference["female"] - difference["male"]
    assert beyond["estimate"].tolist() == pytest.approx([expected, -expected])
    assert rows.loc["diversity_difference", "n"].tolist() == [5, 4]


def test_a_flattened_group_is_found_and_no_other() -> None:
    her, his = [[f"{who} saw {n}" for n in range(30)] for who in ("She", "He")]
    generated = [*(f"She again {n}" for n in range(30)), *(f"He met {n}" for n in range(30))]
    rows = estimated([*her, *his], generated)
    assert rows.loc[("diversity_difference", "female"), "ci_high"] < 0
    ends = rows.loc[("diversity_difference", "male"), ["ci_low", "ci_high"]]
    assert ends.iloc[0] < 0 < ends.iloc[1]
    assert (rows.loc["diversity_difference_beyond_others", "p_adjusted"] < 0.01).all()


def test_articles_about_a_group_are_compared_with_all_others() -> None:
    values = pd.Series(np.random.default_rng(4).normal(size=9), index=list("abcdefghi"))
    naming = np.arange(9) < 4
    row = news.claims.compare_articles(values, naming, confidence=0.95)
    welch = ttest_ind(values[naming], values[~naming], equal_var=False)
    assert (row["statistic_value"], row["p_value"]) == pytest.approx(welch)


def test_groups_without_articles_have_a_reason() -> None:
    for generated in (["He left"] * 2, ["It rained"] * 2):
        rows = estimated(["He came", "He saw"], generated)
        assert rows["estimate"].isna().all() and rows["reason"].notna().all()
