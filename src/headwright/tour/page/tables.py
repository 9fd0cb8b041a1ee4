"""The numbers of a station as HTML: each quantity by all its routes, sampled ones with their
interval; and the facts beside them."""

from __future__ import annotations

import math

from headwright.report.notation import set_plain
from headwright.tour.station import Comparison

_SAMPLED = "±: five standard errors, or a little more."
# Smaller numbers are written with a power of ten
_SMALL = 1e-3


def numbers_table(comparisons: tuple[Comparison, ...]) -> str:
    """A group of rows per quantity, one row per route: two columns, which fit a phone."""
    groups = "".join(_group(comparison) for comparison in comparisons)
    intervals = [c.interval(route) for c in comparisons for route in c.routes]
    sampled = any(interval is not None for interval in intervals)
    note = f'<p class="soft">{_SAMPLED}</p>' if sampled else ""
    return f'<table class="numbers">{groups}</table>{note}'


def _group(comparison: Comparison) -> str:
    said = "the routes agree" if comparison.agrees else "the routes disagree"
    mark = f'<span title="{said}">{_mark(comparison.agrees)}</span>'
    quantity = (
        f'<tr><th colspan="2" scope="rowgroup">{mark} {set_plain(comparison.quantity)}</th></tr>'
    )
    rows = []
    for route, value in comparison.routes.items():
        number = _number(value, comparison.interval(route))
        rows.append(f'<tr><td class="soft">{set_plain(route)}</td><td>{number}</td></tr>')
    return f"<tbody>{quantity}{''.join(rows)}</tbody>"


def facts_list(facts: dict[str, bool]) -> str:
    items = [f"<li>{_mark(true)} {set_plain(fact)}</li>" for fact, true in facts.items()]
    return f'<ul class="facts">{"".join(items)}</ul>' if items else ""


def _mark(true: bool) -> str:
    return "✓" if true else "✗"


def _number(value: float, interval: float | None) -> str:
    if not interval:
        return set_plain(shown(value))
    exponent = 0 if abs(value) >= _SMALL else math.floor(math.log10(abs(value) or interval))
    unit = 10.0**exponent
    # Two digits of the interval, and as many of the number
    decimals = max(1 - math.floor(math.log10(interval / unit)), 0)
    pair = f"{value / unit:.{decimals}f} ± {interval / unit:.{decimals}f}"
    return set_plain(f"({pair}) · 1e{exponent}" if exponent else pair)


def shown(value: float) -> str:
    """Seven significant digits: enough to see routes agree, short enough to read."""
    return f"{value:.7g}"
