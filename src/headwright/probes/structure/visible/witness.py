"""The smallest pair that contradicts an expectation, as a counterexample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from headwright.probes.finding import Counterexample, size
from headwright.probes.layer.layer import Options
from headwright.probes.structure.visible.leaks import Leak
from headwright.probes.structure.visible.picture import Picture
from headwright.probes.structure.visible.shapes import Matrix


@dataclass(frozen=True)
class Wrong:
    """Output `row` moves with `token` and must not, or does not and should."""

    picture: Picture
    row: int
    token: int
    sees: bool

    @property
    def tokens(self) -> int:
        return self.picture.any_moved.shape[1]

    @property
    def words(self) -> str:
        what = "moves with" if self.sees else "does not move with"
        should = "which it must not see" if self.sees else "which it should see"
        return f"of {self.tokens} tokens, output {self.row} {what} token {self.token}, {should}"


def first_wrong(pictures: Iterable[Picture], expected: Matrix) -> Wrong | None:
    """In the smallest picture that contradicts, the first row and token."""
    for one in pictures:
        queries, keys = one.any_moved.shape
        meant = expected(queries, keys)
        wrong = one.violations(meant)
        # Weights that fade with the distance end somewhere: no break.
        wrong &= one.any_moved | ~_beyond_the_faint(one)
        if wrong.any():
            row, token = (int(place) for place in np.argwhere(wrong)[0])
            return Wrong(one, row, token, sees=not meant[row, token])
    return None


def _beyond_the_faint(one: Picture) -> np.ndarray:
    """Pairs at least as far apart as some pair that moves by rounding alone."""
    queries, keys = one.any_moved.shape
    distance = abs(np.arange(queries)[:, None] - np.arange(keys)[None, :])
    if not one.faint.any():
        return np.zeros((queries, keys), bool)
    return distance >= distance[one.faint].min()


def of_pair(wrong: Wrong) -> Counterexample:
    best = wrong.picture.witness(wrong.row, wrong.token)
    moves = best.difference[..., wrong.row, wrong.token]
    difference = float(moves.max() if wrong.sees else moves.min())
    text = "..." if wrong.picture.text is None else f"{wrong.picture.text}, ..."
    # Every head and text must move with what it should see, and none with what it must not.
    rows = f"[{text}, i, :].max()" if wrong.sees else f"[{text}, i, :].max(axis=-1).min()"
    claim = f"moved {'<=' if wrong.sees else '>'} {best.bound:.3g}"
    lines = _changed(wrong.row, wrong.token, best.scene.lines)
    script = lines + _compared(wrong.picture.options, rows, claim)
    words = f"{wrong.words} (it moves by {size(difference)})" if wrong.sees else wrong.words
    return Counterexample(words, script, difference, best.bound)


def of_leak(one: Leak, options: Options) -> Counterexample:
    lines = _changed(one.row, one.token, one.lines)
    script = lines + _compared(options, "[..., i, :].max()", f"moved <= {one.bound:.3g}")
    words = (
        f"with logits of {one.logit:.0e}, output {one.row} moves with token {one.token} by "
        f"{one.difference:.2g}"
    )
    return Counterexample(words, script, one.difference, one.bound)


def _changed(row: int, token: int, lines: str) -> str:
    return f"i = {row}\nj = {token}\n{lines}"


def _compared(options: Options, rows: str, claim: str) -> str:
    given = options_line(options)
    return (
        f"moved = np.abs(layer.run(y{given}) - layer.run(x{given})){rows}\n"
        f'assert {claim}, f"output {{i}} moves by {{moved:.2g}} when token {{j}} changes"\n'
    )


def options_line(options: Options) -> str:
    """As the second argument of `layer.run`: nothing for a plain call."""
    given = []
    for name in ("mask", "positions", "documents"):
        array = getattr(options, name)
        if array is not None:
            given.append(f"{name}=np.array({array.tolist()})")
    if options.causal is not None:
        given.append(f"causal={options.causal}")
    return f", Options({', '.join(given)})" if given else ""
