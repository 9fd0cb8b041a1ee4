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
from headwright.tour import classic
from headwright.tour.classic import BETA, BOTH, MEANS, ONE_HEAD, A, B, N
from headwright.tour.station import DRAWN, EXACT, Comparison, Evidence

# e^700 is about the largest number of double precision
LARGEST_EXPONENT = 700


def order_of_limits(seed: int) -> Evidence:
    """The same query with little noise, and with more sharpness than the noise allows."""
    calm = _error_by_routes("alpha = 1e-6, beta = 10", alpha=1e-6, beta=10.0, seed=seed)
    loud = _error_by_routes("alpha = 1e-4, beta = 1000", alpha=1e-4, beta=1000.0, seed=seed)
    good = calm.routes["exact"]
    bad = loud.routes["exact"]

    noiseless = attend(10.0 * BOTH, MEANS, MEANS).weights
    vanishing = GaussianKeys(MEANS, isotropic=1e-14)
    routes = {
        "exact": classic.exact_squared_error(10.0 * BOTH, vanishing),
        "noiseless softmax": float(classic.squared_errors(noiseless)),
    }
    limit = Comparison("alpha -> 0 at beta = 10", routes, EXACT)
    facts = {
        "tiny noise first: the average holds": good < 1e-3,
        "sharpness first: it fails": bad > 0.3,
    }
    finding = (
        f"Squared error {good:.1e} at alpha = 1e-6, beta = 10, but {bad:.2f} at "
        "alpha = 1e-4, beta = 1000: the same formula, limits taken in the wrong order."
    )
    return Evidence(
        comparisons=(calm, loud, limit),
        facts=facts,
        finding=finding,
        draw=_draw_limits,
        caption="Exact squared error of the output against sharpness: first the leak falls, then "
        "the noise takes over.",
    )


def _error_by_routes(where: str, *, alpha: float, beta: float, seed: int) -> Comparison:
    keys = GaussianKeys(MEANS, isotropic=alpha)
    query = beta * BOTH
    alphas = classic.draw_weights(query[None, :], keys, seed)
    drawn, tolerance = classic.sampled(classic.squared_errors(alphas))
    routes = {"exact": classic.exact_squared_error(query, keys), DRAWN: drawn}
    return Comparison(f"E|c - target|^2 at {where}", routes, tolerance + EXACT)


def _draw_limits() -> Any:
    """Exact error against sharpness, for three sizes of the noise."""
    betas = np.geomspace(1, 3000, 40)
    with figure(4.8, 2.8) as (drawing, axis):
        for exponent, colour in zip((-2, -4, -6), SERIES, strict=True):
            keys = GaussianKeys(MEANS, isotropic=10.0**exponent)
            errors = [classic.exact_squared_error(beta * BOTH, keys) for beta in betas]
            line = axis.loglog(betas, errors, color=colour)
            line[0].set_label(rf"$\alpha = 10^{{{exponent}}}$")
        axis.set_xlabel(r"sharpness $\beta$")
        axis.set_ylabel(r"$E\|c - \frac{1}{2}(v_a + v_b)\|^2$")
        axis.legend(loc="lower right")
    return drawing


def one_length(seed: int) -> Evidence:
    """Moments of the weight by the exact engine, by an integral over gamma, and by drawing keys."""
    keys = classic.long_or_short(A)
    query = BETA * BOTH
    exact = moments(query, keys, MEANS)
    limit = moments(query, keys, MEANS, method="limit")
    drawn = classic.draw_weights(ONE_HEAD, keys, seed)[:, A]

    mean = classic.over_gamma(_weight_at)
    square = classic.over_gamma(lambda gamma: _weight_at(gamma) ** 2)
    deviation = math.sqrt(square - mean**2)
    drawn_mean, mean_tolerance = classic.sampled(drawn)
    drawn_square, square_tolerance = classic.sampled(drawn**2)
    variance = float(exact.covariance[A, A])
    exact_mean = float(exact.weights_mean[A])
    of_mean = Comparison(
        "E alpha_a",
        {"exact": exact_mean, "integral over gamma": mean, DRAWN: drawn_mean},
        mean_tolerance,
    )
    exact_square = variance + float(exact.mean[A]) ** 2
    of_square = Comparison(
        "E alpha_a^2",
        {"exact": exact_square, "integral over gamma": square, DRAWN: drawn_square},
        square_tolerance,
    )
    of_deviation = Comparison(
        "standard deviation of alpha_a",
        {"exact": math.sqrt(variance), "integral over gamma": deviation},
        EXACT,
    )
    of_limit = Comparison(
        "Var alpha_a as beta grows",
        {"limit engine": limit.covariance[A, A], "fair coin": 0.25},
        EXACT,
    )
    of_interval = _inside_the_interval(keys, seed)
    inside = of_interval.routes["normal law"]
    near_the_average = np.abs(drawn - 0.5) < 0.25
    undecided = np.mean(near_the_average)
    facts = {
        "c is rarely near the average": bool(undecided < 0.1),
        "[0.5, 1.5] holds barely more than half of the time": inside < 0.53,
    }
    finding = (
        f"alpha_a has mean {exact_mean:.3f} and standard deviation "
        f"{deviation:.3f}: a coin. gamma lies in [0.5, 1.5] only {inside:.0%} of the time, because "
        "1/2 is a variance."
    )
    return Evidence(
        comparisons=(of_mean, of_square, of_deviation, of_limit, of_interval),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_coin(drawn),
        caption="alpha_a over 20,000 draws of the keys at beta = 30: nearly always close to 0 or "
        "to 1.",
    )


def _inside_the_interval(keys: GaussianKeys, seed: int) -> Comparison:
    """How often gamma lies where a standard deviation of 1/2 would put most of it."""
    low = float(ndtr(classic.standardised(0.5)))
    high = float(ndtr(classic.standardised(1.5)))
    lengths = classic.draw_lengths(keys, seed)
    drawn, tolerance = classic.sampled_share(np.abs(lengths - 1) < 0.5)
    routes = {"normal law": high - low, DRAWN: drawn}
    return Comparison("P(0.5 < gamma < 1.5)", routes, tolerance)


def _weight_at(gamma: float) -> float:
    """alpha_a of the one head when key a has this length."""
    against_b = math.exp(min(BETA * (1 - gamma), LARGEST_EXPONENT))
    against_others = (N - 2) * math.exp(min(-BETA * gamma, LARGEST_EXPONENT))
    return 1 / (1 + against_b + against_others)


def _draw_coin(drawn: np.ndarray) -> Any:
    """How often the weight takes which value."""
    share_of_one = np.full(len(drawn), 1 / len(drawn))
    with figure(4.8, 2.6) as (drawing, axis):
        axis.hist(drawn, bins=40, range=(0, 1), weights=share_of_one, color=ROLES["noise"])
        axis.axvline(0.5, color=ROLES["muted"], linestyle=":", linewidth=1)
        axis.text(0.505, 0.3, "the average that was asked for", fontsize=8.5)
        axis.set(xlabel=r"$\alpha_a$", ylabel="share of draws", xlim=(0, 1))
    return drawing


def two_lengths(seed: int) -> Evidence:
    """The same for two random lengths; with two keys alone, also over their difference."""
    keys = classic.long_or_short(A, B)
    exact = moments(BETA * BOTH, keys, MEANS)
    variance = float(exact.covariance[A, A])
    deviation = math.sqrt(variance)

    drawn = classic.draw_weights(ONE_HEAD, keys, seed)[:, A]
    drawn_mean, mean_tolerance = classic.sampled(drawn)
    drawn_square, square_tolerance = classic.sampled(drawn**2)
    drawn_variance, variance_tolerance = classic.sampled((drawn - drawn.mean()) ** 2)
    mean = float(exact.mean[A])
    of_mean = Comparison(
        "E alpha_a, n = 20",
        {"exact": mean, DRAWN: drawn_mean},
        mean_tolerance,
    )
    of_square = Comparison(
        "E alpha_a^2, n = 20",
        {"exact": variance + mean**2, DRAWN: drawn_square},
        square_tolerance,
    )
    # The error of a root is the error of the square over twice the root; over the root is on the
    # safe side.
    of_deviation = Comparison(
        "standard deviation of alpha_a, n = 20",
        {"exact": deviation, DRAWN: math.sqrt(drawn_variance)},
        variance_tolerance / deviation,
    )
    asymmetry = abs(mean - float(exact.mean[B]))
    facts = {"by symmetry neither key is favoured": asymmetry < EXACT}
    finding = (
        f"E alpha_a = {mean:.3f} with standard deviation {deviation:.3f}; "
        "noise on the other key does not cancel the first one's."
    )
    return Evidence(
        comparisons=(_square_of_two_keys(), of_mean, of_square, of_deviation),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_lengths(seed),
        caption="The two lengths, 2,000 draws, coloured by which value the head returns; on the "
        "diagonal it averages.",
    )


def _square_of_two_keys() -> Comparison:
    """With two keys alpha_a = logistic(beta (gamma_a - gamma_b)), and the difference of the
    lengths is N(0, 1)."""
    keys = GaussianKeys(MEANS[:2]).radial({0: 0.5, 1: 0.5})
    exact = moments(BETA * BOTH, keys, np.eye(2))

    def square(gamma: float) -> float:
        difference = math.sqrt(2) * (gamma - 1)
        return float(expit(BETA * difference)) ** 2

    routes = {
        "exact": float(exact.covariance[0, 0] + exact.mean[0] ** 2),
        "integral over the difference": classic.over_gamma(square),
    }
    return Comparison("E alpha_a^2, two keys", routes, EXACT)


def _draw_lengths(seed: int) -> Any:
    """Both lengths in each draw, coloured by who wins."""
    rng = np.random.default_rng(seed)
    drawn = classic.long_or_short(A, B).sample(rng, 2000)
    length_a = drawn[:, A, A]
    length_b = drawn[:, B, B]
    first = length_a > length_b  # the longer key has the larger logit
    groups = (
        (first, SERIES[0], r"$c \approx v_a$"),
        (~first, SERIES[1], r"$c \approx v_b$"),
    )
    with figure(4.8, 3.0) as (drawing, axis):
        for who, colour, label in groups:
            dots = axis.plot(length_a[who], length_b[who], ".", color=colour, markersize=3)
            dots[0].set_label(label)
        axis.axline((1, 1), slope=1, color=ROLES["muted"], linewidth=0.8)
        axis.set(xlabel=r"length $\gamma_a$", ylabel=r"length $\gamma_b$", aspect="equal")
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=3)
    return drawing
