"""One attention layer of a small random model of each family, on hidden states.

The module gets what its model passes: rotary tables or a mask, formed here from the hidden states'
length. `attention_mask` is 1 for a real token, as in the models themselves.
"""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import causal, window
from tests.trained.families import FAMILIES
from torch import nn

_WINDOW = 8


def _model(family, implementation):
    kind, config, _ = FAMILIES[family]
    config = type(config).from_dict(config.to_dict())
    config._attn_implementation = implementation
    torch.manual_seed(11)
    model = kind(config).eval()
    for parameter in model.parameters():
        # Fresh weights give nearly uniform rows, on which every mistake looks right.
        parameter.data.add_(torch.randn_like(parameter) * 0.2)
    return model


class _Layer(nn.Module):
    """Hidden states and padding in; the model's own module in the middle."""

    def __init__(self, attention, sees, rotary=None, keyword="attention_mask"):
        super().__init__()
        self.attention = attention
        self.sees = sees
        self.rotary = rotary
        self.keyword = keyword

    def forward(self, x, attention_mask=None):
        b, n, _ = x.shape
        seen = self.sees(n, n).expand(b, 1, n, n)
        if attention_mask is not None:
            seen = seen & attention_mask.bool()[:, None, None, :]
        bias = torch.zeros(seen.shape, dtype=x.dtype)
        bias = bias.masked_fill(~seen, torch.finfo(x.dtype).min)
        words = {self.keyword: bias}
        if self.rotary is not None:
            positions = torch.arange(n).expand(b, n)
            words["position_embeddings"] = self.rotary(x, positions)
        made = self.attention(x, **words)
        return made[0] if isinstance(made, tuple) else made


class _Plain(nn.Module):
    """No mask at all: images."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x):
        made = self.attention(x)
        return made[0] if isinstance(made, tuple) else made


class _Sliding(nn.Module):
    """Gemma 3 has two rotary tables; the first layer slides."""

    def __init__(self, rotary):
        super().__init__()
        self.rotary = rotary

    def forward(self, x, positions):
        return self.rotary(x, positions, "sliding_attention")


def _both_ways(t, n):
    return torch.ones(t, n, dtype=torch.bool)


def _sliding(t, n):
    return window(t, n, _WINDOW)


def _decoder(model):
    return _Layer(model.layers[0].self_attn, causal, model.rotary_emb)


def _sliding_decoder(model):
    return _Layer(model.layers[0].self_attn, _sliding, model.rotary_emb)


def _encoder(model):
    return _Layer(model.encoder.layers[0].self_attn, _both_ways)


# name -> the family, and its first attention layer as a layer on hidden states
_LAYERS = {
    "bert": ("bert", lambda m: _Layer(m.encoder.layer[0].attention.self, _both_ways)),
    "gpt2": ("gpt2", lambda m: _Layer(m.h[0].attn, causal)),
    "gpt_neox": (
        "gpt_neox",
        lambda m: _Layer(m.layers[0].attention, causal, m.rotary_emb),
    ),
    "llama": ("llama", _decoder),
    "qwen3": ("qwen3", _decoder),
    "gemma": ("gemma", _decoder),
    "gemma3": (
        "gemma3",
        lambda m: _Layer(m.layers[0].self_attn, _sliding, _Sliding(m.rotary_emb)),
    ),
    "phi3": ("phi3", _decoder),
    "mistral": ("mistral", _sliding_decoder),
    "gpt_oss": ("gpt_oss, sinks", _sliding_decoder),
    "t5": (
        "t5",
        lambda m: _Layer(m.encoder.block[0].layer[0].SelfAttention, _both_ways, keyword="mask"),
    ),
    "bart": ("bart", _encoder),
    "whisper": ("whisper", _encoder),
    "vit": ("vit", lambda m: _Plain(_part(m, "ViTAttention"))),
}


def _part(model, kind):
    return next(part for part in model.modules() if type(part).__name__ == kind)


def __getattr__(name):
    """`llama_eager`, `llama_sdpa`, ...: a factory for each family and implementation."""
    known, _, implementation = name.rpartition("_")
    if known not in _LAYERS or implementation not in ("eager", "sdpa"):
        raise AttributeError(name)
    family, layer = _LAYERS[known]

    def factory():
        return layer(_model(family, implementation))

    factory.__name__ = name
    return factory
