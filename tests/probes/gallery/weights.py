"""Weights that are no distribution, and outputs that are not linear in the values."""

from __future__ import annotations

import torch
from tests.probes.gallery.parts import causal, logits_of, mixed, weights_of

# --- right ------------------------------------------------------------------------------------


def soft_cap(q, k, v):
    """Logits pressed below 30, as some models do on purpose."""
    logits = 30 * torch.tanh(logits_of(q, k) / 30)
    return mixed(weights_of(logits), v)


def linear_positive(q, k, v):
    """Linear attention with positive features: phi(q).phi(k) / sum, phi = elu + 1."""
    features = _features(q) @ _features(k).transpose(-1, -2)
    return mixed(features / features.sum(-1, keepdim=True), v)


def _features(x):
    return torch.nn.functional.elu(x.float()) + 1


# --- broken -----------------------------------------------------------------------------------


def softmax_plus_one(q, k, v):
    """exp(z) / (1 + sum exp(z)): rows sum to less than 1."""
    logits = logits_of(q, k)
    none = torch.zeros_like(logits[..., :1])
    return mixed(torch.cat([logits, none], dim=-1).softmax(-1)[..., :-1], v)


def sink(q, k, v):
    """A sink of logit 1 in every row takes its share."""
    logits = logits_of(q, k).masked_fill(~causal(q.shape[-2], k.shape[-2]), float("-inf"))
    extra = torch.ones_like(logits[..., :1])
    return mixed(torch.cat([logits, extra], dim=-1).softmax(-1)[..., :-1], v)


def linear_negative(q, k, v):
    """Linear attention without a feature map: weights q.k / sum are negative."""
    products = logits_of(q, k)
    size = products.abs().sum(-1, keepdim=True)
    return mixed(products / size, v)


def sigmoid_weights(q, k, v):
    """Sigmoids in place of a softmax: rows sum to anything."""
    return mixed(logits_of(q, k).sigmoid(), v)


def softmax_over_queries(q, k, v):
    """Softmax over the wrong axis: columns sum to 1, rows do not (several tutorials)."""
    return mixed(logits_of(q, k).softmax(dim=-2), v)


def softmax_over_heads(q, k, v):
    """Softmax without a stated axis took the axis of heads (several tutorials)."""
    return mixed(logits_of(q, k).softmax(dim=1), v)


def cautious_denominator(q, k, v):
    """exp(z) / (sum + 0.01), for safety: rows sum to a little less than 1."""
    e = (logits_of(q, k) - logits_of(q, k).amax(-1, keepdim=True)).exp()
    return mixed(e / (e.sum(-1, keepdim=True) + 0.01), v)


def residual_left_in(q, k, v):
    """The token's own value is added once more: rows sum to 2."""
    return mixed(weights_of(logits_of(q, k)), v) + v[..., -q.shape[-2] :, :]


def fixed_dropout(q, k, v):
    """Dropout on the weights with one fixed seed: repeatable, so only the sums show it."""
    weights = weights_of(logits_of(q, k))
    rng = torch.Generator().manual_seed(0)
    kept = torch.rand(weights.shape, generator=rng) > 0.2
    return mixed(weights * kept / 0.8, v)


def values_normalised(q, k, v):
    """Values are brought to length 1 on the way: not linear in them."""
    length = v.float().norm(dim=-1, keepdim=True)
    return mixed(weights_of(logits_of(q, k)), v / length.to(v.dtype))


def output_squashed(q, k, v):
    """A tanh that belongs to another layer is applied to the output."""
    return torch.tanh(mixed(weights_of(logits_of(q, k)), v))


def uniform_share(q, k, v):
    """The output is divided by the number of keys once more."""
    return mixed(weights_of(logits_of(q, k)), v) / k.shape[-2]
