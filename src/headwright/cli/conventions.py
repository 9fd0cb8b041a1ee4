"""What all commands share: `--json`, exit codes, readable errors, array arguments, progress.

Exit 0: done, and what was checked holds; 1: a check failed; 2: bad input, or a file that cannot be
read or written (one line, no traceback; the files that can be written are). With `--json` one JSON
document goes to stdout and nothing else; prose and progress go to stderr.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from headwright.cli.interrupt import noting_presses, raise_if_pressed
from headwright.cli.terminal import complain, console, give_up_output
from headwright.errors import HeadwrightError, InputError
from headwright.files import noting_writes, read_array
from headwright.result import plain

_MOST_NAMED = 4
# What a shell reports for a program that a closed pipe ended; 1 would mean a failed check
_CLOSED_PIPE = 141


def command(name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of this program. Its function returns a `Reply`; what goes wrong on the way becomes
    one line."""

    def wrap(function: Callable[..., Reply]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, **arguments: Any) -> None:
            with noting_presses(), noting_writes() as written:
                reply = _attempt(
                    f"headwright {name}", written, lambda: _answer(function(**arguments), as_json)
                )
            for fault in reply.faults:
                complain(f"headwright {name}", _in_words(fault))
            raise SystemExit(reply.exit_code)

        json_option = click.option(
            "--json", "as_json", is_flag=True, help="One JSON document on stdout."
        )
        return click.command(name, **settings)(json_option(run))

    return wrap


def _answer(reply: Reply, as_json: bool) -> Reply:
    reply.show(as_json)
    return reply


def _attempt(place: str, written: list[Path], work: Callable[[], Reply]) -> Reply:
    """Do it, or say in one line why not, and which files are there all the same."""
    try:
        return work()
    except HeadwrightError as error:
        complain(place, error)
    except BrokenPipeError:
        give_up_output()
        raise SystemExit(_CLOSED_PIPE) from None
    except OSError as error:
        complain(place, _in_words(error) + _left(written))
        give_up_output()
    except MemoryError:
        complain(
            place,
            "wanted a problem that fits in memory; got a larger one; try: fewer keys or samples",
        )
    except (KeyboardInterrupt, click.Abort):
        complain(place, "stopped" + (_left(written) or "; no file was written"))
        raise SystemExit(130) from None
    raise SystemExit(2)


def _in_words(error: OSError) -> str:
    place = f"{error.filename}" if error.filename else "a file"
    return f"wanted to use {place}; got {error.strerror or error}; try: another place, or check the permissions"


def _left(written: list[Path]) -> str:
    """The files that were finished, each of them whole."""
    if not written:
        return ""
    names = ", ".join(str(path) for path in written[:_MOST_NAMED])
    more = f" and {len(written) - _MOST_NAMED} more" if len(written) > _MOST_NAMED else ""
    return f"; written before that, and whole: {names}{more}"


class Outputs:
    """The files a command was asked for: each is tried, whatever happens to the others. `Reply`
    tells the faults."""

    def __init__(self) -> None:
        self.faults: list[OSError] = []

    def attempt(self, write: Callable[[], Any]) -> Any:
        """What `write` returns, or None if the system did not let it."""
        try:
            return write()
        except OSError as fault:
            self.faults.append(fault)
            return None


class Reply:
    """What a command has to say: `data` for machines, `render(console)` for people, `holds` for the
    exit code, and the `faults` of outputs that could not be written."""

    def __init__(
        self,
        data: Any,
        render: Callable[[Console], None],
        *,
        holds: bool = True,
        faults: Sequence[OSError] = (),
    ) -> None:
        self.data, self.render, self.holds, self.faults = data, render, holds, faults

    @property
    def exit_code(self) -> int:
        return 2 if self.faults else 0 if self.holds else 1

    def show(self, as_json: bool) -> None:
        if as_json:
            # In ASCII: every terminal can show it, and no character in it can command one.
            click.echo(json.dumps(plain(self.data), allow_nan=False))
        else:
            self.render(console())
        if sys.stdout is not None:
            sys.stdout.flush()


class ArrayFile(click.ParamType):
    """A path to an array file, or the array itself written as JSON: `--query '[1, 0, 2]'`."""

    name = "array"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from headwright import inputs

        try:
            if isinstance(value, str) and value.lstrip().startswith("["):
                _, (array,) = inputs.arrays(**{param.name: _inline(value)})
                return array
            return read_array(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def _inline(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(
            wanted="a JSON array", got=text[:40], attempt="write it like [[1, 0], [0, 1]]"
        ) from None


ARRAY = ArrayFile()


def progress(items: Iterable[Any], label: str, total: int | None = None) -> Iterable[Any]:
    """Iterate with a bar on a terminal's stderr, and in silence elsewhere; Ctrl+C is heard between
    two items."""
    if sys.stderr.isatty():
        from rich.progress import track

        items = track(
            items, description=label, total=total, console=Console(stderr=True), transient=True
        )
    for item in items:
        raise_if_pressed()
        yield item
        raise_if_pressed()
