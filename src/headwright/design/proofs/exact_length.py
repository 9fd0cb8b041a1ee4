"""How long the shortest query is in exact arithmetic, on the keys as they are stored: bounds from
both sides in balls, which enclose every rounding.

Where queries get so long that float64 blurs their logits (1e-6 at a length of 1e10 on unit keys),
bounds from float64 are useless and no query stored in float64 reaches the target; the shortest
query is a real number all the same. `digits` suggests the weights and the query, and nothing
suggested is trusted:

* any lam >= 0 outside S and any x bound every query from below (the inequality in `reached`);
* any y becomes a query with the exact ratio, y + E' (E E')^-1 (rise - E y), whose leak is enclosed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from headwright.design.digits.carried import Carried
from headwright.design.digits.frame import column, dot, matrix
from headwright.design.proofs.reached import Promise
from headwright.design.target import Bias, Target
from headwright.types import Array, Keys


@dataclass(frozen=True)
class Height:
    """The terms of the lower bound, rounded to its safe side: |q| >= height / pull for exact
    ratios, and `bend` is the factor of the ratio error in `length`."""

    height: float
    pull: float
    bend: float


def height(promise: Promise, K: Keys, face: Target, found: Carried) -> Height:
    """H(lam) + lam.bias + goal_0 + x.rise - ln odds, and |scale| |k_0 - lam K + x E|."""
    goal = _goal(face, promise.bias)
    weights = [arb(w) for w in found.point.lam.tolist()]
    total = sum(weights, arb(0))
    lam = [w / total for w in weights]
    entropy = -sum((w * w.log() for w in lam if w > 0), arb(0))
    top = entropy + goal[0] - _log_odds(promise.leak)
    if promise.bias is not None:
        biases = promise.bias[found.which].tolist()
        top += sum((w * arb(b) for w, b in zip(lam, biases, strict=True)), arb(0))

    g = _base(K, face) - matrix(K[found.which]).transpose() * column(lam)
    bend = arb(1)
    x = found.multipliers
    if x is not None:
        rise = column([a - goal[0] for a in goal[1:]])
        top += dot(x, rise)
        g = g + _differences(K, face).transpose() * x
        sizes = [abs(a) for a in x.entries()]
        bend = (1 + abs(1 - sum(x.entries(), arb(0))) + sum(sizes, arb(0))) / 2
    pull = abs(arb(promise.scale)) * dot(g, g).sqrt()
    return Height(_below(top), _above(pull), _above(bend))


def query_length(promise: Promise, K: Keys, face: Target, y: Any) -> float:
    """An upper bound on the length of the query that y becomes; infinite if its leak may be too
    large."""
    goal = _goal(face, promise.bias)
    q = y
    if len(face.support) > 1:
        E = _differences(K, face)
        rise = column([a - goal[0] for a in goal[1:]])
        q = y + E.transpose() * (E * E.transpose()).solve(rise - E * y)

    outside = np.delete(np.arange(len(K)), list(face.support))
    ahead = dot(_base(K, face), q)
    logits = (matrix(K[outside]) * q).entries()
    if promise.bias is not None:
        biases = promise.bias[outside].tolist()
        logits = [z + arb(b) for z, b in zip(logits, biases, strict=True)]
    odds = sum(((z - ahead + goal[0]).exp() for z in logits), arb(0))
    if not odds <= _log_odds(promise.leak).exp():
        return float("inf")
    return _above(dot(q, q).sqrt() / abs(arb(promise.scale)))


def _goal(face: Target, bias: Bias) -> list[Any]:
    # Shares may miss 1 by a rounding; the leak does not.
    total = sum((arb(p) for p in face.shares.tolist()), arb(0))
    logs = [(arb(p) / total).log() for p in face.shares.tolist()]
    if bias is None:
        return logs
    return [a - arb(b) for a, b in zip(logs, bias[list(face.support)].tolist(), strict=True)]


def _log_odds(leak: float) -> Any:
    return (arb(leak) / (1 - arb(leak))).log()


def _base(K: Keys, face: Target) -> Any:
    return column(K[face.support[0]].tolist())


def _differences(K: Keys, face: Target) -> Any:
    """k_a - k_0, as rows."""
    inside: Array = K[list(face.support)]
    ones = matrix(np.ones((len(inside) - 1, 1)))
    return matrix(inside[1:]) - ones * matrix(inside[:1])


def _above(x: Any) -> float:
    upper = float(x.upper())
    return float(np.nextafter(upper, np.inf)) if np.isfinite(upper) else float("inf")


def _below(x: Any) -> float:
    return -_above(-x)
