"""Distances between groups: never a text with itself, groups weighing alike, known answers."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from nbbias_marked_personas import distances, study

from nbbias.stats import InferenceSettings
from nbbias.text import embeddings


def test_means_between_groups_are_those_of_all_pairs_of_two_texts() -> None:
    vectors = np.random.default_rng(0).normal(size=(9, 12))
    labels = np.repeat(range(3), [4, 3, 2])
    result = distances.mean_cosines(vectors @ vectors.T, np.eye(3)[labels])
    for g, h in product(range(3), repeat=2):
        pairs = [
            vectors[i] @ vectors[j]
            for i, j in product(range(9), repeat=2)
            if labels[i] == g and labels[j] == h and i != j
        ]
        assert result[g, h] == pytest.approx(np.mean(pairs))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is the numbers of its vector."""

    def embed(texts: pd.Series, **_: object) -> np.ndarray:
        return np.array([[float(number) for number in text.split()] for text in texts])

    monkeypatch.setattr(embeddings, "embed", embed)


def simulated(sizes: dict[str, int], *, seed: int = 0, shift: float = 0.0) -> pd.DataFrame:
    """Simulate two templates of random texts; the last group's lie together by `shift`."""
    rng = np.random.default_rng(seed)
    rows = []
    for template in ("t0", "t1"):
        for name, n in sizes.items():
            vectors = rng.normal(size=(n, 12))
            vectors[:, 0] += shift * (name == list(sizes)[-1])
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows += [("m", template, name, " ".join(map(str, v))) for v in vectors]
    return pd.DataFrame(rows, columns=["model", "template", "race", "text"])


def estimated(table: pd.DataFrame, *, reference: str = "a") -> pd.DataFrame:
    settings = InferenceSettings(n_permutations=60)
    return distances.estimate(table, {"race": reference}, inference=settings)


@pytest.mark.usefixtures("parsed")
def test_a_marked_group_is_far_from_the_others_and_near_itself() -> None:
    table = estimated(simulated({"a": 20, "b": 20, "marked": 20}, shift=6.0), reference="marked")
    far = table.query("measure == @distances.TO_CENTROID and statistic == 'distance'")
    assert (far["p_adjusted"] < 0.1).any()
    itself = table[table["instrument"].str.endswith("reference: marked")].iloc[0]
    assert itself[["statistic", "group"]].tolist() == ["spread", "marked"]
    assert itself["p_value"] < 0.05


@pytest.mark.usefixtures("parsed")
def test_a_template_that_lacks_a_group_is_excluded_and_one_text_a_group_is_too_few() -> None:
    table = simulated({"a": 5, "b": 5})
    table = table[~((table["template"] == "t1") & (table["race"] == "b"))]
    result = estimated(table)
    counted = set(result[["statistic", "n", "n_lost"]].itertuples(index=False, name=None))
    assert counted == {("spread", 10, 5), ("distance", 5, 5), ("distance", 5, 0)}
    few = estimated(simulated({"a": 1, "b": 1}))
    assert few["estimate"].isna().all() and few["reason"].str.contains("two texts of every").all()


def test_words_that_name_a_group_are_left_out() -> None:
    texts = ["He is a White man; his wife, a Black woman, is Latina.", "They are middle-class."]
    left = study.remove_group_words(pd.Series(texts))
    assert left.tolist() == ["is a ; , a , is .", "are middle-class."]


def test_the_released_texts_share_their_templates(data_folder: Path) -> None:
    table = study.read_texts(data_folder / "cogs" / "marked_personas.parquet")
    assert len(table) == 3449
    groups = table.groupby(["model", "template"])["race_gender"].nunique()
    expected = {"gpt-4": [15], "text-davinci-002": [10], "text-davinci-003": [15]}
    assert groups.groupby("model").unique().map(list).to_dict() == expected
    assert not table["template"].str.contains("Black|White|Asian|Latin|woman|nonbinary").any()


def test_the_summary_names_the_ends_of_the_widest_significant_spread() -> None:
    estimates = study.measure(draws=100).estimates
    claims = estimates.query("measure == @distances.TO_CENTROID and statistic == 'spread'")
    first, spread, count = study.summarize(claims, estimates)
    (row,) = claims[claims["estimate"] == claims["estimate"].max()].to_dict("records")
    rows = estimates.query("measure == @distances.TO_CENTROID and statistic == 'distance'")
    rows = rows[(rows["model"] == row["model"]) & (rows["bias"] == row["bias"])]
    furthest, closest = (rows["group"][rows["estimate"].agg(end)] for end in ("idxmax", "idxmin"))
    assert row["model"] == "marking"
    assert f"descriptions of {study._people(furthest)} were the most" in first
    assert f"those of {study._people(closest)} the closest" in first
    assert f"distances was {row['estimate']:.3f} (" in spread
    assert f"in {(claims['p_adjusted'] < 0.05).sum()} of 6 comparisons" in count
    (nothing,) = study.summarize(claims.assign(p_adjusted=0.9), estimates)
    assert "in 0 of 6 comparisons" in nothing
