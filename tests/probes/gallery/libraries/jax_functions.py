"""JAX functions, right and broken: tokens before heads, as jax.nn has them, or heads before
tokens."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp


def jax_right(query, key, value):
    """jax.nn's own, (batch, tokens, heads, head size)."""
    return jax.nn.dot_product_attention(query, key, value)


def jax_causal_right(query, key, value):
    """jax.nn's own with its causal switch, for as many queries as keys."""
    return jax.nn.dot_product_attention(query, key, value, is_causal=True)


def _jax_logits(q, k):
    return jnp.einsum("bhtd,bhnd->bhtn", q, k) / math.sqrt(q.shape[-1])


def jax_einsum_right(q, k, v):
    """An einsum, a softmax, an einsum."""
    return jnp.einsum("bhtn,bhnd->bhtd", jax.nn.softmax(_jax_logits(q, k), axis=-1), v)


def jax_softmax_in_half(q, k, v):
    """Softmax in bfloat16 in a single-precision function."""
    weights = jax.nn.softmax(_jax_logits(q, k).astype(jnp.bfloat16), axis=-1)
    return jnp.einsum("bhtn,bhnd->bhtd", weights.astype(q.dtype), v)


def jax_same_key(q, k, v):
    """Dropout with the same key every time: repeatable, but rows do not sum to 1."""
    weights = jax.nn.softmax(_jax_logits(q, k), axis=-1)
    kept = jax.random.bernoulli(jax.random.PRNGKey(0), 0.8, weights.shape)
    return jnp.einsum("bhtn,bhnd->bhtd", weights * kept / 0.8, v)


def jax_stopped(q, k, v):
    """stop_gradient around the weights."""
    weights = jax.lax.stop_gradient(jax.nn.softmax(_jax_logits(q, k), axis=-1))
    return jnp.einsum("bhtn,bhnd->bhtd", weights, v)


def jax_einsum_mixed_up(q, k, v):
    """A letter too many in an einsum: the sum runs over the heads as well."""
    weights = jax.nn.softmax(_jax_logits(q, k), axis=-1)
    return jnp.einsum("bhtn,bgnd->bhtd", weights, v) / q.shape[1]


def jax_top_left(q, k, v):
    """jnp.tril of a rectangle starts at the top left (flax 5591)."""
    visible = jnp.tril(jnp.ones((q.shape[-2], k.shape[-2]), bool))
    weights = jax.nn.softmax(jnp.where(visible, _jax_logits(q, k), -1e30), axis=-1)
    return jnp.einsum("bhtn,bhnd->bhtd", weights, v)


@functools.partial(jax.custom_vjp)
def _weighed(weights, v):
    return jnp.einsum("bhtn,bhnd->bhtd", weights, v)


def _forward(weights, v):
    return _weighed(weights, v), (weights, v)


def _backward(saved, grad):
    weights, v = saved
    to_weights = jnp.einsum("bhtd,bhnd->bhtn", grad, v)
    return to_weights, 2 * jnp.einsum("bhtn,bhtd->bhnd", weights, grad)


_weighed.defvjp(_forward, _backward)


def jax_wrong_vjp(q, k, v):
    """A custom backward that counts the gradient of the values twice."""
    return _weighed(jax.nn.softmax(_jax_logits(q, k), axis=-1), v)
