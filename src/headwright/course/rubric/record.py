"""What a rubric says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")
# Of the points, by status. What was not read is missing here: a person decides.
SHARES = {"correct": 1.0, "incomplete": 0.5, "wrong": 0.0, "missing": 0.0}


@dataclass(frozen=True)
class Fault:
    """What a student is told about a certain mistake, and what is left of the points."""

    says: str  # a regular expression that the verdict's reason contains
    text: str
    share: float | None = None


@dataclass(frozen=True)
class Worth:
    """One question: its points, the share of them for each status, the share that right steps earn
    where the answer itself is wrong."""

    points: float
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    steps: float = 0.0
    visibility: str = "visible"
    texts: Mapping[str, str] = field(default_factory=dict)  # by status
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Override:
    """Points that a person gave, with the reason; no rerun changes them."""

    student: str
    question: str
    points: float
    reason: str
    line: int = 0


@dataclass(frozen=True)
class Rubric:
    """`questions` by id, in the order of the bank. `all_count`: each of them counts in every
    hand-in; otherwise those do that the handout asked. `digest` tells one rubric from another."""

    title: str
    questions: Mapping[str, Worth]
    all_count: bool = True
    overrides: tuple[Override, ...] = ()
    digest: str = ""

    @property
    def max_points(self) -> float:
        return sum(worth.points for worth in self.questions.values())
