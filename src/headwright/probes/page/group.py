"""The group of permutations that a layer respects: tokens as dots, those that may change places
joined."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import Any

from headwright.report.style import HEADS, ROLES

_STEP = 34
_BASE = 62
_RADIUS = 7
_MOST_TOKENS = 64


def group_svg(record: Any) -> str:
    """Inline SVG; empty where the blocks of tokens are not known."""
    count = sum(len(block) for block in record.blocks)
    if not count or count > _MOST_TOKENS:
        return ""
    several = [block for block in record.blocks if len(block) > 1]
    alone = [block[0] for block in record.blocks if len(block) == 1]
    parts = [_joined(block, HEADS[i % len(HEADS)]) for i, block in enumerate(several)]
    parts += [_dot(token, ROLES["muted"], hollow=True) for token in alone]
    width = (count - 1) * _STEP + 40
    return (
        f'<svg role="img" aria-label="{escape(record.group, quote=True)}" '
        f'viewBox="0 0 {width} {_BASE + 32}" width="{width}" height="{_BASE + 32}" font-size="11" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _x(token: int) -> int:
    return 20 + token * _STEP


def _joined(block: tuple[int, ...], colour: str) -> str:
    """Arcs from each token to the next of its block: swaps of neighbours generate all others."""
    arcs = []
    for left, right in pairwise(block):
        reach = _x(right) - _x(left)
        lift = min(16 + 0.25 * reach, _BASE - 6)
        arcs.append(f"M{_x(left)} {_BASE}q{reach / 2} {-2 * lift:.1f} {reach} 0")
    dots = [_dot(token, colour, hollow=False) for token in block]
    return (
        f'<path d="{"".join(arcs)}" stroke="{colour}" stroke-width="2" fill="none"/>{"".join(dots)}'
    )


def _dot(token: int, colour: str, *, hollow: bool) -> str:
    ink = f'fill="none" stroke="{colour}" stroke-width="2"' if hollow else f'fill="{colour}"'
    return (
        f'<circle cx="{_x(token)}" cy="{_BASE}" r="{_RADIUS}" {ink}/>'
        f'<text x="{_x(token)}" y="{_BASE + 24}" text-anchor="middle">{token}</text>'
    )
