"""Crossed-out letters do not count: a line through their middle, or a slanted one across them."""

from __future__ import annotations

from headwright.homework.reading.pdf.boxes import Box, Rule

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
    return [box for box in boxes if not _is_struck(box, by_height.get(int(box.y), []))]


def _is_struck(box: Box, rules: list[Rule]) -> bool:
    return any(_crosses(rule, box) for rule in rules)


def _crosses(rule: Rule, box: Box) -> bool:
    if not rule.x0 - 0.5 <= box.middle <= rule.x1 + 0.5:
        return False
    if rule.flat:
        through = box.y + _LOWEST * box.size < rule.y0 < box.y + _HIGHEST * box.size
        return through and rule.width > 0.8 * (box.x1 - box.x0)
    low = min(rule.y0, rule.y1)
    high = max(rule.y0, rule.y1)
    return box.y - 0.6 * box.size < low < box.y + 0.35 * box.size < high < box.y + 1.3 * box.size
