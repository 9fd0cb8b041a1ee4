"""The worked example of a command: shown by `--help`, run by `--demo`, offered where something is
missing. A demo is nothing but words that could have been typed, so it cannot drift from the real
thing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import rich_click as click

from headwright.cli.terminal.plain_text import complain

_DEMO = "--demo"
_SAID = "Built-in data, nothing to prepare; options beside it replace its own."


class Worked(click.RichCommand):
    """A command with an example. `demo` maps options to their values, the empty option to an
    argument; of options that exclude each other (`rivals`) the one that was typed is kept."""

    example = ""
    demo: Mapping[str, str] = {}
    rivals: Sequence[str] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.demo and _DEMO in args:
            added = [word for option in self._left(args) for word in self._words(option)]
            args = [*added, *args]
            typed = [word for word in args if word not in (_DEMO, "--json")]
            complain("demo", shlex.join(["headwright", str(self.name), *typed]))
        return click.RichCommand.parse_args(self, ctx, args)

    def _left(self, args: list[str]) -> list[str]:
        """The options of the demo that were not typed, nor a rival of theirs."""
        typed = {word.partition("=")[0] for word in args}
        if typed.intersection(self.rivals):
            typed.update(self.rivals)
        return [option for option in self.demo if option not in typed]

    def _words(self, option: str) -> list[str]:
        return [option, self.demo[option]] if option else [self.demo[option]]

    def described(self, example: str, demo: Mapping[str, str], rivals: Sequence[str]) -> Worked:
        """The same command, with its example in the help."""
        self.demo = demo
        self.rivals = rivals
        words = [word for option in demo for word in self._words(option)]
        self.example = example or shlex.join(["headwright", str(self.name), *words])
        self.epilog = f"Example: {self.example}"
        return self


def demo_option(function: Any) -> Any:
    return click.option(_DEMO, is_flag=True, expose_value=False, help=_SAID)(function)
