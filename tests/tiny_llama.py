"""A causal language model of Llama's architecture with its tokenizer, made in a second."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

CHAT = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}[INST] {{ m['content'] }} "
    "[/INST]{% else %} {{ m['content'] }}{{ eos_token }}{% endif %}{% endfor %}"
)


def make(folder: Path, words: Iterable[str], *, chat: str | None = CHAT, seed: int = 0) -> Path:
    """Save a tiny Llama with random weights, and a byte-level tokenizer trained on some words."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<s>", "</s>"],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokens.train_from_iterator(words, trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", eos_token="</s>")
    wrapped.chat_template = chat
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(wrapped),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.3,  # the head is frozen: with small weights no adapter could move it
        bos_token_id=wrapped.bos_token_id,
        eos_token_id=wrapped.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder, safe_serialization=True)
    wrapped.save_pretrained(folder)
    return folder
