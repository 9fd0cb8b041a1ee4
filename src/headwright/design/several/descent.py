"""Descending the expected squared error of several heads, with every query kept inside a ball.

A query is written q = budget x / sqrt(1 + |x|^2), a smooth map of all x onto the open ball, and
head weights as a softmax: quasi-Newton then needs no constraints. Two objectives share this: keys
sampled once (cheap, slightly wrong) and the exact integral (dear, right).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from headwright import attention
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Mix

_SAMPLED_NUMBERS = 4e6  # key coordinates in the fixed sample
_PATIENCE = 400

Objective = Callable[[Heads, Mix], tuple[float, Heads, Mix]]


@dataclass(frozen=True)
class Ball:
    """The free coordinates: h queries inside the ball of radius `budget`, then h head weights
    unless `uniform`."""

    budget: float
    uniform: bool

    def coordinates(self, queries: Heads, mix: Mix) -> Float[Array, "x"]:
        # x = t / sqrt(1 - |t|^2), t = q / budget, kept off the sphere where x is infinite
        t = queries / self.budget
        length = np.linalg.norm(t, axis=1, keepdims=True)
        t = t * np.minimum(1.0, 0.999 / np.maximum(length, 1e-300))
        x = t / np.sqrt(1 - np.sum(t * t, axis=1, keepdims=True))
        return np.concatenate([x.ravel(), [] if self.uniform else np.log(mix)])

    def heads(self, x: Float[Array, "x"], h: int) -> tuple[Heads, Mix]:
        size = x.size if self.uniform else x.size - h
        rows = x[:size].reshape(h, -1)
        mix = np.full(h, 1.0 / h) if self.uniform else np.asarray(attention.weights(x[size:]))
        return self.budget * rows / _lift(rows), mix

    def pull(self, x: Float[Array, "x"], by_query: Heads, by_mix: Mix) -> Float[Array, "x"]:
        """The chain rule: dq = budget (dx - x (x.dx) / s^2) / s, s = sqrt(1 + |x|^2); softmax for
        the mix."""
        h = by_query.shape[0]
        size = x.size if self.uniform else x.size - h
        rows = x[:size].reshape(h, -1)
        s = _lift(rows)
        inner = np.sum(rows * by_query, axis=1, keepdims=True)
        out = self.budget * (by_query - rows * inner / s**2) / s
        if self.uniform:
            return out.ravel()
        mix = np.asarray(attention.weights(x[size:]))
        return np.concatenate([out.ravel(), mix * (by_mix - mix @ by_mix)])


def _lift(rows: Float[Array, "h d"]) -> Float[Array, "h 1"]:
    return np.sqrt(1 + np.sum(rows * rows, axis=1, keepdims=True))


def sampled_descent(
    aim: Any, starts: list[Heads], mix: Mix, *, ball: Ball, seed: int
) -> tuple[Heads, Mix]:
    """The best of several starts, on one fixed sample of keys."""
    size = int(np.clip(_SAMPLED_NUMBERS / aim.law.means.size, 64, 4096))
    keys = to_numpy(aim.law.sample(np.random.default_rng([seed, 0]), size))

    def objective(queries: Heads, mix: Mix) -> tuple[float, Heads, Mix]:
        z = aim.scale * np.einsum("snd,hd->shn", keys, queries, optimize=True)
        alpha = np.asarray(attention.weights(z if aim.bias is None else z + aim.bias))
        miss = np.einsum("h,shn->sn", mix, alpha) @ aim.values - aim.output
        # d |miss|^2 = 2 (V miss) . d(sum_h mix_h alpha_h);  d alpha = alpha (dz - alpha . dz)
        slope = 2 * miss @ aim.values.T / size
        inner = np.einsum("shn,sn->sh", alpha, slope)
        by_logit = alpha * (slope[:, None, :] - inner[:, :, None]) * mix[:, None]
        by_query = aim.scale * np.einsum("shn,snd->hd", by_logit, keys, optimize=True)
        return float(np.sum(miss * miss) / size), by_query, inner.sum(axis=0)

    ends = [_descend(objective, queries, mix, ball=ball, stop=lambda: False) for queries in starts]
    return min(ends, key=lambda end: objective(*end)[0])


def exact_descent(
    aim: Any, queries: Heads, mix: Mix, *, ball: Ball, seconds: float
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
    h, best = queries.shape[0], [np.inf, ball.coordinates(queries, mix)]

    def value(x: Float[Array, "x"]) -> tuple[float, Float[Array, "x"]]:
        if stop():
            raise _Enough
        found, by_query, by_mix = objective(*ball.heads(x, h))
        if found < best[0]:
            best[:] = [found, x.copy()]
        return found, ball.pull(x, by_query, by_mix)

    with suppress(_Enough):
        minimize(
            value,
            best[1],
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _PATIENCE, "ftol": 1e-12},
        )
    return ball.heads(best[1], h)
