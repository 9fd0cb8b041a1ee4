"""The options of every command whose jobs the crew does: where they run, where results are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from headwright.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from headwright.cli.crew_bar import Tally
    from headwright.crew.store.record import Store

# What `click.option` is called with, by the name of the option
CREW_OPTIONS: dict[str, dict[str, Any]] = {
    "--workers": {
        "type": click.IntRange(1),
        "metavar": "N",
        "help": "Processes on this machine. [default: one per core]",
    },
    "--cluster": {"metavar": "tcp://HOST:PORT|local", "help": "Use a Dask cluster instead."},
}
STORE_OPTION: dict[str, dict[str, Any]] = {
    "--store": {
        "type": click.Path(file_okay=False, path_type=Path),
        "metavar": "FOLDER",
        "help": "Keep finished results here: the same command continues from them.",
    },
}


def crew_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--workers and --cluster."""
    return _with(function, CREW_OPTIONS)


def crew_and_store_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--workers, --cluster and --store."""
    return _with(function, CREW_OPTIONS | STORE_OPTION)


def _with(function: Callable[..., Any], options: dict[str, dict[str, Any]]) -> Callable[..., Any]:
    for name, settings in reversed(options.items()):
        function = click.option(name, **settings)(function)
    return function


def refuse_two_places(workers: int | None, cluster: str | None) -> None:
    if workers is not None and cluster is not None:
        raise InputError(
            wanted="one place to compute",
            got="both --workers and --cluster",
            attempt="--workers on this machine, --cluster elsewhere",
        )


@contextmanager
def cluster_of(address: str | None) -> Iterator[Executor | None]:
    """None where the jobs run on this machine."""
    if address is None:
        yield None
        return

    from headwright.crew.executor import chosen

    with chosen(cluster=address) as executor:
        yield executor


@contextmanager
def store_of(folder: Path | None, command: str) -> Iterator[Store | None]:
    """None where nothing is kept."""
    if folder is None:
        yield None
        return

    from headwright.crew.store import opened

    with opened(folder, about={"command": command}) as store:
        yield store


@contextmanager
def saying_how_to_go_on(folder: Path | None, tally: Tally, what: str) -> Iterator[None]:
    """Ctrl+C says how far it came, and what to do where results are kept."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        come = f"at {tally.come:,} of {tally.total:,} {what}"
        words = f"{come}; finished results are stored: the same command continues from there"
        raise KeyboardInterrupt(words) from None
