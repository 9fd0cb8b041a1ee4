"""What all commands share: `--json`, exit codes, readable errors, progress bars.

Exit 0: done, and what was checked holds; 1: a check failed; 2: bad input, or a file that cannot be
read or written (one line, no traceback; the files that can be written are). With `--json` one JSON
document goes to stdout and nothing else; prose and progress go to stderr.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from headwright.cli.example import Worked, demo_option
from headwright.cli.interrupt import noting_presses, raise_if_pressed
from headwright.cli.terminal.plain_text import complain, give_up_output
from headwright.errors import HeadwrightError
from headwright.files import noting_writes
from headwright.result import plain

if TYPE_CHECKING:
    from rich.console import Console

_MOST_NAMED = 4
# What a shell reports for a program that a closed pipe ended; 1 would mean a failed check
_CLOSED_PIPE = 141
# What a shell reports for a program that Ctrl+C ended
_PRESSED = 130

_TOO_LARGE = "wanted a problem that fits in memory; got a larger one; try: fewer keys or samples"


def command(
    name: str,
    *,
    example: str = "",
    demo: Mapping[str, str] | None = None,
    rivals: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of this program. Its function returns a `Reply`; what goes wrong on the way becomes
    one line. Its example is `example`, or the words of its `demo`."""
    place = f"headwright {name}"

    def wrap(function: Callable[..., Reply]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, **arguments: Any) -> None:
            def answer() -> Reply:
                reply = function(**arguments)
                reply.show(as_json)
                return reply

            with noting_presses(), noting_writes() as written:
                reply = _attempt(place, written, answer)
            for fault in reply.faults:
                complain(place, _in_words(fault))
            raise SystemExit(reply.exit_code)

        shown = "One JSON document on stdout."
        json_option = click.option("--json", "as_json", is_flag=True, help=shown)
        taken = demo_option(json_option(run)) if demo else json_option(run)
        return click.command(name, cls=Worked)(taken).described(example, demo or {}, rivals)

    return wrap


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
        complain(place, _TOO_LARGE)
    except (KeyboardInterrupt, click.Abort) as press:
        # Work that can be continued says how, when it lets the press through
        how = f" {press}" if str(press) else ""
        complain(place, "stopped" + (how or _left(written) or "; no file was written"))
        raise SystemExit(_PRESSED) from None
    raise SystemExit(2)


def _in_words(error: OSError) -> str:
    place = error.filename or "a file"
    reason = error.strerror or error
    return f"wanted to use {place}; got {reason}; try: another place, or check the permissions"


def _left(written: list[Path]) -> str:
    """The files that were finished, each of them whole."""
    if not written:
        return ""
    names = ", ".join(str(path) for path in written[:_MOST_NAMED])
    unnamed = len(written) - _MOST_NAMED
    more = f" and {unnamed} more" if unnamed > 0 else ""
    return f"; already written, and complete: {names}{more}"


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
        self.data = data
        self.render = render
        self.holds = holds
        self.faults = faults

    @property
    def exit_code(self) -> int:
        return 2 if self.faults else 0 if self.holds else 1

    def show(self, as_json: bool) -> None:
        if as_json:
            # In ASCII: every terminal can show it, and no character in it can command one.
            click.echo(json.dumps(plain(self.data), allow_nan=False))
        else:
            # Here: a command starts its work before anything is shown.
            from headwright.cli.terminal.screen import console

            self.render(console())
        if sys.stdout is not None:
            sys.stdout.flush()


Step = Callable[[int, int | None], None]


@contextmanager
def progress_bar(label: str) -> Iterator[Step]:
    """`step(done, total)` moves a bar on a terminal's stderr, in silence elsewhere; Ctrl+C is heard
    at every step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total: raise_if_pressed()
        return

    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def step(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)
            raise_if_pressed()

        yield step


def progress(items: Iterable[Any], label: str, total: int | None = None) -> Iterable[Any]:
    """Iterate under a bar; Ctrl+C is heard between two items."""
    with progress_bar(label) as step:
        for done, item in enumerate(items, 1):
            raise_if_pressed()
            yield item
            step(done, total)
