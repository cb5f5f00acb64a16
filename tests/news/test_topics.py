"""Document-level bias against statsmodels, scipy, plain loops and simulated corpora."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias import stats
from nbbias.news import claims, corpus as news, fits, replicates, topics
from nbbias.news.fits import Fitting
from nbbias.tables import read_shipped_table
from nbbias.text import annotate
from tests.build import (
    GENDER,
    GROUPS,
    lexicon_of,
    paired,
    pairs_of,
    read_of,
    row_of,
    small_study,
    stack,
    topic_estimates,
)

NOTHING = pd.DataFrame()

FULL = [[30, 5, 20], [4, 25, 22], [6, 6, 40], [1, 0, 2]]


def matrix(rows: Sequence[Sequence[int]]) -> pd.DataFrame:
    groups = GROUPS[: len(rows[0]) - 1]
    return pd.DataFrame(rows, columns=[*groups, "neutral"]).rename_axis("topic")


def sentences_of(rows: Sequence[Sequence[int]]) -> pd.DataFrame:
    """Sentences that give this matrix."""
    counts = matrix(rows).rename_axis(columns="group").stack()
    found = counts.repeat(counts).index.to_frame(index=False).astype({"topic": "Int64"})
    return found.assign(sentence_id=0, bias="b")


def common(groups: Sequence[str | None]) -> pd.DataFrame:
    """An association of topic 0, 1, … with these groups."""
    table = pd.DataFrame({"topic": range(len(groups)), "group": pd.Series(groups, dtype="str")})
    return table.assign(bias="b", model="all", prompt="all")


def scored(
    h: Sequence[Sequence[float]],
    o: Sequence[Sequence[float]],
    associated: pd.DataFrame,
    groups: int,
    **columns: Any,
) -> pd.DataFrame:
    names = [f"h{i}" for i in range(len(h))] + [f"o{i}" for i in range(len(o))]
    shares = pd.DataFrame([*h, *o], index=names, dtype=float)
    read = read_of(pairs_of(len(h), **columns), NOTHING, lexicon_of(groups))
    return topics.score(read, shares, associated)


def estimated(scores: pd.DataFrame, *, lexicon: pd.DataFrame) -> pd.DataFrame:
    return topic_estimates(scores, lexicon=lexicon, inference=stats.InferenceSettings())


# --- the matrix and its residuals -------------------------------------------------------------


@pytest.mark.parametrize("rows", [FULL, [[9, 1, 3, 4, 2, 7], [2, 8, 1, 1, 9, 3], [5] * 5 + [1]]])
def test_residuals_are_those_of_equation_7(rows: list[list[int]]) -> None:
    counts = np.array(rows, dtype=float)
    total, by_topic, by_group = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(by_topic, by_group) / total
    rest = np.outer(1 - by_topic / total, 1 - by_group / total)
    found = fits.residuals(matrix(rows))
    assert found.to_numpy() == pytest.approx((counts - expected) / np.sqrt(expected * rest))


def test_a_topic_of_all_sentences_or_of_none_has_no_residual() -> None:
    found = fits.residuals(matrix([[3, 1, 2, 4, 2, 7], [0] * 6, [0] * 6]))
    assert found.isna().all(axis=None)


# --- whose sentences count --------------------------------------------------------------------


def two_corpora() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Topic 0 is said of a by people and of b by the model; of topic 1 it is the reverse."""
    texts = {"o0": [[40, 5, 9], [5, 40, 9]], "h0": [[3, 30, 9], [30, 3, 9]]}
    parts = [sentences_of(rows).assign(text_id=name) for name, rows in texts.items()]
    return pd.concat(parts, ignore_index=True), pairs_of(1)


def test_own_associations_are_each_corpus_own_and_common_ones_everybodys() -> None:
    sentences, pairs = two_corpora()
    read, how = read_of(pairs, NOTHING, lexicon_of(2)), Fitting(3, [0])
    own = fits.associate(sentences, read, how._replace(association="own"))
    by_corpus = own.groupby(["model", "prompt"], sort=False)["group"].agg(list)
    assert by_corpus["human", "-"][:2] == ["a", "b"]
    assert by_corpus["m", "p"][:2] == ["b", "a"]
    assert own["group"].isna().sum() == 2 and own["residual"].isna().sum() == 2
    everybody = fits.associate(sentences, read, how)
    counts = matrix([[43, 35, 18], [35, 43, 18]])
    expected = fits.residuals(counts).max(axis=1)
    assert everybody["residual"].head(2).tolist() == pytest.approx(expected.tolist())
    assert everybody["sentences"].tolist() == [96, 96, 0]


# --- pairs ------------------------------------------------------------------------------------


def test_pair_by_hand() -> None:
    table = scored([[0.3, 0.1, 0.6]], [[0.1, 0.1, 0.8]], common(["a", "b", "neutral"]), 2)
    (row,) = table.to_dict("records")
    # Shares 3/4 and 1/4 against 1/2 and 1/2.
    assert row["score"] == pytest.approx(0.25)
    assert row["difference_a"] == pytest.approx(0.25)
    assert row["difference_b"] == pytest.approx(-0.25)
    assert row["n"] == 4 and pd.isna(row["reason"])


def test_every_loss_has_its_reason() -> None:
    on, off = [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]
    table = scored(
        [on, off, on, off, on, [np.nan] * 3],
        [on, on, off, off, on, on],
        common(["a", "b", "neutral"]),
        2,
        lost=pd.Series([None] * 4 + ["blank answer", None]),
    )
    answer, original, either = (
        f"no content on a group's topic in {text}"
        for text in ("the answer", "the original", "either")
    )
    reasons = [answer, original, either, "blank answer", answer]
    assert table["reason"].tolist()[1:] == reasons
    assert table["score"].isna().tolist() == [False, *[True] * 5]
    assert table["difference_a"].isna().tolist() == [False, *[True] * 5]
    losses = claims.losses(table)
    assert losses["pairs"].item() == 6 and losses["counted"].item() == 1


# --- what two texts differ by anyway ----------------------------------------------------------


def shares_of(first: Sequence[float]) -> list[list[float]]:
    return [[a, 1 - a] for a in first]


def test_with_replicates_on_both_sides_the_floor_is_the_mean_of_both() -> None:
    h, o = [0.9, 0.7, 0.8, 0.8, 0.4, 0.1], [0.5, 0.5, 0.6, 0.6, 0.3, 0.3]
    names = pd.Series(["x", "x", "y", "y", "z", "z"], dtype="str")
    associated, further = common(["a", "b"]), [0.6, 0.3, 0.5]
    scores = scored(shares_of(h), shares_of(o), associated, 2, article_id=names, sample=[1, 2] * 3)
    sides, of = (shares_of(further), shares_of(o[::2])), {"lexicon": lexicon_of(2)}
    second_texts = scored(*sides, associated, 2, article_id=names[::2].array).assign(seed=0)
    found = estimated(scores, **of)
    found = topics.replicated(found, scores.assign(seed=0), second_texts, **of, confidence=0.95)
    (row,) = found.to_dict("records")
    answers, humans = np.reshape(h, (3, 2)), np.column_stack([o[::2], further])
    between = np.abs(answers[:, :, None] - humans[:, None]).mean(axis=(1, 2))
    within = np.abs([np.diff(answers), np.diff(humans)]).mean(axis=(0, 2))
    excess = between - within
    expected = scipy.stats.ttest_1samp(excess, 0, alternative="greater")
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert row["null"] == pytest.approx(np.mean(np.abs(np.subtract(h, o))) - np.mean(excess))
    assert row["test"] == f"{replicates.BOTH}, 3 articles"


# --- a corpus with simulated topics -------------------------------------------------------------

SEA = ["sea", "ship", "sail", "harbour", "wave", "anchor"]
FARM = ["farm", "cow", "field", "plough", "barn", "wheat"]


def written(rng: np.random.Generator, sea: float, sentences: int) -> str:
    """Sentences about the sea, of women, or about a farm, of men."""
    said = []
    for _ in range(sentences):
        at_sea = rng.random() < sea
        words = rng.choice(SEA if at_sea else FARM, size=6).tolist()
        said.append(" ".join(["She" if at_sea else "He", *words]) + ".")
    return " ".join(said)


@pytest.fixture(scope="module")
def corpus() -> dict[str, Any]:
    """40 articles; model "same" writes as people do, "farmer" writes less about the sea.

    Some texts are about one thing only: otherwise topics could not be told apart.
    """
    rng = np.random.default_rng(11)
    human, same, farmer = (
        [written(rng, [0.4, 1.0][i % 2] - less, 12) for i in range(40)] for less in (0, 0, 0.4)
    )
    models = {"same": same, "farmer": farmer}.items()
    pairs = [paired(*zip(texts, human, strict=True), model=model) for model, texts in models]
    read = news.annotate(stack(*pairs), lexicon=GENDER)
    how = Fitting(2, [0, 1, 2], truncated=True)
    fitted = fits.fit(read, annotate.lemmatize(read.texts), how)
    return {"read": read, "fitted": fitted}


def test_the_planted_difference_is_found(corpus: dict[str, Any]) -> None:
    fitted = corpus["fitted"]._replace(fits=corpus["fitted"].fits[:1])
    scores = topics.pair_scores(corpus["read"], fitted)
    found = estimated(scores, lexicon=GENDER)
    own = found[(found["statistic"] == "share_difference") & (found["group"] == "female")]
    rows = own.set_index("model")
    # What was simulated is also what the sentences' own groups say, whatever the topics.
    sentences = corpus["read"].sentences
    share = (sentences["group"] == "female").groupby(sentences["text_id"]).mean()
    for model, pairs in corpus["read"].pairs.groupby("model"):
        said = share[pairs["generated_id"]].to_numpy() - share[pairs["original_id"]].to_numpy()
        assert rows.loc[model, "estimate"] == pytest.approx(said.mean(), abs=0.03)
    assert rows.loc["farmer", "ci_low"] < -0.4 < rows.loc["farmer", "ci_high"]
    assert rows.loc["same", "ci_low"] < 0 < rows.loc["same", "ci_high"]
    assert rows.loc["farmer", "p_adjusted"] < 0.001


# --- several fits -----------------------------------------------------------------------------


def test_estimates_of_several_fits_are_pooled(corpus: dict[str, Any]) -> None:
    scores = topics.pair_scores(corpus["read"], corpus["fitted"])
    found = estimated(scores, lexicon=GENDER)
    each = [estimated(own, lexicon=GENDER) for _, own in scores.groupby("seed")]
    for name in ("estimate", "effect_size"):
        mean = np.mean([one[name] for one in each], axis=0)
        assert found[name].to_numpy() == pytest.approx(mean, nan_ok=True)
    assert set(found["instrument"]) == {"LDA, 2 topics, 3 fits"}
    assert found["n"].tolist() == np.min([one["n"] for one in each], axis=0).tolist()
    # Articles crossed with fits, by hand, for one row.
    own = claims.values(scores[scores["model"] == "farmer"], "difference_female")
    rest = own.sub(own.mean(axis=1), axis=0) - own.mean() + own.mean().mean()
    rest = (rest**2).to_numpy().sum() / (39 * 2) / (40 * 3)
    total = own.mean(axis=1).var() / 40 + max(own.mean().var() / 3 - rest, 0)
    row = row_of(found, "share_difference", "female", model="farmer")
    assert row["statistic_value"] == pytest.approx(own.mean().mean() / np.sqrt(total))


def test_a_level_tests_its_distance_against_a_second_human_text(corpus: dict[str, Any]) -> None:
    """Written like the first one: the farmer's distance exceeds it, the same writer's does not."""
    rng = np.random.default_rng(12)
    read, fitted = corpus["read"], corpus["fitted"]
    first = read.texts[read.pairs.drop_duplicates("article_id")["original_id"]]
    again = [written(rng, [0.4, 1.0][i % 2], 12) for i in range(40)]
    pairs = paired(*zip(again, first, strict=True), model="human", prompt="-")
    inference, second_texts = stats.InferenceSettings(), news.annotate(pairs, lexicon=GENDER)
    found = topics.level(read, fitted, inference=inference, second_texts=second_texts)
    assert set(found.chance["reference"]) == {"permutation", "replicate"}
    own = found.estimates[found.estimates["statistic"] == "bias"].set_index("model")
    assert own.loc["farmer", "p_adjusted"] < 0.001 and own.loc["farmer", "excess"] > 0.2
    assert own.loc["same", "p_adjusted"] > 0.05
    assert own.loc["same", "null_low"] < own.loc["same", "estimate"] < own.loc["same", "null_high"]
    alone = topics.level(read, fitted, inference=inference)
    assert set(alone.chance["reference"]) == {"permutation"}
    share = row_of(alone.estimates, "prejudice_share", "female", model="farmer")
    assert share["null_high"] < share["estimate"]
    assert alone.estimates.loc[alone.estimates["statistic"] == "bias", "p_value"].isna().all()


def few_words() -> news.Read:
    """90 articles of six words."""
    texts = [f"saw the red cow there{' ' * i}." for i in range(90)]
    pairs = paired(*((f"He {text}", f"She {text}") for text in texts))
    return news.annotate(pairs, lexicon=GENDER)


def test_numbers_of_topics_that_texts_or_words_are_too_few_for_are_not_tried() -> None:
    read = small_study()["read"]
    n = read.texts.nunique()
    assert 40 <= n < 100
    found = fits.number(read, candidates=[2, 4, n // 10 + 1, 50], seed=1)
    tried = found.tried.set_index("n_topics")
    assert found.n_topics in {2, 4}
    assert tried.loc[[2, 4], "perplexity"].notna().all() and tried["perplexity"].isna().sum() == 2
    assert (tried.loc[[n // 10 + 1, 50], "reason"] == fits.TOO_FEW).all()
    none = fits.number(read, candidates=[50, 60], seed=1)
    assert none.n_topics == 0 and none.tried["perplexity"].isna().all()
    only = fits.number(read, candidates=[3, 50], seed=1)
    assert fits.number(few_words(), candidates=[4, 8], seed=1).n_topics == 4
    assert only.n_topics == 3 and only.tried["reason"].tolist() == [fits.ONLY, fits.TOO_FEW]


def test_the_notebook_says_how_often_intervals_of_topics_cover_in_the_worst_scenario() -> None:
    rows = read_shipped_table("calibration.csv").query("statistic == 'share_difference'")
    worst = rows.query("measure == 'documents' and rate == 'coverage'")["worst"].item()
    notebook = (Path(__file__).parents[2] / "notebooks/news_bias.ipynb").read_text("utf-8")
    assert f"had a coverage of {worst:.1%} in the worst" in notebook
