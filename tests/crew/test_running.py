"""Outcomes in order, whatever the jobs do; nothing that is stored is computed again."""

import json
import math
import multiprocessing
import sqlite3
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing

import pytest
from tests.crew import jobs

from headwright.crew import run
from headwright.crew.compute import answer
from headwright.crew.executor import OwnProcesses, chosen
from headwright.crew.function import source_digest
from headwright.crew.store import opened
from headwright.crew.values import result_text
from headwright.errors import HeadwrightError, InputError
from headwright.watched.process import Allowance

JOBS = jobs.__name__
JOB = {"source": "source 0", "run": "a", "software": {}, "allowance": None}


@pytest.fixture(scope="module")
def own():
    with chosen(workers=1) as executor:
        yield executor


def named(function):
    return f"{JOBS}:{function.__name__}"


def results(function, points, **options):
    return list(run(named(function), points, **options))


def test_outcomes_have_the_order_of_the_points(own):
    found = results(jobs.slow_first, [{"x": x} for x in range(300)], executor=own)

    assert [outcome.value for outcome in found] == list(range(300))


def test_special_numbers_keep_their_bits(own):
    (found,) = results(jobs.special, [{"x": 0.1}], executor=own)

    assert found.text == result_text(jobs.special(0.1))
    assert math.isnan(found.value["nan"])
    assert math.copysign(1, found.value["zero"]) == -1


def test_hostile_jobs_fail_alone(own):
    ways = ["print", "exit", "interrupt", "crash", "object", "names", "digits", "long", "fine"]
    found = results(jobs.hostile, [{"how": how} for how in ways], executor=own)
    errors = {outcome.point["how"]: outcome.error for outcome in found}

    assert errors["exit"] == "SystemExit: bye"
    assert errors["interrupt"] == "KeyboardInterrupt"
    assert "ended twice (exit code 7)" in errors["crash"]
    assert "builtins.object" in errors["object"]
    assert "the name 1" in errors["names"]
    assert errors["digits"].startswith("NotPlain")
    assert [errors[how] for how in ("print", "long", "fine")] == ["", "", ""]
    assert len(found[ways.index("long")].value) == 3_000_000


def test_an_allowance_ends_one_point(own):
    points = [{"how": how} for how in ("fine", "spin", "fine too")]
    found = results(jobs.hostile, points, executor=own, allowance=Allowance(0.2, 10**9))

    assert [outcome.value for outcome in found] == ["fine", None, "fine too"]
    assert found[1].error == "Ended: it took longer than 0.2 s of processor time"


def test_a_process_that_somebody_ends_costs_no_result(own, tmp_path):
    marker = str(tmp_path / "killed")
    points = [{"x": x, "marker": marker} for x in range(20)]
    found = results(jobs.killed_once, points, executor=own)

    assert [outcome.value for outcome in found] == list(range(20))


def test_what_is_stored_is_not_computed_again(own, tmp_path):
    log = tmp_path / "log"
    points = [{"x": x, "log": str(log)} for x in range(50)]
    with opened(tmp_path / "store", {"study": "a"}) as store:
        first = results(jobs.counted, points[:30], executor=own, store=store)
        second = results(jobs.counted, points, executor=own, store=store)
        other = results(jobs.counted, points[:1], executor=own, store=store, version="2")

    assert [outcome.stored for outcome in second] == [True] * 30 + [False] * 20
    assert [outcome.text for outcome in second[:30]] == [outcome.text for outcome in first]
    assert [outcome.stored for outcome in other] == [False]
    assert sorted(map(int, log.read_text().split())) == sorted([*range(50), 0])


def test_equal_points_are_computed_once(own, tmp_path):
    log = tmp_path / "log"
    points = [{"x": x % 3, "log": str(log)} for x in range(30)]
    found = results(jobs.counted, points, executor=own)

    assert [outcome.value for outcome in found] == [x % 3 for x in range(30)]
    assert len(log.read_text().split()) == 3


def test_failed_points_are_kept_until_they_are_tried_again(own, tmp_path):
    points = [{"how": "exit"}]
    with opened(tmp_path, {}) as store:
        first = results(jobs.hostile, points, executor=own, store=store)
        second = results(jobs.hostile, points, executor=own, store=store)
        third = results(jobs.hostile, points, executor=own, store=store, retry=True)

    assert [o.stored for o in (*first, *second, *third)] == [False, True, False]
    assert second[0].error == "SystemExit: bye"


def test_a_store_shows_long_texts_by_their_beginning(own, tmp_path):
    """The key is that of the whole text, and the job gets all of it."""
    long = "x" * 5000
    points = [{"how": long}, {"how": long + "y"}, {"how": "short"}]
    with opened(tmp_path, {}) as store:
        found = results(jobs.hostile, points, executor=own, store=store)
        again = results(jobs.hostile, points, executor=own, store=store)
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as table:
        shown = [point for (point,) in table.execute("SELECT point FROM results")]

    assert [outcome.value for outcome in found] == [long, long + "y", "short"]
    assert [outcome.text for outcome in again] == [outcome.text for outcome in found]
    assert max(map(len, shown)) < 200
    assert len(set(shown)) == 3


def test_points_of_many_characters_are_read_a_few_at_a_time(own, monkeypatch):
    monkeypatch.setattr("headwright.crew.running.MOST_IN_BATCH", 1000)
    read = []

    def points():
        for x in range(50):
            read.append(x)
            yield {"how": f"{x} {'x' * 500}"}

    outcomes = run(named(jobs.hostile), points(), executor=own)
    next(outcomes)
    assert len(read) < 20
    assert len(list(outcomes)) == 49


def test_no_points_and_one_point(own):
    assert results(jobs.square, [], executor=own) == []
    assert results(jobs.square, [{"x": 3}], executor=own)[0].value == {"y": 9}


@pytest.mark.parametrize("point", [{"x": object()}, {"x": {1: 2}}, {2: 1}, 7, {"x": [10**5000]}])
def test_points_that_are_not_plain_are_refused(own, point):
    with pytest.raises(InputError, match="point 2: "):
        results(jobs.square, iter([{"x": 1}, point]), executor=own)


@pytest.mark.parametrize("name", ["no_colon", "a b:c", "no_such_module_of_anybody:job", ":"])
def test_functions_that_are_none(own, name):
    with pytest.raises(InputError):
        run(name, [{"x": 1}], executor=own)


def test_a_function_that_the_workers_do_not_have_stops_the_run(own, tmp_path):
    with opened(tmp_path, {}) as store, pytest.raises(InputError, match="AttributeError"):
        list(run(f"{JOBS}:missing", [{"x": 1}], executor=own, store=store))


def test_a_worker_with_other_software_or_source_refuses():
    job = {**JOB, "function": named(jobs.square)}

    assert answer({**job, "software": {"numpy": "0.1"}}, ['{"x":1}'])["refused"].endswith(
        "instead of 0.1"
    )
    assert "another source" in answer(job, ['{"x":1}'])["refused"]


# A fork would run what libraries have registered for it.
OTHERS = {
    "threads": lambda: ThreadPoolExecutor(1),
    "processes": lambda: ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_any_executor_will_do(kind):
    with OTHERS[kind]() as executor:
        found = results(jobs.square, [{"x": x} for x in range(5)], executor=executor)

    assert [outcome.value["y"] for outcome in found] == [0, 1, 4, 9, 16]


class Recorded(OwnProcesses):
    """Notes how much is under way."""

    def __init__(self, workers):
        super().__init__(workers)
        self.under_way = 0
        self.most = 0
        self.sizes = []

    def submit(self, fn, /, *args, **kwargs):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.sizes.append(len(json.loads(args[0])["points"]))
        future = super().submit(fn, *args, **kwargs)
        future.add_done_callback(self._one_less)
        return future

    def _one_less(self, _):
        self.under_way -= 1


def test_batches_grow_and_few_are_under_way():
    executor = Recorded(1)
    try:
        found = results(jobs.square, ({"x": x} for x in range(3000)), executor=executor)
    finally:
        executor.shutdown(cancel_futures=True)

    assert len(found) == 3000
    assert executor.sizes[0] == 1
    assert max(executor.sizes) >= 64
    assert executor.most <= 3


class Stuck(OwnProcesses):
    """Its first batch never ends."""

    def submit(self, fn, /, *args, **kwargs):
        first = json.loads(args[0])["points"][0]
        if json.loads(first)["x"] == 0:
            return Future()
        return super().submit(fn, *args, **kwargs)


def test_a_slow_point_lets_only_so_much_pile_up(monkeypatch):
    monkeypatch.setattr("headwright.crew.window.MOST_POINTS", 100)
    monkeypatch.setattr("headwright.crew.running._CHUNK", 50)
    monkeypatch.setattr("headwright.crew.running._LOOK", 0.01)
    read = []

    def points():
        for x in range(10_000):
            read.append(x)
            yield {"x": x}

    executor = Stuck(1)
    waits = iter(range(200))
    monkeypatch.setattr("headwright.crew.running.width_of", lambda _: next(waits) and 1)
    try:
        # `width_of` gives up after so many rounds, and a generator makes a RuntimeError of that.
        with pytest.raises(RuntimeError, match="StopIteration"):
            results(jobs.square, points(), executor=executor)
    finally:
        executor.shutdown(cancel_futures=True)

    assert len(read) <= 150


def test_an_executor_that_breaks_says_how_to_go_on():
    executor = OwnProcesses(1)
    executor.shutdown()

    with pytest.raises(HeadwrightError, match="the same command again"):
        results(jobs.square, [{"x": 1}], executor=executor)


def test_stopping_ends_what_is_being_computed():
    executor = OwnProcesses(1)
    future = executor.submit(
        answer,
        {**JOB, "function": named(jobs.hostile), "source": source_digest(named(jobs.hostile))},
        ['{"how":"spin"}'],
    )
    executor.shutdown(cancel_futures=True)

    with pytest.raises(HeadwrightError):
        future.result(timeout=5)


def test_what_was_edited_is_computed_as_it_is_now(own, tmp_path, monkeypatch):
    """Also where only a module that the job imports has changed, or the path to it."""
    monkeypatch.syspath_prepend(tmp_path)
    helper = tmp_path / "constants_of_a_sweep.py"
    sweep = tmp_path / "a_sweep.py"
    sweep.write_text("from constants_of_a_sweep import c\ndef job(x): return x + c\n")
    found = []
    for c in (1, 20, 300):
        helper.write_text(f"c = {c}\n")
        found += list(run("a_sweep:job", [{"x": 0}], executor=own))
    sweep.write_text("def job(x): return 'edited'\n")
    found += list(run("a_sweep:job", [{"x": 0}], executor=own))

    assert [outcome.value for outcome in found] == [1, 20, 300, "edited"]


def test_a_module_that_cannot_be_imported_is_told_once(own, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_broken_sweep.py").write_text("import no_such_module_of_anybody\n")

    with pytest.raises(InputError, match="No module named") as told:
        list(run("a_broken_sweep:job", [{"x": 0}], executor=own))
    assert str(told.value).count("try:") == 1


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_are_at_least_one(workers):
    with pytest.raises(InputError, match="at least one"), chosen(workers=workers):
        pass
