"""Who computes: processes of our own on this machine, or the workers of a cluster; both are a
`concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from headwright.crew.cluster import connected
from headwright.crew.compute import belong_to
from headwright.crew.processes import Requests, cores
from headwright.errors import InputError


class OwnProcesses(Executor):
    """Threads of this process, each waiting for a watched process that computes (`compute`)."""

    def __init__(self, workers: int | None = None) -> None:
        self.width = cores() if workers is None else workers
        if self.width < 1:
            raise InputError(wanted="at least one worker", got=str(workers), attempt="--workers 2")
        self._requests = Requests()
        self._threads = ThreadPoolExecutor(
            self.width, initializer=belong_to, initargs=(self._requests,)
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._threads.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """With `cancel_futures` also what is being computed ends, at once."""
        if cancel_futures:
            self._requests.stop()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)


@contextmanager
def chosen(workers: int | None = None, cluster: str | None = None) -> Iterator[Executor]:
    """`cluster` is the address of a Dask scheduler (`tcp://HOST:PORT`), or `local` for one that is
    started here; without it, `workers` processes of our own (one per core)."""
    if cluster is not None:
        with connected(cluster, workers) as remote:
            yield remote
        return
    executor = OwnProcesses(workers)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def width_of(executor: Executor) -> int:
    """How many batches it computes at a time, as far as it says so."""
    for name in ("width", "_max_workers"):
        width = getattr(executor, name, None)
        if isinstance(width, int) and width > 0:
            return width
    return cores()
