"""The matrix that gets v_a back out of v_a + v_b (b.M)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.exercise.instances import Instance, instances
from headwright.homework.judges.claims import EQUALITIES
from headwright.homework.locating.answer import Answer, Judged, decide, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare, without_sets
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value, describe
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

ROLES = {
    "A": "basis a",
    "B": "basis b",
    "a": "basis a",
    "b": "basis b",
    "v": "values",
    "V": "values",
}
EXACT = 1e-9  # relative error per dimension
# A with the basis vectors as rows.
AS_ROWS: dict[Symbol, Node] = {Symbol("A"): tree.Transpose(Symbol("A"))}
REPAIR = "M = A A'"


def judge_matrix(answer: Answer) -> Judged:
    candidates = [s for s in answer.statements if _members(s.chain)]
    if not candidates:
        return unread("no statement of the form M = ... was found")
    letters = _own_letters(answer.statements)
    judged = decide(candidates, lambda s: _outcome(s, letters))
    if judged.outcome.status == "correct" or not words.says("as_rows", answer.prose):
        return judged

    # "where the rows of A are the basis vectors": a right answer is right in its own convention
    turned = decide(candidates, lambda s: _outcome(s, letters | AS_ROWS))
    if turned.outcome.status == "correct":
        return turned
    unclear = Outcome("unread", "the basis vectors are said to be rows; the formula was not judged")
    return replace(judged, outcome=unclear)


def _members(chain: Chain) -> list[Node]:
    """What M equals: every side that is not M itself."""
    chain = without_sets(chain)
    symbol = bare(chain.terms[0])
    if symbol != Symbol("M") or not set(chain.relations) <= EQUALITIES:
        return []
    sides = [term for term in chain.terms[1:] if not isinstance(term, Missing)]
    return [side for side in sides if bare(side) != symbol]


def _own_letters(statements: list[Statement]) -> dict[Symbol, Node]:
    """What the student's own letters stand for: `U = [a_1, ..., a_m]`, or A with the basis vectors
    as rows."""
    letters: dict[Symbol, Node] = {}
    for statement in statements:
        chain = without_sets(statement.chain)
        symbol = bare(chain.terms[0])
        if symbol is None or symbol == Symbol("M") or chain.relations[:1] != ("=",):
            continue
        value = chain.terms[1]
        if _lists_a_basis(value) or symbol.name not in ROLES:
            letters.setdefault(symbol, value)
    if any(_has_basis_as_rows(statement.chain) for statement in statements):
        letters |= AS_ROWS
    return letters


def _has_basis_as_rows(chain: Chain) -> bool:
    """`A in R^{m x d}`"""
    if bare(chain.terms[0]) != Symbol("A") or chain.relations != ("in",):
        return False
    space = chain.terms[1]
    shape = space.exponent if isinstance(space, tree.Power) else None
    return isinstance(shape, tree.Multiply) and shape.factors == (Symbol("m"), Symbol("d"))


def _lists_a_basis(node: Node) -> bool:
    """`[a_1, ..., a_m]`, also transposed."""
    while isinstance(node, (tree.Transpose, tree.Prime)):
        node = node.of
    listed = isinstance(node, (tree.Matrix, tree.Bracket))
    return listed and any(isinstance(part, tree.Dots) for part in walk(node))


def _outcome(statement: Statement, letters: dict[Symbol, Node]) -> Outcome:
    """The first side that can be evaluated decides."""
    outcomes = [_of(expression, letters) for expression in _members(statement.chain)]
    return next((o for o in outcomes if o.status != "unread"), outcomes[-1])


def _of(expression: Node, letters: dict[Symbol, Node]) -> Outcome:
    used = symbols(expression)
    if not used and any(isinstance(n, tree.Matrix) for n in walk(expression)):
        return Outcome("unread", "a matrix of numbers cannot be the general answer")
    try:
        results = [(i, evaluate(expression, _scene(i, letters))) for i in instances()]
    except Unknown as error:
        return Outcome("unread", f"could not determine {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the matrix has no value: {error}", repair=REPAIR)
    outcome = _judged(results, uses_vectors=any(_is_value(s, letters) for s in used))
    if outcome.status != "wrong":
        return outcome
    return replace(outcome, counterexample=_smallest_case(expression, letters))


def _is_value(symbol: Symbol, letters: dict[Symbol, Node]) -> bool:
    return symbol.name in ("v", "V") and bool(symbol.index) and symbol not in letters


def _scene(instance: Instance, letters: dict[Symbol, Node]) -> Scene:
    """With the student's own letters, one built on another in the order in which they came."""
    scene = Scene(instance, Roles(ROLES))
    for symbol, value in letters.items():
        try:
            given = {**scene.given, symbol: evaluate(value, scene)}
        except (Unknown, Mismatch):
            continue
        scene = replace(scene, given=given)
    return scene


def _judged(results: list[tuple[Instance, Value]], *, uses_vectors: bool) -> Outcome:
    faults = (_fault(instance, M) for instance, M in results)
    fault = next((fault for fault in faults if fault is not None), None)
    if fault is not None:
        return fault
    if uses_vectors:
        reason = "M is made of v_a or v_b, which are not known; it must be made of the bases"
        return Outcome("incomplete", reason, repair=REPAIR)
    sizes = "; ".join(_size(instance) for instance, _ in results)
    reason = f"M(v_a + v_b) = v_a to rounding for random orthonormal A, B ({sizes})"
    return Outcome("correct", reason)


def _size(instance: Instance) -> str:
    return f"d = {instance.d}, m = {instance.m}"


def _fault(instance: Instance, M: Value) -> Outcome | None:
    """What is wrong with M in one instance: its shape, or what it makes of v_a + v_b."""
    if not isinstance(M, np.ndarray):
        return Outcome("wrong", "M is a number here, not a d x d matrix", repair=REPAIR)
    if M.shape[1] != instance.d:
        applied = f"cannot be applied to v_a + v_b in R^{instance.d} (m = {instance.m})"
        return Outcome("wrong", f"M is {describe(M)} and {applied}", repair=REPAIR)

    found = M @ (instance.v_a + instance.v_b)
    if M.shape[0] != instance.d:
        coordinates = len(found) == instance.m and np.allclose(instance.A @ found, instance.v_a)
        what = f"the {len(found)} coordinates of v_a in the basis A"
        if not coordinates:
            what = f"a vector of {len(found)}"
        missed = f"M(v_a + v_b) is {what}, not v_a itself, which lies in R^{instance.d}"
        repair = f"multiply by A from the left: {REPAIR}" if coordinates else REPAIR
        return Outcome("wrong", f"M is {describe(M)}: {missed}", repair=repair)

    error = float(np.linalg.norm(found - instance.v_a) / np.linalg.norm(instance.v_a))
    if error > EXACT * instance.d:
        missed = f"{100 * error:.0f}% of its length ({_size(instance)})"
        return Outcome("wrong", f"M(v_a + v_b) differs from v_a by {missed}", repair=REPAIR)
    return None


def _smallest_case(expression: Node, letters: dict[Symbol, Node]) -> dict[str, object]:
    """The smallest case with m < d, A = e_1 and B = e_2 in R^3, and what M makes of v_a + v_b."""
    case = _in_three_dimensions()
    shown: dict[str, object] = {
        "story": "A = e_1 and B = e_2 in R^3",
        "v_a": case.v_a,
        "v_b": case.v_b,
    }
    try:
        M = evaluate(expression, _scene(case, letters))
        made = M @ (case.v_a + case.v_b)
    except (Unknown, Mismatch, TypeError, ValueError):
        return shown
    return {**shown, "M": np.round(M, 3), "M(v_a + v_b)": np.round(made, 3), "wanted": case.v_a}


def _in_three_dimensions() -> Instance:
    e = np.eye(3)
    V = np.zeros((4, 3))
    blank = Instance(np.zeros((4, 3)), V, e[:, :1], e[:, 1:2])
    V[blank.a] = 2 * e[0]
    V[blank.b] = 5 * e[1]
    return blank
