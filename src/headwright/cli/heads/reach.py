"""`headwright reach`: which keys (or sets of keys) can ever win, with a query or a proof for
each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.arguments import key_numbers
from headwright.cli.conventions import Outputs, Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.cli.heads import options
from headwright.cli.terminal.screen import fitted
from headwright.errors import InputError

_MOST_ROWS = 20
_MOST_TERMS = 3
# What a verdict on keys has, and one on sets has not, or the other way round
_DETAILS = ("counts", "groups", "dimension", "tolerance", "sets")

_SETS = "Decide this set of keys (e.g. 0,3 or 1-3), not every key; repeatable."
_WITNESS = "Show the winning query of key J (from 0)."
_PROOFS = "At most this many proofs."


@headwright_command(
    "reach",
    demo={
        "--keys": "[[1, 0], [0, 1], [-1, -1], [0.1, 0.1]]",
    },
)
@options.KEYS
@click.option("--set", "sets", multiple=True, metavar="A,B-C,..", help=_SETS)
@click.option("--witness", "witnesses", multiple=True, type=int, metavar="J", help=_WITNESS)
@click.option("--proofs", type=int, default=_MOST_ROWS, show_default=True, help=_PROOFS)
@options.number("--tolerance", "Relative size of rounding; 0 judges the stored numbers.")
@options.folder("--out", "Write a figure into this folder.")
def command(
    K: Any,
    sets: tuple[str, ...],
    witnesses: tuple[int, ...],
    proofs: int,
    tolerance: float | None,
    out: str | None,
) -> Reply:
    """Which keys can ever win? A query for those that can, a convex combination for those that
    cannot.

    Exit 0 if every key (or set) was decided, 1 if some stayed undecided.
    """
    from headwright.design.separation.reachability import Reach, reach

    if out and sets:
        attempt = "the figure shows all keys: drop --set"
        raise InputError(wanted="--out without --set", got="both", attempt=attempt)
    asked = [key_numbers("--set", text) for text in sets] if sets else None
    with progress_bar("deciding keys") as step:
        found = reach(K, sets=asked, tolerance=tolerance, progress=step)

    data = _data(found, proofs)
    data["witnesses"] = [{"index": j, **vars(found.witness(j))} for j in witnesses]
    outputs = Outputs()
    if out and isinstance(found, Reach):
        from headwright.design.separation.figures import picture

        drawn = outputs.attempt(lambda: picture(found, Path(out))) or []
        data["figures"] = [str(path) for path in drawn]

    decided = "undecided" not in found.status
    return Reply(data, lambda console: _render(console, data), holds=decided, faults=outputs.faults)


def _data(found: Any, proofs: int) -> dict[str, Any]:
    """The JSON document but for witnesses and figures."""
    data: dict[str, Any] = {}
    data["reachable"] = found.reachable
    data["count"] = found.count
    data["status"] = found.status
    for name in _DETAILS:
        if hasattr(found, name):
            data[name] = getattr(found, name)

    lost = [j for j, status in enumerate(found.status) if status in ("unreachable", "shared")]
    data["unreachable"] = [_lost(found, j) for j in lost[:proofs]]
    data["proofs_left_out"] = len(lost) - len(data["unreachable"])
    return data


def _lost(found: Any, j: int) -> dict[str, Any]:
    ceiling = found.ceiling(j)
    proof = found.proof(j)
    return {"index": j, "status": found.status[j], "ceiling": ceiling, "proof": proof}


# ---------------------------------------------------------------------------------- for people


def _render(console: Console, data: dict[str, Any]) -> None:
    noun = "sets" if "sets" in data else "keys"
    asked = len(data["reachable"])
    console.print(f"{data['count']} of {asked} {noun} can win{_details(data)}")

    if data["unreachable"]:
        console.print(fitted(_lost_table(data, noun), console))
    if data["proofs_left_out"]:
        console.print(f"{data['proofs_left_out']} more: --proofs {asked}")
    for witness in data["witnesses"]:
        console.print(_won(witness))

    undecided = [str(j) for j, status in enumerate(data["status"]) if status == "undecided"]
    if undecided:
        console.print("undecided: " + ", ".join(undecided[:_MOST_ROWS]))
    for path in data.get("figures", []):
        console.print(f"wrote {path}", soft_wrap=True, markup=False)


def _details(data: dict[str, Any]) -> str:
    words = []
    for status, count in data.get("counts", {}).items():
        if count and status != "reachable":
            words.append(f"{count} {status}")
    if "dimension" in data:
        dimension = data["dimension"]
        words.append(f"the keys span {dimension} dimension{'s' * (dimension != 1)}")
    return f" ({', '.join(words)})" if words else ""


def _lost_table(data: dict[str, Any], noun: str) -> Table:
    singular = noun[:-1]
    table = Table(singular, "at most", "because it is", title="cannot win, whatever the query")
    for row in data["unreachable"]:
        j = row["index"]
        members = data["sets"][j] if "sets" in data else [j]
        table.add_row(",".join(map(str, members)), f"{row['ceiling']:.2%}", _reason(row))
    return table


def _reason(row: dict[str, Any]) -> str:
    """The key as a combination of others, largest shares first."""
    proof = row["proof"]
    if row["status"] == "shared":
        return "a copy of " + ", ".join(map(str, proof.outside[:_MOST_TERMS]))

    shares = proof.outside_coefficients
    largest = np.argsort(-shares, kind="stable")[:_MOST_TERMS]
    combination = " + ".join(f"{shares[i]:.3g}·k{proof.outside[i]}" for i in largest)
    unnamed = len(shares) - len(largest)
    more = f" + {unnamed} more" if unnamed else ""
    rounded = "" if proof.exact else f" (up to {proof.residual:.1g})"
    return combination + more + rounded


def _won(witness: dict[str, Any]) -> str:
    members = ", ".join(map(str, witness["members"]))
    query = np.array2string(
        witness["query"], precision=4, threshold=8, separator=", ", max_line_width=76
    )
    margin = witness["margin"]
    if margin > 0:
        return f"{members} wins by {margin:.4g} under q = {query}"
    return f"{members} wins under a query that float64 rounds to q = {query}"
