"""Questions that ask for a query (b.q, c.q) or for one query per head (d.q)."""

from __future__ import annotations

import numpy as np

from headwright.design.closed_form import sharpness
from headwright.exercise.instances import Instance, instances
from headwright.homework.answer import Answer, Judged, decide, tentative, unread
from headwright.homework.evaluate import Mismatch, Unknown
from headwright.homework.formula import Chain, Missing, Node, Symbol
from headwright.homework.queries import (
    GROWING,
    NOISE,
    Heads,
    distance,
    head_weights,
    mixed,
    reaches,
    reaches_times,
    values,
)
from headwright.homework.roles import glued, vector_roles
from headwright.homework.shapes import bare
from headwright.homework.sizes import LARGE, Size, size_of
from headwright.homework.statements import Statement
from headwright.homework.verdict import Outcome
from headwright.homework.worlds import spell

LEAK = 0.01
FLIP = "with probability 7.86 % (gamma < 0, k_a points away) head 1 loses v_a; the handout tells to ignore that case"


def judge_query(answer: Answer) -> Judged:
    """One head: the last statement `q = ...` decides."""
    candidates = [s for s in answer.statements if defined(s.chain, one_head=True) is not None]
    if not candidates:
        return unread("no statement of the form q = ... was found")
    judged = decide(candidates, lambda s: _outcome(answer, [s], [defined(s.chain, one_head=True)]))  # type: ignore[list-item]
    return _with_heads(answer, judged, [defined(s.chain, one_head=True) for s in judged.chosen])


def judge_queries(answer: Answer) -> Judged:
    """Several heads: the last firm definition of each head's query."""
    found: dict[str, tuple[Statement, Node]] = {}
    for statement in answer.statements:
        for index, expression in head_definitions(statement.chain):
            if not tentative(statement) or index not in found:
                found[index] = (statement, expression)
    found = _two(found)
    if len(found) < 2:
        return unread("two queries q_1 = ..., q_2 = ... were not found")
    statements = list({id(s): s for s, _ in found.values()}.values())
    expressions = glued([e for _, e in found.values()])
    outcome = _outcome(answer, statements, expressions)
    return _with_heads(answer, Judged(outcome, tuple(statements)), expressions)


def _with_heads(answer: Answer, judged: Judged, expressions: list[Node | None]) -> Judged:
    known = [e for e in expressions if e is not None]
    try:
        heads = Heads(tuple(known), vector_roles(known, answer.question.parameters["vectors"])) if known else None
    except Unknown:
        heads = None
    return Judged(judged.outcome, judged.chosen, judged.earlier, heads)


def defined(chain: Chain, *, one_head: bool) -> Node | None:
    """The expression that `q = ...` (or `... = q`) gives for the query of one head."""
    terms = chain.terms
    if len(terms) < 2 or not set(chain.relations) <= {"=", "~=", "propto", "~", "->"}:
        return None
    for ends in (terms, terms[::-1]):
        symbol = bare(ends[0])
        if symbol is not None and symbol.name in ("q", "Q") and (not symbol.index or symbol.index == "*") == one_head:
            rest = [t for t in ends[1:] if not isinstance(t, Missing) and not _is_query(t)]
            return rest[0] if rest else None
    return None


def _is_query(node: Node) -> bool:
    symbol = bare(node)
    return symbol is not None and symbol.name in ("q", "Q")


def head_definitions(chain: Chain) -> list[tuple[str, Node]]:
    """`q_1 = q_2 = e` defines both heads."""
    heads = [s for t in chain.terms if (s := bare(t)) is not None and s.name in ("q", "Q") and s.index not in ("", "*")]
    expression = defined(chain, one_head=False)
    return [(h.index.strip("()"), expression) for h in heads] if expression is not None else []


def _two(found: dict[str, tuple[Statement, Node]]) -> dict[str, tuple[Statement, Node]]:
    """Scans read the 1 of q_1 as i or l."""
    if len(found) == 2:
        return found
    for pair in (("1", "2"), ("a", "b"), ("i", "2"), ("l", "2"), ("I", "2"), ("A", "B")):
        if all(p in found for p in pair):
            return {p: found[p] for p in pair}
    return found if len(found) < 2 else {}


def _outcome(answer: Answer, statements: list[Statement], expressions: list[Node]) -> Outcome:
    parameters = answer.question.parameters
    target = dict(parameters["target"])
    try:
        roles = vector_roles(expressions, parameters["vectors"])
        heads = Heads(tuple(expressions), roles)
        return _tested(answer, statements, heads, target)
    except Unknown as error:
        return Outcome("unread", f"could not tell {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the formula has no value: {error}")


def _tested(answer: Answer, statements: list[Statement], heads: Heads, target: dict[str, float]) -> Outcome:
    wanted = answer.question.parameters["vectors"]
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    if "values" in kinds and wanted == "means":
        return Outcome("unread", "v may be a scanned mu; the formula was not judged")
    if Symbol(NOISE) in heads.scales and wanted == "means":
        return _noise_scaled(heads, target)
    if any("propto" in s.chain.relations for s in statements):
        heads_pass = reaches_times(heads, target, 1e4)
        return _no_scale(heads, target) if heads_pass else _fails(heads, target)
    if not heads.scales and not heads.worded:
        return _fixed(heads, target)
    if not reaches(heads, target):
        return _fails(heads, target)
    faults = [*_unequal(answer, heads, target), *_small(answer, heads, target)]
    if faults:
        return max(faults, key=lambda o: ("incomplete", "wrong").index(o.status))
    if len(heads.expressions) > 1:
        return _different(heads, target)
    if "keys" in kinds and wanted == "means":
        return _random_keys(heads)
    return _passes(heads, target)


def _passes(heads: Heads, target: dict[str, float]) -> Outcome:
    beta = _enough(heads, target)
    errors = [distance(values(heads, i, GROWING[-1]), i, target) for i in instances()]
    sizes = ", ".join(str(i.n) for i in instances())
    reason = f"the weights tend to {_target(target)} for n = {sizes} (off by {max(errors):.1g}); a leak of 1 % at n = 10 needs beta >= {beta:.2f}"
    return Outcome("correct", reason, remarks=(FLIP,) if len(heads.expressions) > 1 else ())


def _different(heads: Heads, target: dict[str, float]) -> Outcome:
    instance = instances()[0]
    Q = values(heads, instance, 10.0)
    if np.allclose(Q, Q[0]):
        two = head_weights(Q, instance)[0]
        return Outcome(
            "incomplete",
            "both heads have the same query: their outputs are equal in every sample, so a second head changes nothing",
            _example(instance, Q, two),
            "give each head its own mean: q_1 = beta mu_a, q_2 = beta mu_b",
        )
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    return _random_keys(heads) if "keys" in kinds else _passes(heads, target)


def _random_keys(heads: Heads) -> Outcome:
    return Outcome(
        "incomplete",
        "the keys are random here, and the query must be given in terms of their means; at the means the formula works",
        {"claim": "q uses k_a, k_b", "means": instances()[0].K[[1, 3]].round(3)},
        "write mu_a and mu_b for k_a and k_b",
    )


def _fixed(heads: Heads, target: dict[str, float]) -> Outcome:
    """No scale was given: the sum itself is tested."""
    ten = next(i for i in instances() if i.n == 10)
    Q = values(heads, ten, 1.0)
    alpha = mixed(Q, ten)
    if distance(Q, ten, target) <= 2 * LEAK:
        return _passes_number(heads, target, alpha, ten)
    if not reaches_times(heads, target, 1e4):
        return _fails(heads, target)
    return _no_scale(heads, target)


def _passes_number(heads: Heads, target: dict[str, float], alpha: np.ndarray, ten: Instance) -> Outcome:
    kinds = {heads.roles.role(Symbol(name)) for name in heads.roles.of}
    if "keys" in kinds and "means" not in kinds and len(heads.expressions) > 1:
        return _random_keys(heads)
    return Outcome("correct", f"the given numbers are large enough: {_weights(alpha, ten, target)} at n = 10")


def _no_scale(heads: Heads, target: dict[str, float]) -> Outcome:
    ten, small = next(i for i in instances() if i.n == 10), instances()[0]
    Q = values(heads, ten, 1.0)
    alpha = mixed(Q, ten)
    beta = _enough(heads, target)
    shrunk = float(np.linalg.norm(Q, axis=1).min()) < (1 - 1e-9) * _plain_norm(heads, target)
    factor = beta * _plain_norm(heads, target) / float(np.linalg.norm(Q, axis=1).max())
    return Outcome(
        "wrong" if shrunk else "incomplete",
        f"{'the factor makes the query too short' if shrunk else 'the scale is missing'}: at n = 10 it gives {_weights(alpha, ten, target)} instead of {_target(target)}",
        _example(small, values(heads, small, 1.0), mixed(values(heads, small, 1.0), small)),
        f"multiply by beta >= {factor:.2f} for a leak of 1 % at n = 10",
    )


def _plain_norm(heads: Heads, target: dict[str, float]) -> float:
    """Length of the bare sum of target vectors one head must point at."""
    return float(np.sqrt(len(target))) if len(heads.expressions) == 1 else 1.0


def _fails(heads: Heads, target: dict[str, float]) -> Outcome:
    ten, small = next(i for i in instances() if i.n == 10), instances()[0]
    scale = 30.0
    alpha = mixed(values(heads, ten, scale), ten)
    Q = values(heads, small, scale)
    return Outcome(
        "wrong",
        f"with a scale of {scale:g} it gives {_weights(alpha, ten, target)} at n = 10 instead of {_target(target)}{_whose(heads, ten)}",
        _example(small, Q, mixed(Q, small)),
        _model(heads, target),
    )


def _whose(heads: Heads, ten: Instance) -> str:
    """For several heads: what each of them attends to."""
    if len(heads.expressions) == 1:
        return ""
    rows = head_weights(values(heads, ten, 30.0), ten)
    parts = [
        f"head {h + 1} puts {r[ten.place('a')]:.2f} on a and {r[ten.place('b')]:.2f} on b" for h, r in enumerate(rows)
    ]
    return "; " + ", ".join(parts)


def _model(heads: Heads, target: dict[str, float]) -> str:
    letter = next(iter(heads.roles.of), "k")
    beta = _enough(heads, target)
    if len(heads.expressions) > 1:
        return f"q_1 = beta {letter}_a, q_2 = beta {letter}_b with beta >= {beta:.2f} (leak 1 % at n = 10)"
    total = " + ".join(f"{letter}_{x}" for x in target)
    return f"q = beta ({total}) with beta >= {beta:.2f} (leak 1 % at n = 10)"


def _enough(heads: Heads, target: dict[str, float]) -> float:
    """Closed form: ln((n - m)(1 - eps) / (m eps)) at n = 10."""
    return sharpness(10, leak=LEAK, m=len(target) if len(heads.expressions) == 1 else 1)


def _unequal(answer: Answer, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    """Several scales inside one query must be equal."""
    if len(heads.scales) < 2 or reaches(heads, target, apart=True):
        return []
    names = [spell(s) for s in heads.scales]
    for piece in answer.statements:
        if {bare(t) for t in piece.chain.terms} >= set(heads.scales) and set(piece.chain.relations) <= {"=", "~="}:
            return []
    return [
        Outcome(
            "incomplete",
            f"works only if {' and '.join(names)} are equal, which is not said",
            repair=f"use one scale for all: {' = '.join(names)}",
        )
    ]


def _small(answer: Answer, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    """What was said about the size of each scale."""
    out = []
    for symbol in heads.scales:
        size = size_of(symbol, list(answer.pieces))
        out += _size_fault(symbol, size, heads, target)
    return out


def _size_fault(symbol: Symbol, size: Size, heads: Heads, target: dict[str, float]) -> list[Outcome]:
    beta, name = _enough(heads, target), spell(symbol)
    small = instances()[0]
    repair = f"say that {name} is large: {name} >= {beta:.2f} leaves 1 % at n = 10"
    if size.said in ("positive", "any"):
        Q = values(heads, small, 1.0)
        alpha = mixed(values(heads, i10 := next(i for i in instances() if i.n == 10), 1.0), i10)
        reason = f"{name} is only said to be {'positive' if size.said == 'positive' else 'arbitrary'}; {name} = 1 gives {_weights(alpha, i10, target)} at n = 10"
        return [Outcome("incomplete", reason, _example(small, Q, mixed(Q, small)), repair)]
    if size.said == "small":
        return [Outcome("wrong", f"{name} is said to be small; then the weights are nearly equal", None, repair)]
    if size.said == "number" and size.number < LARGE / 2:
        Q = values(heads, small, size.number)
        status = "incomplete" if size.number >= 1 else "wrong"
        return [Outcome(status, f"{name} = {size.number:g} is too small", _example(small, Q, mixed(Q, small)), repair)]
    return []


def _noise_scaled(heads: Heads, target: dict[str, float]) -> Outcome:
    """A scale made of the noise variance: follow alpha -> 0 with the noise of the logits, sqrt(alpha) |q|."""
    logit_noise, errors = [], []
    for s in (10.0, 30.0, 100.0):
        alpha = s**-4
        for instance in instances():
            Q = _at_noise(heads, instance, alpha)
            errors.append(distance(Q, instance, target))
            logit_noise.append(float(np.sqrt(alpha) * np.linalg.norm(Q, axis=1).max()))
    if errors[-1] > LEAK:
        return Outcome(
            "wrong", f"as the noise alpha -> 0 the weights stay off by {errors[-1]:.2g}", repair=_model(heads, target)
        )
    if logit_noise[-1] > 0.1 and logit_noise[-1] > 0.5 * logit_noise[0]:
        return Outcome(
            "incomplete",
            f"the scale grows so fast that the noise of the scores does not vanish (still {logit_noise[-1]:.2g})",
            repair="let the scale grow more slowly than alpha^(-1/2), such as alpha^(-1/4)",
        )
    return Outcome(
        "correct",
        f"as alpha -> 0 the weights tend to {_target(target)} and the noise of the scores falls to {logit_noise[-1]:.2g}",
    )


def _at_noise(heads: Heads, instance: Instance, alpha: float) -> np.ndarray:
    from headwright.homework.evaluate import evaluate
    from headwright.homework.worlds import Scene

    given = {s: alpha if s.name == NOISE else 1.0 for s in heads.scales}
    scene = Scene(instance, heads.roles, scalars=given)
    return np.array([np.ravel(evaluate(e, scene)) for e in heads.expressions])


def _weights(alpha: np.ndarray, instance: Instance, target: dict[str, float]) -> str:
    parts = [f"alpha_{x} = {alpha[instance.place(x)]:.3f}" for x in target if instance.place(x) is not None]
    return ", ".join(parts)


def _target(target: dict[str, float]) -> str:
    return " and ".join(f"{p:g} on {x}" for x, p in target.items())


def _example(instance: Instance, Q: np.ndarray, alpha: np.ndarray) -> dict[str, object]:
    """Small arrays to look at: with the standard basis as keys the query's coordinates are its scores."""
    names = {place: letter for letter, place in instance.places if letter != "j"}
    order = [names.get(k, f"k{k + 1}") for k in range(instance.n)]
    return {
        "keys": "orthonormal", "order": order, "scores": (Q @ instance.K.T).round(3), "weights": alpha.round(4),
    }  # fmt: skip
