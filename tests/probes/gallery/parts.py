"""What right attention is made of: every layer of the gallery is this with one thing changed."""

from __future__ import annotations

import math

import torch
from torch import nn

WIDTH = 24
HEADS = 2


def work_dtype(x):
    """Logits and sums are formed in single precision at least."""
    return torch.promote_types(x.dtype, torch.float32)


def causal(t, n):
    """True where query i, the last at the last key, may see key j: j <= i + n - t."""
    return torch.arange(n)[None, :] <= torch.arange(t)[:, None] + (n - t)


def window(t, n, size):
    """The last `size` keys up to the query's own."""
    behind = torch.arange(t)[:, None] + (n - t) - torch.arange(n)[None, :]
    return (behind >= 0) & (behind < size)


def logits_of(q, k, scale=None):
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    work = work_dtype(q)
    return (q.to(work) * scale) @ k.to(work).transpose(-1, -2)


def weights_of(logits, visible=None):
    """Softmax over what is visible; a row that sees nothing gets weights of 0."""
    if visible is None:
        return torch.softmax(logits, dim=-1)
    hidden = torch.finfo(logits.dtype).min
    return torch.softmax(logits.masked_fill(~visible, hidden), dim=-1) * visible


def mixed(weights, v):
    return (weights @ v.to(weights.dtype)).to(v.dtype)


def repeated(k, heads):
    """Key heads in groups of neighbours: query head h reads key head h // (H / Hkv)."""
    return k.repeat_interleave(heads // k.shape[1], dim=1)


def attention(q, k, v, visible=None, bias=None, scale=None):
    """softmax(scale q k^T + bias) v, by default with 1 / sqrt(d)."""
    logits = logits_of(q, repeated(k, q.shape[1]), scale)
    logits = logits if bias is None else logits + bias
    return mixed(weights_of(logits, visible), repeated(v, q.shape[1]))


def rotary(x, positions, base=100.0, dtype=None):
    """Channels i and i + d/2 turned by the angle position / base^(2 i / d)."""
    work = work_dtype(x) if dtype is None else dtype
    half = x.shape[-1] // 2
    speed = base ** (-torch.arange(half).to(work) / half)
    angle = (positions[:, None, :, None].to(work) * speed).to(work_dtype(x))
    one = x[..., :half].to(angle.dtype)
    other = x[..., half:].to(angle.dtype)
    turned = (
        one * angle.cos() - other * angle.sin(),
        other * angle.cos() + one * angle.sin(),
    )
    return torch.cat(turned, dim=-1).to(x.dtype)


class SelfAttention(nn.Module):
    """Multi-head self-attention on (batch, tokens, width), in steps; causal unless `visible` is
    replaced. Weights are the same in every instance, and large enough for logits of deviation 1."""

    def __init__(self, width=WIDTH, heads=HEADS, key_heads=None, seed=0):
        super().__init__()
        self.heads = heads
        self.key_heads = key_heads or heads
        self.head_size = width // heads
        narrow = self.head_size * self.key_heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, narrow, bias=False)
        self.v_proj = nn.Linear(width, narrow, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        rng = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            spread = 1 / math.sqrt(parameter.shape[-1])
            parameter.data = torch.randn(parameter.shape, generator=rng) * spread

    def split(self, x, heads):
        """(b, n, h d) -> (b, h, n, d)."""
        return x.view(*x.shape[:2], heads, self.head_size).transpose(1, 2)

    def projected(self, x):
        q = self.split(self.q_proj(x), self.heads)
        k = self.split(self.k_proj(x), self.key_heads)
        return q, k, self.split(self.v_proj(x), self.key_heads)

    def merge(self, heads):
        """(b, h, n, d) -> (b, n, h d), and the last projection."""
        return self.o_proj(heads.transpose(1, 2).flatten(2))

    def visible(self, t, n):
        return causal(t, n)

    def forward(self, x):
        q, k, v = self.projected(x)
        return self.merge(attention(q, k, v, self.visible(x.shape[1], x.shape[1])))


class MaskedAttention(SelfAttention):
    """With `attention_mask` (batch, tokens), 1 for a real token. Sees both ways."""

    def visible(self, t, n):
        return torch.ones(t, n, dtype=torch.bool)

    def shown(self, attention_mask):
        """(b, 1, 1, n), True for keys that may be seen."""
        return attention_mask.bool()[:, None, None, :]

    def forward(self, x, attention_mask=None):
        q, k, v = self.projected(x)
        visible = self.visible(x.shape[1], x.shape[1])
        if attention_mask is not None:
            visible = visible & self.shown(attention_mask)
        return self.merge(attention(q, k, v, visible))


class CachedAttention(SelfAttention):
    """Causal rotary attention with a cache: `past_key_values` is the pair of keys (turned by their
    positions already) and values of the tokens before; returned where `use_cache` asks for it."""

    def positions(self, position_ids, batch, t, past):
        if position_ids is not None:
            return position_ids
        return torch.arange(past, past + t).expand(batch, t)

    def placed(self, x, positions):
        return rotary(x, positions)

    def joined(self, past, new):
        return torch.cat([past, new], dim=-2)

    def bias(self, t, n):
        return None

    def kept(self, k, v):
        return k, v

    def forward(
        self,
        x,
        attention_mask=None,
        position_ids=None,
        past_key_values=None,
        use_cache=False,
    ):
        q, k, v = self.projected(x)
        past = 0 if past_key_values is None else past_key_values[0].shape[-2]
        positions = self.positions(position_ids, x.shape[0], x.shape[1], past)
        q = self.placed(q, positions)
        k = self.placed(k, positions)
        if past_key_values is not None:
            k = self.joined(past_key_values[0], k)
            v = self.joined(past_key_values[1], v)
        t = q.shape[-2]
        n = k.shape[-2]
        visible = self.visible(t, n)
        if attention_mask is not None:
            visible = visible & attention_mask[:, -n:].bool()[:, None, None, :]
        output = self.merge(attention(q, k, v, visible, self.bias(t, n)))
        return (output, self.kept(k, v)) if use_cache else output
