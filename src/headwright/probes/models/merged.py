"""One table for a model from those of its layers and of the model as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    PROPERTIES,
    STATUSES,
    UNCLEAR,
    Asked,
    Counterexample,
    Finding,
    Part,
    XRay,
)

_PATTERN = "pattern"
_SHOWN = 3  # parts that are named


def merged(name: str, parts: Sequence[Part], notes: Sequence[str], asked: Asked) -> XRay:
    layers = [part for part in parts if part.layer is not None]
    findings = tuple(_finding(name, parts) for name in PROPERTIES if _having(name, parts))
    whole = [part for part in parts if part.layer is None] or layers
    first = whole[0].record if whole else None
    return XRay(
        layer=name,
        form="model",
        properties=findings,
        group=_counted([part.record.group for part in layers], "layers"),
        pattern=_counted([part.record.pattern for part in layers], "layers"),
        holds=not any(finding.status == BROKEN for finding in findings),
        depends=first.depends if first else None,
        wanted=first.wanted if first else None,
        blocks=first.blocks if first else (),
        dtype=first.dtype if first else "",
        tokens=first.tokens if first else 0,
        width=first.width if first else 0,
        notes=tuple(notes),
        asked=asked,
        parts=tuple(parts),
    )


def part_name(part: Part) -> str:
    """In words: "layer 3 in sdpa", "encoder layer 0 in eager", "the whole model in eager"."""
    stack = "" if part.stack == "model" else f"{part.stack} "
    if part.layer is None:
        return f"the whole {stack or 'model '}in {part.implementation}"
    return f"{stack}layer {part.layer} in {part.implementation}"


def _having(name: str, parts: Sequence[Part]) -> list[tuple[Part, Finding]]:
    return [
        (part, finding)
        for part in parts
        for finding in part.record.properties
        if finding.name == name
    ]


def _finding(name: str, parts: Sequence[Part]) -> Finding:
    """The worst status decides; what does not apply to a part says nothing about the others."""
    having = _having(name, parts)
    by_status = {s: [pair for pair in having if pair[1].status == s] for s in STATUSES}
    status = next(s for s in STATUSES if by_status[s])
    those = by_status[status]
    first_part, first = those[0]
    if status == NOT_APPLICABLE:
        return Finding(name, status, first.evidence)

    applies = len(having) - len(by_status[NOT_APPLICABLE])
    named = ", ".join(part_name(part) for part, _ in those[:_SHOWN])
    more = f" and {len(those) - _SHOWN} more" if len(those) > _SHOWN else ""
    if status in (BROKEN, UNCLEAR):
        counts = f"{status} in {len(those)} of {applies}: {named}{more}"
        evidence = f"{counts}. {_capital(part_name(first_part))}: {first.evidence}"
        return Finding(name, status, evidence, _prefixed(first.counterexample, first_part))
    layers = sum(part.layer is not None for part, _ in those)
    where = [f"{layers} of the layers probed"] if layers else []
    where += [part_name(part) for part, _ in those if part.layer is None]
    if name == _PATTERN and layers:
        patterns = [part.record.pattern for part, _ in those if part.layer is not None]
        where[0] = _counted(patterns, "layers")
    return Finding(name, HOLDS, f"{_joined(where)}. {_capital(part_name(first_part))}: "
                   f"{first.evidence}")  # fmt: skip


def _counted(names: Sequence[str], noun: str) -> str:
    """ "causal in 30 of 30 layers"."""
    counts = Counter(name for name in names if name)
    return ", ".join(f"{name} in {n} of {len(names)} {noun}" for name, n in counts.most_common())


def _prefixed(example: Counterexample | None, part: Part) -> Counterexample | None:
    """With the line that makes the layer out of the model."""
    if example is None or not part.record.asked.made:
        return example
    if example.script.startswith("layer = "):
        return example  # it makes its own
    line = part.record.asked.made.splitlines()[-1]
    return replace(example, script=f"{line}\n{example.script}")


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
