"""Stations 6 to 8: random keys and one head."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from headwright.attention import attend
from headwright.keys import GaussianKeys
from headwright.noise import moments
from headwright.report.style import ROLES, SERIES, figure
from headwright.tour.classic import (
    BETA,
    BOTH,
    EXACT,
    MEANS,
    A,
    B,
    N,
    draw_weights,
    exact_squared_error,
    long_or_short,
    over_gamma,
    sampled,
    squared_errors,
)  # fmt: skip
from headwright.tour.station import Comparison, Station


def order_of_limits(seed: int) -> Station:
    calm, loud = (
        (GaussianKeys(MEANS, isotropic=1e-6), 10.0),
        (GaussianKeys(MEANS, isotropic=1e-4), 1000.0),
    )
    good, bad = _error_by_routes(*calm, seed=seed), _error_by_routes(*loud, seed=seed)
    still = attend(10.0 * BOTH, MEANS, MEANS).weights
    noiseless = float(((still - BOTH / 2) ** 2).sum())
    vanishing = exact_squared_error(10.0 * BOTH, GaussianKeys(MEANS, isotropic=1e-14))
    return Station(
        id="06",
        title="Random keys with tiny noise: the order of limits",
        claim=r"For $k_i \sim N(\mu_i, \alpha I)$ the query $q = \beta(\mu_a + \mu_b)$ still averages, if $\alpha \to 0$ comes "
        r"first and $\beta \to \infty$ second: the logits have deviation $\beta\sqrt{2\alpha}$.",
        comparisons=(
            Comparison("E|c - target|^2 at alpha = 1e-6, beta = 10", *good),
            Comparison("E|c - target|^2 at alpha = 1e-4, beta = 1000", *bad),
            Comparison(
                "alpha -> 0 at beta = 10",
                {"exact": vanishing, "noiseless softmax": noiseless},
                EXACT,
            ),
        ),
        facts={
            "tiny noise first: the average holds": good[0]["exact"] < 1e-3,
            "sharpness first: it fails": bad[0]["exact"] > 0.3,
        },
        finding=f"Squared error {good[0]['exact']:.1e} at alpha = 1e-6, beta = 10, but {bad[0]['exact']:.2f} at alpha = 1e-4, "
        "beta = 1000: the same formula, limits taken in the wrong order.",
        draw=_draw_limits,
        caption="Exact squared error of the output against sharpness: first the leak falls, then the noise takes over.",
    )


def _error_by_routes(
    keys: GaussianKeys, beta: float, *, seed: int
) -> tuple[dict[str, float], float]:
    value, slack = sampled(squared_errors(draw_weights(beta * BOTH[None, :], keys, seed)))
    return {"exact": exact_squared_error(beta * BOTH, keys), "drawn keys": value}, slack + EXACT


def _draw_limits() -> Any:
    betas = np.geomspace(1, 3000, 40)
    with figure(6.4, 2.8) as (drawing, axis):
        for alpha, colour in zip((1e-2, 1e-4, 1e-6), SERIES, strict=False):
            keys = GaussianKeys(MEANS, isotropic=alpha)
            exponent = round(math.log10(alpha))
            errors = [exact_squared_error(b * BOTH, keys) for b in betas]
            axis.loglog(betas, errors, color=colour, label=rf"$\alpha = 10^{{{exponent}}}$")
        axis.set(xlabel=r"sharpness $\beta$", ylabel=r"$E\|c - \frac{1}{2}(v_a + v_b)\|^2$")
        axis.legend(loc="lower right")
    return drawing


def one_length(seed: int) -> Station:
    keys, q = long_or_short(A), BETA * BOTH
    exact, drawn = moments(q, keys, MEANS), draw_weights(q[None, :], long_or_short(A), seed)[:, A]
    mean, slack = sampled(drawn)
    second, second_slack = sampled(drawn**2)

    def alpha_a(gamma: float) -> float:
        return float(
            1
            / (
                1
                + math.exp(min(BETA * (1 - gamma), 700))
                + (N - 2) * math.exp(min(-BETA * gamma, 700))
            )
        )

    spread = math.sqrt(over_gamma(lambda g: alpha_a(g) ** 2) - over_gamma(alpha_a) ** 2)
    limit = moments(q, keys, MEANS, method="limit")
    inside = float(ndtr(0.5 * math.sqrt(2)) - ndtr(-0.5 * math.sqrt(2)))
    gammas = keys.sample(np.random.default_rng(seed), 20_000)[:, A, A]
    within, within_slack = sampled((np.abs(gammas - 1) < 0.5).astype(float))
    return Station(
        id="07",
        title="One key of random length: one head flips a coin",
        claim=r"With $\Sigma_a = \alpha I + \frac12\mu_a\mu_a^\top$ the key is $k_a \approx \gamma\mu_a$, "
        r"$\gamma \sim N(1, \frac12)$, and $\alpha_a \approx \frac{1}{1 + e^{\beta(1 - \gamma)}}$: c swings between $v_a$ and $v_b$.",
        comparisons=(
            Comparison("E alpha_a", {"exact": float(exact.weights_mean[A]), "integral over gamma": over_gamma(alpha_a),
                                     "drawn keys": mean}, slack),
            Comparison("E alpha_a^2", {"exact": float(exact.covariance[A, A] + exact.mean[A] ** 2),
                                       "integral over gamma": over_gamma(lambda g: alpha_a(g) ** 2),
                                       "drawn keys": second}, second_slack),
            Comparison("standard deviation of alpha_a",
                       {"exact": math.sqrt(exact.covariance[A, A]), "integral over gamma": spread}, EXACT),
            Comparison("Var alpha_a as beta grows", {"limit engine": float(limit.covariance[A, A]), "fair coin": 0.25}, EXACT),
            Comparison("P(0.5 < gamma < 1.5)", {"normal law": inside, "drawn keys": within}, within_slack),
        ),
        facts={"c is rarely near the average": float(np.mean(np.abs(drawn - 0.5) < 0.25)) < 0.1,
               "[0.5, 1.5] holds barely more than half of the time": inside < 0.53},
        finding=f"alpha_a has mean {exact.weights_mean[A]:.3f} and standard deviation {spread:.3f}: "
        f"a coin. gamma lies in [0.5, 1.5] only {inside:.0%} of the time, because 1/2 is a variance.",
        draw=lambda: _draw_coin(drawn),
        caption="alpha_a over 20,000 draws of the keys at beta = 30: nearly always close to 0 or to 1.",
    )  # fmt: skip


def _draw_coin(drawn: np.ndarray) -> Any:
    with figure(6.4, 2.6) as (drawing, axis):
        axis.hist(
            drawn,
            bins=40,
            range=(0, 1),
            weights=np.full(len(drawn), 1 / len(drawn)),
            color=ROLES["noise"],
        )
        axis.axvline(0.5, color=ROLES["muted"], linestyle=":", linewidth=1)
        axis.text(0.505, 0.3, "the average that was asked for", fontsize=8.5)
        axis.set(xlabel=r"$\alpha_a$", ylabel="share of draws", xlim=(0, 1))
    return drawing


def two_lengths(seed: int) -> Station:
    two = GaussianKeys(MEANS[:2]).radial({0: 0.5, 1: 0.5})
    exact_two = moments(BETA * BOTH, GaussianKeys(MEANS).radial({A: 0.5, B: 0.5}), MEANS)
    pair = moments(BETA * BOTH, two, np.eye(2))
    # With two keys alpha_a = logistic(beta (eps_a - eps_b)), and eps_a - eps_b ~ N(0, 1).
    difference = over_gamma(lambda g: float(expit(BETA * math.sqrt(2) * (g - 1))) ** 2)
    drawn = draw_weights(BETA * BOTH[None, :], long_or_short(A, B), seed)[:, A]
    mean, slack = sampled(drawn)
    second, second_slack = sampled(drawn**2)
    # The error of a root is the error of the square over twice the root; over the root is on the
    # safe side.
    variance, variance_slack = sampled((drawn - drawn.mean()) ** 2)
    spread = math.sqrt(exact_two.covariance[A, A])
    return Station(
        id="08",
        title="Both keys of random length",
        claim=r"If $k_a$ and $k_b$ both have random length, $\alpha_a \approx \frac{1}{1 + e^{\beta(\epsilon_b - \epsilon_a)}}$: "
        r"again a coin, and c follows whichever key happens to be longer.",
        comparisons=(
            Comparison("E alpha_a^2, two keys", {"exact": float(pair.covariance[0, 0] + pair.mean[0] ** 2),
                                                 "integral over the difference": difference}, EXACT),
            Comparison("E alpha_a, n = 20", {"exact": float(exact_two.mean[A]), "drawn keys": mean}, slack),
            Comparison("E alpha_a^2, n = 20", {"exact": float(exact_two.covariance[A, A] + exact_two.mean[A] ** 2),
                                               "drawn keys": second}, second_slack),
            Comparison("standard deviation of alpha_a, n = 20",
                       {"exact": spread, "drawn keys": math.sqrt(variance)}, variance_slack / spread),
        ),
        facts={"by symmetry neither key is favoured": abs(float(exact_two.mean[A] - exact_two.mean[B])) < EXACT},
        finding=f"E alpha_a = {exact_two.mean[A]:.3f} with standard deviation {spread:.3f}; "
        "noise on the other key does not cancel the first one's.",
        draw=lambda: _draw_lengths(seed),
        caption="The two lengths, 2,000 draws, coloured by which value the head returns; on the diagonal it averages.",
    )  # fmt: skip


def _draw_lengths(seed: int) -> Any:
    drawn = long_or_short(A, B).sample(np.random.default_rng(seed), 2000)
    lengths = drawn[:, [A, B], [A, B]]
    first = lengths[:, 0] > lengths[:, 1]  # the longer key has the larger logit
    with figure(4.6, 3.4) as (drawing, axis):
        for who, colour, label in (
            (first, SERIES[0], r"$c \approx v_a$"),
            (~first, SERIES[1], r"$c \approx v_b$"),
        ):
            axis.plot(
                lengths[who, 0], lengths[who, 1], ".", color=colour, markersize=3, label=label
            )
        axis.axline((1, 1), slope=1, color=ROLES["muted"], linewidth=0.8)
        axis.set(xlabel=r"length $\epsilon_a$", ylabel=r"length $\epsilon_b$", aspect="equal")
        axis.legend(loc="lower right", markerscale=3)
    return drawing
