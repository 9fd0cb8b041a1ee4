"""Families of hostile problems for `adversary_moments` and `adversary_sampled`: each is a function
from a random generator to one problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.random import Generator

import headwright as hw


@dataclass(frozen=True)
class Case:
    """One problem. `parts` are those of `GaussianKeys`; `q` is one query or two. Queries `before`
    it in the same call change nothing."""

    q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    before: np.ndarray | None = None

    def found(self) -> Any:
        keys = hw.GaussianKeys(self.K, **self.parts)
        if self.before is None:
            return hw.moments(self.q, keys, self.V, **self.options)
        queries = np.concatenate([self.before, self.q[None, :]])
        all_of_them = hw.moments(queries[:, None, :], keys, self.V, **self.options)
        last = {f.name: getattr(all_of_them, f.name) for f in fields(all_of_them)}
        return replace(
            all_of_them, **{name: x[-1] for name, x in last.items() if isinstance(x, np.ndarray)}
        )


def _plain(rng: Generator, n: int | None = None, d: int | None = None) -> Case:
    n = _between(rng, 2, 9) if n is None else n
    d = _between(rng, 1, 6) if d is None else d
    variances = rng.uniform(0.01, 1, n)
    q = rng.normal(size=d)
    K = rng.normal(size=(n, d))
    V = rng.uniform(-1, 1, (n, 2))
    return Case(q, K, V, {"isotropic": variances})


def _size(rng: Generator, low: float, high: float) -> float:
    """A size between 10^low and 10^high, all orders of magnitude alike."""
    return 10.0 ** rng.uniform(low, high)


def _between(rng: Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high))


def _shifted(rng: Generator) -> Case:
    """The same constant on all logits, through the bias: exact in the fractions, whatever it
    swallows."""
    case = _plain(rng)
    bias = rng.normal(size=len(case.K))
    constant = 2.0 ** rng.uniform(0, 60)
    return replace(case, options={"bias": bias + constant})


def _channel(rng: Generator) -> Case:
    case = _plain(rng, d=_between(rng, 2, 6))
    size = _size(rng, 2, 14)
    channels = rng.random(case.K.shape[1]) < 0.5
    return replace(case, K=case.K + size * channels)


def _orthogonal(rng: Generator) -> Case:
    """Large keys that the query hardly sees."""
    case = _plain(rng, d=_between(rng, 2, 6))
    K = _size(rng, 2, 12) * case.K
    K -= np.outer(K @ case.q, case.q) / (case.q @ case.q)
    seen = 0.1 * rng.normal(size=K.shape)
    return replace(case, K=K + seen)


def _single(rng: Generator) -> Case:
    case = _plain(rng, n=_between(rng, 2, 100), d=_between(rng, 2, 65))
    d = case.q.size
    first_channel = np.arange(d) == 0
    K = case.K + _size(rng, 0, 4) * first_channel
    q = case.q / np.sqrt(d)
    variances = case.parts["isotropic"].astype(np.float32)
    return Case(
        q.astype(np.float32),
        K.astype(np.float32),
        case.V.astype(np.float32),
        {"isotropic": variances},
    )


def _one_key(rng: Generator) -> Case:
    return _plain(rng, n=1)


def _duplicates(rng: Generator) -> Case:
    case = _plain(rng, n=_between(rng, 2, 60))
    which = rng.integers(0, 2, len(case.K))
    variances = case.parts["isotropic"][which]
    return replace(case, K=case.K[which], parts={"isotropic": variances})


def _heavy(rng: Generator) -> Case:
    case = _plain(rng, n=_between(rng, 50, 200))
    bias = np.zeros(len(case.K))
    bias[0] = rng.uniform(3, 60)
    return replace(case, options={"bias": bias})


def _noise_of_any_size(rng: Generator) -> Case:
    case = _plain(rng)
    variances = np.full(len(case.K), _size(rng, -30, 8))
    return replace(case, parts={"isotropic": variances})


def _wide(rng: Generator) -> Case:
    case = _plain(rng, n=_between(rng, 2, 30))
    variances = 10.0 ** rng.uniform(-4, 5, len(case.K))
    return replace(case, parts={"isotropic": variances})


def _huge(rng: Generator) -> Case:
    case = _plain(rng)
    n = len(case.K)
    variances = 10.0 ** rng.uniform(-2, 30, n)
    noisy = rng.random(n) < 0.5
    K = case.K * _size(rng, 3, 30)
    return replace(case, K=K, parts={"isotropic": variances * noisy})


def _rarely(rng: Generator) -> Case:
    """Keys that overtake the first one once in dozens of draws, or in billions."""
    n = _between(rng, 2, 30)
    deviation = _size(rng, -1, 3)
    apart = rng.uniform(2, 8) * rng.uniform(0.9, 1.3, (n, 1))
    apart[0] = 0.0
    V = rng.normal(size=(n, 2))
    return Case(np.ones(1), -deviation * apart, V, {"isotropic": np.full(n, deviation**2 / 2)})


def _radial(rng: Generator) -> Case:
    case = _plain(rng, d=2)
    K = case.K + _size(rng, 0, 9)
    across = np.array([0.7, -0.7])
    variances = rng.uniform(0, 1, len(K))
    return replace(case, K=K, q=across, parts={"radial": variances})


def _factors(rng: Generator) -> Case:
    """Noise that is large, and nearly orthogonal to the query."""
    case = _plain(rng, d=3)
    F = _size(rng, 0, 8) * rng.normal(size=(*case.K.shape, 1))
    along = np.einsum("ndr,d->nr", F, case.q) / (case.q @ case.q)
    F -= along[:, None, :] * case.q[:, None]
    seen = 0.3 * rng.normal(size=F.shape)
    return replace(case, parts={"factors": F + seen})


def _masked(rng: Generator) -> Case:
    case = _plain(rng, n=_between(rng, 2, 60))
    n = len(case.K)
    mask = rng.random(n) < 0.6
    mask[0] = True
    behind_the_mask = _size(rng, -2, 20) * rng.normal(size=n) * ~mask
    bias = behind_the_mask + rng.normal(size=n)
    scale = float(rng.normal())
    return replace(case, options={"mask": mask, "bias": bias, "scale": scale})


def _values(rng: Generator) -> Case:
    """Values of any size, and some of them far from the others."""
    case = _plain(rng, n=_between(rng, 2, 100))
    size = _size(rng, -100, 100)
    V = size * (case.V + _size(rng, -3, 6))
    far = rng.random((len(V), 1)) < 0.1
    return replace(case, V=V * np.where(far, _size(rng, 0, 30), 1.0))


def _hidden_value(rng: Generator) -> Case:
    """A key far below the others has a value far above theirs."""
    case = _plain(rng, n=_between(rng, 50, 100))
    bias = np.zeros(len(case.K))
    bias[0] = rng.uniform(30, 80)
    V = case.V.copy()
    V[3] = _size(rng, 0, 30)
    return replace(case, V=V, options={"bias": bias})


def _heads(rng: Generator) -> Case:
    case = _plain(rng, n=2, d=3)
    K = case.K
    if rng.random() < 0.5:
        size = _size(rng, 2, 10)
        K = K + size * (rng.random(3) < 0.3)
    nearly_the_same = case.q * (1 + 1e-9)
    other = rng.normal(size=3) if rng.random() < 0.7 else nearly_the_same
    mix = rng.normal(size=2)
    return replace(case, K=K, q=np.stack([case.q, other]), options={"mix": mix})


def _light_keys(rng: Generator) -> Case:
    """Two heads on dozens of keys, most of which have little weight: deviations of all sizes, a
    heavy key now and then, heads that are nearly the same or opposite."""
    case = _plain(rng, n=_between(rng, 33, 70), d=3)
    n = len(case.K)
    variances = 10.0 ** rng.uniform(rng.uniform(-8, -1), 0.5, n)
    other = rng.choice([-1.0, 1.0]) * case.q + 10.0 ** rng.uniform(-3, 1) * rng.normal(size=3)
    bias = np.zeros(n)
    bias[0] = rng.choice([0.0, rng.uniform(0, 20)])
    queries = np.stack([case.q, other]) / max(1.0, float(np.linalg.norm(other)))
    options = {"mix": rng.normal(size=2), "bias": bias}
    return replace(case, q=queries, parts={"isotropic": variances}, options=options)


def _far_apart(rng: Generator) -> Case:
    """Two heads on hundreds of keys: means and values with heavy tails, deviations of all sizes, so
    that some keys are far above all others and many have no weight that float64 can hold."""
    n = _between(rng, 100, 500)
    d = _between(rng, 2, 4)
    K = rng.choice([0.1, 0.5, 1.0]) * rng.standard_t(2, size=(n, d))
    variances = 10.0 ** rng.uniform(rng.choice([-8, -4, -1]), rng.choice([-0.5, 0.0, 0.5]), n)
    q = rng.normal(size=d)
    other = rng.choice([-1.0, 1.0]) * q + _size(rng, -3, 1) * rng.normal(size=d)
    queries = rng.choice([0.3, 1.0, 3.0]) * np.stack([q, other])
    queries /= max(1.0, float(np.linalg.norm(other)))
    V = rng.standard_t(2, size=(n, 2))
    options = {"mix": rng.normal(size=2)}
    return Case(queries, K, V / np.abs(V).max(), {"isotropic": variances}, options)


def _many(rng: Generator) -> Case:
    """Some thousand keys: by the grid, against every key by itself."""
    case = _plain(rng, n=_between(rng, 1000, 3000), d=4)
    K = case.K + _size(rng, 0, 12)
    return replace(case, K=K, q=case.q - case.q.mean())


def _crowd(rng: Generator) -> Case:
    """Thousands of keys of which only a few differ, with values of equal sizes: whatever is rounded
    is rounded the same way every time, so that it adds up."""
    few = _between(rng, 1, 4)
    which = rng.integers(few, size=_between(rng, 2000, 30_000))
    K = rng.normal(size=(few, 1))
    variances = rng.uniform(0.1, 5, few)
    signs = rng.choice([-1.0, 1.0], (which.size, 2))
    V = signs * rng.uniform(0.3, 1, (few, 2))[which]
    return Case(np.ones(1), K[which], V, {"isotropic": variances[which]})


def _in_a_call(rng: Generator) -> Case:
    """One of many queries of all lengths, on keys whose noise has all sizes."""
    case = _plain(rng, n=_between(rng, 2, 30), d=3)
    variances = 10.0 ** rng.uniform(-8, 3, len(case.K))
    lengths = 10.0 ** rng.uniform(-2, 2, (30, 1))
    Q = lengths * rng.normal(size=(30, 3))
    return replace(case, q=Q[-1], before=Q[:-1], parts={"isotropic": variances})


FAMILIES: dict[str, Callable[[Generator], Case]] = {
    "ordinary": _plain,
    "a constant on all logits, up to 2^60": _shifted,
    "channels common to all keys, up to 1e14": _channel,
    "large keys nearly orthogonal to the query": _orthogonal,
    "single precision, one channel up to 1e4": _single,
    "one key": _one_key,
    "duplicates": _duplicates,
    "a heavy key": _heavy,
    "noise of any size": _noise_of_any_size,
    "wide ranges of deviations": _wide,
    "huge logits": _huge,
    "keys that rarely overtake each other": _rarely,
    "radial noise, common channel": _radial,
    "factors nearly orthogonal to the query": _factors,
    "masks, biases and scales": _masked,
    "values of any size": _values,
    "a large value on a key out of reach": _hidden_value,
    "two correlated heads": _heads,
    "two correlated heads, light keys": _light_keys,
    "two correlated heads, keys far apart": _far_apart,
    "thousands of keys": _many,
    "thousands of equal keys": _crowd,
    "one of 30 queries in a call": _in_a_call,
}
SLOW_FAMILIES = {
    "thousands of keys",
    "thousands of equal keys",
    "two correlated heads",
    "two correlated heads, light keys",
    "two correlated heads, keys far apart",
}
