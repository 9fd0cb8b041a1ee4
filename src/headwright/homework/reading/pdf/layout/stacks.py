"""What TeX stacks: fractions over their bars, roots under their roofs, limits over and under sums,
rows of matrices. Each becomes one box on its line, innermost first."""

from __future__ import annotations

from dataclasses import replace

from headwright.homework.reading.pdf.boxes import AXIS, SMALL, Box, Rule, around
from headwright.homework.reading.pdf.layout.limits import build_limits
from headwright.homework.reading.pdf.layout.scripts import formula
from headwright.homework.reading.pdf.layout.shelf import Shelf

_MOST_RULES = 400  # of one page; a page with more is a drawing
_SLACK = 1.5  # points by which letters stick out of a bar's ends


def stacked(boxes: list[Box], rules: list[Rule], body: float) -> list[Box]:
    """The page's boxes with all stacks built."""
    shelf = Shelf([_as_large_as_text(box, body) for box in boxes])
    flat = sorted((rule for rule in rules if rule.flat), key=lambda rule: rule.width)
    if len(flat) <= _MOST_RULES:
        for rule in flat:
            if not _root(shelf, rule, body):
                _fraction(shelf, rule, body)
    build_limits(shelf, body)
    _matrices(shelf, body)
    return shelf.boxes()


def _as_large_as_text(box: Box, body: float) -> Box:
    """Some families have their large signs in one size only, beside text of 11 or 12 points."""
    is_smaller = box.large and 0.75 * body < box.size < body
    return replace(box, size=body) if is_smaller else box


# -- roots


def _root(shelf: Shelf, rule: Rule, body: float) -> bool:
    height = rule.y0
    near = shelf.near(height - 4 * body, height + body, rule.x0 - 1.3 * body, rule.x0 + 0.5)
    signs = [box for box in near if box.latex == r"\sqrt" and abs(box.x1 - rule.x0) < 1.0]
    signs = [box for box in signs if box.bottom < height < box.top + 0.8 * body]
    if not signs:
        return False
    sign = signs[0]
    lowest = min(sign.bottom, height - 0.9 * sign.size) - 0.1 * body
    under = shelf.near(lowest, height, rule.x0 - _SLACK, rule.x1 + _SLACK)
    under = [box for box in under if box is not sign]
    if not under:
        return False
    root = rf"\sqrt{{{formula(under)}}}"
    main = max(under, key=lambda box: box.size)
    whole = around([sign, *under], root, main.y, main.size)
    shelf.exchange([sign, *under], replace(whole, x1=max(whole.x1, rule.x1)))
    return True


# -- fractions


def _fraction(shelf: Shelf, rule: Rule, body: float) -> bool:
    over = _row(shelf, rule, body, upwards=True)
    under = _row(shelf, rule, body, upwards=False)
    if not over or not under or not _fits(over, under, rule, body):
        return False
    if _runs_on(shelf, over, rule) or _runs_on(shelf, under, rule):
        return False
    part = max(box.size for box in (*over, *under))
    size = _size_of_whole(part, body)
    written = rf"\frac{{{formula(over)}}}{{{formula(under)}}}"
    level = rule.y0 - AXIS * size
    whole = around([*over, *under], written, level, size)
    left = min(whole.x0, rule.x0)
    right = max(whole.x1, rule.x1)
    shelf.exchange([*over, *under], replace(whole, x0=left, x1=right))
    return True


def _row(shelf: Shelf, rule: Rule, body: float, *, upwards: bool) -> list[Box]:
    """The one formula line that touches a bar from above or from below."""
    height = rule.y0
    left = rule.x0 - _SLACK
    right = rule.x1 + _SLACK
    if upwards:
        near = shelf.near(height, height + 2.4 * body, left, right)
        touching = [box for box in near if box.bottom - height < 0.45 * body]
    else:
        near = shelf.near(height - 2.4 * body, height, left, right)
        touching = [box for box in near if height - box.top < 0.45 * body]
    if not touching:
        return []
    main = max(touching, key=lambda box: (box.size, -abs(box.y - height)))
    return [box for box in near if _belongs(box, main)]


def _belongs(box: Box, main: Box) -> bool:
    """Scripts of scripts stand further from the line than scripts do."""
    distance = abs(box.y - main.y)
    if box.size > SMALL * main.size:
        return distance < 0.12 * main.size
    return distance < (0.62 if box.size > 0.6 * main.size else 0.95) * main.size


def _fits(over: list[Box], under: list[Box], rule: Rule, body: float) -> bool:
    """A bar is as wide as the wider of its parts, and both are centred on it; the lines of tables
    and frames are wider."""
    widest = 0.0
    for part in (over, under):
        left = min(box.x0 for box in part)
        right = max(box.x1 for box in part)
        if abs(left + right - rule.x0 - rule.x1) > 0.6 * body:
            return False
        widest = max(widest, right - left)
    return abs(rule.width - widest) < 0.35 * body


def _runs_on(shelf: Shelf, part: list[Box], rule: Rule) -> bool:
    """Does the line of a part go on beside the bar? Then it is a line of text."""
    main = max(part, key=lambda box: box.size)
    level = 0.05 * main.size
    reach = 0.6 * main.size
    before = shelf.near(main.y - level, main.y + level, rule.x0 - 2 * reach, rule.x0 - _SLACK)
    after = shelf.near(main.y - level, main.y + level, rule.x1 + _SLACK, rule.x1 + 2 * reach)
    beside = [box for box in before if rule.x0 - box.x1 < reach]
    beside += [box for box in after if box.x0 - rule.x1 < reach]
    return any(abs(box.size - main.size) < 0.1 * main.size for box in beside)


def _size_of_whole(part: float, body: float) -> float:
    """Parts are set smaller than the line, except in a display."""
    if part > SMALL * body:
        return part
    return body if part > 0.6 * body else 0.7 * body


# -- matrices


def _matrices(shelf: Shelf, body: float) -> None:
    """Rows between tall brackets; a brace that nothing closes holds cases."""
    tall = [box for box in _brackets(shelf) if box.top - box.bottom > 1.9 * body]
    for left in [box for box in tall if box.latex in _CLOSING]:
        following = [box for box in tall if box.x0 > left.x0 and abs(box.y - left.y) < body]
        closing = [box for box in following if box.latex == _CLOSING[left.latex]]
        right = min(closing, key=lambda box: box.x0, default=None)
        if right is None and left.latex != r"\{":
            continue
        end = right.x0 if right is not None else left.x1 + 60 * body
        inside = shelf.near(left.bottom - 0.1 * body, left.top + 0.1 * body, left.x1, end)
        rows = _rows(inside)
        if len(rows) > 1:
            parts = [left, *inside] if right is None else [left, *inside, right]
            name = "cases" if right is None else _MATRICES[left.latex]
            body_text = r" \\ ".join(_cells(row, body) for row in rows)
            written = rf"\begin{{{name}}}{body_text}\end{{{name}}}"
            shelf.exchange(parts, around(parts, written, left.y, body))


_CLOSING = {"(": ")", "[": "]", r"\{": r"\}", "|": "|"}
_MATRICES = {"(": "pmatrix", "[": "bmatrix", r"\{": "Bmatrix", "|": "vmatrix"}


def _brackets(shelf: Shelf) -> list[Box]:
    """Large brackets; the pieces of the largest, which stand one below the other, made one."""
    piles: dict[tuple[str, int], list[Box]] = {}
    signs = {*_CLOSING, *_CLOSING.values()}
    found: list[Box] = []
    for box in shelf.boxes():
        if box.part and box.latex in signs:
            piles.setdefault((box.latex, round(box.x0)), []).append(box)
        elif box.large and box.latex in signs:
            found.append(box)
    for pile in piles.values():
        pile.sort(key=lambda box: -box.top)
        parts: list[Box] = []
        for box in pile:
            if parts and min(one.bottom for one in parts) - box.top > 0.2 * box.size:
                found.append(_one_bracket(shelf, parts))
                parts = []
            parts.append(box)
        found.append(_one_bracket(shelf, parts))
    return found


def _one_bracket(shelf: Shelf, parts: list[Box]) -> Box:
    if len(parts) == 1:
        return parts[0]
    top = max(box.top for box in parts)
    bottom = min(box.bottom for box in parts)
    size = parts[0].size
    level = (top + bottom) / 2 - AXIS * size
    whole = replace(around(parts, parts[0].latex, level, size), large=True)
    shelf.exchange(parts, whole)
    return whole


def _rows(boxes: list[Box]) -> list[list[Box]]:
    """Boxes by the line they stand on or hang on, from the top."""
    if not boxes:
        return []
    size = max(box.size for box in boxes)
    levels: list[float] = []
    for box in sorted((box for box in boxes if box.size > SMALL * size), key=lambda box: -box.y):
        if not levels or levels[-1] - box.y > 0.5 * size:
            levels.append(box.y)
    rows: list[list[Box]] = [[] for _ in levels]
    for box in boxes:
        nearest = min(range(len(levels)), key=lambda i: abs(levels[i] - box.y))
        rows[nearest].append(box)
    return rows


def _cells(row: list[Box], body: float) -> str:
    cells: list[list[Box]] = []
    for box in sorted(row, key=lambda box: box.x0):
        if cells and box.x0 - max(one.x1 for one in cells[-1]) < 0.75 * body:
            cells[-1].append(box)
        else:
            cells.append([box])
    return " & ".join(formula(cell) for cell in cells)
