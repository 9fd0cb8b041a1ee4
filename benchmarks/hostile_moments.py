"""Families of hostile problems for `adversary_moments`: each is a function from a random generator
to one problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import headwright as hw


@dataclass(frozen=True)
class Case:
    """One problem. `parts` are those of `GaussianKeys`; `q` is one query or two."""

    q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def found(self) -> Any:
        return hw.moments(self.q, hw.GaussianKeys(self.K, **self.parts), self.V, **self.options)


def _plain(rng: np.random.Generator, n: int | None = None, d: int | None = None) -> Case:
    n = int(rng.integers(2, 9)) if n is None else n
    d = int(rng.integers(1, 6)) if d is None else d
    parts = {"isotropic": rng.uniform(0.01, 1, n)}
    return Case(rng.normal(size=d), rng.normal(size=(n, d)), rng.uniform(-1, 1, (n, 2)), parts)


def _changed(case: Case, **changes: Any) -> Case:
    return Case(
        **{
            name: changes.get(name, getattr(case, name))
            for name in ("q", "K", "V", "parts", "options")
        }
    )


def _shifted(rng: np.random.Generator) -> Case:
    """The same constant on all logits, through the bias: exact in the fractions, whatever it
    swallows."""
    case = _plain(rng)
    return _changed(
        case, options={"bias": rng.normal(size=len(case.K)) + 2.0 ** rng.uniform(0, 60)}
    )


def _channel(rng: np.random.Generator) -> Case:
    case = _plain(rng, d=int(rng.integers(2, 6)))
    return _changed(
        case, K=case.K + 10.0 ** rng.uniform(2, 14) * (rng.random(case.K.shape[1]) < 0.5)
    )


def _orthogonal(rng: np.random.Generator) -> Case:
    """Large keys that the query hardly sees."""
    case = _plain(rng, d=int(rng.integers(2, 6)))
    K = 10.0 ** rng.uniform(2, 12) * case.K
    K -= np.outer(K @ case.q, case.q) / (case.q @ case.q)
    return _changed(case, K=K + 0.1 * rng.normal(size=K.shape))


def _single(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=int(rng.integers(2, 100)), d=int(rng.integers(2, 65)))
    K = case.K + 10.0 ** rng.uniform(0, 4) * (np.arange(case.K.shape[1]) == 0)
    q = case.q / np.sqrt(case.q.size)
    arrays = {"q": q, "K": K, "V": case.V, "parts": {"isotropic": case.parts["isotropic"]}}
    single = {k: x.astype(np.float32) for k, x in arrays.items() if k != "parts"}
    return _changed(case, **single, parts={"isotropic": case.parts["isotropic"].astype(np.float32)})


def _one_key(rng: np.random.Generator) -> Case:
    return _plain(rng, n=1)


def _duplicates(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=int(rng.integers(2, 60)))
    which = rng.integers(0, 2, len(case.K))
    return _changed(case, K=case.K[which], parts={"isotropic": case.parts["isotropic"][which]})


def _heavy(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=int(rng.integers(50, 200)))
    bias = np.zeros(len(case.K))
    bias[0] = rng.uniform(3, 60)
    return _changed(case, options={"bias": bias})


def _noise_of_any_size(rng: np.random.Generator) -> Case:
    case = _plain(rng)
    return _changed(case, parts={"isotropic": np.full(len(case.K), 10.0 ** rng.uniform(-30, 8))})


def _wide(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=int(rng.integers(2, 30)))
    return _changed(case, parts={"isotropic": 10.0 ** rng.uniform(-4, 5, len(case.K))})


def _huge(rng: np.random.Generator) -> Case:
    case = _plain(rng)
    parts = {
        "isotropic": 10.0 ** rng.uniform(-2, 30, len(case.K)) * (rng.random(len(case.K)) < 0.5)
    }
    return _changed(case, K=case.K * 10.0 ** rng.uniform(3, 30), parts=parts)


def _radial(rng: np.random.Generator) -> Case:
    case = _plain(rng, d=2)
    K = case.K + 10.0 ** rng.uniform(0, 9)
    return _changed(case, K=K, q=np.array([0.7, -0.7]), parts={"radial": rng.uniform(0, 1, len(K))})


def _factors(rng: np.random.Generator) -> Case:
    """Noise that is large, and nearly orthogonal to the query."""
    case = _plain(rng, d=3)
    F = 10.0 ** rng.uniform(0, 8) * rng.normal(size=(*case.K.shape, 1))
    F -= (np.einsum("ndr,d->nr", F, case.q) / (case.q @ case.q))[:, None, :] * case.q[:, None]
    return _changed(case, parts={"factors": F + 0.3 * rng.normal(size=F.shape)})


def _masked(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=int(rng.integers(2, 60)))
    mask = rng.random(len(case.K)) < 0.6
    mask[0] = True
    bias = 10.0 ** rng.uniform(-2, 20) * rng.normal(size=len(case.K)) * ~mask + rng.normal(
        size=len(case.K)
    )
    return _changed(case, options={"mask": mask, "bias": bias, "scale": float(rng.normal())})


def _values(rng: np.random.Generator) -> Case:
    """Values of any size, and some of them far from the others."""
    case = _plain(rng, n=int(rng.integers(2, 100)))
    V = 10.0 ** rng.uniform(-100, 100) * (case.V + 10.0 ** rng.uniform(-3, 6))
    return _changed(
        case, V=V * np.where(rng.random((len(V), 1)) < 0.1, 10.0 ** rng.uniform(0, 30), 1.0)
    )


def _hidden_value(rng: np.random.Generator) -> Case:
    """A key far below the others has a value far above theirs."""
    case = _plain(rng, n=int(rng.integers(50, 100)))
    V, bias = case.V.copy(), np.zeros(len(case.K))
    bias[0], V[3] = rng.uniform(30, 80), 10.0 ** rng.uniform(0, 30)
    return _changed(case, V=V, options={"bias": bias})


def _heads(rng: np.random.Generator) -> Case:
    case = _plain(rng, n=2, d=3)
    K = case.K + (10.0 ** rng.uniform(2, 10) * (rng.random(3) < 0.3) if rng.random() < 0.5 else 0.0)
    Q = np.stack([case.q, rng.normal(size=3) if rng.random() < 0.7 else case.q * (1 + 1e-9)])
    return _changed(case, K=K, q=Q, options={"mix": rng.normal(size=2)})


def _many(rng: np.random.Generator) -> Case:
    """Some thousand keys: by the grid, against every key by itself."""
    case = _plain(rng, n=int(rng.integers(1000, 3000)), d=4)
    return _changed(case, K=case.K + 10.0 ** rng.uniform(0, 12), q=case.q - case.q.mean())


FAMILIES: dict[str, Callable[[np.random.Generator], Case]] = {
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
    "radial noise, common channel": _radial,
    "factors nearly orthogonal to the query": _factors,
    "masks, biases and scales": _masked,
    "values of any size": _values,
    "a large value on a key out of reach": _hidden_value,
    "two correlated heads": _heads,
    "thousands of keys": _many,
}
SLOW_FAMILIES = {"thousands of keys", "two correlated heads"}
