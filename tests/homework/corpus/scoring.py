"""Counting: what was judged as a careful grader would, what was left unread, what was misjudged."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from .answers import Answer
from .documents import Written

# Queries with which c does not stay near the average, whatever is claimed of it: both heads swing
# together, look at one key, or lean to it.
_NO_AVERAGE = frozenset({"equal_heads", "same_mean_twice", "sum_and_difference"})


@dataclass
class Score:
    """Totals over formula answers, and every misjudgement with what led to it."""

    agreed: int = 0
    unread: int = 0
    misjudged: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.agreed + self.unread + len(self.misjudged)

    @property
    def read_share(self) -> float:
        return self.agreed / max(1, self.total)

    @property
    def misjudged_share(self) -> float:
        return len(self.misjudged) / max(1, self.total)

    def count(self, written: Written, statuses: dict[str, str]) -> None:
        for question, answer in written.answers.items():
            self._one(written, question, answer, statuses.get(question, "missing"))

    def _one(self, written: Written, question: str, answer: Answer, status: str) -> None:
        student = (
            f"{written.name} [{written.layout}, {written.tongue}, {written.notation.spelling}]"
        )
        what = f"{student} {question} {answer.name}: {status}"
        if status in ("unread", "missing"):
            # An answer in words counts only where somebody dared to judge it.
            self.unread += answer.formula
            if answer.formula:
                self.silent.append(what)
        elif status in _deserved(question, answer, written):
            self.agreed += answer.formula
        else:
            deserved = "/".join(sorted(_deserved(question, answer, written)))
            self.misjudged.append(f"{what}, deserves {deserved}")


def _deserved(question: str, answer: Answer, written: Written) -> Collection[str]:
    """A claim about two heads is held against the student's own queries."""
    queries = written.answers.get("d.q")
    fails = queries is not None and queries.name in _NO_AVERAGE
    return {"wrong"} if question == "d.var" and fails else answer.deserves


def score(results: Iterable[tuple[Written, dict[str, str]]]) -> Score:
    total = Score()
    for written, statuses in results:
        total.count(written, statuses)
    return total
