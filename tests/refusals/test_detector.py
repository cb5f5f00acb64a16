"""Refusals: answers written for the tests in many styles, and the head measured by people's labels.

XSTest's answers are read through NBBIAS_DATA and never shown.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import refusals
from nbbias.news import sample
from nbbias.params.yaml import parse as parse_yaml
from nbbias.refusals import detector, features
from nbbias.tables import data_path, read_shipped_yaml
from nbbias.text import embeddings

ANSWERS = pd.DataFrame(
    parse_yaml((Path(__file__).parent / "answers.yaml").read_text(encoding="utf-8"))
)


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    verdicts = refusals.detect(ANSWERS["text"], progress=False)
    return ANSWERS.rename(columns={"kind": "truth"}).join(verdicts)


def kinds(*texts: str | None) -> list[str]:
    return refusals.detect(texts, progress=False)["kind"].tolist()


# --- verdicts ---------------------------------------------------------------------------------


def test_there_are_many_answers_in_many_styles() -> None:
    assert len(ANSWERS) >= 40 and ANSWERS["style"].nunique() >= 15
    assert ANSWERS["text"].is_unique


def test_nearly_all_answers_are_told_as_a_reader_would(found: pd.DataFrame) -> None:
    right = found["refused"] == (found["truth"] == "full")
    assert right.mean() >= 0.9


@pytest.mark.parametrize(
    "style",
    [
        "in-story apology",
        "sympathy, then help",
        "machine, then help",
        "warning, then help",
        "quoted refusal",
        "news",
        "biased news",
        "letter",
    ],
)
def test_words_of_refusal_in_an_answer_that_delivers_are_none(
    found: pd.DataFrame, style: str
) -> None:
    own = found[found["style"] == style]
    assert len(own) and (own["kind"] == "none").all()


@pytest.mark.parametrize(
    "style",
    [
        "curt",
        "apologetic",
        "policy",
        "machine",
        "lecture",
        "offers another",
        "filter",
        "Spanish",
        "German",
        "French",
        "Chinese",
    ],
)
def test_refusals_are_full_however_they_are_put(found: pd.DataFrame, style: str) -> None:
    own = found[found["style"] == style]
    assert len(own) and own["refused"].all()


def test_a_language_without_patterns_is_read_as_far_as_the_embedding_goes() -> None:
    """What the docs say: beyond the listed languages nothing is promised, but a kind is given."""
    table = refusals.detect(["Samahani, siwezi kuandika makala hii."], progress=False)
    assert table["kind"].iloc[0] in {"none", "partial", "full"}
    assert 0 <= table["score"].iloc[0] <= 1


def test_the_reason_is_a_passage_of_the_answer(found: pd.DataFrame) -> None:
    for row in found.itertuples():
        assert row.reason and row.reason in row.text


def test_of_a_long_refusal_the_declining_sentence_is_the_reason() -> None:
    said = "That is a difficult topic. I can't write this article. Have a good day!"
    assert (
        refusals.detect([said], progress=False)["reason"].iloc[0] == "I can't write this article."
    )


def test_kind_and_refused_agree_with_the_score(found: pd.DataFrame) -> None:
    assert ((found["kind"] == "full") == found["refused"]).all()
    assert ((found["score"] >= 0.5) == found["refused"]).all()
    assert found["score"].between(0, 1).all()


# --- nothing, blanks, repeats -----------------------------------------------------------------


def test_no_text_is_not_measured_and_never_answered() -> None:
    table = refusals.detect([None, "", "  \n", "I can't help with that."], progress=False)
    assert table["refused"].tolist()[:3] == [pd.NA] * 3
    assert table["kind"].isna().tolist() == [True, True, True, False]
    assert table["score"].isna().sum() == 3
    assert (table["reason"][:3] == refusals.NO_TEXT).all()
    assert table["refused"].mean() == 1  # the share is of what was measured


def test_no_answers_give_an_empty_table() -> None:
    table = refusals.detect([], progress=False)
    assert table.columns.tolist() == refusals.COLUMNS and table.empty
    assert str(table["refused"].dtype) == "boolean"


def test_a_series_keeps_its_index_and_is_not_changed() -> None:
    given = pd.Series(["I won't.", None], index=["b", "a"])
    table = refusals.detect(given, progress=False)
    assert table.index.tolist() == ["b", "a"]
    assert given.tolist()[0] == "I won't."


def test_a_verdict_does_not_depend_on_its_neighbours() -> None:
    texts = ANSWERS["text"].tolist()[:8]
    together = refusals.detect(texts, progress=False)["score"]
    alone = [refusals.detect([one], progress=False)["score"].iloc[0] for one in texts]
    assert together.tolist() == pytest.approx(alone, abs=1e-4)


def test_equal_answers_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = refusals.table

    def counted(texts: list[str], **options: bool) -> pd.DataFrame:
        seen.append(len(texts))
        return real(texts, **options)

    monkeypatch.setattr(features, "table", counted)
    table = refusals.detect(["I can't do that."] * 5 + ["Sure, here it is."], progress=False)
    assert seen == [2]
    assert table["score"].nunique() == 2


@pytest.mark.parametrize(
    "odd", ["\x00\x1b[31m", "?!…", "🙂🙂", "a" * 20_000, "can " * 3_000, "((((" * 500, '"' * 501]
)
def test_odd_texts_are_read_without_harm(odd: str) -> None:
    assert kinds(odd)[0] in {"none", "partial", "full"}


# --- prompts ----------------------------------------------------------------------------------


def test_an_answer_that_begins_with_its_prompt_is_read_after_it() -> None:
    prompt = "I cannot write. Write a news article about the cup."
    answer = "The cup went to the guests on Sunday. Forty thousand people watched the match."
    echoed = refusals.detect([f"{prompt} {answer}"], [prompt], progress=False)
    plain = refusals.detect([answer], progress=False)
    assert echoed["score"].tolist() == plain["score"].tolist()


def test_an_answer_that_is_its_prompt_was_not_measured() -> None:
    table = refusals.detect(["Write an article."], ["Write an article."], progress=False)
    assert table["refused"].isna().all() and table["reason"].tolist() == [refusals.ECHO]


def test_prompts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 prompts do not fit 1 texts"):
        refusals.detect(["a"], ["b", "c"])


# --- features and head ------------------------------------------------------------------------


def test_every_coefficient_pushes_its_feature_s_way() -> None:
    known = refusals.head().drop(index="(intercept)")
    signs = np.array([refusals.sign(name) for name in known.index])
    assert ((known.to_numpy() * signs[:, None]) >= 0).all()


def test_parts_of_vectors_and_length_may_push_either_way() -> None:
    free = [name for name in refusals.head().index[1:] if refusals.sign(name) == 0]
    assert free == ["length", *(f"{part}.{i}" for part in ("opening", "whole") for i in range(384))]
    assert all(refusals.strictness(name) > 1 for name in free[1:])


def test_the_head_is_one_softmax_over_the_features() -> None:
    said = "I can't help with that."
    table = refusals.table([said], progress=False)
    known = refusals.head()
    assert known.index.tolist() == ["(intercept)", *table.columns]
    logits = {kind: known.loc["(intercept)", kind] for kind in known}
    for kind in known:
        logits[kind] += sum(table[name].iloc[0] * known.loc[name, kind] for name in table)
    every = 1 + sum(np.exp(one) for one in logits.values())
    shares = refusals.probabilities(table).iloc[0]
    assert shares.tolist() == pytest.approx(
        [1 / every, *(np.exp(logits[kind]) / every for kind in ("partial", "full"))], abs=1e-6
    )
    score = refusals.detect([said], progress=False)["score"].iloc[0]
    assert score == pytest.approx(shares["full"], abs=1e-6)


def test_kinds_are_full_from_a_half_and_partial_where_none_is_less_than_a_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Logits are set to those of the shares: 0.5 is full; .45 and .1 against .45 decline."""
    shares = np.array([[0.5, 0.0001, 0.4999], [0.4, 0.1, 0.5], [0.45, 0.1, 0.45]])
    monkeypatch.setattr(
        detector, "probabilities", lambda _: pd.DataFrame(shares, columns=refusals.KINDS)
    )
    assert kinds("A one.", "A two.", "A three.") == ["none", "full", "partial"]


def test_mean_vectors_are_those_of_the_sentences_and_weigh_by_length() -> None:
    """By hand: vectors of single sentences, averaged, times 3 L / (L + 600)."""
    halls = ("pool", "bank", "park", "hall")
    said = [f"The {what} of the town is open on Monday." for what in halls]
    short, long = " ".join(said[:2]), " ".join(said)
    table = refusals.table([short, long], progress=False)
    vectors = embeddings.embed(said, model=features.MODEL, progress=False)
    for row, text, n in ((0, short, 2), (1, long, 4)):
        weight = 3 * len(text) / (len(text) + 600)
        for part, most in (("opening", 3), ("whole", 12)):
            expected = weight * vectors[: min(n, most)].mean(axis=0)
            found = table.loc[row, [f"{part}.{i}" for i in range(384)]]
            assert found.to_numpy(float) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("letters", "expected"), [(1, 0.0), (400, 0.0), (800, np.log(2)), (4000, np.log(10))]
)
def test_length_counts_from_four_hundred_characters(letters: int, expected: float) -> None:
    table = refusals.table(["a" * letters], progress=False)
    assert table["length"].iloc[0] == pytest.approx(expected)


def test_each_distinct_sentence_and_opening_is_embedded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []
    real = embeddings.embed
    features._prototypes()
    monkeypatch.setattr(
        embeddings, "embed", lambda texts, **k: seen.append(list(texts)) or real(seen[-1], **k)
    )
    refusals.table(["It rained. She left. He slept. We ate. You won."], progress=False)
    assert len(seen) == 1 and len(seen[0]) == len(set(seen[0])) == 6


def test_quoted_words_count_for_no_family() -> None:
    said = ['"I am sorry, I cannot help you," he said.', "She said: “I won't write that.”"]
    assert not any(flags.any() for flags in refusals.hits(said).values())


@pytest.mark.parametrize("apostrophe", ["'", "\N{RIGHT SINGLE QUOTATION MARK}"])
def test_apostrophes_of_either_kind_are_found(apostrophe: str) -> None:
    assert refusals.hits([f"I can{apostrophe}t help with that."])["inability"].all()


def test_shipped_lines_are_no_lines_of_the_tests_and_none_stands_twice() -> None:
    shipped = []
    for name in ("examples", "prototypes"):
        read = read_shipped_yaml(f"refusals/{name}.yaml")
        shipped += [one for lines in read.values() for one in lines]
    assert len(shipped) == len(set(shipped))
    assert not set(shipped) & set(ANSWERS["text"])


def test_every_pattern_is_a_regular_expression() -> None:
    read = read_shipped_yaml("refusals/patterns.yaml")
    for families in read.values():
        for patterns in families.values():
            assert all(re.compile(one) for one in patterns)


@pytest.mark.parametrize(
    "said",
    [
        "The senator from the coast spoke for an hour.",
        "Two Black nurses won the prize on Friday.",
        "A woman of ninety crossed the lake alone.",
        "The Muslim team lost by one goal.",
        "Nobody came.",
        "Lisbon.",
        "Yes, at noon.",
        "The ministry would not say who had paid.",
    ],
)
def test_a_short_plain_answer_is_no_refusal(said: str) -> None:
    assert kinds(said) == ["none"]


def test_sentences_of_neutral_prose_refuse_nothing() -> None:
    path = data_path("neutral_prose.jsonl")
    prose = pd.read_json(path, lines=True)["text"]
    single = [one for own in refusals.sentences(prose.tolist()) for one in own][::12]
    assert not refusals.detect(prose, progress=False)["refused"].any()
    assert refusals.detect(single, progress=False)["refused"].sum() <= 1


# --- real and simulated texts -----------------------------------------------------------------


def test_simulated_news_refuses_nothing() -> None:
    _, generations = sample.corpus({"m": {}}, seed=3)
    table = refusals.detect(generations["text"].head(30), progress=False)
    assert not table["refused"].any()


def test_human_articles_refuse_nothing(data_folder: Path) -> None:
    """People who write articles do not refuse to: at most 1 in 60 may be mistaken."""
    articles = pd.read_parquet(data_folder / "news" / "llmfake_originals.parquet")["text"]
    table = refusals.detect(articles.head(60), progress=False)
    assert table["refused"].sum() <= 1


def test_people_s_labels_are_met_better_than_by_never_refusing(data_folder: Path) -> None:
    """A sample of the labelled answers; `tools/fit_refusals.py` holds models and prompts out."""
    table = pd.read_parquet(data_folder / "refusal" / "xstest_completions.parquet")
    own = table.groupby(["model", "final_label"]).sample(9, random_state=0)
    found = refusals.detect(own["completion"], progress=False)
    # Equal numbers of each label: the mean of both rates, so always saying no gives a half.
    full = own["final_label"] == "2_full_refusal"
    hit = found["refused"][full].mean()
    spared = 1 - found["refused"][own["final_label"] == "1_full_compliance"].mean()
    assert (hit + spared) / 2 > 0.85
