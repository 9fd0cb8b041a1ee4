"""NaN and infinity in what a model computes, found without waiting for a GPU in every layer."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwright.errors import InputError
from headwright.trained.device.beside import beside, join, keep
from headwright.trained.library import torch
from headwright.types import Array


@dataclass
class Finite:
    """Sums that must turn out to be finite, with what they are sums of: one NaN or infinity is
    enough to spoil a sum."""

    sums: list[tuple[str, Array]] = field(default_factory=list)

    def expect(self, where: str, *arrays: Array) -> Finite:
        """Looked at once on the host; elsewhere when `refuse` is called, since asking a GPU for a
        number waits for all its work."""
        with beside(arrays[0].device):
            self.sums += [(where, x.sum(dtype=torch.float32)) for x in arrays]
        keep(*arrays)
        if arrays[0].device.type == "cpu":
            self.refuse()
        return self

    def refuse(self) -> None:
        """Name the first that is not finite; all are read in one copy per device."""
        devices = {total.device for _, total in self.sums}
        for device in devices:
            join(device)
            own = [(where, total) for where, total in self.sums if total.device == device]
            finite = torch.stack([total for _, total in own]).isfinite().tolist()
            if not all(finite):
                raise InputError(
                    wanted="finite activations",
                    got=f"NaN or infinity in {own[finite.index(False)][0]}",
                    attempt="load the weights again, or in float32: "
                    "half precision overflows in some models",
                )
        self.sums.clear()
