"""Rows of one setting, as the figures and the page want them."""

from __future__ import annotations

from typing import Any

from headwright.study.section import Rows

WORDS = {"free": "one query per pair", "additive": "sum of two vectors"}


def chosen(rows: Rows, **settings: Any) -> Rows:
    """The rows that have all of these settings."""
    return [row for row in rows if all(row[name] == want for name, want in settings.items())]


def values(rows: Rows, name: str) -> list[Any]:
    """The different values of a parameter, in order."""
    return sorted({row[name] for row in rows})


def most_keys(rows: Rows) -> Rows:
    """Those with the most keys."""
    largest = max((row["n"] for row in rows), default=0)
    return chosen(rows, n=largest)


def shown(rows: Rows) -> Rows:
    """What figures and tables show of keys of fixed length: one head, where there is one."""
    fixed = chosen(rows, lengths="fixed")
    return main_rate(most_keys(chosen(fixed, heads=1) or fixed))


def most_steps(rows: Rows) -> Rows:
    """Those with the largest budget."""
    largest = max((row["steps"] for row in rows), default=0)
    return chosen(rows, steps=largest)


def main_rate(rows: Rows) -> Rows:
    """Those of the learning rate that most rows have."""
    rates = [row["rate"] for row in rows]
    return chosen(rows, rate=max(values(rows, "rate"), key=rates.count)) if rows else []
