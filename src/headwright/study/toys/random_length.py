"""Pairs whose first key has a random length: how well the heads do, and whether they look away.

    k_a = gamma mu_a,   gamma ~ N(1, 1/2);        the logit of a is gamma z_a, the others are fixed

With A(gamma) = alpha_a and p the weights that the other keys have among themselves, alpha_i =
(1 - A) p_i, so that E |alpha - target|^2 is an integral over gamma alone, for all pairs at once.
`headwright.moments` is the second route to it, and knows nothing of gamma.

Textbook heads rise with their key: z_a is the whole lead of a over the others, and the length moves
all of it. A head that looks away has z_a = 0 and negative logits elsewhere: no length can move it.
What tells them apart is the share of the lead that depends on the length,

    sum_h alpha_a^h |z_a^h|  /  sum_h alpha_a^h (z_a^h - mean of the other logits),

1 for orthonormal keys and textbook heads, 0 for the design.
"""

from __future__ import annotations

import numpy as np

from headwright.attention import weights
from headwright.keys import GaussianKeys
from headwright.noise import moments
from headwright.study.toys.task import solved
from headwright.types import Array, Float, Heads, Int, Keys

# As in the exercise: 1/2 is a variance.
LENGTH_VARIANCE = 0.5
# The trapezoid rule in gamma: e^{-36} is left outside, and a logit of 100 turns within 0.03.
_REACH = 6.0
_STEP = 0.01
# A head looks away when at most this share of the lead depends on the length, and is calm when its
# squared error is a tenth of what the textbook's two heads have in the exercise (0.0246).
AWAY = 0.25
CALM = 0.0025


def squared_errors(
    queries: Float[Array, "h p d"], keys: Keys, pairs: Int[Array, "p 2"]
) -> Float[Array, "p"]:
    """E |alpha - target|^2 of every pair, by the integral over gamma."""
    rows = np.arange(len(pairs))
    first = pairs[:, 0]
    logits = queries @ keys.T
    own = logits[:, rows, first]
    logits[:, rows, first] = -np.inf
    others = weights(logits)  # p: without the random key
    total = np.logaddexp.reduce(logits, axis=-1)

    gamma = 1 + np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    density = np.exp(-((gamma - 1) ** 2)) * _STEP / np.sqrt(np.pi)
    # R_h(gamma) = 1 - A_h = 1 / (1 + e^{gamma z_a - ln sum of the others})
    lead = own[..., None] * gamma - total[..., None]
    rest = 0.5 - 0.5 * np.tanh(0.5 * lead)
    # |alpha - t|^2 = (mean_h A_h - 1/2)^2 + |mean_h R_h p_h|^2 - mean_h R_h p_hb + 1/4
    overlap = np.einsum("gpn,hpn->ghp", others, others)
    heads = len(queries)
    square = np.einsum("gpt,ghp,hpt->pt", rest, overlap, rest) / heads**2
    on_b = np.einsum("hpt,hp->pt", rest, others[:, rows, pairs[:, 1]]) / heads
    of_a = (0.5 - rest.mean(axis=0)) ** 2
    return (of_a + square - on_b + 0.25) @ density


def engine_error(queries: Heads, keys: Keys, a: int, b: int) -> float:
    """E |c - target|^2 = |E c - target|^2 + trace Cov(c), from `headwright.moments`."""
    n = len(keys)
    target = np.zeros(n)
    target[[a, b]] = 0.5
    law = GaussianKeys(keys).radial({a: LENGTH_VARIANCE})
    found = moments(queries, law, np.eye(n))
    bias = ((found.mean - target) ** 2).sum()
    return float(bias + np.trace(found.covariance))


def textbook_errors(
    keys: Keys, pairs: Int[Array, "p 2"], *, heads: int, limit: float
) -> Float[Array, "p"]:
    """The same keys and the textbook's heads, q = beta (k_a + k_b) or beta k_a and beta k_b, each
    pair at its best length within the limit."""
    first = keys[pairs[:, 0]]
    second = keys[pairs[:, 1]]
    queries = np.stack([first + second]) if heads == 1 else np.stack([first, second])
    norms = np.linalg.norm(queries, axis=-1, keepdims=True)
    unit = queries / np.maximum(norms, np.finfo(float).tiny)
    lengths = np.geomspace(0.01, 1.0, 12) * limit
    return np.min([squared_errors(unit * one, keys, pairs) for one in lengths], axis=0)


def dependence(
    queries: Float[Array, "h p d"], keys: Keys, pairs: Int[Array, "p 2"]
) -> Float[Array, "p"]:
    """The share of a's lead over the other keys that moves with its length."""
    rows = np.arange(len(pairs))
    logits = queries @ keys.T
    own = logits[:, rows, pairs[:, 0]]
    on_pair = own + logits[:, rows, pairs[:, 1]]
    mean_of_others = (logits.sum(axis=-1) - on_pair) / (len(keys) - 2)
    weight = weights(logits)[:, rows, pairs[:, 0]]
    lead = (weight * (own - mean_of_others)).sum(axis=0)
    moved = (weight * np.abs(own)).sum(axis=0)
    return np.where(lead > 0, moved / np.where(lead > 0, lead, 1.0), np.inf)


def looks_away(queries: Float[Array, "h p d"], keys: Keys, pairs: Int[Array, "p 2"]) -> Array:
    """Which pairs are solved at the mean length by a lead that hardly depends on the length."""
    alpha = weights(queries @ keys.T).mean(axis=0)
    return solved(alpha, pairs) & (dependence(queries, keys, pairs) <= AWAY)
