"""The command line: one file per command, imported only when it runs, so `--help` answers at once.

Reading order: `conventions` (what all commands share), `arguments` (arrays and numbers from words),
`heads/attend` as the shortest example, then the command you came for. `terminal` is what may reach
a terminal, `interrupt` how Ctrl+C is heard; `crew_options` and `crew_bar` serve commands of many
jobs; `example` is what `--help` shows and `--demo` runs. Where showing takes more room than asking,
it has a file of its own: `audit/view`, `check/view`, `heads/design_view`, `heads/stress_view`,
`xray/view`.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

import rich_click as click

from headwright import __version__
from headwright.cli.terminal.plain_text import complain, replace_unknown_characters
from headwright.errors import InputError

# command -> (module under headwright.cli, one-line help). Listing commands imports none of them.
COMMANDS = {
    "tour": ("tour", "Walk the whole exercise, verified, with figures and report.html."),
    "attend": ("heads.attend", "Forward attention: weights and output of a query."),
    "design": ("heads.design", "From a target to the cheapest query, with a certificate."),
    "certify": ("heads.certify", "Re-check a saved design, independently of the solver."),
    "reach": ("heads.reach", "Which keys can ever win?"),
    "stress": ("heads.stress", "Exact mean and covariance of the output under random keys."),
    "extract": ("heads.extract", "The matrix that gets v_a back out of v_a + v_b."),
    "symmetry": ("heads.symmetry", "Is a layer permutation-equivariant?"),
    "check": ("check.command", "Judge written answers about attention by computation."),
    "course": ("course.demo", "A sample class to try everything out with."),
    "new": ("course.new", "One sheet per student, the keys, and a manifest."),
    "pack": ("course.pack", "An autograder for Gradescope or PrairieLearn, in one zip."),
    "audit": ("audit.command", "What the heads of a trained model do, and which break first."),
    "xray": ("xray.command", "What is true of an attention layer? Found by running it."),
    "study": ("study", "A function at every point of a grid: table, figures and a page."),
    "lab": ("lab", "Explore attention in the browser, by dragging."),
    "docs": ("docs", "This documentation as a site: build it and open it."),
    "bench": ("bench", "Run one benchmark and print its ratios."),
}

# How alike a wrong name must be to a command for it to be offered, from 0 to 1
_CLOSE = 0.5

# Set while the program's own help is written, or names are completed: that needs the table above
# and no command's file.
_LISTING = "headwright.listing"


class _LazyGroup(click.RichGroup):
    """Imports a command's file when that command is asked for; its own help needs only the table
    above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        if ctx.meta.get(_LISTING):
            return click.Command(cmd_name, help=summary)
        return import_module(f"headwright.cli.{module}").command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        is_option = name.startswith("-")
        if name not in COMMANDS and not is_option and not ctx.resilient_parsing:
            close = difflib.get_close_matches(name.lower(), COMMANDS, n=1, cutoff=_CLOSE)
            meant = f" (did you mean {close[0]}?)" if close else ""
            attempt = f"headwright {close[0] if close else '--help'}"
            raise InputError(wanted="a command", got=f"{name!r}{meant}", attempt=attempt)
        return click.RichGroup.resolve_command(self, ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        ctx.meta[_LISTING] = True
        return click.RichGroup.shell_complete(self, ctx, incomplete)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[_LISTING] = True
        click.RichGroup.format_help(self, ctx, formatter)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="headwright")
def app() -> None:
    """A workbench for attention heads: design, noise, check, audit, lab."""


def _missing(error: click.MissingParameter, place: str) -> InputError:
    """What was left out, and how it is written."""
    from headwright.cli.arguments import ARRAY  # with NumPy, which not every command needs

    wanted = error.param
    assert wanted is not None
    is_option = isinstance(wanted, click.Option)
    name = max(wanted.opts, key=len) if is_option else wanted.human_readable_name
    said = getattr(wanted, "help", None)
    command = error.ctx.command if error.ctx is not None else None
    first = f"{place} --demo" if getattr(command, "demo", None) else getattr(command, "example", "")
    attempt = f"{first}, or {place} --help" if first else f"{place} --help"
    if wanted.type is ARRAY:
        attempt = f"{name} FILE, {name} '[[1, 0], [0, 1]]', {attempt}"
    described = f"{name} ({said.rstrip('.')})" if said else name
    return InputError(wanted=described, got="none", attempt=attempt)


def _refused(error: click.ClickException, place: str) -> str:
    """The words of the library for what it refuses itself, and what to try."""
    said = error.format_message().rstrip(".")
    said = said.replace("is not a valid integer range", "is not a whole number")
    return said if "try: " in said else f"{said}; try: {place} --help"


def main(args: list[str] | None = None) -> None:
    """Entry point: bad input is one line on stderr and exit 2, whoever found it."""
    replace_unknown_characters()
    try:
        code = app.main(args, prog_name="headwright", standalone_mode=False)
    except InputError as error:
        complain("headwright", error)
        raise SystemExit(2) from None
    except click.MissingParameter as error:
        place = error.ctx.command_path if error.ctx else "headwright"
        complain(place, _missing(error, place))
        raise SystemExit(2) from None
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        place = context.command_path if context else "headwright"
        complain(place, _refused(error, place))
        raise SystemExit(2) from None
    except click.Abort:
        raise SystemExit(130) from None
    raise SystemExit(code if isinstance(code, int) else 0)
