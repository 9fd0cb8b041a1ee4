"""What an X-ray returns: the whole table, and what can be drawn of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.probes.finding import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    PROPERTIES,
    STATUSES,
    UNCLEAR,
    Asked,
    Counterexample,
    Finding,
)
from headwright.probes.page import document, notebook
from headwright.probes.script import script
from headwright.types import Bool

__all__ = [
    "BROKEN", "HOLDS", "NOT_APPLICABLE", "PROPERTIES", "STATUSES", "UNCLEAR", "Asked",
    "Counterexample", "Finding", "Part", "XRay",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class XRay:
    """What is true of a layer. `holds` unless something that was expected is broken;
    `depends[i, j]` tells whether output i moves with token j, `wanted[i, j]` whether it should, and
    tokens of one of the `blocks` may change places."""

    layer: str
    form: str
    properties: tuple[Finding, ...]
    group: str
    pattern: str
    holds: bool
    depends: Bool[np.ndarray, "n m"] | None = None
    wanted: Bool[np.ndarray, "n m"] | None = None
    blocks: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    tokens: int = 0
    width: int = 0
    notes: tuple[str, ...] = ()
    asked: Asked = field(default_factory=Asked)
    parts: tuple[Part, ...] = ()  # of a model: its layers, and the model as a whole

    def __getitem__(self, name: str) -> Finding:
        for finding in self.properties:
            if finding.name == name:
                return finding
        known = ", ".join(finding.name for finding in self.properties)
        raise KeyError(f"no property {name!r} was examined; there are: {known}")

    @property
    def broken(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.properties if finding.status == BROKEN)

    def with_status(self, status: str) -> tuple[str, ...]:
        """The names of the properties that are so."""
        return tuple(finding.name for finding in self.properties if finding.status == status)

    def __repr__(self) -> str:
        counts = [f"{len(self.with_status(status))} {status}" for status in STATUSES]
        named = f" ({', '.join(self.with_status(BROKEN))})" if self.broken else ""
        counts[0] += named
        found = f", {self.pattern}" if self.pattern else ""
        return f"XRay of {self.layer}{found}: {', '.join(counts)}"

    def to_json(self) -> dict[str, Any]:
        """What `headwright xray --json` prints."""
        layers = {"layers": [part.to_json() for part in self.parts]} if self.parts else {}
        return {
            "layer": self.layer,
            "form": self.form,
            "dtype": self.dtype,
            "shape": [self.tokens, self.width],
            "expect": self.asked.expect or None,
            "properties": self.properties,
            "group": self.group,
            "pattern": self.pattern,
            "holds": self.holds,
            "depends": self.depends,
            "notes": self.notes,
            "seed": self.asked.seed,
        } | layers

    def script(self) -> str:
        """A Python file that fails while the layer is broken; empty where nothing is."""
        return script(self)

    def to_html(self) -> str:
        """One self-contained page, light and dark."""
        return document.page_of(self)

    def _repr_html_(self) -> str:
        """For a notebook: the table and the pictures."""
        return notebook.cell(self)

    def plot(self) -> Any:
        """What depends on what, as a figure of matplotlib."""
        from headwright.probes.figure import dependency_figure

        return dependency_figure(self)


@dataclass(frozen=True)
class Part:
    """One layer of a model, or one of its stacks as a whole, in one implementation of attention.
    `layer` counts from 0 in its stack and is None for the whole of it."""

    stack: str
    layer: int | None
    implementation: str
    record: XRay

    def to_json(self) -> dict[str, Any]:
        return {
            "stack": self.stack,
            "layer": self.layer,
            "implementation": self.implementation,
            "properties": self.record.properties,
            "group": self.record.group,
            "pattern": self.record.pattern,
            "holds": self.record.holds,
            "depends": self.record.depends,
        }
