"""Commands that are shown and not run still have to exist: their names, their options, the files
and extras that they mention."""

from __future__ import annotations

import re
import shlex
import tomllib

import click
from tests.docs.page import ROOT
from tests.docs.shell import Command

from headwright.cli import app

_EXTRA = re.compile(r"(?:headwright|\.)\[([\w,]+)\]")
_BENCHMARKS = ROOT / "benchmarks"


def faults_of(command: Command) -> list[str]:
    """Why a command that was not run could not run."""
    program, *arguments = command.words
    if program == "headwright":
        return _faults_of_headwright(arguments)
    if program.endswith("pip"):
        return _unknown_extras(shlex.join(arguments))
    if program.startswith("python") and arguments[0].endswith(".py"):
        return [] if (ROOT / arguments[0]).is_file() else [f"no file {arguments[0]}"]
    return []


def faults_in_passing(span: str) -> list[str]:
    """Of a command inside a sentence or a table, where `[--out DIR]` and `A|B` are usual: its name
    and its options alone."""
    _, *words = span.replace("[", " ").replace("]", " ").split()
    named = [word for word in words if not word.startswith("-")]
    try:
        command, _ = _found(named)
    except click.UsageError as error:
        return [error.format_message()]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    known |= {"--help", "-h", "--version"}
    given = re.findall(r"(?<!\S)--[a-z-]+", " ".join(words))
    return [f"{command.name} has no option {option}" for option in given if option not in known]


def _faults_of_headwright(arguments: list[str]) -> list[str]:
    try:
        command, rest = _found(arguments)
        context = click.Context(command)
        command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return [error.format_message()]
    if command.name == "bench" and rest:
        is_there = (_BENCHMARKS / f"{rest[0]}.py").is_file()
        return [] if is_there else [f"no benchmark {rest[0]}"]
    return []


def _found(arguments: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the first words name, and the other words."""
    command: click.Command = app
    rest = list(arguments)
    while isinstance(command, click.Group) and rest:
        name = rest.pop(0)
        inner = command.get_command(click.Context(command), name)
        if inner is None:
            raise click.UsageError(f"no command {name}")
        command = inner
    return command, rest


def _unknown_extras(text: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {name for group in _EXTRA.findall(text) for name in group.split(",")}
    return [f"no extra {name}" for name in named - project["optional-dependencies"].keys()]
