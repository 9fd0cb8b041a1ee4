"""Workers of a cluster: their versions, their address, and what they know of a killed driver."""

import json
from concurrent.futures import Executor, Future

import pytest
from tests.crew import jobs

from headwright.crew import compute, run
from headwright.crew.executor import OwnProcesses, chosen
from headwright.crew.function import full_version, source_digest
from headwright.crew.software import difference
from headwright.crew.store import opened
from headwright.crew.values import Keys, text_of
from headwright.crew.worker import respond
from headwright.errors import HeadwrightError, InputError

SQUARE = f"{jobs.__name__}:{jobs.square.__name__}"
POINTS = [{"x": 2}, {"x": 3}]


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"numpy": "2", "torch": "2"}, ""),
        ({"numpy": "2"}, ""),  # without the extra: what needs it fails by itself
        ({"numpy": "2", "torch": "1"}, "torch 1 instead of 2"),
        ({"torch": "2"}, "numpy None instead of 2"),
    ],
    ids=str,
)
def test_versions_that_differ_are_named(there, said):
    assert difference({"numpy": "2", "torch": "2"}, there) == said


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "carrier://pigeon:1", ""])
def test_what_is_no_address_is_said_at_once(address, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    # A client that fails while it begins is collected with a traceback of its own.
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("a client began"))

    with pytest.raises(InputError, match="the address of a Dask scheduler"), chosen(None, address):
        pass


def worked(owner, points):
    """A batch of a driver, as a worker computes it."""
    source = source_digest(SQUARE)
    job = {
        "function": SQUARE, "source": source, "run": "a", "software": {}, "allowance": None,
        "version": full_version("", source), "owner": owner,
    }  # fmt: skip
    return compute.answer(job, [text_of(point) for point in points])


def test_a_worker_remembers_its_last_batches_by_their_owner(monkeypatch):
    results = worked("mine", POINTS)["results"]
    worked("another", POINTS)
    worked("", POINTS)

    busy, rows = compute.left_over("mine")
    assert busy == 0
    assert [row[2:] for row in rows] == results
    assert compute.left_over("")[1] == []

    monkeypatch.setattr(compute, "_MOST_KEPT", 3)
    worked("long answers", POINTS)
    assert compute.left_over("long answers") == (0, [])


class AfterAKill(OwnProcesses):
    """Another driver of the same store had the first point under way."""

    def left_over(self, owner):
        worked(owner, POINTS[:1])
        return compute.left_over(owner)[1]


def test_what_a_killed_driver_had_under_way_is_not_computed_again(tmp_path):
    executor = AfterAKill(1)
    try:
        with opened(tmp_path, {}) as store:
            found = list(run(SQUARE, POINTS, executor=executor, store=store))
    finally:
        executor.shutdown(cancel_futures=True)

    assert [outcome.value for outcome in found] == [{"y": 4}, {"y": 9}]
    assert [outcome.stored for outcome in found] == [True, False]


class Collapsing(Executor):
    """Its first batch is finished when the scheduler is lost, and all the others with it."""

    width = 20
    count = 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        future = Future()
        if self.count == 1:
            task = json.loads(args[0])
            future.set_result(json.dumps(respond({**task["job"], "points": task["points"]})))
        else:
            future.cancel()
            future.set_running_or_notify_cancel()
        return future


def test_what_is_finished_when_the_scheduler_is_lost_is_stored(tmp_path):
    points = [{"x": x} for x in range(100)]
    with opened(tmp_path, {}) as store:
        with pytest.raises(HeadwrightError, match="the same command again"):
            list(run(SQUARE, points, executor=Collapsing(), store=store))
        keys = Keys(SQUARE, full_version("", source_digest(SQUARE)))
        assert store.found([keys.of(text_of(points[0]))]) != {}
