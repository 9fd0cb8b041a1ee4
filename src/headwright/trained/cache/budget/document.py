"""A plan as a JSON file, and back: the same bits and the same ranges, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from headwright import files, inputs
from headwright.errors import InputError
from headwright.trained.cache.budget.plan import PER, LayerPlan, Plan, Request
from headwright.trained.cache.coding.basis import ONE, Basis
from headwright.trained.cache.coding.channels import EXACT, Grid
from headwright.trained.cache.coding.turning import Turning
from headwright.trained.measures.rotary import Rotation

_KIND = "headwright cache plan"
_NUMBERS = ("low", "high", "base", "damage")
_KINDS = ("keys", "values")
# Condition of a basis: at most sqrt(d) (d + 1) where half of the cost is a multiple of the
# identity. Beyond this, single precision would leave a number one digit.
_STEEPEST = 1e6


def write_plan(path: str | Path, plan: Plan) -> Path:
    return files.write_json(path, _document(plan))


def _document(plan: Plan) -> dict[str, Any]:
    layers = []
    for layer in plan.layers:
        written = zip(_KINDS, layer.grids, strict=False)
        layers.append({kind: _written(grid) for kind, grid in written})
    return {
        "kind": _KIND,
        "version": 3,
        "request": plan.request,
        "signal": plan.signal,
        "warning": plan.warning,
        "rotation": plan.turning.rotation,
        "layers": layers,
    }


def _written(grid: Grid) -> dict[str, Any]:
    numbers = {name: getattr(grid, name) for name in _NUMBERS}
    basis = None if grid.basis is None else grid.basis.codes
    return {"bits": grid.bits, **numbers, "basis": basis}


def read_plan(path: str | Path) -> Plan:
    """What `write_plan` wrote; anything else is refused with what is wrong with it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as reason:
        raise _not_a_plan(path, str(reason)[:120]) from None
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise _not_a_plan(path, "another document")
    try:
        layers = tuple(_layer(layer) for layer in document["layers"])
        plan = Plan(
            layers,
            _request(document["request"]),
            str(document["signal"]),
            turning=_turning(document["rotation"], layers),
            warning=str(document["warning"]),
        )
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        raise _not_a_plan(path, f"{type(reason).__name__} at {str(reason)[:80]}") from None
    if not layers:
        raise _not_a_plan(path, "no layers")
    return plan


def _request(found: dict[str, Any]) -> Request:
    if found["per"] not in PER:
        raise ValueError(f"per {found['per']!r}")
    return Request(
        bits=inputs.number("bits", found["bits"], low=0, high=EXACT),
        per=found["per"],
        keep_first=inputs.whole("keep_first", found["keep_first"], low=0),
        context=inputs.whole("context", found["context"], low=1),
        widths=tuple(inputs.whole("widths", w, low=0, high=EXACT) for w in found["widths"]),
    )


def _turning(found: dict[str, Any] | None, layers: tuple[LayerPlan, ...]) -> Turning:
    if found is None:
        return Turning()
    pairs = np.asarray(found["pairs"])
    speeds = np.asarray(found["speeds"], dtype=float)
    narrowest = min(layer.keys.bits.shape[1] for layer in layers)
    if pairs.dtype.kind != "i" or pairs.shape != (speeds.size, 2) or not np.isfinite(speeds).all():
        raise ValueError("rotation")
    if np.unique(pairs).size != pairs.size or pairs.min() < 0 or pairs.max() >= narrowest:
        raise ValueError("channels of the rotation")
    if np.diff(pairs, n=2, axis=0).any() or (np.diff(pairs, axis=0) < 1).any():
        raise ValueError("channels of the rotation that are not evenly spaced")
    return Turning(Rotation(pairs, speeds))


def _layer(found: dict[str, Any]) -> LayerPlan:
    values = found.get("values")
    return LayerPlan(_grid(found["keys"]), None if values is None else _grid(values))


def _grid(found: dict[str, Any]) -> Grid:
    bits = np.asarray(found["bits"])
    numbers = [np.asarray(found[name], dtype=float) for name in _NUMBERS]
    if bits.ndim != 2 or bits.dtype.kind != "i" or not bits.size:
        raise ValueError("bits")
    if bits.min() < 0 or bits.max() > EXACT:
        raise ValueError(f"bits outside 0..{EXACT}")
    if any(x.shape != bits.shape or not np.isfinite(x).all() for x in numbers):
        raise ValueError("ranges")
    grid = Grid(bits, *numbers, basis=_basis(found["basis"], bits.shape))
    if (grid.low > grid.high).any():
        raise ValueError("a range that ends before it begins")
    return grid


def _basis(found: Any, shape: tuple[int, ...]) -> Basis | None:
    if found is None:
        return None
    codes = np.asarray(found)
    if codes.dtype.kind != "i" or codes.shape != (*shape, shape[1]) or np.abs(codes).max() > ONE:
        raise ValueError("directions")
    basis = Basis(codes)
    if np.linalg.cond(basis.columns).max() > _STEEPEST:
        raise ValueError("directions that are nearly the same")
    return basis


def _not_a_plan(path: str | Path, got: str) -> InputError:
    return InputError(
        wanted=f"a cache plan in {path}",
        got=got,
        attempt="headwright audit MODEL --text T --cache-budget 3 --export transformers=FILE",
    )
