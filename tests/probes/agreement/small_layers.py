"""One right layer with every option, and the ways in which tests break it."""

from __future__ import annotations

import math

import torch
from torch import nn

WIDTH = 12
HEADS = 2


class Rotating(nn.Module):
    """Causal, rotary, with padding, positions, a cache and weights to be asked for. Each method is
    a step that a test may spoil."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.outer = nn.Linear(WIDTH, WIDTH, bias=False)
        self.dropout = 0.1
        rng = torch.Generator().manual_seed(3)
        for parameter in self.parameters():
            drawn = torch.randn(parameter.shape, generator=rng)
            parameter.data = drawn / math.sqrt(WIDTH)

    def places(self, position_ids, batch, tokens, past):
        if position_ids is not None:
            return position_ids
        return torch.arange(past, past + tokens).expand(batch, tokens)

    def turned(self, x, places):
        half = x.shape[-1] // 2
        speed = 20.0 ** (-torch.arange(half) / half)
        angle = places[:, None, :, None] * speed
        one, other = x[..., :half].float(), x[..., half:].float()
        turned = one * angle.cos() - other * angle.sin(), other * angle.cos() + one * angle.sin()
        return torch.cat(turned, dim=-1).to(x.dtype)

    def seen(self, tokens, keys, attention_mask):
        """(b or 1, 1, t, n)."""
        place = torch.arange(tokens)[:, None] + keys - tokens
        seen = (torch.arange(keys)[None] <= place)[None, None]
        if attention_mask is not None:
            seen = seen & attention_mask.bool()[:, None, None, :]
        return seen

    def joined(self, past, k, v):
        if past is None:
            return k, v
        return torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)

    def weights(self, q, k, seen):
        logits = (q @ k.transpose(-1, -2)).float() / math.sqrt(q.shape[-1])
        return logits.masked_fill(~seen, -1e30).softmax(-1).to(q.dtype)

    def forward(
        self,
        x,
        attention_mask=None,
        position_ids=None,
        past_key_values=None,
        use_cache=False,
        output_attentions=False,
    ):
        b, t, _ = x.shape
        q, k, v = (
            part.reshape(b, t, HEADS, -1).transpose(1, 2) for part in self.inner(x).chunk(3, dim=-1)
        )
        past = 0 if past_key_values is None else past_key_values[0].shape[-2]
        places = self.places(position_ids, b, t, past)
        q = self.turned(q, places)
        k, v = self.joined(past_key_values, self.turned(k, places), v)
        weights = self.weights(q, k, self.seen(t, k.shape[-2], attention_mask))
        mixed = nn.functional.dropout(weights, self.dropout, self.training) @ v
        output = self.outer(mixed.transpose(1, 2).reshape(b, t, WIDTH))
        more = [weights] if output_attentions else []
        more += [(k, v)] if use_cache else []
        return (output, *more) if more else output


def attention(q, k, v, attn_mask=None, is_causal=False):
    """PyTorch's rules, in steps: flags show, numbers are added."""
    logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        logits = logits.masked_fill(~lower(q, k), -math.inf)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        logits = logits.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        logits = logits + attn_mask
    return logits.softmax(-1) @ v


def lower(q, k):
    """The last query at the last key."""
    t, n = q.shape[-2], k.shape[-2]
    return torch.ones(t, n, dtype=torch.bool).tril(n - t)
