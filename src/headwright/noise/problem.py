"""One question to the noise engines, checked once: heads' queries, key law, values, mixing weights.

    z_hi = scale * (k_i . q_h) + bias_hi,    alpha_h = softmax(z_h)
    c    = sum_h mix_h sum_i alpha_hi v_i

A `Request` is what the caller gave; the `Problem` made of it is what all routes (exact, sampled,
limit) take, so they cannot disagree about what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import array_api_compat as compat

from headwright import attention, inputs
from headwright.attention import Scores
from headwright.errors import InputError
from headwright.keys import CentredLaw, CorrelatedKeys, GaussianKeys, centred_law
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Mix, PerHeadAndKey, Values


@dataclass(frozen=True)
class Problem:
    """Heads `queries` (h, d) on one random set of `keys`. Bias and mask of the `scores` are `(h,
    n)` or None; `value_noise` is the covariance of each value, see `_value_noise`."""

    queries: Heads
    keys: GaussianKeys | CorrelatedKeys
    values: Values
    mix: Mix
    scores: Scores
    value_noise: Float[Array, "n *v"] | None = None
    # Relative, in which the numbers were given: ties are meant up to it
    precision: float = 2.0**-52

    @property
    def xp(self) -> Any:
        """The library of the values."""
        return compat.array_namespace(self.values)

    @property
    def heads(self) -> int:
        """How many there are."""
        return int(self.queries.shape[0])

    @cached_property
    def law(self) -> CentredLaw:
        """Means and variances `(h, n)` of the Gaussian logits, `cross` `(h, h, n)` on demand, in
        double precision; no mask applied."""
        queries = _double(self.queries, self.values)
        return centred_law(self.keys, queries, _scores_in_double(self))

    def seen(self, means: PerHeadAndKey) -> PerHeadAndKey:
        """Means of the logits, minus infinity where a key is not seen."""
        if self.scores.mask is None:
            return means
        xp = compat.array_namespace(means)
        return xp.where(self.scores.mask, means, xp.full_like(means, -xp.inf))


def independent(problem: Problem) -> Problem:
    """Refuse keys that share factors: the exact integrals are products over keys."""
    if problem.law.shared is not None:
        raise InputError(
            wanted="independent keys for the exact method",
            got=repr(problem.keys),
            attempt='method="sampled" takes correlated keys',
        )
    return problem


def in_double(problem: Problem) -> Problem:
    """The same problem in double precision: in its own library if that has it, on the host else."""
    values = problem.values
    names = ("queries", "values", "mix", "value_noise")
    arrays = {name: _double(getattr(problem, name), values) for name in names}
    return replace(problem, scores=_scores_in_double(problem), **arrays)


def as_given(array: Array, values: Values) -> Array:
    """Back in the library, on the device and (unless boolean) in the precision of the values."""
    if compat.is_numpy_array(values) and compat.is_numpy_array(array):
        return array if array.dtype == bool else array.astype(values.dtype, copy=False)
    xp = compat.array_namespace(values)
    boolean = compat.array_namespace(array).isdtype(array.dtype, "bool")
    dtype = None if boolean else values.dtype
    return xp.asarray(array, dtype=dtype, device=compat.device(values))


def has_double(array: Array) -> bool:
    """Has its library double precision?"""
    return _has_double(compat.array_namespace(array))


@lru_cache(maxsize=8)
def _has_double(xp: Any) -> bool:
    """PyTorch tries every precision to say which it has."""
    return "float64" in xp.__array_namespace_info__().dtypes(kind="real floating")


def _scores_in_double(problem: Problem) -> Scores:
    """Scores in the precision of the engines."""
    scores = problem.scores
    bias = _double(scores.bias, problem.values)
    mask = _double(scores.mask, problem.values)
    return Scores(scores.scale, bias, mask)


def _double(array: Array | None, values: Values) -> Any:
    """In double precision, in the library of the values if it has that; flags stay flags."""
    if array is None:
        return None
    if not has_double(values):
        array = to_numpy(array)
    xp = compat.array_namespace(array)
    if xp.isdtype(array.dtype, "bool"):
        return array
    return xp.astype(array, xp.float64, copy=False)


def value_covariance(problem: Problem, squares: Float[Array, "*m n"]) -> Float[Array, "*m v v"]:
    """`sum_i E[alpha_i^2] Sigma_{v_i}`: what noise on the values, independent of the keys, adds.
    `squares` may have come to the host while the problem stayed on its device."""
    xp = compat.array_namespace(squares)
    noise = problem.value_noise
    v = int(problem.values.shape[1])
    like = {"dtype": squares.dtype, "device": compat.device(squares)}
    if noise is None:
        return xp.zeros((*squares.shape[:-1], v, v), **like)
    noise = noise if isinstance(noise, type(squares)) else to_numpy(noise)
    total = xp.tensordot(squares, xp.asarray(noise, **like), axes=1)
    if noise.ndim == 3:
        return total
    if noise.ndim == 1:
        total = total[..., None]
    return xp.eye(v, **like) * total[..., None]


@dataclass(frozen=True)
class Request:
    """What was asked, as it came: `q` `(d,)` is one head, `(h, d)` several heads, `(m, h, d)` m
    such groups. Plain arrays are keys without noise."""

    q: Any
    keys: Any
    V: Any
    mix: Any = None
    scores: Scores = field(default_factory=Scores)
    value_noise: Any = None

    def problem(self) -> Problem:
        """The one problem of a query that is no batch."""
        (one,) = self.groups().problems()
        return one

    def groups(self, *, check_values: bool = True) -> Groups:
        """What was asked, checked. An engine that finds NaN among the values by itself spares a
        pass over them with `check_values=False`."""
        keys = self.keys if hasattr(self.keys, "logits_law") else GaussianKeys(self.keys)
        xp, (_, q, V, mix, bias, value_noise) = inputs.arrays(
            keys=keys.means[:1],
            q=self.q,
            V=self.V,
            mix=self.mix,
            bias=self.scores.bias,
            value_noise=self.value_noise,
            unchecked=() if check_values else ("V",),
        )
        n, d = keys.means.shape
        inputs.shape("V", V, n, "v")
        queries = _groups(q, d)
        mix = attention.head_mix(mix, like=queries[0, ...])
        shape = (int(queries.shape[1]), n)
        scores = replace(self.scores, bias=bias).checked(shape, like=V)
        noise = None if value_noise is None else _value_noise(value_noise, V.shape)
        precision = float(xp.finfo(V.dtype).eps)
        return Groups(queries, Problem(queries[0, ...], keys, V, mix, scores, noise, precision))


@dataclass(frozen=True)
class Groups:
    """A batch of m groups of heads that share everything but their queries: `first` is the problem
    of the first one."""

    queries: Float[Array, "m h d"]
    first: Problem

    @property
    def values(self) -> Values:
        """The values of all."""
        return self.first.values

    def problems(self) -> Iterator[Problem]:
        """One problem per group."""
        for i in range(self.queries.shape[0]):
            yield replace(self.first, queries=self.queries[i, ...])

    def rows(self, part: slice) -> Problem:
        """Some groups of one head each in one problem, for the law of their logits: a query in each
        row, whose mixing weight is that of all."""
        queries = self.queries[part, 0, :]
        mix = self.first.xp.broadcast_to(self.first.mix, (queries.shape[0],))
        return replace(self.first, queries=queries, mix=mix)


def _groups(q: Array, d: int) -> Float[Array, "m h d"]:
    """Groups of heads, one for a query that is no batch."""
    if q.ndim not in (1, 2, 3) or q.shape[-1] != d or 0 in q.shape:
        raise InputError(
            wanted=f"a query of shape ({d},), heads (h, {d}) or a batch (m, h, {d})",
            got=f"shape {tuple(q.shape)}",
            attempt="q[:, None, :] makes a batch of single-head queries",
        )
    xp = compat.array_namespace(q)
    return q if q.ndim == 3 else xp.reshape(q, (1, -1, d))


def _value_noise(noise: Array, shape: tuple[int, int]) -> Array:
    """Covariance of each value: one variance, or `(n,)`, or `(n, v)` per coordinate, or `(n, v, v)`
    in full."""
    xp = compat.array_namespace(noise)
    n, v = shape
    if noise.ndim == 0:
        noise = xp.broadcast_to(noise, (n,))
    if tuple(noise.shape) not in {(n,), (n, v), (n, v, v)}:
        raise InputError(
            wanted=f"value_noise as one variance or of shape ({n},), ({n}, {v}) or ({n}, {v}, {v})",
            got=f"shape {tuple(noise.shape)}",
            attempt="give variances of the values, not standard deviations",
        )
    if noise.ndim == 3:
        # Refuses an indefinite covariance
        GaussianKeys(xp.zeros((n, v), dtype=noise.dtype), covariance=noise)
        return noise
    return inputs.nonnegative("value_noise", noise)
