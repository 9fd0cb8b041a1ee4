"""The reference of the command line, made from the commands themselves: what `--help` says, with
every option, default and example."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import click

from headwright.site.markdown import plain

FOLDER = PurePosixPath("reference/commands")
PROGRAM = "headwright"

# What every command takes comes after what it takes alone.
_SHARED = ("--demo", "--json", "--help")


def command_pages(program: click.Group) -> dict[PurePosixPath, str]:
    """A page per command of the `program`, by its place."""
    above = click.Context(program, info_name=PROGRAM)
    named = {name: program.get_command(above, name) for name in program.list_commands(above)}
    return {
        FOLDER / f"{name}.md": _page(command, _context(above, name, command))
        for name, command in named.items()
        if command is not None
    }


def _context(above: click.Context, name: str, command: click.Command) -> click.Context:
    return click.Context(command, info_name=name, parent=above, show_default=True)


def _page(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [
        f"# {context.command_path}",
        *_paragraphs(command.help or ""),
        f"```text\n{usage}\n```",
    ]
    example = getattr(command, "example", "")
    if example:
        parts += ["## Example", f"```bash\n{example}\n```"]
    parts += ["## Options", f"```{{program}} {context.command_path}\n```"]
    parts += _options(command, context)
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> list[str]:
    # Click marks paragraphs that are not to be wrapped with a backspace.
    return [plain(block.strip("\b\n")) for block in inspect.cleandoc(text).split("\n\n")]


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    taken = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    for option in sorted(taken, key=_is_shared):
        if not option.hidden:
            yield f"```{{option}} {_written(option, context)}\n{_said(option, context)}\n```"


def _is_shared(option: click.Option) -> bool:
    return any(shared in option.opts for shared in _SHARED)


def _written(option: click.Option, context: click.Context) -> str:
    """The option as it is typed, every spelling with what follows it."""
    follows = "" if option.is_flag or option.count else f" {option.make_metavar(context)}"
    spellings = [*option.opts, *option.secondary_opts]
    return ", ".join(f"{spelling}{follows}" for spelling in spellings)


def _said(option: click.Option, context: click.Context) -> str:
    """The help of the option, and what Click knows beside it."""
    known: Any = option.get_help_extra(context)
    facts = []
    if known.get("required"):
        facts.append("Required.")
    if known.get("default"):
        facts.append(f"Default: `{known['default']}`.")
    if known.get("range"):
        facts.append(f"Range: `{known['range']}`.")
    return " ".join([plain(option.help or ""), *facts]).strip()
