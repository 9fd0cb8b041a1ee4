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
from headwright.design.proofs.reached import Claim, Face
from headwright.design.solve.one_head import Head, one_head
from headwright.design.storage import rounded
from headwright.design.target import Wanted
from headwright.types import Array, Float, Heads, Mix

_STEPS = 40
_TIGHTENINGS = 8
# A query is moved only for what mixing weights cannot do: it costs this much more.
_COST_OF_QUERIES = 10.0


@dataclass(frozen=True)
class Mixed:
    """The heads as stored; `heads` are the verdicts on each face alone, `certificate` that on the
    mix."""

    queries: Heads
    mix: Mix
    faces: tuple[Face, ...]
    heads: list[Head]
    certificate: Certificate

    @property
    def failure(self) -> str:
        """What stands in the way, if anything does."""
        if self.certificate.holds:
            return ""
        stuck = [head.message for head in self.heads if head.status != "reached"]
        return "; ".join(stuck or self.certificate.failures)

    def served(self, want: Wanted) -> tuple[Face, ...]:
        """The faces with the shares that the heads give them, spill and all."""
        alpha = _miss(want, self.queries, self.mix)[1]
        weights = [row[list(face.support)] for row, face in zip(alpha, self.faces, strict=True)]
        return tuple(
            Face(face.support, w / w.sum()) for face, w in zip(self.faces, weights, strict=True)
        )


def mixed_heads(
    want: Wanted, faces: tuple[Face, ...], mix: Mix, *, uniform: bool, storage: str
) -> Mixed:
    """The cheapest head for each face, in one ratio; fine if its certificate holds."""
    leak, found = want.leak, None
    mix = np.full(len(faces), 1 / len(faces)) if uniform else mix
    for _ in range(_TIGHTENINGS):
        heads = [one_head(replace(want, leak=leak), face) for face in faces]
        queries = np.stack([head.query for head in heads])
        if any(head.status != "reached" for head in heads):
            claim = _claim(want, faces, queries, mix, storage)
            return found or Mixed(queries, mix, faces, heads, examine(claim, want.keys))
        queries, weighed = in_ratio(want, queries, mix, free_mix=not uniform)
        if storage != "float64":
            queries = np.stack(
                [_stored(want, face, q, storage) for face, q in zip(faces, queries, strict=True)]
            )
            if not uniform:
                weighed = in_ratio(want, queries, weighed, free_mix=True, free_queries=False)[1]
        claim = _claim(want, faces, queries, weighed, storage)
        found = Mixed(queries, weighed, faces, heads, examine(claim, want.keys))
        worst = max(
            face_leak(claim, want.keys, q, face) for q, face in zip(queries, faces, strict=True)
        )
        if found.certificate.holds or worst <= want.leak:
            break
        leak *= 0.999 * want.leak / worst
    assert found is not None
    return found


def _claim(want: Wanted, faces: tuple[Face, ...], queries: Heads, mix: Mix, storage: str) -> Claim:
    target = Face(want.target.support, want.target.shares)
    return Claim(
        queries, mix, target, want.leak, want.scale, want.bias, faces, storage, one_head=False
    )


def _stored(want: Wanted, face: Face, query: Float[Array, "d"], storage: str) -> Float[Array, "d"]:
    rows = want.keys[list(face.support)]
    return rounded(query, rows[1:] - rows[0], storage)


def in_ratio(
    want: Wanted, queries: Heads, mix: Mix, *, free_mix: bool, free_queries: bool = True
) -> tuple[Heads, Mix]:
    """Queries and mixing weights near the given ones whose mix has the ratio of the shares, as
    nearly as it can."""
    miss = _miss(want, queries, mix)[0]
    for _ in range(_STEPS):
        spread = float(np.ptp(miss))
        step = _step(want, queries, mix, free_mix=free_mix, free_queries=free_queries)
        for shorter in (1.0, 0.5, 0.25, 0.125, 0.02):
            moved = queries + shorter * step[0]
            weighed = mix * np.exp(shorter * step[1])
            weighed = weighed / weighed.sum() if free_mix else mix
            after = _miss(want, moved, weighed)[0]
            if np.ptp(after) < spread:
                break
        else:
            break
        queries, mix, miss = moved, weighed, after
    return queries, mix


def _miss(want: Wanted, queries: Heads, mix: Mix) -> tuple[Float[Array, "m"], Float[Array, "h n"]]:
    """F on S, and the weights of every head."""
    z = attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)
    alpha = np.asarray(attention.weights(z))
    inside = mix @ alpha[:, list(want.target.support)]
    with np.errstate(divide="ignore"):
        return np.log(inside) - np.log(want.target.shares), alpha


def _step(
    want: Wanted, queries: Heads, mix: Mix, *, free_mix: bool, free_queries: bool
) -> tuple[Heads, Float[Array, "h"]]:
    """The least Newton step; unknowns are relative changes: ln mix_h, and q_h in units of its
    length."""
    inside = list(want.target.support)
    miss, alpha = _miss(want, queries, mix)
    if not np.all(np.isfinite(miss)):
        return np.zeros_like(queries), np.zeros_like(mix)
    part = mix[:, None] * alpha[:, inside] / (mix @ alpha[:, inside])
    size = np.maximum(np.linalg.norm(queries, axis=1), 1e-300) / _COST_OF_QUERIES
    columns = []
    for h in range(len(mix)):
        away = want.keys[inside] - alpha[h] @ want.keys
        by_query = part[h][:, None] * want.scale * away * size[h]
        columns.append(np.column_stack([part[h] * free_mix, by_query * free_queries]))
    jacobian = np.hstack(columns)
    jacobian = jacobian - jacobian.mean(axis=0)
    change = np.linalg.lstsq(jacobian, miss.mean() - miss, rcond=None)[0].reshape(len(mix), -1)
    return change[:, 1:] * size[:, None], change[:, 0]
