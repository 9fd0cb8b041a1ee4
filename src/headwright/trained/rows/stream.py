"""One pass over the attention rows of a layer, a block of queries at a time.

Every number that needs the t x n weights is taken here while a block of them exists; the largest
live buffer is block x n for the heads in work. The block's weights also give the layer's output, so
the logits are computed once and the audit costs a few reductions more than a plain forward pass.
Rejected: keeping the maps, which is 11 GB for a small model at 4,096 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import numpy as np

from headwright.arrays import put
from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.rows import likeness
from headwright.trained.rows.kernels import Kernel, fastest_kernel
from headwright.trained.rows.layout import Layout
from headwright.trained.rows.operations import NAMES
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float, Int


@dataclass(frozen=True)
class Rows:
    """What is kept of each row of weights p: some numbers per head and query."""

    output: Float[Array, "h t v"]
    top: Int[Array, "h t"]  # the key with the largest logit
    margin: Float[Array, "h t"]  # largest logit minus the second; inf where one key is seen
    leak: Float[Array, "h t"]  # sum of e^(z - z_max) over all keys but the top one
    shifted: Float[Array, "h t"]  # sum of p (z - z_max)
    first: Float[Array, "h t"]  # p of the first token
    separators: Float[Array, "h t"]  # sum of p over separators
    patterns: dict[str, Float[Array, "h"]]  # mass on the pattern's pairs, summed over all rows
    seen: Int[Array, "#h t"]  # keys visible to each query
    similarity: Float[Array, "h h2"]  # cosine between the heads' rows, mean over sampled rows
    picture: Float[np.ndarray, "h a b"]  # sampled rows x binned keys


def stream(heads: Heads, tokens: Tokens, *, kernel: Kernel | None = None) -> Rows:
    """All rows of all heads: a block of queries at a time, and as many key heads as fit the
    budget."""
    xp = compat.array_namespace(heads.q)
    layout = Layout(heads, tokens, kernel or fastest_kernel(heads))
    sample = likeness.sample(tokens.real_queries)
    output, numbers = layout.room()

    masses = []
    cosines = []
    pictures = []
    for section in layout.sections(sample):
        kept = [[] for _ in section]
        for key_heads in layout.key_heads(section[0]):
            own = layout.query_heads(key_heads)
            for block, of_block in zip(section, kept, strict=True):
                found = layout.result(block, key_heads)
                output = put(output, (own, block.queries), found.output)
                numbers = put(numbers, (own, slice(None), block.queries), found.numbers)
                of_block.append((found.patterns, found.kept))

        for of_block in kept:
            patterns, rows = zip(*of_block, strict=True)
            masses.append(xp.concat(patterns, axis=0))
            weights = xp.concat(rows, axis=0)
            cosines.append(likeness.cosines(xp, weights))
            pictures.append(likeness.binned(xp, weights, layout.n))

    named = {name: numbers[:, i, :] for i, name in enumerate(NAMES)}
    # e sums to `total`: the weights are p = e / total.
    total = 1.0 + named["leak"]
    output /= total[..., None]
    mass = xp.sum(xp.stack(masses), axis=0)
    picture = to_numpy(xp.concat(pictures, axis=1))
    return Rows(
        output=output,
        top=xp.astype(named["top"], xp.int32),
        margin=named["margin"],
        leak=named["leak"],
        shifted=named["shifted"] / total,
        first=named["first"] / total,
        separators=named["separators"] / total,
        patterns=dict(zip(tokens.patterns, mass.T, strict=True)),
        seen=layout.seen(),
        similarity=sum(cosines) / sample.size,
        picture=likeness.squeezed(picture),
    )
