"""`headwright xray module:name | MODEL`: what is true of this attention layer?"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from headwright import files
from headwright.cli.arguments import whole_numbers
from headwright.cli.conventions import Outputs, Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.cli.xray import view
from headwright.errors import InputError, MissingExtra
from headwright.probes import demo
from headwright.probes.asking import SECONDS, xray
from headwright.probes.examined import wanted_properties
from headwright.probes.intent import intent
from headwright.probes.layer.library import DTYPES
from headwright.probes.record import XRay

_SHAPE = "Tokens and width (head size for q, k, v); found by trying where it is not given."
_EXPECT = "What a token should see: full, causal, window=W, prefix=P or documents."
_DTYPE = f"Of the arrays that a function is given: {', '.join(DTYPES)}."
_SCALE = "Factor of the logits, where it is not 1 / sqrt(head size)."
_INPUTS = "Captured inputs: q, k and v, or x."
_SCRIPT = "Write the counterexamples as a Python file that fails while the layer is broken."
_LAYER = "Of a model: this layer alone, from 0."
_SEED = "Seed of the inputs that are drawn."
_MOST_NUMBERS = 10**8
_PAGE = "index.html"


@headwright_command("xray", example="headwright xray mylayers:attention --expect causal")
@click.argument("name", required=False, metavar="[MODULE:NAME|MODEL-FOLDER]")
@click.option("--layer", type=click.IntRange(0), metavar="L", help=_LAYER)
@click.option("--expect", metavar="WHAT", help=_EXPECT)
@click.option("--shape", metavar="N,D", help=_SHAPE)
@click.option("--dtype", metavar="TYPE", help=_DTYPE)
@click.option("--scale", type=float, metavar="S", help=_SCALE)
@click.option("--inputs", type=click.Path(), metavar="F.safetensors", help=_INPUTS)
@click.option("--script", type=click.Path(), metavar="F.py", help=_SCRIPT)
@click.option("--html", type=click.Path(), metavar="DIR", help=f"Write {_PAGE} with pictures.")
@click.option("--timeout", type=float, metavar="S", help=f"Seconds for a layer: {SECONDS:g}.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help=_SEED)
@click.option("--only", metavar="A,B", help="These properties alone.")
@click.option("--demo", "as_demo", is_flag=True, help="A built-in layer with a mistake in it.")
def command(name: str | None, script: str | None, html: str | None, **asked: Any) -> Reply:
    """What is true of this attention layer? A table of properties, found by running it.

    The layer is a function of (q, k, v), a torch module on hidden states, or a class or factory
    without arguments, also from the working directory; or every layer of a model folder. Exit code
    1 where something expected is broken.
    """
    record = _examined(name, **asked)
    outputs = Outputs()
    page = None if html is None else Path(html) / _PAGE
    text = record.script()
    if page is not None:
        outputs.attempt(lambda: files.write_text(page, record.to_html()))
    if script is not None and text:
        outputs.attempt(lambda: files.write_text(Path(script), text))

    def render(console: Console) -> None:
        view.show(console, record, script)
        if page is not None and page.exists():
            console.print(f"Page: {page}", markup=False)

    return Reply(record.to_json(), render, holds=record.holds, faults=outputs.faults)


def _examined(
    name: str | None, *, as_demo: bool, layer: int | None, shape: str | None, **asked: Any
) -> XRay:
    """`asked` goes to `hw.xray` as it is."""
    if as_demo:
        return _demo(name, asked)
    if name is None:
        got = "no layer and no model"
        attempt = "headwright xray mylayers:attention, or headwright xray --demo"
        raise InputError(wanted="module:name or a model folder", got=got, attempt=attempt)
    if ":" not in name or Path(name).is_dir():
        return _model(name, layer, shape, asked)
    if layer is not None:
        got = f"--layer {layer} for {name}"
        raise InputError(wanted="--layer for a model folder", got=got, attempt="leave --layer out")
    seconds = asked.pop("timeout")
    timeout = SECONDS if seconds is None else seconds
    return xray(name, shape=_sizes(shape), timeout=timeout, **asked)


def _demo(name: str | None, asked: dict[str, Any]) -> XRay:
    if name is not None:
        got = f"{name} and --demo"
        raise InputError(wanted="one layer", got=got, attempt="leave one of them out")
    expect = asked["expect"] or demo.EXPECT
    return xray(demo.NAME, expect=expect, seed=asked["seed"], only=asked["only"])


def _model(name: str, layer: int | None, shape: str | None, asked: dict[str, Any]) -> XRay:
    """Every layer of a model, and the whole of it."""
    _refuse_neither(name)
    given = {"--shape": shape, "--inputs": asked.pop("inputs"), "--scale": asked.pop("scale")}
    unused = [option for option, value in given.items() if value is not None]
    if unused:
        attempt = f"leave {unused[0]} out: a model has its own"
        raise InputError(wanted=f"{unused[0]} for a layer", got="a model", attempt=attempt)
    wanted_properties(asked["only"])
    intent(asked["expect"])
    from headwright.probes.models import xray_model

    with progress_bar("layers") as step:
        return xray_model(name, layer=layer, step=step, **asked)


def _refuse_neither(name: str) -> None:
    """A model is a folder, a file, an installed package or a cached name."""
    if Path(name).exists():
        return
    try:
        from headwright.trained.loading.load import find

        find(name)
    except (InputError, MissingExtra) as reason:
        if isinstance(reason, MissingExtra) and _is_installed(name):
            raise
        attempt = "headwright xray mylayers:attention, or the folder of a model"
        got = f"{name!r}, which is neither"
        raise InputError(wanted="module:name or a model folder", got=got, attempt=attempt) from None


def _is_installed(name: str) -> bool:
    """As a package, which may hold a model: to see that takes the extra."""
    try:
        return bool(metadata.version(name))
    except (metadata.PackageNotFoundError, ValueError):
        return False


def _sizes(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    numbers = whole_numbers(text, wanted="--shape N,D", attempt="--shape 6,32")
    if len(numbers) != 2 or min(numbers) < 1 or numbers[0] * numbers[1] > _MOST_NUMBERS:
        wanted = "--shape N,D with two positive numbers"
        raise InputError(wanted=wanted, got=text, attempt="--shape 6,32")
    return (numbers[0], numbers[1])
