"""Standard normal numbers in independent replicates: scrambled Sobol points, or plain pseudo-random
ones.

One scrambled Sobol set has no error bar; several independently scrambled sets do: how far their
answers are apart. So everything drawn here comes as `replicates` blocks of equal size, and the
standard error is always taken across replicates (for plain numbers too: one rule for both).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from headwright import inputs
from headwright.errors import InputError
from headwright.types import Float

# The first, most important numbers of a sample are Sobol points, the rest plain: scrambling
# thousands of dimensions costs seconds per replicate and gains nothing (and the direction numbers
# end at 21,201).
_SOBOL_DIMENSIONS = 256
_BITS = 30
_MOST = 1 << _BITS  # points that one Sobol set has
KINDS = ("sobol", "plain")
SAMPLES = 2**16
REPLICATES = 32

Block = Float[np.ndarray, "s dimension"]


@dataclass(frozen=True)
class PointSet:
    """How many numbers of which kind: `replicates` blocks of `size` points in `dimension`
    dimensions."""

    dimension: int
    size: int
    replicates: int
    kind: str
    seed: int

    @property
    def samples(self) -> int:
        """All points of all replicates."""
        return self.size * self.replicates

    def blocks(self, rows: int) -> Iterator[tuple[int, Block]]:
        """All points as `(replicate, block)`, at most `rows` (a power of two) points at a time."""
        streams = np.random.SeedSequence(self.seed).spawn(self.replicates)
        for replicate, stream in enumerate(streams):
            draw = self._source(np.random.default_rng(stream))
            for start in range(0, self.size, rows):
                yield replicate, draw(min(rows, self.size - start))

    def _source(self, rng: np.random.Generator) -> Callable[[int], Block]:
        """What draws the points of one replicate."""
        good = min(self.dimension, _SOBOL_DIMENSIONS) if self.kind == "sobol" else 0
        if good == 0:
            return lambda size: rng.standard_normal((size, self.dimension))
        from scipy.stats import qmc  # two seconds, which only Sobol points shall cost

        engine = qmc.Sobol(good, scramble=True, bits=_BITS, rng=rng)

        def draw(size: int) -> Block:
            # Points are multiples of 2^-bits; half a step more keeps them off 0, where ndtri is
            # -inf.
            points = ndtri(engine.random(size) + 0.5 ** (_BITS + 1))
            rest = rng.standard_normal((size, self.dimension - good))
            return np.hstack([points, rest])

        return draw


def point_set(
    dimension: int,
    *,
    samples: Any = SAMPLES,
    replicates: Any = REPLICATES,
    kind: str = "sobol",
    seed: int = 0,
) -> PointSet:
    """A checked set of points. The block size is rounded up to a power of two: Sobol points are
    balanced only then."""
    samples = inputs.whole("samples", samples, low=1, high=_MOST)
    replicates = inputs.whole("replicates", replicates, low=2, high=_MOST)
    if kind not in KINDS:
        raise InputError(
            wanted=f"kind one of {', '.join(KINDS)}", got=repr(kind), attempt='kind="sobol"'
        )
    size = power_of_two(-(-samples // replicates))
    return PointSet(dimension, size, replicates, kind, seed)


def power_of_two(at_least: int) -> int:
    """The smallest one that is no less."""
    return 1 << max(int(at_least) - 1, 0).bit_length()
