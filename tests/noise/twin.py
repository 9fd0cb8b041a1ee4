"""The slow twin of the exact moments: the definitions in high precision. Nobody makes it clever.

Two or three keys: expectations over the noisy logits, one Gaussian integral per key, nothing else.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np

mp.mp.dps = 22


def rational_logits(q, K, *, scale=1.0, bias=None):
    """`scale * (k_i . q) + bias_i` of the stored numbers, as fractions: no rounding at all."""
    bias = [0.0] * len(K) if bias is None else bias
    query = [Fraction(float(y)) for y in q]
    return [
        Fraction(float(scale))
        * sum((Fraction(float(x)) * y for x, y in zip(k, query, strict=True)), Fraction(0))
        + Fraction(float(b))
        for k, b in zip(K, bias, strict=True)
    ]


def rational_law(q, K, covariances, *, scale=1.0, bias=None):
    """Means, counted from the largest, and deviations of the logits, each rounded once.
    `covariances` holds a d x d matrix of stored numbers for every key, or a vector that stands for
    a diagonal one."""
    z = rational_logits(q, K, scale=scale, bias=bias)
    top = max(z)
    query = [Fraction(float(y)) for y in q]
    variances = []
    for C in covariances:
        C = np.diag(C) if np.ndim(C) == 1 else C
        terms = (
            Fraction(float(C[i, j])) * x * y
            for i, x in enumerate(query)
            for j, y in enumerate(query)
        )
        variances.append(Fraction(float(scale)) ** 2 * sum(terms, Fraction(0)))
    with mp.workdps(60):
        deviations = [float(mp.sqrt(mp.mpf(v.numerator) / v.denominator)) for v in variances]
    return np.array([float(x - top) for x in z]), np.array(deviations)


def normal(g):
    return mp.exp(-g * g / 2) / mp.sqrt(2 * mp.pi)


def expectation(f, places=()):
    """E f(g), g ~ N(0, 1), for f that may turn sharply at `places`."""
    cuts = sorted(
        {mp.mpf(p) for p in (-13, -6, -2, 0, 2, 6, 13)} | {mp.mpf(p) for p in places if abs(p) < 13}
    )
    return mp.quad(lambda g: normal(g) * f(g), cuts)


def turns(x, s):
    """Where e^{x + s g} passes from negligible to dominant."""
    return [(mp.mpf(d) - x) / s for d in (-50, -20, -6, -1, 2, 5)] if s else []


def laplace(x, s, k):
    """E[e^{ky} exp(-e^y)], y = x + s g; k = -1 stands for E[1 - exp(-e^y)]."""

    def f(g):
        y = mp.mpf(x) + mp.mpf(s) * g
        return -mp.expm1(-mp.exp(y)) if k < 0 else mp.exp(k * y - mp.exp(y))

    return f(mp.mpf(0)) if s == 0 else expectation(f, turns(x, s))


def two_keys(m, s):
    """E[alpha_0] and E[alpha_0^2]: alpha_0 = logistic(z_0 - z_1), and the difference of two logits
    is Gaussian."""
    gap, width = mp.mpf(m[0]) - mp.mpf(m[1]), mp.sqrt(mp.mpf(s[0]) ** 2 + mp.mpf(s[1]) ** 2)

    def weight(g):
        return 1 / (1 + mp.exp(-gap - width * g))

    if width == 0:
        return weight(mp.mpf(0)), weight(mp.mpf(0)) ** 2
    places = [(mp.mpf(d) - gap) / width for d in (-50, -15, -4, 0, 4, 15, 50)]
    return expectation(weight, places), expectation(lambda g: weight(g) ** 2, places)


def two_noisy(m, s):
    """E[alpha_i], E[alpha_i alpha_j] for any number of keys of which the first two are noisy: a
    double integral."""
    rest = mp.fsum(mp.exp(mp.mpf(x)) for x in m[2:])

    def weights(g, h):
        e = [mp.exp(mp.mpf(m[0]) + mp.mpf(s[0]) * g), mp.exp(mp.mpf(m[1]) + mp.mpf(s[1]) * h)]
        e += [mp.exp(mp.mpf(x)) for x in m[2:]]
        total = e[0] + e[1] + rest
        return [x / total for x in e]

    n = len(m)
    nodes = [(mp.mpf(j) / 4, normal(mp.mpf(j) / 4) / 4) for j in range(-36, 37)]
    first, second = [mp.mpf(0)] * n, [[mp.mpf(0)] * n for _ in range(n)]
    for g, p in nodes:
        for h, q in nodes:
            a = weights(g, h)
            for i in range(n):
                first[i] += p * q * a[i]
                for j in range(n):
                    second[i][j] += p * q * a[i] * a[j]
    return first, second
