"""Evidence: nearest by hand, twins dropped, weak ones unused, edges."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert.knowledge import entries as knowledge, retrieval
from tests.biasalert.tiny import GROUPS, SAID, bag_of_words


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return bag_of_words(tmp_path_factory.mktemp("bow"))


@pytest.fixture(scope="module")
def known() -> pd.DataFrame:
    lines = [f"{group} are {said}" for group in GROUPS for said in SAID]
    return knowledge.build(pd.DataFrame({"statement": lines}), source="test")[0]


def retrieve(table: pd.DataFrame, known: pd.DataFrame, *, model: str, **how: Any) -> pd.DataFrame:
    return retrieval.retrieve(table, retrieval.prepare(known, model=model), **how)


def texts(*said: str | None) -> pd.DataFrame:
    return pd.DataFrame({"text_id": [f"t{at}" for at in range(len(said))], "text": said})


def test_cosines_by_hand(model: str, known: pd.DataFrame) -> None:
    # Counted words of "women lazy": women, lazy. Of "women are lazy": these and are.
    # Cosine 2 / (sqrt 2 sqrt 3) = 0.816; of "women are weak" 1 / (sqrt 2 sqrt 3) = 0.408.
    found = retrieve(texts("women lazy"), known, model=model, drop_same=False).head(3)
    assert found["statement"].iloc[0] == "women are lazy"
    assert found["similarity"].tolist() == pytest.approx([2 / 6**0.5, 1 / 6**0.5, 1 / 6**0.5])
    assert found["rank"].tolist() == [1, 2, 3]


def test_an_entry_is_no_evidence_for_itself(model: str, known: pd.DataFrame) -> None:
    table = texts("Women are lazy!", "women are weak and lazy in the morning")
    found = retrieve(table, known, model=model)
    assert "women are lazy" not in found.loc[found["text_id"] == "t0", "statement"].tolist()
    assert "women are lazy" in found.loc[found["text_id"] == "t1", "statement"].tolist()
    assert found.groupby("text_id").size().tolist() == [5, 5]
    kept = retrieve(table, known, model=model, drop_same=False)
    assert kept["similarity"].iloc[0] == pytest.approx(1)


def test_edges(model: str, known: pd.DataFrame) -> None:
    blank = retrieve(texts(None, " ", ""), known, model=model)
    assert blank.empty
    assert retrieve(texts("women"), known.head(0), model=model).empty
    few = retrieve(texts("women sang"), known.head(2), model=model)
    assert len(few) == 2
    single = retrieve(texts("women sang"), known.head(1), model=model)
    assert not single["used"].any()  # one entry has no chance level


def test_quality_by_hand() -> None:
    evidence = pd.DataFrame(
        {
            "text_id": ["a"] * 4 + ["b"] * 2,
            "rank": [1, 2, 3, 4, 1, 2],
            "bias_type": ["race", "gender", "gender", "social", "race", "gender"],
            "similarity": [0.9, 0.8, 0.5, 0.4, 0.3, 0.1],
            "used": [True, True, False, False, False, False],
        }
    )
    found = retrieval.summarize_evidence(texts("x", "y").assign(text_id=["b", "c"]), evidence)
    assert found["text_id"].tolist() == ["b", "c"]
    assert found["bias_type"].iloc[0] == "race"  # of equals, the nearest's
    assert found["n"].tolist() == [2, 0]
    assert np.isnan(found["best"].iloc[1])
    own = retrieval.summarize_evidence(texts("x").assign(text_id="a"), evidence).iloc[0]
    assert own[["n", "n_used", "bias_type"]].tolist() == [4, 2, "gender"]
    assert own[["best", "mean", "agreement"]].tolist() == pytest.approx([0.9, 0.65, 0.5])


def test_what_is_found_for_other_texts_is_the_floor(model: str, known: pd.DataFrame) -> None:
    base = retrieval.prepare(known, model=model)
    # Two statements of this shape share "are", and the group or the word, or neither.
    assert 1 / 3 < base.threshold < 0.9
    found = retrieval.retrieve(texts("women are lazy and weak", "are"), base)
    assert (found["used"] == (found["similarity"] >= base.threshold)).all()
    high = base._replace(threshold=0.99)
    assert not retrieval.retrieve(texts("women are"), high)["used"].any()


def test_an_entry_that_is_the_text_itself_is_no_chance() -> None:
    # Entries in twos: each is nearest to the other (.9), and has nothing in common with the rest.
    vectors = np.kron(np.eye(10), np.linalg.cholesky([[1, 0.9], [0.9, 1]]))
    table = pd.Series([str(at) for at in range(20)])
    assert {retrieval.chance_similarity(table, vectors, seed=seed) for seed in range(6)} == {0}
    assert np.isnan(retrieval.chance_similarity(table.head(2), vectors[:2]))
