"""One pass over the attention rows of a layer, a block of queries at a time.

Every number that needs the t x n weights is taken here while a block of them exists; the largest
live buffer is block x n for the heads in work. The block's weights also give the layer's output, so
the logits are computed once and the audit costs a few reductions more than a plain forward pass.
Rejected: keeping the maps, which is 11 GB for a small model at 4,096 tokens.
"""

from __future__ import annotations

import array_api_compat as compat

from headwright.arrays import put
from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.rows import likeness
from headwright.trained.rows.kernels import Kernel, can_fuse, fastest_kernel
from headwright.trained.rows.layout import Layout
from headwright.trained.rows.operations import NAMES
from headwright.trained.rows.result import Rows
from headwright.trained.rows.sinks import with_sinks
from headwright.trained.rows.tokens import Tokens


def stream(heads: Heads, tokens: Tokens, *, kernel: Kernel | None = None) -> Rows:
    """All rows of all heads. Learned sinks take their share after the pass over the keys."""
    rows = _over_keys(heads, tokens, kernel)
    return rows if heads.sinks is None else with_sinks(rows, heads, tokens)


def _over_keys(heads: Heads, tokens: Tokens, kernel: Kernel | None) -> Rows:
    """A block of queries at a time, and as many key heads as fit the budget. On a GPU all of it is
    one fused kernel, where that can go."""
    if kernel is None and can_fuse(heads, tokens):
        from headwright.trained.rows.fused.launch import fused_rows

        return fused_rows(heads, tokens)

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
