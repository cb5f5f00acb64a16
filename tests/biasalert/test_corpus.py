"""Jigsaw's two releases, in tables written by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert import corpus
from nbbias.biasalert.knowledge.groups import groups
from nbbias.tables import NbbiasError, read_shipped_table

OF_2019 = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 5],
        "target": [0.9, 0.1, 0.8, 0.2, 0.7],
        "comment_text": ["one", "two", "three", "four", "five"],
        "identity_attack": [0.5, 0.2, 0.9, 0.0, np.nan],
        "female": [1.0, 0.6, np.nan, 0.4, 1.0],
        "black": [0.2, 0.9, np.nan, 0.4, 0.0],
        "other_religion": [0.0, 0.0, np.nan, 0.0, 0.0],
    }
)


def test_a_file_is_read_as_labelled_texts(tmp_path: Path) -> None:
    file = tmp_path / "train.csv"
    twice = pd.concat([OF_2019, OF_2019.head(1).assign(identity_attack=0.0)])
    twice.to_csv(file, index=False)
    found, lost = corpus.read_labelled(str(file))
    assert lost.set_index("reason").loc["a text with both labels", "n"] == 2
    assert lost["n"].sum() + len(found) == len(twice)
    assert found["text"].tolist() == ["two"]  # "one" has both labels: neither is kept
    assert found["bias_type"].tolist() == ["race"]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (OF_2019.drop(columns="identity_attack"), "identity_attack"),
        (OF_2019[["comment_text", "identity_attack"]], "no text"),
        (OF_2019.iloc[[2, 3, 4]], "no text"),
    ],
)
def test_what_is_missing_is_said(table: pd.DataFrame, says: str, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "train.csv", index=False)
    with pytest.raises(NbbiasError, match=says):
        corpus.read_labelled(str(tmp_path / "train.csv"))


def test_every_identity_is_a_group_that_is_known() -> None:
    named = read_shipped_table("biasalert/jigsaw.csv")
    known = groups().drop_duplicates("group").set_index("group")["bias_type"]
    told = named.dropna(subset="group")
    assert (told["group"].map(known) == told["bias_type"]).all()
    assert named["identity"].is_unique
    assert len(named) == 24


def test_the_samples_texts_about_one_group_are_one_cluster() -> None:
    texts, _ = corpus.read_texts(seed=0)
    clusters = texts.groupby("comment_id")
    assert clusters.size().eq(4).all() and clusters["biased"].sum().eq(2).all()
    assert clusters["group"].nunique().eq(1).all() and clusters["split"].nunique().eq(1).all()
