"""Near-duplicates by brute force, and a split that has none on both sides."""

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from nbbias.biasalert import corpus
from nbbias.biasalert.knowledge import split
from nbbias.tables import ParameterError
from tests.biasalert.tiny import labelled


def shingles(text: str) -> set[str]:
    """Pieces of four characters within words, a blank at both ends of each."""
    found = set()
    for word in text.lower().split():
        padded = f" {word} "
        found |= {padded[at : at + 4] for at in range(max(1, len(padded) - 3))}
    return found


def jaccard(one: str, two: str) -> float:
    first, second = shingles(one), shingles(two)
    return len(first & second) / len(first | second) if first | second else 0.0


WORDS = st.sampled_from(["boat", "boats", "goat", "a", "train", "trains", "tea"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@given(st.lists(TEXTS, min_size=2, max_size=8, unique=True), st.sampled_from([0.3, 0.6, 0.9, 1.0]))
def test_all_pairs_are_found(texts: list[str], near: float) -> None:
    expected = {
        (one, two)
        for one, two in combinations(range(len(texts)), 2)
        if jaccard(texts[one], texts[two]) >= near - 1e-9
    }
    found = split.near_pairs(texts, near=near)
    assert set(zip(found["first"], found["second"], strict=True)) == expected


def test_clusters_are_chains_and_equal_texts_are_one() -> None:
    texts = ["the red boat sails", "tea", "the red boat sails", "the red boats sails", ""]
    numbers = split.cluster_texts(texts)
    assert numbers[0] == numbers[2] == numbers[3]
    assert len(set(numbers)) == 3
    assert split.cluster_texts([]).tolist() == []


def test_no_cluster_is_on_both_sides_and_the_seed_decides() -> None:
    table = labelled()
    parted = split.split(table, seed=1)
    assert set(parted["split"]) == {"train", "test"}
    assert (parted.groupby("comment_id")["split"].nunique() == 1).all()
    train, test = (parted.loc[parted["split"] == side, "text"] for side in ("train", "test"))
    assert not any(jaccard(one, two) >= split.NEAR for one in train for two in test)
    assert (parted["split"] != split.split(table, seed=2)["split"]).any()


def test_what_cannot_be_parted_is_refused() -> None:
    table = labelled()
    with pytest.raises(ParameterError, match="distinct"):
        split.split(table.head(2), seed=0)
    with pytest.raises(ParameterError, match="one label"):
        split.split(table[table["biased"]], seed=0)


def test_redditbias_is_parted_seventy_to_thirty(data_folder: Path) -> None:
    table, _ = corpus.read_labelled(str(data_folder / "biasalert" / "redditbias.parquet"))
    parted = split.split(table, seed=0)
    assert len(parted) == 9758
    assert (parted["split"] == "test").mean() == pytest.approx(0.3, abs=0.01)
    train, test = (parted.loc[parted["split"] == side, "text"] for side in ("train", "test"))
    assert not split.has_near_duplicate(train, test).any()
