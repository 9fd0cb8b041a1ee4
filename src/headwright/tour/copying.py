"""Stations 1 to 3: weights are a distribution; copying needs a number; larger is not enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax

from headwright.attention import attend, weights
from headwright.design import closed_form
from headwright.report.style import ROLES, SERIES, figure
from headwright.tour.station import ROUNDING, Comparison, Evidence

ROOT = 1e-9  # brentq's own tolerance, in units of beta
LEAK = 0.01  # the leak that the sentences speak of


def distribution(seed: int) -> Evidence:
    """Softmax against two other ways of writing it, and against logits far beyond overflow."""
    rng = np.random.default_rng(seed)
    calm = rng.standard_normal(8) * 2
    wild = rng.uniform(-1e5, 1e5, size=(1000, 64))
    alpha = weights(calm)
    extreme = weights(wild)
    # A second route to the softmax that shares no step with ours: ratios,
    # sum_j e^{z_j - z_i} = 1 / alpha_i.
    by_ratios = np.array([1.0 / np.exp(calm - z).sum() for z in calm])
    by_logarithms = np.exp(log_softmax(calm))

    total = Comparison(
        "sum of the weights",
        {"softmax": alpha.sum(), "ratios": by_ratios.sum()},
        ROUNDING,
    )
    largest = Comparison(
        "largest weight",
        {"softmax": alpha.max(), "ratios": by_ratios.max(), "log-softmax": by_logarithms.max()},
        ROUNDING,
    )
    worst = np.abs(extreme.sum(axis=1) - 1).max()
    far_logits = Comparison(
        "largest |sum - 1|, 1,000 rows of logits up to 1e5",
        {"softmax": worst, "theory": 0.0},
        ROUNDING,
    )
    facts = {
        "no weight is negative": bool((extreme >= 0).all() and (alpha >= 0).all()),
        "nothing overflows at logits of 1e5": bool(np.isfinite(extreme).all()),
    }
    finding = (
        "Non-negative and normalised, also at logits of ±100,000: "
        "alpha is a categorical distribution."
    )
    return Evidence(
        comparisons=(total, largest, far_logits),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_distribution(calm),
        caption="The same eight logits at sharpness 0, 1 and 4: from uniform to almost one-hot; "
        "each sums to 1.",
    )


def _draw_distribution(z: np.ndarray) -> Any:
    """The weights of the same logits, ever sharper."""
    keys = np.arange(len(z))
    with figure(4.8, 2.2, columns=3) as (drawing, axes):
        for axis, beta in zip(axes, (0, 1, 4), strict=True):
            axis.bar(keys, weights(beta * z), color=ROLES["key"])
            axis.set_title(rf"$\beta = {beta}$")
            axis.set(ylim=(0, 1), xlabel="key", xticks=keys[::2])
            axis.tick_params(labelleft=axis is axes[0])
        axes[0].set_ylabel(r"weight $\alpha_i$")
    return drawing


def sharpness_table(seed: int) -> Evidence:
    """The threshold in closed form against the root of the softmax itself."""
    sizes = (10, 100, 10_000, 1_000_000)
    leaks = (0.1, 0.01, 0.001)
    comparisons = tuple(_sharpness_by_routes(n, leak) for n in sizes for leak in leaks)

    at_ten = closed_form.sharpness(10, leak=LEAK)
    at_a_million = closed_form.sharpness(10**6, leak=LEAK)
    finding = (
        f"beta >> 0 has a number: {at_ten:.2f} for 1% at n = 10, "
        f"{at_a_million:.2f} at a million keys."
    )
    return Evidence(
        comparisons=comparisons,
        finding=finding,
        draw=_draw_sharpness,
        caption="Leak against sharpness; dots mark the closed-form threshold for a leak of 1%.",
    )


def _sharpness_by_routes(n: int, leak: float) -> Comparison:
    routes = {
        "closed form": closed_form.sharpness(n, leak=leak),
        "root of the softmax": _needed(n, leak),
    }
    return Comparison(f"beta for leak {leak:g} at n = {n:,}", routes, ROOT)


def _needed(n: int, leak: float) -> float:
    """The sharpness at which the softmax itself leaks that much; the n - 1 equal logits are one
    logit plus ln(n - 1)."""

    def excess(beta: float) -> float:
        logits = np.array([beta, math.log(n - 1)])
        return float(weights(logits)[1] - leak)

    root: Any = brentq(excess, 0.0, 60.0, xtol=ROOT / 4)
    return float(root)


def _draw_sharpness() -> Any:
    """Leak against sharpness, for three numbers of keys."""
    betas = np.linspace(0, 24, 200)
    with figure(4.8, 3.0) as (drawing, axis):
        for n, colour in zip((10, 1000, 1_000_000), SERIES, strict=True):
            leaks = [closed_form.leak(n, sharpness=beta) for beta in betas]
            threshold = closed_form.sharpness(n, leak=LEAK)
            axis.semilogy(betas, leaks, color=colour, label=f"n = {n:,}")
            axis.plot(threshold, LEAK, "o", color=colour)
        axis.axhline(LEAK, color=ROLES["muted"], linewidth=0.8, linestyle=":")
        axis.set(xlabel=r"sharpness $\beta$", ylabel="leak", ylim=(1e-5, 1.3))
        axis.legend(loc="lower left")
    return drawing


def larger_is_not_enough(seed: int) -> Evidence:
    """A small lead, and a long key that points the wrong way."""
    n = 10
    lead = 0.1
    logits = np.r_[lead, np.zeros(n - 1)]
    leading = float(weights(logits)[0])
    # A key a hundred times as long as the others, pointing away from the query: k_j >> k_i, yet it
    # gets nothing.
    K = np.eye(n)
    K[0] *= -100.0
    query = np.eye(n)[0]
    away = float(attend(query, K, np.eye(n)).weights[0])
    needed = closed_form.sharpness(n, leak=LEAK)

    small_lead = Comparison(
        "weight at a lead of 0.1, n = 10",
        {"closed form": _weight_of_leader(n, lead), "softmax": leading},
        ROUNDING,
    )
    log_away = -100 - math.log(n - 1 + math.exp(-100))
    long_key = Comparison(
        "log weight of a long key that points away",
        {"closed form": log_away, "softmax": math.log(away)},
        1e-9,
    )
    needed_lead = Comparison(
        "lead needed for 99% at n = 10",
        {"closed form": needed, "root of the softmax": _needed(n, LEAK)},
        ROOT,
    )
    horizon = Comparison(
        "keys over which a lead of 6.79 keeps 99%",
        {"horizon n*": closed_form.horizon(needed, leak=LEAK), "n": float(n)},
        ROUNDING * 100,
    )
    facts = {
        "a lead of 0.1 keeps less than 11%": leading < 0.11,
        "the long key gets less than 1e-40": away < 1e-40,
    }
    finding = (
        f"A lead of 0.1 gives {leading:.3f} at n = 10; a key 100 times longer that points "
        f"away gets {away:.0e}."
    )
    return Evidence(
        comparisons=(small_lead, long_key, needed_lead, horizon),
        facts=facts,
        finding=finding,
        draw=_draw_lead,
        caption="Weight of the leading key against its lead, for growing n; "
        "the dot is a lead of 0.1 at n = 10.",
    )


def _weight_of_leader(n: int, lead: Any) -> Any:
    """Of a key whose score is ahead of n - 1 equal ones."""
    return 1 / (1 + (n - 1) * np.exp(-lead))


def _draw_lead() -> Any:
    """The weight of a leading key against its lead."""
    leads = np.linspace(0, 14, 200)
    with figure(4.8, 2.8) as (drawing, axis):
        for n, colour in zip((10, 100, 1000), SERIES, strict=True):
            axis.plot(leads, _weight_of_leader(n, leads), color=colour, label=f"n = {n}")
        axis.plot(0.1, _weight_of_leader(10, 0.1), "o", color=SERIES[0])
        axis.axhline(0.99, color=ROLES["muted"], linewidth=0.8, linestyle=":")
        axis.text(0.1, 0.92, "99%", fontsize=8.5)
        axis.set_xlabel(r"lead $\Delta$ of $k_j^\top q$ over every other score")
        axis.set(ylabel=r"$\alpha_j$", ylim=(0, 1.03))
        axis.legend(loc="center right")
    return drawing
