"""What to say about a query that was computed: it passes, it lacks a scale, it misses; with numbers
and a repair."""

from __future__ import annotations

import math

import numpy as np

from headwright.design.closed_form import sharpness
from headwright.exercise.instances import Instance, instances
from headwright.homework.meaning.formula import Symbol
from headwright.homework.scenes.queries import (
    GROWING,
    Heads,
    distance,
    head_weights,
    mixed,
    reaches_times,
    values,
)
from headwright.homework.verdict import Outcome

LEAK = 0.01
NEAR_ENOUGH = 2 * LEAK  # how far a weight may be from its target where the scale is a number


# P(gamma < 0) for gamma ~ N(1, 1/2): Phi(-sqrt 2) = erfc(1) / 2.
FLIP = (
    f"with probability {50 * math.erfc(1.0):.2f} % (gamma < 0, k_a points away) head 1 loses v_a; "
    "the handout tells to ignore that case"
)


def passes(heads: Heads, target: dict[str, float]) -> Outcome:
    beta = enough(heads, target)
    errors = [distance(values(heads, i, GROWING[-1]), i, target) for i in instances()]
    sizes = ", ".join(str(i.n) for i in instances())
    reason = (
        f"the weights tend to {wanted_weights(target)} for n = {sizes} (off by {max(errors):.1g})"
    )
    needed = f"a leak of 1 % at n = 10 needs beta >= {beta:.2f}"
    return Outcome(
        "correct", f"{reason}; {needed}", remarks=(FLIP,) if len(heads.expressions) > 1 else ()
    )


def different(heads: Heads, target: dict[str, float]) -> Outcome:
    instance = instances()[0]
    Q = values(heads, instance, 10.0)
    if np.allclose(Q, Q[0]):
        two = head_weights(Q, instance)[0]
        return Outcome(
            "incomplete",
            "both heads have the same query: their outputs are equal in every sample, so a second head changes nothing",
            example(instance, Q, two),
            "give each head its own mean: q_1 = beta mu_a, q_2 = beta mu_b",
        )
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    return random_keys(heads) if "keys" in kinds else passes(heads, target)


def random_keys(heads: Heads) -> Outcome:
    return Outcome(
        "incomplete",
        "the keys are random here, and the query must be given in terms of their means; at the means the formula works",
        {"claim": "q uses k_a, k_b", "means": instances()[0].K[[1, 3]].round(3)},
        "write mu_a and mu_b for k_a and k_b",
    )


def fixed(heads: Heads, target: dict[str, float]) -> Outcome:
    """No scale was given: the sum itself is tested."""
    ten = next(i for i in instances() if i.n == 10)
    Q = values(heads, ten, 1.0)
    alpha = mixed(Q, ten)
    if off_by(heads, target, 1.0) <= NEAR_ENOUGH:
        return _passes_number(heads, target, alpha, ten)
    if not reaches_times(heads, target, 1e4):
        return fails(heads, target)
    return no_scale(heads, target)


def off_by(heads: Heads, target: dict[str, float], scale: float) -> float:
    """The largest error of a weight at n = 10, every scale being this number."""
    ten = next(i for i in instances() if i.n == 10)
    return distance(values(heads, ten, scale), ten, target)


def _passes_number(
    heads: Heads, target: dict[str, float], alpha: np.ndarray, ten: Instance
) -> Outcome:
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    if "keys" in kinds and "means" not in kinds and len(heads.expressions) > 1:
        return random_keys(heads)
    return Outcome(
        "correct", f"the given numbers are large enough: {shown(alpha, ten, target)} at n = 10"
    )


def no_scale(heads: Heads, target: dict[str, float]) -> Outcome:
    ten, small = next(i for i in instances() if i.n == 10), instances()[0]
    Q = values(heads, ten, 1.0)
    alpha = mixed(Q, ten)
    beta = enough(heads, target)
    shrunk = float(np.linalg.norm(Q, axis=1).min()) < (1 - 1e-9) * _plain_norm(heads, target)
    factor = beta * _plain_norm(heads, target) / float(np.linalg.norm(Q, axis=1).max())
    fault = "the factor makes the query too short" if shrunk else "the scale is missing"
    return Outcome(
        "wrong" if shrunk else "incomplete",
        f"{fault}: at n = 10 it gives {shown(alpha, ten, target)} instead of {wanted_weights(target)}",
        example(small, values(heads, small, 1.0), mixed(values(heads, small, 1.0), small)),
        f"multiply by beta >= {factor:.2f} for a leak of 1 % at n = 10",
    )


def _plain_norm(heads: Heads, target: dict[str, float]) -> float:
    """Length of the bare sum of target vectors one head must point at."""
    return float(np.sqrt(len(target))) if len(heads.expressions) == 1 else 1.0


def fails(heads: Heads, target: dict[str, float]) -> Outcome:
    ten, small = next(i for i in instances() if i.n == 10), instances()[0]
    scale = 30.0
    alpha = mixed(values(heads, ten, scale), ten)
    Q = values(heads, small, scale)
    gives = f"with a scale of {scale:g} it gives {shown(alpha, ten, target)} at n = 10"
    return Outcome(
        "wrong",
        f"{gives} instead of {wanted_weights(target)}{_whose(heads, ten)}",
        example(small, Q, mixed(Q, small)),
        model(heads, target),
    )


def _whose(heads: Heads, ten: Instance) -> str:
    """For several heads: what each of them attends to."""
    if len(heads.expressions) == 1:
        return ""
    rows = head_weights(values(heads, ten, 30.0), ten)
    parts = [
        f"head {h + 1} puts {r[ten.place('a')]:.2f} on a and {r[ten.place('b')]:.2f} on b"
        for h, r in enumerate(rows)
    ]
    return "; " + ", ".join(parts)


def model(heads: Heads, target: dict[str, float]) -> str:
    letter = next(iter(heads.roles.of), "k")
    beta = enough(heads, target)
    if len(heads.expressions) > 1:
        return f"q_1 = beta {letter}_a, q_2 = beta {letter}_b with beta >= {beta:.2f} (leak 1 % at n = 10)"
    total = " + ".join(f"{letter}_{x}" for x in target)
    # A mixture p: q = sum_a (beta + ln p_a) k_a, and e^beta counts once
    if len(set(target.values())) > 1:
        mixture = " + ".join(f"(beta + ln {p:g}) {letter}_{x}" for x, p in target.items())
        return (
            f"q = {mixture} with beta >= {sharpness(10, leak=LEAK):.2f} (leak about 1 % at n = 10)"
        )
    return f"q = beta ({total}) with beta >= {beta:.2f} (leak 1 % at n = 10)"


def enough(heads: Heads, target: dict[str, float]) -> float:
    """Closed form: ln((n - m)(1 - eps) / (m eps)) at n = 10."""
    return sharpness(10, leak=LEAK, m=len(target) if len(heads.expressions) == 1 else 1)


def shown(alpha: np.ndarray, instance: Instance, target: dict[str, float]) -> str:
    parts = [
        f"alpha_{x} = {alpha[instance.place(x)]:.3f}"
        for x in target
        if instance.place(x) is not None
    ]
    return ", ".join(parts)


def wanted_weights(target: dict[str, float]) -> str:
    return " and ".join(f"{p:g} on {x}" for x, p in target.items())


def example(instance: Instance, Q: np.ndarray, alpha: np.ndarray) -> dict[str, object]:
    """Small arrays to look at: with the standard basis as keys the query's coordinates are its
    scores."""
    names = {place: letter for letter, place in instance.places if letter != "j"}
    order = [names.get(k, f"k{k + 1}") for k in range(instance.n)]
    return {
        "keys": "orthonormal", "order": order, "scores": (Q @ instance.K.T).round(3), "weights": alpha.round(4),
    }  # fmt: skip
