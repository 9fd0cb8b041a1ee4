"""A real scheduler, two workers and a driver as processes on the loopback address, killed at random
moments; then it is counted what was lost and what was done twice.

Used by `headwright bench crew` and, with fewer jobs, by the tests.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from benchmarks import crew_job

ROOT = Path(__file__).resolve().parents[1]
WORKERS = 2
_LIMIT = 300.0  # seconds until somebody hangs


class Cluster:
    """Its processes; all of them end with the block, however it ends."""

    def __init__(self, folder: Path, jobs: int, milliseconds: float) -> None:
        self.folder = folder
        self._job = [str(folder), str(jobs), str(milliseconds)]
        self._all: list[subprocess.Popen[bytes]] = []
        self._scheduler_file = folder / "scheduler.json"
        self.errors = folder / "errors"
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._all:
            process.kill()
        for process in self._all:
            process.wait()

    def start(self) -> None:
        """Scheduler, workers and driver."""
        self._scheduler_file.unlink(missing_ok=True)
        place = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        file = ["--scheduler-file", str(self._scheduler_file)]
        self.scheduler = self._python("distributed.cli.dask_scheduler", *place, *file)
        self._wait_for_scheduler()
        for worker in self.workers:
            worker.kill()
        self.workers = [self._worker() for _ in range(WORKERS)]
        self.start_driver()

    def start_driver(self) -> None:
        self.driver = self._python("benchmarks.crew_job", *self._job)

    def replace_worker(self, number: int) -> None:
        self.workers[number] = self._worker()

    def _worker(self) -> subprocess.Popen[bytes]:
        place = ["--host", "127.0.0.1", "--no-dashboard", "--local-directory", str(self.folder)]
        file = ["--scheduler-file", str(self._scheduler_file)]
        alone = ["--nthreads", "1", "--no-nanny"]
        return self._python("distributed.cli.dask_worker", *place, *file, *alone)

    def _wait_for_scheduler(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and self.scheduler.poll() is None:
            if self._scheduler_file.exists() and self._scheduler_file.read_text().endswith("}"):
                return
            time.sleep(0.02)
        raise RuntimeError(f"no scheduler: {self.errors.read_text()[-2000:]}")

    def _python(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            crew_job.LOG: str(self.folder),
            "OMP_NUM_THREADS": "1",
        }
        with self.errors.open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=environment,
                cwd=ROOT,
            )
        self._all.append(process)
        return process


def survived(folder: Path, jobs: int, milliseconds: float, victims: list[str]) -> dict[str, Any]:
    """Kill each of the victims (worker, driver, scheduler) once at a random moment; start it again
    as an operator would, and count when everything is done."""
    chance = random.Random(f"{jobs} {victims}")
    chance.shuffle(victims)
    moments = sorted(chance.uniform(0.03, 0.9) * jobs for _ in victims)
    killed = []
    end = time.monotonic() + _LIMIT
    with Cluster(folder, jobs, milliseconds) as cluster:
        while cluster.driver.poll() != 0:
            if time.monotonic() > end or (cluster.driver.poll() is not None and not killed):
                raise RuntimeError(f"the driver: {cluster.errors.read_text()[-2000:]}")
            if moments and len(_lines(folder, "executed")) >= moments[0]:
                moments.pop(0)
                killed.append(victims.pop(0))
                _kill(cluster, killed[-1], chance)
            time.sleep(0.02)
    same = (folder / "output").read_bytes() == crew_job.serial(jobs, milliseconds)
    return {"kills": Counter(killed), "identical": same, **_counted(folder, jobs)}


def _kill(cluster: Cluster, victim: str, chance: random.Random) -> None:
    time.sleep(chance.uniform(0, 0.2))
    if victim == "worker":
        number = chance.randrange(WORKERS)
        cluster.workers[number].kill()
        cluster.replace_worker(number)
    elif victim == "driver":
        cluster.driver.kill()
        cluster.driver.wait()
        cluster.start_driver()
    else:
        _wait_for_work(cluster)
        cluster.scheduler.kill()
        # It has to notice by itself, and say how to go on.
        if cluster.driver.wait(60) == 0:
            raise RuntimeError("the driver ended well without its scheduler")
        if "the same command again" not in cluster.errors.read_text():
            raise RuntimeError(f"not said how to go on: {cluster.errors.read_text()[-2000:]}")
        cluster.start()


def _wait_for_work(cluster: Cluster) -> None:
    """Until this driver has handed out a batch: one that was just started again, and still looks
    for its scheduler, says in other words that there is none."""
    end = time.monotonic() + 60
    while time.monotonic() < end and cluster.driver.poll() is None:
        batches = [json.loads(line) for line in _lines(cluster.folder, "batches")]
        if any(driver == cluster.driver.pid for _, driver, _ in batches):
            return
        time.sleep(0.02)


def _lines(folder: Path, log: str) -> list[str]:
    path = folder / log
    return path.read_text().splitlines() if path.exists() else []


def _counted(folder: Path, jobs: int) -> dict[str, Any]:
    """Lost: missing, or executed again after it was acknowledged. A batch was repeated if a point
    of it was executed and then executed again, there or in a later batch."""
    executed: dict[int, list[float]] = defaultdict(list)
    for line in _lines(folder, "executed"):
        moment, number = line.split()
        executed[int(number)].append(float(moment))
    acknowledged: dict[int, float] = {}
    for line in _lines(folder, "acknowledged"):
        moment, number = line.split()
        acknowledged.setdefault(int(number), float(moment))

    missing = jobs - len(acknowledged)
    again = sum(max(executed[number]) > moment for number, moment in acknowledged.items())
    holders = _batches_by_point(folder)
    repeated = set()
    for number, moments in executed.items():
        for moment in sorted(moments)[:-1]:
            starts = [start for start, _ in holders[number]]
            repeated.add(holders[number][bisect_right(starts, moment) - 1][1])
    return {
        "lost": missing + again,
        "repeated jobs": sum(map(len, executed.values())) - jobs,
        "repeated batches": len(repeated),
    }


def _batches_by_point(folder: Path) -> dict[int, list[tuple[float, int]]]:
    """For every point the batches it was in: when each was handed over, and its number."""
    holders: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for batch, line in enumerate(_lines(folder, "batches")):
        start, _, numbers = json.loads(line)
        for number in numbers:
            holders[number].append((start, batch))
    return holders
