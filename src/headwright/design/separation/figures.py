"""One picture of `reach`: where the keys lie, by how much the winners win, and what the others can
get at most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from headwright.design.separation.record import Reach
from headwright.report import style

# Status -> (colour role, marker); later ones are drawn on top.
_LOOKS = {
    "reachable": ("key", "o"),
    "shared": ("noise", "s"),
    "unreachable": ("bad", "X"),
    "undecided": ("muted", "^"),
}
# A margin costs a product with all keys: beyond this many, an even sample of them is drawn.
_MOST_MARGINS = 200
# Beyond this many the dots are pixels in the SVG too, which would otherwise be megabytes.
_MOST_DOTS = 3000


def picture(found: Reach, folder: Path) -> tuple[Path, Path]:
    """Write `reach.svg` and `reach.png` into the folder."""
    with style.figure(9.2, 3.0, columns=3) as (drawing, (where, margins, ceilings)):
        _map(where, found)
        _margins(margins, found)
        _ceilings(ceilings, found)
        return style.save(drawing, folder / "reach")


def _map(axes: Any, found: Reach) -> None:
    """The keys in their two widest directions; in two dimensions that is the plane itself."""
    X = K = found.keys
    if K.shape[1] > 2:
        X = K - K.mean(axis=0)
        X = X @ np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :2]
    flat = X if X.shape[1] == 2 else np.column_stack([X[:, 0], np.zeros(len(X))])
    status = np.array(found.status)
    for word, (role, marker) in _LOOKS.items():
        here = flat[status == word]
        if len(here):
            size = float(np.clip(2500 / len(K), 3, 30))
            label = f"{word} ({len(here)})"
            dots = axes.scatter(
                *here.T, s=size, c=style.ROLES[role], marker=marker, label=label, lw=0
            )
            dots.set_rasterized(len(K) > _MOST_DOTS)
    axes.set_title("the keys" if K.shape[1] <= 2 else "the keys, two widest directions")
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=2,
        markerscale=1.5 if len(K) < 500 else 3,
        handletextpad=0.2,
    )


def _margins(axes: Any, found: Reach) -> None:
    winners = np.flatnonzero(found.reachable)
    axes.set_title("margin of a unit query")
    if len(winners) == 0:
        axes.text(0.5, 0.5, "no key can win alone", ha="center", transform=axes.transAxes)
        return
    shown = winners[np.linspace(0, len(winners) - 1, min(len(winners), _MOST_MARGINS)).astype(int)]
    sizes = np.sort([found.witness(int(j)).margin for j in shown])
    axes.plot(
        np.arange(1, len(sizes) + 1), sizes, color=style.ROLES["good"], marker=".", markersize=3
    )
    axes.set_yscale("log")
    axes.grid(axis="y")
    axes.xaxis.get_major_locator().set_params(integer=True)
    sampled = f" ({len(sizes)} of {len(winners)})" if len(sizes) < len(winners) else ""
    axes.set_xlabel(f"reachable keys{sampled}, hardest first")


def _ceilings(axes: Any, found: Reach) -> None:
    lost = [j for j, status in enumerate(found.status) if status in ("unreachable", "shared")]
    axes.set_title("bound on their weight")
    if not lost:
        axes.text(0.5, 0.5, "every key can win", ha="center", transform=axes.transAxes)
        return
    sizes = np.sort([found.ceiling(j) for j in lost])[::-1]
    axes.plot(
        np.arange(1, len(sizes) + 1), sizes, color=style.ROLES["bad"], marker=".", markersize=3
    )
    axes.axhline(0.5, color=style.ROLES["muted"], lw=0.8, ls="--")
    axes.set_yscale("log")
    axes.set_ylim(min(0.01, sizes[-1] / 2), 1)
    axes.grid(axis="y")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("keys that cannot win alone")
