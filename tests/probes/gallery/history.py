"""What earlier calls leave behind, chance in the layer, and inputs that are written into."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import (
    CachedAttention,
    MaskedAttention,
    SelfAttention,
    attention,
    causal,
    logits_of,
    mixed,
    rotary,
    weights_of,
)
from torch.nn import functional

# --- right ------------------------------------------------------------------------------------


class GrowingTableRight(CachedAttention):
    """A table of angles that grows when a longer text comes: the same angles in any order."""

    def __init__(self):
        super().__init__()
        self.rows = 0
        self.longest = None

    def placed(self, x, positions):
        self.rows = max(self.rows, int(positions.max()) + 1)
        return rotary(x, positions)


# --- history ----------------------------------------------------------------------------------


class StaleAngles(CachedAttention):
    """A long text stretches the rotary base, and short texts after it keep it (transformers
    27227, 33129)."""

    def __init__(self):
        super().__init__()
        self.longest = 8

    def placed(self, x, positions):
        self.longest = max(self.longest, int(positions.max()) + 1)
        return rotary(x, positions, base=100.0 * self.longest / 8)


class RowsOfEarlierRequests(SelfAttention):
    """One buffer for all requests, and rows past the present text stay visible (whisper.cpp
    3941)."""

    def __init__(self):
        super().__init__()
        self.buffer = None

    def visible(self, t, n):
        return torch.ones(t, n, dtype=torch.bool)

    def forward(self, x):
        q, k, v = self.projected(x)
        for old in self.buffer or []:
            if old.shape[0] == k.shape[0] and old.shape[-2] > k.shape[-2]:
                k = torch.cat([k, old[..., k.shape[-2] :, :].to(k.dtype)], dim=-2)
                v = torch.cat([v, old[..., v.shape[-2] :, :].to(v.dtype)], dim=-2)
                break
        self.buffer = (k.detach(), v.detach())
        return self.merge(attention(q, k, v))


class CacheNeverCleared(SelfAttention):
    """Keys of all calls are kept in the layer."""

    def __init__(self):
        super().__init__()
        self.past = None

    def forward(self, x):
        q, k, v = self.projected(x)
        if self.past is not None and self.past[0].shape[0] == x.shape[0]:
            old_k, old_v = (part[..., -20:, :].to(x.dtype) for part in self.past)
            k = torch.cat([old_k, k], dim=-2)
            v = torch.cat([old_v, v], dim=-2)
        self.past = (k.detach(), v.detach())
        return self.merge(attention(q, k, v, causal(q.shape[-2], k.shape[-2])))


class MaskRemembered(MaskedAttention):
    """A padding mask stays for later calls of the same length that come without one."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x, attention_mask=None):
        if attention_mask is not None:
            self.known[x.shape[:2]] = attention_mask
        return super().forward(x, self.known.get(x.shape[:2]))


class MaskOfTheFirstCall(MaskedAttention):
    """The first padding mask of a shape is kept for all later calls of that shape."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def shown(self, attention_mask):
        key = tuple(attention_mask.shape)
        self.known.setdefault(key, super().shown(attention_mask))
        return self.known[key]


class RunningScale(SelfAttention):
    """The scale follows the inputs seen so far, in evaluation too."""

    def __init__(self):
        super().__init__()
        self.size = 1.0

    def forward(self, x):
        self.size = 0.9 * self.size + 0.1 * float(x.detach().abs().mean())
        return super().forward(x / self.size)


class LongestSoFar(SelfAttention):
    """Inputs are divided by the length of the longest text so far."""

    def __init__(self):
        super().__init__()
        self.longest = 6

    def forward(self, x):
        self.longest = max(self.longest, x.shape[1])
        return super().forward(x * (6 / self.longest) ** 0.5)


# --- chance -----------------------------------------------------------------------------------


class DropoutFunction(SelfAttention):
    """`dropout(x)` as a function is on unless told otherwise."""

    def forward(self, x):
        q, k, v = self.projected(x)
        weights = weights_of(logits_of(q, k), causal(x.shape[1], x.shape[1]))
        return self.merge(mixed(functional.dropout(weights, 0.1), v))


def dropout_left_on(q, k, v):
    """Dropout is left on in a function of q, k and v."""
    return functional.scaled_dot_product_attention(q, k, v, dropout_p=0.1)


def random_features(q, k, v):
    """Positive random features drawn anew in every call."""
    directions = torch.randn(q.shape[-1], 64).to(q.dtype)
    size = q.shape[-1] ** -0.25

    def features(x):
        x = x * size
        return (x @ directions - x.square().sum(-1, keepdim=True) / 2).exp()

    weights = features(q) @ features(k).transpose(-1, -2)
    return (weights / weights.sum(-1, keepdim=True)) @ v


# --- inputs written into ----------------------------------------------------------------------


def queries_scaled_in_place(q, k, v):
    """`q *= scale` changes the caller's array: a second call scales again."""
    q.data.mul_(q.shape[-1] ** -0.5)
    return attention(q, k, v, scale=1.0)


class CentredInPlace(SelfAttention):
    """`x -= mean` changes the caller's hidden states."""

    def forward(self, x):
        x.data.sub_(x.data.mean(dim=-1, keepdim=True))
        return super().forward(x)
