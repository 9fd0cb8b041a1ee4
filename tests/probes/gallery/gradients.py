"""Gradients: detached parts, and hand-written backward passes."""

from __future__ import annotations

import math

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


class _Written(torch.autograd.Function):
    """softmax(q k^T / sqrt(d)) v with its backward by hand; bugs change one line of it.

    dV = P' dO      dP = dO V'      dS = P (dP - rowsum(P dP))
    dQ = dS K / sqrt(d)             dK = dS' Q / sqrt(d)
    """

    fault = ""
    causal = False

    @classmethod
    def _visible(cls, q, k):
        if not cls.causal:
            return None
        return causal(q.shape[-2], k.shape[-2])

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @classmethod
    def weights(cls, q, k):
        return weights_of(logits_of(q, k), cls._visible(q, k))

    @classmethod
    def gradients(cls, saved, grad):
        q, k, v = saved
        scale = 1 / math.sqrt(q.shape[-1])
        visible = None if cls.fault == "mask" else cls._visible(q, k)
        p = weights_of(logits_of(q, k), visible)
        out = p if cls.fault == "values" else p.transpose(-1, -2)
        dp = grad @ v.transpose(-1, -2)
        row = 0.0 if cls.fault == "row" else (p * dp).sum(-1, keepdim=True)
        ds = (p * (dp - row)).to(q.dtype)
        dq = ds @ k * (1.0 if cls.fault == "scale" else scale)
        dk = ds.transpose(-1, -2) @ q * scale
        return dq, (0 * dk if cls.fault == "keys" else dk), out.to(v.dtype) @ grad


def _written(fault, is_causal=False):
    """A differentiable function with this fault in its backward."""

    class Written(_Written):
        causal = is_causal

        @staticmethod
        def forward(q, k, v):
            return mixed(Written.weights(q, k), v)

        @staticmethod
        def backward(ctx, *grads):
            return Written.gradients(ctx.saved_tensors, grads[0])

    Written.fault = fault
    return Written.apply


_RIGHT = _written("")
_RIGHT_CAUSAL = _written("", is_causal=True)
_NO_ROW = _written("row")
_NO_SCALE = _written("scale")
_NO_MASK = _written("mask", is_causal=True)
_NO_KEYS = _written("keys")
_VALUES = _written("values")


def backward_right(q, k, v):
    """The backward by hand, right."""
    return _RIGHT(q, k, v)


def causal_backward_right(q, k, v):
    """The causal backward by hand, right."""
    return _RIGHT_CAUSAL(q, k, v)


def backward_without_row_sum(q, k, v):
    """The backward pass of softmax without its row sum."""
    return _NO_ROW(q, k, v)


def backward_without_scale(q, k, v):
    """The gradient of the queries lacks the scale."""
    return _NO_SCALE(q, k, v)


def backward_without_mask(q, k, v):
    """Forward is causal, backward is not."""
    return _NO_MASK(q, k, v)


def backward_without_keys(q, k, v):
    """The gradient of the keys is 0."""
    return _NO_KEYS(q, k, v)


def backward_of_values_transposed(q, k, v):
    """The gradient of the values lacks a transpose: shapes agree for as many queries as keys."""
    return _VALUES(q, k, v)


def weights_detached(q, k, v):
    """Weights are detached: queries and keys get no gradient."""
    return mixed(weights_of(logits_of(q, k)).detach(), v)


def keys_detached(q, k, v):
    """Keys are detached, as from a cache that was kept."""
    return attention(q, k.detach(), v)


def one_head_detached(q, k, v):
    """The gradient of the last head is lost."""
    made = attention(q, k, v)
    return torch.cat([made[:, :-1], made[:, -1:].detach()], dim=1)


class _LastOfGroup(torch.autograd.Function):
    """Key heads repeated; backward keeps the last query head of each group."""

    @staticmethod
    def forward(ctx, k, heads):
        ctx.key_heads = k.shape[1]
        return repeated(k, heads)

    @staticmethod
    def backward(ctx, *grads):
        grad = grads[0]
        return grad[:, grad.shape[1] // ctx.key_heads - 1 :: grad.shape[1] // ctx.key_heads], None


def group_not_summed(q, k, v):
    """Grouped queries: the gradient of a key head is that of its last query head, not their sum."""
    k = _LastOfGroup.apply(k, q.shape[1])
    return attention(q, k, _LastOfGroup.apply(v, q.shape[1]))


class ValuesWithoutGradient(SelfAttention):
    """Values are projected without a gradient."""

    def projected(self, x):
        q, k, v = super().projected(x)
        return q, k, v.detach()


class KeysFromData(SelfAttention):
    """Keys are formed from `x.data`."""

    def projected(self, x):
        q, _, v = super().projected(x)
        return q, self.split(self.k_proj(x.data), self.key_heads), v


class GradientOfLastTokenLost(SelfAttention):
    """The last token's output is detached."""

    def forward(self, x):
        made = super().forward(x)
        return torch.cat([made[:, :-1], made[:, -1:].detach()], dim=1)
