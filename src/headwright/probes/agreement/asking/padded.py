"""Texts of unequal lengths, padded on one side, with two fillings of the padding; and the Python
that repeats a call on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.probes.agreement.asking.written import array_written, call_written
from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import MASK, POSITIONS, Options, Refusal, Sizes

RIGHT = "right"
LEFT = "left"

_FEWEST = 5  # tokens
# What stands in the padding is so many times larger than the text. In half precision the product
# of two such numbers must stay below 65504.
_LOUD = {"float16": 30.0}
_USUALLY_LOUD = 1000.0


@dataclass(frozen=True)
class Padded:
    """Texts of some lengths, padded on one side to the same number of tokens."""

    lengths: tuple[int, ...]
    tokens: int
    side: str = RIGHT

    @property
    def real(self) -> np.ndarray:
        """(b, n), True where a token belongs to the text."""
        place = np.arange(self.tokens)[None]
        length = np.array(self.lengths)[:, None]
        return place < length if self.side == RIGHT else place >= self.tokens - length

    @property
    def positions(self) -> np.ndarray:
        """(b, n), from 0 at the first real token on; 0 in the padding before it."""
        lengths = np.array(self.lengths)[:, None]
        start = self.tokens - lengths if self.side == LEFT else 0 * lengths
        return np.maximum(np.arange(self.tokens)[None] - start, 0)

    def rows(self, text: int) -> slice:
        """Where the tokens of a text stand."""
        length = self.lengths[text]
        return slice(0, length) if self.side == RIGHT else slice(self.tokens - length, self.tokens)


def masked(layer: Any, shape: Padded, real: np.ndarray | None = None) -> Options:
    """The options that say where the padding is, in the way that the layer takes."""
    flags = shape.real if real is None else real
    positions = shape.positions if POSITIONS in layer.takes else None
    if MASK in layer.takes:
        return Options(mask=flags, positions=positions)
    n = shape.tokens
    pairs = np.broadcast_to(flags[:, None, None, :], (len(flags), 1, n, n))
    return Options(pairs=pairs, positions=positions)


@dataclass(frozen=True)
class PaddedTexts:
    """`places` of a call are the texts that take part, out of those drawn."""

    exam: Examination
    stream: int
    texts: Inputs
    junk: tuple[Inputs, Inputs]
    sizes: Sizes

    @classmethod
    def drawn(cls, exam: Examination, stream: int, batch: int) -> PaddedTexts:
        usual = exam.layer.sizes
        sizes = replace(usual, batch=batch, tokens=max(usual.tokens, _FEWEST))
        loud = _loud(exam)
        first = exam.draw(stream + 1, sizes).each(lambda a: loud * a)
        second = exam.draw(stream + 2, sizes).each(lambda a: loud * a)
        return cls(exam, stream, exam.draw(stream, sizes), (first, second), sizes)

    @property
    def tokens(self) -> int:
        return self.sizes.tokens

    def given(self, shape: Padded, filling: int, places: tuple[int, ...]) -> Inputs:
        return self.texts.text(*places).filled(shape.real, self.junk[filling].text(*places))

    def answer(
        self, shape: Padded, filling: int = 0, places: tuple[int, ...] = (0,)
    ) -> np.ndarray | None:
        """Of padded texts, with their mask; None where that is refused."""
        try:
            given = self.given(shape, filling, places)
            return self.exam.layer.run(given, masked(self.exam.layer, shape))
        except Refusal:
            return None

    def alone(self, shape: Padded) -> np.ndarray | None:
        """The first text without its padding, with a mask that hides nothing."""
        rows = shape.rows(0)
        bare = Padded((rows.stop - rows.start,), rows.stop - rows.start)
        text = self.texts.text(0).cut(rows.start, rows.stop)
        try:
            return self.exam.layer.run(text, masked(self.exam.layer, bare))
        except Refusal:
            return None

    def head(self, *fillings: int) -> str:
        """The lines of a script that draw the texts and what stands in their padding."""
        lines = [f"x = {self.exam.draw_line(self.stream, self.sizes)}"]
        for one in fillings:
            drawn = self.exam.draw_line(self.stream + 1 + one, self.sizes)
            lines.append(f"junk_{one} = {drawn}.each(lambda a: {_loud(self.exam):g} * a)")
        return "\n".join(lines) + "\n"

    def call(self, name: str, shape: Padded, filling: int, places: tuple[int, ...]) -> str:
        """The lines that run padded texts."""
        chosen = ", ".join(str(place) for place in places)
        real = array_written(shape.real)
        options = masked(self.exam.layer, shape)
        return (
            f"padded = x.text({chosen}).filled({real}, junk_{filling}.text({chosen}))\n"
            f"{name} = {call_written('padded', options)}\n"
        )

    def alone_call(self, name: str, shape: Padded) -> str:
        rows = shape.rows(0)
        bare = Padded((rows.stop - rows.start,), rows.stop - rows.start)
        text = f"x.text(0).cut({rows.start}, {rows.stop})"
        return f"{name} = {call_written(text, masked(self.exam.layer, bare))}\n"


def _loud(exam: Examination) -> float:
    return _LOUD.get(exam.layer.dtype, _USUALLY_LOUD)
