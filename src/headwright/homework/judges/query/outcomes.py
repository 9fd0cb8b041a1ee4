"""What to say about a query that was computed: it passes, it lacks a scale, it misses; with numbers
and a repair. Numbers are those at n = 10, counterexamples the smallest instance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.design.closed_form import sharpness
from headwright.exercise.instances import Instance, instances, of_ten_keys, smallest
from headwright.homework.meaning.formula import Symbol
from headwright.homework.scenes.queries import (
    WrittenQueries,
    distance,
    errors_while_growing,
    head_weights,
    mixed,
    queries_at,
    reaches_times,
)
from headwright.homework.verdict import Outcome

LEAK = 0.01
NEAR_ENOUGH = 2 * LEAK  # how far a weight may be from its target where the scale is a number
SHARP = 30.0  # a scale at which whatever can be sharp is
SHORT = 0.5  # a length that k_a ~ N(mu_a, mu_a mu_a'/2) easily has
LONG = 1e4  # times which a query without a scale would reach its target, if its direction is right
# P(gamma < 0) for gamma ~ N(1, 1/2): Phi(-sqrt 2) = erfc(1) / 2.
FLIP = (
    f"with probability {50 * math.erfc(1.0):.2f} % (gamma < 0, k_a points away) head 1 loses v_a; "
    "the handout tells to ignore that case"
)


def passes(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    beta = enough(heads, target)
    errors = [errors_while_growing(heads, target, i)[-1] for i in instances()]
    sizes = ", ".join(str(i.n) for i in instances())
    limit = f"{wanted_weights(target)} for n = {sizes} (off by {max(errors):.1g})"
    needed = f"a leak of 1 % at n = 10 needs beta >= {beta:.2f}"
    remarks = (FLIP,) if len(heads.expressions) > 1 else ()
    return Outcome("correct", f"the weights tend to {limit}; {needed}", remarks=remarks)


def different(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    """Several heads that reach the target must not be one head written twice."""
    means = smallest()
    Q = queries_at(heads, means, 10.0)
    if np.allclose(Q, Q[0]):
        drawn = _with_short_key(means)
        first = head_weights(Q, drawn)[0]
        shown = example(drawn, Q, first) | {
            "keys": f"k_a = {SHORT:g} mu_a, the others at their means"
        }
        return Outcome(
            "incomplete",
            "both heads have the same query: their outputs are equal in every sample, "
            "so a second head changes nothing",
            shown,
            "give each head its own mean: q_1 = beta mu_a, q_2 = beta mu_b",
        )
    return random_keys() if "keys" in roles_of(heads) else passes(heads, target)


def _with_short_key(instance: Instance) -> Instance:
    """A sample in which k_a came out short: what two heads are for."""
    K = instance.K.copy()
    K[instance.a] *= SHORT
    return replace(instance, K=K)


def roles_of(heads: WrittenQueries) -> set[str]:
    """What the letters of the queries stand for: keys, means, values."""
    return {heads.roles.role(Symbol(name)) for name in heads.roles.of}


def no_means() -> Outcome:
    return Outcome(
        "incomplete",
        "the query is made of means, but the keys are fixed here and have none; read as keys the "
        "formula works",
        {"claim": "q uses mu_a, mu_b", "asked": "k_a, k_b"},
        "write k_a and k_b for mu_a and mu_b",
    )


def random_keys() -> Outcome:
    instance = smallest()
    return Outcome(
        "incomplete",
        "the keys are random here, and the query must be given in terms of their means; "
        "at the means the formula works",
        {"claim": "q uses k_a, k_b", "means": instance.K[[instance.a, instance.b]].round(3)},
        "write mu_a and mu_b for k_a and k_b",
    )


def fixed(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    """No scale was given: the sum itself is tested."""
    if off_by(heads, target, 1.0) <= NEAR_ENOUGH:
        return _passes_as_number(heads, target)
    if not reaches_times(heads, target, LONG):
        return fails(heads, target)
    return no_scale(heads, target)


def off_by(heads: WrittenQueries, target: dict[str, float], scale: float) -> float:
    """The largest error of a weight at n = 10, every scale being this number."""
    ten = of_ten_keys()
    return distance(queries_at(heads, ten, scale), ten, target)


def _passes_as_number(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    roles = roles_of(heads)
    if "keys" in roles and "means" not in roles and len(heads.expressions) > 1:
        return random_keys()
    gives = f"{weights_at_ten(heads, target, 1.0)} at n = 10"
    return Outcome("correct", f"the given numbers are large enough: {gives}")


def no_scale(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    lengths = np.linalg.norm(queries_at(heads, of_ten_keys(), 1.0), axis=1)
    bare_length = _length_of_bare_sum(heads, target)
    shrunk = float(lengths.min()) < (1 - 1e-9) * bare_length
    factor = enough(heads, target) * bare_length / float(lengths.max())

    stretched = float(lengths.min()) > (1 + 1e-9) * bare_length
    fault = "the scale is too small" if stretched else "the scale is missing"
    if shrunk:
        fault = "the factor makes the query too short"
    gives = f"{weights_at_ten(heads, target, 1.0)} instead of {wanted_weights(target)}"
    return Outcome(
        "wrong" if shrunk else "incomplete",
        f"{fault}: at n = 10 it gives {gives}",
        example_at(heads, 1.0),
        f"multiply by beta >= {factor:.2f} for a leak of 1 % at n = 10",
    )


def _length_of_bare_sum(heads: WrittenQueries, target: dict[str, float]) -> float:
    """Length of the bare sum of target vectors one head must point at."""
    return float(np.sqrt(len(target))) if len(heads.expressions) == 1 else 1.0


def fails(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    found = weights_at_ten(heads, target, SHARP)
    gives = f"with a scale of {SHARP:g} it gives {found} at n = 10"
    missed = f"{gives} instead of {wanted_weights(target)}{_of_each_head(heads)}"
    return Outcome("wrong", missed, example_at(heads, SHARP), model(heads, target))


def _of_each_head(heads: WrittenQueries) -> str:
    """For several heads: what each of them attends to."""
    if len(heads.expressions) == 1:
        return ""
    ten = of_ten_keys()
    rows = head_weights(queries_at(heads, ten, SHARP), ten)
    parts = [
        f"head {h} puts {row[ten.a]:.2f} on a and {row[ten.b]:.2f} on b"
        for h, row in enumerate(rows, start=1)
    ]
    return "; " + ", ".join(parts)


def model(heads: WrittenQueries, target: dict[str, float]) -> str:
    """A right answer in the student's own letter."""
    letter = next(iter(heads.roles.of), "k")
    beta = enough(heads, target)
    leak = "(leak 1 % at n = 10)"
    if len(heads.expressions) > 1:
        return f"q_1 = beta {letter}_a, q_2 = beta {letter}_b with beta >= {beta:.2f} {leak}"
    if len(set(target.values())) > 1:
        # A mixture p: q = sum_a (beta + ln p_a) k_a, and e^beta counts once
        mixture = " + ".join(f"(beta + ln {p:g}) {letter}_{x}" for x, p in target.items())
        beta = sharpness(10, leak=LEAK)
        return f"q = {mixture} with beta >= {beta:.2f} (leak about 1 % at n = 10)"
    total = " + ".join(f"{letter}_{x}" for x in target)
    return f"q = beta ({total}) with beta >= {beta:.2f} {leak}"


def enough(heads: WrittenQueries, target: dict[str, float]) -> float:
    """Closed form: ln((n - m)(1 - eps) / (m eps)) at n = 10."""
    m = len(target) if len(heads.expressions) == 1 else 1
    return sharpness(10, leak=LEAK, m=m)


def weights_at_ten(heads: WrittenQueries, target: dict[str, float], scale: float) -> str:
    """`alpha_a = 0.146, alpha_b = 0.146`: the weights that were wanted, as they are at n = 10."""
    ten = of_ten_keys()
    alpha = mixed(queries_at(heads, ten, scale), ten)
    places = {letter: ten.place(letter) for letter in target}
    parts = [f"alpha_{x} = {alpha[k]:.3f}" for x, k in places.items() if k is not None]
    return ", ".join(parts)


def wanted_weights(target: dict[str, float]) -> str:
    return " and ".join(f"{p:g} on {x}" for x, p in target.items())


def example_at(heads: WrittenQueries, scale: float) -> dict[str, object]:
    instance = smallest()
    Q = queries_at(heads, instance, scale)
    return example(instance, Q, mixed(Q, instance))


def example(instance: Instance, Q: np.ndarray, alpha: np.ndarray) -> dict[str, object]:
    """Small arrays to look at: with the standard basis as keys the query's coordinates are its
    scores."""
    names = {place: letter for letter, place in instance.places if letter != "j"}
    order = [names.get(k, f"k{k + 1}") for k in range(instance.n)]
    scores = Q @ instance.K.T
    return {
        "keys": "orthonormal",
        "order": order,
        "scores": scores.round(3),
        "weights": alpha.round(4),
    }
