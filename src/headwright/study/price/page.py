"""What the page says: the sentence, what was proved, the laws with intervals, what is open."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from headwright.study.price.figures import shown_keys
from headwright.study.price.groups import Group, groups
from headwright.study.price.law import (
    against_prediction,
    cyclic_law,
    interval,
    medians,
    resampled,
    threshold_law,
)
from headwright.study.price.predicted import threshold
from headwright.study.section import Rows, Section


def sections(rows: Rows) -> list[Section]:
    found = groups(rows)
    families = {group.family for group in found}
    said = [_price(found), _proved(found)]
    if "random" in families:
        said.append(_random(rows, found))
    if "cyclic" in families:
        said.append(_cyclic(rows, found))
    return [*said, _method(), _unsettled(found)]


def _price(found: list[Group]) -> Section:
    N = shown_keys(found)
    return Section(
        "What a query costs",
        quote=" ".join([*_random_quote(found), *_cyclic_quote(found)]),
        figure="price",
        caption=f"Median and quartiles over random sets of N = {N} unit keys, leak 10%; sets that "
        "cannot be selected count as infinitely expensive. Ceilings are drawn where the theorem "
        "for those keys says anything of half of the sets.",
        table=_prices(found, N),
    )


def _random_quote(found: list[Group]) -> list[str]:
    """Where the law was fitted, with the powers that came out."""
    sizes = sorted({group.q for group in found if group.family == "random"})
    fits = [threshold_law(medians(found), "random", q) for q in sizes]
    powers = [fit.exponents[0] for fit in fits if fit is not None]
    if not powers:
        return []
    return [
        "On random keys one number decides, the dimension $d^*$ at which half of all sets can be "
        "selected at all: well above it a query costs little more than any unit keys must pay, "
        f"near it the price grows like $1/(1-d^*/d)$ to the power {_range(powers)}."
    ]


def _cyclic_quote(found: list[Group]) -> list[str]:
    """That every set can be selected is a theorem (`keys`); what it costs was fitted."""
    sizes = sorted({group.q for group in found if group.family == "cyclic"})
    fits = [cyclic_law(medians(found), q) for q in sizes]
    known = [fit.exponents for fit in fits if fit is not None]
    if not known:
        return []
    of_N = _range([a for a, _ in known])
    of_d = _range([-minus_b for _, minus_b in known])
    return [
        "Cyclic keys select every set in 2q dimensions, and pay for it with about the square of "
        f"N/d (N to the power {of_N}, d to the power {of_d})."
    ]


def _range(numbers: list[float]) -> str:
    low = f"{min(numbers):.2f}"
    high = f"{max(numbers):.2f}"
    return low if low == high else f"{low} to {high}"


def _prices(found: list[Group], N: int) -> list[dict[str, Any]]:
    by_place: dict[tuple[int, int], dict[str, Any]] = {}
    for group in found:
        if group.N == N:
            place = (group.q, group.d)
            row = by_place.setdefault(place, {"q": group.q, "d": group.d})
            row["floor"] = f"{group.floor:.3g}"
            row[group.family] = _cost(group)
    return [by_place[place] for place in sorted(by_place)]


def _cost(group: Group) -> str:
    price = f"{group.median:.3g}" if math.isfinite(group.median) else "-"
    return f"{price} ({group.selectable / group.sets:.0%})"


def _proved(found: list[Group]) -> Section:
    families = list(dict.fromkeys(group.family for group in found))
    table = [_counts(family, [g for g in found if g.family == family]) for family in families]
    whole = _counts("all", found)
    text = (
        "A norm is certified when a proved lower bound lies within $10^{-6}$ of it; a set is "
        "impossible when a convex combination that proves it was found and checked again. Sets "
        "that are neither count against the share certified."
    )
    rounded = lost_to_rounding(found)
    if rounded:
        text += (
            f"\n\n{rounded} of the impossible sets are cyclic with d at least 2q: the theorem has "
            "a query for exact keys, and the keys as they are stored, rounded to double "
            "precision, have none."
        )
    return Section("What is proved", text=text, table=[*table, whole])


def lost_to_rounding(found: list[Group]) -> int:
    """Sets that exact cyclic keys select, and rounded ones provably do not."""
    return sum(g.impossible for g in found if g.family == "cyclic" and g.d >= 2 * g.q)


def _counts(name: str, found: list[Group]) -> dict[str, Any]:
    selectable = sum(g.selectable for g in found)
    undecided = sum(g.undecided for g in found)
    certified = sum(g.certified for g in found)
    wanted = selectable + undecided
    return {
        "keys": name,
        "sets": sum(g.sets for g in found),
        "query found": selectable,
        "impossible, proved": sum(g.impossible for g in found),
        "undecided": undecided,
        "norms certified": f"{certified / wanted:.1%}" if wanted else "",
    }


def _random(rows: Rows, found: list[Group]) -> Section:
    text = "$d^*=\\min_\\kappa q(1+\\kappa^2)+(N-q)E(g-\\kappa)_+^2$, g standard normal."
    ratios = list(against_prediction(found).values())
    if ratios:
        off = float(np.median(np.abs(np.array(ratios) - 1)))
        text += (
            " From a quarter above it, the length that a Gaussian comparison predicts, with "
            f"nothing fitted, misses the measured median by {off:.1%} in the middle of "
            f"{len(ratios)} groups (measured over predicted: {min(ratios):.2f} to "
            f"{max(ratios):.2f})."
        )
    return Section(
        "Random keys: one dimension decides",
        text=text,
        figure="random",
        caption="Groups of q > 1; every N has its own d*.",
        table=threshold_table(rows, found),
    )


def threshold_table(rows: Rows, found: list[Group]) -> list[dict[str, Any]]:
    """b of floor (1 - d*/d)^(-b), for every family and q."""
    samples = resampled(rows)
    table = []
    for family in ("random", "optimised"):
        for q in sorted({group.q for group in found}):
            law = partial(threshold_law, family=family, q=q)
            fit = law(medians(found))
            if fit is None:
                continue
            (ends,) = interval(samples, law)
            table.append(
                {
                    "keys": family,
                    "q": q,
                    "b": f"{fit.exponents[0]:.2f}",
                    "95%": f"{ends[0]:.2f} to {ends[1]:.2f}",
                    "R²": f"{fit.r2:.2f}",
                    "groups": fit.points,
                }
            )
    return table


def _cyclic(rows: Rows, found: list[Group]) -> Section:
    return Section(
        "Cyclic keys: the square of N/d",
        text=r"Norm $= c\,N^a/d^b$ where $d$ is at least $2q^2$ and at most $N/4$. A floor and a "
        "ceiling that both grow like $(N/d)^2$ are proved, so the exponents should be 2.",
        figure="cyclic",
        caption="Sets of at most d/2 keys. Points above the others are sets whose keys d does not "
        "tell apart yet.",
        table=cyclic_table(rows, found),
    )


def cyclic_table(rows: Rows, found: list[Group]) -> list[dict[str, Any]]:
    samples = resampled(rows)
    table = []
    for q in sorted({group.q for group in found}):
        law = partial(cyclic_law, q=q)
        fit = law(medians(found))
        if fit is None:
            continue
        of_N, of_d = interval(samples, law)
        a, minus_b = fit.exponents
        table.append(
            {
                "q": q,
                "a": f"{a:.2f}",
                "a, 95%": f"{of_N[0]:.2f} to {of_N[1]:.2f}",
                "b": f"{-minus_b:.2f}",
                "b, 95%": f"{-of_d[1]:.2f} to {-of_d[0]:.2f}",
                "R²": f"{fit.r2:.3f}",
                "groups": fit.points,
            }
        )
    return table


def _method() -> Section:
    text = (
        "Every row is one random set: the shortest query with equal weights on the set and 10% of "
        "the weight outside, found by Newton's method, with a lower bound from the dual problem. "
        "Optimised keys minimise a soft form of every key's largest inner product with another.\n\n"
        "Floor: unit keys have, in the mean square over all sets, a margin of at most "
        "$N/\\sqrt{q(N-1)(N-q)}$ (arXiv:2601.20844), and the mean logit outside must stay "
        "$\\ln(9(N-q)/q)$ behind; in few dimensions a packing of queries gives more. Ceiling: "
        "dimension $O(q\\log N)$ is enough for random keys (arXiv:2306.02896), made explicit; "
        "small inner products are enough for optimised ones; a product of Fejér kernels is a "
        "query for cyclic ones."
    )
    return Section("Method", text=text)


def _unsettled(found: list[Group]) -> Section:
    near = sum(1 for g in found if g.family == "random" and g.d < 1.25 * threshold(g.N, g.q))
    text = (
        f"The price near d* itself ({near} groups of random keys lie below 1.25 d*), where medians "
        "of few sets scatter. Keys optimised for the price rather than for their inner products. "
        "Cyclic keys with q = 8: $d = 2q^2$ is as far as the grid goes. The largest price over all "
        "sets, which a sample of sets does not show. The price of the few sets whose gap is above "
        "$10^{-6}$ or that are undecided. The ranges of the fits were chosen after a look at a "
        "smaller run."
    )
    return Section("Not settled", text=text)
