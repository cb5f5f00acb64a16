"""Words and directions: chosen on one half, tested on the other; by hand, by size, and planted."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from nbbias import news
from nbbias.news import discovery
from nbbias.reading.tables import show
from tests.build import encode_as, paired, random_vector
from tests.hostile import SCRIPT

WORD, DIRECTION = discovery.FAMILIES


@pytest.fixture(autouse=True)
def simulated_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences with the word "tearful" point elsewhere; all others differ by noise alone."""

    def vector(text: str) -> np.ndarray:
        return random_vector(text) / 2 + 3 * np.eye(8)[int("tearful" in text)]

    encode_as(monkeypatch, vector)


def corpus(originals: Sequence[str], generated: Sequence[str]) -> news.Read:
    pairs = paired(*zip(generated, originals, strict=True))
    pairs = pairs.assign(article_id=pairs["article_id"].str.zfill(3))  # whose order is the texts'
    return news.annotate(pairs, lexicon=news.lexicon(["gender"]))


def estimated(read: news.Read, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    result, shown = discovery.estimate(read, seed=seed, confidence=0.95)
    return result.estimates, shown


def text(rng: np.random.Generator, her: str, his: str) -> str:
    """Sentences about women and men, of which a random half holds a word that is given."""
    words = ["brisk", "later", "report", "quiet", "harbour", "market"]
    drawn = [*rng.choice(words, 8), *(word if rng.random() < 0.5 else "" for word in (her, his))]
    return (
        f"She saw a {drawn[0]} {drawn[1]} {drawn[8]} place. He saw a {drawn[2]} {drawn[9]} one. "
        f"She was {drawn[3]} or {drawn[4]} again. He was {drawn[5]} or {drawn[6]} {drawn[7]}."
    )


def test_the_variance_is_robust_to_clusters_as_that_of_statsmodels() -> None:
    rng = np.random.default_rng(5)
    group, others = (pd.DataFrame(rng.normal(size=(12, 2)), range(at, at + 12)) for at in (0, 5))
    values = discovery.beyond_others(discovery.Shifts(group, others))
    both = pd.concat([group.assign(about=1.0), others.assign(about=0.0)])
    for word in (0, 1):
        model = sm.OLS(both[word], sm.add_constant(both["about"]))
        options = {"groups": both.index, "use_correction": False}
        fitted = model.fit(cov_type="cluster", cov_kwds=options)
        small = np.sqrt(len(values) / (len(values) - 1))
        expected = [fitted.params["about"], fitted.bse["about"] * small]
        assert [values[word].mean(), values[word].sem()] == pytest.approx(expected)


def test_rates_are_compared_by_hand() -> None:
    pairs = [("She ran. She sat. He ran.", "She sat. He ran. He sat.")] * 12
    more = ("She sat. He sat.", "She sat. He ran."), ("She ran. He sat.", "She ran. He sat.")
    pairs += more * 6
    numbered = [[f"{said} It was day {at}." for said in pair] for at, pair in enumerate(pairs)]
    read = corpus(*zip(*numbered, strict=True))
    rows = estimated(read)[0].set_index("dimension")
    half = ~discovery.halve(range(24), seed=1)
    # Rate of "ran": women's 0 - 1/2, men's 1/2 - 1; then 0 and 1; then no difference.
    hers = np.array([-0.5] * 12 + [0.0] * 12)[half]
    his = np.array([-0.5] * 12 + [1.0, 0.0] * 6)[half]
    assert rows.loc["ran", "estimate"] == pytest.approx(hers.mean() - his.mean())
    assert rows.loc["ran", "n"] == 12


def test_a_word_in_which_fewer_than_five_articles_differ_is_not_tested() -> None:
    none = pd.DataFrame(np.zeros(12))
    for n in (4, 5):
        some = pd.DataFrame([0.5, -0.5, 1.0, 0.2, 0.3][:n] + [0.0] * (12 - n))
        row = discovery.confirm(discovery.Shifts(some, none), confidence=0.95)
        assert np.isnan(row["p_value"]) == (n < 5)


def test_a_planted_word_is_confirmed_and_one_in_all_sentences_is_not() -> None:
    rng = np.random.default_rng(0)
    originals = [text(rng, "", "") for _ in range(80)]
    read = corpus(originals, [text(rng, "tearful", "") for _ in range(80)])
    found, shown = estimated(read)
    rows = found.set_index("dimension")
    assert rows.index[rows["p_adjusted"] < 0.05].tolist() == ["tearful", discovery.DIRECTION]
    assert rows.loc["tearful", "estimate"] == pytest.approx(0.25, abs=0.1)
    shown = shown[shown["dimension"] == "tearful"]
    places = pd.MultiIndex.from_frame(shown[["text_id", "sentence_id"]])
    said = news.corpus.distinct_sentences(read).loc[places]
    assert len(said) == discovery.SHOWN and said.str.contains("tearful").all()
    assert news.sentences.discovered(found).startswith("One of")

    both = corpus(originals, [text(rng, "tearful", "tearful") for _ in range(80)])
    assert not (estimated(both)[0]["p_adjusted"] < 0.05).any()


def test_the_second_half_has_no_effect_on_what_is_chosen() -> None:
    rng = np.random.default_rng(3)
    originals, generated = ([text(rng, "tearful", "") for _ in range(60)] for _ in range(2))
    halves = zip(generated, discovery.halve(range(60), seed=1), strict=True)
    others = [said if first else text(rng, "", "tearful") for said, first in halves]
    both = (corpus(originals, said) for said in (generated, others))
    tables = [estimated(read)[0] for read in both]
    words = [table.loc[table["statistic"] == WORD, "dimension"].tolist() for table in tables]
    assert words[0] == words[1] and len(words[0]) == discovery.TESTED
    assert not np.allclose(tables[0]["estimate"], tables[1]["estimate"])


@pytest.mark.parametrize(
    ("originals", "generated"),
    [
        (["She left."] * 20, ["She came."] * 20),  # nobody else is named
        (["It rained."] * 20, ["It snowed."] * 20),
        (["She met him. He left."], ["He met her. She left."]),
        ([" "] * 20, ["She met him."] * 20),
    ],
)
def test_without_articles_there_is_a_reason(originals: list[str], generated: list[str]) -> None:
    read = corpus(originals, generated)
    rows, shown = estimated(read)
    assert rows["p_value"].isna().all() and rows["reason"].notna().all()
    assert "could not be tested" in news.sentences.discovered(rows)
    assert news.tables.discovered(read, rows, shown).empty


def test_what_is_shown_is_text() -> None:
    rng = np.random.default_rng(0)
    originals = [text(rng, "", "") for _ in range(80)]
    read = corpus(originals, [text(rng, f"tearful {SCRIPT}", "") for _ in range(80)])
    page = show(news.tables.discovered(read, *estimated(read)), title="").data
    assert "tearful" in page and "generated" in page and "<script" not in page
