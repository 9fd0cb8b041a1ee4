"""A study from its first check to its last file: what is asked, what is computed, what is written.

function + grid -> Study -> rows (crew, store) -> results.csv -> figures -> index.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from headwright import crew
from headwright.crew import Outcome
from headwright.crew.executor import chosen
from headwright.crew.store import opened
from headwright.errors import InputError
from headwright.study.asked import GridSource, Study, study_of
from headwright.study.numbers import NumbersOnly, fault
from headwright.study.page import write_page
from headwright.study.studied import Studied
from headwright.study.table import Table

STORE = "store"
# Outcomes as they come -> the same outcomes, for whoever counts them
Watch = Callable[[Iterator[Outcome]], Iterable[Outcome]]


def run(
    function: str | Callable[..., Any],
    grid: GridSource | None = None,
    *,
    out: str | Path,
    workers: int | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Studied:
    """A function (or `"module:function"`, or a built-in study's name) at every point of a grid.

    `grid` is a dictionary such as `{"n": [4, 8], "leak": {"from": 0.1, "to": 0.5, "step": 0.1}}`
    or the path of a TOML file. Everything is written to the folder `out`; what is stored there
    already is not computed again. It runs on `workers` processes of this machine, or on any
    `executor`. Options: `limit` (the first so many points), `retry` (failed points once more).
    """
    limit, retry = _options(**options)
    study = study_of(function, grid, limit=limit)
    with _executor(workers, executor) as crew_of_study:
        return carried_out(study, Path(out), crew_of_study, retry=retry)


def _options(*, limit: int | None = None, retry: bool = False) -> tuple[int | None, bool]:
    if limit is not None and limit < 1:
        raise InputError(wanted="a limit of 1 or more points", got=str(limit), attempt="limit=100")
    return limit, retry


@contextmanager
def _executor(workers: int | None, executor: Executor | None) -> Iterator[Executor]:
    with nullcontext(executor) if executor is not None else chosen(workers) as ready:
        yield ready


def _unwatched(outcomes: Iterator[Outcome]) -> Iterable[Outcome]:
    return outcomes


def carried_out(
    study: Study, out: Path, executor: Executor, *, retry: bool = False, watch: Watch = _unwatched
) -> Studied:
    """Compute what is not there, and write the table, the figures and the page."""
    table = Table(study.grid.parameters)
    skipped = 0
    with opened(out / STORE, about={"study": study.name}) as store:
        outcomes = crew.run(
            study.function.name,
            study.grid.points(study.limit),
            executor=executor,
            store=NumbersOnly(store),
            version=study.function.version,
            retry=retry,
        )
        points = study.grid.points(study.limit)
        for outcome, point in zip(watch(outcomes), points, strict=True):
            error = outcome.error or fault(outcome.value, point)
            # The grid's own point: its values are shared by all rows, those of JSON by none
            table.add(point, {} if error else outcome.value, error)
            skipped += outcome.stored and not error
    files = table.write(out)
    drawn = write_page(study, table, out, files)
    return Studied(study.name, out, table, skipped, drawn)
