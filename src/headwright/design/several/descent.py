"""Descending the expected squared error of several heads, with every query kept inside a ball.

A query is written q = budget x / sqrt(1 + |x|^2), a smooth map of all x onto the open ball, and
head weights as a softmax: quasi-Newton then needs no constraints. Two objectives share this: keys
sampled once (cheap, slightly wrong) and the exact integral (costly, right).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from headwright import attention
from headwright.blocks import blocks, in_threads
from headwright.design.target import Bias
from headwright.keys import GaussianKeys
from headwright.noise.gradient.squared_error import squared_error
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Mix, Output, Values

_SAMPLED_NUMBERS = 4e6  # key coordinates in the fixed sample
_TOGETHER = 2048  # draws taken at a time: their logits stay in cache, and threads rarely meet
_PATIENCE = 400
# A start on the sphere itself would be infinitely far away in x.
_OFF_THE_SPHERE = 0.999

Coordinates = Float[Array, "x"]
Objective = Callable[[Heads, Mix], tuple[float, Heads, Mix]]


@dataclass(frozen=True)
class Aim:
    """What the heads are measured by: the law of the keys, the values, and the output wanted of
    them."""

    law: GaussianKeys
    values: Values
    output: Output
    scale: float
    bias: Bias

    def error(self, queries: Heads, mix: Mix) -> float:
        return self.gradient(queries, mix)[0]

    def gradient(self, queries: Heads, mix: Mix) -> tuple[float, Heads, Mix]:
        """E ||sum_h mix_h c_h - output||^2 and its derivatives, exactly."""
        return squared_error(
            queries, self.law, self.values, self.output, mix=mix, scale=self.scale, bias=self.bias
        )


@dataclass(frozen=True)
class Ball:
    """The free coordinates: h queries inside the ball of radius `budget`, then h head weights
    unless `uniform`."""

    budget: float
    uniform: bool

    def coordinates(self, queries: Heads, mix: Mix) -> Coordinates:
        # x = t / sqrt(1 - |t|^2), t = q / budget
        t = queries / self.budget
        length = np.linalg.norm(t, axis=1, keepdims=True)
        t = t * np.minimum(1.0, _OFF_THE_SPHERE / np.maximum(length, 1e-300))
        x = t / np.sqrt(1 - np.sum(t * t, axis=1, keepdims=True))
        return np.concatenate([x.ravel(), [] if self.uniform else np.log(mix)])

    def heads(self, x: Coordinates, h: int) -> tuple[Heads, Mix]:
        rows, logits = self._parts(x, h)
        mix = np.full(h, 1.0 / h) if self.uniform else np.asarray(attention.weights(logits))
        return self.budget * rows / _lift(rows), mix

    def pull(self, x: Coordinates, by_query: Heads, by_mix: Mix) -> Coordinates:
        """The chain rule: dq = budget (dx - x (x.dx) / s^2) / s, s = sqrt(1 + |x|^2); softmax for
        the mix."""
        rows, logits = self._parts(x, len(by_query))
        s = _lift(rows)
        inner = np.sum(rows * by_query, axis=1, keepdims=True)
        out = self.budget * (by_query - rows * inner / s**2) / s
        if self.uniform:
            return out.ravel()
        mix = np.asarray(attention.weights(logits))
        by_logit = mix * (by_mix - mix @ by_mix)
        return np.concatenate([out.ravel(), by_logit])

    def _parts(self, x: Coordinates, h: int) -> tuple[Heads, Float[Array, "w"]]:
        """Rows behind the queries, logits behind the mix."""
        size = x.size if self.uniform else x.size - h
        return x[:size].reshape(h, -1), x[size:]


def _lift(rows: Heads) -> Float[Array, "h 1"]:
    return np.sqrt(1 + np.sum(rows * rows, axis=1, keepdims=True))


def sampled_descent(
    aim: Aim, starts: list[Heads], mix: Mix, *, ball: Ball, seed: int
) -> tuple[Heads, Mix]:
    """The best of several starts, on one fixed sample of keys."""
    size = int(np.clip(_SAMPLED_NUMBERS / aim.law.means.size, 64, 4096))
    drawn = drawn_keys(aim.law, np.random.default_rng([seed, 0]), size)

    def objective(queries: Heads, mix: Mix) -> tuple[float, Heads, Mix]:
        value = 0.0
        by_query = np.zeros(queries.shape)
        by_mix = np.zeros(mix.shape)
        for keys in drawn:
            alpha, miss = drawn_misses(aim, keys, queries, mix)
            # d |miss|^2 = 2 (V miss) . d(sum_h mix_h alpha_h);  d alpha = alpha (dz - alpha . dz)
            slope = 2 / size * aim.values @ miss
            inner = np.einsum("hns,ns->hs", alpha, slope)
            by_logit = alpha * (slope - inner[:, None, :])
            by_logit *= aim.scale * mix[:, None, None]
            value += float(np.sum(miss * miss)) / size
            by_query += by_logit.reshape(len(mix), -1) @ keys.reshape(-1, keys.shape[2])
            by_mix += inner.sum(axis=1)
        return value, by_query, by_mix

    def descend(one: slice) -> tuple[Heads, Mix]:
        return _descend(objective, starts[one.start], mix, ball=ball, stop=lambda: False)

    ends = in_threads(descend, blocks(len(starts), 1, aim.values), aim.values)
    return min(ends, key=lambda end: objective(*end)[0])


def drawn_keys(
    law: GaussianKeys, rng: np.random.Generator, size: int
) -> list[Float[Array, "n s d"]]:
    """`size` draws of the keys, some at a time, key by key: sums over keys run along memory."""
    keys = to_numpy(law.sample(rng, size)).transpose(1, 0, 2)
    parts = range(0, size, _TOGETHER)
    return [np.ascontiguousarray(keys[:, begin : begin + _TOGETHER]) for begin in parts]


def drawn_misses(
    aim: Aim, keys: Float[Array, "n s d"], queries: Heads, mix: Mix
) -> tuple[Float[Array, "h n s"], Float[Array, "v s"]]:
    """Weights of the heads at each draw of the keys, and how far it ends from the output wanted."""
    n, size, d = keys.shape
    # One product for all draws: each of them alone is too small to be fast.
    z = np.ascontiguousarray((keys.reshape(n * size, d) @ queries.T).T).reshape(-1, n, size)
    z *= aim.scale
    if aim.bias is not None:
        z = z + aim.bias[:, None]
    alpha = np.asarray(attention.weights(z.transpose(0, 2, 1))).transpose(0, 2, 1)
    mixed = np.tensordot(mix, alpha, axes=1)
    return alpha, aim.values.T @ mixed - aim.output[:, None]


def exact_descent(
    aim: Aim, queries: Heads, mix: Mix, *, ball: Ball, seconds: float
) -> tuple[Heads, Mix]:
    """Finish on the exact objective, for as long as time allows; never ends worse than it began."""
    until = time.monotonic() + seconds
    end = _descend(aim.gradient, queries, mix, ball=ball, stop=lambda: time.monotonic() > until)
    return min([(queries, mix), end], key=lambda pair: aim.error(*pair))


class _Enough(Exception):
    """Raised inside the minimiser when time is up."""


def _descend(
    objective: Objective, queries: Heads, mix: Mix, *, ball: Ball, stop: Callable[[], bool]
) -> tuple[Heads, Mix]:
    h = queries.shape[0]
    start = ball.coordinates(queries, mix)
    best = [np.inf, start]

    def value(x: Coordinates) -> tuple[float, Coordinates]:
        if stop():
            raise _Enough
        found, by_query, by_mix = objective(*ball.heads(x, h))
        if found < best[0]:
            best[:] = [found, x.copy()]
        return found, ball.pull(x, by_query, by_mix)

    options = {"maxiter": _PATIENCE, "ftol": 1e-12}
    with suppress(_Enough):
        minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    return ball.heads(best[1], h)
