"""Every probe in turn on one layer, and the table of what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from headwright.errors import InputError
from headwright.probes.agreement import batch, cache, determinism, history, padding, paths
from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Layer, OutOfTime, Refusal
from headwright.probes.layer.mode import one_thread
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
    cache.NAME: cache.probe,
    pattern.NAME: pattern.probe,
    permutation.NAME: permutation.probe,
    shift.NAME: shift.probe,
    heads.NAME: heads.probe,
    distribution.NAME: distribution.probe,
    numbers.NAME: numbers.probe,
    gradients.NAME: gradients.probe,
}
_RANDOM = "the layer is random; see determinism"
_KEEPS = "it keeps something from earlier calls: see history first"


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


def _findings(exam: Examination, names: Sequence[str]) -> dict[str, Finding]:
    """What is random is looked at first, also where it was not asked for: nothing else can be told
    of such a layer."""
    chance = _found(determinism.NAME, determinism.probe, exam)
    is_random = chance.status == BROKEN
    findings = {determinism.NAME: chance} if determinism.NAME in names else {}
    with one_thread():
        for name, probe in PROBES.items():
            if name in names and name not in findings:
                told = Finding(name, UNCLEAR, _RANDOM) if is_random else _found(name, probe, exam)
                findings[name] = _with_doubt(told, findings)
    return findings


def _with_doubt(told: Finding, before: dict[str, Finding]) -> Finding:
    """A layer that keeps something may break anything, and a script of a few calls may not
    repeat it."""
    keeps = history.NAME in before and before[history.NAME].status == BROKEN
    if not keeps or told.status != BROKEN:
        return told
    return replace(told, evidence=f"{told.evidence} ({_KEEPS})")


def _found(name: str, probe: Probe, exam: Examination) -> Finding:
    try:
        return probe(exam)
    except OutOfTime:
        return Finding(name, UNCLEAR, "the time limit was reached before this was tried")
    except Refusal as reason:
        return Finding(name, UNCLEAR, f"the layer did not answer: {reason}")
    # A layer that nobody thought of must not cost the rest of the table.
    except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
        words = f"{type(fault).__name__}: {fault}".partition("\n")[0]
        return Finding(
            name,
            UNCLEAR,
            f"this probe failed on the layer, which is a fault of headwright ({words})",
        )


def _notes(layer: Layer) -> tuple[str, ...]:
    """What a caller of the layer should know besides."""
    caller = getattr(layer, "caller", None)
    wrote = caller is not None and caller.wrote
    return ("It writes into the arrays it is given.",) if wrote else ()
