"""From a target to a query: the cheapest one with a certificate, a proof that none exists, or the
fewest heads.

Reading order: `target` and `storage` (what is wanted, and how a query is stored), `closed_form`
(orthonormal keys), `proofs` (what reached means), `separation` (which keys can ever win), `solve`
(one head), `several` (more heads), `effect`, `record` and `saved` (the answer, and its file),
`options` and `questions` (what people call), `figures`.
"""

from __future__ import annotations

from headwright.design import closed_form
from headwright.design.options import Options
from headwright.design.questions import average, copy, mixture
from headwright.design.record import Design
from headwright.design.saved.recheck import certify
from headwright.design.separation.reachability import Reach, reach
from headwright.design.separation.separate import Selectable, selectable

__all__ = [
    "Design",
    "Options",
    "Reach",
    "Selectable",
    "average",
    "certify",
    "closed_form",
    "copy",
    "mixture",
    "reach",
    "selectable",
]
