"""Segments as they grow: prose is collected until its paragraph ends, a label waits for the segment
it belongs to, switches say whose words they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from headwright.homework import limits
from headwright.homework.reading.document import Kind, Segment, Voice
from headwright.homework.reading.markup.switches import ANSWER_STEP, STRUCK_STEP, SWITCH
from headwright.homework.reading.segments.line_numbers import LineNumbers
from headwright.homework.reading.traced_text import TracedText

NOTHING_TO_READ = re.compile(r"[\s*_#>|~`]*")


@dataclass
class SegmentBuilder:
    line_numbers: LineNumbers
    done: list[Segment] = field(default_factory=list)
    waiting: list[TracedText] = field(default_factory=list)  # prose of the paragraph so far
    label: str | None = None  # found, not yet given to a segment
    label_at: TracedText | None = None
    # Of what is being collected: is it a heading, quoted, how deep in strikes and answers
    heading: bool = False
    quote: bool = False
    struck: int = 0
    answer: int = 0
    paragraph: int = 0
    wrapped_from: int = 0  # the number of segments when the outermost answer was opened

    def collect(self, prose: TracedText) -> None:
        """Switches in prose change the state and end the stretch they stand in."""
        reached = 0
        for match in SWITCH.finditer(prose.text):
            self.waiting.append(prose.cut(reached, match.start()))
            self.end_stretch()
            self.switch(match.group(), prose.span(*match.span()))
            reached = match.end()
        self.waiting.append(prose.since(reached))

    @property
    def last_words(self) -> str:
        """The end of what waits: the last line that says anything."""
        said = (prose.text for prose in reversed(self.waiting) if prose.text.strip())
        return next(said, "")

    def switch(self, character: str, place: tuple[int, int]) -> None:
        self.struck = max(0, self.struck + STRUCK_STEP.get(character, 0))
        step = ANSWER_STEP.get(character, 0)
        if step > 0 and not self.answer:
            self.wrapped_from = len(self.done)
        elif step < 0 and self.answer == 1 and len(self.done) == self.wrapped_from:
            self._add_hole(place)
        self.answer = max(0, self.answer + step)

    def _add_hole(self, place: tuple[int, int]) -> None:
        """A wrapper without an answer in it is a segment that says nothing."""
        if self.label is not None:
            self.add_lone_label()
        self.paragraph += 1
        self.add("prose", TracedText.of(""), place=place)
        self.paragraph += 1

    def end_stretch(self) -> None:
        """What waits becomes a segment, unless it says nothing."""
        prose = TracedText.join(self.waiting).strip()
        self.waiting = []
        if not NOTHING_TO_READ.fullmatch(prose.text):
            self.add("heading" if self.heading else "prose", prose)

    def end_paragraph(self) -> None:
        self.end_stretch()
        self.paragraph += 1

    def take_label(self, label: str, at: TracedText) -> None:
        """Keep a label for the segment to come; one that still waits stood alone."""
        if self.label is not None:
            self.add_lone_label()
        self.label = label
        self.label_at = at

    def add_lone_label(self) -> None:
        """A label with nothing behind it is a heading of its own."""
        if self.label_at is not None:
            place = self.label_at.span(0, len(self.label_at))
            self.add("heading", self.label_at.cut(0, 0), place=place)
        self.paragraph += 1

    def add(
        self,
        kind: Kind,
        text: TracedText,
        *,
        display: bool = False,
        struck: bool = False,
        place: tuple[int, int] | None = None,
    ) -> None:
        if len(self.done) >= limits.MOST_SEGMENTS:
            raise limits.LimitReached(
                f"it has more than {limits.MOST_SEGMENTS:,} formulas and paragraphs"
            )
        start, end = place or text.span(0, len(text))
        segment = Segment(
            kind,
            text.text,
            start,
            end,
            line_start=self.line_numbers.at(start),
            line_end=self.line_numbers.at(max(start, end - 1)),
            display=display,
            struck=struck or self.struck > 0,
            label=self.label,
            voice=self._voice(),
            paragraph=self.paragraph,
            trace=text,
        )
        self.done.append(segment)
        self.label = None
        self.label_at = None

    def _voice(self) -> Voice:
        if self.answer:
            return "answer"
        return "quote" if self.quote else ""

    def finished(self) -> list[Segment]:
        self.end_stretch()
        if self.label is not None:
            self.add_lone_label()
        return _in_order(self.done)


def _in_order(segments: list[Segment]) -> list[Segment]:
    """Spans grow and do not overlap, also where a macro wrote several segments from one call."""
    out: list[Segment] = []
    reached = 0
    for segment in segments:
        start = max(segment.start, reached)
        end = max(segment.end, start)
        if (start, end) != (segment.start, segment.end):
            segment = replace(segment, start=start, end=end)
        out.append(segment)
        reached = end
    return out
