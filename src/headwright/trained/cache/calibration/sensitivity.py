"""What errors cost: for every key head, two quadratic forms in nats per token of the next-token
distribution's divergence, or in the unit of another signal.

    damage = e_1' first e_1 + E[e_t' rest e_t],   t > 1

Errors of different numbers are taken as independent, so that damage is a sum over numbers, of which
the diagonals of the forms are enough; in another basis the diagonals are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwright.trained.cache.coding.basis import Basis, Matrices
from headwright.trained.cache.coding.channels import PerChannel

# The share of the form itself in a shrunken one: a few thousand gradients say little of each of
# d * d numbers, and another text has others. Halfway is a choice, not an optimum.
_OWN = 0.5


@dataclass(frozen=True)
class Sensitivity:
    """Of errors in the first token, and in the others."""

    first: Matrices
    rest: Matrices

    def __repr__(self) -> str:
        h, d, _ = self.rest.shape
        return f"<Sensitivity: {h} key heads of {d} channels>"

    def damage(self, first: PerChannel, rest: PerChannel) -> PerChannel:
        """Of errors with these mean squares, in the first token and in the others."""
        return _diagonal(self.first) * first + _diagonal(self.rest) * rest

    def times(self, size: float) -> Sensitivity:
        return Sensitivity(size * self.first, size * self.rest)

    def without_first(self) -> Sensitivity:
        return Sensitivity(np.zeros_like(self.first), self.rest)

    def shrunken(self) -> Sensitivity:
        """With `rest` halfway to a multiple of the identity of the same trace."""
        even = _diagonal(self.rest).mean(axis=1)[:, None, None] * np.eye(self.rest.shape[-1])
        return Sensitivity(self.first, _OWN * self.rest + (1.0 - _OWN) * even)

    def within(self, basis: Basis) -> Sensitivity:
        """Of errors in the coordinates of a basis: an error y there is y A^-1 here."""
        here = basis.inverse
        there = np.swapaxes(here, 1, 2)
        return Sensitivity(here @ self.first @ there, here @ self.rest @ there)


def mean_sensitivity(texts: Sequence[Sensitivity]) -> Sensitivity:
    first = np.mean([text.first for text in texts], axis=0, dtype=float)
    rest = np.mean([text.rest for text in texts], axis=0, dtype=float)
    return Sensitivity(first, rest)


def _diagonal(form: Matrices) -> PerChannel:
    return np.diagonal(form, axis1=1, axis2=2)
