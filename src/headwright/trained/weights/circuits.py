"""What two matrices of a head, or of two heads, make together.

A head moves a hidden state x to x W_V W_O and asks with (x W_Q)(y W_K)^T. All products stay d x d:
the nonzero eigenvalues of W_V W_O are those of W_O W_V, and a Frobenius norm of a product of low
rank needs the Gram matrices of its factors only. Query head h goes with key head h // g.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headwright.result import to_numpy
from headwright.trained.library import torch
from headwright.trained.weights.projections import Projections
from headwright.trained.weights.watching import Place
from headwright.types import Array, Float

# How the output of an earlier head can enter a later one: the matrix it meets first, and the one
# on the other side of the later head's circuit.
KINDS = {"q": ("W_Q", "W_K"), "k": ("W_K", "W_Q"), "v": ("W_V", "W_O")}


def copying(layer: Projections) -> Float[np.ndarray, "h"]:
    """sum Re(lambda) / sum |lambda| over the eigenvalues of W_V W_O: 1 for a head that writes what
    it reads in every direction, -1 for one that writes the opposite."""
    if layer.W_V is None or layer.W_O is None:
        return np.full(layer.heads, np.nan)
    W_V = _per_query_head(layer.W_V, layer.W_O.shape[0])
    eigenvalues = np.linalg.eigvals(to_numpy(layer.W_O @ W_V).astype(float))
    sizes = np.abs(eigenvalues).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return eigenvalues.real.sum(axis=1) / sizes


def _per_query_head(w: Float[Array, "hk *s"], heads: int) -> Float[Array, "h *s"]:
    """Of each query head what belongs to the key head it reads."""
    return w.repeat_interleave(heads // w.shape[0], dim=0)


@dataclass(frozen=True)
class Composition:
    """How much of what an earlier head writes a later head reads, for all heads of a stack in
    order. `score[kind][a, b]` is |W_a W_b| / (|W_a| |W_b|) less `baseline`, NaN unless a is in an
    earlier layer than b."""

    heads: tuple[tuple[int, int], ...]  # layer and head of each row and column
    score: dict[str, Float[np.ndarray, "a b"]]
    baseline: float

    def strongest(self, kind: str) -> tuple[Float[np.ndarray, "b"], list[str | None]]:
        """Of each head its largest score, and the earlier head that it has it with."""
        score = np.where(np.isnan(self.score[kind]), -np.inf, self.score[kind])
        best = score.max(axis=0)
        names = [f"{layer}.{head}" for layer, head in self.heads]
        sources = [names[a] if best[b] > -np.inf else None for b, a in enumerate(score.argmax(0))]
        return np.where(np.isfinite(best), best, np.nan), sources


def composition(layers: Mapping[Place, Projections], stack: str) -> Composition | None:
    """Between the heads of every two layers of `stack`; None where it has no output matrices.

    If the hidden state were turned at random between two heads, the mean square of
    |W_a W_b| / (|W_a| |W_b|) would be 1 / m exactly, whatever the matrices: 1 / sqrt(m) is taken
    off as the baseline.
    """
    chosen = {index: layer for (name, index), layer in sorted(layers.items()) if name == stack}
    written = {i: _writing(layer) for i, layer in chosen.items()}
    widths = {w.shape[2] for w in written.values() if w is not None}
    if not widths:
        return None
    heads = tuple((i, h) for i, x in chosen.items() for h in range(x.heads))
    first = {i: heads.index((i, 0)) for i in chosen}
    size = len(heads)
    baseline = max(widths) ** -0.5

    score = {kind: np.full((size, size), np.nan) for kind in KINDS}
    for a, writing in written.items():
        rows = slice(first[a], first[a] + chosen[a].heads)
        for b, later in chosen.items():
            columns = slice(first[b], first[b] + later.heads)
            for kind in KINDS if a < b and writing is not None else ():
                ratio = _ratios(writing, later, kind)
                score[kind][rows, columns] = ratio - baseline
    return Composition(heads, score, baseline)


def _writing(layer: Projections) -> Float[Array, "h v m"] | None:
    """S W_O for each head, with S^2 = W_V^T W_V: as large in every product as W_V W_O, and scaled
    to size 1. None where the layer has no such matrices."""
    if layer.W_V is None or layer.W_O is None:
        return None
    root = _root(layer.W_V.mT @ layer.W_V)
    written = _per_query_head(root, layer.W_O.shape[0]) @ layer.W_O
    return written / torch.linalg.matrix_norm(written)[:, None, None]


def _root(gram: Float[Array, "h d d"]) -> Float[Array, "h d d"]:
    values, vectors = torch.linalg.eigh(gram)
    return (vectors * values.clamp_min(0.0).sqrt()[:, None, :]) @ vectors.mT


def _ratios(
    writing: Float[Array, "a v m"], later: Projections, kind: str
) -> Float[np.ndarray, "a b"]:
    """|S W_O P R^T| / |P R^T| for all heads of two layers, P the matrix that reads and R the one on
    the other side: |X R^T|^2 = <X^T X, R^T R>. P is shared by the query heads of a key head, and so
    is its product."""
    reading = getattr(later, KINDS[kind][0])
    other = getattr(later, KINDS[kind][1])
    if reading is None or other is None:
        return np.full((writing.shape[0], later.heads), np.nan)
    h = later.heads
    beyond = other if kind == "v" else _per_query_head(other, h).mT
    gram = beyond @ beyond.mT
    own = _per_query_head(reading.mT @ reading, h)
    norm = torch.sum(own * gram, dim=(1, 2)).sqrt()

    x = torch.einsum("avm,pmd->apvd", writing, reading)
    squares = _per_query_head((x.mT @ x).transpose(0, 1), h)
    size = torch.einsum("bade,bde->ab", squares, gram).clamp_min(0.0).sqrt()
    return to_numpy(size / norm).astype(float)
