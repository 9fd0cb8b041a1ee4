"""Which outputs move when one token changes: an n x n picture per text and head.

A pair is `moved` when the difference is above what rounding explains, `still` when the output is
the same to the last bit in every scene, and neither when it moves by rounding alone: then nothing
is said about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Options, Refusal, Sizes
from headwright.probes.rounding import apart_by_row
from headwright.probes.structure.visible.scenes import Scene

# Rounding of a logit of size L moves a weight by L eps, and some roundings add up.
_ROUNDINGS = 8.0


@dataclass(frozen=True)
class Moves:
    """One scene: `difference[b, h, i, j]` of output i when token j changed, NaN where j was not
    tried, and what rounding explains."""

    scene: Scene
    difference: np.ndarray
    bound: float


@dataclass(frozen=True)
class Picture:
    """`moved` and `still` are (b, h, t, n); a layer on hidden states has one head. `exact`: the
    outputs that do not move stay the same to the last bit."""

    sizes: Sizes
    options: Options
    moved: np.ndarray
    still: np.ndarray
    moves: tuple[Moves, ...]
    hidden: bool
    output: np.ndarray  # of one unchanged input
    text: int | None = None  # where it shows one text of the batch only

    @property
    def any_moved(self) -> np.ndarray:
        return np.asarray(self.moved.any(axis=(0, 1)))

    @property
    def exact(self) -> bool:
        return bool((self.moved | self.still).any() and not self.faint.any())

    @property
    def faint(self) -> np.ndarray:
        """Pairs that move by rounding alone, in some text or head."""
        tried = np.isfinite(self.strength).any(axis=(0, 1))
        return tried & ~self.any_moved & ~self.still.all(axis=(0, 1))

    @property
    def strength(self) -> np.ndarray:
        """The largest difference in units of what rounding explains; NaN where not tried."""
        parts = [one.difference / one.bound for one in self.moves]
        return np.fmax.reduce(parts)

    def violations(self, expected: np.ndarray) -> np.ndarray:
        """Pairs that contradict the matrix, in some text or head. The own token of a hidden state
        may always move its output, through its query or the residual stream; a row that is to see
        nothing may do what it likes."""
        allowed = expected | ~expected.any(axis=1, keepdims=True)
        if self.hidden:
            allowed = allowed | np.eye(*expected.shape, dtype=bool)
        leaks = self.moved & ~allowed
        missing = self.still & expected
        return np.asarray((leaks | missing).any(axis=(0, 1)))

    def part(self, text: int | None = None, head: int | None = None) -> Picture:
        """One text or one head alone."""
        texts = slice(None) if text is None else slice(text, text + 1)
        heads = slice(None) if head is None else slice(head, head + 1)
        moves = tuple(replace(m, difference=m.difference[texts, heads]) for m in self.moves)
        moved = self.moved[texts, heads]
        still = self.still[texts, heads]
        return replace(self, moved=moved, still=still, moves=moves, text=text)

    def witness(self, i: int, j: int) -> Moves:
        """The scene that shows the pair best: the largest difference, else the last one tried."""
        tried = [one for one in self.moves if np.isfinite(one.difference[..., i, j]).any()]
        return max(reversed(tried), key=lambda one: one.difference[..., i, j].max() / one.bound)


def picture(exam: Examination, sizes: Sizes, scenes: Iterable[Scene], options: Options) -> Picture:
    """All scenes of one size together."""
    moves = []
    bases: dict[int, Base] = {}
    base = None
    for scene in scenes:
        base = bases.get(id(scene.x)) or base_of(exam, scene, options)
        bases[id(scene.x)] = base
        moves.append(moves_of(exam, scene, base, options))
    assert base is not None

    strength = np.fmax.reduce([one.difference / one.bound for one in moves])
    largest = np.fmax.reduce([one.difference for one in moves])
    hidden = exam.layer.form == "hidden"
    return Picture(sizes, options, strength > 1, largest == 0, tuple(moves), hidden, base.output)


@dataclass(frozen=True)
class Base:
    """The unchanged input's output, and what rounding explains there."""

    output: np.ndarray
    bound: float


def base_of(exam: Examination, scene: Scene, options: Options, exact: bool = False) -> Base:
    """`bound` is 8 eps L |f(x)| sqrt(n), with L the size of the logits; for hidden states, whose
    logits are not known, it is measured. `exact`: rows that do not depend on a token stay the same
    to the last bit, as seen at ordinary logits, so that the rounding of large ones explains
    nothing."""
    output = exam.layer.run(scene.x, options)
    if exam.layer.form == "hidden" and not exact:
        return Base(output, exam.rounding(scene.x, options).bound)
    size = float(np.abs(output[np.isfinite(output)]).max(initial=0.0))
    logit = 1.0 if exact else scene.logit
    bound = _ROUNDINGS * exam.eps * logit * size * math.sqrt(scene.x.terms)
    return Base(output, max(bound, float(np.finfo(float).tiny)))


def moves_of(exam: Examination, scene: Scene, base: Base, options: Options) -> Moves:
    """Run one scene."""
    shape = base.output.shape
    rows = shape[:-1] if len(shape) == 4 else (shape[0], 1, shape[1])
    difference = np.full((*rows, scene.keys), np.nan)
    for token in scene.tokens:
        output = exam.layer.run(scene.changed(token), options)
        if output.shape != shape:
            raise Refusal(f"returned {output.shape} where it returned {shape} before")
        difference[..., token] = apart_by_row(output, base.output).reshape(rows)
    return Moves(scene, difference, base.bound)
