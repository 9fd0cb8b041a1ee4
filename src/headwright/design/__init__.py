"""From a target to a query: the cheapest one with a certificate, a proof that none exists, or the
fewest heads.

Reading order: `target` and `storage` (what is wanted, and how a query is stored), `closed_form`
(orthonormal keys), `proofs` (what reached means), `separation` (which keys can ever win), `solve`
(one head), `several` (more heads), `effect`, `record` and `saved` (the answer, and its file),
`options` and `questions` (what people call), `weights_figure` and `figures`.

Each name is imported when it is first used: a formula of `closed_form` needs no optimiser.

>>> hw.design.copy(0, [[1, 0], [0, 1]], leak=0.01)
<Design: copy key 0: reached; leak 0.01 (asked 0.01), length 3.2492, 1 head>
>>> hw.design.reach([[1, 0], [0, 1], [-1, -1], [0, 0]])
<Reach: 3 of 4 keys can win alone; 1 unreachable; dimension 2>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwright.design import closed_form
    from headwright.design.options import Options
    from headwright.design.questions import average, copy, mixture
    from headwright.design.record import Design
    from headwright.design.saved.recheck import certify
    from headwright.design.separation.reachability import Reach, reach
    from headwright.design.separation.separate import Selectable, selectable

# name -> module; an empty module is the one of that name.
_HOME = {
    "Design": "record",
    "Options": "options",
    "Reach": "separation.reachability",
    "Selectable": "separation.separate",
    "average": "questions",
    "certify": "saved.recheck",
    "closed_form": "",
    "copy": "questions",
    "mixture": "questions",
    "reach": "separation.reachability",
    "selectable": "separation.separate",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headwright.design' has no attribute {name!r}")
    home = import_module(f"headwright.design.{_HOME[name] or name}")
    return getattr(home, name) if _HOME[name] else home


def __dir__() -> list[str]:
    return sorted(__all__)
