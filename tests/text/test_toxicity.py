"""Toxicity against direct calls of the libraries, and weights that must not be trusted."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from detoxify import detoxify
from hypothesis import given, settings, strategies as st
from profanity_check import predict_prob
from transformers import BertTokenizer

from nbbias.tables import DataError, file_sha256
from nbbias.text import toxicity
from tests import tiny_bert
from tests.hostile import Trap

WORDS = ["you", "are", "a", "fool", "friend", "kind", "said", "nurse", "."]
TEXTS = ["You are a fool.", "a friend", "The nurse said you are kind.", "fool fool fool fool"]
CLASSES = ["severe_toxic", "toxic", "insult"]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Torch's folder of weights, which is empty."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(torch.hub, "_hub_dir", None)
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def publish(hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Let a tiny network stand for the published one, as if it had been fetched."""

    def save(**parameters: float) -> Any:
        model = tiny_bert.save(tmp_path, WORDS, labels=CLASSES)
        for name, value in parameters.items():
            model.get_parameter(name.replace("__", ".")).data.fill_(value)
        arguments = {"model_type": str(tmp_path), "num_classes": len(CLASSES)}
        arguments |= {"model_name": "BertForSequenceClassification"}
        arguments |= {"tokenizer_name": "BertTokenizer"}
        config = {"dataset": {"args": {"classes": CLASSES}}, "arch": {"args": arguments}}
        path = hub / "new.ckpt"
        torch.save({"config": config, "state_dict": model.state_dict()}, path)
        path = path.rename(hub / f"tiny-{file_sha256(path)[:8]}.ckpt")
        monkeypatch.setitem(detoxify.MODEL_URLS, "original", f"https://localhost:9/{path.name}")
        toxicity._load_detoxify.cache_clear()
        return model

    return save


# --- the fallback -----------------------------------------------------------------------------


def test_the_fallback_is_profanity_check_called_directly() -> None:
    texts = pd.Series([*TEXTS, None, " \n\t", TEXTS[0]], index=[7, 3, 7, 1, 2, 3, 0])
    scores = toxicity.score(texts, scorer="offline")
    expected = [*predict_prob(TEXTS), np.nan, np.nan, predict_prob(TEXTS)[0]]
    assert scores.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert scores.index.tolist() == texts.index.tolist() and scores.name == "toxicity"
    assert toxicity.score([], scorer="offline").empty


def test_auto_is_detoxify_where_weights_config_and_tokenizer_are_here(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toxicity.choose("auto") == "offline"
    assert "not Detoxify" in toxicity.instrument("auto")
    assert version("alt-profanity-check") in toxicity.instrument("auto")
    (hub / "toxic_original-c1212f89.ckpt").touch()
    save = tiny_bert.cached_model(tmp_path, "bert-base-uncased", monkeypatch)
    save("config.json")
    assert toxicity.choose("auto") == "offline"
    save("vocab.txt")
    assert toxicity.choose("auto") == "original"
    assert toxicity.instrument("auto") == f"Detoxify {version('detoxify')} original"


# --- Detoxify ---------------------------------------------------------------------------------


def test_detoxify_gives_the_sigmoid_of_the_class_toxic(
    publish: Callable[..., Any], tmp_path: Path
) -> None:
    model = publish()
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    with torch.no_grad():
        logits = [model(**tokenizer(text, return_tensors="pt")).logits[0, 1] for text in TEXTS]
    expected = [1 / (1 + np.exp(-logit.item())) for logit in logits]
    assert np.ptp(expected) > 0.01
    scores = toxicity.score(TEXTS, scorer="original")
    assert scores.tolist() == pytest.approx(expected, abs=1e-6)

    @settings(max_examples=10)
    @given(st.lists(st.sampled_from([*TEXTS, None, " "]), max_size=9), st.integers(1, 5))
    def batches_of_any_size_are_the_same(texts: list[str | None], batch: int) -> None:
        with patch.object(toxicity, "_BATCH", batch):
            scores = toxicity.score(texts, scorer="original")
        by_text = dict(zip(TEXTS, expected, strict=True))
        assert scores.tolist() == pytest.approx(
            [by_text.get(str(text), np.nan) for text in texts], abs=1e-6, nan_ok=True
        )

    batches_of_any_size_are_the_same()


def test_weights_that_are_not_the_published_ones_run_nothing(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker, fetched = tmp_path / "ran", tmp_path / "toxic-00000000.ckpt"
    torch.save({"config": {}, "state_dict": Trap(marker)}, fetched)
    toxicity._load_detoxify.cache_clear()
    torch.save({"config": {}, "state_dict": Trap(marker)}, hub / "toxic_original-c1212f89.ckpt")
    with pytest.raises(DataError, match=r"not the published file; delete it; use 'offline'"):
        toxicity.score(TEXTS, scorer="original")
    monkeypatch.setitem(detoxify.MODEL_URLS, "unbiased", fetched.as_uri())
    with pytest.raises(DataError, match=r"Detoxify unbiased: .*invalid hash value"):
        toxicity.score(TEXTS, scorer="unbiased")
    assert not marker.exists()
    torch.load(fetched, weights_only=False)  # the trap is one: read without care, it runs
    assert marker.is_dir()


def test_a_model_without_weights_and_network_is_refused_with_advice(
    hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A proxy that nobody answers at: closed whether or not the machine has a network.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"cannot be fetched.*use 'offline'"):
        toxicity.score(TEXTS, scorer="multilingual")
