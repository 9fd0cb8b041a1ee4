"""Station 12: the random length is negative in 7.86% of the draws, and then head 1 lets go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from headwright.keys import GaussianKeys
from headwright.noise import moments
from headwright.report.style import HEADS, ROLES, figure
from headwright.tour import classic
from headwright.tour.classic import BETA, BOTH, MEANS, TWO_HEADS, A, N
from headwright.tour.station import DRAWN, Comparison, Evidence

# One head that looks away from every other key and along neither a nor b: no length can move its
# two logits. Its norm is that of each of the two heads.
LOOKING_AWAY = -BETA / math.sqrt(N - 2) * (MEANS.sum(axis=0) - BOTH)[None, :]
# A squared error of the weights that nobody would call an average
BAD = 0.05


def letting_go(seed: int) -> Evidence:
    """How often head 1 turns away from its key, what it costs, and who does not mind."""
    keys = classic.long_or_short(A)
    flip = float(ndtr(-math.sqrt(2)))
    limit = moments(TWO_HEADS, keys, MEANS, method="limit")
    negative, tolerance = classic.sampled_share(classic.draw_lengths(keys, seed) < 0)
    of_flip = Comparison(
        "P(gamma < 0)",
        {
            "normal law": flip,
            "limit engine": 1 - 2 * float(limit.mean[A]),
            DRAWN: negative,
        },
        tolerance,
    )

    # At finite beta head 1 has let go when alpha_a < 1/2, that is e^{beta gamma} < n - 1.
    edge = math.log(N - 1) / BETA
    lost = float(ndtr(classic.standardised(edge)))
    of_head_1 = classic.draw_weights(TWO_HEADS[:1], keys, seed)[:, A]
    drawn_lost, tolerance = classic.sampled_share(of_head_1 < 0.5)
    of_lost = Comparison(
        "P(head 1 has lost v_a) at beta = 30",
        {"normal law": lost, DRAWN: drawn_lost},
        tolerance,
    )

    of_bad = _bad_draws(keys, seed)
    two = classic.squared_error_by_routes("E|c - target|^2, two heads", TWO_HEADS, seed)
    away = classic.squared_error_by_routes(
        "E|c - target|^2, one head that looks away", LOOKING_AWAY, seed
    )
    error_of_two = two.routes["exact"]
    error_away = away.routes["exact"]
    much_better = 100 * error_away < error_of_two
    facts = {
        "it is not negligible": flip > 0.07,
        "a head of the same norm that looks away is a hundred times better": much_better,
    }
    finding = (
        f"Two heads fail in {flip:.2%} of all draws as beta grows, {lost:.1%} at "
        "beta = 30. Neither is needed: one query against all other keys, -beta (sum of mu_i, i not "
        "a or b), never meets the random length; same norm, squared error "
        f"{error_away:.0e} instead of {error_of_two:.4f}."
    )
    return Evidence(
        comparisons=(of_flip, of_lost, of_bad, two, away),
        facts=facts,
        finding=finding,
        draw=_draw,
        caption="Density of gamma (filled where it is negative) and head 1's weight on v_a at "
        "beta = 30.",
    )


def _bad_draws(keys: GaussianKeys, seed: int) -> Comparison:
    alpha = classic.draw_weights(TWO_HEADS, keys, seed)
    errors = np.asarray(classic.squared_errors(alpha))
    drawn, tolerance = classic.sampled_share(errors > BAD)
    routes = {"normal law": _tail(BAD), DRAWN: drawn}
    return Comparison("P(squared weight error > 0.05), two heads", routes, tolerance)


def _tail(threshold: float) -> float:
    """P(error > threshold) for two heads: the error falls as gamma grows, so it is a normal tail at
    the crossing."""
    low, high = -2.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        if classic.squared_error_at(TWO_HEADS, middle) > threshold:
            low = middle
        else:
            high = middle
    return float(ndtr(classic.standardised(low)))


def _draw() -> Any:
    """The density of the length, and what head 1 makes of it."""
    gamma = np.linspace(-1.5, 3.5, 400)
    density = np.exp(-((gamma - 1) ** 2)) / math.sqrt(math.pi)
    logits = np.clip(BETA * gamma, -700, 700)
    of_head_1 = 1 / (1 + (N - 1) * np.exp(-logits))
    noise = ROLES["noise"]
    line = {"arrowstyle": "-", "linewidth": 0.7}
    with figure(4.8, 2.8) as (drawing, axis):
        axis.plot(gamma, density, color=noise, label=r"density of $\gamma$")
        axis.fill_between(gamma, density, where=gamma < 0, color=noise, alpha=0.5, linewidth=0)
        axis.plot(gamma, of_head_1, color=HEADS[0], label=r"$\alpha_a$ of head 1")
        axis.annotate("7.86%", (-0.15, 0.1), (-1.2, 0.35), arrowprops=line)
        axis.set(xlabel=r"$\gamma$, the length of $k_a$ along $\mu_a$", ylim=(0, 1.05))
        axis.legend(loc="center right")
    return drawing
