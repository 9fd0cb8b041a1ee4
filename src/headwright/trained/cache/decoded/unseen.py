"""What a plan will do on text that it has not seen, from the calibration texts alone.

On the texts that chose it a plan does less than anywhere else: it was made to do little there, and
a channel whose signal came out too small by chance is one that got too few bits. So every text of
the calibration is left out once. A plan of the same request is made from the others, ranges, signal
and bits, and decodes the text that was left out. The mean is the prediction. It is measured at the
bits of the plan and owes nothing to the second order, by which the bits are chosen.

Halves of one text stand in for two where there is only one. They share their words, so another text
suffers more than they predict, and a note says so. Another note comes where the divergence found
spreads too widely for its mean to say much. The last is about the second order, which says that
damage and divergence keep their ratio when all errors shrink: the same plans with two bits more in
every channel decode the same texts, which shows whether they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.trained.cache.budget.plan import WIDTHS, LayerPlan, Plan
from headwright.trained.cache.calibration.texts import Progress
from headwright.trained.cache.coding.channels import Bits
from headwright.trained.cache.decoded.decoding import BLOCK, Decoded, decode
from headwright.trained.cache.decoded.planned_cache import PlannedCache
from headwright.types import Array

# Plans that are made without some of the texts: without one each where there are so few.
_PARTS = 4
# What a prediction may be off by, as a share of what is measured, before a note says so.
_TRUSTED = 0.3


@dataclass(frozen=True)
class Unseen:
    """Texts decoded through plans that were made without them: what was found, and the divergence
    by second order, from plans with finer steps. `whole`: they are texts, not halves of one."""

    plan: Decoded
    second_order: float
    whole: bool

    @property
    def kl(self) -> float:
        """Nats per token."""
        return float(np.mean(self.plan.divergence))

    @property
    def warning(self) -> str:
        """Why the divergence is not to be believed, or the choice of the bits; empty: no reason."""
        unreliable = f"the predicted KL {self.kl:.3g} is not reliable: "
        if _blocks(self.plan) < 2 or not self.plan.text.any():
            return f"{unreliable}{len(self.plan.divergence)} tokens of calibration are too few"
        reasons = []
        if not self.whole:
            reasons.append(
                f"{unreliable}from one calibration text alone; its halves are more alike than "
                f"another text is, which may suffer more"
            )
        low, high = self.plan.kl.interval
        if high - self.kl > _TRUSTED * self.kl:
            reasons.append(
                f"{unreliable}the calibration puts it between {max(low, 0):.2g} and {high:.2g}; "
                f"more text says more"
            )
        if abs(self.second_order - self.kl) > _TRUSTED * self.kl:
            reasons.append(
                f"the bits were chosen by a second order that is not reliable here: it says "
                f"{self.second_order:.3g} where {self.kl:.3g} is measured"
            )
        return "; ".join(reasons)


def unseen(
    model: Any,
    texts: Sequence[Array],
    planned: Callable[[Sequence[int]], Plan],
    *,
    whole: bool,
    progress: Progress | None = None,
) -> Unseen:
    """`planned` makes the plan from the texts of these numbers."""
    numbers = range(len(texts))
    parts = [numbers[i::_PARTS] for i in range(min(_PARTS, len(texts)))]
    found = []
    for part in progress(parts, "prediction", len(parts)) if progress else parts:
        # A single text that is too short for halves has only itself, and gets a warning.
        others = [i for i in numbers if i not in part] or list(part)
        found.append(_left_out(model, [texts[i] for i in part], planned(others)))
    plans = _joined([plan for plan, _ in found])
    tokens = [len(plan.divergence) for plan, _ in found]
    second_order = np.average([by_order for _, by_order in found], weights=tokens)
    return Unseen(plans, float(second_order), whole)


def _left_out(model: Any, texts: Sequence[Array], plan: Plan) -> tuple[Decoded, float]:
    """What the plan does on these texts, and what second order makes of the finer one."""
    finer = _finer(plan)
    caches = {"plan": lambda: PlannedCache(plan), "finer": lambda: PlannedCache(finer)}
    found = decode(model, texts, caches)
    by_order = float(np.mean(found["finer"].divergence))
    if finer.predicted_kl > 0:
        by_order *= plan.predicted_kl / finer.predicted_kl
    return found["plan"], by_order


def _finer(plan: Plan) -> Plan:
    """With two bits more in every channel, as far as errors were measured."""
    layers = []
    for channels, layer in zip(plan.known.per(plan.request.per), plan.layers, strict=True):
        pairs = zip(channels, layer.grids, strict=True)
        layers.append(LayerPlan(*[one.grid(_two_more(grid.bits)) for one, grid in pairs]))
    return replace(plan, layers=tuple(layers))


def _two_more(bits: Bits) -> Bits:
    return np.maximum(bits, np.minimum(bits + 2, WIDTHS[-1]))


def _joined(parts: Sequence[Decoded]) -> Decoded:
    """One after the other, texts numbered on."""
    columns: list[tuple[np.ndarray, ...]] = []
    before = 0
    for part in parts:
        columns.append((part.divergence, part.surprise, part.agrees, part.text + before))
        before += len(np.unique(part.text))
    return Decoded(*[np.concatenate(column) for column in zip(*columns, strict=True)])


def _blocks(found: Decoded) -> int:
    _, lengths = np.unique(found.text, return_counts=True)
    return int(np.sum(lengths // BLOCK))
