"""`headwright reach`: which keys (or sets of keys) can ever win, with a query or a proof for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click
from rich.console import Console
from rich.table import Table

from headwright.cli.conventions import ARRAY, Outputs, Reply
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

_MOST_ROWS = 20
_MOST_TERMS = 3


@headwright_command("reach")
@click.option("--keys", "K", type=ARRAY, required=True, help="Keys, n x d.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="A,B,..",
    help="Decide this set, not every key; repeatable.",
)
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    type=int,
    metavar="J",
    help="Show the winning query of key J.",
)
@click.option(
    "--proofs", type=int, default=_MOST_ROWS, show_default=True, help="At most this many proofs."
)
@click.option(
    "--tolerance",
    type=float,
    default=None,
    help="Relative size of rounding; 0 judges the stored numbers.",
)
@click.option("--out", type=click.Path(file_okay=False), help="Write a figure into this folder.")
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
        raise InputError(
            wanted="--out without --set",
            got="both",
            attempt="the figure shows all keys: drop --set",
        )
    asked = [_numbers(text) for text in sets] if sets else None
    with _bar() as report:
        found = reach(K, sets=asked, tolerance=tolerance, progress=report)
    data = _data(found, proofs)
    data["witnesses"] = [{"index": j, **vars(found.witness(j))} for j in witnesses]
    outputs = Outputs()
    if out and isinstance(found, Reach):
        from headwright.design.separation.figures import picture

        data["figures"] = [
            str(path) for path in outputs.attempt(lambda: picture(found, Path(out))) or []
        ]
    decided = "undecided" not in found.status
    return Reply(data, lambda console: _render(console, data), holds=decided, faults=outputs.faults)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(wanted="key numbers like 0,3,7", got=text, attempt="--set 0,3,7") from None


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal's stderr, None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("deciding keys", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _data(found: Any, proofs: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "reachable": found.reachable,
        "count": found.count,
        "status": found.status,
    }
    for name in ("counts", "groups", "dimension", "tolerance", "sets"):
        if hasattr(found, name):
            data[name] = getattr(found, name)
    lost = [j for j, status in enumerate(found.status) if status in ("unreachable", "shared")]
    data["unreachable"] = [
        {
            "index": j,
            "status": found.status[j],
            "ceiling": found.ceiling(j),
            "proof": found.proof(j),
        }
        for j in lost[:proofs]
    ]
    data["proofs_left_out"] = len(lost) - len(data["unreachable"])
    return data


def _render(console: Console, data: dict[str, Any]) -> None:
    noun = "sets" if "sets" in data else "keys"
    console.print(f"{data['count']} of {len(data['reachable'])} {noun} can win" + _details(data))
    if data["unreachable"]:
        table = Table(noun[:-1], "at most", "because it is", title="cannot win, whatever the query")
        for row in data["unreachable"]:
            name = (
                ",".join(map(str, data["sets"][row["index"]]))
                if "sets" in data
                else str(row["index"])
            )
            table.add_row(name, f"{row['ceiling']:.2%}", _reason(row))
        console.print(table)
    if data["proofs_left_out"]:
        console.print(f"{data['proofs_left_out']} more: --proofs {len(data['reachable'])}")
    for w in data["witnesses"]:
        members = ", ".join(map(str, w["members"]))
        query = np.array2string(
            w["query"], precision=4, threshold=8, separator=", ", max_line_width=76
        )
        by = (
            f"by {w['margin']:.4g} under q ="
            if w["margin"] > 0
            else "under a query that float64 rounds to q ="
        )
        console.print(f"{members} wins {by} {query}")
    undecided = [str(j) for j, status in enumerate(data["status"]) if status == "undecided"]
    if undecided:
        console.print("undecided: " + ", ".join(undecided[:_MOST_ROWS]))
    for path in data.get("figures", []):
        console.print(f"wrote {path}", soft_wrap=True, markup=False)


def _details(data: dict[str, Any]) -> str:
    words = [
        f"{n} {word}" for word, n in data.get("counts", {}).items() if n and word != "reachable"
    ]
    if "dimension" in data:
        words.append(f"the keys span {data['dimension']} dimensions")
    return f" ({', '.join(words)})" if words else ""


def _reason(row: dict[str, Any]) -> str:
    proof = row["proof"]
    if row["status"] == "shared":
        return "a copy of " + ", ".join(map(str, proof.outside[:_MOST_TERMS]))
    order = np.argsort(-proof.outside_coefficients, kind="stable")
    terms = [
        f"{proof.outside_coefficients[i]:.3g}·k{proof.outside[i]}" for i in order[:_MOST_TERMS]
    ]
    more = len(order) - len(terms)
    rounded = "" if proof.exact else f" (up to {proof.residual:.1g})"
    return " + ".join(terms) + (f" + {more} more" if more else "") + rounded
