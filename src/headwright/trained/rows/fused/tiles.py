"""A tile of logits: what all kernels here share.

Weights are 2^(unit (z - best)), so that each is one multiply-add and one exp2. A plain head's z are
the products q.k and its unit scale log2(e): no product is multiplied twice. Behind a soft cap or a
bias, z is the logit times log2(e) and the unit is 1. Rejected: the scale multiplied into q, which
rounds to half precision and costs 2e-2 in margins and entropies.
"""

from __future__ import annotations

import triton
import triton.language as tl

# As in `largest`, for names that a kernel can read.
HIDDEN = tl.constexpr(-1e30)
LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def load_rows(at, places, inside, stride, d, D: tl.constexpr, GUARDED: tl.constexpr):
    """Rows `places` of an array whose rows are `stride` apart: (rows, D), zeros beyond d and where
    not `inside`. Where nothing is to be guarded, nothing is compared."""
    dims = tl.arange(0, D)
    where = at + places[:, None] * stride + dims[None, :]
    if GUARDED:
        return tl.load(where, mask=inside[:, None] & (dims < d)[None, :], other=0.0)
    return tl.load(where)


@triton.jit
def load_columns(at, places, inside, stride, d, D: tl.constexpr, GUARDED: tl.constexpr):
    """The same rows as columns: (D, rows)."""
    dims = tl.arange(0, D)
    where = at + places[None, :] * stride + dims[:, None]
    if GUARDED:
        return tl.load(where, mask=inside[None, :] & (dims < d)[:, None], other=0.0)
    return tl.load(where)


@triton.jit
def store_rows(at, places, inside, stride, d, values, D: tl.constexpr):
    """The opposite of `load_rows`, in the precision of what lies there."""
    dims = tl.arange(0, D)
    where = at + places[:, None] * stride + dims[None, :]
    kept = inside[:, None] & (dims < d)[None, :]
    tl.store(where, values.to(at.dtype.element_ty), mask=kept)


@triton.jit
def tanh(x):
    """From e^(-2|x|), which cannot overflow."""
    small = tl.exp2(tl.abs(x) * (-2.0 * LOG2E))
    size = (1.0 - small) / (1.0 + small)
    return tl.where(x < 0.0, -size, size)


@triton.jit
def unit_of(scale, softcap, BIASED: tl.constexpr):
    """What a z is worth, as a power of two."""
    unit = scale * LOG2E
    if BIASED or softcap is not None:
        unit = 1.0
    return unit


@triton.jit
def logits(product, places, inside, bias, scale, softcap, BIASED: tl.constexpr):
    """From products q.k to z; `bias` is the head's, `places` the pairs' offsets in it."""
    z = product
    if softcap is not None:
        z = (softcap * LOG2E) * tanh(product * (scale / softcap))
    if BIASED:
        if softcap is None:
            z = product * (scale * LOG2E)
        z += tl.load(bias + places, mask=inside, other=0.0).to(tl.float32) * LOG2E
    return z


@triton.jit
def visible(rows, keys, places, inside, mask, CAUSAL: tl.constexpr, MASKED: tl.constexpr):
    """Which pairs are seen; `rows` and `keys` broadcast to the shape of `places`."""
    seen = inside
    if CAUSAL:
        seen = seen & (keys <= rows)
    if MASKED:
        seen = seen & (tl.load(mask + places, mask=inside, other=0) != 0)
    return seen


@triton.jit
def powers(z, best, unit, seen):
    """e = 2^(unit (z - best)), 0 where not `seen`: a hidden logit may be above the best, and its
    power beyond every number."""
    return tl.exp2(tl.where(seen, (z - best) * unit, HIDDEN))
