"""One directional derivative, told by autograd and measured by differences of the layer itself.

    phi(t) = <u, f(x + t e)>,   D(h) = (phi(h) - phi(-h)) / 2h,   R(h) = (4 D(h / 2) - D(h)) / 3

R is good to h^4 and to rounding / h. Two of them tell how good, unless rounding makes them agree by
chance: then the differences D that they come from do not. Steps are small first, and larger where
something inside computes in single precision and small steps drown in its rounding. What seems to
disagree is measured again with other steps, whose rounding is another one: how far the results lie
apart is an error, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options
from headwright.probes.numerics.gradients.recorded import Gradient, gradient, output_of
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR

PARAMETERS = "parameters"
GRADIENT = Options(gradient=True)
# Tiny ones pass by the kinks of a ReLU.
_STEPS = (1e-5, 3e-2)
_OTHER_STEPS = (0.83, 0.7, 1.3)  # times those
_GOOD = 1e-6  # error of the differences, in units of the slope, that needs no larger step
# In units of the slope's typical size: right layers agree to 1e-5, and no bug is as small as 2e-3.
_AGREES = 1e-4
_FAR = 2e-3


@dataclass(frozen=True)
class Slope:
    """In one direction. `size` is what slopes in a random direction are typically."""

    told: float
    measured: float
    error: float  # of the measured one
    size: float

    @property
    def difference(self) -> float:
        return abs(self.told - self.measured)

    @property
    def bound(self) -> float:
        return _AGREES * self.size + 5 * self.error

    @property
    def status(self) -> str:
        if not np.isfinite(self.told):
            return BROKEN
        if self.difference <= self.bound:
            return HOLDS
        limit = _FAR * self.size + 20 * self.error
        return BROKEN if self.difference > limit else UNCLEAR


class Slopes:
    """Of one layer at one input: the gradient is taken once, directions as many as wanted."""

    def __init__(self, layer: Any, given: Inputs, seed: int = 0) -> None:
        """`layer` is changed while slopes of its parameters are measured: give a copy."""
        self.layer = layer
        self.given = given
        self.rng = np.random.default_rng([seed, 1150])
        output = output_of(layer, given, GRADIENT)
        self.u = self.rng.standard_normal(output.shape)
        self.gradient: Gradient = gradient(layer, given, self.u, GRADIENT)
        self.floor = 1e-9 * float(np.linalg.norm(self.u) * np.abs(output).max())

    def along(self, name: str) -> Slope:
        """With respect to one input, or to the parameters together or one by one."""
        if name in self.given.arrays:
            return self._along_input(name)
        every = self.gradient.parameters
        return self._along_parameters(list(every) if name == PARAMETERS else [name])

    def _along_input(self, name: str) -> Slope:
        array = self.given[name]
        size = float(np.sqrt(np.mean(array**2))) or 1.0
        direction = size * self.rng.standard_normal(array.shape)

        def phi(t: float) -> float:
            moved = self.given.replaced(**{name: array + t * direction})
            return self._phi(moved)

        found = self.gradient.inputs[name]
        return self._slope(phi, [(found, direction)])

    def _along_parameters(self, names: list[str]) -> Slope:
        import torch

        parameters = dict(self.layer.function.named_parameters())
        starts = {name: parameters[name].detach().clone() for name in names}
        directions = {}
        for name, start in starts.items():
            size = float(start.pow(2).mean().sqrt()) or 1.0
            directions[name] = size * self.rng.standard_normal(tuple(start.shape))

        def phi(t: float) -> float:
            with torch.no_grad():
                for name, start in starts.items():
                    step = torch.from_numpy(np.asarray(t * directions[name])).to(start)
                    parameters[name].copy_(start + step)
            try:
                return self._phi(self.given)
            finally:
                with torch.no_grad():
                    for name, start in starts.items():
                        parameters[name].copy_(start)

        pairs = [(self.gradient.parameters[name], directions[name]) for name in names]
        return self._slope(phi, pairs)

    def _phi(self, given: Inputs) -> float:
        return float((self.u * output_of(self.layer, given, GRADIENT)).sum())

    def _slope(
        self, phi: Callable[[float], float], pairs: list[tuple[np.ndarray | None, np.ndarray]]
    ) -> Slope:
        told = 0.0
        typical = 0.0
        for found, direction in pairs:
            if found is not None:
                told += float((found * direction).sum())
                typical += float((found**2).sum() * np.mean(direction**2))
        typical = max(float(np.sqrt(typical)), self.floor)
        measured, error = _measured(phi, typical)
        slope = Slope(told, measured, error, max(typical, abs(measured)))
        for factor in _OTHER_STEPS:
            if slope.status == HOLDS:
                break
            again, other_error = _measured(phi, typical, factor)
            error = max(error, other_error, abs(again - measured))
            slope = replace(slope, error=error)
        return slope


def _measured(
    phi: Callable[[float], float], size: float, factor: float = 1.0
) -> tuple[float, float]:
    """The slope at 0 and its error."""
    best = (0.0, float("inf"))
    for step in np.multiply(_STEPS, factor):
        first, second, third = (_central(phi, step / 2**k) for k in range(3))
        coarse = (4 * second - first) / 3
        fine = (4 * third - second) / 3
        error = max(abs(fine - coarse), abs(third - second) / 3)
        if error < best[1]:
            best = (fine, error)
        if error <= _GOOD * max(size, abs(fine)):
            break
    return best


def _central(phi: Callable[[float], float], h: float) -> float:
    return (phi(h) - phi(-h)) / (2 * h)
