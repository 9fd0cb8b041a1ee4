"""Each variant is solved by the engines before it is handed out: a certified query for the mixture
and for the average, and exact moments for what the random length does."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from headwright import attention, design
from headwright.course.variants.variant import Variant
from headwright.design.closed_form import sharpness
from headwright.errors import HeadwrightError
from headwright.keys import GaussianKeys
from headwright.noise import moments

_MIXTURE_LEAK = 0.01
_SHARP = 1000.0  # a scale at which one head has decided in almost every sample
_TINY = 1e-8  # the variance of every key around its mean
_DEVIATION = 0.005  # how far the deviation of c may be from one half
_STEADIER = 2.0  # times less variance, at least, with two heads


def prove_solvable(variant: Variant) -> None:
    """Raises where an engine does not find what the key says; that would be a fault of ours."""
    proofs = {
        "the mixture": _mixture(variant.percent, variant.n, variant.d),
        "the average": _average(variant.n, variant.leak),
        "the swinging output": _swings(variant.variance_number),
    }
    for what, proved in proofs.items():
        if not proved:
            raise HeadwrightError(f"no proof that {what} of the variant {variant} can be reached")


@cache
def _mixture(percent: int, n: int, d: int) -> bool:
    share = percent / 100
    scale = 1 / math.sqrt(d) if d else 1.0
    found = design.mixture({0: share, 1: 1 - share}, np.eye(n), leak=_MIXTURE_LEAK, scale=scale)
    return found.status == "reached" and found.certify().holds


@cache
def _average(n: int, leak: int) -> bool:
    """Two routes: a certified query, and the weights of the key's own scale."""
    allowed = leak / 100
    found = design.average([0, 1], np.eye(n), leak=allowed)
    beta = sharpness(n, leak=allowed, m=2)
    q = np.zeros(n)
    q[:2] = beta
    others = float(attention.weights(q)[2:].sum())
    reached = found.status == "reached" and found.certify().holds
    return reached and math.isclose(others, allowed, rel_tol=1e-9)


@cache
def _swings(variance: float) -> bool:
    """One head: c is v_a or v_b, each half of the time. With x = (v_a - v_b)/2 and unit values,
    x'(v_a - v_b) = 1 and Var(x'c) = 1/4. Two heads: much less."""
    values = np.eye(5)
    keys = GaussianKeys(values, isotropic=_TINY).radial({0: variance})
    x = (values[0] - values[1]) / 2
    one = moments(_SHARP * (values[0] + values[1]), keys, values)
    two = moments(_SHARP * values[:2], keys, values)

    swing = float(x @ one.covariance @ x)
    still = float(x @ two.covariance @ x)
    return abs(math.sqrt(swing) - 0.5) < _DEVIATION and _STEADIER * still < swing
