"""The offline judges read English: on what they cannot read they give no verdict, however short."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.biasalert.contracts import JUDGEMENTS
from nbbias.biasalert.judges import classifier, tuned
from nbbias.tables import check
from nbbias.text import embeddings
from tests.biasalert.tiny import bag_of_words, labelled

FOREIGN = ["女人不擅长开车。", "Frauen sind dumm", "Женщины плохо водят", "x" * 100_000, "kfjwq"]
SHORT = ["Women are weak", "Women weak.", "immigrants are dirty!", "lazy women", "women", "Muslims"]


def texts(said: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"text_id": [f"t{n}" for n in range(len(said))], "text": said})


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> classifier.Fitted:
    bow = bag_of_words(tmp_path_factory.mktemp("bow"))
    return classifier.fit(labelled(), model=bow, seed=0)


@pytest.fixture(scope="module")
def offline() -> tuned.Tuned:
    # Two steps teach it nothing, but what it can read is told before.
    few = labelled().groupby("biased").head(30)
    return tuned.fit(few, tuned.Tuning(copies=1, epochs=0.1), seed=0, progress=False)


def test_the_quick_judge_gives_no_verdict_without_a_word_that_it_knows(
    quick: classifier.Fitted,
) -> None:
    found = check(
        classifier.judge(texts(FOREIGN), fitted=quick, progress=False), JUDGEMENTS, where="found"
    )
    assert set(found["outcome"]) == {"failed"}
    assert found["confidence"].isna().all()
    assert set(found["reason"]) == {classifier.UNKNOWN}


def test_the_tuned_judge_gives_no_verdict_on_parts_of_words(offline: tuned.Tuned) -> None:
    found = check(tuned.judge(texts(FOREIGN), tuned=offline), JUDGEMENTS, where="found")
    assert found.loc[found["outcome"] != "failed", "text_id"].tolist() == []
    assert found["reason"].iloc[FOREIGN.index("Frauen sind dumm")] == tuned.UNKNOWN


def test_short_english_texts_have_a_verdict(quick: classifier.Fitted, offline: tuned.Tuned) -> None:
    for found in (
        classifier.judge(texts(SHORT), fitted=quick, progress=False),
        tuned.judge(texts(SHORT), tuned=offline),
    ):
        assert set(found["outcome"]) == {"judged"}
        assert found["biased"].notna().all()


def test_another_models_parts_of_words_say_nothing_of_a_language(offline: tuned.Tuned) -> None:
    pieces = tuned.word_pieces(offline.tokenizer, ["Frauen sind dumm"])
    other = tuned.Tuned(offline.tokenizer, [], {"model": "bert-base-german"})
    assert tuned.out_of_vocabulary(other, ["a"], pieces) == {}
    own = tuned.Tuned(offline.tokenizer, [], {"model": embeddings.OFFLINE})
    assert tuned.out_of_vocabulary(own, ["a"], pieces) == {"a": tuned.UNKNOWN}


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("women are weak", 1),
        ("Frauen are weak!", 2 / 3),
        ("!?", 0),
        ("女人", 0),
        ("42 a", 1),
        ("", 0),
        ("😀 women", 0.5),
    ],
)
def test_whole_words_by_hand(said: str, share: float) -> None:
    tokenizer = tuned.load_tokenizer(embeddings.OFFLINE)
    (pieces,) = tuned.word_pieces(tokenizer, [said])
    assert tuned.whole_words(tokenizer, pieces) == pytest.approx(share)
