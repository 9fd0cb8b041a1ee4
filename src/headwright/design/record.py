"""A design: the queries, what they do, how good they provably are, and how to check it all again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headwright import attention
from headwright.design.proofs.certificate import Certificate, examine, examine_proof, mixed_bounds
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Claim, Face
from headwright.design.target import Target, Wanted
from headwright.types import Array, Float, Heads, Mix


@dataclass(frozen=True)
class Robustness:
    """Squared error E ||c - target||^2 under the law of the keys, exact and sampled, beside the
    textbook heads."""

    error: float
    textbook: float
    accuracy: float  # absolute, of the two exact numbers
    gain: float  # textbook / error; if the error is below `accuracy`, at least this
    sampled: float
    sampled_error: float  # one standard error of `sampled`
    textbook_sampled: float
    textbook_sampled_error: float
    budget: float  # the length no query exceeds
    samples: int
    seed: int


@dataclass(frozen=True)
class Design:
    """What was asked and what came out.

    `status` is "reached" (the queries do it: `headwright.design.proofs.reached` says what that is),
    "impossible" (`proof` says why; the queries are the best there are), "nearest" (the
    Kullback-Leibler closest mixture; for random keys, the best heads found) or "undecided" (neither
    a query nor a proof was found). `leak` is the mass outside the target, known to +- `leak_error`;
    `leak_asked` what was allowed; `sharpness` the lead of the weakest key of the target over the
    strongest other, in query units; `norm` the length of the longest query and `lower_bound` what
    no query that reaches the target (for the same split) can be shorter than; `ceiling` the most
    mass that any query with weights in the ratio of the shares puts on the target. `fewest_heads`
    is a lower bound on the number of heads, proven under the condition `fewest_heads_when`.
    """

    status: str
    queries: Heads
    mix: Mix
    weights: Float[Array, "n"]
    leak: float
    leak_error: float
    sharpness: float
    norm: float
    lower_bound: float
    target: Target
    leak_asked: float
    scale: float = 1.0
    storage: str = "float64"
    faces: tuple[Face, ...] = ()
    heads_asked: int | str = 1
    fewest_heads: int = 1
    fewest_heads_when: str = "always"
    proof: Combination | Contradiction | None = None
    ceiling: float | None = None
    robust: Robustness | None = None
    message: str = ""
    _wanted: Wanted | None = field(default=None, repr=False)

    def certify(self, *, method: str = "float") -> Certificate:
        """Check the design again from keys and queries alone. `method`: "float" (error bounds) or
        "ball".

        An impossible design is certified by its proof.
        """
        assert self._wanted is not None
        if self.status == "impossible":
            return examine_proof(self.claim(), self._wanted.keys, self.proof)
        return examine(self.claim(), self._wanted.keys, method=method)

    def claim(self) -> Claim:
        return Claim(
            queries=self.queries,
            mix=self.mix,
            target=Face(self.target.support, self.target.shares),
            leak=self.leak_asked,
            scale=self.scale,
            bias=None if self._wanted is None else self._wanted.bias,
            faces=self.faces,
            storage=self.storage,
            one_head=self.heads_asked == 1,
        )

    def save(self, path: str | Path) -> Path:
        """Write the design as versioned JSON, with a digest of the keys it belongs to."""
        from headwright.design.saved import save

        return save(self, path)


def measured(want: Wanted, queries: Heads, mix: Any, faces: tuple[Face, ...]) -> dict[str, Any]:
    """What these heads do, as fields of a design; no `faces`: every head is measured on the whole
    target."""
    mix = np.asarray(mix, dtype=float)
    inside = list(want.target.support)
    z = attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)
    weights = mix @ attention.weights(z)
    leak = float(np.delete(weights, inside).sum())
    target = Face(want.target.support, want.target.shares)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(
            Claim(queries, mix, target, want.leak, want.scale, want.bias), want.keys
        )
    return {
        "queries": queries,
        "mix": mix,
        "weights": weights,
        "leak": leak,
        # Four times the bound: whoever finds a leak and a bound of their own, on another machine,
        # finds it covered.
        "leak_error": 4 * max(bounds.leak - leak, leak - bounds.least_leak),
        "sharpness": lead(z, faces or (target,) * len(queries)) / abs(want.scale),
        "norm": float(np.linalg.norm(queries, axis=1).max()),
    }


def lead(z: Float[Array, "h n"], faces: tuple[Face, ...]) -> float:
    """The weakest lead over all heads: smallest logit on the face minus the largest beside it; 0 if
    none is beside."""
    leads = []
    for row, face in zip(z, faces, strict=True):
        beside = np.delete(row, list(face.support))
        leads.append(row[list(face.support)].min() - beside.max() if beside.size else 0.0)
    return float(min(leads))


def shown(design: Design) -> dict[str, Any]:
    """The parts of a design that the command line and the file share."""
    return {
        "status": design.status,
        "target": {
            "word": design.target.word,
            "support": list(design.target.support),
            "shares": design.target.shares,
        },
        "leak_asked": design.leak_asked,
        "queries": design.queries,
        "mix": design.mix,
        "leak": design.leak,
        "leak_error": design.leak_error,
        "sharpness": design.sharpness,
        "norm": design.norm,
        "lower_bound": design.lower_bound,
        "ceiling": design.ceiling,
        "weights_on_target": design.weights[list(design.target.support)],
        "heads": [{"support": list(f.support), "shares": f.shares} for f in design.faces],
        "heads_asked": design.heads_asked,
        "fewest_heads": design.fewest_heads,
        "fewest_heads_when": design.fewest_heads_when,
        "scale": design.scale,
        "storage": design.storage,
        "proof": design.proof,
        "robust": design.robust,
        "message": design.message,
    }
