"""Documents as different students would write them, graded by hand: files in `documents`, grades
in `expected.toml`, and in `known_failures.toml` what is still misjudged and why."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = Path(__file__).parent / "documents"
_ABOUT_THE_DOCUMENT = ("language", "year")
_FAULTY = {"wrong", "incomplete"}
_SILENT = {"unread", "missing"}


@dataclass(frozen=True)
class Grade:
    """What a careful grader says about one answer, and what kind of answer it is."""

    document: str
    question: str
    verdict: str
    kind: str

    @property
    def name(self) -> str:
        return f"{self.document} {self.question}"

    def outcome(self, status: str) -> str:
        """Silence is never a misjudgement; of two faulty answers the degree is not counted."""
        if self.verdict == status or {self.verdict, status} <= _FAULTY:
            return "right"
        return "unread" if status in _SILENT else "misjudged"


@dataclass(frozen=True)
class Outcome:
    grade: Grade
    status: str

    @property
    def found(self) -> str:
        return self.grade.outcome(self.status)


def grades() -> list[Grade]:
    out = []
    for document, table in _expected().items():
        for question, graded in table.items():
            if question not in _ABOUT_THE_DOCUMENT:
                verdict, kind = graded.split()
                out.append(Grade(document, question, verdict, kind))
    return out


def languages() -> Counter[str]:
    return Counter(table["language"] for table in _expected().values())


def known_failures() -> dict[str, str]:
    """The reason of each, by document and question."""
    return _read("known_failures.toml")


def outcomes(statuses: dict[tuple[str, str], str]) -> list[Outcome]:
    """A question that is not in the report was not read."""
    out = []
    for grade in grades():
        status = statuses.get((grade.document, grade.question), "unread")
        out.append(Outcome(grade, status))
    return out


def share_right(kind: str, found: Iterable[Outcome]) -> float:
    of_this_kind = [outcome.found for outcome in found if outcome.grade.kind == kind]
    return of_this_kind.count("right") / len(of_this_kind)


def _expected() -> dict[str, dict[str, str]]:
    return _read("expected.toml")


def _read(name: str) -> dict:
    return tomllib.loads((DOCUMENTS / name).read_text("utf-8"))
