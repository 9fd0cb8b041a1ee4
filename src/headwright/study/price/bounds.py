"""What theorems say of the shortest query that averages q of N unit keys with leak eps.

With z = tau on the set S and A = eps / (1 - eps), reaching the leak means

    sum_{i not in S} e^(z_i - tau) <= q A.                                                  (1)

All floors come from one line. Take any c keys outside S; by (1) and Jensen's inequality their mean
logit is at least ln(c / (q A)) below tau, so with the means of keys that go with it

    |query| >= ln(c / (q A)) / | mean of keys in S - mean of those c keys | .               (2)
"""

from __future__ import annotations

import math

import numpy as np

from headwright.types import Array, Float, Keys


def lead(c: int, q: int, leak: float) -> float:
    """ln(c / (q A)): how far the mean logit of c keys must stay behind the q wanted ones."""
    return math.log(c / q) + math.log1p(-leak) - math.log(leak)


def floor(N: int, q: int, leak: float) -> float:
    """Any unit keys, any d: (2) with all c = N - q other keys, in the mean over all sets.

    With s the sum of all keys, the mean over all S of |mean of S - mean of the rest|^2 is

        N^2 / (q (N-1) (N-q)) - |s|^2 / (q (N-1) (N-q)),

    so 1 / |query|^2 is at most N^2 / (q (N-1) (N-q)) / lead^2 in the mean over all sets: the same
    margin as in arXiv:2601.20844, turned into a length. Regular simplices (d = N - 1) attain it.
    """
    margin = N / math.sqrt(q * (N - 1) * (N - q))
    return lead(N - q, q, leak) / margin


def packing_floor(N: int, q: int, d: float, leak: float) -> float:
    """Any unit keys in d dimensions: what at least half of all sets must pay.

    Sets S and T that differ in j keys: by (1) for both, (q_S - q_T).(mean of S without T - mean of
    T without S) >= 2 lead(j), and the means are at most 2 apart, hence |q_S - q_T| >= lead(j). Half
    of all sets contain (Gilbert's argument) a part of M = C(N,q) / (2 V_j) sets or more that
    differ in j keys or more, V_j the number of sets within j - 1 exchanges; so M balls of radius
    lead(j)/2 fit into one of radius r + lead(j)/2:      r >= lead(j)/2 (M^(1/d) - 1).
    """
    best = 0.0
    within = 0
    for j in range(1, q + 1):
        within += math.comb(q, j - 1) * math.comb(N - q, j - 1)
        apart = lead(j, q, leak)
        crowd = math.log(math.comb(N, q)) - math.log(2 * within)
        best = max(best, apart / 2 * math.expm1(crowd / d))
    return best


def near_floor(K: Keys, support: list[int], leak: float) -> float:
    """(2) for one key of S and its c nearest others, the best of all of them and all c."""
    q = len(support)
    outside = np.ones(len(K), bool)
    outside[support] = False
    others = K[outside]
    counts = np.arange(1, len(others) + 1)
    leads = np.log(counts / q) + math.log1p(-leak) - math.log(leak)
    best = 0.0
    for a in support:
        nearest = others[np.argsort(-(others @ K[a]), kind="stable")]
        means = np.cumsum(nearest, axis=0) / counts[:, None]
        apart = np.linalg.norm(K[a] - means, axis=1)
        best = max(best, float(np.max(leads / np.maximum(apart, 1e-300))))
    return best


def cyclic_floor(N: int, q: int, d: int, leak: float) -> float:
    """Cyclic keys, a set with a key whose two neighbours are outside: (2) with those two,

        |k(t) - (k(t+h) + k(t-h)) / 2|^2 = mean_j (1 - cos jh)^2,   j = 1..d/2,  h = 2 pi / N.

    While d is small beside N this is 2 sqrt(5) / pi^2 lead(2) (N/d)^2.
    """
    j = np.arange(1, d // 2 + 1)
    apart = np.sqrt(np.mean((1 - np.cos(2 * np.pi * j / N)) ** 2))
    return max(lead(2, q, leak), 0.0) / float(apart)


def random_ceiling(K: Keys, support: list[int], leak: float) -> float | None:
    """Random keys: a length that is enough with probability 1/2 at least, whatever the keys in S.

    The least query v with logit 1 on S, times tau. The other keys are independent of it and uniform
    on the sphere, so E e^(tau k.v) <= e^(tau^2 v^2 / 2d); by Markov's inequality (1) holds with
    probability 1/2 if      tau - tau^2 v^2 / (2d) >= lead(N - q) + ln 2,
    which some tau does if d >= 2 v^2 (lead + ln 2), v^2 ~ q: dimension O(q log N) is enough, as in
    arXiv:2306.02896.
    """
    N, d = K.shape
    v = _least(K, support)
    needed = lead(N - len(support), len(support), leak) + math.log(2)
    ratio = float(v @ v) / d
    inside = 1 - 2 * ratio * needed
    if inside < 0:
        return None
    tau = (1 - math.sqrt(inside)) / ratio
    return tau * float(np.linalg.norm(v))


def coherence_ceiling(N: int, q: int, mu: float, leak: float) -> float | None:
    """Any unit keys: a length that is enough, from mu, the largest |k_i.k_j| of two of them.

    The same v has coefficients of at most 1 / (1 - (q-1) mu), so other keys reach at most
    q mu / (1 - (q-1) mu), and v^2 <= q / (1 - (q-1) mu).
    """
    if (2 * q - 1) * mu >= 1:
        return None
    return lead(N - q, q, leak) * math.sqrt(q * (1 - (q - 1) * mu)) / (1 - (2 * q - 1) * mu)


def cyclic_ceiling(N: int, d: int, support: list[int], leak: float) -> float | None:
    """Cyclic keys: the length of a query that can be written down, for sets of q <= m = d/2 keys.

    With F the Fejer kernel of degree s = floor(m / q), F(0) = 1 > F elsewhere, the polynomial
    - prod_{a in S} (1 - F(t - t_a)) has degree q s <= m, is 0 on S and negative elsewhere. Its
    least fall on the other keys must be lead(N - q); by Parseval the query's length is
    sqrt(2 m Var_t) of the polynomial. Far apart, neighbours fall by s (s+2) h^2 / 12: the length
    grows like (N/d)^2.
    """
    q = len(support)
    m = d // 2
    if q > m or N <= q:
        return None
    s = m // q
    taken = np.asarray(support)
    distances = (np.arange(N)[:, None] - taken) * (2 * np.pi / N)
    fall = np.prod(1 - _fejer(distances, s), axis=1)
    least = float(np.delete(fall, taken).min())

    # Any 2 m + 1 equidistant points or more give the exact variance: 2 q s <= 2 m harmonics.
    t = 2 * np.pi * np.arange(2 * m + 1) / (2 * m + 1)
    dense = np.prod(1 - _fejer(t[:, None] - 2 * np.pi * taken / N, s), axis=1)
    length = math.sqrt(2 * m * float(np.var(dense)))
    return lead(N - q, q, leak) * length / least if least > 0 else None


def _fejer(t: Float[Array, "*any"], s: int) -> Float[Array, "*any"]:
    """F(t) = (sin((s+1) t/2) / ((s+1) sin(t/2)))^2."""
    half = np.asarray(t) / 2
    bottom = (s + 1) * np.sin(half)
    peak = np.abs(bottom) < 1e-12
    ratio = np.sin((s + 1) * half) / np.where(peak, 1.0, bottom)
    return np.where(peak, 1.0, ratio**2)


def _least(K: Keys, support: list[int]) -> Float[Array, "d"]:
    """The shortest v with k_a.v = 1 on S."""
    return np.linalg.lstsq(K[support], np.ones(len(support)), rcond=None)[0]
