"""What a model can be given to read, and what it says it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headwright.errors import InputError
from headwright.types import Float


@dataclass(frozen=True)
class Sound:
    """Samples between -1 and 1, so many a second."""

    samples: Float[np.ndarray, "n"]
    rate: int

    @property
    def seconds(self) -> float:
        return self.samples.size / self.rate


@dataclass(frozen=True)
class Given:
    """Texts, images (rows x columns x red, green, blue) and sounds, and for each a target: the text
    that a decoder reads. Of each kind none, or as many as there are examples."""

    texts: tuple[str, ...] = ()
    images: tuple[np.ndarray, ...] = ()
    sounds: tuple[Sound, ...] = ()
    targets: tuple[str, ...] = ()

    def examples(self) -> list[dict[str, Any]]:
        """What belongs together, by kind."""
        kinds = {kind: getattr(self, kind) for kind in KINDS}
        there = {kind: items for kind, items in kinds.items() if items}
        counts = {kind: len(items) for kind, items in there.items()}
        if len(set(counts.values())) != 1:
            found = ", ".join(f"{count} {kind}" for kind, count in counts.items())
            raise InputError(
                wanted="as many of each kind, since one of each makes an example",
                got=found or "nothing to read",
                attempt="the options once for every example: --text A --target B",
            )
        lines = zip(*there.values(), strict=True)
        return [dict(zip(there, line, strict=True)) for line in lines]


@dataclass(frozen=True)
class Kind:
    """What one of it is called, and how it is given on the command line."""

    noun: str
    option: str


KINDS = {
    "texts": Kind("a text", "--text FILE.txt"),
    "images": Kind("an image", "--image FILE.png"),
    "sounds": Kind("a sound", "--audio FILE.wav"),
    "targets": Kind("a target", "--target FILE.txt"),
}
# What models call the argument that they read first, and the kind it is made of.
READS = {
    "input_ids": "texts",
    "pixel_values": "images",
    "input_features": "sounds",
    "input_values": "sounds",
}


def reads_other(model: Any, got: str) -> InputError:
    """The answer to what this model does not read."""
    name = type(model).__name__
    main = model.main_input_name
    in_python = f"in Python: hw.audit(model, processor(...)), a mapping with {main}"
    if main not in READS:
        return InputError(wanted=f"{main}, which {name} reads", got=got, attempt=in_python)
    kind = KINDS[READS[main]]
    return InputError(
        wanted=f"{kind.noun} for {name}, which reads {main}",
        got=got,
        attempt=f"{kind.option}, or {in_python}",
    )
