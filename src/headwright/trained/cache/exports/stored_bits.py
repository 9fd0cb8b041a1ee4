"""The bits of a plan by layer and key head, for formats that know no channels; and the answer to a
plan that a format cannot say."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.errors import InputError
from headwright.trained.cache.budget.plan import Plan
from headwright.trained.cache.coding.channels import Bits


@dataclass(frozen=True)
class LayerBits:
    """Bits of the keys and of the values of every key head of a layer; values None: not stored in
    fewer bits."""

    keys: tuple[int, ...]
    values: tuple[int, ...] | None

    def __repr__(self) -> str:
        return f"<LayerBits: keys {self.keys}, values {self.values}>"

    @property
    def even(self) -> bool:
        """Do all heads have the same?"""
        return len(set(self.keys)) == 1 and len(set(self.values or (0,))) == 1


def by_head(plan: Plan) -> list[LayerBits] | None:
    """None where the channels of some head differ, or where first tokens stay exact, which no other
    format can say."""
    if plan.request.keep_first:
        return None
    layers = []
    for layer in plan.layers:
        found = [_heads(grid.bits) for grid in layer.grids]
        if None in found:
            return None
        layers.append(LayerBits(*found, *[None] * (2 - len(found))))  # type: ignore[arg-type]
    return layers


def _heads(bits: Bits) -> tuple[int, ...] | None:
    if (bits != bits[:, :1]).any():
        return None
    return tuple(bits[:, 0].tolist())


def unsayable(program: str, says: str, plan: Plan, nearest: str) -> InputError:
    exact = ", first tokens exact" if plan.request.keep_first else ""
    return InputError(
        wanted=f"a plan that {program} can say: {says}",
        got=f"{plan.mean_bits:.2f} bits per {plan.request.per}{exact}",
        attempt=f"the nearest it can: {nearest}",
    )


def in_numbers(plan: Plan) -> str:
    return f"{plan.mean_bits:.2f} bits, predicted KL {plan.predicted_kl:.3g}"
