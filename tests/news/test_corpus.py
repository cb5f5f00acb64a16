"""News corpora: every layout comes in, sides pair, oddities and losses are counted exactly."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias.news import corpus
from nbbias.tables import ContractError, DataError


def originals(*texts: str | None, **columns: Any) -> pd.DataFrame:
    ids = [str(i) for i in range(len(texts))]
    table = pd.DataFrame({"source": "s", "article_id": ids, "text": pd.Series(texts, dtype="str")})
    return table.assign(**columns)


def generations(*texts: str | None, **columns: Any) -> pd.DataFrame:
    keys = {"model": "m", "prompt": "p", "sample": 1}
    return originals(*texts).assign(**(keys | columns))


def side(folder: Path, name: str, **columns: list[str]) -> str:
    pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    return str(folder / f"{name}.csv")


# --- reading ----------------------------------------------------------------------------------


def test_texts_under_groups_are_of_no_article_of_the_other_side(tmp_path: Path) -> None:
    path = tmp_path / "model-7b.json"
    path.write_text('{"female": ["x", "y"], "male": ["z"]}')
    named = side(tmp_path, "o", article_id=["a1"], text=["Rain fell."])
    with pytest.raises(ContractError, match="needs the column article_id; it has group, text"):
        corpus.read(named, str(path))


# --- what a file lacks ------------------------------------------------------------------------


def test_a_file_without_models_is_of_one_that_has_its_name(tmp_path: Path) -> None:
    path = side(tmp_path, "gpt", article_id=["a"], text=["x"])
    assert corpus.read_generations(path)["model"].tolist() == ["gpt"]
    misspelt = side(tmp_path, "gpt", article_id=["a"], text=["x"], modle=["m"])
    with pytest.raises(ContractError, match="did you mean modle for model"):
        corpus.read_generations(misspelt)


def test_sides_without_ids_are_paired_in_order_within_each_model(tmp_path: Path) -> None:
    originals = side(tmp_path, "o", body=["one", "two"])
    answers = side(tmp_path, "g", llm=["m", "n", "m", "n"], output=["1m", "1n", "2m", "2n"])
    pairs = corpus.pair(*corpus.read(originals, answers))
    met = dict(zip(pairs["generated_text"], pairs["original_text"], strict=True))
    assert met == {"1m": "one", "1n": "one", "2m": "two", "2n": "two"}
    assert pairs["lost"].isna().all()


@pytest.mark.parametrize("models", [["m", "m"], ["m", "m", "n", "n", "n"]])
def test_sides_without_ids_of_other_lengths_are_unpaired(models: list[str], tmp_path: Path) -> None:
    originals = side(tmp_path, "o", text=["one", "two", "three"])
    answers = side(tmp_path, "g", model=models, text=models)
    with pytest.raises(DataError, match="paired in order, and 3 originals need"):
        corpus.read(originals, answers)


def test_ids_on_one_side_alone_are_asked_of_the_other(tmp_path: Path) -> None:
    with_ids = {"uid": ["1", "2"], "text": ["a", "b"]}
    without = {"text": ["c", "d"], "n": ["1", "2"]}
    for first, second in ((with_ids, without), (without, with_ids)):
        sides = side(tmp_path, "o", **first), side(tmp_path, "g", **second)
        with pytest.raises(ContractError, match="needs the column article_id; it has text, n"):
            corpus.read(*sides)


# --- ids of two files -------------------------------------------------------------------------


def test_half_a_character_spoils_no_name(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    row = {"source": "s\ud800", "article_id": "\udc00", "model": "m\ud800", "text": "One\ud800."}
    path.write_text(json.dumps([row, {**row, "article_id": "2", "text": "Two."}]))
    found = corpus.read_generations(path)
    found.select_dtypes(["object", "str"]).map(str.encode)
    assert found["model"].unique() == ["m\ufffd"]


# --- pairs ------------------------------------------------------------------------------------


LOSSES: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {
    "no original": (originals("o0"), generations("g0", "g1")),
    "blank original": (originals("o0", " "), generations("g0", "g1")),
    "blank answer": (originals("o0", "o1"), generations("g0", "\n")),
    "repeated id": (originals("o0"), generations("g0", "g1", article_id="0")),
    "repeated answer": (originals("o0"), generations("g", "g", article_id="0", sample=[1, 2])),
}


@pytest.mark.parametrize("reason", list(LOSSES))
def test_a_pair_that_cannot_be_measured_is_lost_with_its_reason(reason: str) -> None:
    assert corpus.pair(*LOSSES[reason])["lost"].fillna("kept").tolist() == ["kept", reason]


def test_the_same_words_for_another_article_or_model_are_no_repeated_answer() -> None:
    pairs = corpus.pair(originals("o0", "o1"), generations("g", "g"))
    assert pairs["lost"].isna().all()
    both = generations("g", "g", article_id="0", model=["m", "n"])
    assert corpus.pair(originals("o0"), both)["lost"].isna().all()


def test_sides_without_a_common_article_are_refused_with_ids_of_both() -> None:
    right = generations("x", "y", article_id=["nyt-1", "nyt-2"], source="all")
    with pytest.raises(DataError) as caught:
        corpus.pair(originals("o0", "o1"), right)
    for shown in ("s / '0'", "s / '1'", "all / 'nyt-1'", "all / 'nyt-2'"):
        assert shown in str(caught.value)


# --- both sides -------------------------------------------------------------------------------


def test_the_summary_counts_texts_articles_and_words_of_both_sides() -> None:
    left = originals("one two", "three", None)
    right = generations("a b c", "", "d", model=list("mmn"), article_id=["0", "0", "1"])
    table = corpus.summary(left, right)
    assert table.to_dict("records") == [
        {"source": "s", "model": "human", "prompt": "-", "texts": 3, "articles": 3, "words": 1.0},
        {"source": "s", "model": "m", "prompt": "p", "texts": 2, "articles": 1, "words": 1.5},
        {"source": "s", "model": "n", "prompt": "p", "texts": 1, "articles": 1, "words": 1.0},
    ]


def test_the_sample_has_its_simulated_faults() -> None:
    found = corpus.read("sample", "sample")
    lost = corpus.pair(*found)["lost"].value_counts().to_dict()
    assert lost == {"blank answer": 1, "no original": 1}
