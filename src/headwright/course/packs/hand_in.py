"""One hand-in, judged within what a platform allows: one worker, half a processor, little memory,
and an answer before the student has lost patience."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headwright.errors import InputError
from headwright.exercise.bank import Bank
from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import Source, printable, sources
from headwright.homework.verdict import Report, unreadable

_MOST_NAMED = 5
_TIME_IS_UP = "the other documents of this hand-in took all the time there is; a person reads it"


@dataclass(frozen=True)
class Limits:
    """Of one hand-in. A document that is not made to be slow takes a tenth of a second."""

    seconds: float = 9.5  # for all documents, as the student's clock shows them
    processor_share: float = 0.5
    document_seconds: float = 3.0  # of processor time
    least_seconds: float = 0.3  # of processor time, to begin at all
    memory: int = 300_000_000  # bytes of the worker, beyond what it starts with


def documents(folder: Path) -> list[Source]:
    """The documents in the folder, named as the student knows them; none is an empty list."""
    try:
        found = sources([folder])
    except InputError:
        return []
    return [replace(one, name=_below(folder, one.path)) for one in found]


def left_out(folder: Path, taken: Sequence[Source]) -> list[str]:
    """The names of files that are no documents: nobody looks at them."""
    known = {source.path for source in taken}
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path not in known)
    names = [_below(folder, path) for path in files if not _is_debris(path)]
    more = len(names) - _MOST_NAMED
    return [*names[:_MOST_NAMED], f"and {more} more"] if more > 0 else names


def judged(taken: Sequence[Source], bank: Bank, limits: Limits | None = None) -> Iterator[Report]:
    """A report on every document, in order; those for which no time is left are unread."""
    allowed = limits or Limits()
    end = time.monotonic() + allowed.seconds
    for source in taken:
        left = (end - time.monotonic()) * allowed.processor_share
        if left < allowed.least_seconds:
            yield unreadable(source.name, _TIME_IS_UP)
            continue
        seconds = round(min(left, allowed.document_seconds), 1)
        judging = judge_many([source], bank, workers=1, seconds=seconds, memory=allowed.memory)
        yield from (outcome.report for outcome in judging)


def _is_debris(path: Path) -> bool:
    """What systems leave in folders by themselves."""
    return path.name.startswith(".") or "__MACOSX" in path.parts


def _below(folder: Path, path: Path | None) -> str:
    return printable(path.relative_to(folder)) if path is not None else ""
