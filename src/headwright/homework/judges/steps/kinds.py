"""The kinds of steps: weights, scores, outputs of heads, range and law of a key's length."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from headwright import attention
from headwright.exercise.instances import smallest
from headwright.homework.judges.claims import EQUALITIES, letters, nodes
from headwright.homework.judges.steps.points import VALUE_ROLES, StepContext
from headwright.homework.judges.steps.truth import consistent, readable, true_everywhere
from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols, tree
from headwright.homework.meaning.notation import KEYS, LENGTHS, PAIR
from headwright.homework.meaning.terms import is_score, subject
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.queries import WrittenQueries, queries_at
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

MOST_SAMPLES = 0.9  # a stated range of gamma that holds so often is right
HALF_THE_SAMPLES = 0.6  # one that holds less often takes the variance for the deviation
SHARP = 30.0  # a scale at which a head has decided
CLOSE = 1e-3
ROUNDED = 0.01  # how far a written deviation may be from 0.707

Test = Callable[[Chain, StepContext], Outcome | None]

_ORDER = frozenset({"<", ">", "<<", ">>", "<=", ">="})


def _weights(chain: Chain, context: StepContext) -> Outcome | None:
    """`alpha_a = ...`"""
    about = subject(chain)
    if about is None or about.name != "alpha" or about.index not in PAIR:
        return None
    if not any(_is_fraction(term) for term in chain.terms[1:]):
        return None
    finite = _kept(chain, [not _is_infinite(term) for term in chain.terms])
    formula = _without_cases(finite, context)
    truth = None
    if not context.several_heads and readable(formula, context):
        truth = true_everywhere(formula, context)
    if truth is not None and truth.status == "correct":
        return truth
    return _inconsistency(chain, context) or truth


def _is_fraction(term: Node) -> bool:
    return bool(symbols(term)) and any(isinstance(n, tree.Divide) for n in nodes([term]))


def _inconsistency(chain: Chain, context: StepContext) -> Outcome | None:
    inner = consistent(_without_limits(chain), context)
    return inner if inner is not None and inner.status == "wrong" else None


def _without_cases(chain: Chain, context: StepContext) -> Chain:
    """Where the length varies, drop what does not depend on it: it belongs to one case, or to the
    time before it varied."""
    chain = _before_an_arrow(chain)
    if not context.varies:
        return chain
    rest = [_depends_on_length(term, context) for term in chain.terms[1:]]
    return _kept(chain, [True, *rest])


def _before_an_arrow(chain: Chain) -> Chain:
    """`... -> g > 1: c is v_a`: what is compared behind an arrow is a case, not where the formula
    goes."""
    if "->" not in chain.relations or _ORDER.isdisjoint(chain.relations):
        return chain
    arrow = chain.relations.index("->")
    return Chain(chain.terms[: arrow + 1], chain.relations[:arrow])


def _without_limits(chain: Chain) -> Chain:
    """Drop `1/(1 + inf)` and `~= 0`, which are true in one case or in the limit."""
    marks = zip(("=", *chain.relations), chain.terms, strict=True)
    return _kept(chain, [not (_is_infinite(t) or _is_limit(r, t)) for r, t in marks])


def _is_limit(relation: str, term: Node) -> bool:
    return relation in ("~=", "->") and not symbols(term)


def _kept(chain: Chain, keep: list[bool]) -> Chain:
    places = [k for k, kept in enumerate(keep) if kept]
    terms = tuple(chain.terms[k] for k in places)
    relations = tuple(chain.relations[k - 1] for k in places if k)
    return Chain(terms, relations)


def _depends_on_length(term: Node, context: StepContext) -> bool:
    used = symbols(term)
    return any(s in context.lengths or s.name in LENGTHS or s.name in KEYS for s in used)


def _is_infinite(term: Node) -> bool:
    return any(isinstance(n, tree.Infinity) for n in nodes([term]))


def _scores(chain: Chain, context: StepContext) -> Outcome | None:
    """`k_a' q = ...`"""
    score = chain.terms[0]
    if context.heads is None or not is_score(score):
        return None
    if len(chain.terms) < 2 or not set(chain.relations) <= EQUALITIES:
        return None
    of_pair = any(s.name in KEYS and s.index in PAIR for s in symbols(score))
    if not of_pair:
        return None
    outcome = true_everywhere(chain, context)
    wrong = outcome is not None and outcome.status == "wrong"
    return None if wrong and _leaves_length_out(chain, context) else outcome


def _leaves_length_out(chain: Chain, context: StepContext) -> bool:
    """Without gamma a score of k_a may be that of its mean."""
    return context.varies and context.lengths.isdisjoint(letters(chain.terms))


def _outputs(chain: Chain, context: StepContext) -> Outcome | None:
    """`c_1 = v_a`; for one head a formula `c = ... v_a + ... v_b`."""
    about = subject(chain)
    if about is None or about.name not in ("c", "C"):
        return None
    if not set(chain.relations) <= EQUALITIES | {"->"}:
        return None
    valued = [term for term in chain.terms[1:] if _mentions_values(term)]
    if not valued:
        return None
    if about.index in ("1", "2") and context.heads is not None:
        outcome = _head_output(about.index, valued[-1], context.heads)
        unsure = context.varies or context.several_answers
        return None if unsure and outcome is not None and outcome.status == "wrong" else outcome
    if not about.index and context.varies and not context.several_heads:
        return formula_in_length(chain, context)
    return None


def _mentions_values(term: Node) -> bool:
    return any(symbol.name in VALUE_ROLES for symbol in symbols(term))


def _head_output(number: str, term: Node, heads: WrittenQueries) -> Outcome | None:
    """With the student's own queries, made sharp, at the means."""
    if len(heads.expressions) < 2:
        return None
    instance = smallest()
    Q = queries_at(heads, instance, SHARP)
    shortest = float(np.linalg.norm(Q, axis=1).min() or 1.0)
    Q = Q * max(1.0, SHARP / shortest)
    alpha = attention.weights(Q @ instance.K.T)
    row = int(number) - 1
    truth = (alpha @ instance.V)[row][:, None]
    try:
        stated = evaluate(term, Scene(instance, Roles(VALUE_ROLES, heads.roles.indices)))
    except (Unknown, Mismatch):
        return None
    if agree(stated, truth, CLOSE):
        return Outcome("correct", f"that is what head {number} gives")
    own = alpha[row]
    found = f"{own[instance.a]:.2f} on a and {own[instance.b]:.2f} on b"
    return Outcome("wrong", f"head {number} puts {found}", {"weights": own.round(3)})


def formula_in_length(chain: Chain, context: StepContext) -> Outcome | None:
    """A formula for c or alpha_a in which the length of k_a appears; None for anything else."""
    if subject(chain) not in (Symbol("c"), Symbol("C"), Symbol("alpha", "a")):
        return None
    scales = context.heads.scales if context.heads is not None else []
    used = [s for s in letters(chain.terms[1:]) if s not in scales]
    indices = {s.index for s in used if s.name in LENGTHS}
    if not indices & {"", "a", "1"}:
        return None
    if not indices <= {"", "a", "b", "1"}:
        return None  # epsilon_i in a sum is some small number, not a length
    formula = _without_cases(chain, context)
    return _inconsistency(chain, context) or true_everywhere(formula, context)


def _range(chain: Chain, context: StepContext) -> Outcome | None:
    """`gamma in [0.5, 1.5]`: how often is that true?"""
    about = subject(chain)
    if about is None or not context.varies or context.several_heads:
        return None
    is_length = about in context.lengths or (about.name in KEYS and about.index == "a")
    if not is_length or chain.relations != ("in",):
        return None
    interval = chain.terms[1]
    if not isinstance(interval, tree.Bracket) or len(interval.items) != 2:
        return None
    low, high = (_along_a(end, context) for end in interval.items)
    if low is None or high is None:
        return None

    sigma = math.sqrt(context.variance)
    mass = _normal((high - 1) / sigma) - _normal((low - 1) / sigma)
    if mass >= MOST_SAMPLES:
        return Outcome("correct", f"gamma lies there {100 * mass:.0f}% of the time")
    if mass >= HALF_THE_SAMPLES:
        return None
    held = f"only {100 * mass:.0f}% of the samples lie in [{low:g}, {high:g}]"
    told = f"{_spelled(context.variance)} is the variance of gamma"
    reason = f"{told}, its deviation is {sigma:.3f}: {held}"
    return Outcome("wrong", reason, {"probability": mass})


def _along_a(node: Node, context: StepContext) -> float | None:
    """A number, or how long a vector is along mu_a; None where it has no value."""
    instance = smallest()
    roles = Roles({**context.means, "mu": "means", "u": "means"})
    try:
        value = evaluate(node, Scene(instance, roles))
    except (Unknown, Mismatch):
        return None
    if isinstance(value, np.ndarray):
        return float(value.ravel() @ instance.K[instance.a])
    return value


def _normal(x: float) -> float:
    """The distribution function of N(0, 1)."""
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _law(chain: Chain, context: StepContext) -> Outcome | None:
    """`gamma ~ N(1, 1/2)`; the key b does not vary."""
    about = subject(chain)
    if about is None or not context.varies:
        return None
    if about.name not in LENGTHS or "~" not in chain.relations:
        return None
    law = chain.terms[-1]
    if not isinstance(law, tree.Apply) or len(law.arguments) != 2:
        return None
    mean, spread = law.arguments
    if mean != tree.Number(1.0):
        return None
    if about.index == "b":
        reason = "only k_a varies in length; k_b has covariance alpha I, so its factor is 1"
        return Outcome("wrong", reason, {"length of k_b": 1.0})
    variance = _along_a(spread, context)
    if variance is None or abs(variance - math.sqrt(context.variance)) < ROUNDED:
        return None  # some write the deviation there
    right = _spelled(context.variance)
    if abs(variance - context.variance) < 1e-9:
        return Outcome("correct", f"the length of k_a along mu_a is N(1, {right})")
    return Outcome("wrong", f"the variance of the length is {right}, not {variance:g}")


def _spelled(variance: float) -> str:
    """0.5 -> 1/2"""
    return str(Fraction(variance).limit_denominator(100))


KINDS: dict[str, Test] = {
    "weights": _weights,
    "scores": _scores,
    "output": _outputs,
    "range": _range,
    "law": _law,
}
