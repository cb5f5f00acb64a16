"""Checkpoints that someone else made: what is in them is read, and none of it is run."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from nbbias.tables import DataError
from nbbias.text import embeddings
from tests.biasalert import tiny
from tests.hostile import Trap


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model, whole and harmless."""
    return Path(tiny.transformer(tmp_path_factory.mktemp("bert")))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What is there once code has run."""
    return tmp_path / "ran"


@pytest.fixture
def folder(models: Path, tmp_path: Path) -> Path:
    """A copy of a model, to be spoiled."""
    return Path(shutil.copytree(models, tmp_path / "model"))


def edit(path: Path, **changes: Any) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**told, **changes}), encoding="utf-8")


def tried(folder: Path) -> str:
    """Return what is told of a folder; nothing where it was accepted."""
    try:
        embeddings._encoder(str(folder), "cpu")
    except DataError as error:
        return f"{error}".removeprefix(f"{folder}: ")
    return ""


def with_code(folder: Path, marker: Path, *, unknown: bool) -> None:
    """Let a model's folder bring code of its own, of a kind that transformers knows or not."""
    (folder / "modeling_x.py").write_text(f"import os\nos.mkdir({str(marker)!r})\nclass X: pass\n")
    kinds = ("Config", "Model", "ModelForCausalLM", "ModelForSequenceClassification")
    named = {f"Auto{kind}": "modeling_x.X" for kind in kinds}
    other = {"model_type": "x"} if unknown else {}
    edit(folder / "config.json", auto_map=named, **other)
    other = {"tokenizer_class": "X"} if unknown else {}
    named = {"AutoTokenizer": ["modeling_x.X", "modeling_x.X"]}
    edit(folder / "tokenizer_config.json", auto_map=named, **other)


@pytest.mark.parametrize("unknown", [True, False])
def test_code_in_a_folder_is_not_run_whatever_is_answered(
    folder: Path, marker: Path, unknown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_code(folder, marker, unknown=unknown)
    asked: list[str] = []
    # Where a loader leaves it open, transformers asks, and "y" runs the code.
    monkeypatch.setattr("builtins.input", lambda prompt="": asked.append(prompt) or "y")
    told = tried(folder)
    assert not marker.exists()
    assert not asked
    assert not unknown or "custom code" in told


def test_weights_that_are_a_pickle_run_nothing(folder: Path, marker: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"a": Trap(marker)}, folder / "pytorch_model.bin")
    told = tried(folder)
    assert not marker.exists()
    assert "safetensors" in told
    torch.load(folder / "pytorch_model.bin", weights_only=False)  # read without care, it runs
    assert marker.is_dir()


def test_a_cut_file_is_refused_in_one_line(folder: Path) -> None:
    for file, size in (("model.safetensors", -10), ("tokenizer.json", 300), ("config.json", 0)):
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[:size])
        told = tried(folder)
        assert told and "\n" not in told, file
        (folder / file).write_bytes(whole)


# --- sentence-transformers ----------------------------------------------------------------------


def modules(folder: Path, kind: str, path: str = "") -> Path:
    told = [{"idx": 0, "name": "0", "path": path, "type": kind}]
    (folder / "modules.json").write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(
    "kind", ["evil.X", "joblib.numpy_pickle", "sentence_transformers.base.model.torch"]
)
def test_modules_of_another_kind_are_refused(
    tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "evil.py").write_text(f"import os\nos.mkdir({str(marker)!r})\nclass X: pass\n")
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Trap(marker)))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DataError, match="cannot be loaded as a sentence embedding"):
        embeddings.embed(["a"], model=str(modules(tmp_path, kind, "evil.pkl")))
    assert not marker.exists()


def test_a_layer_whose_weights_are_a_pickle_is_refused(tmp_path: Path, marker: Path) -> None:
    folder = modules(tmp_path, "sentence_transformers.models.Dense", "0_Dense")
    (folder / "0_Dense").mkdir()
    config = {"in_features": 2, "out_features": 2, "activation_function": "torch.nn.Tanh"}
    (folder / "0_Dense" / "config.json").write_text(json.dumps(config))
    torch.save({"a": Trap(marker)}, folder / "0_Dense" / "pytorch_model.bin")
    with pytest.raises(DataError, match="safetensors"):
        embeddings.embed(["a"], model=str(folder))
    assert not marker.exists()
