"""A small random language model and texts for it, for tests of cache plans."""

from __future__ import annotations

import torch
import transformers


def random_llama(layers: int = 2) -> transformers.LlamaForCausalLM:
    """Two key heads for four query heads. Weights are larger than a fresh model's, so that heads
    have something to choose between."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=50, max_position_embeddings=256, initializer_range=0.15,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def random_texts(count: int = 2, length: int = 96, seed: int = 1) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 50, (count, length), generator=generator).tolist()
