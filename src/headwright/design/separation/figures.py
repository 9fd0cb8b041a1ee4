"""One picture of `reach`: where the keys lie, by how much the winners win, and what the others can
get at most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

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


def picture(found: Any, folder: Path) -> tuple[Path, Path]:
    """Write `reach.svg` and `reach.png` into the folder."""
    return style.save(drawn(found), folder / "reach")


def drawn(found: Any) -> Any:
    """The picture of a `Reach`, which draws itself with it."""
    with style.figure(9.2, 3.0, columns=3) as (drawing, (where, margins, ceilings)):
        _map(where, found)
        _margins(margins, found)
        _ceilings(ceilings, found)
    return drawing


def _map(axes: Any, found: Any) -> None:
    """The keys in their two widest directions; in two dimensions that is the plane itself."""
    n, d = found.keys.shape
    flat = _flattened(found.keys)
    status = np.array(found.status)
    size = float(np.clip(2500 / n, 3, 30))
    for word, (role, marker) in _LOOKS.items():
        here = flat[status == word]
        if len(here):
            colour = style.ROLES[role]
            label = f"{word} ({len(here)})"
            dots = axes.scatter(*here.T, s=size, c=colour, marker=marker, label=label, lw=0)
            dots.set_rasterized(n > _MOST_DOTS)
    axes.set_title("the keys" if d <= 2 else "the keys, two widest directions")
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=2,
        markerscale=1.5 if n < 500 else 3,
        handletextpad=0.2,
    )


def _flattened(K: np.ndarray) -> np.ndarray:
    """Two coordinates per key."""
    if K.shape[1] == 2:
        return K
    if K.shape[1] == 1:
        return np.column_stack([K[:, 0], np.zeros(len(K))])
    X = K - K.mean(axis=0)
    _, axes = np.linalg.eigh(X.T @ X)
    return X @ axes[:, ::-1][:, :2]


def _margins(axes: Any, found: Any) -> None:
    winners = np.flatnonzero(found.reachable)
    axes.set_title("margin of a unit query")
    if len(winners) == 0:
        _say(axes, "no key can win alone")
        return
    places = np.linspace(0, len(winners) - 1, min(len(winners), _MOST_MARGINS))
    shown = winners[places.astype(int)]
    sizes = np.sort([found.witness(int(j)).margin for j in shown])
    if not np.isfinite(sizes).all():
        _say(axes, "there is no other key")
        return
    _curve(axes, sizes, "good")
    sampled = f" ({len(sizes)} of {len(winners)})" if len(sizes) < len(winners) else ""
    axes.set_xlabel(f"reachable keys{sampled}, hardest first")


def _ceilings(axes: Any, found: Any) -> None:
    lost = [j for j, status in enumerate(found.status) if status in ("unreachable", "shared")]
    axes.set_title("bound on their weight")
    if not lost:
        _say(axes, "every key can win")
        return
    sizes = np.sort([found.ceiling(j) for j in lost])[::-1]
    _curve(axes, sizes, "bad")
    axes.axhline(0.5, color=style.ROLES["muted"], lw=0.8, ls="--")
    axes.set_ylim(min(0.01, sizes[-1] / 2), 1)
    axes.set_xlabel("keys that cannot win alone")


def _say(axes: Any, text: str) -> None:
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, text, ha="center", transform=axes.transAxes)


def _curve(axes: Any, sizes: np.ndarray, role: str) -> None:
    """Sizes in the order given, over 1, 2, 3, ..."""
    rank = np.arange(1, len(sizes) + 1)
    axes.plot(rank, sizes, color=style.ROLES[role], marker=".", markersize=3)
    axes.set_yscale("log")
    axes.grid(axis="y")
    axes.xaxis.get_major_locator().set_params(integer=True)
