"""The random sets of one family, N, q and d together: how many can be selected, and what they
cost. A set without a query (impossible or undecided) counts as infinitely expensive."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from headwright.files import write_text
from headwright.study.section import Rows

Key = tuple[str, int, int, int]  # family, N, q, d


@dataclass(frozen=True)
class Group:
    """`median` and the quartiles are norms over all sets, infinite where too few can be selected;
    `largest` and `largest_gap` are over the sets that have a query. `near_floor` and `ceiling` are
    medians over the sets, `ceiling` infinite where the theorem says nothing of half of them."""

    family: str
    N: int
    q: int
    d: int
    sets: int
    selectable: int
    impossible: int
    undecided: int
    certified: int
    low: float
    median: float
    high: float
    largest: float
    largest_gap: float
    margin: float
    floor: float
    near_floor: float
    ceiling: float
    below_ceiling: int


def groups(rows: Rows) -> list[Group]:
    """In the order in which the rows meet them."""
    together: dict[Key, Rows] = defaultdict(list)
    for row in rows:
        together[row["family"], row["N"], row["q"], row["d"]].append(row)
    return [_group(key, members) for key, members in together.items()]


def _group(key: Key, rows: Rows) -> Group:
    found = [row for row in rows if row["selectable"] == 1]
    impossible = sum(row["selectable"] == 0 for row in rows)
    prices = norms(rows)
    ceilings = [_or_infinite(row["ceiling"]) for row in rows]
    low, middle, high = (quantile(prices, share) for share in (0.25, 0.5, 0.75))
    return Group(
        *key,
        sets=len(rows),
        selectable=len(found),
        impossible=impossible,
        undecided=len(rows) - len(found) - impossible,
        certified=sum(row["certified"] == 1 for row in found),
        low=low,
        median=middle,
        high=high,
        largest=max((row["norm"] for row in found), default=math.inf),
        largest_gap=max((row["gap"] for row in found), default=math.nan),
        margin=quantile([row["margin"] for row in found], 0.5),
        floor=rows[0]["floor"],
        near_floor=quantile([row["near_floor"] for row in rows], 0.5),
        ceiling=quantile(ceilings, 0.5),
        below_ceiling=sum(p <= c < math.inf for p, c in zip(prices, ceilings, strict=True)),
    )


def norms(rows: Rows) -> list[float]:
    """One per set, infinite where no query is known."""
    return [_or_infinite(row["norm"]) for row in rows]


def _or_infinite(number: float | None) -> float:
    return math.inf if number is None else number


def quantile(values: Iterable[float], share: float) -> float:
    """One of the values, so that infinite ones do no harm; NaN if there is none."""
    ordered = np.sort(np.fromiter(values, float))
    if not len(ordered):
        return math.nan
    return float(np.quantile(ordered, share, method="inverted_cdf"))


def write_groups(found: list[Group], path: Path) -> None:
    """Six digits: for drawing, and to be compared with a rerun."""
    lines = [",".join(field.name for field in fields(Group))]
    for group in found:
        lines.append(",".join(_cell(value) for value in asdict(group).values()))
    write_text(path, "\n".join(lines) + "\n")


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read_groups(path: Path) -> list[Group]:
    kinds = {"str": str, "int": int, "float": float}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Group(
                **{field.name: kinds[str(field.type)](row[field.name]) for field in fields(Group)}
            )
            for row in csv.DictReader(file)
        ]
