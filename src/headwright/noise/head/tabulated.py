"""One head on its nodes, key by key: what the double integral between two heads takes of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise.head.blocks import blocks_of_nodes
from headwright.noise.head.ends import find_ends
from headwright.noise.head.integral import over_phi
from headwright.noise.head.laws import Laws, distinct
from headwright.noise.head.nodes import Nodes, grid
from headwright.types import HostPerKey, HostPerNode, HostTable

# Where graded steps begin to grow: two logits of one key that are nearly the same take steps that
# are short beside the deviation of one of them, given the other.
PAIR_BEND = 12.5
_NO_PHI = 1e-300  # has a logarithm


@dataclass(frozen=True)
class Integrand:
    """The integrand on its nodes: `total` is Psi, `r` is (nodes, keys)."""

    nodes: Nodes
    total: HostPerNode
    r: HostTable


def tabulate(m: HostPerKey, s: HostPerKey) -> Integrand:
    """Psi and r node by node."""
    laws = distinct(m[None, :], s[None, :])
    return _tabulated(laws, grid(laws.logits, find_ends(laws.coarse()), bend=PAIR_BEND))


def tabulate_on(places: Nodes, m: HostPerKey, s: HostPerKey) -> Integrand:
    """The same on nodes that were chosen elsewhere."""
    laws = distinct(m[None, :], s[None, :])
    row = Nodes(places.u[None, :], places.weight[None, :], places.step, places.uniform)
    return _tabulated(laws, row)


def _tabulated(laws: Laws, places: Nodes) -> Integrand:
    """For the laws of one query."""
    total = np.empty(places.u.shape[1])
    r = np.empty((total.size, laws.which.shape[1]))
    for part, a in blocks_of_nodes(laws.logits, places, top=1):
        phi = np.maximum(a[0, :, 0], _NO_PHI)
        total[part] = laws.logits.count[0] @ np.log(phi)
        r[part] = laws.to_keys(over_phi(a)[0])[0].T
    one = Nodes(places.u[0], places.weight[0], places.step, places.uniform)
    return Integrand(one, total, r)
