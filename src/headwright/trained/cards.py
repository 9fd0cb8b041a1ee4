"""One card per head: where it is, what it does in one sentence, its numbers, a small picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.trained.measures.chance import Chance
from headwright.trained.measures.from_rows import TITLES
from headwright.trained.passage.looks import Looks
from headwright.types import Float

# Measured, but not a size: the number of another head.
_NUMBERS_OF_HEADS = ("twin",)


@dataclass(frozen=True)
class Card:
    """One head. `measures[name]` may be NaN: not measurable on these texts; `errors` are standard
    errors of the measures taken on a sample of rows, `parts` are measures on the parts of the
    texts, `chance` is what equal weights would give, `looks` where the queries of the passage
    look; `sources` are earlier heads that this one reads, by measure; `rotary_energy` is None where
    nothing turns."""

    stack: str
    layer: int
    head: int
    measures: dict[str, float]
    errors: dict[str, float] = field(default_factory=dict)
    picture: Float[np.ndarray, "a b"] | None = None
    sources: dict[str, str | None] = field(default_factory=dict)
    rotary_energy: Float[np.ndarray, "r"] | None = None
    parts: dict[str, Float[np.ndarray, "p"]] = field(default_factory=dict)
    chance: dict[str, Chance] = field(default_factory=dict)
    looks: Looks | None = None

    def __repr__(self) -> str:
        return f"<Card {self.name}: {self.sentence}>"

    @property
    def name(self) -> str:
        place = f"{self.layer}.{self.head}"
        return place if self.stack == "model" else f"{self.stack} {place}"

    @property
    def place(self) -> tuple[str, int, int]:
        return self.stack, self.layer, self.head

    @property
    def twin(self) -> int | None:
        """The most similar head of the layer, where there is another."""
        number = self.measures["twin"]
        return int(number) if number >= 0 else None

    @property
    def sentence(self) -> str:
        rule = next(rule for rule in _RULES if rule.holds(self.measures))
        return rule.text.format(**self.measures)

    def plain(self) -> dict[str, Any]:
        place = {"layer": self.layer, "head": self.head, "stack": self.stack}
        numbers: dict[str, Any] = {name: _known(x) for name, x in self.measures.items()}
        numbers["twin"] = self.twin
        errors = {f"{name}_se": _known(x) for name, x in self.errors.items()}
        return place | numbers | errors | self.sources | {"sentence": self.sentence}


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


@dataclass(frozen=True)
class _Rule:
    """`text`, with the measures put in, is what a head does whose measures `holds`."""

    holds: Callable[[dict[str, float]], bool]
    text: str


# The first that holds is said. Thresholds are where the head spends most of what it has on one
# thing.
_RULES = (
    _Rule(
        lambda m: m.get("sink_share", 0) >= 0.5,
        "Rests on no key: {sink_share:.0%} of its weight goes to the learned sink.",
    ),
    _Rule(
        lambda m: m["first"] >= 0.5, "Rests on the first token ({first:.0%} of its weight): a sink."
    ),
    _Rule(
        lambda m: m.get("previous", 0) >= 0.4,
        "Looks at the previous token ({previous:.0%} of its weight).",
    ),
    _Rule(
        lambda m: m.get("induction", 0) >= 0.4,
        "Continues repetitions: {induction:.0%} on what followed this token before.",
    ),
    _Rule(
        lambda m: m.get("duplicate", 0) >= 0.4,
        "Finds the same token earlier in the text ({duplicate:.0%}).",
    ),
    _Rule(
        lambda m: m["separators"] >= 0.5,
        "Rests on punctuation and special tokens ({separators:.0%} of its weight).",
    ),
    _Rule(
        lambda m: m["copy"] >= 0.5 and m["largest"] >= 0.5,
        "Copies one value at a time: top weight {largest:.0%}, "
        "sharpness {sharpness:.1f} of {sharpness_needed:.1f}.",
    ),
    _Rule(
        lambda m: m["average"] >= 0.5 and m["effective_keys"] >= 4,
        "Averages about {effective_keys:.0f} keys nearly equally.",
    ),
    _Rule(
        lambda m: True,
        "Mixes about {effective_keys:.0f} keys, the top one at {largest:.0%}; "
        "to copy it would need sharpness {sharpness_needed:.1f} and has {sharpness:.1f}.",
    ),
)


def columns(cards: Sequence[Card]) -> tuple[str, ...]:
    """Names of the measures, in the order of the tables; those without a title come last."""
    measured = [name for name in cards[0].measures if name not in _NUMBERS_OF_HEADS]
    titled = [name for name in TITLES if name in measured]
    return tuple(dict.fromkeys([*titled, *measured]))


def title(measure: str) -> tuple[str, str]:
    """What a measure is called in tables, and what it means."""
    return TITLES.get(measure, (measure.replace("_", " "), ""))
