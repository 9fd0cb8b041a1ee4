"""One head as it will be stored, and what the certificate says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.design.proofs.certificate import mixed_bounds, ratio_bound
from headwright.design.proofs.exclusion import Demand
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Promise, enclosure
from headwright.design.storage import rounded
from headwright.design.target import Target, Wanted
from headwright.types import Array, Float, Query

# Corrections of a query towards the ratio of the shares; each gains as many digits as the
# differences allow.
_CORRECTIONS = 3


@dataclass(frozen=True)
class Task:
    """What one head has to do: serve its `face` at the wanted leak, with a query in `storage`."""

    want: Wanted
    face: Target
    storage: str = "float64"

    @property
    def differences(self) -> Float[Array, "r d"]:
        """k_a - k_0 inside the face."""
        inside = list(self.face.support)
        return self.want.keys[inside[1:]] - self.want.keys[inside[0]]

    @property
    def demand(self) -> Demand:
        want = self.want
        return Demand.of(
            self.face, leak=want.leak, bias=want.bias, storage=self.storage, one_head=True
        )

    def promise(self, query: Query) -> Promise:
        want = self.want
        return Promise(
            queries=query[None],
            mix=np.ones(1),
            target=self.face,
            leak=want.leak,
            scale=want.scale,
            bias=want.bias,
            faces=(self.face,),
            storage=self.storage,
        )


@dataclass(frozen=True)
class Head:
    """`leak` and `ratio` (error) are certified bounds on the query as stored, `allowed` is the
    ratio error that rounding explains; `lower` bounds the length of any query that does it, and
    `exact` encloses the shortest length in exact arithmetic where floats could not tell it."""

    status: str
    query: Query
    leak: float
    ratio: float
    allowed: float
    lower: float = 0.0
    proof: Combination | Contradiction | None = None
    ceiling: float | None = None
    exact: tuple[float, float] | None = None
    message: str = ""


def solved_head(task: Task, logit_query: Query) -> Head:
    """The head of a solution: `logit_query` is scale times the query."""
    return stored_head(task, _in_ratio(task, logit_query))


def stored_head(task: Task, logit_query: Query) -> Head:
    """The query as it will be stored, and what the certificate says of it."""
    keys = task.want.keys
    query = rounded(logit_query / task.want.scale, task.differences, task.storage)
    promise = task.promise(query)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(promise, keys)
        ratio = ratio_bound(promise, keys, bounds)
    allowed = enclosure(promise, keys).allowed(float(np.linalg.norm(query)))
    return Head("reached", query, bounds.leak, ratio, allowed)


def _in_ratio(task: Task, logit_query: Query) -> Query:
    """The query corrected, by as little as possible, until the weights on the face stand in the
    ratio of the shares as nearly as rounding lets them."""
    if len(task.face.support) == 1:
        return logit_query
    E = task.differences
    goal = task.face.goal(task.want.bias)
    rise = goal[1:] - goal[0]
    length = np.linalg.norm(E, axis=1)
    length = np.where(length > 0, length, 1.0)
    units = E / length[:, None]

    best = logit_query
    least = np.inf
    for _ in range(_CORRECTIONS):
        miss = rise - E @ logit_query
        worst = np.abs(miss).max()
        if worst >= least:
            break
        best = logit_query
        least = worst
        correction = np.linalg.lstsq(units, miss / length, rcond=None)[0]
        logit_query = best + correction
    return best
