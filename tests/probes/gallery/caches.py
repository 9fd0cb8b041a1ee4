"""Caches: decoding with keys of earlier calls against one pass over the whole text."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import CachedAttention, attention, causal, rotary, window
from tests.probes.gallery.positions import AlibiRight, RelativeBiasRight

_WINDOW = 4

# --- right ------------------------------------------------------------------------------------


class CacheRight(CachedAttention):
    """Decode, chunks and one pass agree."""


class WindowCacheRight(CachedAttention):
    """A window of 4 keys, and no more than 3 earlier ones are kept."""

    keeps = _WINDOW - 1

    def visible(self, t, n):
        return window(t, n, _WINDOW)

    def kept(self, k, v):
        return k[..., -self.keeps :, :], v[..., -self.keeps :, :]

    def positions(self, position_ids, batch, t, past):
        if position_ids is None and past == self.keeps:
            raise ValueError("a cut cache does not tell positions: pass position_ids")
        return super().positions(position_ids, batch, t, past)


class RingRight(CachedAttention):
    """A window of 4 in a ring: token i lies in slot i % 4, and the cache counts the tokens."""

    def slot(self, token):
        return token % _WINDOW

    def forward(self, x, position_ids=None, past_key_values=None, use_cache=False):
        q, k, v = self.projected(x)
        b, t, _ = x.shape
        empty = k.new_zeros(b, self.heads, _WINDOW, self.head_size)
        seen, ring_k, ring_v = past_key_values or (0, empty, empty)
        positions = self.positions(position_ids, b, t, seen)
        q = rotary(q, positions)
        k = rotary(k, positions)
        # Of every slot at every token: what lay in the ring (0 to 3), or which token came since
        newest = list(range(_WINDOW))
        in_slots = []
        for i in range(t):
            newest[self.slot(seen + i)] = _WINDOW + i
            in_slots.append(list(newest))
        k = torch.cat([ring_k, k], dim=-2)
        v = torch.cat([ring_v, v], dim=-2)
        come = torch.arange(seen + 1, seen + t + 1)
        filled = torch.arange(_WINDOW) < come[:, None, None]
        rows = attention(q[..., None, :], k[..., in_slots, :], v[..., in_slots, :], filled)
        output = self.merge(rows[..., 0, :])
        kept = (seen + t, k[..., newest, :], v[..., newest, :])
        return (output, kept) if use_cache else output


# --- positions in decode ----------------------------------------------------------------------


class DecodeAtZero(CachedAttention):
    """With a cache every new token is at position 0 (mlx-vlm 1983)."""

    def positions(self, position_ids, batch, t, past):
        found = super().positions(position_ids, batch, t, past)
        return torch.zeros_like(found) if past else found


class DecodeOneAhead(CachedAttention):
    """With a cache new tokens are one position too far."""

    def positions(self, position_ids, batch, t, past):
        found = super().positions(position_ids, batch, t, past)
        return found + 1 if past else found


class DecodePositionsShared(CachedAttention):
    """Decoding, all texts get the position of the first, whatever their padding (unsloth 3699)."""

    def positions(self, position_ids, batch, t, past):
        found = super().positions(position_ids, batch, t, past)
        return found[:1].expand(batch, t) if past else found


class DecodeOtherBase(CachedAttention):
    """Decode turns with another base than prefill."""

    def placed(self, x, positions):
        return rotary(x, positions, base=100.0 if x.shape[-2] > 1 else 50.0)


class KeysTurnedAgain(CachedAttention):
    """Cached keys are turned once more in every call."""

    def joined(self, past, new):
        again = rotary(past, torch.ones(past.shape[0], past.shape[-2]).long())
        return torch.cat([again, new], dim=-2)


class RelativeBiasWithoutCache(RelativeBiasRight):
    """The bias counts queries from 0 with a cache as well (transformers 19045)."""

    def bias(self, t, n):
        distance = torch.arange(t)[:, None] - torch.arange(n)[None, :]
        return self.table[:, distance.clamp(0, 7)]


class AlibiWithoutCache(AlibiRight):
    """ALiBi's distances count queries from 0 with a cache as well."""

    def bias(self, t, n):
        square = super().bias(n, n)
        return square[:, :t]


# --- masks with a cache -----------------------------------------------------------------------


class TopLeftWithCache(CachedAttention):
    """The causal mask starts at the first key: with a cache a new token sees only the start
    (flax 5591)."""

    def visible(self, t, n):
        return torch.ones(t, n).tril().bool()


class ChunkNotCausal(CachedAttention):
    """With a cache nothing is masked, which is right for one token and not for a chunk."""

    def visible(self, t, n):
        return causal(t, n) | (n > t)


class NewKeysFirst(CachedAttention):
    """New keys are put before the old ones: one token does not show it, a chunk does."""

    def joined(self, past, new):
        return torch.cat([new, past], dim=-2)


class MaskOfNewTokensOnly(CachedAttention):
    """With a cache the padding of earlier tokens is forgotten."""

    def forward(
        self, x, attention_mask=None, position_ids=None, past_key_values=None, use_cache=False
    ):
        if past_key_values is not None:
            attention_mask = None
        return super().forward(x, attention_mask, position_ids, past_key_values, use_cache)


# --- what is kept -----------------------------------------------------------------------------


class RingWrapsWrongly(RingRight):
    """At the wrap the last slot is written for good (transformers 37574)."""

    def slot(self, token):
        return min(token, _WINDOW - 1)


class RingOneSlotLate(RingRight):
    """At the wrap the ring starts at slot 1: the oldest token stays (transformers 37574)."""

    def slot(self, token):
        return token if token < _WINDOW else 1 + token % (_WINDOW - 1)


class WindowCacheTooShort(WindowCacheRight):
    """One key too few is kept for a window of 4."""

    keeps = _WINDOW - 2


class OldestForgotten(CachedAttention):
    """The cache loses its first token whenever it is used."""

    def kept(self, k, v):
        return k[..., 1:, :], v[..., 1:, :]

    def positions(self, position_ids, batch, t, past):
        return super().positions(position_ids, batch, t, past + 1 if past else 0)


class LastValueOverwritten(CachedAttention):
    """The slot of the last value gets the first one when the cache is stored."""

    def kept(self, k, v):
        stale = v.clone()
        stale[..., -1, :] = v[..., 0, :]
        return k, stale


class CacheInHalfPrecision(CachedAttention):
    """A float32 layer whose cache is bfloat16."""

    def kept(self, k, v):
        return k.bfloat16().to(k.dtype), v.bfloat16().to(v.dtype)
