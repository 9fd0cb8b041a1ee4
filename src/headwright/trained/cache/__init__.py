"""The cache in fewer bits: how far each head's output moves, and where the bits of a whole model
should go.

Reading order: `prediction` (the expected error of one row), `quantise` (predicted and measured, on
the sampled rows of a layer), `key_noise` (the table of all heads); then `budgeting`, which wires
`coding/` (numbers as codes of few bits), `calibration/` (what texts say of every channel),
`budget/` (a plan for a stated mean), `decoded/` (what the model says through it) and `exports/`
(the plan in other programs' words).
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`PlannedCache` on demand: it needs the extra `models`, importing this does not."""
    if name == "PlannedCache":
        from headwright.trained.cache.decoded.planned_cache import PlannedCache

        return PlannedCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
