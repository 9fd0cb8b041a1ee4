"""Attributes that have another value during a call, and their own afterwards: the implementation of
attention, and windows so short that a short text reaches past them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from headwright.trained.library import transformers

IMPLEMENTATIONS = ("eager", "sdpa")
# Where the library keeps the name of the implementation; its property would also change the
# configurations below.
_NAME_OF_IMPLEMENTATION = "_attn_implementation_internal"
# A window of more keys than this is shortened to `_SHORT`: a text past it would be long.
_LONG = 12
_SHORT = 4


@dataclass(frozen=True)
class Setting:
    """`changes`: object, attribute, value during the call."""

    implementation: str
    changes: tuple[tuple[Any, str, Any], ...] = ()

    @contextmanager
    def in_place(self) -> Iterator[None]:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in self.changes]
        try:
            for owner, name, value in self.changes:
                setattr(owner, name, value)
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)


def setting(model: Any, implementation: str) -> Setting:
    """This implementation in all parts of the model, and short windows."""
    configs = configurations(model)
    changes: list[tuple[Any, str, Any]] = []
    if implementation != own_implementation(model):
        changes += [(config, _NAME_OF_IMPLEMENTATION, implementation) for config in configs]
    for owner in [*configs, *model.modules()]:
        window = getattr(owner, "sliding_window", None)
        if shortened(window) != window:
            changes.append((owner, "sliding_window", shortened(window)))
    return Setting(implementation, tuple(changes))


def shortened(window: Any) -> Any:
    """The window that probes use in its place."""
    is_number = isinstance(window, int) and not isinstance(window, bool)
    return _SHORT if is_number and window > _LONG else window


def configurations(model: Any) -> list[Any]:
    """Of the model and of the models it is made of, each once."""
    parts = [part for part in model.modules() if isinstance(part, transformers.PreTrainedModel)]
    found = {}
    for part in parts:
        found[id(part.config)] = part.config
    # Attention modules may keep a configuration of their own.
    for module in model.modules():
        config = getattr(module, "config", None)
        if isinstance(config, transformers.PretrainedConfig):
            found[id(config)] = config
    return list(found.values())


def own_implementation(model: Any) -> str:
    return model.config._attn_implementation or "eager"


def implementations(model: Any) -> list[str]:
    """Those that the model can run with: its own alone where it has code of its own."""
    own = own_implementation(model)
    if not _asks_the_interface(model):
        return [own]
    return [name for name in IMPLEMENTATIONS if name == own or _supports(model, name)]


def _asks_the_interface(model: Any) -> bool:
    """A subclass from somewhere else runs the code of the library's class that it extends."""
    classes = [kind for kind in type(model).__mro__ if kind.__module__.startswith("transformers.")]
    models = [kind for kind in classes if issubclass(kind, transformers.PreTrainedModel)]
    return models[0]._can_set_attn_implementation()


def _supports(model: Any, implementation: str) -> bool:
    if implementation == "sdpa":
        return all(getattr(part, "_supports_sdpa", False) for part in _parts(model))
    return True


def _parts(model: Any) -> list[Any]:
    return [part for part in model.modules() if isinstance(part, transformers.PreTrainedModel)]
