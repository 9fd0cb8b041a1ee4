"""The question itself: every probe in turn, and the table of what was found."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.inputs import number
from headwright.probes.agreement import batch, determinism, history, padding, paths
from headwright.probes.examination import Examination
from headwright.probes.intent import Intent, intent
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.layer import Layer, OutOfTime, Refusal
from headwright.probes.numerics import numbers
from headwright.probes.numerics.gradients import probe as gradients
from headwright.probes.record import BROKEN, PROPERTIES, UNCLEAR, Asked, Finding, XRay
from headwright.probes.structure import distribution, heads, pattern, permutation, shift

Probe = Callable[[Examination], Finding]

# In the order in which they run; the table has the order of PROPERTIES. A random layer has no other
# property that could be told, and what a layer keeps from earlier calls is seen best before there
# are many of them.
PROBES: dict[str, Probe] = {
    determinism.NAME: determinism.probe,
    history.NAME: history.probe,
    paths.NAME: paths.probe,
    padding.NAME: padding.probe,
    batch.NAME: batch.probe,
    pattern.NAME: pattern.probe,
    permutation.NAME: permutation.probe,
    shift.NAME: shift.probe,
    heads.NAME: heads.probe,
    distribution.NAME: distribution.probe,
    numbers.NAME: numbers.probe,
    gradients.NAME: gradients.probe,
}
SECONDS = 60.0
_RANDOM = "the layer is random; see determinism"


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
    trying.
    `scale` is the factor of the logits where it is not 1 / sqrt(d) on purpose. `inputs` are
    captured ones: a safetensors file, or arrays by name. `timeout` is in seconds, for everything;
    `only` names the properties that are wanted.
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


def record_of(exam: Examination, names: Sequence[str], asked: Asked) -> XRay:
    """The probes of these names on one layer, and the whole record."""
    findings = _findings(exam, names)
    ordered = tuple(findings[name] for name in PROPERTIES if name in findings)
    layer = exam.layer
    depends = exam.depends
    meant = None if exam.expect is None or depends is None else exam.expect.sees(*depends.shape)
    return XRay(
        layer=layer.name,
        form=layer.form,
        properties=ordered,
        group=exam.group,
        pattern=exam.pattern,
        holds=not any(finding.status == BROKEN for finding in ordered),
        depends=depends,
        wanted=meant,
        blocks=exam.blocks,
        dtype=layer.dtype,
        tokens=layer.sizes.tokens,
        width=layer.sizes.width,
        notes=_notes(layer),
        asked=asked,
    )


def wanted_properties(only: str | Sequence[str] | None) -> tuple[str, ...]:
    """All of them, or those named: "pattern,cache" or a list."""
    if only is None:
        return PROPERTIES
    names = tuple(only.split(",")) if isinstance(only, str) else tuple(only)
    unknown = [name for name in names if name not in PROPERTIES]
    if unknown or not names:
        got = repr(unknown[0]) if unknown else "none"
        known = ", ".join(PROPERTIES)
        raise InputError(wanted=f"properties: {known}", got=got, attempt="only='pattern,cache'")
    return names


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


def _findings(exam: Examination, names: Sequence[str]) -> dict[str, Finding]:
    """What is random is looked at first, also where it was not asked for: nothing else can be told
    of such a layer."""
    chance = _found(determinism.NAME, determinism.probe, exam)
    is_random = chance.status == BROKEN
    findings = {determinism.NAME: chance} if determinism.NAME in names else {}
    for name, probe in PROBES.items():
        if name in names and name not in findings:
            told = Finding(name, UNCLEAR, _RANDOM) if is_random else _found(name, probe, exam)
            findings[name] = told
    return findings


def _found(name: str, probe: Probe, exam: Examination) -> Finding:
    try:
        return probe(exam)
    except OutOfTime:
        return Finding(name, UNCLEAR, "the time allowed was over before this was tried")
    except Refusal as reason:
        return Finding(name, UNCLEAR, f"the layer did not answer: {reason}")


def _notes(layer: Layer) -> tuple[str, ...]:
    """What a caller of the layer should know besides."""
    caller = getattr(layer, "caller", None)
    wrote = caller is not None and caller.wrote
    return ("It writes into the arrays it is given.",) if wrote else ()
