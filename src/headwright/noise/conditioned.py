"""All noise but one number. Given the rest, alpha_a is a monotone function of the logit of any one
noisy key c, and that logit is Gaussian. So with z* the value of z_c at which alpha_a = x,

    P(alpha_a <= x) = E[ Phi(+-(z* - m_c) / s_c) ] ,        density(x) = E[ pdf_c(z*) |dz*/dx| ] ,

    c = a:   z* = L + logit x                    (L: log-sum-exp of the other logits)
    c != a:  z* = ln(e^{z_a - logit x} - e^L)    (L: without a and c; where the difference is not
                                                  positive, alpha_a <= x for sure)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import logsumexp, ndtr

from headwright.noise.problem import Problem
from headwright.noise.sampling.moments import MEMORY
from headwright.noise.sampling.noisy_keys import NoisyKeys, noisy_keys
from headwright.noise.sampling.normals import point_set, power_of_two
from headwright.result import to_numpy
from headwright.types import Float, HostPerKey

_CELLS = 2**21  # points x arguments evaluated at a time
_REACH = 9.0  # standard deviations that a quadrature covers
_PANELS = (64, 128)  # of the two rules whose difference is the error
_NODES, _RULE = np.polynomial.legendre.leggauss(16)
# z_a is taken whenever its deviation is not far below the others': z* is then analytic, whereas
# with c != a it has a logarithmic end.
_OWN_FIRST = 1 / 32
_ROOT_TWO_PI = np.sqrt(2 * np.pi)

Points = Float[np.ndarray, "s"]
Arguments = Float[np.ndarray, "j"]
Column = Float[np.ndarray, "j 1"]
PerPoint = Float[np.ndarray, "j s"]


@dataclass(frozen=True)
class DrawnRest:
    """Everything but the logit of c, on one set of points: L, the mean of z_c, z_a (None where c =
    a), and the weights of the points."""

    others: Points
    mean: Points
    own: Points | None
    rule: Points

    def below(self, y: Arguments, s: float) -> Arguments:
        """P(logit alpha_a <= y)."""
        return self._averaged(self._below, y, s)

    def slope(self, y: Arguments, s: float) -> Arguments:
        """Its derivative in y; s > 0."""
        return self._averaged(self._slope, y, s)

    def _averaged(
        self, at_points: Callable[[Column, float], PerPoint], y: Arguments, s: float
    ) -> Arguments:
        rows = max(1, _CELLS // len(self.others))
        starts = range(0, len(y), rows)
        pieces = [at_points(y[start : start + rows, None], s) @ self.rule for start in starts]
        return np.concatenate(pieces)

    def _below(self, y: Column, s: float) -> PerPoint:
        if s == 0.0 and self.own is not None:
            return (self.own - self.others <= y).astype(float)
        return ndtr(self._distance(y, s))

    def _slope(self, y: Column, s: float) -> PerPoint:
        t = np.clip(self._distance(y, s), -1e9, 1e9)
        density = np.exp(-0.5 * t**2)
        if self.own is not None:
            # dz*/dy = -1 / (1 - e^{L - (z_a - y)})
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                left = -np.expm1(self.others - (self.own - y))
                density = np.where(left > 0, 1 / left, 0.0) * density
        return density / (s * _ROOT_TWO_PI)

    def _distance(self, y: Column, s: float) -> PerPoint:
        """How far beyond its mean z_c is when the logit is y, in its deviations."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.own is None:
                return (self.others + y - self.mean) / s
            # z* = (z_a - y) + ln(1 - e^{L - (z_a - y)})
            top = self.own - y
            left = -np.expm1(self.others - top)
            distance = self.mean - top - np.log(np.maximum(left, 0.0))
            return np.where(left > 0, distance / s, np.inf)


@dataclass(frozen=True)
class Conditioned:
    """One weight, the key whose logit is integrated out, and everything else as numbers still to be
    drawn.

    `others` are all keys but a. `place` is where c stands among their noisy ones, None for c = a.
    """

    others: NoisyKeys
    mean: float  # of z_a
    own_deviation: float  # of z_a, its own noise
    loads: Float[np.ndarray, "f"]  # of z_a on the shared factors
    place: int | None
    deviation: float  # s_c

    @property
    def skipped(self) -> int | None:
        """The column of the normal numbers that belongs to c and is not drawn."""
        return None if self.place is None else int(self.others.columns[self.place])

    @property
    def draws_own(self) -> bool:
        """Is the own noise of z_a among the numbers to be drawn?"""
        return self.place is not None and self.own_deviation > 0

    @property
    def dimension(self) -> int:
        """Numbers left to draw: those of all keys but a and c, and a's own where c is not a."""
        without_c = 0 if self.place is None else 1
        return self.others.dimension - without_c + int(self.draws_own)

    def replicates(self, samples: Any, seed: int) -> tuple[str, tuple[DrawnRest, ...]]:
        """The name of the route and its sets of points."""
        if self.dimension == 0:
            return "closed form", (self.at(np.zeros((1, 0)), np.ones(1)),)
        if self.dimension == 1 and self.place is None:
            # With c != a the integrand ends in a logarithm, on which two rules can agree and both
            # be wrong.
            return "quadrature", tuple(self.at(*_quadrature(panels)) for panels in _PANELS)
        points = point_set(self.dimension, samples=samples, seed=seed)
        rows = int(MEMORY) // (64 * (self.dimension + 2))
        pieces: list[list[DrawnRest]] = [[] for _ in range(points.replicates)]
        for replicate, g in points.blocks(max(1, power_of_two(rows + 1) // 2)):
            drawn = self.at(g, np.full(len(g), 1 / points.size))
            pieces[replicate].append(drawn)
        return "sampled", tuple(_joined(one) for one in pieces)

    def at(self, g: Float[np.ndarray, "s free"], rule: Points) -> DrawnRest:
        """What is known once the remaining numbers are `g`."""
        rest = g[:, : g.shape[1] - self.draws_own]
        full = rest if self.skipped is None else np.insert(rest, self.skipped, 0.0, axis=1)
        means = self.others.means
        xp = compat.array_namespace(means)
        numbers = xp.asarray(full, dtype=means.dtype, device=compat.device(means))
        z = to_numpy(self.others.logits(numbers))[:, 0, :]
        factors = full[:, full.shape[1] - len(self.loads) :]
        own = self.mean + factors @ self.loads
        if self.place is None and self.deviation > 0:
            return DrawnRest(_total(z), own, None, rule)

        own = own + self.own_deviation * g[:, -1] if self.draws_own else own
        if self.place is None:
            return DrawnRest(_total(z), own, own, rule)
        mean = z[:, self.place].copy()
        z[:, self.place] = -np.inf
        return DrawnRest(_total(z), mean, own, rule)


def conditioned(problem: Problem, a: int) -> Conditioned:
    """Set the weight of key a apart and choose the logit to integrate out: a's own, or the one that
    moves it most."""
    law = problem.law
    m = to_numpy(law.means)[0].astype(float)
    s = np.sqrt(to_numpy(law.variances)[0].astype(float))
    visible = np.ones(len(m), dtype=bool)
    if problem.scores.mask is not None:
        visible = to_numpy(problem.scores.mask)[0].copy()
    loads = np.zeros(0)
    if law.shared is not None:
        of_one_head = to_numpy(law.shared)[0]
        loads = of_one_head[:, a].astype(float)
    mean = float(m[a]) if visible[a] else -np.inf
    own = float(s[a]) if visible[a] else 0.0

    visible[a] = False
    mask = problem.xp.asarray(visible[None, :], device=compat.device(law.means))
    without_a = replace(problem, scores=replace(problem.scores, mask=mask))
    # The same law: a mask of its own would shift its means
    others = noisy_keys(without_a, law)
    noisy = to_numpy(others.noisy)
    moves = _moves(m, s, visible, noisy)
    if own > 0 and own >= _OWN_FIRST * moves.max(initial=0.0):
        return Conditioned(others, mean, own, loads, None, own)
    if not moves.any():
        return Conditioned(others, mean, 0.0, loads, None, 0.0)
    place = int(moves.argmax())
    return Conditioned(others, mean, own, loads, place, float(s[noisy[place]]))


def _moves(m: HostPerKey, s: HostPerKey, visible: np.ndarray, noisy: np.ndarray) -> np.ndarray:
    """How far each noisy key moves ln alpha_a: z_a does by s_a, and c by its share among the
    others, here two deviations up, times s_c."""
    if not noisy.size:
        return np.zeros(0)
    seen = np.where(visible, m, -np.inf)
    everything = _total(seen[None, :])[0]
    log_share = m[noisy] + 2 * s[noisy] - everything
    return s[noisy] * np.exp(np.minimum(log_share, 0.0))


def _total(z: Float[np.ndarray, "s k"]) -> Points:
    """Log-sum-exp of each row; -inf where nothing is visible."""
    return np.asarray(logsumexp(z.astype(float), axis=1))


def _joined(pieces: list[DrawnRest]) -> DrawnRest:
    """All points of one replicate."""
    own = [one.own for one in pieces if one.own is not None]
    return DrawnRest(
        others=np.concatenate([one.others for one in pieces]),
        mean=np.concatenate([one.mean for one in pieces]),
        own=np.concatenate(own) if own else None,
        rule=np.concatenate([one.rule for one in pieces]),
    )


def _quadrature(panels: int) -> tuple[Float[np.ndarray, "s 1"], Points]:
    """Nodes and weights for a standard normal number: Gauss and Legendre's rule on equal panels."""
    edges = np.linspace(-_REACH, _REACH, panels + 1)
    half = np.diff(edges)[:, None] / 2
    in_panel = half * (1 + _NODES)
    g = (edges[:-1, None] + in_panel).ravel()
    lengths = (half * _RULE).ravel()
    rule = lengths * np.exp(-0.5 * g * g) / _ROOT_TWO_PI
    return g[:, None], rule
