"""What the streaming pass gives of a layer, whichever way it went."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.types import Array, Float, Int


@dataclass(frozen=True)
class Rows:
    """What is kept of each row of weights p: some numbers per head and query."""

    output: Float[Array, "h t v"]
    top: Int[Array, "h t"]  # the key with the largest logit
    margin: Float[Array, "h t"]  # largest logit minus the second; inf where one key is seen
    leak: Float[Array, "h t"]  # sum of e^(z - z_max) over all keys but the top one, and the sink
    shifted: Float[Array, "h t"]  # sum of p (z - z_max)
    first: Float[Array, "h t"]  # p of the first token
    separators: Float[Array, "h t"]  # sum of p over separators
    patterns: dict[str, Float[Array, "h"]]  # mass on the pattern's pairs, summed over all rows
    seen: Int[Array, "#h t"]  # keys visible to each query
    similarity: Float[Array, "h h2"]  # cosine between the heads' rows, mean over sampled rows
    picture: Float[Array, "h a b"]  # sampled rows x binned keys, each row divided by its sum
    # All numbers of the fused pass in one array, among them two that need its output in single
    # precision: `fused.launch.NUMBERS`
    numbers: Float[Array, "m h t"] | None = None
    sink: Float[Array, "h t"] | None = None  # p of the learned sink, where the head has one
