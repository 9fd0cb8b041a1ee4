"""The cheapest query in many digits: for targets whose queries are too long for float64.

Asked where the float64 solver met no query that separates, did not close its gap, or found a query
so long that its logits are blurred. Here the shortest length is known in exact arithmetic even
where no query stored in float64 would do.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwright.design.digits.carried import Carried, cheapest_in_digits, improved
from headwright.design.digits.frame import MOST_DIMENSIONS, Frame, many_digits
from headwright.design.proofs.exact_length import height, query_length
from headwright.design.solve.stored import Task
from headwright.types import Query


@dataclass(frozen=True)
class Precise:
    """The frame of the head's face, and its cheapest query at one level."""

    frame: Frame
    found: Carried

    @property
    def logit_query(self) -> Query:
        with many_digits():
            return self.frame.query(self.found.point.y)

    def at(self, ell: float) -> Query | None:
        """The cheapest query for another level near by."""
        with many_digits():
            found = improved(self.frame, self.logit_query, ell)
            return None if found is None else self.frame.query(found.point.y)


def precise(task: Task, ell: float) -> Precise | None:
    """The cheapest query of the task at level `ell`; None where none was found."""
    if task.want.keys.shape[1] > MOST_DIMENSIONS:
        return None
    with many_digits():
        try:
            frame = Frame.of(task.want.keys, task.face, task.want.bias)
            found = cheapest_in_digits(frame, ell)
        except ZeroDivisionError:
            return None
    return None if found is None else Precise(frame, found)


def exact_length(task: Task, solution: Precise) -> tuple[float, float] | None:
    """Proven bounds on the length of the shortest query in exact arithmetic; None if the query
    suggested does not reach the target."""
    promise = task.promise(solution.logit_query / task.want.scale)
    keys = task.want.keys
    with many_digits():
        upper = query_length(promise, keys, task.face, solution.found.point.y)
        sure = height(promise, keys, task.face, solution.found)
    if upper == float("inf"):
        return None
    lower = sure.height / sure.pull * (1 - 2.0**-50) if sure.height > 0.0 else 0.0
    return lower, upper
