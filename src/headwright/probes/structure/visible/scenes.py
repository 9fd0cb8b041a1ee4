"""Scenes: an input, and the same with one token changed.

Changes are large, so that a small weight shows: a value times 256, or a hidden state four times as
long, in both directions, because one of them has the larger logit for each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Sizes
from headwright.probes.structure.visible.logits import favouring, louder

_STREAM = 200
_OTHERS = 220
_LOUD = 256.0
_TIMES = (4.0, -4.0)
# Above any soft bias of a few dozen tokens, below any fill value.
FAVOUR = 60.0
IMPORT = "from headwright.probes.structure.visible.logits import"
_TAKEN = "y = x.with_token(j, other)\n"


@dataclass(frozen=True)
class Scene:
    """`changed(j)` is the input with token j changed, for each of `tokens`; `lines` is the Python
    that makes `x` and `y`, given `j`."""

    x: Inputs
    tokens: tuple[int, ...]
    changed: Callable[[int], Inputs]
    lines: str
    logit: float  # about the largest

    @property
    def keys(self) -> int:
        return next(reversed(self.x.arrays.values())).shape[-2]


MadeScenes = Callable[[Examination, Sizes, Sequence[int]], Iterator[Scene]]


def sizes_of(exam: Examination, tokens: int, keys: int | None = None, *, batch: int = 2) -> Sizes:
    return replace(exam.layer.sizes, batch=batch, tokens=tokens, keys=keys)


def scenes(exam: Examination, sizes: Sizes, tokens: Sequence[int]) -> Iterator[Scene]:
    """At ordinary logits."""
    if exam.layer.form == "hidden":
        yield from _of_hidden(exam, sizes, tokens, _STREAM)
        return
    yield loud_scene(exam, sizes, tokens, 1.0)
    for key in tokens:
        yield _favoured(exam, sizes, key)


def with_other_tokens(exam: Examination, sizes: Sizes, tokens: Sequence[int]) -> Iterator[Scene]:
    """The same scenes and as many more. The logits of hidden states cannot be designed: where one
    key takes all the weight, a row does not move with another that it sees."""
    yield from _of_hidden(exam, sizes, tokens, _STREAM)
    yield from _of_hidden(exam, sizes, tokens, _OTHERS)


def _of_hidden(
    exam: Examination, sizes: Sizes, tokens: Sequence[int], stream: int
) -> Iterator[Scene]:
    plain = loud_scene(exam, sizes, tokens, 1.0, stream)
    yield plain
    for times in _TIMES:
        yield _longer(exam, plain, sizes, times, stream)


def loud_scene(
    exam: Examination, sizes: Sizes, tokens: Sequence[int], factor: float, stream: int = _STREAM
) -> Scene:
    """At logits `factor` times as large, as far as scaling the input makes them so."""
    x = louder(exam.draw(stream, sizes), factor)
    other = exam.draw(stream + 1, sizes)
    lines = f"x = {exam.draw_line(stream, sizes)}\nother = {exam.draw_line(stream + 1, sizes)}\n"
    if factor != 1.0:
        lines = f"{IMPORT} louder\n{lines}x = louder(x, {factor})\n"

    if exam.layer.form == "hidden":
        other = louder(other, factor)
        lines += f"y = x.with_token(j, louder(other, {factor}))\n" if factor != 1.0 else _TAKEN
        return Scene(x, tuple(tokens), lambda j: x.with_token(j, other), lines, factor)
    loud = other.each(lambda a: _LOUD * a, "v")
    lines += f'y = x.with_token(j, other.each(lambda a: {_LOUD} * a, "v"), "k", "v")\n'
    return Scene(x, tuple(tokens), lambda j: x.with_token(j, loud, "k", "v"), lines, 4 * factor)


def _longer(exam: Examination, plain: Scene, sizes: Sizes, times: float, stream: int) -> Scene:
    """The same hidden states, and a changed one so many times as long."""
    other = exam.draw(stream + 1, sizes).each(lambda a: times * a)
    lines = plain.lines.replace(_TAKEN, "")
    lines += f"y = x.with_token(j, other.each(lambda a: {times} * a))\n"
    return replace(plain, changed=lambda j: plain.x.with_token(j, other), lines=lines)


def _favoured(exam: Examination, sizes: Sizes, key: int) -> Scene:
    """Every query has its largest logit at this key."""
    x = favouring(exam.draw(_STREAM, sizes), key, FAVOUR)
    other = x.each(lambda a: _LOUD * a, "v")
    lines = (
        f"{IMPORT} favouring\n"
        f"x = favouring({exam.draw_line(_STREAM, sizes)}, j, {FAVOUR})\n"
        f'y = x.with_token(j, x.each(lambda a: {_LOUD} * a, "v"), "v")\n'
    )
    return Scene(x, (key,), lambda j: x.with_token(j, other, "v"), lines, FAVOUR)
