"""Where and with which numbers networks read: ONNX Runtime and 16 bits against plain torch."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from nbbias.params import Device
from nbbias.text import embeddings, networks, toxicity
from tests.biasalert.tiny import transformer
from tests.text.test_toxicity import CLASSES, TEXTS, save_checkpoint


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_checkpoint(tmp_path_factory.mktemp("detoxify"), classes=CLASSES))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return transformer(tmp_path_factory.mktemp("bert"))


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that multiplies numbers of 16 bits."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")


MANY = [f"{text} {' '.join(['said', 'kind'] * n)}" for n in range(12) for text in TEXTS]


def test_onnx_says_what_torch_says(checkpoint: str) -> None:
    pytest.importorskip("onnxruntime")
    plain = toxicity.score(MANY, scorer=checkpoint, batch=5)
    found = toxicity.score(MANY, scorer=checkpoint, device="onnx", batch=7)
    assert plain.std() > 0.01
    np.testing.assert_allclose(found, plain, atol=1e-6)


def test_vectors_by_onnx_are_those_by_torch(bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    texts = ["women are lazy", "Muslims came late on monday, everyone knows", "won"]
    plain = embeddings.embed(texts, model=bert)
    monkeypatch.setattr(embeddings, "_known", {})
    np.testing.assert_allclose(embeddings.embed(texts, model=bert, device="onnx"), plain, atol=1e-6)


def test_what_is_lost_by_16_bits_is_little_and_told(
    checkpoint: str, bert: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "_told", set())
    plain = toxicity.score(MANY, scorer=checkpoint)
    with caplog.at_level(logging.WARNING, logger="nbbias"):
        found = toxicity.score(MANY, scorer=checkpoint, device="cpu-bf16")
    apart = np.abs(found - plain)
    assert 0 < apart.max() < 0.02
    (told,) = caplog.messages
    assert told.startswith(toxicity.instrument(checkpoint))
    assert f"on {len(MANY)} of {len(MANY)} texts" in told  # all were read twice
    assert f"{apart.max():.1g} at most" in told
    toxicity.score(MANY[:3], scorer=checkpoint, device="cpu-bf16")
    assert len(caplog.messages) == 1  # it is told once
    # Vectors of either kind are known apart.
    one, two = (embeddings.embed(TEXTS, model=bert, device=at) for at in ("cpu", "cpu-bf16"))
    assert 0.999 < (one * two).sum(axis=1).min() < 1


def test_a_processor_without_16_bits_is_told_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks._slow.cache_clear()
    for capability, device, told in (
        ("AVX512", "cpu-bf16", 0),
        ("AVX2", "cpu", 0),
        ("AVX2", "cpu-bf16", 1),
        ("AVX2", "cpu-bf16", 1),
    ):
        found = capability
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda found=found: found)
        with networks.numbers(device):
            pass
        assert len([one for one in caplog.messages if "no numbers of 16 bits" in one]) == told


def test_32_bits_are_read_once(checkpoint: str, caplog: pytest.LogCaptureFixture) -> None:
    toxicity.score(TEXTS, scorer=checkpoint)
    networks.tell("none", "cpu-bf16", [], lambda texts, device: np.zeros(0))
    assert not caplog.messages


def test_batches_are_halved_until_they_fit() -> None:
    asked = []

    def read(size: int) -> str:
        asked.append(size)
        if size > 600:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return "read"

    assert networks.halving(read, "cuda:1-bf16") == "read"
    assert asked == [4096, 2048, 1024, 512]


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), RuntimeError("a bug")])
def test_what_halving_does_not_help_is_raised(error: Exception) -> None:
    asked = []

    def read(size: int) -> None:
        asked.append(size)
        raise error

    with pytest.raises(RuntimeError, match=str(error)):
        networks.halving(read, "cpu", 8)
    assert asked == ([8, 4, 2, 1] if "memory" in str(error) else [8])


def test_a_device_that_runs_out_of_memory_scores_the_same(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = toxicity.score(MANY, scorer=checkpoint)
    predict = toxicity._predictor(checkpoint, "cpu")

    def narrow(texts: list[str]) -> np.ndarray:
        if len(texts) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return predict(texts)

    monkeypatch.setattr(toxicity, "_predictor", lambda chosen, device: narrow)
    np.testing.assert_allclose(toxicity.score(MANY, scorer=checkpoint), plain, atol=1e-6)


@pytest.mark.parametrize(
    ("named", "place", "short"),
    [
        ("cpu", "cpu", False),
        ("cpu-bf16", "cpu", True),
        ("cuda:12-bf16", "cuda:12", True),
        ("mps", "mps", False),
        ("onnx", "cpu", False),
    ],
)
def test_a_device_is_a_place_and_its_numbers(named: str, place: str, short: bool) -> None:
    assert (networks.place(named), networks.short(named)) == (place, short)
    TypeAdapter(Device).validate_python(named)


@pytest.mark.parametrize("named", ["onnx-bf16", "bf16", "gpu", "cpu-fp16", "cuda-bf16-bf16", ""])
def test_other_words_are_no_device(named: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        TypeAdapter(Device).validate_python(named)
