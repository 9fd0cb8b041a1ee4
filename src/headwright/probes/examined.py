"""The question itself: every probe in turn, and the table of what was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headwright.probes.agreement import determinism
from headwright.probes.examination import Examination
from headwright.probes.intent import intent
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.layer import OutOfTime, Refusal
from headwright.probes.record import BROKEN, UNCLEAR, Finding, XRay

Probe = Callable[[Examination], Finding]

PROBES: dict[str, Probe] = {
    determinism.NAME: determinism.probe,
}


def xray(
    layer: Any,
    *,
    expect: str | None = None,
    shape: tuple[int, int] | None = None,
    dtype: str | None = None,
    seed: int = 0,
) -> XRay:
    """What is true of this attention layer? Found by running it."""
    found = layer_of(layer, shape=shape, dtype=dtype)
    exam = Examination(found, intent(expect), seed=seed)
    findings = tuple(_found(name, probe, exam) for name, probe in PROBES.items())
    holds = not any(finding.status == BROKEN for finding in findings)
    return XRay(found.name, found.form, findings, "", "", holds)


def _found(name: str, probe: Probe, exam: Examination) -> Finding:
    try:
        return probe(exam)
    except OutOfTime:
        return Finding(name, UNCLEAR, "the time allowed was over before this was tried")
    except Refusal as reason:
        return Finding(name, UNCLEAR, f"the layer did not answer: {reason}")
