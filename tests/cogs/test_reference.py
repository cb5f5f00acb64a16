"""Distances without a default: never a text with itself, groups weighing alike."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.cogs import reference, tables as cogs_tables
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, DataError
from nbbias.text import embeddings


def unit(n: int, *, size: int = 12, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, size))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_means_between_groups_are_those_of_all_pairs_but_of_one_text() -> None:
    vectors, labels = unit(9), np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    found = reference.between(vectors @ vectors.T, np.eye(3)[labels])
    for g, h in product(range(3), repeat=2):
        pairs = [
            vectors[i] @ vectors[j]
            for i, j in product(range(9), repeat=2)
            if labels[i] == g and labels[j] == h and i != j
        ]
        assert found[g, h] == pytest.approx(np.mean(pairs))


def test_copies_of_a_text_are_not_compared() -> None:
    vectors = unit(3)
    weights = np.array([[2.0, 0], [1, 0], [0, 3.0]])
    found = reference.between(vectors @ vectors.T, weights)
    assert found[0, 0] == pytest.approx(vectors[0] @ vectors[1])
    assert np.isnan(found[1, 1])


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is the numbers of its vector."""
    monkeypatch.setattr(
        embeddings,
        "embed",
        lambda texts, **_: np.array([[float(x) for x in t.split()] for t in texts]),
    )


def texts(
    sizes: dict[str, int], *, seed: int = 0, shift: float = 0.0, templates: int = 2
) -> pd.DataFrame:
    """Random texts; the last group's lie together by `shift`."""
    rng = np.random.default_rng(seed)
    rows = []
    for template in range(templates):
        for name, n in sizes.items():
            vectors = rng.normal(size=(n, 12))
            if name == list(sizes)[-1]:
                vectors[:, 0] += shift
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows += [("m", f"t{template}", name, " ".join(map(str, v))) for v in vectors]
    return pd.DataFrame(rows, columns=["model", "template", "race", "text"])


def estimated(table: pd.DataFrame, *, draws: int = 60, **options: object) -> pd.DataFrame:
    inference = InferenceSettings(n_permutations=draws)
    return reference.reference_estimates(table, "race", inference=inference, **options)  # type: ignore[arg-type]


@pytest.mark.usefixtures("placed")
def test_a_small_group_is_no_nearer_by_its_size() -> None:
    found = []
    for seed in range(25):
        table = estimated(texts({"few": 4, "many": 30, "more": 40}, seed=seed), draws=2)
        found.append(table[table["statistic"] == "distance"]["estimate"].to_numpy())
    means = np.mean(found, axis=0)
    # Unrelated texts lie at 1 on average, whatever the group's size.
    np.testing.assert_allclose(means, 1, atol=0.03)


@pytest.mark.usefixtures("placed")
def test_groups_that_do_not_differ_are_seldom_told_apart() -> None:
    p = []
    for seed in range(30):
        table = estimated(texts({"a": 8, "b": 8, "c": 8}, seed=seed, templates=1))
        p.append(table.loc[table["statistic"] == "rbs", "p_value"].item())
    assert np.sum(np.array(p) < 0.05) < 6


@pytest.mark.usefixtures("placed")
def test_a_group_set_apart_lies_far_from_the_centroid_and_near_itself() -> None:
    table = texts({"a": 20, "b": 20, "apart": 20}, shift=6.0)
    centroid = estimated(table)
    rows = centroid[centroid["statistic"] == "distance"].set_index("group")
    assert (rows["p_adjusted"] < 0.1).any()
    itself = estimated(table, reference="apart")
    near = itself[itself["statistic"] == "rbs"].iloc[0]
    assert near["group"] == "apart" and near["p_value"] < 0.05
    assert "reference: apart" in near["instrument"]
    assert "centroid" in centroid["instrument"].iloc[0]
    tables.check(centroid, tables.ESTIMATES)


@pytest.mark.usefixtures("placed")
def test_a_template_that_lacks_a_group_is_lost() -> None:
    table = texts({"a": 5, "b": 5})
    table = table[~((table["template"] == "t1") & (table["race"] == "b"))]
    found = estimated(table)
    assert found["n"].tolist() == [10] * 3
    assert found["n_lost"].tolist() == [5] * 3


@pytest.mark.usefixtures("placed")
def test_one_text_a_group_is_not_measured() -> None:
    found = estimated(texts({"a": 1, "b": 1}))
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("two texts of every group").all()


@pytest.mark.usefixtures("placed")
def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(ContractError, match="no group 'c'; known: a, b"):
        estimated(texts({"a": 3, "b": 3}), reference="c")


def test_marked_personas_share_their_templates(data_folder: Path) -> None:
    table = reference.read_personas(data_folder / "cogs" / "marked_personas.parquet")
    assert len(table) == 3449
    groups = table.groupby(["model", "template"])["race_gender"].nunique()
    assert groups.groupby("model").unique().map(list).to_dict() == {
        "gpt-4": [15],
        "text-davinci-002": [10],
        "text-davinci-003": [15],
    }
    assert not table["template"].str.contains("Black|White|Asian|Latin|woman|nonbinary").any()


def test_another_gender_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("model,kind,race,gender,prompt,text\nm,persona,White,X,Describe,Text\n")
    with pytest.raises(DataError, match="'X' is none of M, W, N"):
        reference.read_personas(path)


def test_groupings_stand_below_one_another_and_share_a_correction(data_folder: Path) -> None:
    texts = reference.read_personas(data_folder / "cogs/marked_personas.parquet")
    own = texts[(texts["model"] == "gpt-4") & (texts["template"] == texts["template"].iloc[0])]
    few = own.groupby("race_gender").head(2)
    counted = cogs_tables.texts(few).rows
    assert counted["texts"].sum() == len(few)
    assert len(counted) == 15
    inference = InferenceSettings(n_permutations=100)
    table = reference.groupings(few, {"race": "White", "gender": "man"}, inference=inference)
    spreads = table[table["statistic"] == "rbs"]
    told = spreads["instrument"].str.split("reference: ").str[-1].tolist()
    assert told == ["centroid of groups", "White", "centroid of groups", "man"]
    assert spreads["p_adjusted"].tolist() == pytest.approx(
        stats.adjust(spreads)["p_adjusted"].tolist()
    )
    alone = reference.reference_estimates(few, "race", inference=inference)
    first = table[(table["bias"] == "race") & table["instrument"].str.endswith("groups")]
    assert first["estimate"].tolist() == pytest.approx(alone["estimate"].tolist())
