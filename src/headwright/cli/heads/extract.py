"""`headwright extract`: the projector that gets v_a back out of v_a + v_b."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options
from headwright.subspace import Extraction, extract

_MOST = 8
_NOT_THE_VECTOR = "a different object, m numbers instead of the vector"


@headwright_command(
    "extract",
    demo={
        "--a": "[[1], [0], [0]]",
        "--b": "[[1], [1], [0]]",
    },
)
@options.array("--a", "A", "Basis of v_a's subspace, one column per vector (d x m).", required=True)
@options.array("--b", "B", "Basis of v_b's subspace (d x p).", required=True)
def command(A: Any, B: Any) -> Reply:
    """The matrix M with M (v_a + v_b) = v_a, its coordinate map, and how much noise it
    amplifies."""
    result = extract(A, B)
    return Reply(result, lambda console: _render(console, result))


def _render(console: Console, result: Extraction) -> None:
    m, d = result.coordinates.shape
    growth = f"noise grows by at most {result.amplification:.4g}"
    console.print(f"M, {d} x {d}, {result.method} projector; {growth}")
    console.print(_matrix(result.matrix))

    console.print(f"\ncoordinates in the basis A, {m} x {d}: {_NOT_THE_VECTOR}")
    console.print(_matrix(result.coordinates))


def _matrix(M: Any) -> str:
    if max(M.shape) > _MOST:
        rows, columns = M.shape
        return f"  ({rows} x {columns} numbers: use --json)"
    positive_zeros = M + 0.0  # -0.0 would be shown with its sign
    return "\n".join(_row(row) for row in positive_zeros)


def _row(numbers: Any) -> str:
    return "  " + " ".join(f"{x:8.4f}" for x in numbers)
