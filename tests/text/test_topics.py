"""Topics against gensim's own functions, plain loops and corpora with planted topics."""

import math

import numpy as np
import pandas as pd
import pytest
import spacy

from nbbias.tables import DataError
from nbbias.text import annotate, topics

SEA = ["sea", "ship", "sail", "harbour", "wave", "anchor"]
FARM = ["farm", "cow", "field", "plough", "barn", "wheat"]


def planted(n: int = 60, *, words: int = 30, seed: int = 0) -> pd.Series:
    """Texts about the sea (even) or a farm (odd), with a few words that both have."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        own = rng.choice([SEA, FARM][i % 2], size=words)
        texts.append([*own.tolist(), *rng.choice(["the", "and"], size=5).tolist()])
    return pd.Series(texts, index=[f"t{i}" for i in range(n)], dtype=object)


def long(texts: pd.Series) -> pd.DataFrame:
    """Lists of words as a row a word."""
    words = texts.explode().dropna()
    return pd.DataFrame({"text_id": words.index, "lemma": words.to_numpy()})


def bags(texts: pd.Series, model: topics.TopicModel | None = None, **limits: int):
    vocabulary = None if model is None else model.vocabulary
    return topics.count_words(long(texts), texts.index, vocabulary=vocabulary, **limits)


@pytest.fixture(scope="module")
def two() -> topics.TopicModel:
    return topics.fit(bags(planted()), n_topics=2, seed=1)


@pytest.fixture(scope="module")
def many() -> topics.TopicModel:
    return topics.fit(bags(planted()), n_topics=8, seed=1)


def bow(model: topics.TopicModel, words: list[str]) -> list[tuple[int, int]]:
    """What gensim calls a bag of words."""
    known = list(model.vocabulary.index)
    return sorted((known.index(w), words.count(w)) for w in {*words} if w in known)


# --- tokens -----------------------------------------------------------------------------------


def test_tokens_are_those_of_spacys_pipeline() -> None:
    said = {"x": "Women were running to the 2 harbours, and Ann's men weren't.", "y": "1 + 1 = 2"}
    said |= {"z": "İ left in 1999!", "missing": None, "again": "İ left in 1999!"}
    texts = pd.Series(said)
    nlp = spacy.blank("en")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    nlp.initialize()
    lower = texts.dropna().str.replace("İ", "I").str.lower()
    read = [(name, token) for name, text in lower.items() for token in nlp(text)]
    expected = [(name, token.idx, token.lemma_) for name, token in read if token.is_alpha]
    tokens = annotate.lemmatize(texts)
    assert list(tokens.itertuples(index=False, name=None)) == expected
    assert tokens["lemma"].tolist()[:5] == ["woman", "be", "run", "to", "the"]
    assert annotate.lemmatize(pd.Series([], dtype="str")).empty


# --- fit --------------------------------------------------------------------------------------


def test_planted_topics_are_recovered(two: topics.TopicModel) -> None:
    found = topics.infer_shares(two, bags(planted(seed=9), two), truncated=False)
    of_sea = int(found.iloc[::2].mean().idxmax())
    assert (found.iloc[::2][of_sea] > 0.9).all()
    assert (found.iloc[1::2][1 - of_sea] > 0.9).all()
    leading = topics.describe(two, relevance_lambda=0.3, top=6).groupby("topic")["word"].agg(set)
    assert leading[of_sea] == set(SEA)
    assert leading[1 - of_sea] == set(FARM)
    # A seed gives one model, and another seed another.
    same, other = (topics.fit(bags(planted()), n_topics=2, seed=seed) for seed in (1, 2))
    assert np.array_equal(two.model.get_topics(), same.model.get_topics())
    assert not np.allclose(two.model.get_topics(), other.model.get_topics())


def test_vocabulary_is_the_words_of_enough_texts() -> None:
    tokens = pd.Series([["a", "b", "c"], ["a", "b"], ["a", "d"], ["a", "d"]], dtype=object)
    assert bags(tokens, no_below=2).vocabulary.to_dict() == {"a": 4, "b": 2, "d": 2}
    every = bags(tokens, no_below=1)
    # As gensim numbers them: by first text, then by spelling.
    assert every.vocabulary.to_dict() == {"a": 4, "b": 2, "c": 1, "d": 2}
    counts = every.counts.toarray().tolist()
    assert counts == [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1]]


def test_too_many_topics_one_topic_and_no_vocabulary_are_refused() -> None:
    with pytest.raises(DataError, match="no vocabulary: 0 of 14"):
        bags(planted(), no_below=1000)
    with pytest.raises(DataError, match="15 topics need 2 to 14"):
        topics.fit(bags(planted()), n_topics=15, seed=0)
    with pytest.raises(DataError, match="1 topics need 2"):
        topics.fit(bags(planted()), n_topics=1, seed=0)
    with pytest.raises(DataError, match="no vocabulary"):
        bags(pd.Series([[], []], dtype=object))


# --- perplexity -------------------------------------------------------------------------------


def test_perplexity_is_that_of_the_held_out_words_one_by_one() -> None:
    """No article is on both sides; the words of unknown and single-word texts predict nothing."""
    tokens = planted(40)
    tokens.iloc[[4, 9]] = [["zebra", "yak"], ["sea"]]
    articles = pd.Series(np.arange(40) % 10, index=tokens.index)
    table = topics.perplexity(long(tokens), articles, candidates=[2], held_out_share=0.3, seed=3)
    held = articles.isin(np.random.default_rng(3).permutation(np.arange(10))[:3])
    fitted = topics.fit(bags(tokens[~held]), n_topics=2, seed=3)
    vocabulary = list(fitted.vocabulary.index)
    probabilities = fitted.model.get_topics()
    total, n = 0.0, 0
    for words in tokens[held]:
        known = [word for word in words if word in vocabulary]
        read = bow(fitted, known[::2])
        theta = dict(fitted.model.get_document_topics(read, minimum_probability=0))
        for word in known[1::2]:
            column = vocabulary.index(word)
            total += math.log(sum(theta[k] * probabilities[k, column] for k in theta))
            n += 1
    assert table["perplexity"].item() == pytest.approx(math.exp(-total / n), rel=1e-5)
    assert table[["words", "held_out", "fitted"]].to_numpy().tolist() == [[n, 12, 28]]


def test_perplexity_is_missing_with_a_reason_where_nothing_can_be_predicted() -> None:
    tokens = planted(10)
    settings = {"candidates": [2], "held_out_share": 0.1, "seed": 0, "no_below": 1}
    single = topics.perplexity(long(tokens), pd.Series("one", index=tokens.index), **settings)
    articles = pd.Series(["a", "b"] * 5, index=tokens.index)
    for share in (0.1, 1.0):
        half = topics.perplexity(long(tokens), articles, **settings | {"held_out_share": share})
        assert (half["held_out"].item(), half["fitted"].item()) == (5, 5)
    held = np.random.default_rng(0).permutation(["a", "b"])[0]
    tokens[articles == held] = [["zebra", "yak"]] * 5
    strange = topics.perplexity(long(tokens), articles, **settings)
    assert np.isnan(single["perplexity"].item()) and np.isnan(strange["perplexity"].item())
    reasons = [table["reason"].item() for table in (single, strange)]
    assert reasons == ["needs two articles", "no held-out text has two words of the vocabulary"]
    assert topics.choose(strange) == 2


# --- inference --------------------------------------------------------------------------------


@pytest.mark.parametrize("truncated", [True, False])
def test_shares_are_gensims_document_topics(many: topics.TopicModel, truncated: bool) -> None:
    texts = pd.concat([planted(6, words=3, seed=4), planted(6, seed=5).add_prefix("long-")])
    found = topics.infer_shares(many, bags(texts, many), truncated=truncated)
    for name, words in texts.items():
        least = 0.01 if truncated else 0
        read = bow(many, words)
        theirs = dict(many.model.get_document_topics(read, minimum_probability=least))
        expected = [theirs.get(k, 0) for k in range(8)]
        assert found.loc[name].tolist() == pytest.approx(expected, abs=1e-6)
    assert (found == 0).any(axis=None) == truncated
    if not truncated:
        assert found.sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-5)


def test_a_texts_topics_depend_on_the_text_alone(
    many: topics.TopicModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = planted(30, words=4, seed=7)
    whole = topics.infer_shares(many, bags(texts, many), truncated=False)
    alone = topics.infer_shares(many, bags(texts[["t11"]], many), truncated=False)
    assert np.array_equal(alone.loc["t11"], whole.loc["t11"])
    monkeypatch.setattr(topics, "_BATCH", 7)
    again = topics.TopicModel.of_parts(many.parts())
    turned = topics.infer_shares(again, bags(texts[::-1], many), truncated=False)
    assert np.array_equal(turned[::-1], whole)


def test_a_sentences_topic_is_the_first_of_gensims_document_topics(many: topics.TopicModel) -> None:
    sentences = planted(50, words=3, seed=8)
    topic = topics.infer_topic(many, bags(sentences, many))
    for name, words in sentences.items():
        theirs = many.model.get_document_topics(bow(many, words), 0)
        assert topic[name] == max(theirs, key=lambda pair: pair[1])[0]
    assert topic.nunique() > 1


def test_no_known_word_is_not_measured(two: topics.TopicModel) -> None:
    texts = pd.Series([[], ["zebra"], ["sea", "zebra"]], dtype=object)
    read = bags(texts, two)
    assert topics.infer_topic(two, read).isna().tolist() == [True, True, False]
    found = topics.infer_shares(two, read, truncated=True)
    assert found.isna().all(axis=1).tolist() == [True, True, False]
    none = topics.count_words(long(texts)[:0], vocabulary=two.vocabulary)
    assert topics.infer_topic(two, none).empty
    assert topics.infer_shares(two, none, truncated=False).shape == (0, 2)


# --- description ------------------------------------------------------------------------------


def test_relevance_is_the_formula_word_by_word(two: topics.TopicModel) -> None:
    counts = planted().explode().value_counts()
    found = topics.describe(two, relevance_lambda=0.25, top=100)
    assert len(found) == 2 * 14
    for row in found.itertuples():
        p = dict(two.model.show_topic(row.topic, topn=100))[row.word]
        marginal = counts[row.word] / counts.sum()
        expected = 0.25 * math.log(p) + 0.75 * math.log(p / marginal)
        assert row.relevance == pytest.approx(expected, abs=1e-4)
        assert row.probability == pytest.approx(p, rel=1e-4)
    for _, own in found.groupby("topic"):
        assert own["rank"].tolist() == list(range(1, 15))
        assert own["relevance"].is_monotonic_decreasing
