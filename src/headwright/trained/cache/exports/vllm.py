"""vLLM's settings: every layer in 8 bits but those on the skip list, which stay in 16. Written as
the file that `vllm serve --config` takes."""

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

_STORED = 8
_HEAD = "kv-cache-dtype: fp8\nkv-cache-dtype-skip-layers:"
_LIST = re.compile(re.escape(_HEAD) + r' \[((?:"\d+"(?:, )?)*)\]\n')


def written(plan: Plan) -> str:
    layers = by_head(plan)
    if layers is None or not all(_sayable(layer) for layer in layers):
        bits = max(plan.request.bits, _STORED)
        changes = {"per": "layer", "widths": (_STORED, EXACT), "keep_first": 0, "bits": bits}
        nearest = plan.replanned(**changes)
        attempt = (
            f"--values --per layer --widths {_STORED},{EXACT} --cache-budget {bits:g}, "
            f"{in_numbers(nearest)}"
        )
        says = "keys and values of a layer together in 8 bits or in 16"
        raise unsayable("vLLM", says, plan, attempt)
    skipped = [f'"{i}"' for i, layer in enumerate(layers) if layer.keys[0] == EXACT]
    return f"{_HEAD} [{', '.join(skipped)}]\n"


def _sayable(layer: LayerBits) -> bool:
    return layer.even and layer.values == layer.keys and layer.keys[0] in (_STORED, EXACT)


def read(text: str, layers: int, heads: int) -> list[LayerBits]:
    found = _LIST.fullmatch(text)
    if found is None:
        raise InputError(
            wanted="vLLM's settings with a skip list",
            got=text[:60] or "an empty file",
            attempt=f'{_HEAD} ["0"]'.replace("\n", ", "),
        )
    skipped = {int(number) for number in re.findall(r"\d+", found[1])}
    bits = [EXACT if index in skipped else _STORED for index in range(layers)]
    return [LayerBits((b,) * heads, (b,) * heads) for b in bits]
