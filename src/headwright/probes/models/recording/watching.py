"""The calls of attention modules while a model runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class AllSeen(Exception):
    """Every module that was wanted has been called: no error, the end of the run."""


@contextmanager
def watched(model: Any, wanted: set[str]) -> Iterator[list[Any]]:
    """Every call of an attention module while it is open: name, module, arguments, keywords. The
    run is ended by `AllSeen` when all that are wanted have been called; it goes on to its end where
    none is named."""
    seen: list[Any] = []
    waiting = set(wanted)

    def remember(name: str, module: Any, arguments: Any, words: Any) -> None:
        seen.append((name, module, arguments, words))
        waiting.discard(name)
        if wanted and not waiting:
            raise AllSeen

    handles = []
    for name, module in model.named_modules():
        if name and is_attention(module):
            handles.append(
                module.register_forward_pre_hook(_hook(name, remember), with_kwargs=True)
            )
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hook(name: str, remember: Any) -> Any:
    def hook(module: Any, arguments: Any, words: Any) -> None:
        remember(name, module, arguments, words)

    return hook


def is_attention(module: Any) -> bool:
    """By the name of its class or of one that it extends."""
    names = [kind.__name__.lower() for kind in type(module).__mro__]
    return any("attention" in name or "attn" in name for name in names)
