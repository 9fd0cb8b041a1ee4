"""Self-attention on three inputs (e.c2, e.KQV): the layer is run, for growing beta, with what the
answer gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headwright import attention
from headwright.exercise.instances import SEED, Instance, orthonormal
from headwright.homework.locating.answer import Answer, Judged, decide, unread
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

D, BETAS = 7, (4.0, 8.0, 16.0)
CLOSE = 1e-3


def world(beta: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """u_a .. u_d orthogonal of norm beta, and the inputs x_1 = u_d + u_b, x_2 = u_a, x_3 = u_c +
    u_b."""
    rows = beta * orthonormal(4, D, np.random.default_rng(SEED))
    u = dict(zip("abcd", rows, strict=True))
    return u, np.array([u["d"] + u["b"], u["a"], u["c"] + u["b"]])


def _scene(beta: float) -> Scene:
    u, x = world(beta)
    given: dict[Symbol, Value] = {Symbol("u", k): v[:, None] for k, v in u.items()}
    given |= {Symbol("x", str(k + 1)): row[:, None] for k, row in enumerate(x)}
    given |= {Symbol("beta"): beta, Symbol("I"): np.eye(D), Symbol("d"): float(D)}
    blank = Instance(np.eye(D), np.eye(D), np.eye(D)[:, :1], np.eye(D)[:, 1:2], ())
    return Scene(blank, Roles(), given=given)


def judge_self_output(answer: Answer) -> Judged:
    """`c_2 ~ u_a`"""
    found = [s for s in answer.statements if _output_side(s.chain, "2")]
    if not found:
        return unread("no statement about c_2 was found")
    judged = decide(found[:1], _self_output)
    if judged.outcome.status != "correct":
        return judged
    remark = "the second half of the question (can adding u_d or u_c make it u_b?) is prose and was not judged"
    return Judged(Outcome("correct", judged.outcome.reason, remarks=(remark,)), judged.chosen)


def _output_side(chain: Chain, index: str) -> bool:
    first = bare(chain.terms[0])
    return (
        first is not None
        and first.name in ("c", "C")
        and first.index == index
        and len(chain.terms) > 1
    )


def _self_output(statement: Statement) -> Outcome:
    values = []
    for beta in BETAS:
        _, x = world(beta)
        truth = attention.weights(x @ x.T)[1] @ x
        try:
            values.append((_last(statement.chain, _scene(beta)) / beta, truth[:, None] / beta))
        except Unknown as error:
            return Outcome("unread", f"could not tell {error}")
        except Mismatch as error:
            return Outcome("wrong", f"the statement has no value: {error}", repair="c_2 ~ u_a")
    stated, truth = values[-1]
    if agree(stated, truth, CLOSE):
        off = float(np.abs(stated - truth).max())
        gives = f"self-attention on x_1, x_2, x_3 gives u_a for beta = {BETAS[-1]:g}"
        return Outcome("correct", f"{gives} (off by {off:.1g} of its length)")
    off = float(np.linalg.norm(stated - truth))
    return Outcome(
        "wrong",
        f"at beta = {BETAS[-1]:g} the output c_2 is u_a; the stated vector is off by {off:.2f} of its length",
        {"scores of x_2": [0, BETAS[-1] ** 2, 0]},
        "c_2 ~ u_a",
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


_REPAIR = "for example V = (u_b u_b' - u_c u_c')/beta^2, K = I, Q = (u_d u_a' + u_c u_d')/beta^2"


def judge_self_matrices(answer: Answer) -> Judged:
    """The last definition of each of K, Q, V."""
    found: dict[str, tuple[Statement, Node]] = {}
    for statement in answer.statements:
        for name in ("K", "Q", "V"):
            expression = _matrix(statement.chain, name)
            if expression is not None:
                found[name] = (statement, expression)
    statements = tuple({id(s): s for s, _ in found.values()}.values())
    if len(found) < 3:
        return unread("K = ..., Q = ..., V = ... were not all found")
    return Judged(_run({name: e for name, (_, e) in found.items()}), statements)


def _matrix(chain: Chain, name: str) -> Node | None:
    sides = [bare(t) for t in chain.terms]
    if Symbol(name) not in sides or not set(chain.relations) <= {"=", "~="}:
        return None
    rest = [
        t
        for t, s in zip(chain.terms, sides, strict=True)
        if not isinstance(t, Missing) and (s is None or s.name not in ("K", "Q", "V"))
    ]
    return rest[0] if rest else None


def _run(expressions: Mapping[str, Node]) -> Outcome:
    offs = []
    for beta in BETAS:
        u, x = world(beta)
        try:
            K, Q, V = (
                _square(evaluate(expressions[name], _scene(beta))) for name in ("K", "Q", "V")
            )
        except Unknown as error:
            return Outcome("unread", f"could not tell {error}")
        except Mismatch as error:
            return Outcome("wrong", f"a matrix has no value: {error}", repair=_REPAIR)
        z = np.clip((x @ Q.T) @ (x @ K.T).T, -1e8, 1e8)
        c = attention.weights(z) @ (x @ V.T)
        offs.append(
            (np.linalg.norm(c[1] - u["b"]) / beta, np.linalg.norm(c[0] - (u["b"] - u["c"])) / beta)
        )
    second, first = offs[-1]
    if max(second, first) < CLOSE:
        gives = f"the layer gives c_2 = u_b and c_1 = u_b - u_c at beta = {BETAS[-1]:g}"
        return Outcome("correct", f"{gives} (off by {max(second, first):.1g} of their length)")
    which = " and ".join(name for name, off in (("c_2", second), ("c_1", first)) if off >= CLOSE)
    reason = f"at beta = {BETAS[-1]:g} {which} misses: c_2 is off by {second:.2f} and c_1 by {first:.2f} of beta"
    return Outcome(
        "wrong",
        reason,
        {"beta": BETAS[-1], "off c_2": second, "off c_1": first},
        _REPAIR,
    )


def _square(value: Value) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        if not np.isfinite(value):
            raise Unknown("a finite matrix: the numbers overflow")
        return value * np.eye(D)
    if value.shape != (D, D):
        raise Mismatch(f"a matrix of shape {value.shape} where d x d is asked")
    return value
