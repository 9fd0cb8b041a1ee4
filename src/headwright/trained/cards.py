"""One card per head: where it is, what it does in one sentence, its numbers, a small picture. And
the table of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwright.errors import InputError, MissingExtra
from headwright.trained.measures.from_rows import TITLES
from headwright.types import Float


@dataclass(frozen=True)
class Card:
    """One head. `measures[name]` may be NaN: not measurable on these texts; `errors` are standard
    errors of the measures taken on a sample of rows."""

    stack: str
    layer: int
    head: int
    measures: dict[str, float]
    errors: dict[str, float] = field(default_factory=dict)
    picture: Float[np.ndarray, "a b"] | None = None

    def __repr__(self) -> str:
        return f"<Card {self.name}: {self.sentence}>"

    @property
    def name(self) -> str:
        return f"{'' if self.stack == 'model' else self.stack + ' '}{self.layer}.{self.head}"

    @property
    def sentence(self) -> str:
        return next(rule.text for rule in _RULES if rule.holds(self.measures)).format(
            **self.measures
        )

    def plain(self) -> dict[str, Any]:
        numbers = {
            name: value if np.isfinite(value) else None for name, value in self.measures.items()
        }
        errors = {
            f"{name}_se": value if np.isfinite(value) else None
            for name, value in self.errors.items()
        }
        numbers["twin"] = int(self.measures["twin"]) if self.measures["twin"] >= 0 else None
        place = {"layer": self.layer, "head": self.head, "stack": self.stack}
        return place | numbers | errors | {"sentence": self.sentence}


@dataclass(frozen=True)
class _Rule:
    holds: Callable[[dict[str, float]], bool]
    text: str


# The first that holds is said. Thresholds are where the head spends most of what it has on one
# thing.
_RULES = (
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
        "Copies one value at a time: top weight {largest:.0%}, sharpness {sharpness:.1f} of {sharpness_needed:.1f}.",
    ),
    _Rule(
        lambda m: m["average"] >= 0.5 and m["effective_keys"] >= 4,
        "Averages about {effective_keys:.0f} keys nearly equally.",
    ),
    _Rule(
        lambda m: True,
        "Mixes about {effective_keys:.0f} keys, the top one at {largest:.0%}; to copy it would need sharpness "
        "{sharpness_needed:.1f} and has {sharpness:.1f}.",
    ),
)


@dataclass(frozen=True)
class Audit:
    """A table, one row per layer and head, with the cards behind it. `key_noise` is None unless
    bits were asked."""

    model: str
    texts: int
    tokens: int
    difference: float  # tapped against untouched output, relative
    cards: tuple[Card, ...]
    key_noise: Any = None

    def __repr__(self) -> str:
        ways = 'sorted("entropy")[0], to_pandas(), to_csv(), to_html()'
        return f"<Audit of {self.model}: {self.extent}; {ways}>"

    @property
    def extent(self) -> str:
        """`72 heads, 256 tokens in 1 text`"""
        return (
            f"{len(self)} heads, {self.tokens} tokens in {self.texts} text{'s' * (self.texts != 1)}"
        )

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the measures, in the order of the tables."""
        return tuple(name for name in TITLES if name in self.cards[0].measures)

    def sorted(self, measure: str) -> tuple[Card, ...]:
        """Largest first; heads it could not be measured on come last."""
        if measure not in self.columns:
            raise InputError(
                wanted=f"a measure: {', '.join(self.columns)}",
                got=repr(measure),
                attempt="--sort entropy",
            )
        keys = [card.measures[measure] for card in self.cards]
        return tuple(
            self.cards[i]
            for i in np.argsort([-k if np.isfinite(k) else np.inf for k in keys], kind="stable")
        )

    def plain(self) -> dict[str, Any]:
        noise = {} if self.key_noise is None else {"key_noise": self.key_noise.plain()}
        return {
            "model": self.model, "texts": self.texts, "tokens": self.tokens, "output_difference": self.difference,
            "heads": [card.plain() for card in self.cards],
        } | noise  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per head: its card, and its part of the key-cache table where there is one."""
        noise = self.key_noise
        return [
            card.plain() | ({} if noise is None else noise.head(i))
            for i, card in enumerate(self.cards)
        ]

    def to_csv(self) -> str:
        rows = self.rows()
        out = io.StringIO()
        table = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        return out.getvalue()

    def to_pandas(self) -> Any:
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "models") from None
        return pandas.DataFrame(self.rows()).set_index(["stack", "layer", "head"])

    def to_html(self) -> str:
        """The whole report as one self-contained page."""
        from headwright.trained.page.report import report

        return report(self)
