"""What an audit returns: a table, one row per layer and head, in every form people want it in.

The forms are below it in the imports: the page gets the cards and what stands above them, and knows
nothing of the table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from headwright.errors import InputError, MissingExtra
from headwright.trained.cache.decoded.outcome import Budgeted
from headwright.trained.cache.key_noise import KeyNoise
from headwright.trained.cards import Card, columns
from headwright.trained.findings.breaking import Breaking, breaking_first
from headwright.trained.findings.comparison import Changes, compare
from headwright.trained.findings.remarkable import Remarkable, remarkable
from headwright.trained.findings.saved import SavedAudit
from headwright.trained.page.heads_figure import heads_figure
from headwright.trained.page.report import Shown, report
from headwright.trained.page.summary import summary
from headwright.trained.page.tokens import TokenView
from headwright.trained.passage.looks import Passage


@dataclass(frozen=True)
class Audit:
    """A table, one row per layer and head, with the cards behind it. `key_noise` is None unless
    bits were asked, `cache` unless a budget for the cache was; `passages` is the first text as each
    stack of the model reads it."""

    model: str
    texts: int
    token_count: int
    difference: float  # tapped against untouched output, relative
    cards: tuple[Card, ...]
    key_noise: KeyNoise | None = None
    passages: dict[str, Passage] = field(default_factory=dict)
    fingerprint: str = ""  # of the texts, token for token
    cache: Budgeted | None = None

    def __repr__(self) -> str:
        ways = 'sorted("entropy")[0], to_pandas(), to_csv(), to_html()'
        return f"<Audit of {self.model}: {self.extent}; {ways}>"

    @property
    def extent(self) -> str:
        """`72 heads, 256 tokens in 1 text`"""
        texts = "1 text" if self.texts == 1 else f"{self.texts} texts"
        return f"{len(self)} heads, {self.token_count} tokens in {texts}"

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
        self._known(measure)
        values = np.asarray([card.measures[measure] for card in self.cards])
        descending = np.where(np.isfinite(values), -values, np.inf)
        order = np.argsort(descending, kind="stable")
        return tuple(self.cards[i] for i in order)

    def plot(self, measure: str = "effective_keys") -> Any:
        """One measure of every head, layer by layer, as a figure of matplotlib; heads it could not
        be measured on stay empty."""
        self._known(measure)
        return heads_figure(self.cards, measure)

    def _known(self, measure: str) -> None:
        if measure not in self.columns:
            raise InputError(
                wanted=f"a measure: {', '.join(self.columns)}",
                got=repr(measure),
                attempt="--sort entropy",
            )

    @cached_property
    def remarkable(self) -> Remarkable:
        """What stands out, in at most five sentences, and the heads that stand out."""
        return remarkable(self.cards)

    @cached_property
    def breaking(self) -> Breaking:
        """The heads that break first when the keys are stored in fewer bits."""
        return breaking_first(self.cards, self.key_noise)

    def card(self, layer: int, head: int, stack: str | None = None) -> Card:
        """`stack` is needed only where a model has several."""
        at = [card for card in self.cards if (card.layer, card.head) == (layer, head)]
        found = [card for card in at if stack in (None, card.stack)]
        if len(found) != 1:
            stacks = list(dict.fromkeys(card.stack for card in self.cards))
            raise InputError(
                wanted=f"one of {len(self)} heads, in {', '.join(stacks)}",
                got=f"{layer}.{head}, of which there are {len(found)}",
                attempt=f"layer {self.cards[0].layer}, head {self.cards[0].head}, "
                f"stack={stacks[0]!r}",
            )
        return found[0]

    def tokens(self, layer: int, head: int, stack: str | None = None) -> TokenView:
        """Where one head looks in the first text: a view for notebooks, token by token."""
        card = self.card(layer, head, stack)
        passage = self.passages.get(card.stack)
        if passage is None or card.looks is None:
            raise InputError(
                wanted="an audit that kept where its queries look",
                got="one without (queries=0, a saved one, or a text of more than 65,536 tokens)",
                attempt="hw.audit(model, texts, queries=24)",
            )
        return TokenView(card, passage)

    def plain(self, cards: Sequence[Card] | None = None) -> dict[str, Any]:
        """For JSON; the heads in the order of `cards`, where it is given."""
        table: dict[str, Any] = {
            "model": self.model,
            "texts": self.texts,
            "tokens": self.token_count,
            "texts_fingerprint": self.fingerprint,
            "output_difference": self.difference,
            "remarkable": [finding.plain() for finding in self.remarkable.findings],
            "breaks_first": [head.plain() for head in self.breaking.heads],
            "heads": [_with_parts(card) for card in cards or self.cards],
        }
        rotary = [card.rotary_energy for card in self.cards]
        if any(energy is not None for energy in rotary):
            table["rotary_energy"] = [x if x is None else x.tolist() for x in rotary]
        if self.key_noise is not None:
            table["key_noise"] = self.key_noise.plain()
        if self.cache is not None:
            table |= self.cache.plain()
        return table

    def against(self, before: Audit | SavedAudit) -> Changes:
        """Which heads changed since the other audit, of the same texts."""
        if before.fingerprint and before.fingerprint != self.fingerprint:
            raise InputError(
                wanted="an audit of the same texts, token for token",
                got=f"another text in the audit of {before.model}",
                attempt="audit both models on the same --text with the same --tokens",
            )
        return compare(self.cards, _in_order(before, self.cards), names=(self.model, before.model))

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

    def to_html(self, changes: Changes | None = None) -> str:
        """The whole report as one self-contained page; with `changes` against another audit."""
        shown = Shown(
            cards=self.cards,
            key_noise=self.key_noise,
            passages=self.passages,
            remarkable=self.remarkable,
            breaking=self.breaking,
            changes=changes,
            cache=self.cache,
        )
        return report(shown, model=self.model, extent=self.extent, difference=self.difference)

    def _repr_html_(self) -> str:
        """What stands out, for a notebook."""
        return summary(self.remarkable, self.breaking, model=self.model, extent=self.extent)


def _in_order(before: Audit | SavedAudit, like: Sequence[Card]) -> Sequence[Card]:
    """A saved audit's heads may come in any order."""
    places = {card.place: i for i, card in enumerate(like)}
    return sorted(before.cards, key=lambda card: places.get(card.place, len(places)))


def _with_parts(card: Card) -> dict[str, Any]:
    """A head with what another audit is compared by: its measures on the parts of the texts, and
    over how many queries its patterns were averaged."""
    parts = {name: _four_digits(values) for name, values in card.parts.items()}
    rows = {name: chance.rows for name, chance in card.chance.items()}
    return card.plain() | {"parts": parts, "rows": rows}


def _four_digits(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]
