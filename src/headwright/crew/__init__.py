"""Many independent jobs, on this machine or on a cluster, with a store that survives anything.

The way of a point: `running` (points in, outcomes out) -> `values` (plain, and its key) ->
`function` (whose version) -> `store/` (there already?) -> `window` (points in hand) -> `pace` (how
many make a batch) -> `executor` (who is free), perhaps of a `cluster` -> `compute` (one batch, with
the `software` it wants) -> `processes` (taken and given back) -> `worker` (their other side).
"""

from __future__ import annotations

from headwright.crew.running import Outcome, run

__all__ = ["Outcome", "run"]
