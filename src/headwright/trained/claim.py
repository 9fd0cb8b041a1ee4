"""From the exercise to a model: does a real head ask the way the written answer says?

The exercise's answer to "average the values of a and b" is q = beta (k_a + k_b). Real keys are
neither orthonormal nor of one length, so this is a question with a measurable answer: the angle
between a head's query and that direction, for the keys that really win. The sharpness beta drops
out of an angle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headwright import inputs
from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained import capture
from headwright.trained.batches import Batch
from headwright.trained.heads import Heads, Layer
from headwright.trained.measures.sampled import Sample
from headwright.trained.preparation import difference, output_only, prepared
from headwright.trained.rows.tokens import Tokens
from headwright.types import Array, Float


@dataclass(frozen=True)
class QueryClaim:
    """What queries are said to look like: `direction(keys)` of the winning keys `(m, rows, d)`,
    best first."""

    says: str
    winners: int
    direction: Callable[[Array], Array]


CLAIMS: Mapping[str, QueryClaim] = {
    "b.q": QueryClaim(
        "to average two values, ask with q = β (k_a + k_b)", 2, lambda k: k[0] + k[1]
    ),
}


@dataclass(frozen=True)
class HeadClaim:
    layer: int
    head: int
    stack: str
    within: float  # share of rows whose query is within the angle
    angle_median: float  # degrees
    mass: float  # weight on the winning keys, mean


@dataclass(frozen=True)
class ClaimReport:
    """How often the claim describes a trained head."""

    claim: str
    says: str
    angle: float
    within: float  # over all heads and rows
    angle_median: float
    heads: tuple[HeadClaim, ...]

    def __repr__(self) -> str:
        return f"<ClaimReport {self.sentence}>"

    @property
    def sentence(self) -> str:
        best = max(self.heads, key=lambda h: h.within)
        return (
            f"{self.claim}: {self.says}. "
            f"In {len(self.heads)} heads the query is within {self.angle:g} degrees of it "
            f"in {self.within:.1%} of the rows (median angle {self.angle_median:.0f} degrees); "
            f"most often in layer {best.layer}, head {best.head}: {best.within:.1%}."
        )


def find_claim(name: str) -> QueryClaim:
    if name not in CLAIMS:
        known = ", ".join(CLAIMS)
        raise InputError(
            wanted=f"a claim about queries: {known}", got=repr(name), attempt="--claim b.q"
        )
    return CLAIMS[name]


def angles(
    q: Float[np.ndarray, "t d"],
    K: Float[np.ndarray, "n d"],
    z: Float[np.ndarray, "t n"],
    claim: QueryClaim,
    sink: float = -np.inf,
) -> tuple[Float[np.ndarray, "t"], Float[np.ndarray, "t"]]:
    """Degrees between each query and the claim's direction for its own winners, and the weight
    these have beside the other keys and the sink."""
    order = np.argpartition(-z, range(claim.winners), axis=1)[:, : claim.winners]
    winners = np.stack([K[order[:, m]] for m in range(claim.winners)])
    direction = claim.direction(winners)
    lengths = np.linalg.norm(q, axis=1) * np.linalg.norm(direction, axis=1)
    # A query of zeros points nowhere; it counts as at a right angle
    cosine = np.sum(q * direction, axis=1) / np.where(lengths > 0.0, lengths, 1.0)

    best = np.maximum(z.max(axis=1, keepdims=True), sink)
    e = np.exp(z - best)
    total = e.sum(axis=1) + np.exp(sink - best[:, 0])
    mass = np.take_along_axis(e, order, axis=1).sum(axis=1) / total
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))), mass


# Degrees and weights of each text's rows, by stack, layer and head.
_Found = dict[tuple[str, int, int], list[tuple[np.ndarray, np.ndarray]]]


def check_claim(
    model: Any, texts: Any, claim: str, *, angle: float = 30.0, **words: Any
) -> ClaimReport:
    """Test a claim of the exercise on every head of a model. `angle` in degrees; `words`:
    tokenizer, tokens."""
    chosen = find_claim(claim)
    angle = inputs.number("angle", angle, low=0, high=180)
    given = prepared(model, texts, tokenizer=words.get("tokenizer"), limit=words.get("tokens"))
    model = given.model
    work = given.batches
    difference(model, work[0])  # refuses a model whose attention is not ours

    found: _Found = {}

    def visit(layer: Layer, batch: Batch) -> Any:
        for b in range(batch.size):
            per_head = _per_head(layer.text(b), batch.tokens_of(layer, b), chosen)
            for head, rows in enumerate(per_head):
                found.setdefault((layer.stack, layer.index, head), []).append(rows)
        return output_only(layer)

    for batch in work:
        capture.run(model, batch.arguments, partial(visit, batch=batch))
    return _report(claim, angle, found)


def _per_head(
    heads: Heads, tokens: Tokens, claim: QueryClaim
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Head by head, rows that see more keys than the claim speaks of."""
    sample = Sample.of_rows(heads, tokens, np.flatnonzero(tokens.real_queries))
    for head in range(heads.q.shape[0]):
        z = sample.logits(head)
        enough = np.isfinite(z).sum(axis=1) > claim.winners
        if not enough.any():
            yield np.zeros(0), np.zeros(0)
            continue
        q = to_numpy(heads.q[head].float()).astype(float)[sample.rows]
        sink = -np.inf if heads.sinks is None else float(heads.sinks[head])
        yield angles(q[enough], sample.K[heads.key_head(head)], z[enough], claim, sink)


def _report(claim: str, angle: float, found: _Found) -> ClaimReport:
    heads = []
    every = []
    for (stack, layer, head), texts in found.items():
        degrees = np.concatenate([degrees for degrees, _ in texts])
        mass = np.concatenate([mass for _, mass in texts])
        if degrees.size:
            every.append(degrees)
            heads.append(
                HeadClaim(
                    layer=layer,
                    head=head,
                    stack=stack,
                    within=float(np.mean(degrees <= angle)),
                    angle_median=float(np.median(degrees)),
                    mass=float(mass.mean()),
                )
            )
    if not heads:
        raise InputError(
            wanted="rows that see more keys than the claim names",
            got="none",
            attempt="a longer text",
        )

    pooled = np.concatenate(every)
    return ClaimReport(
        claim=claim,
        says=find_claim(claim).says,
        angle=angle,
        within=float(np.mean(pooled <= angle)),
        angle_median=float(np.median(pooled)),
        heads=tuple(heads),
    )
