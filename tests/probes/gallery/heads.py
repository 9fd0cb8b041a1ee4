"""Heads: which query head reads which key head, and how heads are split and merged."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import (
    SelfAttention,
    attention,
    causal,
    logits_of,
    mixed,
    repeated,
    weights_of,
)

# --- right ------------------------------------------------------------------------------------


def grouped_right(q, k, v):
    """Key heads repeated for neighbouring query heads."""
    return attention(q, k, v)


class MergedRight(SelfAttention):
    """Transposed, then merged; sees both ways."""

    def visible(self, t, n):
        return torch.ones(t, n, dtype=torch.bool)


class GroupedRight(SelfAttention):
    """6 query heads on 2 key heads."""

    def __init__(self):
        super().__init__(heads=6, key_heads=2)


def _read(q, k, v, keys, values=None):
    """Every query head with the key head and the value head that these numbers name."""
    values = keys if values is None else values
    return attention(q, k[:, keys], v[:, values])


# --- grouped queries --------------------------------------------------------------------------


def tiled(q, k, v):
    """Key heads tiled (0, 1, 0, 1) where they should be repeated (0, 0, 1, 1) (onnx 7274)."""
    times = q.shape[1] // k.shape[1]
    return attention(q, k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1))


def divided_by_key_heads(q, k, v):
    """Query head h reads h // Hkv, not h // (H / Hkv): right for 4 on 2, wrong for 6 on 2 and 6 on
    3 (HipKittens 22)."""
    heads = torch.arange(q.shape[1])
    return _read(q, k, v, (heads // k.shape[1]).clamp(max=k.shape[1] - 1))


def first_key_head_only(q, k, v):
    """All query heads read key head 0."""
    return _read(q, k, v, torch.zeros(q.shape[1], dtype=torch.long))


def keys_repeated_values_tiled(q, k, v):
    """Keys repeated, values tiled: a head's weights mix another head's values."""
    heads = torch.arange(q.shape[1])
    groups = heads // (q.shape[1] // k.shape[1])
    return _read(q, k, v, groups, heads % k.shape[1])


def last_group_shifted(q, k, v):
    """The last query head reads the first key head: an index that runs one too far."""
    heads = torch.arange(q.shape[1])
    groups = heads // (q.shape[1] // k.shape[1])
    groups[-1] = 0
    return _read(q, k, v, groups)


# --- split and merge --------------------------------------------------------------------------


class MergedWithoutTranspose(SelfAttention):
    """(b, h, n, d) reshaped to (b, n, h d) directly: tokens and heads are mixed up, and a causal
    layer sees the future (several tutorials)."""

    def merge(self, heads):
        b, h, n, d = heads.shape
        return self.o_proj(heads.reshape(b, n, h * d))


class MergedWithoutTransposeBothWays(MergedWithoutTranspose):
    """Heads are merged without a transpose in a layer that sees both ways (several tutorials)."""

    def visible(self, t, n):
        return torch.ones(t, n, dtype=torch.bool)


class SplitWithoutTranspose(SelfAttention):
    """(b, n, h d) viewed as (b, h, n, d) directly, merged properly (several tutorials)."""

    def split(self, x, heads):
        return x.reshape(x.shape[0], heads, x.shape[1], self.head_size)


class SplitAndMergedWithoutTranspose(SplitWithoutTranspose):
    """Split and merged without a transpose: the shapes fit, and nothing else does (several
    tutorials)."""

    def merge(self, heads):
        b, h, n, d = heads.shape
        return self.o_proj(heads.reshape(b, n, h * d))


def merged_and_split_wrongly(q, k, v):
    """The output goes through (b, n, h, d) and back without a transpose (several tutorials)."""
    made = attention(q, k, v, causal(q.shape[-2], k.shape[-2]))
    return made.transpose(1, 2).reshape(made.shape)


def values_of_the_next_head(q, k, v):
    """Weights of one head, values of the next."""
    return attention(q, k, v.roll(1, dims=1))


def heads_averaged(q, k, v):
    """Weights are averaged over the heads before they are used."""
    k = repeated(k, q.shape[1])
    weights = weights_of(logits_of(q, k)).mean(dim=1, keepdim=True)
    return mixed(weights, repeated(v, q.shape[1]))


def first_head_scaled(q, k, v):
    """Only the first head is scaled: a factor that went into a slice."""
    scale = torch.ones(q.shape[1], 1, 1, dtype=torch.float32)
    scale[0] = q.shape[-1] ** -0.5
    return attention(q, k, v, scale=scale.to(q.dtype))
