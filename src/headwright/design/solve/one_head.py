"""One head, one face: the cheapest query, or the reason why there is none.

The order of questions: can the equalities on S be met at all? does the solver find a query? does
the certificate accept it as stored? If not, tighten and solve again; if the solver found none, ask
for a proof. Only a proof that was checked makes a target "impossible"; a solver that got stuck
makes it "undecided".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from headwright.design.proofs.length import shortest
from headwright.design.separation.separate import selectable
from headwright.design.solve.cheapest import cheapest
from headwright.design.solve.coordinates import head_problem, within_hull
from headwright.design.solve.precise import Precise, exact_length, precise
from headwright.design.solve.refused import contradicted, excluded
from headwright.design.solve.stored import Head, Task, solved_head
from headwright.design.target import Target, Wanted
from headwright.types import Query

# The leak asked for is undercut by this fraction, so that the answer is strictly inside.
_INSIDE = 1e-9
_TIGHTENINGS = 12
_GAP_WORTH_SAYING = 1e-5
_GAP_WORTH_CLOSING = 1e-7


def one_head(want: Wanted, face: Target, *, storage: str = "float64") -> Head:
    """The cheapest query that serves `face` at the wanted leak."""
    task = Task(want, face, storage)
    problem = head_problem(want.keys, face, want.bias)
    if problem.contradiction is not None:
        return contradicted(task, problem.contradiction)
    if problem.alone:
        return _judged(task, solved_head(task, problem.q0), problem.q0)

    inside = want.leak * (1 - _INSIDE)
    ell = float(np.log(inside) - np.log1p(-inside))
    found = cheapest(problem, ell)
    if found.status == "stuck":
        hulled = within_hull(problem)
        if hulled is not None:
            problem = hulled
            found = cheapest(problem, ell)
    if found.status == "stuck":
        answer = selectable(want.keys, list(face.support))
        if answer.status == "selectable":
            found = cheapest(problem, ell, start=answer.query)
        if found.status == "stuck":
            finer = None if answer.status == "unselectable" else precise(task, ell)
            if finer is None:
                return excluded(task, problem, found, answer.proof)
            return _in_digits(task, finer, ell)

    def solve(level: float) -> Query | None:
        again = cheapest(problem, level, start=found.y)
        return None if again.status == "stuck" else problem.q0 + again.y

    logit_query = problem.q0 + found.y
    head = _within_leak(task, logit_query, ell, solve)
    if _settled(task, head, logit_query):
        return head
    finer = precise(task, ell)
    return head if finer is None else _in_digits(task, finer, ell)


def _settled(task: Task, head: Head, logit_query: Query) -> bool:
    """Reached, and no longer than need be as far as floats can tell."""
    length = float(np.linalg.norm(logit_query / task.want.scale))
    return head.status == "reached" and head.lower >= (1 - _GAP_WORTH_CLOSING) * length


def _in_digits(task: Task, finer: Precise, ell: float) -> Head:
    """The head of a solution in many digits, with its length in exact arithmetic."""
    head = _within_leak(task, finer.logit_query, ell, finer.at)
    exact = exact_length(task, finer)
    message = head.message
    if exact is not None and head.status != "reached":
        known = f"the shortest query has length {exact[1]:.9g} in exact arithmetic"
        message = f"{known}; {message}"
    return replace(head, exact=exact, message=message)


def _within_leak(
    task: Task, logit_query: Query, ell: float, solve: Callable[[float], Query | None]
) -> Head:
    """Store the query; while the certificate finds more leak than allowed, solve for less and
    less."""
    leak = task.want.leak
    margin = 0.0
    head = solved_head(task, logit_query)
    for _ in range(_TIGHTENINGS):
        if _fine(task, head) or _hopeless(task, head, margin):
            break
        above = float(np.log(max(head.leak / leak, 1.0)))
        margin = 2.0 * max(margin, above, _INSIDE)
        query = solve(ell - margin)
        if query is None:
            break
        head = solved_head(task, query)
    return _judged(task, head, logit_query)


def _fine(task: Task, head: Head) -> bool:
    return head.leak <= task.want.leak and head.ratio <= head.allowed


def _hopeless(task: Task, head: Head, margin: float) -> bool:
    """Rounding, not the leak, spoils the query: solving for less leak cannot help."""
    return head.leak <= task.want.leak or (head.leak > 0.5 and margin > 4.0)


def _judged(task: Task, head: Head, logit_query: Query) -> Head:
    """The head with its verdict; `logit_query` solves for the leak that was asked for (not a
    tightened one), and suggests how short a query could be."""
    promise = task.promise(logit_query / task.want.scale)
    lower = shortest(promise, task.want.keys)
    length = float(np.linalg.norm(head.query))
    if not _fine(task, head):
        message = _undecided(head, length, task.storage)
        return replace(head, status="undecided", lower=lower, message=message)

    unsure = task.storage == "float64" and lower < (1 - _GAP_WORTH_SAYING) * length
    known = f"the shortest possible query is only known to be longer than {lower:.6g}"
    return replace(head, lower=lower, message=known if unsure else "")


def _undecided(head: Head, length: float, storage: str) -> str:
    exactly = f"a query of length {length:.4g} would do in exact arithmetic"
    leak = f"its leak is only certified to {head.leak:.6g}"
    ratio = f"the ratio of its weights to {head.ratio:.3g}"
    return f"{exactly}, but as {storage} {leak} and {ratio}"
