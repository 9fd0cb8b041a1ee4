"""What to say about a query that was computed: it passes, it lacks a scale, it misses; with numbers
and a repair. Numbers and counterexamples are those at n = 10."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.design.closed_form import sharpness
from headwright.exercise.instances import Instance, instances, of_ten_keys
from headwright.homework.meaning.formula import Symbol
from headwright.homework.scenes.queries import (
    GROWING,
    WrittenQueries,
    distance,
    head_weights,
    mixed,
    queries_at,
    reaches_times,
)
from headwright.homework.verdict import Outcome

LEAK = 0.01
NEAR_ENOUGH = 2 * LEAK  # how far a weight may be from its target where the scale is a number
SHARP = 30.0  # a scale at which whatever can be sharp is
BETA = 10.0  # the scale of an example in which the scale is not at fault
LONGER = 1.5  # the length of k_a in a sample that shows what equal heads do
LONG = 1e4  # times which a query without a scale would reach its target, if its direction is right
_ONE_TIMES = 1 - 1e-9  # below it a factor shortens the query, above its inverse one lengthens it
# P(gamma < 0) for gamma ~ N(1, 1/2): Phi(-sqrt 2) = erfc(1) / 2.
FLIP = (
    f"with probability {50 * math.erfc(1.0):.2f} % (gamma < 0, k_a points away) head 1 loses v_a; "
    "the handout tells to ignore that case"
)


def passes(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    beta = enough(heads, target)
    errors = [distance(queries_at(heads, i, GROWING[-1]), i, target) for i in instances()]
    sizes = ", ".join(str(i.n) for i in instances())
    limit = f"{wanted_weights(target)} for n = {sizes} (off by {max(errors):.1g})"
    needed = f"a leak of 1 % at n = 10 needs beta >= {beta:.2f}"
    remarks = (FLIP,) if len(heads.expressions) > 1 else ()
    return Outcome("correct", f"the weights tend to {limit}; {needed}", remarks=remarks)


def different(heads: WrittenQueries, target: dict[str, float]) -> Outcome:
    """Several heads that reach the target must not be one head written twice."""
    Q = queries_at(heads, of_ten_keys(), BETA)
    if np.allclose(Q, Q[0]):
        return Outcome(
            "incomplete",
            "both heads have the same query: their outputs are equal in every sample, "
            "so a second head changes nothing",
            _with_a_longer_key(Q),
            "give each head its own mean: q_1 = beta mu_a, q_2 = beta mu_b",
        )
    return random_keys() if "keys" in roles_of(heads) else passes(heads, target)


def _with_a_longer_key(Q: np.ndarray) -> dict[str, object]:
    """A sample in which equal heads fail together; at the means they look right."""
    ten = of_ten_keys()
    lengths = np.ones((ten.n, 1))
    lengths[ten.a] = LONGER
    drawn = replace(ten, K=lengths * ten.K)
    story = (
        f"k_a is drawn {LONGER:g} times as long as its mean: both heads lose v_b, at the same time"
    )
    return {"story": story, **example(drawn, Q, mixed(Q, drawn))}


def roles_of(heads: WrittenQueries) -> set[str]:
    """What the letters of the queries stand for: keys, means, values."""
    return {heads.roles.role(Symbol(name)) for name in heads.roles.of}


def random_keys() -> Outcome:
    return Outcome(
        "incomplete",
        "the keys are random here, and the query must be given in terms of their means; "
        "at the means the formula works",
        repair="write mu_a and mu_b for k_a and k_b",
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
    factor = enough(heads, target) * bare_length / float(lengths.max())

    times = float(lengths.min()) / bare_length
    gives = f"{weights_at_ten(heads, target, 1.0)} instead of {wanted_weights(target)}"
    return Outcome(
        "wrong" if times < _ONE_TIMES else "incomplete",
        f"{_scale_fault(times)}: at n = 10 it gives {gives}",
        example_at(heads, 1.0),
        f"multiply by beta >= {factor:.2f} for a leak of 1 % at n = 10",
    )


def _scale_fault(times: float) -> str:
    """What is wrong with the scale of a query that is so many times the bare sum."""
    if times < _ONE_TIMES:
        return "the factor makes the query too short"
    return "the scale is missing" if times < 1 / _ONE_TIMES else "the factor is too small"


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
    ten = of_ten_keys()
    Q = queries_at(heads, ten, scale)
    return example(ten, Q, mixed(Q, ten))


def example(instance: Instance, Q: np.ndarray, alpha: np.ndarray) -> dict[str, object]:
    """Small arrays to look at: with the standard basis as keys the query's coordinates are its
    scores."""
    names = {place: letter for letter, place in instance.places if letter != "j"}
    order = [names.get(k, f"k{k + 1}") for k in range(instance.n)]
    scores = (Q @ instance.K.T).round(3) + 0.0  # + 0.0: no "-0"
    return {
        "keys": "orthonormal",
        "order": order,
        "scores": scores,
        "weights": alpha.round(4),
    }
