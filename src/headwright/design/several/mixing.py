"""Several heads whose mix reaches the target: each head's cheapest query, then all of them brought
into one ratio.

Every head spills a little onto the keys of the others, so heads that are each exact on their own
face do not mix to exact shares. Newton's method on

    F_a = ln w_a - ln p_a = const on S,    w = sum_h mix_h alpha_h,
    d w_a = sum_h mix_h alpha_h(a) (d ln mix_h + scale (k_a - mean_h).dq_h)

moves mixing weights and queries by as little as possible. What the certificate then finds too leaky
is solved again for less leak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from headwright import attention
from headwright.design.proofs.certificate import Certificate, examine, face_leak
from headwright.design.proofs.reached import Promise
from headwright.design.solve.one_head import one_head
from headwright.design.solve.stored import Head
from headwright.design.storage import rounded
from headwright.design.target import Shares, Target, Wanted
from headwright.types import Array, Float, Heads, Mix, Query

_STEPS = 40
_TIGHTENINGS = 8
# Parts of a Newton step that are tried in turn.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.02)
# A query is moved only for what mixing weights cannot do: it costs this much more.
_COST_OF_QUERIES = 10.0


@dataclass(frozen=True)
class Mixed:
    """The heads as stored; `heads` are the verdicts on each face alone, `certificate` that on the
    mix."""

    queries: Heads
    mix: Mix
    faces: tuple[Target, ...]
    heads: list[Head]
    certificate: Certificate

    @property
    def failure(self) -> str:
        """What stands in the way, if anything does."""
        if self.certificate.holds:
            return ""
        stuck = [head.message for head in self.heads if head.status != "reached"]
        return "; ".join(stuck or self.certificate.failures)

    def served(self, want: Wanted) -> tuple[Target, ...]:
        """The faces with the shares that the heads give them, spill and all."""
        _, alpha = _miss(want, self.queries, self.mix)
        faces = []
        for row, face in zip(alpha, self.faces, strict=True):
            weights = row[list(face.support)]
            faces.append(Target(face.support, weights / weights.sum()))
        return tuple(faces)


def mixed_heads(
    want: Wanted, faces: tuple[Target, ...], mix: Mix, *, uniform: bool, storage: str
) -> Mixed:
    """The cheapest head for each face, in one ratio; fine if its certificate holds."""
    if uniform:
        mix = np.full(len(faces), 1 / len(faces))
    leak = want.leak
    found = None
    for _ in range(_TIGHTENINGS):
        heads = [one_head(replace(want, leak=leak), face) for face in faces]
        queries = np.stack([head.query for head in heads])
        if any(head.status != "reached" for head in heads):
            promise = _promise(want, faces, queries, mix, storage)
            return found or Mixed(queries, mix, faces, heads, examine(promise, want.keys))

        queries, weighed = _stored_in_ratio(want, faces, queries, mix, uniform, storage)
        promise = _promise(want, faces, queries, weighed, storage)
        found = Mixed(queries, weighed, faces, heads, examine(promise, want.keys))
        leaks = [face_leak(promise, want.keys, q, f) for q, f in zip(queries, faces, strict=True)]
        worst = max(leaks)
        if found.certificate.holds or worst <= want.leak:
            break
        leak *= 0.999 * want.leak / worst
    assert found is not None
    return found


def _promise(
    want: Wanted, faces: tuple[Target, ...], queries: Heads, mix: Mix, storage: str
) -> Promise:
    return Promise(
        queries=queries,
        mix=mix,
        target=want.target,
        leak=want.leak,
        scale=want.scale,
        bias=want.bias,
        faces=faces,
        storage=storage,
        one_head=False,
    )


def _stored_in_ratio(
    want: Wanted, faces: tuple[Target, ...], queries: Heads, mix: Mix, uniform: bool, storage: str
) -> tuple[Heads, Mix]:
    """Brought into one ratio, then stored; the mixing weights make up for the rounding."""
    queries, mix = in_ratio(want, queries, mix, free_mix=not uniform)
    if storage == "float64":
        return queries, mix
    heads = zip(faces, queries, strict=True)
    queries = np.stack([_stored(want, face, q, storage) for face, q in heads])
    if not uniform:
        _, mix = in_ratio(want, queries, mix, free_mix=True, free_queries=False)
    return queries, mix


def _stored(want: Wanted, face: Target, query: Query, storage: str) -> Query:
    rows = want.keys[list(face.support)]
    return rounded(query, rows[1:] - rows[0], storage)


def in_ratio(
    want: Wanted, queries: Heads, mix: Mix, *, free_mix: bool, free_queries: bool = True
) -> tuple[Heads, Mix]:
    """Queries and mixing weights near the given ones whose mix has the ratio of the shares, as
    nearly as it can."""
    miss, _ = _miss(want, queries, mix)
    for _ in range(_STEPS):
        spread = float(np.ptp(miss))
        by_query, by_log_mix = _step(
            want, queries, mix, free_mix=free_mix, free_queries=free_queries
        )
        for part in _PARTS:
            moved = queries + part * by_query
            weighed = mix * np.exp(part * by_log_mix)
            weighed = weighed / weighed.sum() if free_mix else mix
            after, _ = _miss(want, moved, weighed)
            if np.ptp(after) < spread:
                break
        else:
            break
        queries = moved
        mix = weighed
        miss = after
    return queries, mix


def _miss(want: Wanted, queries: Heads, mix: Mix) -> tuple[Shares, Float[Array, "h n"]]:
    """F on S, and the weights of every head."""
    z = attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)
    alpha = np.asarray(attention.weights(z))
    inside = mix @ alpha[:, list(want.target.support)]
    with np.errstate(divide="ignore"):
        return np.log(inside) - np.log(want.target.shares), alpha


def _step(
    want: Wanted, queries: Heads, mix: Mix, *, free_mix: bool, free_queries: bool
) -> tuple[Heads, Mix]:
    """The least Newton step; unknowns are relative changes: ln mix_h, and q_h in units of its
    length."""
    miss, alpha = _miss(want, queries, mix)
    if not np.all(np.isfinite(miss)):
        return np.zeros_like(queries), np.zeros_like(mix)
    inside = list(want.target.support)
    alpha_inside = alpha[:, inside]
    part = mix[:, None] * alpha_inside / (mix @ alpha_inside)
    length = np.linalg.norm(queries, axis=1)
    size = np.maximum(length, 1e-300) / _COST_OF_QUERIES

    columns = []
    for h in range(len(mix)):
        away = want.keys[inside] - alpha[h] @ want.keys
        by_query = part[h][:, None] * want.scale * away * size[h]
        columns.append(np.column_stack([part[h] * free_mix, by_query * free_queries]))
    jacobian = np.hstack(columns)
    jacobian = jacobian - jacobian.mean(axis=0)
    change = np.linalg.lstsq(jacobian, miss.mean() - miss, rcond=None)[0]
    change = change.reshape(len(mix), -1)
    return change[:, 1:] * size[:, None], change[:, 0]
