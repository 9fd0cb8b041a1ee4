"""What an X-ray returns: a finding per property, and the whole table.

A finding is "holds" where the difference is explained by rounding, "broken" where it is far above
it and a counterexample shows it, "unclear" between the two or where a probe could not have seen the
break, "not applicable" where the layer has nothing of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headwright.types import Bool

HOLDS = "holds"
BROKEN = "broken"
UNCLEAR = "unclear"
NOT_APPLICABLE = "not applicable"
STATUSES = (BROKEN, UNCLEAR, HOLDS, NOT_APPLICABLE)

# The order of the table, and the names in JSON.
PROPERTIES = (
    "paths",
    "distribution",
    "pattern",
    "permutation",
    "shift",
    "padding",
    "batch",
    "cache",
    "history",
    "heads",
    "numbers",
    "gradients",
    "determinism",
)


@dataclass(frozen=True)
class Counterexample:
    """The smallest input that shows a break.

    `script` is Python that reproduces it, given the names that the file's head defines (see
    `script.py`): `layer`, `np`, `Inputs`, `Options`, `Sizes`; it ends in an `assert` that fails
    while the layer is broken.
    """

    words: str  # one sentence: what was done, and what happened
    script: str
    difference: float
    rounding: float  # what rounding explains, in the same units


@dataclass(frozen=True)
class Finding:
    """One row of the table."""

    name: str
    status: str
    evidence: str
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class Asked:
    """How the X-ray was asked for: what a script needs to repeat it. `source` is `module:name`,
    empty for an object that no import finds; `inputs` is the file of captured inputs; `made` is the
    Python that makes a part of a model."""

    source: str = ""
    expect: str = ""
    shape: tuple[int, int] | None = None
    dtype: str | None = None
    inputs: str = ""
    seed: int = 0
    made: str = ""


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


@dataclass(frozen=True)
class Part:
    """One layer of a model, or one of its stacks as a whole, in one implementation of attention.
    `layer` counts from 0 in its stack and is None for the whole of it."""

    stack: str
    layer: int | None
    implementation: str
    record: XRay
