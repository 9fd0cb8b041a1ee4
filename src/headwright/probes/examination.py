"""One layer under examination: what was asked, seeded draws, and what one probe has found out for
the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from headwright.probes.intent import Intent
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Options, Sizes
from headwright.probes.rounding import Rounding, precision, rounding

T = TypeVar("T")
_PLAIN = Options()
_EPS_STREAM = 2


@dataclass
class Examination:
    layer: Layer
    expect: Intent | None = None
    scale: float | None = None  # of the logits, where it is not 1 / sqrt(d) on purpose
    seed: int = 0
    # Set by `pattern` and `permutation`: what the whole record shows beside its table.
    depends: np.ndarray | None = None  # (n, m), True where output i moves with token j
    pattern: str = ""  # in a few words: "causal", "window=4"
    group: str = ""  # "S_5 on tokens 0-4, token 5 fixed"
    blocks: tuple[tuple[int, ...], ...] = ()  # tokens that may change places with one another
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def draw(self, stream: int, sizes: Sizes | None = None) -> Inputs:
        """The same for the same number; `draw_line` is the Python that repeats it."""
        return self.layer.draw(np.random.default_rng([self.seed, stream]), sizes)

    def draw_line(self, stream: int, sizes: Sizes | None = None) -> str:
        given = "" if sizes is None else f", {sizes!r}"
        return f"layer.draw(np.random.default_rng([{self.seed}, {stream}]){given})"

    def rounding(
        self, given: Inputs, options: Options = _PLAIN, unit: float | None = None
    ) -> Rounding:
        return rounding(self.layer, given, options, unit or self.eps)

    @property
    def eps(self) -> float:
        """Of the numbers that the layer computes with."""
        return self.once("eps", lambda: precision(self.layer, self.draw(_EPS_STREAM)))

    def once(self, key: str, find: Callable[[], T]) -> T:
        """What `find` returns, found once for all probes."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]
