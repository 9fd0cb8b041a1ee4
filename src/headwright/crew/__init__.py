"""Many independent jobs, on this machine or on a cluster, with a store that survives anything.

The way of a point: `running` (points in, outcomes out) -> `values` (plain, and its key) ->
`function` (whose version) -> `store/` (there already?) -> `window` (points in hand) -> `pace` (how
many make a batch) -> `executor` (who is free), perhaps of a `cluster` -> `compute` (one batch, with
the `software` it wants) -> `processes` (taken and given back) -> `worker` (their other side).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwright.crew.running import Outcome, run

__all__ = ["Outcome", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwright.crew import running  # the driver's side, which no worker needs

    return getattr(running, name)
