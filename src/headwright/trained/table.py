"""What an audit returns: a table, one row per layer and head, in every form people want it in.

The forms are below it in the imports: the page gets the cards and what stands above them, and knows
nothing of the table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.errors import InputError, MissingExtra
from headwright.trained.cache.budget.outcome import Budgeted
from headwright.trained.cache.key_noise import KeyNoise
from headwright.trained.cards import Card, columns
from headwright.trained.page.report import report


@dataclass(frozen=True)
class Audit:
    """A table, one row per layer and head, with the cards behind it. `key_noise` is None unless
    bits were asked, `cache` unless a budget for the cache was."""

    model: str
    texts: int
    tokens: int
    difference: float  # tapped against untouched output, relative
    cards: tuple[Card, ...]
    key_noise: KeyNoise | None = None
    cache: Budgeted | None = None

    def __repr__(self) -> str:
        ways = 'sorted("entropy")[0], to_pandas(), to_csv(), to_html()'
        return f"<Audit of {self.model}: {self.extent}; {ways}>"

    @property
    def extent(self) -> str:
        """`72 heads, 256 tokens in 1 text`"""
        texts = "1 text" if self.texts == 1 else f"{self.texts} texts"
        return f"{len(self)} heads, {self.tokens} tokens in {texts}"

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the measures, in the order of the tables."""
        return columns(self.cards)

    def sorted(self, measure: str) -> tuple[Card, ...]:
        """Largest first; heads it could not be measured on come last."""
        if measure not in self.columns:
            raise InputError(
                wanted=f"a measure: {', '.join(self.columns)}",
                got=repr(measure),
                attempt="--sort entropy",
            )
        values = np.asarray([card.measures[measure] for card in self.cards])
        descending = np.where(np.isfinite(values), -values, np.inf)
        order = np.argsort(descending, kind="stable")
        return tuple(self.cards[i] for i in order)

    def plain(self) -> dict[str, Any]:
        table: dict[str, Any] = {
            "model": self.model,
            "texts": self.texts,
            "tokens": self.tokens,
            "output_difference": self.difference,
            "heads": [card.plain() for card in self.cards],
        }
        if self.key_noise is not None:
            table["key_noise"] = self.key_noise.plain()
        if self.cache is not None:
            table |= self.cache.plain()
        return table

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per head: its card, and its part of the key-cache table where there is
        one."""
        rows = [card.plain() for card in self.cards]
        if self.key_noise is not None:
            for i, row in enumerate(rows):
                row.update(self.key_noise.head(i))
        return rows

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
        return report(
            self.cards,
            self.key_noise,
            self.cache,
            model=self.model,
            extent=self.extent,
            difference=self.difference,
        )
