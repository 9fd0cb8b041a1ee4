"""The handout's text in blocks, each with what is written under it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwright.homework.locating.silent import is_silent
from headwright.homework.reading.document import Segment
from headwright.homework.reading.label_parts import has_part_letter
from headwright.homework.reading.segments.asking import ASKING, act_of
from headwright.homework.reading.segments.sentences import Sentence, sentences
from headwright.homework.reading.segments.who_speaks import items

_MOST_READ = 4000  # characters of one question


@dataclass(frozen=True)
class Block:
    """A stretch of the handout with what is written under it; `asks` where one of its sentences
    does, otherwise it sets the scene. `opens`: it stands first behind its label."""

    segments: tuple[int, ...]
    answer: tuple[int, ...]
    text: str
    asks: bool
    announced: bool
    label: str | None
    item: int
    opens: bool


def blocks_of(segments: Sequence[Segment]) -> Iterator[Block]:
    numbered = iter(enumerate(segments))
    for number, item in enumerate(items(segments)):
        own = list(itertools.islice(numbered, len(item)))
        runs = list(_runs(own))
        titled = item[0].kind == "heading" and item[0].voice != "answer"
        if not runs and (titled or has_part_letter(item[0].label)):
            # It asks nothing, but its title and the letter of its part tell where we are
            title = item[0].text if titled else ""
            yield Block((own[0][0],), (), title, False, False, item[0].label, number, True)
        opens = True
        for run in runs:
            paragraphs = list(_paragraphs([segments[k] for k in run.asking], run.asking))
            for place, (part, spoken) in enumerate(paragraphs):
                is_last = place + 1 == len(paragraphs)
                announced = is_last and run.announced
                yield Block(
                    segments=part,
                    answer=run.behind if is_last else (),
                    text=_said(spoken),
                    asks=announced or _asks(spoken),
                    announced=announced,
                    label=item[0].label,
                    item=number,
                    opens=opens,
                )
                opens = False


@dataclass(frozen=True)
class _Run:
    """Segments of one item in which the handout speaks, those behind them that answer, and whether
    the document itself says that an answer belongs there."""

    asking: tuple[int, ...]
    behind: tuple[int, ...]
    announced: bool


def _runs(item: list[tuple[int, Segment]]) -> Iterator[_Run]:
    spoken = [(k, segment) for k, segment in item if segment.kind != "heading"]
    runs = [
        (asks, list(run))
        for asks, run in itertools.groupby(spoken, lambda pair: pair[1].voice == "question")
    ]
    runs.append((False, []))
    for (asks, run), (_, behind) in itertools.pairwise(runs):
        if asks:
            asking = tuple(k for k, _ in run)
            answer = tuple(k for k, segment in behind if not is_silent(segment))
            yield _Run(asking, answer, any(segment.voice == "answer" for _, segment in behind))


def _paragraphs(
    said: list[Segment], numbers: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], list[Sentence]]]:
    """The paragraphs of a run, each up to one that asks: several may be asked together."""
    waiting: list[int] = []
    spoken: list[Sentence] = []
    for _, group in itertools.groupby(zip(numbers, said, strict=True), lambda p: p[1].paragraph):
        pairs = list(group)
        waiting += [k for k, _ in pairs]
        spoken += sentences([segment for _, segment in pairs])
        if _asks(spoken):
            yield tuple(waiting), spoken
            waiting = []
            spoken = []
    if waiting:
        yield tuple(waiting), spoken


def _said(spoken: list[Sentence]) -> str:
    return " ".join(sentence.text for sentence in spoken)[:_MOST_READ]


def _asks(spoken: list[Sentence]) -> bool:
    return any(act_of(sentence) in ASKING for sentence in spoken)
