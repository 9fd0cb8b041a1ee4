"""The noise of the keys as one word on the command line: `isotropic=1e-4,radial@3=0.5`.

word = part ("," part)*
part = name ["@" key] "=" number       name is isotropic or radial; @key means that key alone,
                                       @1-3 keys 1, 2 and 3; counted from 0
     | "bits=" B ["/channel" | "/token"] ["/" group]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwright import inputs
from headwright.cli.arguments import key_numbers
from headwright.errors import InputError
from headwright.keys import GaussianKeys
from headwright.keys.quantised import quantisation_variance

_NAMES = ("isotropic", "radial", "bits")
_WANTED = "noise written as NAME=VARIANCE or NAME@KEY=VARIANCE, NAME one of " + ", ".join(_NAMES)
_EXAMPLE = "isotropic=1e-4,radial@3=0.5"


def law_from_text(text: str, means: Any) -> GaussianKeys:
    """The key law that `text` describes, around `means` (n, d). Parts of the same name add up."""
    n = inputs.shape("keys", np.asarray(means), "n", "d").shape[0]
    variances = {"isotropic": np.zeros(n), "radial": np.zeros(n)}
    diagonal = None

    for piece in text.split(","):
        part = piece.strip()
        name, key, value = _split(part)
        if name == "bits":
            rounded = quantisation_variance(means, **_bits(value, part))
            diagonal = rounded if diagonal is None else diagonal + rounded
        else:
            where = slice(None) if key is None else _keys(key, part, n)
            variance = inputs.number(f"the variance in {part!r}", _number(value), low=0.0)
            variances[name][where] += variance

    return GaussianKeys(means, diagonal=diagonal, **variances)


def _split(part: str) -> tuple[str, str | None, str]:
    left, equals, value = part.partition("=")
    name, at, key = left.strip().partition("@")
    if not equals or name not in _NAMES or (at and name == "bits"):
        raise InputError(wanted=_WANTED, got=repr(part), attempt=f"--noise {_EXAMPLE}")
    return name, key.strip() if at else None, value.strip()


def _keys(text: str, part: str, n: int) -> list[int]:
    """`3`, or `1-3`: a key, or all from the first to the last."""
    name = f"the key in {part!r}"
    is_range = "-" in text[1:]
    if is_range:
        return [inputs.index(name, key, n) for key in key_numbers(name, text)]
    return [inputs.index(name, int(text) if text.isdecimal() else text, n)]


def _bits(value: str, part: str) -> dict[str, Any]:
    """`4`, `4/token`, `4/channel/32`: the arguments of `quantisation_variance`."""
    bits, *rest = value.split("/")
    per = rest.pop(0) if rest and not rest[0].isdigit() else "channel"
    group = _whole(rest.pop(0)) if rest else None
    if rest:
        example = "--noise bits=4/channel/32"
        raise InputError(wanted="bits=B/channel/GROUP", got=repr(part), attempt=example)
    return {"bits": _whole(bits), "per": per, "group": group}


def _number(text: str) -> float:
    """A number, or NaN, which every check downstream refuses by name."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _whole(text: str) -> int:
    """A whole number, or -1, which every check downstream refuses by name."""
    return int(text) if text.isascii() and text.isdigit() else -1
