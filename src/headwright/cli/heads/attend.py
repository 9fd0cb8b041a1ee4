"""`headwright attend`: the forward pass, for a look at weights and output."""

from __future__ import annotations

from typing import Any

import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.attention import Attention, attend
from headwright.cli.conventions import ARRAY, Reply
from headwright.cli.conventions import command as headwright_command

_MOST_ROWS = 20


@headwright_command("attend")
@click.option("--keys", "K", type=ARRAY, required=True, help="Keys, n x d.")
@click.option("--values", "V", type=ARRAY, required=True, help="Values, n x v.")
@click.option("--query", "q", type=ARRAY, required=True, help="One query (d) or several (m x d).")
@click.option(
    "--scale",
    type=float,
    default=1.0,
    show_default=True,
    help="Factor on the scores, e.g. 1/sqrt(d).",
)
@click.option("--bias", type=ARRAY, default=None, help="Added to the logits.")
@click.option(
    "--mask", type=ARRAY, default=None, help="1 where a key may be seen, 0 where it is hidden."
)
def command(K: Any, V: Any, q: Any, scale: float, bias: Any, mask: Any) -> Reply:
    """Forward attention: weights, logits and output of one query or many."""
    result = attend(q, K, V, scale=scale, bias=bias, mask=None if mask is None else mask != 0)
    return Reply(result, lambda console: _render(console, result))


def _render(console: Console, result: Attention) -> None:
    if result.weights.ndim > 1:
        table = Table("query", "largest weight", "on key", "output", title="attention")
        for i, (alpha, c) in enumerate(
            zip(result.weights[:_MOST_ROWS], result.output, strict=False)
        ):
            table.add_row(str(i), f"{alpha.max():.4f}", str(alpha.argmax()), _vector(c))
    else:
        table = Table("key", "logit", "weight", "", title="attention")
        order = result.weights.argsort()[::-1][:_MOST_ROWS]
        for i in order:
            bar = "█" * round(30 * float(result.weights[i]))
            table.add_row(str(i), f"{result.logits[i]:.4g}", f"{result.weights[i]:.4f}", bar)
    console.print(table)
    hidden = result.weights.shape[-1 if result.weights.ndim == 1 else 0] - _MOST_ROWS
    if hidden > 0:
        console.print(f"{hidden} more rows: use --json")
    if result.weights.ndim == 1:
        console.print(f"output c = {_vector(result.output)}")


def _vector(c: Any) -> str:
    shown = ", ".join(f"{x:.4g}" for x in c[:8])
    return f"({shown}{', ...' if len(c) > 8 else ''})"
