"""Crossed-out letters do not count: a line through their middle, or a slanted one across them."""

from __future__ import annotations

from headwright.homework.reading.pdf.boxes import SMALL, Box, Rule

_MOST_RULES = 400  # of one page; a page with more is a drawing
_LOWEST = 0.12  # ems above the line of letters; below it is an underline
_HIGHEST = 0.5  # above it is a roof or a bar


def without_struck(boxes: list[Box], rules: list[Rule]) -> list[Box]:
    if not rules or len(rules) > _MOST_RULES:
        return boxes
    by_height: dict[int, list[Rule]] = {}
    for rule in rules:
        for level in range(int(min(rule.y0, rule.y1)) - 12, int(max(rule.y0, rule.y1)) + 13)[:120]:
            by_height.setdefault(level, []).append(rule)
    sizes: dict[Rule, float] = {}  # of the largest letter that a rule crosses
    for box in boxes:
        for rule in by_height.get(int(box.y), ()):
            if _crosses(rule, box):
                sizes[rule] = max(sizes.get(rule, 0.0), box.size)
    if not sizes:
        return boxes
    return [box for box in boxes if not _is_struck(box, by_height.get(int(box.y), []), sizes)]


def _is_struck(box: Box, rules: list[Rule], sizes: dict[Rule, float]) -> bool:
    return any(rule in sizes and _takes(rule, box, sizes[rule]) for rule in rules)


def _takes(rule: Rule, box: Box, size: float) -> bool:
    """A strike takes the letters that it crosses, and their scripts with them."""
    inside = rule.x0 - 0.5 <= box.middle <= rule.x1 + 0.5
    level = (rule.y0 + rule.y1) / 2
    is_script = box.size < SMALL * size and abs(box.y - level) < 0.75 * size
    return inside and (is_script or _crosses(rule, box))


def _crosses(rule: Rule, box: Box) -> bool:
    if not rule.x0 - 0.5 <= box.middle <= rule.x1 + 0.5:
        return False
    if rule.flat:
        through = box.y + _LOWEST * box.size < rule.y0 < box.y + _HIGHEST * box.size
        return through and rule.width > 0.8 * (box.x1 - box.x0)
    low = min(rule.y0, rule.y1)
    high = max(rule.y0, rule.y1)
    return box.y - 0.6 * box.size < low < box.y + 0.35 * box.size < high < box.y + 1.3 * box.size
