"""Toxicity against direct calls of the libraries, and checkpoints that must not be trusted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest
import torch
from detoxify import Detoxify
from hypothesis import given, settings, strategies as st
from profanity_check import predict_prob
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from nbbias.tables import DataError
from nbbias.text import toxicity

WORDS = ["you", "are", "a", "fool", "friend", "kind", "said", "nurse", "."]
TEXTS = ["You are a fool.", "a friend", "The nurse said you are kind.", "fool fool fool fool"]
CLASSES = ["severe_toxic", "toxic", "insult"]


def save_checkpoint(folder: Path, *, classes: list[str], named: str = "") -> Path:
    """Save a tiny Detoxify checkpoint with random weights, its config and tokenizer beside it.

    It names the model that it is made of: the folder, or what is `named`.
    """
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=len(classes),
        initializer_range=0.3,
    )
    config.save_pretrained(folder)
    torch.manual_seed(0)
    arch = {
        "model_type": named or str(folder),
        "model_name": "BertForSequenceClassification",
        "tokenizer_name": "BertTokenizer",
        "num_classes": len(classes),
    }
    checkpoint = {
        "config": {"dataset": {"args": {"classes": classes}}, "arch": {"args": arch}},
        "state_dict": BertForSequenceClassification(config).state_dict(),
    }
    path = folder / "tiny.ckpt"
    torch.save(checkpoint, path)
    return path


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint(tmp_path_factory.mktemp("detoxify"), classes=CLASSES)


@pytest.fixture(scope="module")
def direct(checkpoint: Path) -> Detoxify:
    return Detoxify(checkpoint=str(checkpoint), huggingface_config_path=str(checkpoint.parent))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A torch hub without any weights, and where they would be."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(torch.hub, "_hub_dir", None)
    return tmp_path / "hub" / "checkpoints"


def test_a_checkpoint_with_its_config_beside_it_asks_no_network(
    tmp_path: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The published ones name bert-base-uncased, whose config Detoxify would fetch."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the network is asked")

    monkeypatch.setattr("socket.socket.connect", refuse)
    path = save_checkpoint(tmp_path, classes=CLASSES, named="bert-base-uncased")
    expected = toxicity.score(TEXTS, scorer=str(checkpoint))
    assert toxicity.score(TEXTS, scorer=str(path)).tolist() == expected.tolist()


# --- the fallback -----------------------------------------------------------------------------


def test_the_fallback_is_profanity_check_called_directly() -> None:
    found = toxicity.score(TEXTS, scorer="offline")
    assert found.tolist() == pytest.approx(predict_prob(TEXTS).tolist(), abs=1e-12)
    assert found.name == "toxicity"


@pytest.mark.parametrize("blank", [None, np.nan, "", " \n\t"])
def test_a_blank_text_has_no_toxicity(blank: object) -> None:
    found = toxicity.score(["fool", blank, "fool"], scorer="offline")
    assert found.isna().tolist() == [False, True, False]


def test_a_series_keeps_its_index_and_is_not_changed() -> None:
    texts = pd.Series(["a fool", None, "kind"], index=[7, 3, 7])
    before = texts.copy()
    assert toxicity.score(texts, scorer="offline").index.tolist() == [7, 3, 7]
    pd.testing.assert_series_equal(texts, before)


def test_without_weights_auto_is_the_fallback_and_says_that_it_is_not_detoxify(hub: Path) -> None:
    assert toxicity.choose("auto") == "offline"
    assert "not Detoxify" in toxicity.instrument("auto")
    assert version("alt-profanity-check") in toxicity.instrument("auto")
    found = toxicity.score(TEXTS)
    assert found.tolist() == pytest.approx(predict_prob(TEXTS).tolist(), abs=1e-12)


def test_with_weights_auto_is_detoxify(hub: Path) -> None:
    hub.mkdir(parents=True)
    (hub / "toxic_original-c1212f89.ckpt").touch()
    # Without config and tokenizer the network would be asked for them: the fallback is taken.
    assert toxicity.choose("auto") == "offline"
    (hub / "config.json").touch()
    (hub / "vocab.txt").touch()
    assert toxicity.choose("auto") == "original"
    assert toxicity.instrument("auto") == f"Detoxify {version('detoxify')} original"


# --- Detoxify ---------------------------------------------------------------------------------


def test_a_checkpoint_gives_the_sigmoid_of_the_class_toxic(checkpoint: Path) -> None:
    # The model built by hand, without Detoxify: class 1 of CLASSES.
    saved = torch.load(checkpoint, weights_only=True)["state_dict"]
    config = BertConfig.from_pretrained(checkpoint.parent)
    model = BertForSequenceClassification(config).eval()
    model.load_state_dict(saved)
    tokenizer = BertTokenizer.from_pretrained(checkpoint.parent)
    with torch.no_grad():
        logits = [model(**tokenizer(text, return_tensors="pt")).logits[0, 1] for text in TEXTS]
    expected = [1 / (1 + np.exp(-logit.item())) for logit in logits]
    assert np.ptp(expected) > 0.01
    found = toxicity.score(TEXTS, scorer=str(checkpoint))
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(
        st.none() | st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=12
    ),
    batch=st.integers(1, 13),
)
def test_batches_of_any_size_are_detoxify_text_by_text(
    checkpoint: Path, direct: Detoxify, texts: list[str | None], batch: int
) -> None:
    expected = [direct.predict(text)["toxicity"] if text else np.nan for text in texts]
    found = toxicity.score(texts, scorer=str(checkpoint), batch=batch)
    assert found.tolist() == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_a_model_that_gives_no_number_leaves_the_text_unmeasured(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, classes=CLASSES)
    saved = torch.load(path, weights_only=True)
    saved["state_dict"]["classifier.bias"].fill_(np.nan)
    torch.save(saved, path)
    assert toxicity.score(TEXTS, scorer=str(path)).isna().all()


def test_a_checkpoint_is_named_by_its_file(checkpoint: Path) -> None:
    name = f"Detoxify {version('detoxify')} checkpoint tiny.ckpt"
    assert toxicity.instrument(str(checkpoint)) == name
    braces = toxicity.instrument("models/{0}{tiny}.ckpt")
    assert braces == f"Detoxify {version('detoxify')} checkpoint {{0}}{{tiny}}.ckpt"


# --- what is refused --------------------------------------------------------------------------


class Trap:
    """An object whose unpickling makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def test_code_in_a_checkpoint_is_refused_and_not_run(tmp_path: Path) -> None:
    path, marker = tmp_path / "trap.ckpt", tmp_path / "ran"
    torch.save({"config": Trap(marker), "state_dict": {}}, path)
    with pytest.raises(DataError, match="no Detoxify checkpoint"):
        toxicity.score(TEXTS, scorer=str(path))
    assert not marker.exists()
    # The trap is one: read without care, it runs.
    torch.load(path, weights_only=False)
    assert marker.is_dir()


@pytest.mark.parametrize("content", [[1, 2], {"state_dict": {}}, {"config": {}}])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "other.ckpt"
    torch.save(content, path)
    with pytest.raises(DataError, match="needs config and state_dict"):
        toxicity.score(TEXTS, scorer=str(path))


@pytest.mark.parametrize("name", ["nowhere.ckpt", "orignal"])
def test_a_scorer_that_is_no_model_and_no_file_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(DataError, match=r"original, unbiased, multilingual.* and no file"):
        toxicity.score(TEXTS, scorer=name)


def test_a_model_without_weights_and_network_is_refused_with_advice(
    hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A proxy that nobody answers at: closed whether or not the machine has a network.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"cannot be fetched.*'offline', or the path"):
        toxicity.score(TEXTS, scorer="unbiased")


def without_config(path: Path) -> None:
    (path.parent / "config.json").unlink()


def without_toxic(path: Path) -> None:
    edit(path, {"dataset": {"args": {"classes": ["rude", "loud", "insult"]}}})


def without_classes(path: Path) -> None:
    edit(path, {"dataset": {}})


def edit(path: Path, changes: Mapping[str, Any]) -> None:
    saved = torch.load(path, weights_only=True)
    saved["config"].update(changes)
    torch.save(saved, path)


@pytest.mark.parametrize("spoil", [without_config, without_toxic, without_classes])
def test_an_incomplete_checkpoint_is_refused_by_name(tmp_path: Path, spoil: Any) -> None:
    path = save_checkpoint(tmp_path, classes=CLASSES)
    spoil(path)
    with pytest.raises(DataError, match=r"tiny\.ckpt"):
        toxicity.score(TEXTS, scorer=str(path))
