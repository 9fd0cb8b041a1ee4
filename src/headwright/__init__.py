"""headwright: a workbench for attention heads. Public names only; each is imported when first
used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwright import course, design, exercise, lab, study, symmetry
    from headwright.attention import attend, multihead
    from headwright.errors import HeadwrightError, InputError
    from headwright.homework import check
    from headwright.keys import GaussianKeys
    from headwright.noise import moments, worst_case
    from headwright.probes.asking import xray
    from headwright.subspace import extract
    from headwright.trained import audit

__version__ = "0.1.0"

# name -> (module, attribute); an empty attribute is the module itself.
_HOME = {
    "attend": ("headwright.attention", "attend"),
    "multihead": ("headwright.attention", "multihead"),
    "GaussianKeys": ("headwright.keys", "GaussianKeys"),
    "HeadwrightError": ("headwright.errors", "HeadwrightError"),
    "InputError": ("headwright.errors", "InputError"),
    "moments": ("headwright.noise", "moments"),
    "worst_case": ("headwright.noise", "worst_case"),
    "extract": ("headwright.subspace", "extract"),
    "check": ("headwright.homework", "check"),
    "audit": ("headwright.trained", "audit"),
    "course": ("headwright.course", ""),
    "design": ("headwright.design", ""),
    "exercise": ("headwright.exercise", ""),
    "lab": ("headwright.lab", ""),
    "study": ("headwright.study", ""),
    "symmetry": ("headwright.symmetry", ""),
    "xray": ("headwright.probes.asking", "xray"),
}

__all__ = [
    "GaussianKeys", "HeadwrightError", "InputError", "attend", "audit", "check", "course", "design",
    "exercise", "extract", "lab", "moments", "multihead", "study", "symmetry", "worst_case", "xray",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headwright' has no attribute {name!r}")
    module, attribute = _HOME[name]
    home = import_module(module)
    return getattr(home, attribute) if attribute else home


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
