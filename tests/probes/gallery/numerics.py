"""Numbers: scale, overflow, low precision, and blocks put together wrongly."""

from __future__ import annotations

import math

import torch
from tests.probes.gallery.parts import attention, causal, logits_of, mixed, weights_of

# --- right ------------------------------------------------------------------------------------


def stable_right(q, k, v):
    """The maximum is taken off before exp."""
    logits = logits_of(q, k)
    e = (logits - logits.amax(-1, keepdim=True).detach()).exp()
    return mixed(e / e.sum(-1, keepdim=True), v)


def blockwise_right(q, k, v):
    """Keys in blocks of 4, with a running maximum and a running sum (flash attention)."""
    return _blockwise(q, k, v, lambda total, old, new: total * (old - new).exp())


def _blockwise(q, k, v, rescaled, ends=None):
    logits = logits_of(q, k)
    top = torch.full_like(logits[..., :1], -math.inf)
    total = torch.zeros_like(top)
    mix = torch.zeros(*logits.shape[:-1], v.shape[-1], dtype=logits.dtype)
    for start in range(0, k.shape[-2] if ends is None else ends, 4):
        block = logits[..., start : start + 4]
        new = torch.maximum(top, block.amax(-1, keepdim=True))
        e = (block - new).exp()
        total = total * (top - new).exp() + e.sum(-1, keepdim=True)
        mix = rescaled(mix, top, new) + e @ v[..., start : start + 4, :].to(e.dtype)
        top = new
    return (mix / total).to(v.dtype)


def half_right(q, k, v):
    """Half precision in and out, sums in single precision."""
    return attention(q, k, v)


# --- scale ------------------------------------------------------------------------------------


def scale_missing(q, k, v):
    """Logits are not scaled by 1 / sqrt(d) (mlc-llm 3426)."""
    return attention(q, k, v, scale=1.0)


def scale_twice(q, k, v):
    """Queries are scaled, then logits: 1 / d in all."""
    return attention(q, k, v, scale=1 / q.shape[-1])


def scale_of_all_heads(q, k, v):
    """The scale is 1 / sqrt of the width of all heads together."""
    return attention(q, k, v, scale=(q.shape[1] * q.shape[-1]) ** -0.5)


def scale_of_values(q, k, v):
    """The scale is 1 / sqrt of a value's size: right until values and keys differ in size."""
    return attention(q, k, v, scale=v.shape[-1] ** -0.5)


def scale_multiplied(q, k, v):
    """Logits are multiplied by sqrt(d), where they should be divided."""
    return attention(q, k, v, scale=math.sqrt(q.shape[-1]))


# --- overflow ---------------------------------------------------------------------------------


def no_maximum(q, k, v):
    """exp without subtracting the maximum: NaN past logits of 88."""
    e = logits_of(q, k).exp()
    return mixed(e / e.sum(-1, keepdim=True), v)


def products_in_half_precision(q, k, v):
    """Half-precision products, scaled after they have overflowed."""
    products = q @ k.transpose(-1, -2)
    return mixed(weights_of(products.float() / math.sqrt(q.shape[-1])), v)


def logits_clamped(q, k, v):
    """Logits are cut at 10 for fear of overflow."""
    return mixed(weights_of(logits_of(q, k).clamp(-10, 10)), v)


def one_maximum_for_all(q, k, v):
    """The maximum of the whole array is subtracted: rows far below it are 0 / 0."""
    logits = logits_of(q, k)
    e = (logits - logits.amax((-1, -2), keepdim=True)).exp()
    return mixed(e / e.sum(-1, keepdim=True), v)


def spread_normalised(q, k, v):
    """Logits are divided by their spread and multiplied again: NaN where all are equal or there
    is one key."""
    logits = logits_of(q, k)
    spread = logits.amax(-1, keepdim=True) - logits.amin(-1, keepdim=True)
    return mixed(weights_of(logits * (spread / spread)), v)


def logarithm_of_weights(q, k, v):
    """exp(log(softmax)): weights that underflow give log 0 and NaN."""
    logged = logits_of(q, k).softmax(-1).log()
    centred = logged - logged.mean(-1, keepdim=True)
    return mixed(weights_of(centred), v)


# --- low precision ----------------------------------------------------------------------------


def softmax_in_half_precision(q, k, v):
    """A single-precision layer whose softmax runs in bfloat16."""
    return mixed(logits_of(q, k).bfloat16().softmax(-1).to(q.dtype), v)


def sums_in_half_precision(q, k, v):
    """Sums one after another in the dtype of the input: past 256 equal terms bfloat16 stops
    counting."""
    logits = logits_of(q, k)
    e = (logits - logits.amax(-1, keepdim=True)).exp().to(q.dtype)
    total = torch.zeros_like(e[..., 0])
    mix = torch.zeros_like(q[..., :1] * v[..., :1, :])
    for j in range(k.shape[-2]):
        total = total + e[..., j]
        mix = mix + e[..., j, None] * v[..., j : j + 1, :]
    return mix / total[..., None]


def exponential_of_few_terms(q, k, v):
    """exp by (1 + x / 256)^256: 1% off for logits of medium size."""
    logits = logits_of(q, k)
    logits = logits - logits.amax(-1, keepdim=True)
    e = (1 + logits / 256).clamp(min=0) ** 256
    return mixed(e / e.sum(-1, keepdim=True), v)


# --- blocks -----------------------------------------------------------------------------------


def mix_not_rescaled(q, k, v):
    """Blockwise: the running sum is rescaled when the maximum grows, the mix is not."""
    return _blockwise(q, k, v, lambda total, old, new: total)


def last_block_dropped(q, k, v):
    """Blockwise: keys past the last whole block of 4 are dropped."""
    n = k.shape[-2]
    return _blockwise(q, k, v, lambda t, old, new: t * (old - new).exp(), max(n - n % 4, 1))


def blocks_averaged(q, k, v):
    """Two halves of the keys, each with a softmax of its own, averaged."""
    half = (k.shape[-2] + 1) // 2
    if half == k.shape[-2]:
        return attention(q, k, v)
    first = attention(q, k[..., :half, :], v[..., :half, :])
    return (first + attention(q, k[..., half:, :], v[..., half:, :])) / 2


# --- a policy, not a fault --------------------------------------------------------------------


def empty_rows_are_nan(q, k, v, attn_mask=None):
    """A row that sees nothing is NaN, as in PyTorch: a policy to report."""
    logits = logits_of(q, k)
    if attn_mask is not None:
        logits = logits.masked_fill(~attn_mask, -math.inf)
    return mixed(logits.softmax(-1), v)


def empty_rows_are_uniform(q, k, v, attn_mask=None):
    """A row that sees nothing is the mean of all values: a policy to report."""
    logits = logits_of(q, k)
    if attn_mask is not None:
        logits = logits.masked_fill(~attn_mask, torch.finfo(logits.dtype).min)
    return mixed(logits.softmax(-1), v)


def causal_in_half_precision(q, k, v):
    """Right: causal, single precision inside."""
    return attention(q, k, v, causal(q.shape[-2], k.shape[-2]))
