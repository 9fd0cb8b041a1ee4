"""The checker behind every annotation in test runs: beartype, with an int accepted where a float is
wanted; and what it cannot look into."""

from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))

# The check wraps every function of a module. A compiler wants the functions themselves.
_COMPILED = frozenset(
    {
        "headwright.trained.rows.loops",
        "headwright.trained.rows.fused.tiles",
        "headwright.trained.rows.fused.ending",
        "headwright.trained.rows.fused.kernel",
        "headwright.trained.rows.fused.lookups",
        "headwright.trained.rows.fused.sampled",
        "headwright.trained.rows.fused.sums",
    }
)


class Unchecked:
    """A finder of modules that comes before the checker's: what is to be compiled is imported as it
    is."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name in _COMPILED else None
