"""From traced text to segments: lines, headings, labels, paragraphs, and the formulas between them.

The text alternates between stretches of prose, with line structure, and what stands between
delimiters (formulas, code). Both are fed in order to one assembler that knows whether it stands at
the beginning of a line, because that is where labels live.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwright.homework.reading.document import Segment
from headwright.homework.reading.markup.switches import SWITCH, without_switches
from headwright.homework.reading.markup.tex_text import TexText
from headwright.homework.reading.segments import item_labels
from headwright.homework.reading.segments.boundaries import MATH_ENVIRONMENTS, continues_formula
from headwright.homework.reading.segments.builder import NOTHING_TO_READ, SegmentBuilder
from headwright.homework.reading.segments.crossed_out import without_struck
from headwright.homework.reading.segments.delimiters import Delimited, delimited
from headwright.homework.reading.segments.line_numbers import LineNumbers
from headwright.homework.reading.segments.who_speaks import announces_answer, with_voices
from headwright.homework.reading.traced_text import TracedText

_PREFIX = re.compile(
    r"[ \t\u3000]*(?P<quote>(?:>[ \t]?)*)[ \t]*(?P<bullet>(?:[-*+•‣▪◦·●○|][ \t]+)?)"
    r"(?P<hashes>#{1,6}(?=[ \t(\w]))?[ \t]*(?P<stars>[*_]{0,3})"
)
_RULE = re.compile(r"[ \t]*(?:[-=_*~][ \t]*){3,}$")
_LEADING_SWITCHES = re.compile(r"\s*(?:[\ue000-\ue003]\s*)+")
_AFTER_LABEL = re.compile(r"[*_]{0,3}[.:：)\]]?[*_]{0,3}[ \t]*")
_ENVIRONMENT = re.compile(
    rf"\s*\\begin\{{(?P<name>(?:{MATH_ENVIRONMENTS}|split|aligned|gathered)\*?)\}}(?:\{{\d+\}})?"
    r"(?P<inside>.*)\\end\{(?P=name)\}\s*",
    re.DOTALL,
)
_SPACES = re.compile(r"^(?:\s|~|\\(?:quad|qquad|[ ,;:!])(?![A-Za-z]))+")

# Code that is meant as mathematics: a relation, a script, a Greek letter, a command, one name
_RELATION = re.compile(
    r"[=<>≈≫≪≤≥~∈→∼]|[_^]|[α-ωΑ-Ω]|[²³¹⁰-ₜᵀᵢ-ᵪⱼ]|\\[a-z]+|^\s*[A-Za-z]{1,12}\s*$"
)
_PROGRAM = re.compile(
    r"\b(?:import|def|return|print|np\.|torch\.|self|for \w+ in range|lambda)\b|[#;]\s*$|\w\[\d"
)
_NO_LANGUAGE = ("", "text", "txt", "plaintext", "plain")


def segmented(source: TracedText, text: str, *, tex: bool) -> tuple[Segment, ...]:
    """`source` is what is left of `text` to read; offsets of segments point into `text`."""
    assembler = _Assembler(SegmentBuilder(LineNumbers.of(text)))
    tex_text = TexText() if tex else None

    def read_prose(stretch: TracedText) -> None:
        assembler.prose(tex_text.plain(stretch) if tex_text else stretch)

    reached = 0
    for found in delimited(source.text):
        read_prose(source.cut(reached, found.start))
        assembler.delimited(source, found)
        reached = found.end
    read_prose(source.since(reached))

    return with_voices(assembler.builder.finished(), assembler.builder.line_numbers)


@dataclass
class _Assembler:
    builder: SegmentBuilder
    at_line_start: bool = True  # nothing but blanks since the line began

    # ------------------------------------------------------------------ prose
    def prose(self, stretch: TracedText) -> None:
        reached = 0
        for match in re.finditer(r"\n", stretch.text):
            self._line(stretch.cut(reached, match.end()))
            reached = match.end()
        if reached < len(stretch):
            self._line(stretch.since(reached))

    def _line(self, line: TracedText) -> None:
        """One line, or what a formula left of it."""
        if self.at_line_start:
            line = self._opened(line)
        self.builder.collect(line)

        if line.text.endswith("\n"):
            if self.builder.heading:
                self.builder.end_stretch()
            self.at_line_start = True
            self.builder.heading = False
        elif line.text.strip():
            self.at_line_start = False

    def _opened(self, line: TracedText) -> TracedText:
        """Read how a line begins (blank, rule, heading, bullet, label); what is left of it."""
        body = without_switches(line.text)
        if not body.strip() or _RULE.fullmatch(body.rstrip("\n")):
            return self._empty(line, blank=not body.strip())

        line = self._behind_switches(line)
        if continues_formula(self.builder.last_words, line.text):
            return line
        prefix = _PREFIX.match(line.text)
        assert prefix is not None  # every part of the pattern may be empty
        self._enter(prefix, line)

        rest = line.since(prefix.end())
        heading = bool(prefix["hashes"]) or item_labels.is_title(rest.text.strip())
        if heading or item_labels.is_lone_token(rest.text):
            label = item_labels.in_heading(rest.text)
        else:
            label = item_labels.at_line(rest.text)

        if label is None:
            self.builder.heading = heading
            whole = prefix["hashes"] or prefix["quote"]
            return line.since(prefix.end() if whole else prefix.end("bullet"))

        # What waits belongs to the line before, and is no heading because this one is
        self.builder.end_paragraph()
        self.builder.heading = heading
        written = rest.cut(0, label.end())
        self.builder.take_label(written.text.strip(), written)
        return self._behind_label(rest.since(label.end()))

    def _empty(self, line: TracedText, *, blank: bool) -> TracedText:
        """A line without words, blank or a rule, parts paragraphs."""
        if line.text.endswith("\n"):
            self.builder.end_paragraph()
            self.builder.quote = False
        if SWITCH.search(line.text):
            return line
        return line.cut(0, 0) if blank else _newline(line)

    def _behind_switches(self, line: TracedText) -> TracedText:
        leading = _LEADING_SWITCHES.match(line.text)
        length = leading.end() if leading else 0
        self.builder.collect(line.cut(0, length))
        return line.since(length)

    def _enter(self, prefix: re.Match[str], line: TracedText) -> None:
        """A heading, a bullet, the edge of a quotation and "Answer:" begin a paragraph."""
        is_quote = bool(prefix["quote"])
        is_item = prefix["hashes"] or prefix["bullet"]
        if is_item or is_quote != self.builder.quote or announces_answer(line.text):
            self.builder.end_paragraph()
        self.builder.quote = is_quote

    def _behind_label(self, rest: TracedText) -> TracedText:
        says_nothing = NOTHING_TO_READ.fullmatch(without_switches(rest.text))
        if says_nothing and rest.text.endswith("\n"):
            self.builder.add_lone_label()
            return rest if SWITCH.search(rest.text) else _newline(rest)
        punctuation = _AFTER_LABEL.match(rest.text)
        return rest.since(punctuation.end() if punctuation else 0)

    # ------------------------------------------------------- formulas and code
    def delimited(self, source: TracedText, found: Delimited) -> None:
        if found.kind == "comment":
            return
        inner = source.cut(*found.inner)
        if found.kind == "code" and _is_formula(inner.text, found.language):
            # `c` behind a label is a symbol, no other label
            self.at_line_start = self.at_line_start and found.display
            self.prose(inner)  # students without mathematics at hand write it between backticks
            self.at_line_start = False
            return

        self.builder.end_stretch()
        place = source.span(found.start, found.end)
        for character in SWITCH.findall(source.text[found.start : found.inner[0]]):
            self.builder.switch(character, place)
        if found.kind == "math":
            self._formula(inner, place, display=found.display)
        else:
            self.builder.add("code", inner, display=found.display, place=place)
        self.at_line_start = False

    def _formula(self, inner: TracedText, place: tuple[int, int], *, display: bool) -> None:
        inner, struck = without_struck(inner)
        environment = _ENVIRONMENT.fullmatch(inner.text)
        if environment:
            inner = inner.cut(*environment.span("inside"))

        labelled = item_labels.in_formula(inner.text) if self.at_line_start else None
        if labelled:
            label, end = labelled
            self.builder.end_paragraph()
            self.builder.take_label(label, inner.cut(0, end))
            inner = _without_leading_spaces(inner.since(end))
            if not inner.text.strip(" \\,;quad"):
                self.builder.add_lone_label()
                return
        self.builder.add("math", inner.strip(), display=display, struck=struck, place=place)


def _is_formula(code: str, language: str) -> bool:
    """Mathematics that was typed as code, with nothing in it that only a program would say."""
    if language not in _NO_LANGUAGE:
        return False
    return bool(_RELATION.search(code)) and not _PROGRAM.search(code)


def _newline(line: TracedText) -> TracedText:
    """The end of the line alone."""
    return line.since(len(line) - 1) if line.text.endswith("\n") else line.cut(0, 0)


def _without_leading_spaces(formula: TracedText) -> TracedText:
    spaces = _SPACES.match(formula.text)
    return formula.since(spaces.end()) if spaces else formula
