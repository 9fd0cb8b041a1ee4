"""Stations 9 to 12: what a second head changes, and what it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from headwright.attention import multihead, weights
from headwright.noise import moments
from headwright.report.style import HEADS, ROLES, figure
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

ROUNDING = 1e-12
ONE = BETA * BOTH[None, :]
TWO = BETA * MEANS[[A, B]]
# One head that looks away from every other key and along neither a nor b: no length can move its
# two logits.
AWAY = -BETA / math.sqrt(N - 2) * (MEANS.sum(axis=0) - BOTH)[None, :]


def _error_at(Q: np.ndarray, gamma: float) -> float:
    K = MEANS.copy()
    K[A] *= gamma
    return float(squared_errors(multihead(Q, K, MEANS).output))


def _error_by_routes(Q: np.ndarray, seed: int) -> tuple[dict[str, float], float]:
    value, slack = sampled(squared_errors(draw_weights(Q, long_or_short(A), seed)))
    return {
        "exact": exact_squared_error(Q, long_or_short(A)),
        "integral over gamma": over_gamma(lambda gamma: _error_at(Q, gamma)),
        "drawn keys": value,
    }, slack + EXACT


def two_hold(seed: int) -> Station:
    one, two = _error_by_routes(ONE, seed), _error_by_routes(TWO, seed)
    gain = one[0]["exact"] / two[0]["exact"]
    # Head 1 gives v_a more than 0.9, and so the output more than 0.45, while e^{beta gamma} > 9 (n
    # - 1).
    held = float(ndtr((1 - math.log(9 * (N - 1)) / BETA) * math.sqrt(2)))
    drawn, slack = sampled((draw_weights(TWO, long_or_short(A), seed)[:, A] > 0.45).astype(float))
    return Station(
        id="09",
        title="Two heads hold",
        claim=r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$: head 1 finds $k_a$ whether it is long or short, head 2 does not look "
        r"at it, and $\frac12(c_1 + c_2) \approx \frac12(v_a + v_b)$.",
        comparisons=(
            Comparison("E|c - target|^2, one head", *one),
            Comparison("E|c - target|^2, two heads", *two),
            Comparison(
                "P(weight of v_a > 0.45), two heads",
                {"normal law": held, "drawn keys": drawn},
                slack,
            ),
        ),
        facts={"two heads are more than ten times better": gain > 10},
        finding=f"Mean squared error {one[0]['exact']:.3f} with one head, {two[0]['exact']:.4f} with two: {gain:.0f} times less. "
        "Not zero: see station 12.",
        draw=lambda: _draw_two(seed),
        caption="Weight of v_a and v_b in the output, 2,000 draws. One head jumps between the ends. Two heads are at the middle "
        f"in {held:.0%} of all draws; in the others head 1 lets go, and v_a keeps anything between 0 and 0.45.",
    )


def _draw_two(seed: int) -> Any:
    with figure(6.4, 2.9, columns=2) as (drawing, axes):
        for axis, Q, title in zip(axes, (ONE, TWO), ("one head", "two heads"), strict=True):
            alpha = draw_weights(Q, long_or_short(A), seed)[:2000]
            axis.plot(
                alpha[:, A], alpha[:, B], ".", color=ROLES["output"], markersize=4, alpha=0.25
            )
            axis.plot(0.5, 0.5, "+", color=ROLES["good"], markersize=12, markeredgewidth=2)
            axis.set(
                xlim=(-0.05, 1.05),
                ylim=(-0.05, 1.05),
                aspect="equal",
                title=title,
                xlabel=r"weight of $v_a$",
            )
        axes[0].set_ylabel(r"weight of $v_b$")
    return drawing


def sum_and_difference(seed: int) -> Station:
    Q = BETA * np.stack([BOTH, MEANS[A] - MEANS[B]])
    alpha = multihead(Q, MEANS, MEANS).output
    e = math.exp(BETA)
    closed = 0.5 * e / (N - 2 + 2 * e) + 0.5 * e / (N - 2 + e + 1 / e)
    noisy = moments(Q, long_or_short(A), MEANS)
    drawn, slack = sampled(draw_weights(Q, long_or_short(A), seed)[:, A])
    return Station(
        id="10",
        title="The pair that does not average",
        claim=r"$q_1 = \beta(\mu_a + \mu_b)$, $q_2 = \beta(\mu_a - \mu_b)$: head 2 scores $+\beta$ on a and $-\beta$ on b, so "
        r"$c_2 = v_a$ and $c = \frac34 v_a + \frac14 v_b$, even without noise.",
        comparisons=(
            Comparison(
                "weight of v_a, no noise",
                {"softmax": float(alpha[A]), "closed form": closed},
                ROUNDING,
            ),
            Comparison(
                "weight of v_a in the limit", {"softmax": float(alpha[A]), "theory": 0.75}, 1e-9
            ),
            Comparison(
                "weight of v_b in the limit", {"softmax": float(alpha[B]), "theory": 0.25}, 1e-9
            ),
            Comparison(
                "mean weight of v_a, noisy k_a",
                {"exact": float(noisy.mean[A]), "drawn keys": drawn},
                slack,
            ),
        ),
        facts={"it is not the average": abs(float(alpha[A]) - 0.5) > 0.2},
        finding=f"c = {alpha[A]:.2f} v_a + {alpha[B]:.2f} v_b: the two heads are different, but not the right two.",
        draw=lambda: _draw_pair(Q),
        caption="Weights of the first four keys in each head and in their mean.",
    )


def _draw_pair(Q: np.ndarray) -> Any:
    both = multihead(Q, MEANS, MEANS)
    shown = range(4)
    with figure(6.4, 2.4, columns=3) as (drawing, axes):
        rows = (both.weights[0], both.weights[1], both.output)
        names = (r"head 1: $\mu_a + \mu_b$", r"head 2: $\mu_a - \mu_b$", "mean of the two")
        for axis, row, name, colour in zip(
            axes, rows, names, (HEADS[0], HEADS[1], ROLES["output"]), strict=True
        ):
            axis.bar(shown, row[:4], color=colour)
            axis.set(
                ylim=(0, 1.1), title=name, xticks=list(shown), xticklabels=["a", "b", "3", "4"]
            )
        axes[0].set_ylabel("weight")
    return drawing


def equal_heads(seed: int) -> Station:
    twice = np.concatenate([ONE, ONE])
    one, two = moments(ONE, long_or_short(A), MEANS), moments(twice, long_or_short(A), MEANS)
    drawn_one, drawn_two = (draw_weights(Q, long_or_short(A), seed)[:, A] for Q in (ONE, twice))
    spread, slack = sampled((drawn_two - drawn_two.mean()) ** 2)
    return Station(
        id="11",
        title="Two equal heads gain nothing",
        claim=r"Averaging lowers variance only between independent things. Two heads with the same query see the same keys: "
        r"$c_1 = c_2$ in every draw, and $\mathrm{Var}(c)$ stays what it was.",
        comparisons=(
            Comparison("Var alpha_a, two equal heads", {"exact": float(two.covariance[A, A]), "drawn keys": spread,
                                                        "one head, exact": float(one.covariance[A, A])}, slack),
        ),
        facts={"the outputs agree draw by draw": bool(np.abs(drawn_one - drawn_two).max() < ROUNDING),
               "exact covariances agree": bool(np.abs(one.covariance - two.covariance).max() < EXACT)},
        finding=f"Variance {one.covariance[A, A]:.4f} with one head, {two.covariance[A, A]:.4f} with two equal ones.",
        draw=lambda: _draw_equal(seed),
        caption="Head 1 against head 2, 1,000 draws: equal heads lie on the diagonal, different heads do not share their noise.",
    )  # fmt: skip


def _draw_equal(seed: int) -> Any:
    K = long_or_short(A).sample(np.random.default_rng(seed), 1000)
    with figure(6.4, 2.9, columns=2) as (drawing, axes):
        for axis, Q, title in zip(
            axes, (np.concatenate([ONE, ONE]), TWO), ("equal", "different"), strict=True
        ):
            w = weights(np.einsum("snd,hd->shn", K, Q))[:, :, A]
            axis.plot(w[:, 0], w[:, 1], ".", color=ROLES["noise"], markersize=4, alpha=0.4)
            axis.set(
                xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect="equal", title=f"{title} queries"
            )
            axis.set_xlabel(r"$\alpha_a$ in head 1")
        axes[0].set_ylabel(r"$\alpha_a$ in head 2")
    return drawing


def letting_go(seed: int) -> Station:
    keys = long_or_short(A)
    flip = float(ndtr(-math.sqrt(2)))
    limit = moments(TWO, keys, MEANS, method="limit")
    gammas = keys.sample(np.random.default_rng(seed), 20_000)[:, A, A]
    negative, slack = sampled((gammas < 0).astype(float))
    # At finite beta head 1 has let go when alpha_a < 1/2, that is e^{beta gamma} < n - 1.
    edge = math.log(N - 1) / BETA
    drawn = draw_weights(TWO[:1], keys, seed)[:, A]
    lost, lost_slack = sampled((drawn < 0.5).astype(float))
    bad, bad_slack = sampled((squared_errors(draw_weights(TWO, keys, seed)) > 0.05).astype(float))
    away, two = _error_by_routes(AWAY, seed), _error_by_routes(TWO, seed)
    two_heads = two[0]["exact"]
    return Station(
        id="12",
        title="The 7.86 % nobody mentions",
        claim=r"$\gamma \sim N(1, \frac12)$ is negative with probability $\Phi(-\sqrt2) = 7.86\,\%$. Then $k_a$ points away from "
        r"$q_1$, head 1 lets go of $v_a$ and spreads over all other values. $q = -\beta\sum_{i \neq a,b}\mu_i$ does not care.",
        comparisons=(
            Comparison("P(gamma < 0)", {"normal law": flip, "limit engine": 1 - 2 * float(limit.mean[A]),
                                        "drawn keys": negative}, slack),
            Comparison("P(head 1 has lost v_a) at beta = 30",
                       {"normal law": float(ndtr((edge - 1) * math.sqrt(2))), "drawn keys": lost}, lost_slack),
            Comparison("P(squared weight error > 0.05), two heads",
                       {"normal law": _tail(0.05), "drawn keys": bad}, bad_slack),
            Comparison("E|c - target|^2, two heads", *two),
            Comparison("E|c - target|^2, one head that looks away", *away),
        ),
        facts={"it is not negligible": flip > 0.07,
               "a head of the same norm that looks away is a hundred times better": 100 * away[0]["exact"] < two_heads},
        finding=f"Two heads fail in {flip:.2%} of all draws as beta grows, {ndtr((edge - 1) * math.sqrt(2)):.1%} at beta = 30. "
        "Neither is needed: one query against all other keys, -beta (sum of mu_i, i not a or b), never meets the "
        f"random length; same norm, squared error {away[0]['exact']:.0e} instead of {two_heads:.4f}.",
        draw=_draw_letting_go,
        caption="Density of gamma (filled where it is negative) and head 1's weight on v_a at beta = 30.",
    )  # fmt: skip


def _tail(threshold: float) -> float:
    """P(error > threshold) for two heads: the error falls as gamma grows, so it is a normal tail at
    the crossing."""
    low, high = -2.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _error_at(TWO, middle) > threshold else (low, middle)
    return float(ndtr((low - 1) * math.sqrt(2)))


def _draw_letting_go() -> Any:
    gamma = np.linspace(-1.5, 3.5, 400)
    density = np.exp(-((gamma - 1) ** 2)) / math.sqrt(math.pi)
    with figure(6.4, 2.8) as (drawing, axis):
        axis.plot(gamma, density, color=ROLES["noise"], label=r"density of $\gamma$")
        axis.fill_between(
            gamma, density, where=gamma < 0, color=ROLES["noise"], alpha=0.5, linewidth=0
        )
        z = np.clip(BETA * gamma, -700, 700)
        axis.plot(
            gamma, 1 / (1 + (N - 1) * np.exp(-z)), color=HEADS[0], label=r"$\alpha_a$ of head 1"
        )
        axis.annotate(
            "7.86 %", (-0.15, 0.1), (-1.2, 0.35), arrowprops={"arrowstyle": "-", "linewidth": 0.7}
        )
        axis.set(xlabel=r"$\gamma$, the length of $k_a$ along $\mu_a$", ylim=(0, 1.05))
        axis.legend(loc="center right")
    return drawing
