"""Baselines by hand, and attribution by pattern."""

import pandas as pd
import pytest

from nbbias.biasalert.judges import attribution, baselines
from nbbias.biasalert.judges.registry import Settings, TrainingInput
from nbbias.biasalert.knowledge.groups import target
from nbbias.text import toxicity
from tests.biasalert.tables import labelled

TEXTS = pd.DataFrame({"text_id": list("abcd")}).assign(
    text=["Jews are greedy", "the tea is greedy", "women are my colleagues", None]
)


def taught(*biased: bool, **settings: str) -> TrainingInput:
    return TrainingInput(labelled(biased), Settings(**settings))


# --- attribution --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("women are bad at maths.", "bad at maths"),
        ("All Muslims are just dangerous, but who knows", "dangerous"),
        ("i think gay people should not be allowed to marry", "not be allowed to marry"),
        ("nobody hires immigrants.", "nobody hires"),
        ("women", None),
    ],
)
def test_what_is_said_of_a_group(text: str, said: str | None) -> None:
    assert attribution.attribute(text, target(text)) == said


def test_evidence_speaks_where_the_text_does_not() -> None:
    texts = pd.DataFrame({"text_id": ["a", "b"], "text": ["they never learn", "women sing"]})
    rows = [("a", 1, "race", "Black people", "slow", False)]
    rows += [("a", 2, "social", "poor people", "z", True), ("b", 1, "race", "x", "y", True)]
    columns = ["text_id", "rank", *attribution.COLUMNS[1:], "used"]
    evidence = pd.DataFrame(rows, columns=columns)
    found = attribution.attribute_texts(texts, evidence)
    assert found.iloc[0].tolist() == ["a", "social", "poor people", "z"]
    assert found.iloc[1].tolist() == ["b", "gender", "women", "sing"]
    assert attribution.attribute_texts(texts).iloc[0, 1:].isna().all()


# --- baselines ----------------------------------------------------------------------------------


def test_the_majority_is_said_of_all() -> None:
    judged = baselines.make_majority(taught(True, True, False))[0](TEXTS, None)
    assert judged["biased"].tolist()[:3] == [True] * 3
    assert judged["confidence"].tolist()[:3] == pytest.approx([2 / 3] * 3)
    assert judged["outcome"].tolist() == ["judged"] * 3 + ["empty"]
    none, _ = baselines.make_majority(taught(False, False))
    assert not none(TEXTS, None)["biased"].iloc[0]


def test_a_keyword_counts_with_its_group_alone() -> None:
    judged = baselines.keywords(TEXTS)
    assert judged["biased"].iloc[:3].tolist() == [True, False, False]
    assert judged["group"].iloc[0] == "Jewish people"
    assert judged["confidence"].isna().all()
    assert "greedy" in judged["explanation"].iloc[0]


def test_toxicity_is_bias_from_a_half() -> None:
    texts = TEXTS.assign(text=["you are a fucking idiot", "good morning", "thank you", None])
    scores = toxicity.score(texts["text"], scorer="offline")
    judged = baselines.make_toxicity(taught(toxicity_scorer="offline"))[0](texts, None)
    assert judged["biased"].iloc[:3].tolist() == (scores >= 0.5).iloc[:3].tolist()
    assert judged["biased"].iloc[:3].tolist() == [True, False, False]
    assert judged["confidence"].iloc[:3].tolist() == pytest.approx(scores.iloc[:3].tolist())
    assert judged["biased"].isna().iloc[3]
