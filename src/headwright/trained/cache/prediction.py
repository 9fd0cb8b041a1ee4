"""How far a head's output is expected to move when its keys are noisy: E|c~ - c|^2, with c the
output of the keys as they are and c~ that of the noisy ones.

With Gaussian logits the exact moments of all keys give it: E|c~ - c|^2 = |E c~ - c|^2 + trace Cov
c~. Rejected: keeping the heaviest keys and collapsing the others into one noiseless key. Where the
noise is wide the others win as often as not, and one key at their mean never does.
"""

from __future__ import annotations

import numpy as np

from headwright.attention import weights
from headwright.keys import GaussianKeys
from headwright.noise import moments
from headwright.trained.measures.sampled import Row
from headwright.types import Float

# Logit deviation up to which the leading order is the answer: what it leaves out is s^2, one part
# in a thousand.
SMALL = 0.03
# Draws for logits behind a soft cap: a squared error of relative deviation 1 or so is then known to
# 2%.
_DRAWS = 4096
# Logits drawn at once: 8 MB.
_AT_ONCE = 2**20


def predict(row: Row, law: GaussianKeys) -> float:
    """E|c~ - c|^2 for this row: to leading order where the noise is small, else from the moments of
    all its keys."""
    logits_law = law.logits_law(row.q, scale=row.scale)
    variances = logits_law.variances[row.seen]
    if row.sink is not None:  # which no cache stores: it has no noise
        row = row.with_sink_as_key()
        variances = np.append(variances, 0.0)
    small = SMALL
    if row.softcap is not None:
        small *= min(1.0, row.softcap)  # the cap bends over its own size

    if variances.max() <= small**2:
        z = row.logits()
        parts = leading_order(z, row.slopes(z) ** 2 * variances, row.V)
        return float(parts.sum())
    return _exact(row, variances) if row.softcap is None else _drawn(row, variances)


def leading_order(z: np.ndarray, variances: np.ndarray, V: np.ndarray) -> Float[np.ndarray, "n"]:
    """Each key's part of E|c~ - c|^2 = sum_i a_i^2 s_i^2 |v_i - c|^2, up to relative s^2."""
    a = weights(z)
    distances = np.sum((V - a @ V) ** 2, axis=1)
    return a**2 * variances * distances


def _exact(row: Row, variances: Float[np.ndarray, "n"]) -> float:
    # One query sees a key only through its logit, so the law of the logits goes over as
    # one-dimensional keys.
    keys = GaussianKeys(row.logits()[:, None], isotropic=variances)
    noisy = moments(np.ones(1), keys, row.V)
    bias = np.sum((noisy.mean - row.output()) ** 2)
    # A head that never lets go of one key has a covariance of 0 to rounding, of either sign.
    return float(bias + max(np.trace(noisy.covariance), 0.0))


def _drawn(row: Row, variances: Float[np.ndarray, "n"]) -> float:
    """By sampling: a logit behind a soft cap is not Gaussian. Always the same draws, so that audits
    repeat."""
    rng = np.random.default_rng(0)
    raw = row.scale * (row.K @ row.q)
    deviations = np.sqrt(variances)
    output = row.output()
    step = max(1, _AT_ONCE // raw.size)

    total = 0.0
    for start in range(0, _DRAWS, step):
        size = min(step, _DRAWS - start)
        noisy = raw + deviations * rng.standard_normal((size, raw.size))
        moved = weights(row.capped(noisy)) @ row.V - output
        total += float(np.sum(moved**2))
    return total / _DRAWS
