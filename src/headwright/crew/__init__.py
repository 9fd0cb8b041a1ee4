"""Many independent jobs, on this machine or on a cluster, with a store that survives anything."""

from __future__ import annotations

from headwright.crew.running import Outcome, run

__all__ = ["Outcome", "run"]
