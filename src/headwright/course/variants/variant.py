"""What may differ from sheet to sheet without changing the difficulty, drawn for each student from
the seed and the student's id alone: who else is in the class changes nobody's sheet."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from headwright.errors import InputError
from headwright.exercise.letters import USABLE

# A share of exactly one half is the classic question; its neighbours are too near to be told apart
_PERCENT = (20, 25, 30, 35, 40, 60, 65, 70, 75, 80)
_KEYS = (8, 9, 10, 11, 12, 14, 15, 16, 18, 20)
_LEAKS = (1, 2, 3, 4, 5)  # percent
_DIMENSIONS = (25, 36, 49, 64, 81, 100)  # whole roots, and room for all keys
_VARIANCES = ("1/2", "1/3", "1/4", "1/5", "2/5")


@dataclass(frozen=True)
class Variant:
    """`varying` is the letter of the key whose length is random, `steady` the other one's.
    `percent` of the weight belongs to the varying key in the mixture, `leak` percent may be left on
    the other keys. `d` is 0 where the scores are plain, else they are divided by its root."""

    varying: str
    steady: str
    varying_first: bool
    percent: int
    n: int
    leak: int
    d: int
    variance: str

    @property
    def one(self) -> str:
        """The letter that the sheet names first."""
        return self.varying if self.varying_first else self.steady

    @property
    def two(self) -> str:
        return self.steady if self.varying_first else self.varying

    @property
    def share(self) -> float:
        return self.percent / 100

    @property
    def variance_number(self) -> float:
        return float(Fraction(self.variance))

    def record(self) -> dict[str, Any]:
        return asdict(self)


def drawn(seed: str, student: str) -> Variant:
    """The variant of one student; the same for the same seed on every machine."""
    digest = hashlib.sha256(f"{seed}\0{student}".encode("utf-8", "surrogatepass")).digest()
    source = random.Random(int.from_bytes(digest, "big"))
    varying, steady = source.sample(USABLE, 2)
    return Variant(
        varying=varying,
        steady=steady,
        varying_first=source.random() < 0.5,
        percent=source.choice(_PERCENT),
        n=source.choice(_KEYS),
        leak=source.choice(_LEAKS),
        d=source.choice(_DIMENSIONS) if source.random() < 0.5 else 0,
        variance=source.choice(_VARIANCES),
    )


def restored_variant(record: Mapping[str, Any]) -> Variant:
    """The variant that `record` wrote."""
    names = [entry.name for entry in fields(Variant)]
    if not isinstance(record, dict) or sorted(record) != sorted(names):
        raise InputError(
            wanted=f"a variant with {', '.join(names)}",
            got=str(record)[:100],
            attempt="write the sheets again with this version",
        )
    return Variant(**record)
