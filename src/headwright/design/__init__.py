"""From a target to a query: the cheapest one with a certificate, a proof that none exists, or the
fewest heads."""

from __future__ import annotations

from headwright.design import closed_form
from headwright.design.questions import Options, average, copy, mixture
from headwright.design.record import Design
from headwright.design.saved import certify
from headwright.design.separation.reachability import Reach, reach
from headwright.design.separation.separate import Selectable, selectable

__all__ = [
    "Design", "Options", "Reach", "Selectable", "average", "certify", "closed_form", "copy", "mixture", "reach",
    "selectable",
]  # fmt: skip
