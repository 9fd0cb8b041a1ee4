"""Does this query do what was asked? Weights are computed for several sizes while the scale
grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright import attention
from headwright.exercise.instances import Instance
from headwright.exercise.wanted import Wanted
from headwright.homework.meaning.formula import Node, Symbol, tree, walk
from headwright.homework.scenes.arithmetic import Mismatch, Unknown
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.roles import Roles, scales
from headwright.homework.scenes.scene import Scene

# The scales at which a limit is tried.
GROWING = (10.0, 30.0, 100.0, 1e3, 1e4)
FEWEST = 2  # of them must have a value
# In the scores of longer queries nothing is left but rounding.
LONGEST = 1e12
# "approximately": no weight further than this from its target once the scale is large.
CLOSE = 0.01
# Scores beyond this change no weight any more; infinite ones would make them not a number.
LARGEST_SCORE = 1e8


@dataclass(frozen=True)
class WrittenQueries:
    """Expressions of one or several heads' queries, with the roles of their letters."""

    expressions: tuple[Node, ...]
    roles: Roles
    # Scalars that shrink as the others grow: the epsilon of an explicit bound
    small: frozenset[Symbol] = frozenset()

    @property
    def scales(self) -> list[Symbol]:
        found = [s for e in self.expressions for s in scales(e, self.roles)]
        return list(dict.fromkeys(found))

    @property
    def worded(self) -> bool:
        """The scale is said in words."""
        return any(isinstance(n, tree.Word) for e in self.expressions for n in walk(e))


def queries_at(
    written: WrittenQueries, instance: Instance, scale: float, *, apart: bool = False
) -> np.ndarray:
    """The queries (h, d) with every scale at `scale` (with `apart`, scales differ by a tenth of
    it)."""
    scalars = {s: scale * (1 + 0.1 * k * apart) for k, s in enumerate(written.scales)}
    scalars |= {s: 1.0 / scale for s in scalars if s in written.small}
    scene = Scene(instance, written.roles, scalars=scalars, scale=scale)
    return np.array([query(expression, scene, instance.d) for expression in written.expressions])


def query(expression: Node, scene: Scene, d: int) -> np.ndarray:
    """One head's query as a row of d numbers."""
    value = evaluate(expression, scene)
    if not isinstance(value, np.ndarray) or value.size != d:
        raise Mismatch("the query is not a vector of the keys' length")
    return value.ravel()


def head_weights(Q: np.ndarray, instance: Instance) -> np.ndarray:
    """alpha of every head, shape (h, n)."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = instance.scale * (Q @ instance.K.T)
    return attention.weights(np.clip(z, -LARGEST_SCORE, LARGEST_SCORE))


def mixed(Q: np.ndarray, instance: Instance) -> np.ndarray:
    """The average of the heads' weights."""
    return head_weights(Q, instance).mean(axis=0)


def goal(wanted: Wanted, instance: Instance) -> np.ndarray:
    """The weights that were asked for, key by key."""
    weights = np.zeros(instance.n)
    for letter, share in wanted.shares.items():
        place = instance.place(letter)
        if place is None:
            raise Unknown(f"which key '{letter}' is")
        weights[place] = share
    return weights


def distance(Q: np.ndarray, instance: Instance, wanted: Wanted) -> float:
    """How far the worst weight is from its target."""
    return float(np.abs(mixed(Q, instance) - goal(wanted, instance)).max())


def reaches(written: WrittenQueries, wanted: Wanted, *, apart: bool = False) -> bool:
    """Do the weights tend to the target as the scale grows, for every size?"""
    for instance in wanted.instances:
        errors = errors_while_growing(written, wanted, instance, apart=apart)
        if errors[-1] > CLOSE or errors[-1] > errors[0] + CLOSE:
            return False
    return True


def errors_while_growing(
    written: WrittenQueries, wanted: Wanted, instance: Instance, *, apart: bool = False
) -> list[float]:
    """How far the weights are from the target at growing scales, up to where the numbers
    overflow."""
    errors: list[float] = []
    for scale in GROWING:
        try:
            Q = queries_at(written, instance, scale, apart=apart)
        except Unknown:
            if len(errors) < FEWEST:
                raise
            break
        if len(errors) >= FEWEST and np.abs(Q).max() > LONGEST:
            break
        errors.append(distance(Q, instance, wanted))
    return errors


def reaches_times(written: WrittenQueries, wanted: Wanted, factor: float) -> bool:
    """Would the same queries times `factor` reach the target?"""
    for instance in wanted.instances:
        Q = factor * queries_at(written, instance, 1.0)
        if not distance(Q, instance, wanted) <= CLOSE:
            return False
    return True
