"""Stations 9 to 11: what a second head changes, and what it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from headwright.attention import multihead, weights
from headwright.noise import moments
from headwright.report.style import HEADS, ROLES, figure
from headwright.tour import classic
from headwright.tour.classic import BETA, BOTH, MEANS, ONE_HEAD, TWO_HEADS, A, B, N
from headwright.tour.station import DRAWN, EXACT, ROUNDING, Comparison, Evidence

# What a weight of two heads is called "at the middle" above
HELD = 0.45
# How far a head of sharpness 30 is from its limit: 18 e^-30, and rounding
LIMIT = 1e-9
# A square from 0 to 1 with room for the dots at its edges
UNIT_SQUARE = {"xlim": (-0.05, 1.05), "ylim": (-0.05, 1.05), "aspect": "equal"}


def two_hold(seed: int) -> Evidence:
    """The error of one head against that of two, and how often two are at the middle."""
    one = classic.squared_error_by_routes("E|c - target|^2, one head", ONE_HEAD, seed)
    two = classic.squared_error_by_routes("E|c - target|^2, two heads", TWO_HEADS, seed)
    error_of_one = one.routes["exact"]
    error_of_two = two.routes["exact"]
    gain = error_of_one / error_of_two

    # Head 1 gives v_a more than 0.9, and so the output more than 0.45, while
    # e^{beta gamma} > 9 (n - 1).
    edge = math.log(9 * (N - 1)) / BETA
    held = float(ndtr(-classic.standardised(edge)))
    keys = classic.long_or_short(A)
    alpha = classic.draw_weights(TWO_HEADS, keys, seed)[:, A]
    drawn, tolerance = classic.sampled_share(alpha > HELD)
    of_held = Comparison(
        "P(weight of v_a > 0.45), two heads",
        {"normal law": held, DRAWN: drawn},
        tolerance,
    )
    facts = {"two heads are more than ten times better": gain > 10}
    finding = (
        f"Mean squared error {error_of_one:.3f} with one head, {error_of_two:.4f} with "
        f"two: {gain:.0f} times less. Not zero: see station 12."
    )
    return Evidence(
        comparisons=(one, two, of_held),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_two(seed),
        caption="Weight of v_a and v_b in the output, 2,000 draws. One head jumps between the "
        f"ends. Two heads are at the middle in {held:.0%} of all draws; in the others head 1 lets "
        "go, and v_a keeps anything between 0 and 0.45.",
    )


def _draw_two(seed: int) -> Any:
    """Where the output is in each draw, with one head and with two."""
    keys = classic.long_or_short(A)
    queries = (ONE_HEAD, TWO_HEADS)
    titles = ("one head", "two heads")
    with figure(4.8, 2.6, columns=2) as (drawing, axes):
        for axis, Q, title in zip(axes, queries, titles, strict=True):
            alpha = classic.draw_weights(Q, keys, seed)[:2000]
            to_a = alpha[:, A]
            to_b = alpha[:, B]
            dots = axis.plot(to_a, to_b, ".", color=ROLES["output"])
            dots[0].set(markersize=4, alpha=0.25)
            axis.plot(0.5, 0.5, "+", color=ROLES["good"], markersize=12, markeredgewidth=2)
            axis.set(title=title, xlabel=r"weight of $v_a$", **UNIT_SQUARE)
        axes[0].set_ylabel(r"weight of $v_b$")
    return drawing


def sum_and_difference(seed: int) -> Evidence:
    """The weights of the wrong pair, without noise and with it."""
    Q = BETA * np.stack([BOTH, MEANS[A] - MEANS[B]])
    alpha = multihead(Q, MEANS, MEANS).output  # the values are e_1 .. e_n
    weight_a = float(alpha[A])
    weight_b = float(alpha[B])

    e = math.exp(BETA)
    by_sum = e / (N - 2 + 2 * e)
    by_difference = e / (N - 2 + e + 1 / e)
    closed = 0.5 * by_sum + 0.5 * by_difference
    keys = classic.long_or_short(A)
    noisy = float(moments(Q, keys, MEANS).mean[A])
    drawn_alpha = classic.draw_weights(Q, keys, seed)[:, A]
    drawn, tolerance = classic.sampled(drawn_alpha)
    without_noise = Comparison(
        "weight of v_a, no noise",
        {"softmax": weight_a, "closed form": closed},
        ROUNDING,
    )
    limit_a = Comparison(
        "weight of v_a in the limit",
        {"softmax": weight_a, "theory": 0.75},
        LIMIT,
    )
    limit_b = Comparison(
        "weight of v_b in the limit",
        {"softmax": weight_b, "theory": 0.25},
        LIMIT,
    )
    with_noise = Comparison(
        "mean weight of v_a, noisy k_a",
        {"exact": noisy, DRAWN: drawn},
        tolerance,
    )
    facts = {"it is not the average": abs(weight_a - 0.5) > 0.2}
    finding = (
        f"c = {weight_a:.2f} v_a + {weight_b:.2f} v_b: "
        "the two heads are different, but not the right two."
    )
    return Evidence(
        comparisons=(without_noise, limit_a, limit_b, with_noise),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_pair(Q),
        caption="Weights of the first four keys in each head and in their mean.",
    )


def _draw_pair(Q: np.ndarray) -> Any:
    """The weights in each head of the wrong pair, and in their mean."""
    both = multihead(Q, MEANS, MEANS)
    names = (r"head 1: $\mu_a + \mu_b$", r"head 2: $\mu_a - \mu_b$", "their mean")
    rows = (*both.weights, both.output)
    colours = (*HEADS[:2], ROLES["output"])
    keys = ["a", "b", "3", "4"]
    with figure(4.8, 2.4, columns=3) as (drawing, axes):
        for axis, name, alpha, colour in zip(axes, names, rows, colours, strict=True):
            axis.bar(keys, alpha[:4], color=colour)
            axis.set_ylim(0, 1.1)
            axis.set_title(name)
            axis.tick_params(labelleft=axis is axes[0])
        axes[0].set_ylabel("weight")
    return drawing


def equal_heads(seed: int) -> Evidence:
    """The variance of one head against that of two equal ones, exactly and draw by draw."""
    keys = classic.long_or_short(A)
    twice = np.concatenate([ONE_HEAD, ONE_HEAD])
    of_one = moments(ONE_HEAD, keys, MEANS).covariance
    of_two = moments(twice, keys, MEANS).covariance
    drawn_one = classic.draw_weights(ONE_HEAD, keys, seed)[:, A]
    drawn_two = classic.draw_weights(twice, keys, seed)[:, A]
    variance, tolerance = classic.sampled((drawn_two - drawn_two.mean()) ** 2)
    of_variance = Comparison(
        "Var alpha_a, two equal heads",
        {
            "exact": of_two[A, A],
            DRAWN: variance,
            "one head, exact": of_one[A, A],
        },
        tolerance,
    )
    apart = np.abs(drawn_one - drawn_two).max()
    covariances_apart = np.abs(of_one - of_two).max()
    facts = {
        "the outputs agree draw by draw": bool(apart < ROUNDING),
        "exact covariances agree": bool(covariances_apart < EXACT),
    }
    finding = f"Variance {of_one[A, A]:.4f} with one head, {of_two[A, A]:.4f} with two equal ones."
    return Evidence(
        comparisons=(of_variance,),
        facts=facts,
        finding=finding,
        draw=lambda: _draw_equal(seed),
        caption="Head 1 against head 2, 1,000 draws: equal heads lie on the diagonal, different "
        "heads do not share their noise.",
    )


def _draw_equal(seed: int) -> Any:
    """One head against the other in each draw, equal and different."""
    rng = np.random.default_rng(seed)
    K = classic.long_or_short(A).sample(rng, 1000)
    equal = np.concatenate([ONE_HEAD, ONE_HEAD])
    pairs = (equal, TWO_HEADS)
    titles = ("equal queries", "different queries")
    with figure(4.8, 2.6, columns=2) as (drawing, axes):
        for axis, Q, title in zip(axes, pairs, titles, strict=True):
            logits = np.einsum("snd,hd->shn", K, Q)
            first, second = weights(logits)[:, :, A].T
            dots = axis.plot(first, second, ".", color=ROLES["noise"])
            dots[0].set(markersize=4, alpha=0.4)
            axis.set(title=title, xlabel=r"$\alpha_a$ in head 1", **UNIT_SQUARE)
        axes[0].set_ylabel(r"$\alpha_a$ in head 2")
    return drawing
