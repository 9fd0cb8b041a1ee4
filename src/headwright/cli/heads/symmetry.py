"""`headwright symmetry module:callable --shape N,D`: does a layer treat its tokens alike?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import rich_click as click
from rich.console import Console

from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError
from headwright.probes.layer.given import instance_of
from headwright.symmetry import Symmetry, permutation

_AXES = {"tokens": -2, "features": -1}
_AXIS = click.Choice(list(_AXES))
_TRIES = click.IntRange(1, 100_000)
_MOST_NUMBERS = 10**8
_MOST_ROWS = 12


@headwright_command(
    "symmetry",
    demo={
        "": "headwright.probes.demo:self_attention",
        "--shape": "8,4",
    },
)
@click.argument("layer", metavar="MODULE:CALLABLE")
@click.option(
    "--shape", required=True, metavar="N,D", help="Tokens and features of the random input."
)
@click.option("--axis", type=_AXIS, default="tokens", show_default=True, help="What is permuted.")
@click.option("--budget", type=_TRIES, default=200, show_default=True, help="Permutations to try.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random input.")
def command(layer: str, shape: str, axis: str, budget: int, seed: int) -> Reply:
    """Check f(P X) = P f(X) for a callable on (N, D) arrays; torch modules get tensors."""
    function = instance_of(layer)
    rng = np.random.default_rng(seed)
    X = _input_for(function, rng.standard_normal(_shape(shape)))

    result = permutation(function, X, axis=_AXES[axis], budget=budget, seed=seed)
    return Reply(result, lambda console: _render(console, layer, result), holds=result.holds)


def _shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.split(","))
    except ValueError:
        shape = ()
    positive = len(shape) >= 2 and min(shape) >= 1
    if not positive or math.prod(shape) > _MOST_NUMBERS:
        wanted = "--shape N,D with positive numbers"
        raise InputError(wanted=wanted, got=text, attempt="--shape 6,8")
    return shape


def _input_for(function: Any, X: np.ndarray) -> Any:
    """A torch module gets a tensor of its own dtype and device; anything else the NumPy array."""
    is_module = hasattr(function, "parameters") and hasattr(function, "state_dict")
    if not is_module:
        return X
    import torch

    like = next(iter(function.parameters()), torch.empty(0))
    return torch.as_tensor(X).to(like)


def _render(console: Console, name: str, result: Symmetry) -> None:
    console.print(f"{name}: {result.status}", markup=False)
    console.print(f"  {result.message}", markup=False)
    if result.group:
        console.print(f"  what holds: {result.group}", markup=False)
    if result.counterexample:
        rows = ", ".join(str(i) for i in result.counterexample.rows[:_MOST_ROWS])
        console.print(f"  rows that differ after the swap: {rows}")
