"""A basis of its own for every key head, in which bits are best spent.

Channels of a key head move together, and so do the errors that matter. With C the covariance of its
numbers x (a row for each token) and e F e' what an error e costs, the directions are the columns of

    A = L U,   F = L L',   U' (L' C L) U diagonal,      y = x A,   x~ = y~ A^-1

so that the numbers y are uncorrelated and an error of y costs its own square, whatever the others
are: A' C A is diagonal and A^-1 F A'^-1 the identity. Bits go by variance times cost, as a product
over directions. For channels that is prod C_cc prod F_cc, here det C det F, which is never more
(Hadamard), and less in no other basis.

A column is scaled so that its largest number is 1 and stored in 16 bits a number. What is read is
multiplied by the inverse of what is stored, so that this rounding costs no accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.trained.library import torch
from headwright.types import Array, Float, Int

Matrices = Float[np.ndarray, "h d d"]

# The code of 1: the largest whole number of 16 bits with a sign.
ONE = 2**15 - 1


@dataclass(frozen=True)
class Basis:
    """A direction in every column, in units of 1 / ONE."""

    codes: Int[np.ndarray, "h d d"]

    def __repr__(self) -> str:
        h, d, _ = self.codes.shape
        return f"<Basis: {d} directions for each of {h} key heads>"

    @cached_property
    def columns(self) -> Matrices:
        return self.codes / ONE

    @cached_property
    def inverse(self) -> Matrices:
        return np.linalg.inv(self.columns)

    def coordinates(self, x: Float[Array, "*b h n d"]) -> Float[Array, "*b h n d"]:
        return _times(x, self.columns)

    def restored(self, coordinates: Float[Array, "*b h n d"]) -> Float[Array, "*b h n d"]:
        return _times(coordinates, self.inverse)


def _times(x: Array, matrices: Matrices) -> Array:
    """In single precision."""
    return x.float() @ torch.as_tensor(matrices, dtype=torch.float32, device=x.device)


def fitted(covariance: Matrices, cost: Matrices) -> Basis:
    """To numbers of this covariance, whose errors cost this much."""
    lower = np.linalg.cholesky(_scaled(cost))
    upper = np.swapaxes(lower, 1, 2)
    _, turned = np.linalg.eigh(upper @ covariance @ lower)
    columns = lower @ turned
    largest = np.abs(columns).max(axis=1, keepdims=True)
    return Basis(np.rint(ONE * columns / largest).astype(int))


def _scaled(cost: Matrices) -> Matrices:
    """With a mean of 1 on the diagonal, which changes no direction; the identity where errors cost
    nothing."""
    size = np.trace(cost, axis1=1, axis2=2)[:, None, None] / cost.shape[-1]
    known = size > 0
    return np.where(known, cost / np.where(known, size, 1.0), np.eye(cost.shape[-1]))
