"""Pieces in which the integrals are taken: some queries, and of these some nodes, at a time. A
piece is small enough that its tables stay in cache and large enough that a call of NumPy costs
nothing beside its work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headwright.noise.head.ends import Ends, Logits
from headwright.noise.head.nodes import STEP, Nodes, about, graded
from headwright.noise.head.series import EFFORT, anywhere
from headwright.noise.head.uniform import nodes_effort, on_equal_nodes
from headwright.types import Bool, Float, Int

# Numbers of one table (queries x keys x nodes) of a block of queries, and of one of nodes: of the
# first a dozen are in cache, of the second a dozen of 4 MB live at the same time.
_QUERIES = 1 << 16
_NODES = 1 << 19

Points = Float[np.ndarray, "q k t u"]  # a_0 .. a_top


@dataclass(frozen=True)
class Block:
    """Some `queries` of about equally many nodes, and their `ends`. Nodes are `graded`, or at equal
    distances, whatever the ranges are."""

    queries: Int[np.ndarray, "b"]
    ends: Ends
    graded: bool


def blocks_of_queries(logits: Logits, ends: Ends) -> Iterator[Block]:
    """All queries, each with the nodes that cost less."""
    equal, stretched = about(ends)
    kind = graded(ends)
    if not kind.all():
        kind |= _grading_pays(logits, equal, stretched)
    if len(kind) == 1:
        yield Block(np.zeros(1, dtype=int), ends, bool(kind[0]))
        return
    size = np.where(kind, stretched, equal)
    order = np.lexsort((size, kind))
    most = np.maximum(_QUERIES // (logits.m.shape[1] * size), 1.0).astype(int)
    begin = 0
    while begin < order.size:
        # The longest is the last one: it decides how many there may be.
        end = min(begin + int(most[order[begin]]), order.size)
        end = min(begin + int(most[order[end - 1]]), end)
        of_kind = np.count_nonzero(kind[order[begin:end]] == kind[order[begin]])
        some = order[begin : begin + of_kind]
        begin += of_kind
        yield Block(some, Ends(ends.low[some], ends.high[some]), bool(kind[some[0]]))


def _grading_pays(
    logits: Logits, equal: Float[np.ndarray, "q"], stretched: Float[np.ndarray, "q"]
) -> Bool[np.ndarray, "q"]:
    """Are a few nodes with a series for every key cheaper than many on a lattice? Not if most keys
    are narrow."""
    lattice = nodes_effort(STEP, logits.s).mean(axis=1)
    return EFFORT * stretched < lattice * equal


def blocks_of_nodes(logits: Logits, places: Nodes, top: int) -> Iterator[tuple[slice, Points]]:
    """phi and a_1 .. a_top of all laws on all nodes, some nodes at a time."""
    q, k = logits.m.shape
    size = places.u.shape[1]
    rows = max(1, _NODES // (q * k))
    for begin in range(0, size, rows):
        part = slice(begin, min(begin + rows, size))
        u = places.u[:, part]
        if places.uniform:
            x = u[:, :1] + logits.m
            count = part.stop - begin
            a = on_equal_nodes(x.ravel(), logits.s.ravel(), step=places.step, size=count, top=top)
            yield part, a.reshape(q, k, top + 1, count)
        else:
            x = u[:, None, :] + logits.m[:, :, None]
            a = anywhere(x.reshape(q * k, -1), logits.s.ravel())
            yield part, a.reshape(q, k, 3, -1)
