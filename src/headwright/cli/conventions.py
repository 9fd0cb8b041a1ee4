"""What all commands share: `--json`, exit codes, readable errors, array arguments, progress.

Exit 0: done, and what was checked holds; 1: a check failed; 2: bad input (one line, no traceback).
With `--json` one JSON document goes to stdout and nothing else; prose and progress go to stderr.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

import rich_click as click
from rich.console import Console

from headwright.errors import HeadwrightError, InputError
from headwright.files import read_array
from headwright.result import plain


def command(name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of this program. Its function returns a `Reply`; errors of the headwright family become exit 2."""

    def wrap(function: Callable[..., Reply]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, **arguments: Any) -> None:
            try:
                reply = function(**arguments)
            except HeadwrightError as error:
                click.echo(f"headwright {name}: {error}", err=True)
                raise SystemExit(2) from None
            except (KeyboardInterrupt, click.Abort):
                click.echo(f"headwright {name}: stopped; nothing half-written", err=True)
                raise SystemExit(130) from None
            reply.show(as_json)
            raise SystemExit(0 if reply.holds else 1)

        json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
        return click.command(name, **settings)(json_option(run))

    return wrap


class Reply:
    """What a command has to say: `data` for machines, `render(console)` for people, `holds` for the exit code."""

    def __init__(self, data: Any, render: Callable[[Console], None], *, holds: bool = True) -> None:
        self.data, self.render, self.holds = data, render, holds

    def show(self, as_json: bool) -> None:
        if as_json:
            click.echo(json.dumps(plain(self.data), ensure_ascii=False, allow_nan=False))
        else:
            self.render(Console(highlight=False))


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
    except ValueError:
        raise InputError(wanted="a JSON array", got=text[:40], attempt="write it like [[1, 0], [0, 1]]") from None


ARRAY = ArrayFile()


def progress(items: Iterable[Any], label: str, total: int | None = None) -> Iterable[Any]:
    """Iterate with a bar on a terminal's stderr, and in silence elsewhere."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import track

    yield from track(items, description=label, total=total, console=Console(stderr=True), transient=True)
