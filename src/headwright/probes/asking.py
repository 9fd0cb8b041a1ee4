"""The question itself: `hw.xray` of a layer, or of a whole model."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.inputs import number
from headwright.probes.examination import Examination
from headwright.probes.examined import record_of, wanted_properties
from headwright.probes.intent import Intent, intent
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.layer import OutOfTime
from headwright.probes.record import Asked, XRay

SECONDS = 120.0


def xray(
    layer: Any,
    *,
    expect: str | Intent | None = None,
    shape: tuple[int, int] | None = None,
    dtype: str | None = None,
    scale: float | None = None,
    inputs: Any = None,
    seed: int = 0,
    timeout: float | None = SECONDS,
    only: str | Sequence[str] | None = None,
) -> XRay:
    """What is true of this attention layer? Found by running it.

    `layer` is a function of (q, k, v), a torch module on hidden states, a class or a factory that
    makes one, or "module:name"; a transformers model or its folder is X-rayed layer by layer
    (`headwright.probes.models.xray_model`). `expect` is what a token should see: full, causal,
    window=W, prefix=P or documents. `shape` is tokens and width where they are not to be found by
    trying. `scale` is the factor of the logits where it is not 1 / sqrt(d) on purpose. `inputs` are
    captured ones: a safetensors file, or arrays by name. `timeout` is in seconds, for everything;
    `only` names the properties that are wanted.

    >>> def layer(q, k, v):
    ...     weights = np.exp(q @ np.swapaxes(k, -1, -2))
    ...     return weights / weights.sum(axis=-1, keepdims=True) @ v
    >>> hw.xray(layer, only="pattern").pattern
    'full'
    """
    if is_model(layer):
        from headwright.probes.models import xray_model

        # The usual limit is for one layer.
        limit = None if timeout == SECONDS else timeout
        return xray_model(layer, expect=expect, dtype=dtype, seed=seed, timeout=limit, only=only)
    names = wanted_properties(only)
    meant = intent(expect)
    factor = None if scale is None else number("scale", scale)
    seconds = float("inf") if timeout is None else number("timeout", timeout, low=1e-3)
    deadline = time.monotonic() + seconds
    try:
        found = layer_of(layer, shape=shape, dtype=dtype, inputs=inputs, deadline=deadline)
    except OutOfTime:
        raise InputError(
            wanted=f"a first answer of the layer within {seconds:g} s",
            got="none",
            attempt=f"--timeout {10 * seconds:g}, or --shape with smaller sizes",
        ) from None
    exam = Examination(found, meant, scale=factor, seed=seed)
    file = str(inputs) if isinstance(inputs, (str, Path)) else ""
    said = str(meant) if meant else ""
    asked = Asked(source_of(layer), said, shape, dtype, file, seed)
    return record_of(exam, names, asked)


def is_model(layer: Any) -> bool:
    """A transformers model, or where one lies."""
    if isinstance(layer, (str, Path)):
        return ":" not in str(layer) or Path(layer).exists()
    library = sys.modules.get("transformers")
    return library is not None and isinstance(layer, library.PreTrainedModel)


def source_of(layer: Any) -> str:
    """`module:name` of a function or a class that an import finds again; empty for anything
    else."""
    if isinstance(layer, str):
        return layer
    module = getattr(layer, "__module__", None) or ""
    name = getattr(layer, "__qualname__", "")
    thing = sys.modules.get(module) if module != "__main__" else None
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return f"{module}:{name}" if name and thing is layer else ""
