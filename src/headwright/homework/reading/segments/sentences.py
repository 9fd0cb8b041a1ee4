"""The sentences of an item, across its segments: words, formulas between them, and the display that
a sentence runs into."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwright.homework.reading.document import Segment

# A full stop is the end where a new sentence can begin behind it; a footnote may follow without a
# space.
_CLOSING = r"['\"”’)\]*_]{0,4}"
_END = re.compile(
    rf"[.…]{_CLOSING}(?=\s+[^\sa-zà-ÿ.,;)]|[ \t]*\n|[A-ZÀ-Þ][a-zà-ÿ]|\s*$)|[!?]{_CLOSING}(?=\s|$)"
    r"|[。！？][”’」)）*_]{0,3}|\n\s*\n"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:i\.\s?e|e\.\s?g|cf|vs|resp|eqs?|figs?"
    r"|w\.r\.t|s\.t|z\.\s?B|d\.\s?h|p\.\s?ex|approx"
    r"|bzw|ca|no|nr|etc)\.$",
    re.IGNORECASE,
)
# What a student answers with on a line of its own
DEFINITION = re.compile(
    r"\s*(?:\\(?:boldsymbol|mathbf|vec|bm|boxed|displaystyle)\s*\{?\s*)*"
    r"(?:q|M|K|Q|V)\}?(?:\s*_\s*\{?[\w\\*]{1,6}\}?|[₁₂₃ₐ])?(?:\s*\^\s*\{?\\?\w{1,6}\}?)?"
    r"\s*(?:&\s*)?(?::?=(?!=)|\\approx|≈|\\propto|\\triangleq|\\coloneqq)(?!\s*\\?$)"
    r"(?!\s*(?:\\math[a-z]{2,3}\s*\{?\s*)?X)"  # Q = X W defines a layer
)
_OWN_LINE = re.compile(rf"\n(?={DEFINITION.pattern})")
# A sentence that ends like this goes on with the formula below it
_OPEN = re.compile(
    r"(?:\b(?:such that|so that|that|where|with|as|is|are|be|by|for|to|and|or|of|if|when"
    r"|the|let|given|layer|function|equations?|(?:as )?follow(?:s|ing)(?: \w+){0,2}"
    r"|holds?|embeddings|computes?"
    r"|que|donde|con|onde|com|dass|sodass|mit|où|telle? que|avec)"
    r"|使得|使|满足|即|为|如下|其中|成立|定义|計算|とする|같이|같다)\s*[:：,，]?\s*$",
    re.IGNORECASE,
)

_GOES_ON = re.compile(r"[,.;，。、a-zà-ÿ]")  # behind a display

_MOST_FORMULA = 400  # characters of a formula that are looked at


@dataclass(frozen=True)
class Sentence:
    """`pieces` are (segment, start, end): where its text stands, in order."""

    pieces: tuple[tuple[int, int, int], ...]
    text: str  # formulas between dollars, markup and line breaks gone
    formulas: tuple[str, ...]
    paragraph: int

    @property
    def end(self) -> tuple[int, int]:
        """The segment it ends in, and the place there."""
        number, _, end = self.pieces[-1]
        return number, end


def sentences(item: Sequence[Segment]) -> list[Sentence]:
    """In order, and together all of the item's text."""
    found: list[Sentence] = []
    pieces: list[tuple[int, int, int]] = []

    def close() -> None:
        if pieces:
            found.append(_sentence(item, tuple(pieces)))
            pieces.clear()

    for number, segment in enumerate(item):
        if pieces and _parted(item, pieces, segment):
            close()
        if segment.kind in ("math", "code"):
            pieces.append((number, 0, len(segment.text)))
            continue
        for start, end, complete in _stretches(segment.text):
            pieces.append((number, start, end))
            if complete:
                close()
    close()
    return found


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Sentences of one stretch of prose; the last may go on behind it."""
    start = 0
    ends = [match.end() for match in _END.finditer(text) if not _is_abbreviation(text, match)]
    ends += [match.start() for match in _OWN_LINE.finditer(text)]
    for end in sorted(set(ends)):
        yield start, end, True
        start = end
    if text[start:].strip():
        yield start, len(text), False


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    word = text[max(0, match.start() - 8) : match.start() + 1]
    return _ABBREVIATION.search(word) is not None


def _parted(item: Sequence[Segment], pieces: list[tuple[int, int, int]], here: Segment) -> bool:
    """Does a new sentence begin with this segment?"""
    number, start, end = pieces[-1]
    before = item[number]
    if "heading" in (before.kind, here.kind):
        return True
    if here.kind == "math":
        said = before.text[max(start, end - 40) : end] if before.kind != "math" else ""
        if _OPEN.search(said.rstrip("*_ ")):
            return False
        is_below = here.line_start > before.line_end
        if here.display or (is_below and DEFINITION.match(here.text)):
            return True
    if before.paragraph != here.paragraph:
        return True
    behind_display = before.kind == "math" and before.display
    return behind_display and not _GOES_ON.match(here.text)


def _sentence(item: Sequence[Segment], pieces: tuple[tuple[int, int, int], ...]) -> Sentence:
    words: list[str] = []
    formulas: list[str] = []
    for number, start, end in pieces:
        segment = item[number]
        if segment.kind == "math":
            formula = segment.text[:_MOST_FORMULA]
            formulas.append(formula)
            words.append(f" ${formula}$ ")
        else:
            words.append(segment.text[start:end])
    plain = "".join(words).replace("*", "").replace("__", "")
    paragraph = item[pieces[0][0]].paragraph
    return Sentence(pieces, " ".join(plain.split()), tuple(formulas), paragraph)
