"""Lines into paragraphs and displays: page numbers and running heads go, broken words and formulas
are joined."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from headwright.homework.reading.pdf.layout.formulas import Run, runs, usual_space
from headwright.homework.reading.pdf.layout.lines import Line, by_colour

_PAGE_NUMBER = re.compile(r"(?:page |seite |- ?)?\d{1,3}(?: ?(?:/|of|von|-) ?\d{0,3})?", re.I)
_LABEL = re.compile(
    r"(?:\*\*)?(?:[(（]?[a-h][)）.:]|[(（]?(?:i{1,3}|iv|v)[)）.:]|[(（]?\d{1,2}[)）.:]"
    r"|\d{1,2}(?:\.\d{1,2}){1,2}"
    r"|Q?\d{1,2}[ .]?[(（]?[a-h][)）]?[ .]?(?:[(（]?(?:i{1,3}|iv|v))?[)）.:]{0,2}(?=\s|$)"
    r"|(?:Problem|Question|Q|Part|Answer|Solution|Aufgabe|Antwort|Lösung|Exercice|Réponse|Pregunta"
    r"|Respuesta|Solución|Questão|Resposta|Solução)\b|(?:问题|答案|解|答|問題|解答|풀이|답)[:：])"
)
_EQUATION_NUMBER = re.compile(r"\(\d{1,2}(?:\.\d{1,2})?\)|\([*†]\)")
_ENDS_OPEN = re.compile(r"(?:[=+\-<>,(\[]|\\(?:gg|ll|approx|leq|geq|neq|cdot|times|sim|in))\s?$")
_BEGINS_OPEN = re.compile(r"(?:[=+\-<>]|\\(?:gg|ll|approx|leq|geq|neq|cdot|times|to|Rightarrow))")
_LABEL_LETTERS = 12
_FIRST_IDEOGRAPH = "\u2e80"
_OTHER_SIZE = 0.08  # a footnote is smaller by 0.1; formulas and text may differ by half of that
_FAR_END = 0.9
_SAME_END = 0.7  # points
_WIDE_SPACE = 0.75  # ems
_WORD_SPACE = 0.5  # ems, the widest that is usual
_HEADING = 1.05  # of the size of the text
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?(?=[\s,.;:)]|$)")
_DIGITS = re.compile(r"\d{1,9}")


@dataclass
class Written:
    """A line of the page as text."""

    runs: list[Run]
    y: float
    x0: float
    x1: float
    size: float
    page: int
    bold: bool
    stops: tuple[float, ...]  # where a word begins after a wide space: what follows a label
    column: int
    first_word: float  # its width
    coloured: bool = False
    display: bool = False

    @property
    def plain(self) -> str:
        return "".join((" " if run.spaced else "") + run.written for run in self.runs).strip()


def text_of(pages: list[list[Line]], body: float) -> str:
    """The whole document as Markdown."""
    read: list[list[Written]] = []
    space = usual_space([line for lines in pages for line in lines])
    for number, lines in enumerate(pages):
        parts = [part for line in lines for part in by_colour(line)]
        read.append([_written(part, number, space) for part in parts])
    kept = [line for page in _without_heads(read) for line in page]
    _mark_displays(kept, body)
    return _assembled(kept, body)


def _written(line: Line, page: int, space: float) -> Written:
    letters = [box for box in line.boxes if box.latex.isalpha() and box.face != "math"]
    bold = bool(letters) and all(box.face == "bold" for box in letters)
    coloured = all(box.coloured for box in line.boxes)
    place = (line.y, line.x0, line.x1, line.size)
    written = runs(line, space)
    first = _first_word(line, written)
    return Written(written, *place, page, bold, _stops(line), line.column, first, coloured)


def _first_word(line: Line, written: list[Run]) -> float:
    """How wide the part is that no line break can divide; of a formula the whole."""
    if written and written[0].is_math:
        return written[0].x1 - written[0].x0
    ordered = sorted(line.boxes, key=lambda box: box.x0)
    if not ordered or ordered[0].latex > _FIRST_IDEOGRAPH:
        return line.size
    end = ordered[0].x1
    for box in ordered[1:]:
        if box.x0 - end > 0.15 * line.size:
            break
        end = max(end, box.x1)
    return end - line.x0


def _stops(line: Line) -> tuple[float, ...]:
    ordered = sorted(line.boxes, key=lambda box: box.x0)[:_LABEL_LETTERS]
    stops = [line.x0]
    for before, box in pairwise(ordered):
        if box.x0 - before.x1 > 0.42 * line.size:
            stops.append(box.x0)
    return tuple(stops)


# -- page numbers and running heads


def _without_heads(pages: list[list[Written]]) -> list[list[Written]]:
    edges: dict[str, int] = {}
    for page in pages:
        for line in _edge_lines(page):
            key = _DIGITS.sub("#", line.plain)
            edges[key] = edges.get(key, 0) + 1
    kept: list[list[Written]] = []
    for page in pages:
        edge = _edge_lines(page)
        kept.append([line for line in page if not _is_head(line, edge, edges)])
    return kept


def _edge_lines(page: list[Written]) -> list[Written]:
    if len(page) < 2:
        return []
    by_height = sorted(page, key=lambda line: line.y)
    return [by_height[0], by_height[-1]]


def _is_head(line: Written, edge: list[Written], seen: dict[str, int]) -> bool:
    if not any(line is one for one in edge):
        return False
    if _PAGE_NUMBER.fullmatch(line.plain):
        return True
    return seen[_DIGITS.sub("#", line.plain)] > 1 and line.plain != ""


# -- displays


def _mark_displays(lines: list[Written], body: float) -> None:
    """A display is a formula that begins where no line of text begins."""
    stops: set[int] = set()
    for line in lines:
        if line.runs and not line.runs[0].is_math and not _BEGINS_OPEN.match(line.plain):
            stops.update(round(stop) for stop in line.stops)
    for line in lines:
        _drop_equation_number(line, body)
        words = [run for run in line.runs if not run.is_math]
        letters = sum(len(run.written) for run in words)
        formulas = sum(run.x1 - run.x0 for run in line.runs if run.is_math)
        mostly = formulas > 0.6 * (line.x1 - line.x0) or letters < 4
        begins = bool(line.runs) and line.runs[0].is_math
        place = round(line.x0)
        is_indented = not stops.intersection((place - 1, place, place + 1))
        line.display = begins and mostly and is_indented and letters < 30


def _drop_equation_number(line: Written, body: float) -> None:
    last = line.runs[-1] if line.runs else None
    if last is None or len(line.runs) < 2 or not line.runs[0].is_math:
        return
    gap = last.x0 - line.runs[-2].x1
    if gap > 1.5 * body and _EQUATION_NUMBER.fullmatch(last.written.strip("$ ")):
        line.runs.pop()


# -- putting together


def _assembled(lines: list[Written], body: float) -> str:
    out: list[str] = []
    last: Written | None = None
    margins = _right_margins(lines)
    for line in lines:
        text = _marked_up(line, body)
        if not text:
            continue
        if last is None:
            out.append(text)
        elif line.display and last.display and _continues(last, line):
            out[-1] = out[-1].removesuffix("$$").rstrip() + r" \\ " + text.removeprefix("$$")
        elif _same_paragraph(last, line, body, margins[last.column]):
            out[-1] = _joined(out[-1], text)
        else:
            out.append(text)
        last = line
    return "\n\n".join(out) + "\n"


def _right_margins(lines: list[Written]) -> dict[int, float]:
    """Where the lines of each column end."""
    ends: dict[int, list[float]] = {}
    for line in lines:
        column = ends.setdefault(line.column, [])
        if any(not run.is_math for run in line.runs):
            column.append(line.x1)
    return {column: _margin(sorted(places, reverse=True)) for column, places in ends.items()}


def _margin(ends: list[float]) -> float:
    """The furthest end, or one not far from it that three lines share: a line may stick out."""
    furthest = ends[0] if ends else 0.0
    for end, third in zip(ends, ends[2:], strict=False):
        if end - third < _SAME_END and end > _FAR_END * furthest:
            return third
    return furthest


def _marked_up(line: Written, body: float) -> str:
    if line.display and all(run.is_math for run in line.runs):
        return f"$${_formula(line)}$$"
    written = ""
    for run in line.runs:
        shown = f"${run.written}$" if run.is_math else run.written
        touches = written.endswith("$") and shown.startswith("$")
        written += (" " if run.spaced or touches else "") + shown
    written = written.strip()
    if line.bold and line.size > _HEADING * body and written:
        return f"## {written}"
    return written


def _formula(line: Written) -> str:
    """A display has no words: its parts belong together unless a wide space divides them."""
    written = line.runs[0].written
    for before, run in pairwise(line.runs):
        is_apart = run.x0 - before.x1 > _WIDE_SPACE * line.size
        written += (r" \quad " if is_apart else " ") + run.written
    return written


def _continues(last: Written, line: Written) -> bool:
    close = last.page == line.page and 0 < last.y - line.y < 4.5 * line.size
    ends = _ENDS_OPEN.search(last.plain) is not None
    return close and (ends or _BEGINS_OPEN.match(line.plain) is not None)


def _same_paragraph(last: Written, line: Written, body: float, right: float) -> bool:
    if last.display or line.display or (last.bold != line.bold and line.size > _HEADING * body):
        return False
    if last.bold and last.size > _HEADING * body:
        return False
    if last.runs and last.runs[-1].is_math and _ENDS_OPEN.search(last.plain):
        return True  # a formula goes on, whatever the next line looks like
    if line.runs and not line.runs[0].is_math and _LABEL.match(line.plain):
        return False
    if last.coloured != line.coloured or abs(last.size - line.size) > _OTHER_SIZE * body:
        return False
    if last.page != line.page or line.y > last.y:  # the next page or column
        return not last.plain.endswith((".", "。", ":", "?", "!"))
    if last.x1 + _WORD_SPACE * body + line.first_word < right:
        return False  # the next word would have fitted: the author ended the line
    gap = (last.y - line.y) / line.size
    return gap < (2.4 if last.x1 > right - 2 * body else 1.75)


def _joined(before: str, after: str) -> str:
    if before.endswith("-") and len(before) > 1 and before[-2].isalpha() and after[0].islower():
        return before[:-1] + after
    open_formula = before.endswith("$") and after.startswith("$")
    if open_formula and _ENDS_OPEN.search(before.rstrip("$")):
        between = r" \quad " if before[:-1].rstrip().endswith(",") else " "
        return before[:-1] + between + after[1:]
    number = _NUMBER.match(after)
    if number and before.endswith("$") and _ENDS_OPEN.search(before.rstrip("$")):
        return f"{before[:-1]} {number[0]}${after[number.end() :]}"
    between = "" if before[-1] > _FIRST_IDEOGRAPH and after[0] > _FIRST_IDEOGRAPH else " "
    return before + between + after
