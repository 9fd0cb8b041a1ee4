"""Station 14: sinusoidal positions tell any two tokens apart."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from headwright.report.style import ROLES, figure
from headwright.tour.station import Comparison, Evidence

HORIZON = 10_000
BITS = 200  # of the ball arithmetic


def never_coincide(seed: int) -> Evidence:
    """The closest pair by search against the continued fraction of 2 pi."""
    offsets = np.arange(1, HORIZON + 1)
    # The first pair of a sinusoidal vector is (sin t, cos t): at offset D two positions are
    # 2 |sin(D/2)| apart.
    apart = np.abs(2 * np.sin(offsets / 2))
    closest = int(offsets[apart.argmin()])
    numerators = [fraction.numerator for fraction in _convergents(8)]
    best = max(numerator for numerator in numerators if numerator <= HORIZON)

    of_offset = Comparison(
        "offset of the closest pair up to 10,000",
        {"search": float(closest), "continued fraction of 2 pi": float(best)},
        0.0,
    )
    separation = _separation(best)
    of_distance = Comparison(
        "their distance in the first pair",
        {"search": apart.min(), "ball arithmetic": float(separation.mid())},
        1e-11,
    )
    facts = {
        "no distance is zero": bool((apart > 0).all()),
        "ball arithmetic excludes zero": not separation.contains(0),
    }
    finding = (
        f"The closest pair up to offset 10,000 is {closest} apart ({closest} is nearly 113 "
        f"turns) and still differs by {apart.min():.1e} in the first pair alone."
    )
    return Evidence(
        comparisons=(of_offset, of_distance),
        facts=facts,
        finding=finding,
        draw=lambda: _draw(offsets, apart),
        caption="Distance of two positions in the first pair against their offset: small, never "
        "zero.",
    )


def _convergents(count: int) -> list[Fraction]:
    """Convergents of 2 pi: the integers that come closest to whole turns are their numerators."""
    ctx.prec = BITS
    x = 2 * arb.pi()
    quotients: list[int] = []
    found = []
    for _ in range(count):
        whole = x.floor().unique_fmpz()
        if whole is None:
            raise ArithmeticError(f"{BITS} bits are too few for this many convergents")
        quotients.append(int(whole))
        x = 1 / (x - whole)

        value = Fraction(quotients[-1])
        for quotient in reversed(quotients[:-1]):
            value = quotient + 1 / value
        found.append(value)
    return found


def _separation(offset: int) -> arb:
    """2 |sin(D/2)| with a proven error."""
    ctx.prec = BITS
    half = arb(offset) / 2
    return abs(2 * half.sin())


def _draw(offsets: np.ndarray, apart: np.ndarray) -> Any:
    """Distance against offset, and the closest pair so far."""
    closest_so_far = np.minimum.accumulate(apart)
    with figure(4.8, 2.7) as (drawing, axis):
        # Ten thousand dots are lighter as a picture than as shapes.
        dots = axis.loglog(offsets, apart, ".", color=ROLES["key"], rasterized=True)
        dots[0].set(markersize=1.5, alpha=0.35)
        axis.loglog(offsets, closest_so_far, color=ROLES["query"], label="closest so far")
        axis.set(xlabel="offset of the two positions", ylabel="distance")
        axis.legend(loc="lower left")
    return drawing
