"""Small work on a GPU beside its own queue, where it fills the gaps of larger work. Elsewhere it is
done at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from headwright.trained.library import torch
from headwright.types import Array


@contextmanager
def beside(device: Any) -> Iterator[None]:
    """What is asked for inside starts when all that was asked for before is done, and nothing that
    is asked for later waits for it until `join`."""
    if device.type != "cuda":
        yield
        return
    stream = _stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        yield


def join(device: Any) -> None:
    """What is asked for from now on waits for all work beside."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).wait_stream(_stream(device))


def keep(*arrays: Array) -> None:
    """Read by work beside: their memory is given to nobody before that is done, even when they are
    forgotten before the next `join`."""
    for array in arrays:
        if array.device.type == "cuda":
            array.record_stream(_stream(array.device))


@lru_cache(maxsize=64)
def _stream(device: Any) -> Any:
    return torch.cuda.Stream(device)
