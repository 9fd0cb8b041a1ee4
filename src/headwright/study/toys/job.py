"""One cell of the grid: heads that differ in their seed alone are trained together, and each is
held against what the solver does with the same keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.study.toys.columns import column, mean_over_seeds
from headwright.study.toys.measures import Head, against_shortest, under_random_length
from headwright.study.toys.task import LENGTHS, Toy, all_pairs
from headwright.study.toys.training import Member, trained

VERSION = "1"


@dataclass(frozen=True)
class Cell:
    """The settings of `seeds` heads. The solver is asked about `checked` pairs of each."""

    n: int
    d: int
    heads: int
    queries: str
    lengths: str
    loss: str
    rate: float
    steps: int
    seeds: int = 5
    checked: int = 40
    device: str = "cpu"

    def __post_init__(self) -> None:
        known = self.lengths in LENGTHS
        if not known or min(self.seeds, self.checked) < 1 or self.heads not in (1, 2):
            wanted = f"lengths {' or '.join(LENGTHS)}, 1 or 2 heads, positive seeds and checked"
            raise InputError(wanted=wanted, got=str(self)[:200], attempt="see grid.toml")


def job(**settings: Any) -> dict[str, float | None]:
    """`settings` are those of a `Cell`."""
    cell = Cell(**settings)
    toy = Toy(cell.n, cell.d, cell.heads, cell.queries, cell.loss)
    random = cell.lengths == "random"
    members = [Member(seed, cell.steps, random, cell.rate) for seed in range(cell.seeds)]
    done = trained(toy, members, device=cell.device)
    heads = [
        Head(queries, keys, _some_pairs(cell, seed))
        for seed, (queries, keys) in enumerate(zip(done.queries, done.keys, strict=True))
    ]
    measured = under_random_length(heads) if random else against_shortest(heads)
    row = {
        "trained": cell.seeds,
        "first_loss": done.first_loss.mean(),
        "last_loss": done.last_loss.mean(),
        **mean_over_seeds("solved", [head.solved.mean() for head in heads], low=0.0, high=1.0),
        "query_length": np.median([head.lengths for head in heads]),
        **measured,
    }
    return {name: column(value) for name, value in row.items()}


def _some_pairs(cell: Cell, seed: int) -> Any:
    """Indices of the pairs that the solver is asked about."""
    count = len(all_pairs(cell.n))
    rng = np.random.default_rng([seed, 1])
    return np.sort(rng.permutation(count)[: cell.checked])
