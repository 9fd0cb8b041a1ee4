"""Two audits of one shape: which heads changed, and by how much more than chance.

Both are cut into the same parts of the same texts, so a change is judged by the differences of the
parts: its t = mean / standard error, as of a paired test. Where only the value and its standard
error are known, or a share p over r rows (whose variance is at most p (1 - p)), the two are taken
as independent. Of all heads and measures, those count as changed that keep the expected share of
false ones among them below FALSE (Benjamini and Hochberg).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from headwright.errors import InputError
from headwright.trained.cards import Card, columns, title
from headwright.trained.findings.wording import joined, layers_in_words, number

FALSE = 0.05
# Smaller differences, relative to how far heads differ from each other, are rounding.
_ROUNDING = 1e-3
# A change of this size is worth a name: a tenth of how far heads differ from each other.
_NOTABLE = 0.1
_NAMED = 4


@dataclass(frozen=True)
class Change:
    """One measure of one head: before, now, the standard error of the difference, the chance of
    such a difference if nothing changed, and its size beyond sampling error, in standard deviations
    of the measure over the heads."""

    measure: str
    before: float
    now: float
    error: float
    chance: float
    size: float

    def plain(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "before": self.before,
            "now": self.now,
            "difference_se": self.error,
            "p": self.chance,
            "size": self.size,
        }

    def __str__(self) -> str:
        name, _ = title(self.measure)
        return f"{name} {number(self.before)} to {number(self.now)}"


@dataclass(frozen=True)
class ChangedHead:
    """A head with its changes, largest first."""

    card: Card
    changes: tuple[Change, ...]

    @property
    def size(self) -> float:
        return self.changes[0].size

    def plain(self) -> dict[str, Any]:
        place = {"stack": self.card.stack, "layer": self.card.layer, "head": self.card.head}
        return place | {"size": self.size, "changes": [one.plain() for one in self.changes]}


@dataclass(frozen=True)
class Changes:
    """Of an audit against another: the heads that changed, most changed first, out of `total`;
    `compared` are the measures that have an error to judge them by."""

    before: str
    now: str
    heads: tuple[ChangedHead, ...]
    total: int
    compared: tuple[str, ...]
    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Changes from {self.before} to {self.now}: {self.sentences[0]}>"

    def plain(self) -> dict[str, Any]:
        return {
            "against": self.before,
            "change": list(self.sentences),
            "compared": list(self.compared),
            "changed": [head.plain() for head in self.heads],
        }


def compare(now: Sequence[Card], before: Sequence[Card], *, names: tuple[str, str]) -> Changes:
    """`names`: of the audit now, and of the one before."""
    _refuse_other_shapes(now, before)
    measures = [name for name in columns(now) if name in before[0].measures]
    scales = {name: _scale([*now, *before], name) for name in measures}

    tried: list[tuple[int, Change]] = []
    for i, (new, old) in enumerate(zip(now, before, strict=True)):
        for name in measures:
            change = _change(new, old, name, scales[name])
            if change is not None:
                tried.append((i, change))

    kept = _beyond_chance([change for _, change in tried])
    by_head: dict[int, list[Change]] = {}
    for (i, change), beyond in zip(tried, kept, strict=True):
        if beyond:
            by_head.setdefault(i, []).append(change)
    heads = []
    for i, changes in by_head.items():
        heads.append(ChangedHead(now[i], tuple(sorted(changes, key=lambda one: -one.size))))
    heads.sort(key=lambda head: -head.size)

    compared = {change.measure for _, change in tried}
    return Changes(
        now=names[0],
        before=names[1],
        heads=tuple(heads),
        total=len(now),
        compared=tuple(name for name in measures if name in compared),
        sentences=tuple(_sentences(heads, now)),
    )


def _refuse_other_shapes(now: Sequence[Card], before: Sequence[Card]) -> None:
    if [card.place for card in now] != [card.place for card in before]:
        raise InputError(
            wanted=f"an audit of the same heads: {_shape(now)}",
            got=_shape(before),
            attempt="compare models with the same layers and heads",
        )


def _shape(cards: Sequence[Card]) -> str:
    layers = len({(card.stack, card.layer) for card in cards})
    return f"{len(cards)} heads in {layers} layers"


def _scale(cards: Sequence[Card], measure: str) -> float:
    """How far heads differ in this measure."""
    values = np.asarray([card.measures.get(measure, math.nan) for card in cards])
    known = values[np.isfinite(values)]
    return float(known.std()) if known.size else 0.0


def _change(new: Card, old: Card, measure: str, scale: float) -> Change | None:
    """None where there is nothing to judge the difference by."""
    now = new.measures[measure]
    before = old.measures[measure]
    judged = _error(new, old, measure)
    if judged is None or scale == 0.0 or not np.isfinite(now - before):
        return None
    error, freedom = judged
    difference = abs(now - before)
    if difference <= _ROUNDING * scale:
        chance = 1.0
    elif error == 0.0:
        chance = 0.0
    else:
        chance = float(2.0 * student.sf(difference / error, freedom))
    beyond = max(difference - 2.0 * error, 0.0) / scale
    return Change(measure, before, now, error, chance, beyond)


def _error(new: Card, old: Card, measure: str) -> tuple[float, float] | None:
    """The standard error of the difference, and its degrees of freedom."""
    parts_now = new.parts.get(measure)
    parts_before = old.parts.get(measure)
    if parts_now is not None and parts_before is not None:
        return _paired(np.asarray(parts_now), np.asarray(parts_before))
    errors = [card.errors.get(measure, math.nan) for card in (new, old)]
    if np.isfinite(errors).all():
        return math.hypot(*errors), _fewest_rows(new, old, measure) - 1
    of_shares = math.hypot(_share_error(new, measure), _share_error(old, measure))
    return (of_shares, math.inf) if np.isfinite(of_shares) else None


def _fewest_rows(new: Card, old: Card, measure: str) -> int:
    """A standard error has been taken from two rows at least."""
    known = [card.chance[measure].rows for card in (new, old) if measure in card.chance]
    return max(min(known, default=2), 2)


def _paired(now: np.ndarray, before: np.ndarray) -> tuple[float, float] | None:
    if now.shape != before.shape:
        return None
    differences = now - before
    known = differences[np.isfinite(differences)]
    if known.size < 2:
        return None
    return float(known.std(ddof=1) / math.sqrt(known.size)), known.size - 1


def _share_error(card: Card, measure: str) -> float:
    """A number between 0 and 1 with mean p has a variance of at most p (1 - p). NaN for others."""
    chance = card.chance.get(measure)
    p = card.measures[measure]
    if chance is None or not chance.rows or not 0.0 <= p <= 1.0:
        return math.nan
    return math.sqrt(p * (1.0 - p) / chance.rows)


def _beyond_chance(changes: Sequence[Change]) -> np.ndarray:
    """Benjamini and Hochberg: with the chances in order, all up to the last k with
    p_(k) <= FALSE k / m."""
    chances = np.asarray([change.chance for change in changes])
    order = np.argsort(chances, kind="stable")
    marks = FALSE * np.arange(1, chances.size + 1) / max(chances.size, 1)
    below = np.flatnonzero(chances[order] <= marks)
    kept = np.zeros(chances.size, dtype=bool)
    if below.size:
        kept[order[: below[-1] + 1]] = True
    return kept


def _sentences(heads: Sequence[ChangedHead], cards: Sequence[Card]) -> list[str]:
    if not heads:
        return [f"None of the {len(cards)} heads changed by more than sampling error."]
    changed = [head.card for head in heads]
    where = layers_in_words(changed, cards)
    notable = [head for head in heads if head.size >= _NOTABLE]
    much = (
        f"{len(notable)} of them by more than a tenth of how far heads differ from each other"
        if notable
        else "none of them by a tenth of how far heads differ from each other"
    )
    sentences = [
        f"{len(heads)} of {len(cards)} heads changed beyond sampling error{where}; {much}."
    ]
    first = [f"{head.card.name} ({head.changes[0]})" for head in (notable or heads)[:_NAMED]]
    sentences.append(f"Most changed: {joined(first)}.")
    return sentences + _by_measure(heads)


def _by_measure(heads: Sequence[ChangedHead]) -> list[str]:
    """The measure that changed in most heads, and which way."""
    directions: dict[str, list[bool]] = {}
    for head in heads:
        for change in head.changes:
            directions.setdefault(change.measure, []).append(change.now > change.before)
    measure, ups = max(directions.items(), key=lambda one: len(one[1]))
    name, _ = title(measure)
    rose = sum(ups)
    return [
        f"Most often the {name} changed: it rose in {rose} heads and fell in {len(ups) - rose}."
    ]
