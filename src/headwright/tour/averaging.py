"""Station 5: averaging two values, what fails, and why n = 2 hides it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwright.attention import attend
from headwright.design import closed_form
from headwright.report.style import ROLES, SERIES, figure
from headwright.tour.station import ROUNDING, Comparison, Evidence

A = 0
B = 1
N = 10
D = 64
LEAK = 0.01


def two_values(seed: int) -> Evidence:
    """The formula for two equal scores, at the sharpness it takes and at popular wrong ones."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((D, D)))[0]
    K = basis[:N]
    pair = K[:2]
    beta = closed_form.sharpness(N, leak=LEAK, m=2)
    root_d = math.sqrt(D)
    sharpened = _weights(K, root_d * beta, scale=1 / root_d)
    forgotten = _weights(K, beta, scale=1 / root_d)

    leak = 1 - sharpened[A] - sharpened[B]
    leak_of_scaled = Comparison(
        "leak with scores / sqrt(64) and sqrt(64) beta",
        {"closed form": LEAK, "softmax": leak},
        ROUNDING,
    )
    scaled_beta = closed_form.sharpness(N, leak=LEAK, m=2, scale=1 / root_d)
    beta_of_scaled = Comparison(
        "beta needed for 1% with scores / sqrt(64)",
        {"closed form": scaled_beta, "sqrt(d) times the unscaled one": root_d * beta},
        ROUNDING * 100,
    )
    half_the_sum = _weights(K, 0.5)[A]
    bare_sum = _weights(K, 1.0)[A]
    half_of_two = _weights(pair, 0.5)[A]
    facts = {
        "half the sum fails at n = 10": bool(half_the_sum < 0.15),
        "half the sum passes at n = 2": bool(abs(half_of_two - 0.5) < ROUNDING),
        "an unscaled beta fails under 1/sqrt(d)": bool(forgotten[A] < 0.2),
    }
    finding = (
        f"1% at n = 10 takes beta = {beta:.2f}; half the sum gives {half_the_sum:.3f}, "
        f"the bare sum {bare_sum:.2f}; n = 2 passes anything. Scores / sqrt(d) need sqrt(d) times "
        "the beta."
    )
    return Evidence(
        comparisons=(
            _weight_by_routes("beta = 5.98, n = 10", K, beta),
            _weight_by_routes("beta = 1 (bare sum), n = 10", K, 1.0),
            _weight_by_routes("beta = 1/2 (half the sum), n = 10", K, 0.5),
            _weight_by_routes("beta = 1/2, n = 2", pair, 0.5),
            leak_of_scaled,
            beta_of_scaled,
        ),
        facts=facts,
        finding=finding,
        draw=_draw,
        caption="Weight of each of the two keys against sharpness. At n = 2 every query looks "
        "right; dots: beta = 1/2 and 1.",
    )


def _weights(K: np.ndarray, beta: float, *, scale: float = 1.0) -> np.ndarray:
    """Of all keys, for the query beta (k_a + k_b)."""
    query = beta * (K[A] + K[B])
    return attend(query, K, np.eye(len(K)), scale=scale).weights


def _weight_by_routes(label: str, K: np.ndarray, beta: float) -> Comparison:
    formula = float(_closed_form(len(K), beta))
    softmax = float(_weights(K, beta)[A])
    return Comparison(f"alpha_a at {label}", {"closed form": formula, "softmax": softmax}, ROUNDING)


def _closed_form(n: int, beta: Any) -> Any:
    """e^beta / (n - 2 + 2 e^beta)"""
    return np.exp(beta) / (n - 2 + 2 * np.exp(beta))


def _draw() -> Any:
    """The weight of each of the two keys against sharpness."""
    betas = np.linspace(0, 10, 200)
    wrong = np.array([0.5, 1.0])
    colours = (ROLES["muted"], SERIES[0], SERIES[1])
    with figure(4.8, 2.8) as (drawing, axis):
        for n, colour in zip((2, 10, 100), colours, strict=True):
            axis.plot(betas, _closed_form(n, betas), color=colour, label=f"n = {n}")
            axis.plot(wrong, _closed_form(n, wrong), "o", color=colour, markersize=4)
        axis.set_xlabel(r"sharpness $\beta$ in $q = \beta(k_a + k_b)$")
        axis.set(ylabel=r"$\alpha_a = \alpha_b$", ylim=(0, 0.53))
        axis.legend(loc="lower right")
    return drawing
