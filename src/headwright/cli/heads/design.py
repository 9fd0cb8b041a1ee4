"""`headwright design`: from a target to the cheapest query, with a certificate, figures and a file
to re-check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from headwright.cli.arguments import key_numbers, whole_number
from headwright.cli.conventions import Outputs, Reply
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options
from headwright.cli.heads.design_view import render
from headwright.errors import InputError

_AVERAGE = "Average these keys (from 0), e.g. 0,3 or 1-3, ends included."
_HEADS = "Fewest heads, or this many; shown as head 1, head 2, .."
_STORAGE = "float64, float32 or bfloat16."
_NOISE = "Design for random keys, e.g. isotropic=1e-4,radial@3=0.5."
_SAVED = click.Path(dir_okay=False)


@headwright_command(
    "design",
    demo={
        "--keys": "[[1, 0], [0, 1], [-1, -1]]",
        "--average": "0-1",
    },
    rivals=("--copy", "--average", "--mixture"),
)
@options.KEYS
@click.option("--copy", "copied", metavar="J", help="Copy this key (from 0).")
@click.option("--average", "averaged", metavar="A,B-C,..", help=_AVERAGE)
@click.option("--mixture", "mixed", metavar="A=.7,B=.3", help="Mix these keys (from 0).")
@options.number("--leak", "Weight allowed outside the target.", default=1e-3)
@click.option("--heads", default="1", show_default=True, metavar="auto|N", help=_HEADS)
@click.option("--uniform", is_flag=True, help="All heads have the same weight.")
@options.SCALE
@options.BIAS
@click.option("--storage", default="float64", show_default=True, help=_STORAGE)
@click.option("--noise", metavar="LAW", help=_NOISE)
@options.number("--budget", "With --noise: no query longer than this.")
@options.array("--values", "V", "With --noise: measure the error in these values.")
@click.option("--ball", is_flag=True, help="Certify in ball arithmetic as well (slow).")
@click.option("--save", "save_as", type=_SAVED, help="Write the design as JSON.")
@options.FIGURES
def command(K: Any, save_as: str | None, out: str | None, ball: bool, **asked: Any) -> Reply:
    """The cheapest query for a target, how good it provably is, or the proof that there is none.

    Exit 0 if the answer is certain (reached and certified, proved impossible, or the nearest
    mixture), 1 if not.
    """
    from headwright.design.record import document
    from headwright.files import write_json

    design = _design(K, asked)
    data = document(design)
    outputs = Outputs()
    if save_as:
        outputs.attempt(lambda: write_json(save_as, data))

    enclosed = design.certify(method="ball") if ball and design.status != "impossible" else None
    if out:
        from headwright.design.figures import figures

        drawn = outputs.attempt(lambda: figures(design, Path(out))) or []
        data["figures"] = [str(path) for path in drawn]
    if enclosed is not None:
        data["ball_certificate"] = enclosed

    holds = _certain(design, data["certificate"]) and (enclosed is None or enclosed.holds)
    return Reply(
        data, lambda console: render(console, design, data), holds=holds, faults=outputs.faults
    )


def _certain(design: Any, certificate: dict[str, Any]) -> bool:
    """A robust or nearest design promises no leak, so there is none to certify."""
    if design.status == "undecided":
        return False
    promises_leak = design.robust is None and design.status != "nearest"
    return certificate["holds"] if promises_leak else True


def _design(K: Any, asked: dict[str, Any]) -> Any:
    """Ask the one verb that was named."""
    from headwright import design
    from headwright.cli.heads.law import law_from_text

    verbs = {"copied": design.copy, "averaged": design.average, "mixed": design.mixture}
    named = [word for word in verbs if asked[word] is not None]
    if len(named) != 1:
        wanted = "one of --copy, --average, --mixture"
        raise InputError(wanted=wanted, got=f"{len(named)} of them", attempt="--copy 0")
    verb = named[0]
    target = _TARGETS[verb](asked[verb])

    wishes = {name: asked[name] for name in ("leak", "bias", "storage", "uniform")}
    wishes["scale"] = asked["scale"].of(K)
    wishes["budget"] = asked["budget"]
    wishes["values"] = asked["V"]
    wishes["law"] = law_from_text(asked["noise"], K) if asked["noise"] else None
    wishes["heads"] = _heads(asked["heads"])
    return verbs[verb](target, K, **wishes)


def _heads(text: str) -> int | str:
    return text if text == "auto" else whole_number("--heads", text)


def _shares(text: str) -> dict[int, float]:
    """`3=.7,5=.3`: what share each key gets."""
    shares: dict[int, float] = {}
    for part in text.split(","):
        key, share = _share(part)
        if key in shares:
            got = f"key {key} twice"
            raise InputError(wanted="every key once", got=got, attempt="add its shares")
        shares[key] = share
    return shares


def _share(part: str) -> tuple[int, float]:
    key, _, share = part.partition("=")
    try:
        number = float(share)
    except ValueError:
        raise InputError(
            wanted="shares like 3=.7,5=.3", got=repr(part), attempt="--mixture 3=.7,5=.3"
        ) from None
    return whole_number("--mixture key", key), number


_TARGETS = {
    "copied": lambda text: whole_number("--copy", text),
    "averaged": lambda text: key_numbers("--average", text),
    "mixed": _shares,
}
