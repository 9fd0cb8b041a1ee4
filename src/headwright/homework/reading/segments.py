"""From traced text to segments: lines, headings, labels, paragraphs, and the formulas between them.

The text alternates between gaps (prose, with line structure) and regions (formulas, code). Both are
fed in order to one assembler that knows whether it stands at the beginning of a line, because that
is where labels live.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from headwright.homework import limits
from headwright.homework.reading import labels
from headwright.homework.reading.document import Document, Kind, Lines, Segment, Voice
from headwright.homework.reading.macros import (
    ANSWER_OFF,
    ANSWER_ON,
    MARKS,
    STRUCK_OFF,
    STRUCK_ON,
    closing,
)
from headwright.homework.reading.regions import MATH_ENVIRONMENTS, Region, regions
from headwright.homework.reading.tex import TextMode
from headwright.homework.reading.traced import Traced
from headwright.homework.reading.voices import announces_answer, voiced

_PREFIX = re.compile(
    r"[ \t]*(?P<quote>(?:>[ \t]?)*)[ \t]*(?P<bullet>(?:[-*+•‣▪◦·●○|][ \t]+)?)"
    r"(?P<hashes>#{1,6}(?=[ \t(\w]))?[ \t]*(?P<stars>[*_]{0,3})"
)
_RULE = re.compile(r"[ \t]*(?:[-=_*~][ \t]*){3,}$")
_CUT = re.compile(r"\\(?:x|b|h|r)?cancel\s*(?=\{)")
_CANCEL_TO = re.compile(r"\\cancelto\s*\{([^{}]*)\}\s*(?=\{)")
_WRAPPED = re.compile(
    rf"\s*\\begin\{{(?P<name>(?:{MATH_ENVIRONMENTS}|split|aligned|gathered)\*?)\}}(?:\{{\d+\}})?(?P<inside>.*)\\end\{{(?P=name)\}}\s*",
    re.DOTALL,
)
_RELATION = re.compile(r"[=<>≈≫≪≤≥~∈→∼]|[_^]|[α-ωΑ-Ω]|\\[a-z]+|^\s*[A-Za-z]{1,12}\s*$")
_PROGRAM = re.compile(
    r"\b(?:import|def|return|print|np\.|torch\.|self|for \w+ in range|lambda)\b|[#;]\s*$|\w\[\d"
)
_SPACES = re.compile(r"^(?:\s|~|\\(?:quad|qquad|[ ,;:!])(?![A-Za-z]))+")
_NOTHING = re.compile(r"[\s*_#>|~`]*")


def segmented(name: str, text: str, source: Traced, *, tex: bool) -> Document:
    """`source` is what is left of `text` to read; offsets of segments point into `text`."""
    assembler = _Assembler(Lines.of(text))
    mode = TextMode() if tex else None
    at = 0
    for region in regions(source.text):
        gap = source.cut(at, region.start)
        assembler.prose(mode.plain(gap) if mode else gap)
        assembler.region(source, region)
        at = region.end
    gap = source.cut(at, len(source))
    assembler.prose(mode.plain(gap) if mode else gap)
    return Document(name, text, voiced(assembler.finished()))


@dataclass
class _Assembler:
    lines: Lines
    done: list[Segment] = field(default_factory=list)
    waiting: list[Traced] = field(default_factory=list)  # prose of the paragraph so far
    label: str | None = None  # found, not yet given to a segment
    label_at: Traced | None = None
    fresh: bool = True  # nothing but blanks since the line began
    heading: bool = False
    quote: bool = False
    struck: int = 0
    answer: int = 0
    paragraph: int = 0

    # ------------------------------------------------------------------ prose
    def prose(self, gap: Traced) -> None:
        at = 0
        for end in [*(match.end() for match in re.finditer(r"\n", gap.text)), len(gap)]:
            if end > at:
                self._line(gap.cut(at, end))
            at = end

    def _line(self, line: Traced) -> None:
        """One line, or what a formula left of it."""
        if self.fresh:
            line = self._opened(line)
        self._marked(line)
        if line.text.endswith("\n"):
            if self.heading:
                self._flush()
            self.fresh, self.heading = True, False
        elif line.text.strip():
            self.fresh = False

    def _opened(self, line: Traced) -> Traced:
        """The beginning of a line: blank, rule, heading, bullet, label."""
        body = MARKS.sub("", line.text)
        if not body.strip() or _RULE.fullmatch(body.rstrip("\n")):
            if line.text.endswith("\n"):
                self._break()
                self.quote = False
            return (
                line
                if MARKS.search(line.text)
                else line.cut(0, 0)
                if not body.strip()
                else _newline(line)
            )
        marks = re.compile(r"[\ue000-\ue003\s]*").match(line.text)
        lead = marks.end() if marks and MARKS.search(marks.group()) else 0
        self._marked(line.cut(0, lead))
        line = line.cut(lead, len(line))
        prefix = _PREFIX.match(line.text)
        assert prefix is not None  # every part of the pattern may be empty
        quote = bool(prefix["quote"])
        if (
            prefix["hashes"]
            or prefix["bullet"]
            or quote != self.quote
            or announces_answer(line.text)
        ):
            self._break()
        self.quote = quote
        rest = line.text[prefix.end() :]
        heading = bool(prefix["hashes"]) or labels.is_title(rest.strip())
        found = labels.in_heading(rest) if heading or labels.alone(rest) else labels.at_line(rest)
        if found is None:
            self.heading = heading
            start = prefix.end() if prefix["hashes"] or prefix["quote"] else prefix.end("bullet")
            return line.cut(start, len(line))
        # What waits belongs to the line before, and is no heading because this one is
        self._break()
        self.heading = heading
        self._labelled(line.cut(prefix.end(), prefix.end() + found.end()))
        return self._after_label(line.cut(prefix.end() + found.end(), len(line)))

    def _labelled(self, label: Traced) -> None:
        """Take a label; one that still waits stood alone, and becomes a heading of its own."""
        if self.label is not None:
            self._empty_heading()
        self.label, self.label_at = label.text.strip(), label

    def _after_label(self, rest: Traced) -> Traced:
        if _NOTHING.fullmatch(MARKS.sub("", rest.text)) and rest.text.endswith("\n"):
            self._empty_heading()
            return rest if MARKS.search(rest.text) else _newline(rest)
        lead = re.compile(r"[*_]{0,3}[.:：)\]]?[*_]{0,3}[ \t]*").match(rest.text)
        return rest.cut(lead.end() if lead else 0, len(rest))

    def _empty_heading(self) -> None:
        at = self.label_at
        if at is not None:
            self._emit("heading", at.cut(0, 0), place=at.span(0, len(at)))
        self.paragraph += 1

    def _marked(self, text: Traced) -> None:
        """Collect prose; the marks in it switch the state and end the stretch they stand in."""
        at = 0
        for match in MARKS.finditer(text.text):
            self.waiting.append(text.cut(at, match.start()))
            self._flush()
            self._switch(match.group())
            at = match.end()
        self.waiting.append(text.cut(at, len(text)))

    def _switch(self, mark: str) -> None:
        self.struck = max(0, self.struck + {STRUCK_ON: 1, STRUCK_OFF: -1}.get(mark, 0))
        self.answer = max(0, self.answer + {ANSWER_ON: 1, ANSWER_OFF: -1}.get(mark, 0))

    def _break(self) -> None:
        self._flush()
        self.paragraph += 1

    def _flush(self) -> None:
        prose = Traced.join(self.waiting).strip()
        self.waiting = []
        if not _NOTHING.fullmatch(prose.text):
            self._emit("heading" if self.heading else "prose", prose)

    # ---------------------------------------------------------------- regions
    def region(self, source: Traced, region: Region) -> None:
        if region.kind == "comment":
            return
        inner = source.cut(*region.inner)
        if region.kind == "code" and _is_formula(inner.text, region.language):
            self.prose(inner)  # students without mathematics at hand write it between backticks
            self.fresh = False
            return
        self._flush()
        for mark in MARKS.findall(source.text[region.start : region.inner[0]]):
            self._switch(mark)
        if region.kind == "math":
            self._math(inner, region, source.span(region.start, region.end))
        else:
            self._emit(
                "code", inner, display=region.display, place=source.span(region.start, region.end)
            )
        self.fresh = False

    def _math(self, inner: Traced, region: Region, place: tuple[int, int]) -> None:
        inner, struck = _without_struck(inner)
        wrapped = _WRAPPED.fullmatch(inner.text)
        if wrapped:
            inner = inner.cut(*wrapped.span("inside"))
        found = labels.in_math(inner.text) if self.fresh else None
        if found:
            self._break()
            self._labelled(inner.cut(0, found[1]))
            self.label = found[0]
            inner = inner.cut(found[1], len(inner))
            inner = inner.cut(len(inner) - len(_SPACES.sub("", inner.text, count=1)), len(inner))
            if not inner.text.strip(" \\,;quad"):
                self._empty_heading()
                return
        self._emit("math", inner.strip(), display=region.display, struck=struck, place=place)

    def _emit(
        self,
        kind: Kind,
        text: Traced,
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
        voice: Voice = "answer" if self.answer else "quote" if self.quote else ""
        self.done.append(
            Segment(
                kind, text.text, start, end,
                self.lines.number(start), self.lines.number(max(start, end - 1)),
                display, struck or self.struck > 0, self.label, voice, self.paragraph, text,
            )
        )  # fmt: skip
        self.label = self.label_at = None

    def finished(self) -> tuple[Segment, ...]:
        self._flush()
        if self.label is not None:
            self._empty_heading()
        return tuple(_in_order(self.done))


def _is_formula(code: str, language: str) -> bool:
    """Code that is meant as mathematics: a relation or a transpose, and nothing that only a program
    would say."""
    if language not in ("", "text", "txt", "plaintext", "plain"):
        return False
    return bool(_RELATION.search(code)) and not _PROGRAM.search(code)


def _newline(line: Traced) -> Traced:
    return line.cut(len(line) - 1, len(line)) if line.text.endswith("\n") else line.cut(0, 0)


def _in_order(done: list[Segment]) -> list[Segment]:
    """Spans grow and do not overlap, also where a macro wrote several segments from one call."""
    out, reached = [], 0
    for segment in done:
        start = max(segment.start, reached)
        end = max(segment.end, start)
        out.append(
            segment
            if (start, end) == (segment.start, segment.end)
            else replace(segment, start=start, end=end)
        )
        reached = end
    return out


def _without_struck(inner: Traced) -> tuple[Traced, bool]:
    r"""A formula without its \cancel'd pieces; struck only where nothing else is left."""
    marks, depth, pieces, cut, at = list(MARKS.finditer(inner.text)), 0, [], [], 0
    for mark in marks:
        (pieces if depth == 0 else cut).append(inner.cut(at, mark.start()))
        depth = max(0, depth + {STRUCK_ON: 1, STRUCK_OFF: -1}.get(mark.group(), 0))
        at = mark.end()
    (pieces if depth == 0 else cut).append(inner.cut(at, len(inner)))
    left = Traced.join(pieces).replace(_CANCEL_TO, lambda match: match[1])
    start = 0
    while match := _CUT.search(left.text, start):
        end = closing(left.text, match.end())
        if end < 0:
            break
        cut.append(left.cut(match.end() + 1, end))
        left = Traced.join([left.cut(0, match.start()), left.cut(end + 1, len(left))])
        start = match.start()
    if cut and not left.text.strip(" \\,;.$\n\t"):
        return Traced.join(cut), True
    return left, False
