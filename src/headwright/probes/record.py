"""What an X-ray returns: a finding per property, and the whole table.

A finding is "holds" where the difference is explained by rounding, "broken" where it is far above
it and a counterexample shows it, "unclear" between the two or where a probe could not have seen the
break, "not applicable" where the layer has nothing of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwright.types import Bool

HOLDS = "holds"
BROKEN = "broken"
UNCLEAR = "unclear"
NOT_APPLICABLE = "not applicable"

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

    `script` is Python that reproduces it, given the names that the file's head defines: `layer`,
    `run` (see `script.py`), `np`; it ends in an `assert` that fails while the layer is broken.
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
class XRay:
    """What is true of a layer. `holds` unless something that was expected is broken;
    `depends[i, j]` tells whether output i moves with token j."""

    layer: str
    form: str
    properties: tuple[Finding, ...]
    group: str
    pattern: str
    holds: bool
    depends: Bool[object, "n m"] | None = None

    def __getitem__(self, name: str) -> Finding:
        return next(finding for finding in self.properties if finding.name == name)

    @property
    def broken(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.properties if finding.status == BROKEN)
