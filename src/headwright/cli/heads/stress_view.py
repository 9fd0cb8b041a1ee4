"""What `headwright stress` shows to people: the output, the weights, the odds of a lost key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from headwright.cli.terminal.screen import fitted

if TYPE_CHECKING:
    from headwright.noise.stress import NoisyHeads, Stress
    from headwright.result import Estimate

_MOST_ROWS = 8
_MOST_WINNERS = 2
# Below this a coordinate is rounding, or a leak that no digit shown would reach.
_TINY = 1e-9
# What three decimals of a percentage round to zero.
_ROUNDS_TO_ZERO = 5e-6


def render(console: Console, setting: NoisyHeads, found: Stress, figures: Iterable[str]) -> None:
    h = len(setting.queries)
    heads = "1 head" if h == 1 else f"{h} heads"
    method = found.moments.method
    console.print(f"{heads} on {len(setting.keys)} keys; {setting.keys!r}; {method}")

    console.print(fitted(_coordinates(found), console))
    if found.weights:
        console.print(fitted(_weights(found), console))
    console.print(f"E ‖c - target‖² = {found.squared_error:.6g}")
    if found.far is not None:
        chance = _probability(found.far)
        console.print(f"P(‖c - target‖ > {found.tau:g}) {chance}", markup=False)
    if found.limit is not None:
        _winners(console, found.limit)
    _accuracy(console, found.moments)

    for path in figures:
        console.print(path, soft_wrap=True, markup=False)


def _coordinates(found: Stress) -> Table:
    """The largest coordinates of the output, without noise and with it."""
    m = found.moments
    title = f"output; lowest and highest while no logit leaves {found.sigmas:g} deviations"
    headers = ("coordinate", "without noise", "mean", "deviation", "lowest", "highest")
    table = Table(*headers, title=title)

    deviations = np.sqrt(np.maximum(np.diagonal(m.covariance), 0.0))
    unknown = np.full(len(m.mean), np.nan)
    lowest = unknown if found.worst_low is None else found.worst_low
    highest = unknown if found.worst_high is None else found.worst_high
    rows = np.stack([found.noiseless, m.mean, deviations, lowest, highest], axis=1)

    shown = _largest(rows[:, :3])
    for j in shown:
        table.add_row(str(j), *(_number(x) for x in rows[j]))
    if len(shown) < len(rows):
        table.caption = f"{len(rows) - len(shown)} smaller coordinates: use --json"
    return table


def _largest(rows: np.ndarray) -> list[int]:
    """The rows with the largest numbers, in their order; the first if all are tiny."""
    sizes = np.abs(rows).max(axis=1)
    order = np.argsort(-sizes, kind="stable")[:_MOST_ROWS]
    shown = [int(j) for j in order if sizes[j] >= _TINY]
    return sorted(shown) or [0]


def _weights(found: Stress) -> Table:
    from headwright.noise.stress import QUANTILES

    marks = [f"{p:.0%}" for p in QUANTILES]
    title = "weight of the key, with quantiles"
    table = Table("head", "key", "no noise", "mean", *marks, title=title)
    for one in found.weights:
        quantiles = [one.quantiles[p] for p in QUANTILES]
        numbers = [_number(x, 3) for x in (one.noiseless, one.mean, *quantiles)]
        table.add_row(str(one.head + 1), str(one.key), *numbers)
    return table


def _winners(console: Console, limit: Any) -> None:
    """Who wins at infinite sharpness, head by head."""
    heads = zip(limit.probabilities, limit.flip, strict=True)
    for head, (chances, flip) in enumerate(heads, 1):
        order = np.argsort(-chances, kind="stable")[:_MOST_WINNERS]
        first = ", ".join(f"key {i} {share(chances[i])}" for i in order if chances[i] > 0)
        console.print(f"infinite sharpness, head {head}: {first}; flip {share(float(flip))}")


def _accuracy(console: Console, moments: Any) -> None:
    size = "standard error" if moments.method == "sampled" else "error at most"
    status = "" if moments.status == "done" else f"; {moments.status}"
    console.print(f"{size} {moments.error:.1g}{status}")
    if moments.message:
        console.print(moments.message)


def _probability(far: Estimate) -> str:
    """Value and error in the same unit; a count of none or of all is a bound, not a number."""
    from headwright.noise.tail_probability import CONFIDENCE

    per_cent = f"{100 * far.error:.1g}%"
    if far.method != "sampled":
        return f"= {far.value:.4%} ({far.method}, error at most {per_cent})"
    known = f"(sampled, {CONFIDENCE:.0%} confidence)"
    if far.value == 0.0:
        return f"< {far.error:.4%} {known}"
    if far.value == 1.0:
        return f"> {1.0 - far.error:.4%} {known}"
    return f"= {far.value:.4%} (sampled, ± {per_cent})"


def share(probability: float) -> str:
    """Three decimals of a percentage, and no zero for what is not."""
    return "< 0.001%" if 0.0 < probability < _ROUNDS_TO_ZERO else f"{probability:.3%}"


def _number(x: Any, digits: int = 5) -> str:
    """Some digits; what is only rounding or leak far below them is shown as such, what was left out
    as a dash."""
    if np.isnan(x):
        return "-"
    return f"{float(x):.{digits}g}" if abs(x) >= _TINY or x == 0 else "~0"
