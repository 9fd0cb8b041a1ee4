"""`headwright extract`: the projector that gets v_a back out of v_a + v_b."""

from __future__ import annotations

from typing import Any

import rich_click as click
from rich.console import Console

from headwright.cli.conventions import ARRAY, Reply
from headwright.cli.conventions import command as headwright_command
from headwright.subspace import Extraction, extract

_MOST = 8


@headwright_command("extract")
@click.option(
    "--a",
    "A",
    type=ARRAY,
    required=True,
    help="Basis of v_a's subspace, one column per vector (d x m).",
)
@click.option("--b", "B", type=ARRAY, required=True, help="Basis of v_b's subspace (d x p).")
def command(A: Any, B: Any) -> Reply:
    """The matrix M with M (v_a + v_b) = v_a, its coordinate map, and how much noise it amplifies."""
    result = extract(A, B)
    return Reply(result, lambda console: _render(console, result))


def _render(console: Console, result: Extraction) -> None:
    (d, _), (m, _) = result.matrix.shape, result.coordinates.shape
    console.print(
        f"M, {d} x {d}, {result.method} projector; noise grows by at most {result.amplification:.4g}"
    )
    console.print(_matrix(result.matrix))
    console.print(
        f"\ncoordinates in the basis A, {m} x {d}: a different object, m numbers instead of the vector"
    )
    console.print(_matrix(result.coordinates))


def _matrix(M: Any) -> str:
    if max(M.shape) > _MOST:
        return f"  ({M.shape[0]} x {M.shape[1]} numbers: use --json)"
    return "\n".join("  " + " ".join(f"{x:8.4f}" for x in row + 0.0) for row in M)
