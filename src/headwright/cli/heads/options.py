"""The options that several of these commands take, each said once."""

from __future__ import annotations

from typing import Any

import rich_click as click

from headwright.cli.arguments import ARRAY
from headwright.cli.arguments import SCALE as SCALE_TYPE


def array(flag: str, name: str, said: str, *, required: bool = False) -> Any:
    """An option whose value is an array: a file, or JSON written in place."""
    return click.option(flag, name, type=ARRAY, required=required, help=said)


def number(flag: str, said: str, *, default: float | None = None) -> Any:
    """An option whose value is a number; a default is shown."""
    return click.option(flag, type=float, default=default, show_default=True, help=said)


def folder(flag: str, said: str) -> Any:
    """An option that names a folder to write into."""
    return click.option(flag, type=click.Path(file_okay=False), help=said)


_SCALE = "Factor on the scores; d is the width of the keys."
KEYS = array("--keys", "K", "Keys, n x d, one per row; counted from 0.", required=True)
VALUES = array("--values", "V", "Values, n x v.", required=True)
BIAS = array("--bias", "bias", "Added to the logits, one number per key.")
SCALE = click.option(
    "--scale",
    type=SCALE_TYPE,
    default="1",
    show_default=True,
    metavar=SCALE_TYPE.name,
    help=_SCALE,
)
FIGURES = folder("--out", "Write figures into this folder.")
