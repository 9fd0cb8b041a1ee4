"""Stations 1 to 3: weights are a distribution; copying needs a number; being larger is not enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax

from headwright.attention import attend, weights
from headwright.design import closed_form
from headwright.report.style import ROLES, SERIES, figure
from headwright.tour.station import Comparison, Station

ROUNDING = 1e-12
ROOT = 1e-9  # brentq's own tolerance, in units of beta


def distribution(seed: int) -> Station:
    rng = np.random.default_rng(seed)
    calm = rng.standard_normal(8) * 2
    wild = rng.uniform(-1e5, 1e5, size=(1000, 64))
    alpha, extreme = weights(calm), weights(wild)
    # A second route to the softmax that shares no step with ours: ratios, sum_j e^{z_j - z_i} = 1 /
    # alpha_i.
    by_ratios = np.array([1.0 / np.exp(calm - z).sum() for z in calm])
    return Station(
        id="01",
        title="Weights are a categorical distribution",
        claim=r"Every weight $\alpha_i = e^{z_i} / \sum_j e^{z_j}$ is at least 0, and together they sum to 1, "
        r"so they are the probabilities of drawing one of the n values.",
        comparisons=(
            Comparison("sum of the weights", {"softmax": float(alpha.sum()), "ratios": float(by_ratios.sum())}, ROUNDING),
            Comparison("largest weight", {"softmax": float(alpha.max()), "ratios": float(by_ratios.max()),
                                          "log-softmax": float(np.exp(log_softmax(calm)).max())}, ROUNDING),
            Comparison("largest |sum - 1|, 1,000 rows of logits up to 1e5",
                       {"softmax": float(np.abs(extreme.sum(axis=1) - 1).max()), "theory": 0.0}, ROUNDING),
        ),
        facts={"no weight is negative": bool((extreme >= 0).all() and (alpha >= 0).all()),
               "nothing overflows at logits of 1e5": bool(np.isfinite(extreme).all())},
        finding="Non-negative and normalised, also at logits of +-100,000: alpha is a categorical distribution.",
        draw=lambda: _draw_distribution(calm),
        caption="The same eight logits at sharpness 0, 1 and 4: from uniform to almost one-hot; each sums to 1.",
    )  # fmt: skip


def _draw_distribution(z: np.ndarray) -> Any:
    with figure(6.4, 2.2, columns=3) as (drawing, axes):
        for axis, beta in zip(axes, (0, 1, 4), strict=True):
            axis.bar(np.arange(len(z)), weights(beta * z), color=ROLES["key"])
            axis.set(ylim=(0, 1), title=rf"$\beta = {beta}$", xlabel="key", xticks=range(len(z)))
        axes[0].set_ylabel(r"weight $\alpha_i$")
    return drawing


def sharpness_table(seed: int) -> Station:
    table = [(n, eps) for n in (10, 100, 10_000, 1_000_000) for eps in (0.1, 0.01, 0.001)]
    comparisons = tuple(
        Comparison(
            f"beta for leak {eps:g} at n = {n:,}",
            {
                "closed form": closed_form.sharpness(n, leak=eps),
                "root of the softmax": _needed(n, eps),
            },
            ROOT,
        )
        for n, eps in table
    )
    return Station(
        id="02",
        title="Copying one value, and the sharpness it takes",
        claim=r"With orthonormal keys, $q = \beta k_j$ copies $v_j$ up to a leak $\varepsilon$ exactly when "
        r"$\beta \geq \ln\frac{(n-1)(1-\varepsilon)}{\varepsilon}$: it grows like $\ln n$.",
        comparisons=comparisons,
        finding=f"beta >> 0 has a number: {closed_form.sharpness(10, leak=0.01):.2f} for 1 % at n = 10, "
        f"{closed_form.sharpness(10**6, leak=0.01):.2f} at a million keys.",
        draw=_draw_sharpness,
        caption="Leak against sharpness; dots mark the closed-form threshold for a leak of 1 %.",
    )


def _needed(n: int, eps: float) -> float:
    """The sharpness at which the softmax itself leaks eps; the n - 1 equal logits are one logit
    plus ln(n - 1)."""

    def excess(beta: float) -> float:
        alpha = weights(np.array([beta, math.log(n - 1)]))
        return float(alpha[1] - eps)

    return float(brentq(excess, 0.0, 60.0, xtol=ROOT / 4))  # pyright: ignore[reportArgumentType]


def _draw_sharpness() -> Any:
    beta = np.linspace(0, 24, 200)
    with figure(6.4, 3.0) as (drawing, axis):
        for n, colour in zip((10, 1000, 1_000_000), SERIES, strict=False):
            axis.semilogy(
                beta,
                [closed_form.leak(n, sharpness=b) for b in beta],
                color=colour,
                label=f"n = {n:,}",
            )
            axis.plot(closed_form.sharpness(n, leak=0.01), 0.01, "o", color=colour)
        axis.axhline(0.01, color=ROLES["muted"], linewidth=0.8, linestyle=":")
        axis.set(xlabel=r"sharpness $\beta$", ylabel="leak", ylim=(1e-5, 1.3))
        axis.legend(loc="lower left")
    return drawing


def larger_is_not_enough(seed: int) -> Station:
    n, lead = 10, 0.1
    logits = np.r_[lead, np.zeros(n - 1)]
    # A key a hundred times as long as the others, pointing away from the query: k_j >> k_i, yet it
    # gets nothing.
    K = np.eye(n)
    K[0] *= -100.0
    away = attend(np.eye(n)[0], K, np.eye(n)).weights[0]
    return Station(
        id="03",
        title='"Larger" is not enough',
        claim=r"$k_j^\top q > k_i^\top q$ does not copy, and neither does a longer key: the lead $\Delta$ over every "
        r"other score must reach $\ln\frac{(n-1)(1-\varepsilon)}{\varepsilon}$.",
        comparisons=(
            Comparison("weight at a lead of 0.1, n = 10",
                       {"closed form": 1 / (1 + (n - 1) * math.exp(-lead)), "softmax": float(weights(logits)[0])}, ROUNDING),
            Comparison("log weight of a long key that points away",
                       {"closed form": -100 - math.log(n - 1 + math.exp(-100)), "softmax": math.log(float(away))}, 1e-9),
            Comparison("lead needed for 99 % at n = 10",
                       {"closed form": closed_form.sharpness(n, leak=0.01), "root of the softmax": _needed(n, 0.01)}, ROOT),
            Comparison("keys over which a lead of 6.79 keeps 99 %",
                       {"horizon n*": closed_form.horizon(closed_form.sharpness(n, leak=0.01), leak=0.01), "n": float(n)},
                       ROUNDING * 100),
        ),
        facts={"a lead of 0.1 keeps less than 11 %": float(weights(logits)[0]) < 0.11,
               "the long key gets less than 1e-40": float(away) < 1e-40},
        finding=f"A lead of 0.1 gives {weights(logits)[0]:.3f} at n = 10; a key 100 times longer that points away "
        f"gets {away:.0e}.",
        draw=_draw_lead,
        caption="Weight of the leading key against its lead, for growing n; the dot is a lead of 0.1 at n = 10.",
    )  # fmt: skip


def _draw_lead() -> Any:
    lead = np.linspace(0, 14, 200)
    with figure(6.4, 2.8) as (drawing, axis):
        for n, colour in zip((10, 100, 1000), SERIES, strict=False):
            axis.plot(lead, 1 / (1 + (n - 1) * np.exp(-lead)), color=colour, label=f"n = {n}")
        axis.plot(0.1, 1 / (1 + 9 * math.exp(-0.1)), "o", color=SERIES[0])
        axis.axhline(0.99, color=ROLES["muted"], linewidth=0.8, linestyle=":")
        axis.text(0.1, 0.92, "99 %", color=ROLES["muted"], fontsize=8.5)
        axis.set(
            xlabel=r"lead $\Delta$ of $k_j^\top q$ over every other score",
            ylabel=r"$\alpha_j$",
            ylim=(0, 1.03),
        )
        axis.legend(loc="center right")
    return drawing
