"""Functions of (q, k, v) for the tests of numbers and gradients: right ones, and one fault each."""

from __future__ import annotations

import math

import torch


def logits(q, k):
    return q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)


def stepwise(q, k, v):
    """Every step in the dtype of the input."""
    return logits(q, k).softmax(-1) @ v


def causal(q, k, v):
    sees = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - q.shape[-2])
    return logits(q, k).masked_fill(~sees, -math.inf).softmax(-1) @ v


def with_slopes(q, k, v):
    """A bias by distance, a slope per head."""
    i = torch.arange(k.shape[-2], dtype=q.dtype)
    slopes = 0.5 ** torch.arange(1, q.shape[1] + 1, dtype=q.dtype)
    bias = -slopes[:, None, None] * (i[:, None] - i).abs()
    return (logits(q, k) + bias).softmax(-1) @ v


def capped(q, k, v):
    return (15 * torch.tanh(logits(q, k) / 15)).softmax(-1) @ v


def with_sink(q, k, v):
    z = logits(q, k)
    zero = torch.zeros_like(z[..., :1])
    return torch.cat([z, zero], -1).softmax(-1)[..., :-1] @ v


def normalised(q, k, v):
    q = torch.nn.functional.normalize(q, dim=-1)
    k = torch.nn.functional.normalize(k, dim=-1)
    return (10 * q @ k.transpose(-1, -2)).softmax(-1) @ v


def masked(q, k, v, attn_mask=None):
    z = logits(q, k)
    if attn_mask is not None:
        is_bool = attn_mask.dtype == torch.bool
        z = z.masked_fill(~attn_mask, -math.inf) if is_bool else z + attn_mask
    return z.softmax(-1) @ v


def masked_and_cleaned(q, k, v, attn_mask=None):
    """NaN becomes 0 afterwards: its gradient is NaN all the same."""
    return masked(q, k, v, attn_mask).nan_to_num(0.0)


def unscaled(q, k, v):
    return (q @ k.transpose(-1, -2)).softmax(-1) @ v


def base_two(q, k, v):
    """2 to the logit, where e was meant."""
    return (logits(q, k) * math.log(2)).softmax(-1) @ v


def half_sums(q, k, v):
    """The sum of the exponentials grows key by key in the dtype of the input."""
    z = logits(q, k)
    e = (z - z.amax(-1, keepdim=True)).exp()
    total = torch.zeros_like(e[..., 0])
    for j in range(e.shape[-1]):
        total = total + e[..., j]
    return e / total[..., None] @ v


def tail_dropped(q, k, v):
    """Keys past the last whole block of 64 are left out."""
    n = k.shape[-2]
    kept = n // 64 * 64 if n > 64 else n
    return stepwise(q, k[..., :kept, :], v[..., :kept, :])


def bfloat_inside(q, k, v):
    return stepwise(q.bfloat16(), k.bfloat16(), v.bfloat16()).to(q.dtype)


def multiplied_first(q, k, v):
    return (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1) @ v


def no_maximum(q, k, v):
    e = logits(q, k).exp()
    return e / e.sum(-1, keepdim=True) @ v


def halves_averaged(q, k, v):
    half = k.shape[-2] // 2
    if half == 0:
        return v.expand(*q.shape[:-1], v.shape[-1])
    first = stepwise(q, k[..., :half, :], v[..., :half, :])
    return (first + stepwise(q, k[..., half:, :], v[..., half:, :])) / 2


def keys_detached(q, k, v):
    return stepwise(q, k.detach(), v)


def no_gradient(q, k, v):
    with torch.no_grad():
        return stepwise(q, k, v)


def group_repeated(k, heads):
    return k.repeat_interleave(heads // k.shape[1], dim=1)


def grouped(q, k, v):
    return stepwise(q, group_repeated(k, q.shape[1]), group_repeated(v, q.shape[1]))


def overwritten(q, k, v):
    """The weights are scaled in place after the softmax has kept them for its backward pass."""
    w = logits(q, k).softmax(-1)
    w.mul_(1.0)
    return w @ v


def wrong_in_half(q, k, v):
    """A scale of gradients that only half precision has."""
    factor = 1.0 if q.dtype in (torch.float32, torch.float64) else 4.0
    return stepwise(q * factor - (factor - 1) * q.detach(), k, v)


class Projected(torch.nn.Module):
    """Self-attention with a projection; `stop` cuts the gradient of one parameter."""

    def __init__(self, stop=False):
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Linear(8, 24)
        self.outer = torch.nn.Linear(8, 8)
        self.stop = stop

    def forward(self, x):
        q, k, v = self.inner(x)[:, None].chunk(3, dim=-1)
        weight = self.outer.weight.detach() if self.stop else self.outer.weight
        return torch.nn.functional.linear(stepwise(q, k, v)[:, 0], weight, self.outer.bias)


def running(q, k, v, attn_mask=None, block=3, start=-math.inf):
    """Block by block; a first block in which nothing is seen gives -inf less -inf."""
    z = logits(q, k)
    if attn_mask is not None:
        z = z.masked_fill(~attn_mask, -math.inf)
    most = torch.full_like(z[..., :1], start)
    total = torch.zeros_like(most)
    mix = 0.0
    for begin in range(0, z.shape[-1], block):
        part = z[..., begin : begin + block]
        new = torch.maximum(most, part.amax(-1, keepdim=True))
        e = (part - new).exp()
        total = total * (most - new).exp() + e.sum(-1, keepdim=True)
        mix = mix * (most - new).exp() + e @ v[..., begin : begin + block, :]
        most = new
    return mix / total


def running_from_zero(q, k, v):
    """The running maximum starts at 0: logits far below it vanish."""
    return running(q, k, v, start=0.0)
