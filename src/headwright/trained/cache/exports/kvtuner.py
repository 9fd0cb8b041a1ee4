"""KVTuner's YAML: bits of keys and values per layer, or per key head of a layer.

    0: {nbits_key: 4, nbits_value: 2}
    1: {0: {nbits_key: 4, nbits_value: 2}, 1: {nbits_key: 2, nbits_value: 2}}

Values that no plan is about are written with 16 bits. Flow style on one line per layer, so that the
files are read back without a YAML library.
"""

from __future__ import annotations

import re

from headwright.errors import InputError
from headwright.trained.cache.budget.plan import Plan
from headwright.trained.cache.coding.channels import EXACT
from headwright.trained.cache.exports.stored_bits import (
    LayerBits,
    by_head,
    in_numbers,
    unsayable,
)

_PAIR = r"\{nbits_key: (\d{1,2}), nbits_value: (\d{1,2})\}"
_LAYER = re.compile(rf"(\d+): {_PAIR}")
_HEADS = re.compile(rf"(\d+): \{{((?:\d+: {_PAIR}(?:, )?)+)\}}")


def written(plan: Plan) -> str:
    layers = by_head(plan)
    if layers is None:
        nearest = plan.replanned(per="head", keep_first=0)
        attempt = f"--per head without --keep-first, {in_numbers(nearest)}"
        raise unsayable("KVTuner", "bits per layer or per key head", plan, attempt)
    lines = [f"{index}: {_line(layer)}\n" for index, layer in enumerate(layers)]
    return "".join(lines)


def _line(layer: LayerBits) -> str:
    values = layer.values or (EXACT,) * len(layer.keys)
    pairs = [_pair(k, v) for k, v in zip(layer.keys, values, strict=True)]
    if layer.even:
        return pairs[0]
    heads = [f"{head}: {pair}" for head, pair in enumerate(pairs)]
    return "{" + ", ".join(heads) + "}"


def _pair(key: int, value: int) -> str:
    return f"{{nbits_key: {key}, nbits_value: {value}}}"


def read(text: str, heads: int) -> list[LayerBits]:
    """`heads`: key heads of the model, which a line for a whole layer does not say."""
    layers = []
    for line in text.splitlines():
        one = _LAYER.fullmatch(line)
        several = _HEADS.fullmatch(line)
        if one:
            pairs = [(int(one[2]), int(one[3]))] * heads
        elif several:
            pairs = [(int(k), int(v)) for k, v in re.findall(_PAIR, several[2])]
        else:
            raise InputError(
                wanted="a line of KVTuner's bits",
                got=line[:60] or "an empty line",
                attempt="0: {nbits_key: 4, nbits_value: 4}",
            )
        layers.append(_layer(pairs))
    return layers


def _layer(pairs: list[tuple[int, int]]) -> LayerBits:
    keys, values = zip(*pairs, strict=True)
    unplanned = set(values) == {EXACT} and set(keys) != {EXACT}
    return LayerBits(tuple(keys), None if unplanned else tuple(values))
