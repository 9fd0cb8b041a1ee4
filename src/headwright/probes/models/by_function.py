"""What is asked of the attention function inside a layer rather than of the layer: whether weights
are a distribution, which head reads which, and how exact the numbers are.

Layers of one class with the same sizes and words call the same function: it is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headwright.probes.examination import Examination
from headwright.probes.examined import record_of
from headwright.probes.intent import Intent
from headwright.probes.layer.calling import Caller
from headwright.probes.layer.function import AttentionFunction
from headwright.probes.layer.layer import Refusal
from headwright.probes.models.attending import attending_layer
from headwright.probes.models.intents import has_sinks
from headwright.probes.models.parts import Opened, function_line
from headwright.probes.models.recording.calls import Place
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Asked, Finding

DISTRIBUTION = "distribution"
NAMES = (DISTRIBUTION, "heads", "numbers")


@dataclass
class ByFunction:
    """`known`: by class, sizes and words of the function."""

    seed: int
    deadline: float
    known: dict[Any, tuple[Finding, ...]] = field(default_factory=dict)

    def findings(
        self, opened: Opened, place: Place, expect: Intent | None, names: Sequence[str]
    ) -> tuple[Finding, ...]:
        """Empty where the layer's attention is code of its own."""
        try:
            layer = attending_layer(place, opened.calls, opened.tokens)
        except Refusal:
            return ()
        told = layer.function.told(1, opened.tokens)
        kind = (type(place.module), opened.implementation, str(told.shapes), told.scale)
        own = place.name if told.is_own else ""
        key = (*kind, own, told.words.get("softcap"), str(expect), tuple(names))
        if key not in self.known:
            self.known[key] = self._asked(opened, place, layer, expect, names)
        return self.known[key]

    def _asked(
        self,
        opened: Opened,
        place: Place,
        layer: AttentionFunction,
        expect: Intent | None,
        names: Sequence[str],
    ) -> tuple[Finding, ...]:
        scale = layer.function.told(1, opened.tokens).scale
        line = function_line(opened.stack.name, place.index, opened.implementation)
        found = []
        for name in names:
            subject: Any = layer if name == "heads" else _with_equal_heads(layer)
            subject = replace(subject, caller=Caller(self.deadline))
            exam = Examination(subject, expect, scale=scale, seed=self.seed)
            for finding in record_of(exam, [name], Asked()).properties:
                told = _with_line(finding, line)
                found.append(_explained(told, place, opened.implementation, subject.dtype))
        return tuple(found)


def _with_equal_heads(layer: AttentionFunction) -> AttentionFunction:
    """A key head for every query head, which the function takes as well."""
    if layer.sizes.key_heads is None:
        return layer
    return replace(layer, sizes=replace(layer.sizes, heads=layer.sizes.key_heads, key_heads=None))


def _with_line(finding: Finding, line: str) -> Finding:
    shown = finding.counterexample
    if shown is None:
        return finding
    return replace(finding, counterexample=replace(shown, script=f"{line}\n{shown.script}"))


def _explained(finding: Finding, place: Place, implementation: str, dtype: str) -> Finding:
    """A sink takes its share of the weights on purpose; eager code multiplies queries and keys in
    the model's dtype, whose range is its own affair."""
    overflows = finding.name == "numbers" and dtype == "float16" and implementation == "eager"
    if overflows and finding.status == BROKEN and "NaN" in finding.evidence:
        words = f"{finding.evidence}: float16 ends at 65504, which texts may never reach"
        return replace(finding, status=UNCLEAR, evidence=words, counterexample=None)
    if finding.name == DISTRIBUTION and finding.status == BROKEN and has_sinks(place.module):
        words = f"{finding.evidence} The layer has sinks, which take their share, as intended"
        return Finding(DISTRIBUTION, HOLDS, words)
    return finding
