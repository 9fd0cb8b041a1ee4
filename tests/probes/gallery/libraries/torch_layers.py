"""Implementations that people use, all right: PyTorch's own, FlexAttention, ours."""

from __future__ import annotations

import math

import numpy as np
import torch
from tests.probes.gallery.parts import CachedAttention, causal, window
from torch import nn
from torch.nn import functional
from torch.nn.attention import flex_attention as flex

import headwright as hw

_SEED = 1


def sdpa(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):
    """PyTorch's scaled_dot_product_attention with its switches."""
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=attn_mask, is_causal=is_causal, enable_gqa=enable_gqa
    )


def sdpa_plain(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v)


sdpa_causal = lambda q, k, v: functional.scaled_dot_product_attention(  # noqa: E731
    q, k, v, attn_mask=causal(q.shape[-2], k.shape[-2])
)


def sdpa_window(q, k, v):
    seen = window(q.shape[-2], k.shape[-2], 4)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def multihead():
    torch.manual_seed(_SEED)
    return nn.MultiheadAttention(16, 4, batch_first=True)


def multihead_tokens_first():
    torch.manual_seed(_SEED)
    return nn.MultiheadAttention(16, 2, bias=False)


def multihead_with_dropout():
    torch.manual_seed(_SEED)
    return nn.MultiheadAttention(16, 4, dropout=0.3, batch_first=True)


def encoder_attention():
    """The attention inside of a TransformerEncoderLayer."""
    torch.manual_seed(_SEED)
    return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).self_attn


class EncoderLayer(nn.Module):
    """A whole TransformerEncoderLayer, its norms and its perceptron included."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(_SEED)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        return self.layer(x, src_key_padding_mask=key_padding_mask)


def flex_plain(query, key, value):
    return flex.flex_attention(query, key, value)


def flex_causal(query, key, value):
    """A score_mod that hides the future."""
    ahead = key.shape[-2] - query.shape[-2]

    def hide(score, b, h, i, j):
        return torch.where(j <= i + ahead, score, -math.inf)

    return flex.flex_attention(query, key, value, score_mod=hide)


def flex_window(query, key, value):
    """A block mask: a window of 4."""
    t = query.shape[-2]
    n = key.shape[-2]

    def seen(b, h, i, j):
        behind = i + (n - t) - j
        return (behind >= 0) & (behind < 4)

    mask = flex.create_block_mask(seen, None, None, t, n, device="cpu")
    return flex.flex_attention(query, key, value, block_mask=mask)


def ours(q, k, v):
    """headwright's own attend, head by head."""
    scale = 1 / math.sqrt(q.shape[-1])
    made = np.zeros((*q.shape[:-1], v.shape[-1]))
    for b, h in np.ndindex(*q.shape[:2]):
        made[b, h] = hw.attend(q[b, h], k[b, h], v[b, h], scale=scale).output
    return made


class TransformersCache(CachedAttention):
    """The same attention with a cache object that has `update(keys, values, layer)`, as
    transformers' layers do."""

    layer_idx = 0

    def forward(self, x, attention_mask=None, position_ids=None, past_key_values=None):
        past = 0 if past_key_values is None else past_key_values.get_seq_length()
        q, k, v = self.projected(x)
        positions = self.positions(position_ids, x.shape[0], x.shape[1], past)
        q = self.placed(q, positions)
        k = self.placed(k, positions)
        if past_key_values is not None:
            k, v = past_key_values.update(k, v, self.layer_idx)
        seen = causal(q.shape[-2], k.shape[-2])
        if attention_mask is not None:
            seen = seen & attention_mask[:, -k.shape[-2] :].bool()[:, None, None, :]
        seen = seen | ~seen.any(-1, keepdim=True)
        return self.merge(functional.scaled_dot_product_attention(q, k, v, attn_mask=seen))


class QueriesKeysNormed(CachedAttention):
    """Queries and keys of length 1 before they are turned, a scale of 5."""

    def placed(self, x, positions):
        unit = functional.normalize(x, dim=-1) * (5 * math.sqrt(x.shape[-1])) ** 0.5
        return super().placed(unit, positions)


# --- broken -----------------------------------------------------------------------------------


class BatchFirstForgotten(nn.Module):
    """MultiheadAttention without `batch_first` is given (batch, tokens, width): texts attend to one
    another, tokens do not (several tutorials)."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(_SEED)
        self.attention = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        return self.attention(x, x, x)[0]


class PaddingMaskInverted(nn.Module):
    """A mask of ones for real tokens goes to `key_padding_mask`, where True hides a token
    (x-transformers 164)."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(_SEED)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, attention_mask=None):
        hidden = None if attention_mask is None else attention_mask.bool()
        return self.attention(x, x, x, key_padding_mask=hidden)[0]


def sdpa_is_causal(q, k, v):
    """SDPA's `is_causal` starts at the first key where there are fewer queries than keys (pytorch
    103082)."""
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class UpdatedCacheAtZero(TransformersCache):
    """Positions are counted from 0 although the cache object holds earlier keys (mlx-vlm 1983)."""

    def positions(self, position_ids, batch, t, past):
        return torch.arange(t).expand(batch, t)
