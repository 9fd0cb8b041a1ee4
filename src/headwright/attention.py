"""Forward attention: logits, weights, output.

    z_i = scale * (k_i . q) + bias_i        alpha = softmax(z)        c = sum_i alpha_i v_i

Written against the array API: NumPy, PyTorch and JAX arrays go in, the same kind comes out on the
same device. Leading axes of the query are free, so one query (d,), many (m, d) and many per head
(h, m, d) are one piece of code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat as compat
import numpy as np

from headwright import inputs
from headwright import weights_shown as shown
from headwright.errors import InputError
from headwright.types import Array, HeadOutputs, HeadWeights, Logits, Mask, Mix, Output, Weights


@dataclass(frozen=True)
class Scores:
    """How overlaps become logits, `z = scale * (k . q) + bias`, and which keys may be seen: those
    where `mask` is True. `bias` and `mask` are None or broadcast to the logits."""

    scale: float = 1.0
    bias: Any = None
    mask: Any = None

    def checked(self, shape: tuple[int, ...], *, like: Array) -> Scores:
        """The same for logits of this shape, bias and mask in full; bias is an array already."""
        scale = inputs.number("scale", self.scale)
        bias = None if self.bias is None else _per_logit("bias", self.bias, shape)
        mask = None if self.mask is None else _visible(self.mask, shape, like=like)
        return Scores(scale, bias, mask)


@dataclass(frozen=True, repr=False)
class Attention:
    """What one head sees: `output` c, `weights` alpha, `logits` z; leading axes are those of the
    query."""

    output: Output
    weights: Weights
    logits: Logits

    def __repr__(self) -> str:
        return f"<Attention: {shown.sentence(self.weights, 'query', self.output.shape[-1])}>"

    def _repr_html_(self) -> str:
        """For a notebook: the heaviest keys, or where each query looks most."""
        return shown.cell(repr(self)[1:-1], self.weights, "query")

    def plot(self) -> Any:
        """The weights, as a figure of matplotlib."""
        return shown.figure(self.weights, "query")


@dataclass(frozen=True, repr=False)
class MultiHead:
    """Several heads on the same keys. `output` is the mix of `outputs`; axis 0 of the rest is the
    head."""

    output: Output
    outputs: HeadOutputs
    weights: HeadWeights
    logits: HeadWeights
    mix: Mix

    def __repr__(self) -> str:
        return f"<MultiHead: {shown.sentence(self.weights, 'head', self.output.shape[-1])}>"

    def _repr_html_(self) -> str:
        """For a notebook: where each head looks most."""
        return shown.cell(repr(self)[1:-1], self.weights, "head")

    def plot(self) -> Any:
        """The weights of all heads, as a figure of matplotlib."""
        return shown.figure(self.weights, "head")


def attend(
    q: Any, K: Any, V: Any, *, scale: float = 1.0, bias: Any = None, mask: Any = None
) -> Attention:
    """Attention of one query `(d,)` or many `(m, d)` over keys `(n, d)` and values `(n, v)`.

    `bias` is added to the logits; `mask` is boolean, True where a key may be seen. Both broadcast
    against the logits.

    >>> seen = hw.attend([2, 0], [[1, 0], [0, 1]], [[1], [3]])
    >>> print(seen.weights.round(3), seen.output.round(3))
    [0.881 0.119] [1.238]
    """
    _, (q, K, V, bias) = inputs.arrays(q=q, K=K, V=V, bias=bias)
    inputs.shape("V", V, K.shape[0] if K.ndim == 2 else "n", "v")
    z = logits(q, K, scale=scale, bias=bias)
    alpha = weights(z, mask=mask)
    return Attention(output=alpha @ V, weights=alpha, logits=z)


def multihead(
    Q: Any,
    K: Any,
    V: Any,
    *,
    mix: Any = None,
    scale: float = 1.0,
    bias: Any = None,
    mask: Any = None,
) -> MultiHead:
    """`sum_h mix_h c_h` for the heads' queries `Q` of shape `(h, d)` (or `(h, m, d)`); equal mix by
    default.

    >>> heads = hw.multihead([[9, 0], [0, 9]], [[1, 0], [0, 1]], [[1], [3]])
    >>> print(heads.output.round(3))
    [2.]
    """
    xp, (Q, K, V, bias, mix) = inputs.arrays(Q=Q, K=K, V=V, bias=bias, mix=mix)
    if Q.ndim < 2:
        inputs.shape("Q", Q, "h", "d")
    mix = head_mix(mix, like=Q)
    one = attend(Q, K, V, scale=scale, bias=bias, mask=mask)
    output = xp.tensordot(mix, one.output, axes=1)
    return MultiHead(
        output=output, outputs=one.output, weights=one.weights, logits=one.logits, mix=mix
    )


def head_mix(mix: Any, *, like: Array) -> Mix:
    """The mixing weights of the heads in `like` (axis 0): checked, or equal when not given."""
    xp = compat.array_namespace(like)
    heads = like.shape[0]
    if mix is None:
        return xp.full(heads, 1.0 / heads, dtype=like.dtype, device=compat.device(like))
    return inputs.shape("mix", mix, heads)


def logits(q: Any, K: Any, *, scale: float = 1.0, bias: Any = None) -> Logits:
    """`z = scale * K q + bias`, shape of the query's leading axes plus `(n,)`."""
    _, (q, K, bias) = inputs.arrays(q=q, K=K, bias=bias)
    inputs.shape("K", K, "n", "d")
    if q.ndim == 0 or q.shape[-1] != K.shape[1] or 0 in q.shape:
        raise InputError(
            wanted=f"a query of {K.shape[1]} coordinates, like the keys",
            got=f"shape {tuple(q.shape)}",
            attempt="pass q of shape (d,) or (m, d)",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        z = (q @ K.T) * inputs.number("scale", scale)
    if bias is not None:
        z = z + _per_logit("bias", bias, z.shape)
    return inputs.finite("logits", z)


def weights(z: Logits, *, mask: Any = None) -> Weights:
    """Softmax over the last axis, stable at any finite logits; masked keys get weight exactly 0."""
    if mask is not None:
        z = _masked(z, mask)
    # NumPy has always had these three under the standard's names, and its wrapper takes longer to
    # import than NumPy.
    xp = np if compat.is_numpy_array(z) else compat.array_namespace(z)
    # softmax(z) = softmax(z - max z); the largest term is then e^0 = 1 and nothing overflows.
    # A difference beyond all floats is -inf, and its weight 0, as it should
    with np.errstate(over="ignore"):
        e = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def _per_logit(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    xp = compat.array_namespace(array)
    try:
        return xp.broadcast_to(array, shape)
    except (ValueError, RuntimeError, TypeError):
        raise InputError(
            wanted=f"a {name} that broadcasts to the logits, shape {tuple(shape)}",
            got=f"shape {tuple(array.shape)}",
            attempt="give one entry per key",
        ) from None


def _masked(z: Logits, mask: Any) -> Logits:
    """The logits, less than any number where a key may not be seen."""
    xp = compat.array_namespace(z)
    hidden = xp.asarray(-xp.inf, dtype=z.dtype, device=compat.device(z))
    return xp.where(_visible(mask, z.shape, like=z), z, hidden)


def _visible(mask: Any, shape: tuple[int, ...], *, like: Array) -> Mask:
    """The mask in full; every query must see a key."""
    xp = compat.array_namespace(like)
    mask = _per_logit("mask", inputs.flags("mask", mask, like=like), shape)
    blind = ~xp.any(mask, axis=-1)
    if bool(xp.any(blind)):
        rows = xp.astype(xp.reshape(blind, (-1,)), xp.int8)
        which = "" if blind.ndim == 0 else f" (first: row {int(xp.argmax(rows))})"
        raise InputError(
            wanted="at least one visible key for every query",
            got=f"a row whose mask hides every key{which}",
            attempt="unmask a key there or drop that query",
        )
    return mask
