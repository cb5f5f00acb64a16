"""The floor of replicates: by hand, by exchange, and over many corpora without any difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from nbbias import stats
from nbbias.news import corpus, replicates, sample, words
from nbbias.news.replicates import ANSWERS, BOTH, HALVES, KINDS, ORIGINALS, Article
from tests.build import GENDER, row_of

A, B, C = (np.array(one) for one in ([[2, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]], [[0, 2]]))


def stories(
    rng: np.random.Generator,
    n: int,
    *,
    runs: float = 0.0,
    focus: float = 0.0,
    lengths: tuple[float, float] = (6, 6),
    several: tuple[int, int] = (1, 2),
) -> list[Article]:
    """Stories whose answers and originals differ in length alone; one to four words a sentence."""

    def text(share: float, mean: float) -> np.ndarray:
        p = (
            rng.beta(share * (1 - focus) / focus, (1 - share) * (1 - focus) / focus)
            if focus
            else (share)
        )
        groups = [rng.random() < p]
        for _ in range(rng.poisson(mean - 2) + 1):
            groups.append(groups[-1] if rng.random() < runs else rng.random() < p)
        sizes = rng.integers(1, 5, len(groups))
        return np.column_stack([sizes * groups, sizes * ~np.array(groups)])

    found = []
    for _ in range(n):
        share = rng.beta(4, 6)
        both = [[text(share, mean) for _ in range(m)] for mean, m in zip(lengths, several)]  # noqa: B905
        found.append(Article(*both))
    return found


def p_of(articles: list[Article], kind: str) -> float:
    found = replicates.differences(articles, kind)["bias", None]
    return float(t.sf(found.excess / found.error, found.n - 1))


# --- one story by hand ------------------------------------------------------------------------


def test_the_other_text_is_cut_to_the_twins_length_over_all_places() -> None:
    # Answer B, originals A and C. Beside A, twin C of one sentence: B's cuts (1, 0), (0, 1), (1, 1)
    # against A's 2/3: 1/3, 2/3, 1/6, mean 7/18; C's one cut: 2/3. Beside C, twin A of two
    # sentences: B's cuts (1, 1), (1, 2) against 0: 1/2, 1/3, mean 5/12; A's one cut: 2/3.
    found = replicates.differences([Article([B], [A, C])], ORIGINALS)
    expected = (7 / 18 - 2 / 3 + 5 / 12 - 2 / 3) / 2
    assert found["bias", None].excess == pytest.approx(expected)
    assert np.isnan(found["bias", None].error)


def test_prejudice_counts_the_stories_whose_original_names_the_group() -> None:
    # Group 0: beside A (2/3) B's cuts fall in two of three places, by 2/3 and 1/6; C's falls, by
    # 2/3. Beside C nothing is named. Shares of the named: 2/3 and 1; extents: of those that fall.
    found = replicates.differences([Article([B], [A, C])], ORIGINALS)
    assert found["prejudice_share", 0].excess == pytest.approx(2 / 3 - 1)
    extent = -(2 / 3 + 1 / 6) / 2 + 2 / 3
    assert found["prejudice_extent", 0].excess == pytest.approx(extent)


def test_a_model_asked_twice_is_compared_with_the_original_in_one_s_place() -> None:
    # The answers A and C, original B: the same distances, the other way round.
    one = replicates.differences([Article([A, C], [B])], ANSWERS)
    other = replicates.differences([Article([B], [A, C])], ORIGINALS)
    assert one["bias", None] == other["bias", None]
    # An original with less of group 1 than the answer: never a fall of the answer.
    assert one["prejudice_extent", 1].excess != other["prejudice_extent", 1].excess


def test_replicates_of_both_sides_weigh_the_same() -> None:
    article = Article([A, C, B], [A, B])
    both, human, model = (
        replicates.differences([article], kind)["bias", None].excess
        for kind in (BOTH, ORIGINALS, ANSWERS)
    )
    assert both == pytest.approx((human + model) / 2)


@pytest.mark.parametrize("kind", [ORIGINALS, ANSWERS])
def test_a_text_that_is_its_replicate_exceeds_nothing(kind: str) -> None:
    article = Article([B], [B, B]) if kind == ORIGINALS else Article([B, B], [B])
    for found in replicates.differences([article] * 3, kind).values():
        assert found.excess == pytest.approx(0, abs=1e-12) or np.isnan(found.excess)


def test_halves_are_those_of_the_first_original_in_its_order() -> None:
    halves = Article([C], [B[:2], B[2:]])
    found = replicates.differences([Article([C], [B])], HALVES)
    expected = replicates.differences([halves], ORIGINALS)
    assert found["bias", None].excess == expected["bias", None].excess


def test_the_best_reference_that_enough_stories_have_is_chosen() -> None:
    both, humans = Article([A, C], [A, B]), Article([C], [A, B])
    twice, once = Article([A, C], [A]), Article([C], [A])
    assert [replicates.choose([one] * 3) for one in (both, humans, twice, once)] == list(KINDS)
    assert replicates.choose([both] * 9 + [once] * 20) == HALVES
    assert replicates.choose([both] * 10 + [once] * 20) == BOTH
    assert replicates.choose([Article([C], [C])] * 5) is None


# --- over many corpora ------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [(3.5, 6), (12, 6)])
@pytest.mark.parametrize("kind", [BOTH, ORIGINALS, ANSWERS])
def test_runs_focus_and_lengths_alone_are_seldom_beyond_chance(
    kind: str, lengths: tuple[float, float]
) -> None:
    rng = np.random.default_rng(4)
    several = {BOTH: (2, 2), ORIGINALS: (1, 2), ANSWERS: (2, 1)}[kind]
    settings = {"runs": 0.4, "focus": 0.15, "lengths": lengths, "several": several}
    p = [p_of(stories(rng, 20, **settings), kind) for _ in range(120)]
    # A binomial of 120 and .05 exceeds 12 once in a hundred times.
    assert np.mean(np.array(p) < 0.05) <= 12 / 120


def test_texts_that_vary_less_lie_nearer_and_replicates_of_both_sides_tell_that_apart() -> None:
    # Answers without a focus of their own, on the same shares: nearer to any text than twins are.
    rng = np.random.default_rng(6)
    human = stories(rng, 300, focus=0.5, several=(2, 2))
    calm = [Article([np.array([[4, 6]] * 6)] * 2, one.originals) for one in human]
    found = {k: replicates.differences(calm, k)["bias", None] for k in (BOTH, ORIGINALS, ANSWERS)}
    assert found[ORIGINALS].excess < 0 < found[BOTH].excess < found[ANSWERS].excess


def test_halves_see_runs_in_part_and_no_focus() -> None:
    rng = np.random.default_rng(4)
    p = [p_of(stories(rng, 80, focus=0.2, several=(1, 1)), HALVES) for _ in range(10)]
    assert np.mean(np.array(p) < 0.05) > 0.5  # which is why they give no p on a page


# --- the level --------------------------------------------------------------------------------


def level_of(writing: sample.Writing, *, human: bool = True) -> words.Level:
    originals, generations = sample.corpus({"m": {}, "n": {}}, writing=writing, seed=3)
    read = corpus.annotate(corpus.pair(originals, generations), lexicon=GENDER)
    twins = corpus.annotate(corpus.twins(originals), lexicon=GENDER) if human else None
    return words.level(read, inference=stats.InferenceSettings(n_permutations=100), twins=twins)


CLUSTERED = sample.Writing(runs=0.5, focus=0.1, originals=2, answers=2)


@pytest.mark.parametrize(("human", "kind"), [(True, BOTH), (False, ANSWERS)])
def test_writers_without_a_difference_are_not_called_beyond_chance(human: bool, kind: str) -> None:
    found = level_of(CLUSTERED, human=human)
    for model in "mn":
        row = row_of(found.estimates, "bias", model=model)
        assert row["test"].startswith(kind)
        assert row["p_adjusted"] > 0.05
        assert row["null_low"] < row["estimate"] < row["null_high"]
        assert row["excess"] == pytest.approx(row["estimate"] - row["null"])
        # Where one writer's words are dealt anew, the same distance looks far away.
        bounds = found.chance[found.chance["reference"].isin(["words"])]
        words_alone = row_of(bounds, "bias", model=model)
        assert row["estimate"] > words_alone["null_high"]
        assert np.isnan(words_alone["p_value"])


def test_halves_have_a_range_and_no_p() -> None:
    found = level_of(CLUSTERED._replace(answers=1), human=False)
    row = row_of(found.estimates, "bias", model="m")
    assert row["test"].startswith(HALVES)
    assert np.isfinite(row["null_low"])
    assert np.isnan([row["p_value"], row["p_adjusted"]]).all()


def test_twins_are_the_further_texts_of_a_story_and_none_where_nothing_numbers_them() -> None:
    table = pd.DataFrame({"source": "s", "article_id": list("112"), "text": list("abc")})
    assert len(corpus.twins(table)) == 0
    found = corpus.twins(table.assign(sample=[1, 2, 1]))
    assert found[["original_text", "generated_text"]].to_numpy().tolist() == [["a", "b"]]
    assert corpus.health(table)["texts"].sum() == 1  # without numbers it is a fault


# --- real texts -------------------------------------------------------------------------------


def test_parts_of_real_articles_dealt_at_random_lie_apart_and_are_not_beyond_chance(
    data_folder: Path,
) -> None:
    originals = corpus.read_originals(str(data_folder / "news" / "llmfake_originals.parquet"))
    answers = originals.assign(model="m", prompt="p", sample=1)
    read = corpus.annotate(corpus.pair(originals, answers), lexicon=GENDER)
    cells = words._counted(words.pair_scores(read), read)
    texts = [one.originals[0] for _, _, articles in cells for one in articles]
    whole = [text for text in texts if len(text) >= 6]
    assert len(whole) > 250
    rng = np.random.default_rng(1)
    p = {ORIGINALS: [], ANSWERS: []}
    for _ in range(60):
        thirds = [
            [parts[i] for i in rng.permutation(3)]
            for parts in (np.array_split(one, 3) for one in whole)
        ]
        p[ORIGINALS].append(p_of([Article([a], [b, c]) for a, b, c in thirds], ORIGINALS))
        p[ANSWERS].append(p_of([Article([a, b], [c]) for a, b, c in thirds], ANSWERS))
    for kind, own in p.items():
        rate = np.mean(np.array(own) < 0.05)
        print(f"{kind}: {rate:.0%} of 60 deals below .05")
        assert rate <= 9 / 60
    h, o = (
        np.array([np.array_split(one, 2)[half].sum(axis=0) for one in whole]) for half in (0, 1)
    )
    d = np.abs(h / h.sum(axis=1, keepdims=True) - o / o.sum(axis=1, keepdims=True)).sum(axis=1) / 2
    by_words = stats.expected_differences(h, o)[0].sum(axis=1) / 2
    # The same halves lie far beyond words dealt anew, which therefore give no p.
    assert (d - by_words).mean() > 4 * (d - by_words).std() / np.sqrt(len(d))
