"""What a row says about the heads of one cell: against the shortest queries for the same keys, or
under a random length of the first key of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.study.toys import random_length
from headwright.study.toys.away import AwaySolver
from headwright.study.toys.columns import mean_over_seeds, pooled
from headwright.study.toys.shortest import Shortest, Solver, own_bound
from headwright.study.toys.task import LIMIT, all_pairs, mixed_weights, solved
from headwright.types import Array, Float, Keys

# Pairs of each head whose error the exact engine computes as well
_ROUTES = 2


@dataclass(frozen=True)
class Head:
    """A trained head (or two on the same keys), and the pairs that the solver is asked about."""

    queries: Float[Array, "h p d"]
    keys: Keys
    some: Array

    @cached_property
    def pairs(self) -> Array:
        return all_pairs(len(self.keys))

    @cached_property
    def solved(self) -> Array:
        return solved(mixed_weights(self.queries, self.keys), self.pairs)

    @cached_property
    def lengths(self) -> Float[Array, "p"]:
        """Of the longest query of each pair."""
        return np.linalg.norm(self.queries, axis=-1).max(axis=0)

    @property
    def asked(self) -> list[tuple[int, int]]:
        return [(int(a), int(b)) for a, b in self.pairs[self.some]]


def against_shortest(heads: Sequence[Head]) -> dict[str, float | None]:
    answers = [_shortest(head) for head in heads]
    ratios = [_ratios(*both) for both in zip(heads, answers, strict=True)]
    over_designs = [_over_designs(*both) for both in zip(heads, answers, strict=True)]
    own_ratios = [_own_ratios(head) for head in heads]
    every = np.concatenate(ratios)
    everywhere = [one for answer in answers for one in answer]
    possible = [_share([one.possible for one in answer]) for answer in answers]
    missed = [_missed(*both) for both in zip(heads, answers, strict=True)]
    gaps = [one.length / one.bound - 1 for one in everywhere if one.possible]
    return {
        **mean_over_seeds("possible", possible, low=0.0, high=1.0),
        "impossible": _share([one.impossible for one in everywhere]),
        "undecided": _share([not (one.possible or one.impossible) for one in everywhere]),
        "missed": float(np.mean(missed)),
        "gap": max(gaps, default=None),
        **mean_over_seeds("ratio", [_median(one) for one in ratios], low=1.0),
        **pooled("ratio", every),
        "ratio_least": float(every.min()) if every.size else None,
        "ratio_count": float(every.size),
        **mean_over_seeds("over_design", [_median(one) for one in over_designs]),
        **mean_over_seeds("own_ratio", [_median(one) for one in own_ratios], low=1.0),
    }


def _shortest(head: Head) -> list[Shortest]:
    solver = Solver(head.keys)
    answer = solver.one_head if len(head.queries) == 1 else solver.two_heads
    return [answer(a, b) for a, b in head.asked]


def _ratios(head: Head, answers: list[Shortest]) -> Array:
    """Trained length over the bound that no query beats, where training solved the pair."""
    bounds = np.array([one.bound for one in answers])
    done = head.solved[head.some]
    return head.lengths[head.some][done] / bounds[done]


def _over_designs(head: Head, answers: list[Shortest]) -> Array:
    """Trained length over the length of the shortest design found. Two heads may do without a
    design of ours, and better."""
    designs = np.array([one.length for one in answers])
    both = head.solved[head.some] & np.isfinite(designs)
    return head.lengths[head.some][both] / designs[both]


def _own_ratios(head: Head) -> Array:
    """Trained length over the shortest that does as much: the same shares and the same leak."""
    if len(head.queries) > 1:
        return np.array([])
    done = head.some[head.solved[head.some]]
    bounds = []
    for index in done:
        a, b = (int(key) for key in head.pairs[index])
        bounds.append(own_bound(head.queries[0, index], head.keys, a, b))
    return head.lengths[done] / np.array(bounds)


def _missed(head: Head, answers: list[Shortest]) -> float:
    """Pairs that the keys allow and training did not solve."""
    possible = np.array([one.possible for one in answers])
    return float((possible & ~head.solved[head.some]).mean())


def under_random_length(heads: Sequence[Head]) -> dict[str, float | None]:
    errors = [random_length.squared_errors(h.queries, h.keys, h.pairs) for h in heads]
    away = [random_length.looks_away(h.queries, h.keys, h.pairs) for h in heads]
    moved = [random_length.dependence(h.queries, h.keys, h.pairs) for h in heads]
    calm = [error <= random_length.CALM for error in errors]
    found = [float((a & c).mean()) for a, c in zip(away, calm, strict=True)]
    return {
        **mean_over_seeds("squared_error", [_median(error) for error in errors], low=0.0),
        **pooled("squared_error", np.concatenate(errors)),
        "textbook_error": _median(np.concatenate([_textbook(head) for head in heads])),
        "dependence": _median(np.concatenate(moved)),
        **mean_over_seeds("away", [_share(one) for one in away], low=0.0, high=1.0),
        **mean_over_seeds("calm", [_share(one) for one in calm], low=0.0, high=1.0),
        **mean_over_seeds("found", found, low=0.0, high=1.0),
        "finders": float(sum(share >= 0.5 for share in found)),
        **_designs(heads),
        "engine_gap": _engine_gap(heads, errors),
    }


def _textbook(head: Head) -> Array:
    return random_length.textbook_errors(
        head.keys, head.pairs, heads=len(head.queries), limit=LIMIT
    )


def _designs(heads: Sequence[Head]) -> dict[str, float | None]:
    """For how many of the pairs asked a query that looks away exists, and its squared error."""
    answers = []
    errors = []
    for head in heads:
        solver = AwaySolver(head.keys, len(head.queries))
        for a, b in head.asked:
            answer = solver.answer(a, b)
            answers.append(answer)
            if answer.queries is not None:
                pair = np.array([[a, b]])
                queries = answer.queries[:, None, :]
                errors.append(random_length.squared_errors(queries, head.keys, pair)[0])
    return {
        "design_possible": _share([one.queries is not None for one in answers]),
        "design_impossible": _share([one.impossible for one in answers]),
        "design_error": _median(np.array(errors)),
    }


def _engine_gap(heads: Sequence[Head], errors: Sequence[Array]) -> float:
    """The largest difference between the integral over the length and the exact engine."""
    gaps = []
    for head, error in zip(heads, errors, strict=True):
        for index in head.some[:_ROUTES]:
            a, b = (int(key) for key in head.pairs[index])
            engine = random_length.engine_error(head.queries[:, index], head.keys, a, b)
            gaps.append(abs(engine - error[index]))
    return float(max(gaps))


def _share(truths: Array | list[bool]) -> float:
    return float(np.mean(truths))


def _median(values: Array) -> float:
    return float(np.median(values)) if len(values) else np.nan
