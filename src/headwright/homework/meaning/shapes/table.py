"""Every shape, by its name in the question bank, with the test for it."""

from __future__ import annotations

import functools
from collections.abc import Callable

from headwright.homework.meaning.formula import Chain
from headwright.homework.meaning.shapes import layers, scores, vectors
from headwright.homework.meaning.terms import subject

_TESTS: dict[str, Callable[[Chain], bool]] = {
    "weights sum to one": scores.weights_sum_to_one,
    "weights bounded": scores.weights_bounded,
    "weights of a and b": scores.weights_of_the_pair,
    "scores compared": scores.scores_compared,
    "score in a limit": scores.score_in_a_limit,
    "keys compared": scores.keys_compared,
    "output is one value": vectors.output_is_one_value,
    "output is a or b": vectors.output_is_a_or_b,
    "output is the average": vectors.output_is_the_average,
    "query of keys": vectors.query_of_keys,
    "query of means": vectors.query_of_means,
    "query of anything": vectors.query_of_anything,
    "query of one head": vectors.query_of_one_head,
    "query of one key": vectors.query_of_one_key,
    "speaks of heads": vectors.speaks_of_heads,
    "length of a key": vectors.length_of_a_key,
    "gamma": vectors.gamma_is_a_length,
    "permutation": layers.permutation,
    "layer": layers.layer,
    "positions": layers.positions,
    "sinusoids": layers.sinusoids,
    "self-attention": layers.self_attention,
    "three matrices": layers.three_matrices,
    "extraction matrix": layers.extraction_matrix,
    "subspaces": layers.subspaces,
}


@functools.lru_cache(maxsize=4096)
def shapes_of(chain: Chain) -> frozenset[str]:
    """Every shape the statement has."""
    found = {shape for shape, test in _TESTS.items() if test(chain)}
    first = subject(chain)
    if first is not None and chain.relations:
        found.add(f"defines {first.name}")
    return frozenset(found)
