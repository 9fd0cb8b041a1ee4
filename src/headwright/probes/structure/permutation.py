"""f(P X) = P f(X): which permutations of the tokens carry over to the outputs?

The group is found swap by swap and compared with the symmetries of the dependency picture: a mask
that tells tokens apart is no break. Neither are positions that enter by distance, or that are an
input of their own and move along.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import POSITIONS, Options, Refusal
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)
from headwright.probes.rounding import Rounding, apart_by_row
from headwright.probes.structure.positions import ABSOLUTE, RELATIVE, places
from headwright.probes.structure.visible.found import Found, found
from headwright.symmetry.group import Group, group
from headwright.symmetry.trials import Trials

NAME = "permutation"
_STREAM = 300


@dataclass
class Reordered:
    """The claim at one input; `along`: position numbers move with their tokens."""

    exam: Examination
    given: Inputs
    along: bool = False
    bound: Rounding = field(init=False)

    def __post_init__(self) -> None:
        self.bound = self.exam.rounding(self.given, self._options(np.arange(self.given.tokens)))

    @property
    def rounding(self) -> float:
        return self.bound.bound

    def mismatch(self, before: np.ndarray, order: np.ndarray) -> tuple[float, tuple[int, ...]]:
        first = self._run(before)
        then = self._run(before[order])
        rows = apart_by_row(then, np.take(first, order, axis=-2))
        by_row = rows.max(axis=tuple(range(rows.ndim - 1)))
        differ = np.flatnonzero(by_row > self.rounding)
        return float(by_row.max()), tuple(int(row) for row in differ)

    def _run(self, order: np.ndarray) -> np.ndarray:
        """The unchanged order once for all."""
        if not np.array_equal(order, np.arange(len(order))):
            return self._output(order)
        return self.exam.once(f"in order {self.along}", lambda: self._output(order))

    def _output(self, order: np.ndarray) -> np.ndarray:
        return self.exam.layer.run(self.given.ordered(order), self._options(order))

    def _options(self, order: np.ndarray) -> Options:
        if not self.along:
            return Options()
        return Options(positions=np.tile(order, (self.given.batch, 1)))


def probe(exam: Examination) -> Finding:
    seen = found(exam)
    trials, have = _trials(exam)
    exam.group = str(have)
    exam.blocks = have.blocks
    if not seen.moves_at_all:
        why = f"{have}, but no output moves with another token: nothing could be seen"
        return Finding(NAME, UNCLEAR, why)
    if have.is_full:
        within = f"largest difference {trials.worst:.2g}, rounding {trials.claim.rounding:.2g}"
        return Finding(NAME, HOLDS, f"{have} ({within})")
    n = seen.smallest.any_moved.shape[1]
    expected = group(range(n), n, lambda order: _keeps(seen, order))
    if have == expected:
        return _as_the_mask(seen, have)
    return _smaller(exam, trials, have, expected)


def _trials(exam: Examination, along: bool = False) -> tuple[Trials, Group]:
    given = exam.draw(_STREAM, found(exam).smallest.sizes)
    trials = Trials(Reordered(exam, given, along))
    return trials, group(range(given.tokens), given.tokens, trials.holds)


def _keeps(seen: Found, order: np.ndarray) -> bool:
    """Whether the picture looks the same after the permutation."""
    picture = seen.smallest.any_moved
    return bool(np.array_equal(picture[np.ix_(order, order)], picture))


def _as_the_mask(seen: Found, have: Group) -> Finding:
    if have.is_trivial:
        why = f"{have}: the mask ({seen.name}) tells tokens apart"
        return Finding(NAME, NOT_APPLICABLE, why)
    return Finding(NAME, HOLDS, f"{have}: all that the mask ({seen.name}) allows")


def _smaller(exam: Examination, trials: Trials, have: Group, expected: Group) -> Finding:
    """Something besides the mask tells tokens apart."""
    if POSITIONS in exam.layer.takes:
        moving = _moving_along(exam)
        if moving == expected:
            why = f"{moving}, when position numbers move along with their tokens; else {have}"
            return Finding(NAME, HOLDS, why)
    how = places(exam).kind
    if how == RELATIVE or (how == ABSOLUTE and exam.layer.form == "hidden"):
        where = "in the logits" if how == RELATIVE else "in the values, absolute ones,"
        return Finding(NAME, NOT_APPLICABLE, f"{have}: positions {where} tell tokens apart")
    shown = trials.broken
    if shown is None:
        return Finding(NAME, UNCLEAR, f"{have}, where {expected} is expected")
    bound = Rounding(trials.claim.rounding)
    if bound.verdict(shown.error) != BROKEN:
        why = (
            f"{have}, but the difference of {shown.error:.2g} is near rounding ({bound.bound:.2g})"
        )
        return Finding(NAME, UNCLEAR, why)
    words = f"{have}, where {expected} is expected: {_hint(exam, have)}"
    return Finding(NAME, BROKEN, words, _counterexample(exam, trials))


def _moving_along(exam: Examination) -> Group | None:
    try:
        return _trials(exam, along=True)[1]
    except Refusal:
        return None


def _hint(exam: Examination, have: Group) -> str:
    fixed = [block[0] for block in have.blocks if len(block) == 1]
    if len(fixed) == 1 and len(have.blocks) == 2:
        return f"is token {fixed[0]} treated differently?"
    if places(exam).kind == ABSOLUTE:
        return "are there absolute positions inside?"
    return "are heads merged without a transpose, or tokens treated differently?"


def _counterexample(exam: Examination, trials: Trials) -> Counterexample:
    shown = trials.broken
    assert shown is not None
    i, j = shown.swap
    order = list(shown.order)
    after = order.copy()
    after[i] = order[j]
    after[j] = order[i]
    sizes = found(exam).smallest.sizes
    bound = trials.claim.rounding
    script = (
        f"x = {exam.draw_line(_STREAM, sizes)}\n"
        f"before = layer.run(x.ordered({order}))\n"
        f"after = layer.run(x.ordered({after}))\n"
        f"after[..., [{i}, {j}], :] = after[..., [{j}, {i}], :]\n"
        "difference = np.abs(after - before).max()\n"
        f'assert difference <= {bound:.3g}, f"tokens {i} and {j} swapped: {{difference:.2g}}"\n'
    )
    rows = ", ".join(str(row) for row in shown.rows)
    words = f"swapping tokens {i} and {j} moves outputs {rows} by up to {shown.error:.2g}"
    return Counterexample(words, script, shown.error, bound)
