"""Large arrays in blocks that stay in cache, and parts of them on all processors."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from typing import Any, TypeVar

import array_api_compat as compat
import numpy as np
from threadpoolctl import ThreadpoolController

from headwright.arrays import beside
from headwright.types import Array

_DEVICE = 1 << 28  # numbers an accelerator has in work at once
_HOST = frozenset({"cpu"})  # devices whose memory is the processor's
_T = TypeVar("_T")


def blocks(count: int, size: int, like: Array, numbers: int = 8) -> list[slice]:
    """Slices of `size` items on the host. An accelerator takes as many as it can: each launch
    costs the same however much there is to do, and an item has about so many `numbers`."""
    size = size if on_host(like) else max(1, _DEVICE // numbers)
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]


def on_host(array: Array) -> bool:
    """Is it in the memory of the processor?"""
    return compat.is_numpy_array(array) or str(compat.device(array)) in _HOST


def near(table: np.ndarray, keys: Array) -> Array:
    """A host array where much work on it is cheap: beside the keys if they are on an accelerator,
    else where it is."""
    return table if on_host(keys) else beside(table, keys)


def in_threads(function: Callable[[slice], _T], parts: list[slice], like: Array) -> list[_T]:
    """`function` of each part, in their order. For NumPy arrays each thread takes a part at a time,
    this one too; other libraries have threads of their own."""
    others = min(len(parts), _processors()) - 1
    if others < 1 or not compat.is_numpy_array(like):
        return [function(part) for part in parts]
    waiting = deque(enumerate(parts))
    found: dict[int, _T] = {}

    def taken() -> tuple[int, slice] | None:
        with suppress(IndexError):
            return waiting.popleft()
        return None

    def work() -> None:
        try:
            while (one := taken()) is not None:
                number, part = one
                found[number] = function(part)
        finally:
            waiting.clear()  # where a part fails, no other is begun

    with one_blas_thread(), ThreadPoolExecutor(others) as pool:
        working = [pool.submit(work) for _ in range(others)]
        work()
        for one in working:
            one.result()
    return [found[number] for number in range(len(parts))]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Threads of a BLAS cost more than they gain on small matrices, and within ours they wait for
    each other."""
    return _libraries().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The libraries whose threads can be limited, looked up once."""
    return ThreadpoolController()


def _processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
