"""The matrix that gets v_a back out of v_a + v_b (b.M)."""

from __future__ import annotations

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework.locating.answer import Answer, Judged, decide, unread
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, describe
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

ROLES = {
    "A": "basis a",
    "B": "basis b",
    "a": "basis a",
    "b": "basis b",
    "v": "values",
    "V": "values",
}
EXACT = 1e-9


def judge_matrix(answer: Answer) -> Judged:
    candidates = [s for s in answer.statements if _members(s.chain)]
    if not candidates:
        return unread("no statement of the form M = ... was found")
    rows = any(_rows_convention(s.chain) for s in answer.statements)
    return decide(candidates, lambda s: _outcome(s, rows))


def _members(chain: Chain) -> list[Node]:
    """What M equals: every side that is not M itself."""
    symbol = bare(chain.terms[0])
    if (
        symbol is None
        or symbol.name != "M"
        or symbol.index
        or not set(chain.relations) <= {"=", "~="}
    ):
        return []
    return [t for t in chain.terms[1:] if not isinstance(t, Missing) and bare(t) != symbol]


def _rows_convention(chain: Chain) -> bool:
    """Does the student define A with the basis vectors as rows?"""
    symbol = bare(chain.terms[0])
    if symbol != Symbol("A") or len(chain.terms) < 2 or not isinstance(chain.terms[1], tree.Matrix):
        return False
    rows = chain.terms[1].rows
    return len(rows) > 1 and isinstance(rows[0][0], (tree.Transpose, tree.Prime))


def _outcome(statement: Statement, rows: bool) -> Outcome:
    """The first side that can be evaluated decides."""
    outcomes = [_of(expression, rows) for expression in _members(statement.chain)]
    return next((o for o in outcomes if o.status != "unread"), outcomes[-1])


def _of(expression: Node, rows: bool) -> Outcome:
    if any(isinstance(n, tree.Matrix) for n in walk(expression)) and not symbols(expression):
        return Outcome("unread", "a matrix of numbers cannot be the general answer")
    try:
        results = [(i, evaluate(expression, _scene(i, rows))) for i in instances()]
    except Unknown as error:
        return Outcome("unread", f"could not tell {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the matrix has no value: {error}", repair="M = A A'")
    return _judged(results, uses_vectors=any(s.name in ("v", "V") for s in symbols(expression)))


def _scene(instance: Instance, rows: bool) -> Scene:
    given = {Symbol("A"): instance.A.T, Symbol("B"): instance.B.T} if rows else {}
    return Scene(instance, Roles(ROLES), given=given)


def _judged(results: list[tuple[Instance, Value]], *, uses_vectors: bool) -> Outcome:
    for instance, M in results:
        s = instance.V[1] + instance.V[3]
        if not isinstance(M, np.ndarray):
            return Outcome("wrong", "M is a number here, not a d x d matrix", repair="M = A A'")
        if M.shape[1] != instance.d:
            return Outcome(
                "wrong",
                f"M is {describe(M)} and cannot be applied to v_a + v_b in R^{instance.d} (m = {instance.A.shape[1]})",
                _example(instance, M),
                "M = A A'",
            )
        if M.shape[0] != instance.d:
            back = (
                np.allclose(instance.A @ (M @ s), instance.V[1])
                if M.shape[0] == instance.A.shape[1]
                else False
            )
            what = (
                f"the {M.shape[0]} coordinates of v_a in the basis A"
                if back
                else f"a vector of {M.shape[0]}"
            )
            return Outcome(
                "wrong",
                f"M is {describe(M)}: M(v_a + v_b) is {what}, not v_a itself, which lies in R^{instance.d}",
                _example(instance, M),
                "multiply by A from the left: M = A A'" if back else "M = A A'",
            )
        error = float(np.linalg.norm(M @ s - instance.V[1]) / np.linalg.norm(instance.V[1]))
        if error > EXACT * instance.d:
            sizes = f"d = {instance.d}, m = {instance.A.shape[1]}"
            reason = f"M(v_a + v_b) differs from v_a by {100 * error:.0f} % of its length ({sizes})"
            return Outcome("wrong", reason, _example(instance, M), "M = A A'")
    if uses_vectors:
        return Outcome(
            "incomplete",
            "M is made of v_a or v_b, which are not known; it must be made of the bases",
            repair="M = A A'",
        )
    sizes = ", ".join(f"d = {i.d}, m = {i.A.shape[1]}" for i, _ in results)
    return Outcome(
        "correct", f"M(v_a + v_b) = v_a to rounding for random orthonormal A, B ({sizes})"
    )


def _example(instance: Instance, M: np.ndarray) -> dict[str, object]:
    """The smallest case with m < d: A = e_1, B = e_2 in R^3."""
    return {
        "d": instance.d,
        "m": instance.A.shape[1],
        "shape of M": list(M.shape),
        "small case": {
            "A": [[1], [0], [0]],
            "B": [[0], [1], [0]],
            "v_a": [2, 0, 0],
            "v_b": [0, 5, 0],
        },
    }
