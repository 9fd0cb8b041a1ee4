"""The slow twin: attention in 50-digit arithmetic, written as the formulas are. Nobody makes it
clever."""

from __future__ import annotations

import mpmath as mp

mp.mp.dps = 50


def logits(q, K, scale=1, bias=None):
    bias = bias if bias is not None else [0] * len(K)
    return [
        mp.mpf(scale)
        * mp.fsum(mp.mpf(float(x)) * mp.mpf(float(y)) for x, y in zip(k, q, strict=True))
        + mp.mpf(float(b))
        for k, b in zip(K, bias, strict=True)
    ]


def softmax(z):
    e = [mp.exp(x) for x in z]
    total = mp.fsum(e)
    return [x / total for x in e]


def output(alpha, V):
    return [
        mp.fsum(a * mp.mpf(float(v[j])) for a, v in zip(alpha, V, strict=True))
        for j in range(len(V[0]))
    ]


def leak_of_average(n, m, beta):
    """Mass outside S for orthonormal keys and q = beta * sum of the m keys in S."""
    beta = mp.mpf(beta)
    return (n - m) / (n - m + m * mp.exp(beta))


def normal_cdf(x):
    return mp.ncdf(x)
