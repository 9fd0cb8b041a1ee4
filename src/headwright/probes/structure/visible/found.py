"""The name that fits the pictures of every size, or none.

Small inputs are tried token by token; of long ones only a few tokens, at both ends and where blocks
of kernels meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.intent import Intent
from headwright.probes.layer.layer import Options, Refusal
from headwright.probes.structure.visible.picture import Picture, picture
from headwright.probes.structure.visible.scenes import (
    MadeScenes,
    scenes,
    sizes_of,
    with_other_tokens,
)
from headwright.probes.structure.visible.shapes import AnyShape, documents, shapes

_SMALL = (6, 9, 13)
# One more than a block of 64; two blocks of 64 and some, where that is cheap.
_LONG = 65
_LONGER = 137
_LONGEST = 300
_CHEAP = 128  # width
_EDGES = (63, 64, 128)
# Where weights may fade with the distance, pairs further apart than small inputs have are left out.
_NEAR = max(_SMALL)


@dataclass(frozen=True)
class Found:
    """`shape` is None where no name fits; `pictures` from the smallest size up."""

    name: str
    shape: AnyShape | None
    pictures: tuple[Picture, ...]

    @property
    def smallest(self) -> Picture:
        return self.pictures[0]

    @property
    def telling(self) -> Picture:
        """The one to show: large enough to see a window's edge in, with every token tried."""
        whole = [one for one in self.pictures if np.isfinite(one.strength).all()]
        large = [one for one in whole if one.any_moved.shape[1] >= _SMALL[0]]
        return large[0] if large else self.smallest

    @property
    def moves_at_all(self) -> bool:
        """Whether any output moves with another token than its own."""
        own = np.eye(*self.smallest.any_moved.shape, dtype=bool)
        return bool((self.smallest.any_moved & ~own).any())


def found(exam: Examination, options: Options = Options()) -> Found:  # noqa: B008
    """What is seen, once for all probes."""
    return exam.once(f"pattern {options.causal}", lambda: _found(exam, options))


def _found(exam: Examination, options: Options) -> Found:
    pictures = _pictures(exam, options, scenes)
    shape = _named(pictures)
    if shape is None and exam.layer.form == "hidden":
        pictures = _pictures(exam, options, with_other_tokens)
        shape = _named(pictures)
    return Found(_name(shape), shape, tuple(pictures))


def _pictures(exam: Examination, options: Options, made: MadeScenes) -> list[Picture]:
    """Of all lengths that the layer takes."""
    taken = []
    for tokens in _lengths(exam, options):
        try:
            taken.append(_picture(exam, tokens, options, made))
        except Refusal:
            continue
    return taken or [_picture(exam, exam.layer.sizes.tokens, options, made)]


def _picture(exam: Examination, tokens: int, options: Options, made: MadeScenes) -> Picture:
    batch = 2 if tokens <= _NEAR else 1
    sizes = sizes_of(exam, tokens, batch=batch)
    columns = _columns(tokens, exam.expect)
    return picture(exam, sizes, made(exam, sizes, columns), options)


def name_of(pictures: list[Picture]) -> str:
    return _name(_named(pictures))


def _name(shape: AnyShape | None) -> str:
    return "irregular" if shape is None else shape.name


def _lengths(exam: Examination, options: Options) -> list[int]:
    """From the smallest up; the lengths at which a stated window or prefix shows among them. The
    layer's own length only where it refuses others."""
    wanted = {*_SMALL, _LONG}
    if exam.layer.sizes.width <= _CHEAP and not options.causal:
        wanted.add(_LONGER)
    if exam.expect is not None and exam.expect.size is not None:
        size = exam.expect.size
        wanted |= {size, size + 1, 2 * size + 1}
    return sorted(n for n in wanted if 1 < n <= _LONGEST)


def _columns(tokens: int, expect: Intent | None) -> list[int]:
    """The tokens that are changed: all of a short input, some of a long one."""
    if tokens <= _NEAR:
        return list(range(tokens))
    some = {0, tokens // 2, tokens - 1, *_EDGES}
    if expect is not None and expect.size is not None:
        # The last query's first key of a window, and the one before it; the end of a prefix.
        some |= {tokens - expect.size, tokens - expect.size - 1, expect.size - 1, expect.size}
    return sorted(j for j in some if 0 <= j < tokens)


def _named(pictures: list[Picture]) -> AnyShape | None:
    longest = max(one.any_moved.shape[1] for one in pictures)
    for near in (None, _NEAR):
        for shape in shapes(longest):
            if fits(shape, pictures, near) and not _fades(shape.reach, pictures):
                return shape
    return _in_documents(pictures)


def fits(shape: AnyShape, pictures: Iterable[Picture], near: int | None = None) -> bool:
    """No picture contradicts it; beyond the distance `near` a token that moves nothing does not
    count, because weights may fade with the distance."""
    for one in pictures:
        wrong = one.violations(shape.matrix(*one.any_moved.shape))
        if near is not None:
            wrong &= one.any_moved | _within(near, *wrong.shape)
        if wrong.any():
            return False
    return True


def _within(distance: int, queries: int, keys: int) -> np.ndarray:
    return abs(np.arange(queries)[:, None] - np.arange(keys)[None, :]) <= distance


def _fades(reach: int, pictures: list[Picture]) -> bool:
    """A window has a sharp edge: between what moves and what is still, nothing is faint."""
    return reach > 0 and any(one.faint.any() for one in pictures if one.any_moved.shape[1] >= reach)


def _in_documents(pictures: list[Picture]) -> AnyShape | None:
    """Blocks in each of the small pictures, or one block where the text is too short."""
    small = [one for one in pictures if one.any_moved.shape[1] <= _NEAR]
    blocks = [documents(one.any_moved) for one in small]
    last = blocks[-1] if blocks else None
    if last is None:
        return None
    kinds = {block.causal for block in blocks if block is not None}
    return last if len(kinds) == 1 else None
