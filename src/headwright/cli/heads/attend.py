"""`headwright attend`: the forward pass, for a look at weights and output."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from headwright.attention import Attention, attend
from headwright.cli.arguments import Scale
from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options
from headwright.cli.terminal.screen import fitted

_MOST_ROWS = 20
_MOST_COORDINATES = 8
_BAR = 30  # characters of a weight of one


@headwright_command(
    "attend",
    demo={
        "--keys": "[[1, 0], [0, 1], [-1, -1]]",
        "--values": "[[1, 0], [0, 1], [5, 5]]",
        "--query": "[2, 0]",
    },
)
@options.KEYS
@options.VALUES
@options.array("--query", "q", "One query (d) or several (m x d).", required=True)
@options.SCALE
@options.array("--bias", "bias", "Added to the logits.")
@options.array("--mask", "mask", "1 where a key may be seen, 0 where it is hidden.")
def command(K: Any, V: Any, q: Any, scale: Scale, bias: Any, mask: Any) -> Reply:
    """Forward attention: weights, logits and output of one query or many."""
    visible = None if mask is None else mask != 0
    result = attend(q, K, V, scale=scale.of(K), bias=bias, mask=visible)
    return Reply(result, lambda console: _render(console, result))


def _render(console: Console, result: Attention) -> None:
    several = result.weights.ndim > 1
    console.print(fitted(_queries(result) if several else _keys(result), console))

    hidden = len(result.weights) - _MOST_ROWS
    if hidden > 0:
        console.print(f"{hidden} more rows: use --json")
    if not several:
        console.print(f"output c = {vector(result.output)}")


def _queries(result: Attention) -> Table:
    """Where each of several queries looks most."""
    table = Table("query", "largest weight", "on key", "output", title="attention")
    for i, alpha in enumerate(result.weights[:_MOST_ROWS]):
        output = vector(result.output[i])
        table.add_row(str(i), f"{alpha.max():.4f}", str(alpha.argmax()), output)
    return table


def _keys(result: Attention) -> Table:
    """The keys that one query sees, heaviest first."""
    table = Table("key", "logit", "weight", "", title="attention")
    heaviest_first = result.weights.argsort()[::-1]
    for i in heaviest_first[:_MOST_ROWS]:
        weight = float(result.weights[i])
        bar = "█" * round(_BAR * weight)
        table.add_row(str(i), f"{result.logits[i]:.4g}", f"{weight:.4f}", bar)
    return table


def vector(c: Any) -> str:
    """The first numbers of it, short."""
    shown = ", ".join(f"{x:.4g}" for x in c[:_MOST_COORDINATES])
    more = ", ..." if len(c) > _MOST_COORDINATES else ""
    return f"({shown}{more})"
