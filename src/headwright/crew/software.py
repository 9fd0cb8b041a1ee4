"""The versions of what computes. Results of other versions may differ in their last bits, and a
store mixes nothing."""

from __future__ import annotations

import platform
from functools import lru_cache

from headwright.crew.function import PACKAGE, engine_version

# Of an extra: a machine that does without it differs in nothing that it computes.
_EXTRAS = ("torch", "transformers")
COMPARED = ("numpy", "scipy", *_EXTRAS)
_MISSING = (None, "none")


@lru_cache(maxsize=1)
def software() -> dict[str, str]:
    """Here: Python, this package and the libraries that compute."""
    from importlib.metadata import PackageNotFoundError, version  # a worker is not asked for them

    found = {"python": platform.python_version(), PACKAGE: engine_version()}
    for name in COMPARED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def difference(wanted: dict[str, str], there: dict[str, str]) -> str:
    """`numpy 2.3.1 instead of 2.4.6`; empty where they agree."""
    different = []
    for name, expected in wanted.items():
        found = there.get(name)
        does_without = name in _EXTRAS and (found in _MISSING or expected in _MISSING)
        if found != expected and not does_without:
            different.append(f"{name} {found} instead of {expected}")
    return ", ".join(different)
