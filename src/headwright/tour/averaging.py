"""Station 5: averaging two values, what fails, and why n = 2 hides it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwright.attention import attend
from headwright.design import closed_form
from headwright.report.style import ROLES, SERIES, figure
from headwright.tour.station import Comparison, Station

ROUNDING = 1e-12
A, B = 0, 1


def two_values(seed: int) -> Station:
    n, d = 10, 64
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    K = basis[:n]
    beta = closed_form.sharpness(n, leak=0.01, m=2)
    scaled = attend(
        math.sqrt(d) * beta * (K[A] + K[B]), K, np.eye(n), scale=1 / math.sqrt(d)
    ).weights
    unscaled = attend(beta * (K[A] + K[B]), K, np.eye(n), scale=1 / math.sqrt(d)).weights
    return Station(
        id="05",
        title="Averaging two values",
        claim=r"$q = \beta(k_a + k_b)$ gives each of the two $\frac{e^\beta}{n - 2 + 2e^\beta}$, which is $\frac12$ only for "
        r"large $\beta$. $\frac12(k_a + k_b)$ and a bare $k_a + k_b$ do not average, unless $n = 2$.",
        comparisons=(
            _weight("beta = 5.98, n = 10", K, beta),
            _weight("beta = 1 (bare sum), n = 10", K, 1.0),
            _weight("beta = 1/2 (half the sum), n = 10", K, 0.5),
            _weight("beta = 1/2, n = 2", K[:2], 0.5),
            Comparison("leak with scores / sqrt(64) and sqrt(64) beta",
                       {"closed form": 0.01, "softmax": float(1 - scaled[A] - scaled[B])}, ROUNDING),
            Comparison("beta needed for 1 % with scores / sqrt(64)",
                       {"closed form": closed_form.sharpness(n, leak=0.01, m=2, scale=1 / math.sqrt(d)),
                        "sqrt(d) times the unscaled one": math.sqrt(d) * beta}, ROUNDING * 100),
        ),
        facts={"half the sum fails at n = 10": _alpha(K, 0.5) < 0.15,
               "half the sum passes at n = 2": abs(_alpha(K[:2], 0.5) - 0.5) < ROUNDING,
               "an unscaled beta fails under 1/sqrt(d)": float(unscaled[A]) < 0.2},
        finding=f"1 % at n = 10 takes beta = {beta:.2f}; half the sum gives {_alpha(K, 0.5):.3f}, the bare sum "
        f"{_alpha(K, 1.0):.2f}; n = 2 passes anything. Scores / sqrt(d) need sqrt(d) times the beta.",
        draw=_draw,
        caption="Weight of each of the two keys against sharpness. At n = 2 every query looks right; dots: beta = 1/2 and 1.",
    )  # fmt: skip


def _alpha(K: np.ndarray, beta: float) -> float:
    return float(attend(beta * (K[A] + K[B]), K, np.eye(len(K))).weights[A])


def _weight(label: str, K: np.ndarray, beta: float) -> Comparison:
    n = len(K)
    formula = math.exp(beta) / (n - 2 + 2 * math.exp(beta))
    return Comparison(
        f"alpha_a at {label}", {"closed form": formula, "softmax": _alpha(K, beta)}, ROUNDING
    )


def _draw() -> Any:
    beta = np.linspace(0, 10, 200)
    with figure(6.4, 2.8) as (drawing, axis):
        for n, colour in zip((2, 10, 100), (ROLES["muted"], SERIES[0], SERIES[1]), strict=True):
            height = np.exp(beta) / (n - 2 + 2 * np.exp(beta))
            axis.plot(beta, height, color=colour, label=f"n = {n}")
            for b in (0.5, 1.0):
                axis.plot(
                    b, math.exp(b) / (n - 2 + 2 * math.exp(b)), "o", color=colour, markersize=4
                )
        axis.set(
            xlabel=r"sharpness $\beta$ in $q = \beta(k_a + k_b)$",
            ylabel=r"$\alpha_a = \alpha_b$",
            ylim=(0, 0.53),
        )
        axis.legend(loc="lower right")
    return drawing
