"""One question to the noise engines, checked once: heads' queries, key law, values, mixing weights.

    z_hi = scale * (k_i . q_h) + bias_hi      alpha_h = softmax(z_h)      c = sum_h mix_h sum_i alpha_hi v_i

All routes (exact, sampled, limit) take this record, so they cannot disagree about what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import array_api_compat as compat

from headwright import attention, inputs
from headwright.errors import InputError
from headwright.keys import CentredLaw, CorrelatedKeys, GaussianKeys, Logits
from headwright.result import to_numpy
from headwright.types import Array, Bool, Float, Heads, Mix, Values


@dataclass(frozen=True)
class Problem:
    """Heads `queries` (h, d) on one random set of `keys`. `bias` and `mask` are `(h, n)` or None;
    `mask` is True where a key may be seen; `value_noise` is the covariance of each value, see
    `_value_noise`."""

    queries: Heads
    keys: GaussianKeys | CorrelatedKeys
    values: Values
    mix: Mix
    scale: float = 1.0
    bias: Float[Array, "h n"] | None = None
    mask: Bool[Array, "h n"] | None = None
    value_noise: Float[Array, "n *v"] | None = None
    # Relative, in which the numbers were given: ties are meant up to it
    precision: float = 2.0**-52

    @property
    def xp(self) -> Any:
        return compat.array_namespace(self.values)

    @property
    def heads(self) -> int:
        return int(self.queries.shape[0])

    @cached_property
    def law(self) -> CentredLaw:
        """Means and variances `(h, n)` of the Gaussian logits, `cross` `(h, h, n)` on demand, in
        double precision; no mask applied."""
        queries, bias, mask = (
            _double(x, self.values) for x in (self.queries, self.bias, self.mask)
        )
        return self.keys.centred_law(Logits(queries, self.scale, bias, mask))


def in_double(problem: Problem) -> Problem:
    """The same problem in double precision: in its own library where that has it, on the host else."""
    names = ("queries", "values", "mix", "bias", "mask", "value_noise")
    return replace(
        problem, **{name: _double(getattr(problem, name), problem.values) for name in names}
    )


def as_given(array: Array, values: Values) -> Array:
    """Back in the library, on the device and (unless it is boolean) in the precision of the values."""
    xp = compat.array_namespace(values)
    boolean = compat.array_namespace(array).isdtype(array.dtype, "bool")
    return xp.asarray(array, dtype=None if boolean else values.dtype, device=compat.device(values))


def has_double(array: Array) -> bool:
    info = compat.array_namespace(array).__array_namespace_info__()
    return "float64" in info.dtypes(kind="real floating")


def _double(array: Array | None, values: Values) -> Any:
    if array is None:
        return None
    xp = compat.array_namespace(array)
    if not has_double(values):
        array = to_numpy(array)
        xp = compat.array_namespace(array)
    return array if xp.isdtype(array.dtype, "bool") else xp.astype(array, xp.float64, copy=False)


def value_covariance(problem: Problem, squares: Float[Array, "n"]) -> Float[Array, "v v"]:
    """`sum_i E[alpha_i^2] Sigma_{v_i}`: what noise on the values, independent of the keys, adds.
    `squares` may have come to the host while the problem stayed on its device."""
    xp, noise, v = compat.array_namespace(squares), problem.value_noise, problem.values.shape[1]
    like = {"dtype": squares.dtype, "device": compat.device(squares)}
    if noise is None:
        return xp.zeros((v, v), **like)
    noise = noise if isinstance(noise, type(squares)) else to_numpy(noise)
    total = xp.tensordot(squares, xp.asarray(noise, **like), axes=1)
    return total if noise.ndim == 3 else xp.eye(v, **like) * xp.broadcast_to(total, (v,))


def problems(
    q: Any,
    keys: Any,
    V: Any,
    *,
    mix: Any,
    scale: float,
    extras: dict[str, Any],
    check_values: bool = True,
) -> Iterator[Problem]:
    """The problems in one call: q `(d,)` is one head, `(h, d)` several heads, `(m, h, d)` m such
    groups.

    `extras` holds bias, mask and value_noise. Plain arrays are keys without noise. An engine that
    finds NaN among the values by itself spares a pass over them with `check_values=False`.
    """
    keys = keys if hasattr(keys, "logits_law") else GaussianKeys(keys)
    bias, mask, value_noise = (extras[name] for name in ("bias", "mask", "value_noise"))
    xp, (_, q, V, mix, bias, value_noise) = inputs.arrays(
        keys=keys.means[:1],
        q=q,
        V=V,
        mix=mix,
        bias=bias,
        value_noise=value_noise,
        unchecked=() if check_values else ("V",),
    )
    n, d = keys.means.shape
    inputs.shape("V", V, n, "v")
    if q.ndim not in (1, 2, 3) or q.shape[-1] != d or 0 in q.shape:
        raise InputError(
            wanted=f"a query of shape ({d},), heads (h, {d}) or a batch (m, h, {d})",
            got=f"shape {tuple(q.shape)}",
            attempt="q[:, None, :] makes a batch of single-head queries",
        )
    groups = q if q.ndim == 3 else xp.reshape(q, (1, -1, d))
    h = groups.shape[1]
    mix = attention.head_mix(mix, like=groups[0])
    scale = inputs.number("scale", scale)
    bias = None if bias is None else _per_logit("bias", bias, xp, (h, n))
    mask = None if mask is None else _visible(mask, xp, (h, n), V)
    noise = None if value_noise is None else _value_noise(value_noise, xp, V.shape)
    for group in (groups[i, ...] for i in range(groups.shape[0])):
        yield Problem(group, keys, V, mix, scale, bias, mask, noise, float(xp.finfo(V.dtype).eps))


def _per_logit(name: str, array: Array, xp: Any, shape: tuple[int, int]) -> Array:
    try:
        return xp.broadcast_to(array, shape)
    except (ValueError, RuntimeError, TypeError):
        raise InputError(
            wanted=f"{name} that broadcasts to the logits, shape {shape}",
            got=f"shape {tuple(array.shape)}",
            attempt="give one number per key",
        ) from None


def _visible(mask: Any, xp: Any, shape: tuple[int, int], like: Array) -> Array:
    mask = _per_logit("mask", inputs.flags("mask", mask, like=like), xp, shape)
    if not bool(xp.all(xp.any(mask, axis=-1))):
        raise InputError(
            wanted="at least one visible key for every head",
            got="a mask that hides every key",
            attempt="unmask a key or drop that head",
        )
    return mask


def _value_noise(noise: Array, xp: Any, shape: tuple[int, int]) -> Array:
    """Covariance of each value: one variance, or `(n,)`, or `(n, v)` per coordinate, or `(n, v, v)`
    in full."""
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
