"""llama.cpp's arguments: one type for all layers, and in ik_llama.cpp others for the first and the
last layers (`-ctk q4_0 -ctk-first q8_0,2 -ctk-last f16,1`), keys and values apart.

Bits here are those of a number's code; the types store a 16-bit scale for every 32 numbers beside
them, half a bit each.
"""

from __future__ import annotations

import re
from itertools import combinations_with_replacement, groupby, product

import numpy as np

from headwright.errors import InputError
from headwright.trained.cache.budget.plan import Plan
from headwright.trained.cache.coding.channels import EXACT
from headwright.trained.cache.exports.stored_bits import LayerBits, by_head, unsayable
from headwright.types import Float

TYPES = {4: "q4_0", 5: "q5_0", 6: "q6_0", 8: "q8_0", EXACT: "f16"}
_BITS = {name: bits for bits, name in TYPES.items()}
_SCALE = 0.5
_ARGUMENT = re.compile(r"-ct([kv])(-first|-last)? (\w+)(?:,(\d+))?")


def written(plan: Plan) -> str:
    layers = by_head(plan)
    said = None if layers is None else _said(layers)
    if said is None:
        says = f"layers of {', '.join(map(str, TYPES))} bits: first ones, the rest, last ones"
        raise unsayable("llama.cpp", says, plan, _nearest(plan))
    return said + "\n"


def _said(layers: list[LayerBits]) -> str | None:
    if not all(layer.even for layer in layers):
        return None
    keys = [layer.keys[0] for layer in layers]
    values = [layer.values[0] if layer.values else EXACT for layer in layers]
    said = [_arguments("k", keys), _arguments("v", values)]
    return None if None in said else " ".join(filter(None, said))


def _arguments(letter: str, bits: list[int]) -> str | None:
    """Bits of every layer as arguments; None where there are more than three stretches of them, or
    a type that is not there. Two stretches are the first layers and the rest."""
    stretches = [(b, len(list(same))) for b, same in groupby(bits)]
    if len(stretches) > 3 or any(b not in TYPES for b in bits):
        return None
    if len(stretches) == 1:
        return f"-ct{letter} {TYPES[bits[0]]}"
    (first, count), (middle, _), *last = stretches
    said = f"-ct{letter} {TYPES[middle]} -ct{letter}-first {TYPES[first]},{count}"
    for b, length in last:
        said += f" -ct{letter}-last {TYPES[b]},{length}"
    return said


def read(text: str, layers: int, heads: int) -> list[LayerBits]:
    """`layers` and `heads`: those of the model, which the arguments do not say."""
    bits = {"k": [EXACT] * layers, "v": [EXACT] * layers}
    rest = _ARGUMENT.sub("", text).strip()
    if rest:
        raise InputError(
            wanted="llama.cpp's types of the cache", got=rest[:60], attempt="-ctk q8_0 -ctv f16"
        )
    for letter, place, name, number in _ARGUMENT.findall(text):
        if name not in _BITS:
            raise InputError(wanted=f"a type: {', '.join(_BITS)}", got=name, attempt="-ctk q8_0")
        count = int(number or layers)
        start = layers - count if place == "-last" else 0
        bits[letter][start : start + count] = [_BITS[name]] * count
    unplanned = set(bits["v"]) == {EXACT}
    pairs = zip(bits["k"], bits["v"], strict=True)
    return [LayerBits((k,) * heads, None if unplanned else (v,) * heads) for k, v in pairs]


def _nearest(plan: Plan) -> str:
    """The arguments of least damage within the mean asked for, or in the fewest bits there are."""
    said = []
    means = []
    for letter, layers in zip("kv", zip(*plan.known.channels, strict=True), strict=False):
        bits = _best([channels.damage.sum(axis=(1, 2)) for channels in layers], plan.request.bits)
        said.append(_arguments(letter, bits) or "")
        means.append(np.mean(bits))
    return f"{' '.join(said)}, {np.mean(means) + _SCALE:.2f} bits with its scales"


def _best(damage: list[Float[np.ndarray, "w"]], mean: float) -> list[int]:
    """Bits of every layer, from its damage by bits: the first ones, the rest and the last ones,
    tried in every way."""
    count = len(damage)
    most = max(mean, min(TYPES)) * count
    total = {b: np.cumsum([0.0, *(layer[b] for layer in damage)]) for b in TYPES}
    tried: list[tuple[float, list[int]]] = []
    for first, middle, last in product(TYPES, repeat=3):
        for a, z in combinations_with_replacement(range(count + 1), 2):
            layout = [first] * a + [middle] * (z - a) + [last] * (count - z)
            if sum(layout) <= most:
                between = total[middle][z] - total[middle][a]
                ended = total[last][count] - total[last][z]
                tried.append((total[first][a] + between + ended, layout))
    _, best = min(tried)
    return best
