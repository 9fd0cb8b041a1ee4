"""The few words of a shell that pages use, in this process: starting the program takes longer than
most of its work."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from headwright.cli import main

# 1 is an answer as well: a check that failed, a layer that is broken.
ANSWERS = (0, 1)
WIDTH = "80"


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    target: str | None  # the file behind `>`
    here: str | None  # the text of `<<'EOF'`
    shown: str  # what the page shows below it

    def __str__(self) -> str:
        return shlex.join(self.words)


class _Program:
    """The program as its entry point makes it, for a runner that knows commands."""

    name = "headwright"

    def main(self, args: list[str], prog_name: str, **settings: object) -> None:
        main(list(args))


def commands(kind: str, text: str) -> Iterator[Command]:
    """`console`: lines with `$ ` are commands, the others what they print. `bash`: all lines are
    commands."""
    joined = text.replace("\\\n", " ")
    entries = re.split(r"^\$ ", joined, flags=re.MULTILINE) if kind == "console" else [joined]
    for entry in entries:
        lines = entry.splitlines()
        while lines:
            line = lines.pop(0)
            command = _command(line, lines)
            if command is None:
                continue
            if kind == "console":
                command = Command(command.words, command.target, command.here, "\n".join(lines))
                lines = []
            yield command


def _command(line: str, below: list[str]) -> Command | None:
    document = re.search(r" <<'(\w+)'$", line)
    here = None
    if document:
        line = line[: document.start()]
        end = below.index(document[1])
        here = "".join(f"{one}\n" for one in below[:end])
        del below[: end + 1]
    words = shlex.split(line, comments=True)
    target = None
    if ">" in words:
        target = words[-1]
        assert words[-2] == ">", f"one file behind >: {line}"
        words = words[:-2]
    return Command(tuple(words), target, here, "") if words else None


def run(command: Command) -> str:
    """What the command prints, without what goes into a file."""
    program, *arguments = command.words
    ways = {"headwright": _headwright, "python": _python, "cat": _cat, "cd": _cd}
    assert program in ways, f"{program} is not run by tests: <!-- not run: REASON -->"
    stdout, printed = ways[program](arguments, command)
    if command.target is None:
        return printed
    Path(command.target).write_text(stdout, encoding="utf-8")
    return ""


def _headwright(arguments: list[str], command: Command) -> tuple[str, str]:
    runner = CliRunner(catch_exceptions=False, env={"COLUMNS": WIDTH})
    result = runner.invoke(_Program(), arguments)  # pyright: ignore[reportArgumentType]
    assert result.exit_code in ANSWERS, f"{command}: exit code {result.exit_code}\n{result.output}"
    return result.stdout, result.output


def _python(arguments: list[str], command: Command) -> tuple[str, str]:
    if arguments[:2] == ["-m", "pytest"]:
        return _tests(arguments[2])
    if arguments[0].startswith("-"):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        stdout = done.stdout.decode()
        return stdout, stdout
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(arguments[0], run_name="__main__")
        except AssertionError as error:
            printed.write("".join(traceback.format_exception(error)))
    return printed.getvalue(), printed.getvalue()


def _tests(file: str) -> tuple[str, str]:
    """The tests of a file by themselves: one run of pytest does not start another."""
    tests = [test for name, test in runpy.run_path(file).items() if name.startswith("test_")]
    for test in tests:
        test()
    said = f"{len(tests)} passed\n"
    return said, said


def _cat(arguments: list[str], command: Command) -> tuple[str, str]:
    if command.here is not None:
        return command.here, command.here
    text = "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    return text, text


def _cd(arguments: list[str], command: Command) -> tuple[str, str]:
    os.chdir(arguments[0])
    return "", ""
