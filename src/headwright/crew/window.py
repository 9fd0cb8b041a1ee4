"""The points in hand: read, to be done, under way or finished behind one that is not."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from headwright.crew.store.record import Kept

MOST_POINTS = 50_000
MOST_CHARACTERS = 64_000_000  # of parameters and values
MOST_IN_BATCH = 4_000_000  # characters of parameters


class Outcome(NamedTuple):
    """What came of one point."""

    point: dict[str, Any]
    text: str | None  # the value as JSON, as it is stored
    error: str  # empty, or type and message in one line
    stored: bool  # it was there already

    @property
    def value(self) -> Any:
        """What the function returned; None where it failed."""
        return None if self.text is None else json.loads(self.text)


class Place:
    """The result of one point, or of several equal ones."""

    __slots__ = ("error", "key", "point", "ready", "stored", "text", "waiting")

    def __init__(self, key: str, point: str) -> None:
        self.key = key
        self.point = point
        self.text: str | None = None
        self.error = ""
        self.ready = False
        self.stored = False
        self.waiting = 0  # points that it is the result of

    @property
    def characters(self) -> int:
        return len(self.point) + len(self.text or "")


class Window:
    """In the order of the points. Equal points share a place, and are computed once. Points that
    were stored, with none before them that is not, need no place."""

    def __init__(self) -> None:
        self._stored: deque[Outcome] = deque()
        self._points: deque[tuple[dict[str, Any], Place]] = deque()
        self._places: dict[str, Place] = {}
        self._to_do: deque[Place] = deque()
        self._characters = 0

    @property
    def empty(self) -> bool:
        return not self._points and not self._stored

    @property
    def full(self) -> bool:
        """A slow point must not make the results behind it pile up."""
        return len(self._points) >= MOST_POINTS or self._characters >= MOST_CHARACTERS

    @property
    def first_is_ready(self) -> bool:
        return bool(self._stored) or (bool(self._points) and self._points[0][1].ready)

    @property
    def to_do(self) -> int:
        return len(self._to_do)

    def has(self, key: str) -> bool:
        return key in self._places

    def append(self, point: dict[str, Any], text: str, key: str, kept: Kept | None) -> None:
        if kept is not None and not self._points:
            self._stored.append(Outcome(point, *kept, True))
            return
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(key, text)
            self._characters += len(text)
            if kept is None:
                self._to_do.append(place)
            else:
                self.settle(place, *kept)
                place.stored = True
        place.waiting += 1
        self._points.append((point, place))

    def taken(self, most: int) -> list[Place]:
        """The next places to be done."""
        batch: list[Place] = []
        characters = 0
        while self._to_do and len(batch) < most and characters < MOST_IN_BATCH:
            place = self._to_do.popleft()
            characters += len(place.point)
            batch.append(place)
        return batch

    def settle(self, place: Place, text: str | None, error: str) -> None:
        place.text = text
        place.error = error
        place.ready = True
        self._characters += len(text or "")

    def finished(self) -> Iterator[Outcome]:
        """From the front, as far as it is ready."""
        while self._stored:
            yield self._stored.popleft()
        while self.first_is_ready:
            point, place = self._points.popleft()
            place.waiting -= 1
            if place.waiting == 0:
                del self._places[place.key]
                self._characters -= place.characters
            yield Outcome(point, place.text, place.error, place.stored)
