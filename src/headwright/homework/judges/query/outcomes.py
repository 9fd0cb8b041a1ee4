"""What to say about a query that was computed: it passes, it lacks a scale, it misses; with numbers
and a repair. Numbers and counterexamples are those at the n of the sheet, else 10."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.design.closed_form import sharpness
from headwright.exercise.instances import Instance
from headwright.exercise.wanted import Wanted
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

SHARP = 30.0  # a scale at which whatever can be sharp is
BETA = 10.0  # the scale of an example in which the scale is not at fault
LONGER = 1.5  # the length of k_a in a sample that shows what equal heads do
LONG = 1e4  # times which a query without a scale would reach its target, if its direction is right
_FLIPPED = "(gamma < 0, k_a points away) head 1 loses v_a; the handout says to ignore that case"
_ONE_TIMES = 1 - 1e-9  # below it a factor shortens the query, above its inverse one lengthens it


def flip(variance: float) -> str:
    """P(gamma < 0) for gamma ~ N(1, variance): Phi(-1 / sigma) = erfc(1 / (sigma sqrt 2)) / 2."""
    sigma = math.sqrt(variance)
    probability = math.erfc(1 / (sigma * math.sqrt(2))) / 2
    return f"with probability {100 * probability:.2f}% {_FLIPPED}"


def is_flip(remark: str) -> bool:
    return remark.endswith(_FLIPPED)


def passes(heads: WrittenQueries, target: Wanted) -> Outcome:
    beta = enough(heads, target)
    errors = [errors_while_growing(heads, target, i)[-1] for i in target.instances]
    sizes = ", ".join(str(i.n) for i in target.instances)
    limit = f"{wanted_weights(target)} for n = {sizes} (off by {max(errors):.1g})"
    needed = f"a leak of {_leak(target)} needs beta >= {beta:.2f}"
    remarks = (flip(target.variance),) if len(heads.expressions) > 1 else ()
    return Outcome("correct", f"the weights tend to {limit}; {needed}", remarks=remarks)


def different(heads: WrittenQueries, target: Wanted) -> Outcome:
    """Several heads that reach the target must not be one head written twice."""
    Q = queries_at(heads, target.shown, BETA)
    if np.allclose(Q, Q[0]):
        return Outcome(
            "incomplete",
            "both heads have the same query: their outputs are equal in every sample, "
            "so a second head changes nothing",
            _with_a_longer_key(Q, target.shown),
            "give each head its own mean: q_1 = beta mu_a, q_2 = beta mu_b",
        )
    return random_keys() if "keys" in roles_of(heads) else passes(heads, target)


def _with_a_longer_key(Q: np.ndarray, instance: Instance) -> dict[str, object]:
    """A sample in which equal heads fail together; at the means they look right."""
    lengths = np.ones((instance.n, 1))
    lengths[instance.a] = LONGER
    drawn = replace(instance, K=lengths * instance.K)
    story = (
        f"k_a is drawn {LONGER:g} times as long as its mean: both heads lose v_b, at the same time"
    )
    return {"story": story, **example(drawn, Q, mixed(Q, drawn))}


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
    return Outcome(
        "incomplete",
        "the keys are random here, and the query must be given in terms of their means; "
        "at the means the formula works",
        repair="write mu_a and mu_b for k_a and k_b",
    )


def fixed(heads: WrittenQueries, target: Wanted) -> Outcome:
    """No scale was given: the sum itself is tested."""
    if target.exact and off_by(heads, target, 1.0) <= target.near_enough:
        return leak_fault(heads, target, 1.0, "the number") or _passes_as_number(heads, target)
    if off_by(heads, target, 1.0) <= target.near_enough:
        return _passes_as_number(heads, target)
    if not reaches_times(heads, target, LONG):
        return fails(heads, target)
    return no_scale(heads, target)


def off_by(heads: WrittenQueries, target: Wanted, scale: float) -> float:
    """The largest error of a weight, every scale being this number."""
    instance = target.shown
    return distance(queries_at(heads, instance, scale), instance, target)


def left_over(heads: WrittenQueries, target: Wanted, scale: float) -> float:
    """The weight on the keys that were not asked for, every scale being this number."""
    instance = target.shown
    alpha = mixed(queries_at(heads, instance, scale), instance)
    places = [instance.place(letter) for letter in target.shares]
    return float(1 - sum(alpha[place] for place in places if place is not None))


def leak_fault(heads: WrittenQueries, target: Wanted, scale: float, told: str) -> Outcome | None:
    """What is wrong with a scale that should be the smallest one with this leak."""
    others = left_over(heads, target, scale)
    leaves = f"it leaves {100 * others:.2g}% on the other keys {at_keys(target)}"
    asked = f"the smallest with at most {100 * target.leak:g}% was asked for"
    fault = {"too much": "too small", "too little": "larger than needed"}.get(
        target.leaves(others), ""
    )
    if not fault:
        return None
    reason = f"{told} is {fault}: {leaves}, and {asked}"
    example = example_at(heads, target, scale)
    return Outcome("incomplete", reason, example, smallest_scale(heads, target))


def smallest_scale(heads: WrittenQueries, target: Wanted) -> str:
    return f"in q = beta times the sum of unit vectors, beta = {enough(heads, target):.2f}"


def at_keys(target: Wanted) -> str:
    return f"at n = {target.n}"


def _leak(target: Wanted) -> str:
    return f"{100 * target.leak:g}% {at_keys(target)}"


def _passes_as_number(heads: WrittenQueries, target: Wanted) -> Outcome:
    roles = roles_of(heads)
    if "keys" in roles and "means" not in roles and len(heads.expressions) > 1:
        return random_keys()
    gives = f"{weights_at(heads, target, 1.0)} {at_keys(target)}"
    return Outcome("correct", f"the given numbers are large enough: {gives}")


def no_scale(heads: WrittenQueries, target: Wanted) -> Outcome:
    lengths = np.linalg.norm(queries_at(heads, target.shown, 1.0), axis=1)
    bare_length = _length_of_bare_sum(heads, target)
    factor = enough(heads, target) * bare_length / float(lengths.max())

    times = float(lengths.min()) / bare_length
    gives = f"{weights_at(heads, target, 1.0)} instead of {wanted_weights(target)}"
    return Outcome(
        "wrong" if times < _ONE_TIMES else "incomplete",
        f"{_scale_fault(times)}: {at_keys(target)} it gives {gives}",
        example_at(heads, target, 1.0),
        f"multiply by beta >= {factor:.2f} for a leak of {_leak(target)}",
    )


def _scale_fault(times: float) -> str:
    """What is wrong with the scale of a query that is so many times the bare sum."""
    if times < _ONE_TIMES:
        return "the factor makes the query too short"
    return "the scale is missing" if times < 1 / _ONE_TIMES else "the factor is too small"


def _length_of_bare_sum(heads: WrittenQueries, target: Wanted) -> float:
    """Length of the bare sum of target vectors one head must point at."""
    return float(np.sqrt(len(target.shares))) if len(heads.expressions) == 1 else 1.0


def fails(heads: WrittenQueries, target: Wanted) -> Outcome:
    found = weights_at(heads, target, SHARP)
    gives = f"with a scale of {SHARP:g} it gives {found} {at_keys(target)}"
    missed = f"{gives} instead of {wanted_weights(target)}{_of_each_head(heads, target.shown)}"
    return Outcome("wrong", missed, example_at(heads, target, SHARP), model(heads, target))


def _of_each_head(heads: WrittenQueries, instance: Instance) -> str:
    """For several heads: what each of them attends to."""
    if len(heads.expressions) == 1:
        return ""
    rows = head_weights(queries_at(heads, instance, SHARP), instance)
    parts = [
        f"head {h} puts {row[instance.a]:.2f} on a and {row[instance.b]:.2f} on b"
        for h, row in enumerate(rows, start=1)
    ]
    return "; " + ", ".join(parts)


def model(heads: WrittenQueries, target: Wanted) -> str:
    """A right answer in the student's own letter."""
    letter = next(iter(heads.roles.of), "k")
    beta = enough(heads, target)
    leak = f"(leak {_leak(target)})"
    if len(heads.expressions) > 1:
        return f"q_1 = beta {letter}_a, q_2 = beta {letter}_b with beta >= {beta:.2f} {leak}"
    if len(set(target.shares.values())) > 1:
        # A mixture p: s k_a'q = beta + ln p_a, s the scale of the scores; e^beta counts once
        root = f"sqrt({target.d}) " if target.scaled else ""
        mixture = " + ".join(
            f"(beta + {root}ln {p:g}) {letter}_{x}" for x, p in target.shares.items()
        )
        beta = sharpness(target.n, leak=target.leak) / target.shown.scale
        return f"q = {mixture} with beta >= {beta:.2f} (leak about {_leak(target)})"
    total = " + ".join(f"{letter}_{x}" for x in target.shares)
    return f"q = beta ({total}) with beta >= {beta:.2f} {leak}"


def enough(heads: WrittenQueries, target: Wanted) -> float:
    """Closed form: ln((n - m)(1 - eps) / (m eps)), divided by the scale of the scores."""
    m = len(target.shares) if len(heads.expressions) == 1 else 1
    return sharpness(target.n, leak=target.leak, m=m) / target.shown.scale


def weights_at(heads: WrittenQueries, target: Wanted, scale: float) -> str:
    """`alpha_a = 0.146, alpha_b = 0.146`: the weights that were wanted, as they are."""
    instance = target.shown
    alpha = mixed(queries_at(heads, instance, scale), instance)
    places = {letter: instance.place(letter) for letter in target.shares}
    parts = [f"alpha_{x} = {alpha[k]:.3f}" for x, k in places.items() if k is not None]
    return ", ".join(parts)


def wanted_weights(target: Wanted) -> str:
    return " and ".join(f"{p:g} on {x}" for x, p in target.shares.items())


def example_at(heads: WrittenQueries, target: Wanted, scale: float) -> dict[str, object]:
    instance = target.shown
    Q = queries_at(heads, instance, scale)
    return example(instance, Q, mixed(Q, instance))


def example(instance: Instance, Q: np.ndarray, alpha: np.ndarray) -> dict[str, object]:
    """Small arrays to look at: with the standard basis as keys the query's coordinates are its
    scores."""
    names = {place: letter for letter, place in instance.places if letter != "j"}
    order = [names.get(k, f"k{k + 1}") for k in range(instance.n)]
    scores = (instance.scale * Q @ instance.K.T).round(3) + 0.0  # + 0.0: no "-0"
    return {
        "keys": "orthonormal",
        "order": order,
        "scores": scores,
        "weights": alpha.round(4),
    }
