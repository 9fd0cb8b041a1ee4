"""All noise but one number. Given the rest, alpha_a is a monotone function of the logit of any one
noisy key c, and that logit is Gaussian. So with z* the value of z_c at which alpha_a = x,

    P(alpha_a <= x) = E[ Phi(+-(z* - m_c) / s_c) ] ,        density(x) = E[ pdf_c(z*) |dz*/dx| ] ,

    c = a:   z* = L + logit x                    (L: log-sum-exp of the other logits)
    c != a:  z* = ln(e^{z_a - logit x} - e^L)    (L: without a and c; where the difference is not positive,
                                                  alpha_a <= x for sure)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import logsumexp, ndtr

from headwright.noise.problem import Problem
from headwright.noise.sampling.moments import MEMORY, REPLICATES
from headwright.noise.sampling.noisy_keys import Reduced, reduced
from headwright.noise.sampling.normals import plan, power_of_two
from headwright.result import to_numpy
from headwright.types import Float

_CELLS = 2**21  # points x arguments evaluated at a time
_REACH = 9.0  # standard deviations that a quadrature covers
_PANELS = (64, 128)  # of the two rules whose difference is the error
_NODES, _RULE = np.polynomial.legendre.leggauss(16)
# z_a is taken whenever its deviation is not far below the others': z* is then analytic, whereas
# with c != a it has a logarithmic end.
_OWN_FIRST = 1 / 32
_ROOT_TWO_PI = np.sqrt(2 * np.pi)

Points = Float[np.ndarray, "s"]


@dataclass(frozen=True)
class Given:
    """All but the logit of c, on one set of points: L, the mean of z_c, z_a (None where c = a), and
    the weights of the points."""

    rest: Points
    centre: Points
    own: Points | None
    rule: Points

    def below(self, y: Float[np.ndarray, "j"], s: float) -> Float[np.ndarray, "2 j"]:
        """P(logit alpha_a <= y), and its derivative in y."""
        rows = max(1, _CELLS // len(self.rest))
        pieces = [self._below(y[i : i + rows, None], s) @ self.rule for i in range(0, len(y), rows)]
        return np.concatenate(pieces, axis=1)

    def _below(self, y: Float[np.ndarray, "j 1"], s: float) -> Float[np.ndarray, "2 j s"]:
        if self.own is None:
            with np.errstate(over="ignore"):
                t, slope = (self.rest + y - self.centre) / s, 1.0
        elif s == 0.0:
            return np.stack([self.own - self.rest <= y, np.zeros(np.broadcast(self.rest, y).shape)])
        else:
            # z* = (z_a - y) + ln(1 - e^{L - (z_a - y)}), and dz*/dy = -1 / (1 - e^{L - (z_a - y)}).
            top = self.own - y
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                left = -np.expm1(self.rest - top)
                t = np.where(
                    left > 0, (self.centre - top - np.log(np.maximum(left, 0.0))) / s, np.inf
                )
                slope = np.where(left > 0, 1 / left, 0.0)
        return np.stack(
            [ndtr(t), slope * np.exp(-0.5 * np.clip(t, -1e9, 1e9) ** 2) / (s * _ROOT_TWO_PI)]
        )


@dataclass(frozen=True)
class Conditioned:
    """One weight, the key whose logit is integrated out, and everything else as numbers still to be
    drawn.

    `others` are all keys but a. `place` is where c stands among their noisy ones, None for c = a.
    """

    others: Reduced
    mean: float  # of z_a
    spread: float  # of z_a, its own noise
    loads: Float[np.ndarray, "f"]  # of z_a on the shared factors
    place: int | None
    deviation: float  # s_c

    @property
    def skipped(self) -> int | None:
        """The column of the normal numbers that belongs to c and is not drawn."""
        return None if self.place is None else int(self.others.columns[self.place])

    @property
    def dimension(self) -> int:
        """How many numbers are left: those of the other keys but c, and a's own where c is not a."""
        return self.others.dimension + (0 if self.place is None else int(self.spread > 0) - 1)

    def replicates(self, samples: Any, seed: int) -> tuple[str, tuple[Given, ...]]:
        """The name of the route and its sets of points."""
        if self.dimension == 0:
            return "closed form", (self.at(np.zeros((1, 0)), np.ones(1)),)
        if self.dimension == 1 and self.place is None:
            # With c != a the integrand ends in a logarithm, on which two rules can agree and both
            # be wrong.
            return "quadrature", tuple(self.at(*_quadrature(panels)) for panels in _PANELS)
        points = plan(
            self.dimension, samples=samples, replicates=REPLICATES, kind="sobol", seed=seed
        )
        rows = max(1, power_of_two(int(MEMORY) // (64 * (self.dimension + 2)) + 1) // 2)
        pieces: list[list[Given]] = [[] for _ in range(points.replicates)]
        for replicate, g in points.blocks(rows):
            pieces[replicate].append(self.at(g, np.full(len(g), 1 / points.size)))
        return "sampled", tuple(_joined(one) for one in pieces)

    def at(self, g: Float[np.ndarray, "s free"], rule: Points) -> Given:
        """What is known once the remaining numbers are `g`."""
        own_number = self.place is not None and self.spread > 0
        rest = g[:, : g.shape[1] - own_number]
        full = rest if self.skipped is None else np.insert(rest, self.skipped, 0.0, axis=1)
        xp, like = compat.array_namespace(self.others.means), self.others.means
        z = to_numpy(
            self.others.logits(xp.asarray(full, dtype=like.dtype, device=compat.device(like)))
        )[:, 0, :]
        own = self.mean + full[:, full.shape[1] - len(self.loads) :] @ self.loads
        if self.place is None and self.deviation > 0:
            return Given(_total(z), own, None, rule)
        own = own + self.spread * g[:, -1] if own_number else own
        centre = own if self.place is None else z[:, self.place].copy()
        if self.place is not None:
            z[:, self.place] = -np.inf
        return Given(_total(z), centre, own, rule)


def conditioned(problem: Problem, a: int) -> Conditioned:
    """Set the weight of key a apart and choose the logit to integrate out: a's own, or the one that
    moves it most."""
    xp, law = problem.xp, problem.law
    m, s = to_numpy(law.means)[0].astype(float), np.sqrt(to_numpy(law.variances)[0].astype(float))
    visible = (
        np.ones(len(m), dtype=bool) if problem.mask is None else to_numpy(problem.mask)[0].copy()
    )
    loads = np.zeros(0) if law.shared is None else to_numpy(law.shared)[0][:, a].astype(float)
    mean, spread = (m[a], s[a]) if visible[a] else (-np.inf, 0.0)
    visible[a] = False
    hidden = xp.asarray(visible[None, :], device=compat.device(law.means))
    # The same law: a mask of its own would shift its means
    others = reduced(replace(problem, mask=hidden), law)
    noisy = to_numpy(others.noisy)
    # ln alpha_a moves by s_a with z_a, and by the share of c among the others, here two deviations
    # up, times s_c.
    everything = _total(np.where(visible, m, -np.inf)[None, :])[0]
    share = (
        np.exp(np.minimum(m[noisy] + 2 * s[noisy] - everything, 0.0)) if noisy.size else np.zeros(0)
    )
    moves = s[noisy] * share
    if spread > 0 and spread >= _OWN_FIRST * moves.max(initial=0.0):
        return Conditioned(others, float(mean), float(spread), loads, None, float(spread))
    if not moves.any():
        return Conditioned(others, float(mean), 0.0, loads, None, 0.0)
    place = int(moves.argmax())
    return Conditioned(others, float(mean), float(spread), loads, place, float(s[noisy[place]]))


def _total(z: Float[np.ndarray, "s k"]) -> Points:
    """Log-sum-exp of each row; -inf where nothing is visible."""
    return np.asarray(logsumexp(z.astype(float), axis=1))


def _joined(pieces: list[Given]) -> Given:
    own = (
        None
        if pieces[0].own is None
        else np.concatenate([one.own for one in pieces if one.own is not None])
    )
    rest, centre, rule = (
        np.concatenate([getattr(one, name) for one in pieces])
        for name in ("rest", "centre", "rule")
    )
    return Given(rest, centre, own, rule)


def _quadrature(panels: int) -> tuple[Float[np.ndarray, "s 1"], Points]:
    """Nodes and weights for a standard normal number: Gauss and Legendre's rule on equal panels."""
    edges = np.linspace(-_REACH, _REACH, panels + 1)
    half = np.diff(edges)[:, None] / 2
    g = (edges[:-1, None] + half * (1 + _NODES)).ravel()
    rule = (half * _RULE).ravel() * np.exp(-0.5 * g * g) / _ROOT_TWO_PI
    return g[:, None], rule
