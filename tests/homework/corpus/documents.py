"""The corpus itself: seeded students who mix answers, letters, languages and layouts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .answers import ANSWERS, Answer
from .layouts import LAYOUTS, Layout
from .notation import LETTERS, Notation
from .tongues import TONGUES, Tongue

ORDER = ("a.prob", "a.cond", "a.out", "a.intu", "b.M", "b.q", "c.q", "c.var", "d.q", "d.var")
SHEETS = (
    ORDER,
    ORDER,
    ("a.cond", "a.out", "b.q", "c.q", "d.q", "d.var"),
    ("a.prob", "a.cond", "b.M", "b.q", "c.q", "c.var"),
    ("a.cond", "b.q", "c.q", "c.var", "d.q"),
)


@dataclass(frozen=True)
class Written:
    """One invented document and the statuses each of its answers deserves."""

    name: str
    suffix: str
    text: str
    answers: dict[str, Answer]
    layout: str
    tongue: str
    notation: Notation


def document(
    seed: int, *, layout: Layout | None = None, only: dict[str, Answer] | None = None
) -> Written:
    """The student with this number. `only` fixes some answers; everything else follows from the
    seed."""
    rng = random.Random(seed)
    layout = layout or LAYOUTS[seed % len(LAYOUTS)]
    tongue = TONGUES[0] if rng.random() < 0.3 else rng.choice(TONGUES)
    notation = replace(rng.choice(LETTERS), spelling=rng.choice(layout.spellings))
    # Only letters that stay apart from their index when squeezed
    if notation.spelling == "squeezed":
        notation = replace(notation, scale=r"\beta", bold="", order="key first", transpose="^T")
    chosen = {q: _pick(q, rng) for q in rng.choice(SHEETS)} | (only or {})
    items = [(q, chosen[q].write(notation, tongue)) for q in ORDER if q in chosen]
    text = layout.build(items, notation, tongue, rng)
    return Written(
        f"student-{seed:04d}{layout.suffix}",
        layout.suffix,
        text,
        chosen,
        layout.name,
        tongue.name,
        notation,
    )


def _pick(question: str, rng: random.Random) -> Answer:
    """Right answers are twice as common as faults, as in a decent class."""
    right = [a for a in ANSWERS[question] if a.deserves == {"correct"}]
    faulty = [a for a in ANSWERS[question] if a.deserves != {"correct"}]
    return rng.choice(faulty if faulty and rng.random() < 0.35 else right)


def documents(count: int, first: int = 0) -> Iterator[Written]:
    for seed in range(first, first + count):
        yield document(seed)


def tongue_of(name: str) -> Tongue:
    return next(t for t in TONGUES if t.name == name)
