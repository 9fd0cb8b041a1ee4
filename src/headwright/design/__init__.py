"""From a target to a query: the cheapest one with a certificate, a proof that none exists, or the fewest heads."""

from __future__ import annotations

from headwright.design.ask import Options, average, copy, mixture
from headwright.design.record import Design
from headwright.design.saved import certify

__all__ = ["Design", "Options", "average", "certify", "copy", "mixture"]
