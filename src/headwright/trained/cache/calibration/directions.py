"""A layer in directions instead of channels: each key head's own basis, from its numbers on the
calibration texts and what errors cost, and the quantiser of every direction."""

from __future__ import annotations

from dataclasses import replace

from headwright.result import to_numpy
from headwright.trained.cache.calibration.ranges import measured
from headwright.trained.cache.calibration.sensitivity import Sensitivity
from headwright.trained.cache.coding.basis import Matrices, fitted
from headwright.trained.cache.coding.channels import Channels
from headwright.trained.library import torch
from headwright.types import Array


def in_directions(texts: list[Array], sensitivity: Sensitivity, keep_first: int) -> Channels:
    """From the keys or values (h, n, d) of every calibration text."""
    shrunken = sensitivity.shrunken()
    basis = fitted(_covariance(texts), shrunken.rest)
    coordinates = [basis.coordinates(x) for x in texts]
    return replace(measured(coordinates, shrunken.within(basis), keep_first), basis=basis)


def _covariance(texts: list[Array]) -> Matrices:
    """Without the first tokens, which are unlike all others."""
    others = torch.cat([x[:, 1:].double() for x in texts], dim=1)
    centred = others - others.mean(dim=1, keepdim=True)
    return to_numpy(centred.mT @ centred / centred.shape[1])
