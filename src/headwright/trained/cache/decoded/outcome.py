"""What a plan does on texts it has not seen, and the plan together with that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwright.trained.cache.budget.plan import Plan
from headwright.trained.cache.decoded.decoding import Decoded


@dataclass(frozen=True)
class Verified:
    """The texts decoded through the planned cache, through one with the same bits spread evenly,
    and by the model as it is."""

    plan: Decoded
    uniform: Decoded
    untouched: Decoded

    def __repr__(self) -> str:
        kl = f"KL {self.plan.kl.value:.3g} against {self.uniform.kl.value:.3g} of uniform bits"
        return f"<Verified on {len(self.plan.divergence)} tokens: {kl}>"

    def plain(self) -> dict[str, Any]:
        found: dict[str, Any] = {"tokens": len(self.plan.divergence)}
        for prefix, decoded in (("", self.plan), ("uniform_", self.uniform)):
            for name in ("kl", "perplexity", "top1"):
                mean = getattr(decoded, name)
                found[f"{prefix}{name}"] = mean.value
                found[f"{prefix}{name}_interval"] = mean.interval
        return found | {"untouched_perplexity": self.untouched.perplexity.value}


@dataclass(frozen=True)
class Budgeted:
    """The answer to a cache budget. `verified` is None unless texts were given for that."""

    plan: Plan
    verified: Verified | None = None

    def __repr__(self) -> str:
        return f"<Budgeted: {self.plan!r}, {self.verified!r}>"

    def plain(self) -> dict[str, Any]:
        verified = None if self.verified is None else self.verified.plain()
        return self.plan.plain() | {"verified": verified}
