"""A GGUF file becomes a folder that says what the model said before it was packed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter, quants
from safetensors.torch import load_file

from nbbias.biasalert.judges import lora, unpack
from nbbias.tables import DataError
from tests import tiny_llama

PROMPTS = ["SENTENCE: women drive badly. ANSWER:", "SENTENCE: it rains. ANSWER:"]

#: What GGUF calls the parts of a layer.
PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
ENDS = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def interleaved(weight: np.ndarray, heads: int) -> np.ndarray:
    """Order the rows of queries and keys as GGUF does: the halves of a head in turn."""
    halves = weight.reshape(heads, 2, -1, weight.shape[1])
    return np.stack([halves[:, 0], halves[:, 1]], axis=2).reshape(weight.shape)


def pack(folder: Path, path: Path, kind: GGMLQuantizationType = GGMLQuantizationType.F32) -> Path:
    """Write a folder's tiny Llama as one GGUF file, by the format's own package."""
    told = json.loads((folder / "config.json").read_text())
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    out = GGUFWriter(path, "llama")
    out.add_context_length(told["max_position_embeddings"])
    out.add_embedding_length(told["hidden_size"])
    out.add_block_count(told["num_hidden_layers"])
    out.add_feed_forward_length(told["intermediate_size"])
    out.add_head_count(told["num_attention_heads"])
    out.add_head_count_kv(told["num_key_value_heads"])
    out.add_layer_norm_rms_eps(told["rms_norm_eps"])
    out.add_vocab_size(told["vocab_size"])
    words = sorted(model["vocab"], key=model["vocab"].get)
    out.add_tokenizer_model("gpt2")
    out.add_token_list(words)
    out.add_token_types([3 if word in ("<s>", "</s>") else 1 for word in words])
    out.add_token_merges([" ".join(pair) for pair in model["merges"]])
    out.add_bos_token_id(model["vocab"]["<s>"])
    out.add_eos_token_id(model["vocab"]["</s>"])
    out.add_chat_template(tiny_llama.CHAT)
    for name, value in load_file(folder / "model.safetensors").items():
        weight, named = value.numpy(), ENDS.get(name)
        if named is None:
            _, _, layer, part = name.removesuffix(".weight").split(".", 3)
            named = f"blk.{layer}.{PARTS[part]}.weight"
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                side = "num_attention_heads" if "q_proj" in part else "num_key_value_heads"
                weight = interleaved(weight, told[side])
        own = kind if weight.ndim == 2 else GGMLQuantizationType.F32
        out.add_tensor(named, quants.quantize(weight, own), raw_dtype=own)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama.make(tmp_path_factory.mktemp("llama") / "base", PROMPTS)


def test_unpacked_it_says_what_it_said(base: Path, tmp_path: Path) -> None:
    folder = unpack.unpack(pack(base, tmp_path / "tiny.gguf"), tmp_path / "models/tiny")
    names = {path.name for path in folder.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= names
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]  # nothing half made
    held, before = (load_file(one / "model.safetensors") for one in (folder, base))
    for name, value in before.items():
        torch.testing.assert_close(held[name], value, msg=name)
    (mine, words), (theirs, others) = lora.load(folder), lora.load(base)
    assert words.chat_template == others.chat_template == tiny_llama.CHAT
    for prompt in PROMPTS:
        ids = words(prompt, return_tensors="pt")["input_ids"]
        assert ids.tolist() == others(prompt, return_tensors="pt")["input_ids"].tolist()
        with torch.no_grad():
            torch.testing.assert_close(mine(ids).logits, theirs(ids).logits)
    said = [lora.asker(one, max_tokens=12)(PROMPTS) for one in (folder, base)]
    assert said[0] == said[1]


def test_rounded_numbers_become_plain_ones(base: Path, tmp_path: Path) -> None:
    kind = GGMLQuantizationType.Q8_0
    folder = unpack.unpack(pack(base, tmp_path / "tiny.gguf", kind), tmp_path / "tiny")
    held, before = (load_file(one / "model.safetensors") for one in (folder, base))
    name = "model.layers.1.mlp.down_proj.weight"
    assert held[name].dtype == torch.float32
    # In blocks of 32 by their largest number over 127, itself in 16 bits: some half a step off.
    blocks = before[name].reshape(-1, 32)
    step = blocks.abs().amax(dim=1, keepdim=True) / 127
    off = (held[name].reshape(-1, 32) - blocks).abs()
    assert (off <= 0.6 * step).all() and off.max() > 0


def test_what_is_no_model_is_told_and_nothing_is_written(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = pack(base, tmp_path / "tiny.gguf").read_bytes()
    for size in (0, 3, 100, len(whole) // 2):
        path = tmp_path / "cut.gguf"
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match="cannot be read as a language model") as told:
            unpack.unpack(path, tmp_path / "out")
        assert "\n" not in str(told.value)
    with pytest.raises(DataError, match="is not there"):
        unpack.unpack(tmp_path / "none.gguf", tmp_path / "out")
    with pytest.raises(DataError, match="is there already"):
        unpack.unpack(tmp_path / "tiny.gguf", tmp_path)
    with pytest.raises(SystemExit, match="is there already"):
        unpack.main(tmp_path / "tiny.gguf", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.gguf", "cut.gguf"}
    unpack.main(tmp_path / "tiny.gguf", tmp_path / "out")
    assert capsys.readouterr().out.strip() == str(tmp_path / "out")
