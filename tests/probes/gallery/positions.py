"""Positions: rotary angles, relative biases, and positions that a cache or a batch gets wrong."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import (
    CachedAttention,
    SelfAttention,
    attention,
    causal,
    rotary,
)


def alibi_slopes(heads):
    """2^(-8 i / h) for a power of two; else those of the power below, then every other one of the
    power above."""
    below = 1 << (heads.bit_length() - 1)
    first = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    rest = [2 ** (-4 * (i + 1) / below) for i in range(0, 2 * (heads - below), 2)]
    return torch.tensor(first + rest)[:, None, None]


def _distance(t, n):
    return torch.arange(n)[None, :] - (torch.arange(t)[:, None] + (n - t))


# --- right ------------------------------------------------------------------------------------


class RotaryRight(CachedAttention):
    """Rotary positions, with a cache."""


def alibi_right(q, k, v):
    """ALiBi: a slope per head times the distance, causal."""
    t = q.shape[-2]
    n = k.shape[-2]
    return attention(q, k, v, causal(t, n), alibi_slopes(q.shape[1]) * _distance(t, n))


class AlibiRight(CachedAttention):
    """ALiBi with a cache, biases by distance."""

    def placed(self, x, positions):
        return x

    def bias(self, t, n):
        return -alibi_slopes(self.heads) * _distance(t, n).abs()


class RelativeBiasRight(AlibiRight):
    """A learned bias per distance, shared beyond 7, with a cache."""

    def __init__(self):
        super().__init__()
        rng = torch.Generator().manual_seed(3)
        self.table = torch.nn.Parameter(torch.randn(self.heads, 8, generator=rng))

    def bias(self, t, n):
        return self.table[:, (-_distance(t, n)).clamp(0, 7)]


class PartialRotaryRight(CachedAttention):
    """A third of the channels turned, the others left."""

    def placed(self, x, positions):
        turned = rotary(x[..., :4], positions)
        return torch.cat([turned, x[..., 4:]], dim=-1)


# --- rotary angles ----------------------------------------------------------------------------


class PhasesInHalfPrecision(CachedAttention):
    """Angles in bfloat16: past 256 neighbouring positions are one (transformers 25681)."""

    def placed(self, x, positions):
        return rotary(x, positions, dtype=torch.bfloat16)


class QueriesTurnedOnly(CachedAttention):
    """Keys are not turned, so that logits depend on absolute positions."""

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        positions = self.positions(position_ids, x.shape[0], x.shape[1], 0)
        return self.merge(attention(rotary(q, positions), k, v, self.visible(*[x.shape[1]] * 2)))


class TwoConventions(CachedAttention):
    """Queries turned as halves, keys as neighbouring channels."""

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        positions = self.positions(position_ids, x.shape[0], x.shape[1], 0)
        q = rotary(q, positions)
        apart = torch.cat([k[..., 0::2], k[..., 1::2]], dim=-1)
        turned = rotary(apart, positions)
        k = torch.stack(turned.chunk(2, dim=-1), dim=-1).flatten(-2)
        return self.merge(attention(q, k, v, self.visible(x.shape[1], x.shape[1])))


class TwoBases(CachedAttention):
    """Queries and keys turned with different bases."""

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        positions = self.positions(position_ids, x.shape[0], x.shape[1], 0)
        q = rotary(q, positions, base=100.0)
        k = rotary(k, positions, base=1000.0)
        return self.merge(attention(q, k, v, self.visible(x.shape[1], x.shape[1])))


class ValuesTurned(CachedAttention):
    """Values are turned as well: the output depends on absolute positions."""

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        positions = self.positions(position_ids, x.shape[0], x.shape[1], 0)
        q, k, v = (rotary(part, positions) for part in (q, k, v))
        return self.merge(attention(q, k, v, self.visible(x.shape[1], x.shape[1])))


class PositionsClamped(CachedAttention):
    """Positions stop at 16: all tokens past it are at one place."""

    def placed(self, x, positions):
        return rotary(x, positions.clamp(max=16))


class PositionsOfTheFirstText(CachedAttention):
    """Positions of the first text are used for the whole batch: where others have gaps elsewhere
    their distances are wrong."""

    def positions(self, position_ids, batch, t, past):
        return super().positions(position_ids, batch, t, past)[:1].expand(batch, t)


class PositionIdsIgnored(CachedAttention):
    """`position_ids` is taken and not used: texts that do not start at 0 or have gaps are turned
    as if they did."""

    def positions(self, position_ids, batch, t, past):
        return super().positions(None, batch, t, past)


# --- cannot be judged without the author's word -----------------------------------------------


def alibi_other_slopes(q, k, v):
    """Slopes 2^(-8 i / h) when h is no power of two: consistent, another model (mlx 3071)."""
    t = q.shape[-2]
    n = k.shape[-2]
    heads = torch.arange(1, q.shape[1] + 1)
    slopes = 2 ** (-8 * heads / q.shape[1])
    return attention(q, k, v, causal(t, n), slopes[:, None, None] * _distance(t, n))


class PartialRotaryForgotten(CachedAttention):
    """All channels turned where a third was meant: consistent, another model."""


class KeysOneAhead(SelfAttention):
    """Keys at position + 1: still relative, so that nothing but the author can tell."""

    def forward(self, x, position_ids=None):
        q, k, v = self.projected(x)
        b, n, _ = x.shape
        positions = torch.arange(n).expand(b, n) if position_ids is None else position_ids
        q = rotary(q, positions)
        k = rotary(k, positions + 1)
        return self.merge(attention(q, k, v, self.visible(n, n)))
