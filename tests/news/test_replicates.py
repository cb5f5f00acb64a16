"""What two texts differ by anyway: by hand, against another way, and over many corpora."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st

from nbbias import stats
from nbbias.news import claims, corpus, replicates, sample, scoring, tone, words
from nbbias.news.replicates import ANSWERS, BOTH, KINDS, ORIGINALS, Article
from tests.build import GENDER, row_of, study_of

A, B, C = (np.array(one) for one in ([[2, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]], [[0, 2]]))


def excess(articles: list[Article], kind: str) -> np.ndarray:
    return replicates.compare(articles, kind, words.compare)[:, 0]


# --- two texts at the length of a third -------------------------------------------------------


def cut_words(base: np.ndarray, text: np.ndarray, beside: np.ndarray) -> float:
    size = min(len(text), len(beside))
    cuts = [text[at : at + size].sum(axis=0) for at in range(len(text) - size + 1)]
    whole = base.sum(axis=0)
    return np.mean([np.abs(whole / whole.sum() - cut / cut.sum()).sum() / 2 for cut in cuts])


@given(data=st.data(), groups=st.integers(1, 5))
def test_shares_of_cuts_are_those_of_plain_numpy(data: st.DataObject, groups: int) -> None:
    sentence = st.lists(st.integers(0, 3), min_size=groups, max_size=groups).filter(any)
    texts = [np.array(data.draw(st.lists(sentence, min_size=1, max_size=9))) for _ in range(3)]
    assert words.compare(*texts) == pytest.approx([cut_words(*texts)])


def cut_tone(base: np.ndarray, text: np.ndarray, beside: np.ndarray) -> float:
    """The mean, over every choice of a run of each group, of the largest difference."""
    by_group = []
    for group in np.unique(base[:, 0]):
        own, other = (one[one[:, 0] == group, 1] for one in (base, text))
        size = min(len(other), (beside[:, 0] == group).sum())
        if size:
            runs = [other[at : at + size].mean() for at in range(len(other) - size + 1)]
            by_group.append([abs(own.mean() - run) for run in runs])
    return np.mean([max(one) for one in product(*by_group)]) if by_group else np.nan


@given(data=st.data())
def test_the_largest_of_cuts_is_that_of_every_choice_of_them(data: st.DataObject) -> None:
    sentence = st.tuples(st.integers(0, 2), st.floats(-1, 1).map(lambda x: round(x, 2)))
    drawn = [data.draw(st.lists(sentence, max_size=8)) for _ in range(3)]
    texts = [np.array(one, dtype=float).reshape(-1, 2) for one in drawn]
    np.testing.assert_allclose(tone.compare(*texts), [cut_tone(*texts)], atol=1e-12)


# --- one story by hand ------------------------------------------------------------------------


def test_the_other_text_is_cut_to_the_twins_length_over_all_places() -> None:
    # Answer B, originals A and C. Beside A, C of one sentence: B's cuts (1, 0), (0, 1), (1, 1)
    # against A's 2/3: 1/3, 2/3, 1/6, mean 7/18; C's one cut: 2/3. Beside C, second A of two
    # sentences: B's cuts (1, 1), (1, 2) against 0: 1/2, 1/3, mean 5/12; A's one cut: 2/3.
    expected = (7 / 18 - 2 / 3 + 5 / 12 - 2 / 3) / 2
    assert excess([Article([B], [A, C])], ORIGINALS) == pytest.approx([expected])
    # A model asked twice: the same the other way round; both sides weigh the same.
    assert excess([Article([A, C], [B])], ANSWERS) == pytest.approx([expected])
    article = [Article([A, C, B], [A, B])]
    both, human, model = (excess(article, kind) for kind in (BOTH, ORIGINALS, ANSWERS))
    assert both == pytest.approx((human + model) / 2)
    assert excess([Article([B], [B, B])] * 3, ORIGINALS) == pytest.approx(np.zeros(3))


def test_the_best_kind_that_enough_stories_have_is_chosen() -> None:
    both, humans = Article([A, C], [A, B]), Article([C], [A, B])
    twice, once = Article([A, C], [A]), Article([C], [A])
    chosen = [replicates.choose([one] * 3) for one in (both, humans, twice, once)]
    assert chosen == [*KINDS, None]
    assert replicates.choose([both] * 9 + [once] * 20) is None
    assert replicates.choose([both] * 10 + [once] * 20) == BOTH


def test_the_range_and_p_are_those_of_a_t_test() -> None:
    values = np.array([0.1, 0.0, 0.2, 0.05])
    excess = stats.one_sample(values, confidence=0.9)
    level = replicates.exceed(0.4, excess, reach=1)
    test = scipy.stats.ttest_1samp(values, 0, alternative="greater")
    ends = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert level["p_value"] == pytest.approx(test.pvalue)
    assert level["null"] == pytest.approx(0.4 - values.mean())
    assert level["null_low"] == pytest.approx(0.4 - ends.high)
    assert level["null_high"] == pytest.approx(0.4 - ends.low)
    assert replicates.exceed(0.01, excess, reach=1)["null_low"] == 0


# --- permutation ------------------------------------------------------------------------------

ANSWER, ORIGINAL = np.array([[2, 0], [0, 1], [1, 1]]), np.array([[1, 1], [0, 3]])
SETTINGS = stats.InferenceSettings(n_permutations=20_000, seed=1)


def every_split(h: np.ndarray, o: np.ndarray, distance: object) -> np.ndarray:
    both = np.vstack([h, o])
    chosen = combinations(range(len(both)), len(h))
    return np.array([distance(both[[*i]], np.delete(both, i, axis=0)) for i in chosen])


def test_an_article_that_was_not_measured_has_no_part_in_the_mean() -> None:
    def permute(answer: np.ndarray, _: object, draws: int, __: object) -> np.ndarray:
        return np.tile(answer, (draws, 1))

    drawn = [np.array([[0.2, np.nan]]), np.array([[0.4, 0.6]])]
    distance = words.DISTANCE._replace(columns=[{}, {}], permute=permute)
    means = replicates.permute([Article([one], [one]) for one in drawn], distance, SETTINGS)
    assert means[0] == pytest.approx([0.3, 0.6])


def test_permuted_words_are_the_mean_of_every_split_of_the_sentences() -> None:
    exact = every_split(ANSWER, ORIGINAL, lambda h, o: cut_words(o, h, h))
    drawn = replicates.permute([Article([ANSWER], [ORIGINAL])], words.DISTANCE, SETTINGS)
    assert drawn.mean() == pytest.approx(exact.mean(), abs=4 * exact.std() / np.sqrt(20_000))
    assert np.unique(drawn.round(9)).tolist() == np.unique(exact.round(9)).tolist()
    # Answers to one article are one text.
    twice = [Article([ANSWER[:2], ANSWER[2:]], [ORIGINAL])]
    assert (replicates.permute(twice, words.DISTANCE, SETTINGS) == drawn).all()


def test_permuted_tone_is_the_mean_of_every_split_whatever_the_group() -> None:
    h, o = np.array([[0, 0.5], [1, -0.2], [0, 0.1]]), np.array([[0, -0.4], [1, 0.3]])

    def largest(h: np.ndarray, o: np.ndarray) -> float:
        both = [g for g in (0, 1) if (h[:, 0] == g).any() and (o[:, 0] == g).any()]
        means = [abs(h[h[:, 0] == g, 1].mean() - o[o[:, 0] == g, 1].mean()) for g in both]
        return max(means, default=np.nan)

    exact = every_split(h, o, largest)
    measured = {"column": ["sentiment_textblob"], "measure": "sentiment", "instrument": "i"}
    scored = scoring.Scored(pd.DataFrame(), pd.DataFrame(measured))
    distance = tone.distance(None, scored)
    drawn = replicates.permute([Article([h], [o])], distance, SETTINGS)
    assert np.nanmean(drawn) == pytest.approx(np.nanmean(exact), abs=0.01)
    np.testing.assert_allclose(np.unique(drawn.round(9)), np.unique(exact.round(9)))


def test_prejudice_is_permuted_by_exchanging_answer_and_original() -> None:
    change = pd.DataFrame({"m": [-0.2, 0.3, -0.1, np.nan]})
    exchanged = pd.DataFrame({"m": [0.2, -0.3, np.nan, -0.5]})
    found = claims.permute_prejudice(change, exchanged, inference=SETTINGS)
    shares, extents = [], []
    for kept in product([True, False], repeat=4):
        values = change["m"].where(np.array(kept), exchanged["m"]).dropna()
        shares.append((values < 0).mean() if len(values) else np.nan)
        extents.append(values[values < 0].mean())
    for kind, exact in zip(claims.PREJUDICE, (shares, extents), strict=True):
        error = 4 * np.nanstd(exact) / np.sqrt(20_000)
        assert found[kind]["null"] == pytest.approx(np.nanmean(exact), abs=error)
    worse = claims.permute_prejudice(-change, -exchanged, inference=SETTINGS, worse=1)
    assert worse["prejudice_extent"]["null"] == -found["prejudice_extent"]["null"]


# --- the level --------------------------------------------------------------------------------

CLUSTERED = sample.Writing(runs=0.5, focus=0.1, originals=2, answers=2)


def test_writers_without_a_difference_are_not_called_beyond_chance() -> None:
    originals, generations = sample.corpus({"m": {}, "n": {}}, writing=CLUSTERED, seed=3)
    study = study_of(corpus.pair(originals, generations))
    second_texts = corpus.annotate(corpus.second_texts(originals), lexicon=GENDER)
    inference = stats.InferenceSettings(n_permutations=100)
    by_words = words.level(study.read, inference=inference, second_texts=second_texts)
    by = {"scorers": ["textblob"], "toxicity_scorer": "offline"}
    further = {"second_texts": second_texts, "scored_second": scoring.score(second_texts, **by)}
    by_tone = tone.level(study.read, study.scored, inference=inference, **further)
    for found, model in product((by_words, by_tone), "mn"):
        for measure in found.estimates["measure"].unique():
            row = row_of(found.estimates, "bias", model=model, measure=measure)
            assert row["test"].startswith(BOTH)
            assert row["p_adjusted"] > 0.05
            assert row["null_low"] < row["estimate"] < row["null_high"]
            bounds = found.chance[found.chance["reference"] == "permutation"]
            permuted = row_of(bounds, "bias", model=model, measure=measure)
            assert permuted["null_low"] <= permuted["null"] <= permuted["null_high"]
            assert np.isnan(permuted["p_value"])


def test_without_replicates_the_permutation_leads_and_allows_no_test() -> None:
    study = study_of(corpus.pair(*sample.corpus({"m": {}}, seed=3)))
    found = words.level(study.read, inference=stats.InferenceSettings(n_permutations=100))
    row = row_of(found.estimates, "bias")
    assert row["test"] == replicates.PERMUTED
    assert row["null_low"] < row["null_high"]
    assert np.isnan(row["p_value"])
