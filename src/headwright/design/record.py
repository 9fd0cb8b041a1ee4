"""A design: the queries, what they do, how good they provably are, and how to check it all again.

The record knows its own document, and the saved document knows no record: a file is read and
re-checked (`saved`) without the code that made it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwright.design.proofs.certificate import Certificate, examine, examine_proof
from headwright.design.proofs.proof import Combination, Contradiction
from headwright.design.proofs.reached import Promise
from headwright.design.saved.document import FORMAT, VERSION, keys_digest, sealed
from headwright.design.target import Target, Wanted
from headwright.design.weights_figure import weights_figure
from headwright.files import write_json
from headwright.report import notebook
from headwright.result import plain
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


@dataclass(frozen=True, repr=False)
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
    `exact_length`, where float64 could not tell, encloses the length of the shortest query in exact
    arithmetic on the keys as stored; `shortest` and `gap` are the best that is proven either way.
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
    faces: tuple[Target, ...] = ()
    heads_asked: int | str = 1
    fewest_heads: int = 1
    fewest_heads_when: str = "always"
    proof: Combination | Contradiction | None = None
    ceiling: float | None = None
    robust: Robustness | None = None
    exact_length: tuple[float, float] | None = None
    message: str = ""
    _wanted: Wanted | None = field(default=None)

    def __repr__(self) -> str:
        heads = f"{len(self.mix)} head{'s' * (len(self.mix) != 1)}"
        leak = f"leak {self.leak:.4g} (asked {self.leak_asked:g})"
        return f"<Design: {self.target}: {self.status}; {leak}, length {self.norm:.5g}, {heads}>"

    def _repr_html_(self) -> str:
        """For a notebook: what was asked beside what came out."""
        rows = [
            ("status", self.status),
            ("leak", f"{self.leak:.6g} ± {self.leak_error:.1g}, asked {self.leak_asked:g}"),
            ("sharpness", f"{self.sharpness:.6g}"),
            ("query length", f"{self.norm:.6g}"),
            ("shortest possible", self._shortest_in_words()),
            ("heads", f"{len(self.mix)}, at least {self.fewest_heads} needed"),
        ]
        if self.ceiling is not None:
            rows.append(("most weight on the target", f"{self.ceiling:.6g}"))
        if self.robust is not None:
            rows.append(("squared error", f"{self.robust.error:.6g}"))
            rows.append(("squared error of the textbook heads", f"{self.robust.textbook:.6g}"))
        if self.message:
            rows.append(("message", self.message))
        return notebook.cell(f"Design: {self.target}", rows)

    def _shortest_in_words(self) -> str:
        low, high = self.shortest
        if math.isinf(low):
            return "no query does it"
        if math.isinf(high):
            return f"at least {low:.6g}"
        bounds = [f"{low:.6g}", f"{high:.6g}"]
        return bounds[0] if bounds[0] == bounds[1] else " to ".join(bounds)

    def plot(self) -> Any:
        """The weights beside those of q = 0 and those wanted, as a figure of matplotlib."""
        return weights_figure(self)

    @property
    def shortest(self) -> tuple[float, float]:
        """Proven bounds on the length of the shortest query that reaches the target; for several
        heads, on the longest of them in this split. Infinite where no query is proven to."""
        if self.exact_length is not None:
            return self.exact_length
        if self.status == "impossible":
            return math.inf, math.inf
        return self.lower_bound, self.norm if self.status == "reached" else math.inf

    @property
    def gap(self) -> float:
        """1 - lower / upper of `shortest`; 0 where no query is needed or none exists."""
        low, high = self.shortest
        return 0.0 if low >= high else 1.0 - low / high

    def certify(self, *, method: str = "float") -> Certificate:
        """Check the design again from keys and queries alone. `method`: "float" (error bounds) or
        "ball".

        An impossible design is certified by its proof.
        """
        assert self._wanted is not None
        if self.status == "impossible":
            return examine_proof(self.promise(), self._wanted.keys, self.proof)
        return examine(self.promise(), self._wanted.keys, method=method)

    def promise(self) -> Promise:
        """What the certificate is to examine."""
        return Promise(
            queries=self.queries,
            mix=self.mix,
            target=self.target,
            leak=self.leak_asked,
            scale=self.scale,
            bias=None if self._wanted is None else self._wanted.bias,
            faces=self.faces,
            storage=self.storage,
            one_head=self.heads_asked == 1,
        )

    def save(self, path: str | Path) -> Path:
        """Write the design as versioned JSON, with a digest of the keys it belongs to."""
        return write_json(path, document(self))


def document(design: Design) -> dict[str, Any]:
    """The JSON document of a design, as it is printed and saved."""
    assert design._wanted is not None
    keys = design._wanted.keys
    heading = {"format": FORMAT, "version": VERSION}
    context = {
        "bias": design._wanted.bias,
        "keys": {"shape": list(keys.shape), "sha256": keys_digest(keys)},
        "certificate": design.certify(),
    }
    return sealed(plain({**heading, **_answer(design), **context}))


def _answer(design: Design) -> dict[str, Any]:
    """What was asked and what came out, by the names that the file has for them."""
    support = list(design.target.support)
    return {
        "status": design.status,
        "target": {
            "word": design.target.word,
            "support": support,
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
        "weights_on_target": design.weights[support],
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
