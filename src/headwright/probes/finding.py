"""One row of the table: a property, whether it holds, and the smallest input that shows a break.

A finding is "holds" where the difference is explained by rounding, "broken" where it is far above
it and a counterexample shows it, "unclear" between the two or where a probe could not have seen the
break, "not applicable" where the layer has nothing of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass

HOLDS = "holds"
BROKEN = "broken"
UNCLEAR = "unclear"
NOT_APPLICABLE = "not applicable"
STATUSES = (BROKEN, UNCLEAR, HOLDS, NOT_APPLICABLE)

# In the order of the table, by their names in JSON: what is asked of the layer.
MEANINGS = {
    "paths": "the layer agrees with itself, whichever way it is called",
    "distribution": "weights are at least 0 and sum to 1",
    "pattern": "which tokens an output depends on",
    "permutation": "which tokens may change places",
    "shift": "the same text at other positions",
    "padding": "the same text padded left or right",
    "batch": "the same text alone and among others",
    "cache": "step by step and in one pass",
    "history": "the same answer after other calls",
    "heads": "which query head reads which key head",
    "numbers": "the error against exact arithmetic",
    "gradients": "derivatives against differences",
    "determinism": "the same input, the same output",
}
PROPERTIES = tuple(MEANINGS)


def size(difference: float) -> str:
    """Two digits, as a reader would write them: 180, 0.023, 3e-07."""
    return f"{float(f'{difference:.2g}'):g}"


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
    Python that opens a model, and picks the layer where one is meant."""

    source: str = ""
    expect: str = ""
    shape: tuple[int, int] | None = None
    dtype: str | None = None
    inputs: str = ""
    seed: int = 0
    made: str = ""
