"""A Dask cluster as an executor: one that runs elsewhere, or one that is started here.

A task is one batch and its result leaves the cluster as soon as it has arrived, so a worker that
dies costs the batch it was at. The scheduler repeats such a batch by itself; when it gives up, it
is handed over again (`lost`), for a point that crashes ends a process beside the worker, never the
worker (`compute`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from headwright.crew.compute import left_over
from headwright.crew.function import PACKAGE
from headwright.crew.processes import cores
from headwright.crew.software import COMPARED, difference
from headwright.errors import InputError, MissingExtra

_CONNECT = 10.0  # seconds
_COUNT_AGAIN = 5.0  # seconds between two looks at how many workers there are
_ORPHANS = 5.0  # seconds that batches of a killed driver may take to their end
# Of a cluster that is started here: its clocks and profilers take 3.5% of a core at their usual
# pace, and a tenth of that at this one. Our jobs leave no memory in it to watch.
_CALM = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing-interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
}


class DaskWorkers(Executor):
    """`client.get_executor()`, with its width as workers come and go."""

    def __init__(self, client: Any, lost: tuple[type[BaseException], ...]) -> None:
        self._client = client
        self._inner = client.get_executor(pure=False)
        # A batch that ends so was never answered: its worker was taken away.
        self.lost = lost
        self._width = 1
        self._counted = float("-inf")

    @property
    def width(self) -> int:
        if time.monotonic() - self._counted > _COUNT_AGAIN:
            threads = self._client.nthreads()
            self._width = max(1, sum(threads.values()))
            self._counted = time.monotonic()
        return self._width

    def left_over(self, owner: str) -> list[list[Any]]:
        """What a driver that was killed had under way: a worker computes on to the end of its
        batch, and remembers it."""
        end = time.monotonic() + _ORPHANS
        while True:
            try:
                found = self._client.run(left_over, owner, on_error="ignore").values()
            except OSError:  # the scheduler is gone; the first batch will say so
                return []
            if not any(busy for busy, _ in found) or time.monotonic() > end:
                return [row for _, rows in found for row in rows]
            time.sleep(0.1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._inner.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait=wait and not cancel_futures)


@contextmanager
def connected(cluster: str, workers: int | None) -> Iterator[DaskWorkers]:
    """The workers behind an address, or of a cluster that is started here (`local`)."""
    try:
        import distributed
    except ImportError:
        raise MissingExtra("distributed", "cluster") from None

    with _cluster(distributed, cluster, workers) as address:
        client = _client(distributed, address)
        try:
            _insist_on_equal_software(client)
            executor = DaskWorkers(client, (distributed.KilledWorker,))
            yield executor
            executor.shutdown(cancel_futures=True)
        finally:
            client.close(timeout=2)


@contextmanager
def _cluster(distributed: Any, cluster: str, workers: int | None) -> Iterator[Any]:
    if cluster != "local":
        yield cluster
        return
    import dask

    # The jobs run in processes of their own, so the workers may be threads of this one.
    with (
        dask.config.set(_CALM),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=workers or cores(),
            processes=False,
            dashboard_address=":0",  # any free port: another cluster may have the usual one
        ) as local,
    ):
        yield local


def _client(distributed: Any, address: Any) -> Any:
    try:
        if isinstance(address, str):
            # First: a client of what is no address complains once more when it is collected.
            distributed.comm.get_address_host(address)
        return distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as reason:
        raise InputError(
            wanted="the address of a Dask scheduler, tcp://HOST:PORT, or local",
            got=f"{address} ({' '.join(str(reason).split())[:200] or type(reason).__name__})",
            attempt="dask scheduler, which prints its address, and dask worker ADDRESS",
        ) from None


def _insist_on_equal_software(client: Any) -> None:
    """Workers that come later are compared when they compute (`compute`)."""
    found = client.get_versions(packages=[PACKAGE, *COMPARED])
    names = ("python", PACKAGE, *COMPARED)
    wanted = {name: found["client"]["packages"].get(name) for name in names}
    different = []
    for address, worker in found["workers"].items():
        there = worker["packages"] if worker else {}
        words = difference(wanted, there)
        if words:
            different.append(f"{address} has {words}")
    if different:
        more = f", and {len(different) - 3} more workers" if len(different) > 3 else ""
        raise InputError(
            wanted="workers with the versions of this machine",
            got="; ".join(different[:3]) + more,
            attempt="the same environment on every machine",
        )
