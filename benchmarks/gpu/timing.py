"""Times and peaks on a GPU, and rows that may fail."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch

# A row's name, and what takes it.
Work = tuple[str, Callable[[], dict]]


def milliseconds(call: Callable[[], Any], repeats: int = 15) -> float:
    """Median on the device."""
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times)[repeats // 2]


def seconds(call: Callable[[], Any]) -> float:
    """Once, from an idle device to an idle device."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def peak(call: Callable[[], Any]) -> int:
    """Most bytes that were there at once."""
    torch.cuda.reset_peak_memory_stats()
    call()
    return torch.cuda.max_memory_allocated()


def taken(work: Iterator[Work]) -> Iterator[dict]:
    """Each row as it comes; a failing one as its error."""
    for name, call in work:
        start = time.perf_counter()
        try:
            row: dict[str, Any] = {"row": name} | call()
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
            row = {"row": name, "error": f"{type(error).__name__} at {where}: {str(error)[:300]}"}
        row["took_s"] = time.perf_counter() - start
        torch.cuda.empty_cache()
        yield {key: _short(value) for key, value in row.items()}


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
