"""Self-attention on three inputs (e.c2, e.KQV): the layer is run, for growing beta, with what the
answer gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from headwright import attention
from headwright.exercise.instances import SEED, Instance, orthonormal
from headwright.homework.judges.claims import EQUALITIES
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.locating.answer import Answer, Judged, decide, tentative, unread
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

D = 7
BETAS = (4.0, 8.0, 16.0)
LARGEST = BETAS[-1]
CLOSE = 1e-3
MATRICES = ("K", "Q", "V")


def inputs(beta: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """u_a .. u_d orthogonal of norm beta, and the inputs x_1 = u_d + u_b, x_2 = u_a, x_3 = u_c +
    u_b."""
    rows = beta * orthonormal(4, D, np.random.default_rng(SEED))
    u = dict(zip("abcd", rows, strict=True))
    x = np.array([u["d"] + u["b"], u["a"], u["c"] + u["b"]])
    return u, x


def _scene(beta: float) -> Scene:
    u, x = inputs(beta)
    given: dict[Symbol, Value] = {Symbol("u", k): v[:, None] for k, v in u.items()}
    for number, row in enumerate(x, start=1):
        given[Symbol("x", str(number))] = row[:, None]
    identity = np.eye(D)
    given |= {Symbol("beta"): beta, Symbol("I"): identity, Symbol("d"): float(D)}
    # No letter stands for a key or a value of the other questions.
    blank = Instance(identity, identity, identity[:, :1], identity[:, 1:2], ())
    return Scene(blank, Roles(), given=given)


# ---------------------------------------------------------------------- the output c_2


def judge_self_output(answer: Answer) -> Judged:
    """`c_2 ~ u_a`, and no sum of the inputs makes it u_b: said in words, or not judged."""
    found = [s for s in answer.statements if _is_about_second_output(s.chain)]
    in_words = read(answer, "e.c2")
    if not found and "itself" not in in_words.said:
        return unread("no statement about c_2 was found")
    judged = decide(found[:1], _second_output) if found else _worded_output()
    if judged.outcome.status != "correct":
        return judged
    sum_of_inputs = judged_by_points(in_words).outcome
    if sum_of_inputs.status == "wrong":
        return replace(judged, outcome=sum_of_inputs)
    if sum_of_inputs.status == "correct":
        return judged
    remark = (
        "whether the second half of the question (can adding u_d or u_c make it u_b?) is answered "
        "was not judged"
    )
    return replace(judged, outcome=replace(judged.outcome, remarks=(remark,)))


def _worded_output() -> Judged:
    """ "c_2 is approximately" `u_a`."""
    return Judged(Outcome("correct", "in words it says that c_2 is nearly u_a"))


def _is_about_second_output(chain: Chain) -> bool:
    first = bare(chain.terms[0])
    return first in (Symbol("c", "2"), Symbol("C", "2")) and len(chain.terms) > 1


def _second_output(statement: Statement) -> Outcome:
    repair = "c_2 ~ u_a"
    try:
        # A formula must have a value at every beta; the largest decides.
        stated = [_last(statement.chain, _scene(beta)) / beta for beta in BETAS][-1]
    except Unknown as error:
        return Outcome("unread", f"could not determine {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the statement has no value: {error}", repair=repair)

    _, x = inputs(LARGEST)
    output = attention.weights(x @ x.T)[1] @ x
    truth = output[:, None] / LARGEST
    if agree(stated, truth, CLOSE):
        off = float(np.abs(stated - truth).max())
        gives = f"self-attention on x_1, x_2, x_3 gives u_a for beta = {LARGEST:g}"
        return Outcome("correct", f"{gives} (off by {off:.1g} of its length)")
    off = float(np.linalg.norm(stated - truth))
    missed = f"the stated vector is off by {off:.2f} of its length"
    return Outcome(
        "wrong",
        f"at beta = {LARGEST:g} the output c_2 is u_a; {missed}",
        {"scores of x_2": [0, LARGEST**2, 0]},
        repair,
    )


def _last(chain: Chain, scene: Scene) -> np.ndarray:
    for term in reversed(chain.terms[1:]):
        if isinstance(term, Missing):
            continue
        value = evaluate(term, scene)
        if not isinstance(value, np.ndarray) or value.shape != (D, 1):
            raise Mismatch("c_2 is not a vector of the inputs' length")
        return value
    raise Unknown("what c_2 equals")


# ----------------------------------------------------------------- the matrices K, Q, V


_REPAIR = "for example V = (u_b u_b' - u_c u_c')/beta^2, K = I, Q = (u_d u_a' + u_c u_d')/beta^2"


def judge_self_matrices(answer: Answer) -> Judged:
    """The last definition of each of K, Q, V that is no supposition."""
    expressions: dict[str, Node] = {}
    defining: dict[str, Statement] = {}
    for statement in answer.statements:
        for name in MATRICES:
            expression = _definition(statement.chain, name)
            given_before = tentative(statement) and name in expressions
            if expression is not None and not given_before:
                expressions[name] = expression
                defining[name] = statement
    if len(expressions) < len(MATRICES):
        return unread("K = ..., Q = ..., V = ... were not all found")
    # One statement may define several.
    statements = {id(statement): statement for statement in defining.values()}
    return Judged(_layer_outcome(expressions), tuple(statements.values()))


def _definition(chain: Chain, name: str) -> Node | None:
    """What a chain of equations says the matrix is: the first side that is no matrix's name."""
    sides = [bare(term) for term in chain.terms]
    if Symbol(name) not in sides or not set(chain.relations) <= EQUALITIES:
        return None
    for term, symbol in zip(chain.terms, sides, strict=True):
        named = symbol is not None and symbol.name in MATRICES
        if not named and not isinstance(term, Missing):
            return term
    return None


def _layer_outcome(expressions: Mapping[str, Node]) -> Outcome:
    try:
        # As above: a value at every beta, and the largest decides.
        second, first = [_layer_errors(expressions, beta) for beta in BETAS][-1]
    except Unknown as error:
        return Outcome("unread", f"could not determine {error}")
    except Mismatch as error:
        return Outcome("wrong", f"a matrix has no value: {error}", repair=_REPAIR)

    worse = max(second, first)
    if worse < CLOSE:
        gives = f"the layer gives c_2 = u_b and c_1 = u_b - u_c at beta = {LARGEST:g}"
        return Outcome("correct", f"{gives} (off by {worse:.1g} of their length)")
    missing = [name for name, off in (("c_2", second), ("c_1", first)) if off >= CLOSE]
    missed = f"c_2 is off by {second:.2f} and c_1 by {first:.2f} of beta"
    return Outcome(
        "wrong",
        f"at beta = {LARGEST:g} {' and '.join(missing)} misses: {missed}",
        {"beta": LARGEST, "off c_2": second, "off c_1": first},
        _REPAIR,
    )


def _layer_errors(expressions: Mapping[str, Node], beta: float) -> tuple[float, float]:
    """How far c_2 is from u_b and c_1 from u_b - u_c, in units of beta."""
    u, x = inputs(beta)
    scene = _scene(beta)
    K, Q, V = (_square(evaluate(expressions[name], scene)) for name in MATRICES)
    scores = (x @ Q.T) @ (x @ K.T).T
    c = attention.weights(np.clip(scores, -1e8, 1e8)) @ (x @ V.T)
    second = np.linalg.norm(c[1] - u["b"]) / beta
    first = np.linalg.norm(c[0] - (u["b"] - u["c"])) / beta
    return float(second), float(first)


def _square(value: Value) -> np.ndarray:
    """A number stands for that multiple of the identity."""
    if not isinstance(value, np.ndarray):
        if not np.isfinite(value):
            raise Unknown("a finite matrix: the numbers overflow")
        return value * np.eye(D)
    if value.shape != (D, D):
        raise Mismatch(f"a matrix of shape {value.shape} where d x d is asked")
    return value
