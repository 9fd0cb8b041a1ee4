"""One picture of `reach`: where the keys lie, by how much the winners win, and what the others can
get at most. Only what there is gets axes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from headwright.report import style
from headwright.types import Float

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
# Digits of all key numbers, with a blank between two, that have room below an axis.
_MOST_DIGITS = 36
# Beyond this many keys hardly any number would fit.
_MOST_NUMBERED = 400
# Inches of one picture; its axes take about so many points across and up.
_SIZE = (3.3, 3.0)
_POINTS = np.array([180.0, 150.0])
# Points from a dot to the middle of its number, and how much room a number takes.
_BESIDE = 9.0
_ROOM = np.array([15.0, 10.0])
# Sizes that differ by more than this factor need a logarithmic scale.
_FAR_APART = 20.0


def picture(found: Any, folder: Path) -> tuple[Path, Path]:
    """Write `reach.svg` and `reach.png` into the folder."""
    return style.save(drawn(found), folder / "reach")


def drawn(found: Any) -> Any:
    """The picture of a `Reach`, which draws itself with it."""
    parts: list[Callable[[Any, Any], None]] = [_map]
    # The only key there is wins by any margin.
    if found.count and len(found.keys) > 1:
        parts.append(_margins)
    if _lost(found):
        parts.append(_ceilings)
    width, height = _SIZE
    with style.figure(width * len(parts), height, columns=len(parts)) as (drawing, axes):
        for one, draw in zip(np.atleast_1d(axes), parts, strict=True):
            draw(one, found)
    return drawing


def _lost(found: Any) -> list[int]:
    return [j for j, status in enumerate(found.status) if status in ("unreachable", "shared")]


# ---------------------------------------------------------------------------------- where keys lie


def _map(axes: Any, found: Any) -> None:
    """The keys in their two widest directions. Where they span no more than a plane, that is the
    whole truth, and the hull is drawn: who can win is a corner of it."""
    flat = _flattened(found.keys)
    line = found.dimension <= 1
    if line:
        flat[:, 1] = 0.0
    plane = found.dimension <= 2
    if plane:
        corners = _corners(flat)
        axes.plot(*corners.T, color=style.ROLES["key"], lw=0.9, alpha=0.6, zorder=1)
    _dots(axes, found, flat)
    axes.set_title("the keys and their hull" if plane else "the keys, two widest directions")
    axes.margins(0.16, 0.16)
    if line:
        axes.set(yticks=[], ylim=(-1.0, 1.0))
        axes.spines["left"].set_visible(False)
    elif plane:
        axes.set_aspect("equal", adjustable="datalim")
    _numbers(axes, found, flat)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=2,
        markerscale=1.5 if len(flat) < 500 else 3,
        handletextpad=0.2,
    )


def _flattened(K: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    """Two coordinates per key."""
    if K.shape[1] == 2:
        return np.array(K, dtype=float)
    if K.shape[1] == 1:
        return np.column_stack([K[:, 0], np.zeros(len(K))]).astype(float)
    X = K - K.mean(axis=0)
    _, axes = np.linalg.eigh(X.T @ X)
    return X @ axes[:, ::-1][:, :2]


def _corners(flat: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "m 2"]:
    """The hull as a closed line; of keys on a line, its two ends."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners = flat[ConvexHull(flat).vertices]
        return np.vstack([corners, corners[:1]])
    except (QhullError, ValueError):
        # On a line both coordinates rise or fall together: the wider one orders them.
        along = flat[:, np.ptp(flat, axis=0).argmax()]
        return flat[[int(along.argmin()), int(along.argmax())]]


def _dots(axes: Any, found: Any, flat: Float[np.ndarray, "n 2"]) -> None:
    n = len(flat)
    status = np.array(found.status)
    size = float(np.clip(2500 / n, 3, 30))
    for word, (role, marker) in _LOOKS.items():
        here = flat[status == word]
        if len(here):
            colour = style.ROLES[role]
            label = f"{word} ({len(here)})"
            dots = axes.scatter(*here.T, s=size, c=colour, marker=marker, label=label, lw=0)
            dots.set_rasterized(n > _MOST_DOTS)


def _numbers(axes: Any, found: Any, flat: Float[np.ndarray, "n 2"]) -> None:
    """The number of a key beside its dot, away from the middle of all, where it covers nothing:
    first of those that cannot win."""
    if len(flat) > _MOST_NUMBERED:
        return
    low = np.array([axes.get_xlim()[0], axes.get_ylim()[0]])
    high = np.array([axes.get_xlim()[1], axes.get_ylim()[1]])
    points = (flat - low) / (high - low) * _POINTS
    outward = points - points.mean(axis=0)
    lengths = np.linalg.norm(outward, axis=1, keepdims=True)
    up = np.array([0.0, 1.0])
    towards = np.where(lengths > 1.0, outward / np.maximum(lengths, 1.0), up)
    if found.dimension <= 1:
        towards[:] = up
    written = []
    order = np.argsort([word == "reachable" for word in found.status], kind="stable")
    for j in order:
        place = points[j] + _BESIDE * towards[j]
        others = np.delete(points, j, axis=0)
        on_a_dot = np.any(np.all(np.abs(others - place) < _ROOM / 2, axis=1))
        on_a_number = any(np.all(np.abs(place - one) < _ROOM) for one in written)
        if on_a_dot or on_a_number:
            continue
        written.append(place)
        axes.annotate(
            str(j),
            flat[j],
            xytext=tuple(_BESIDE * towards[j]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=8,
        )


# ------------------------------------------------------------------------------------- how they win


def _margins(axes: Any, found: Any) -> None:
    winners = np.flatnonzero(found.reachable)
    places = np.linspace(0, len(winners) - 1, min(len(winners), _MOST_MARGINS))
    shown = winners[places.astype(int)]
    sizes = np.array([found.witness(int(j)).margin for j in shown])
    order = np.argsort(sizes, kind="stable")
    _ranked(axes, shown[order], sizes[order], "good")
    sampled = f" ({len(sizes)} of {len(winners)})" if len(sizes) < len(winners) else ""
    axes.set_title("margin of a unit query")
    axes.set_xlabel(f"reachable keys{sampled}, hardest first")


def _ceilings(axes: Any, found: Any) -> None:
    lost = np.array(_lost(found))
    sizes = np.array([found.ceiling(int(j)) for j in lost])
    order = np.argsort(-sizes, kind="stable")
    _ranked(axes, lost[order], sizes[order], "bad")
    axes.axhline(0.5, color=style.ROLES["muted"], lw=0.8, ls="--")
    if axes.get_yscale() == "linear":
        axes.set_ylim(0.0, max(0.56, 1.1 * sizes.max()))
    axes.set_title("most weight they can get")
    axes.set_xlabel("keys that cannot win alone")


def _ranked(axes: Any, keys: np.ndarray, sizes: Float[np.ndarray, "k"], role: str) -> None:
    """A dot for each key in the order given, with its number where there is room for all."""
    rank = np.arange(1, len(sizes) + 1)
    names = [str(j) for j in keys]
    many = len(" ".join(names)) > _MOST_DIGITS
    dots = {"markersize": 3, "lw": 0.9} if many else {"markersize": 9, "lw": 0.0}
    axes.plot(rank, sizes, color=style.ROLES[role], marker=".", **dots)
    axes.grid(axis="y")
    axes.set_xlim(0.5, len(sizes) + 0.5)
    if sizes.min() > 0 and sizes.max() > _FAR_APART * sizes.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(0.0, 1.15 * sizes.max())
    if many:
        axes.xaxis.get_major_locator().set_params(integer=True)
    else:
        axes.set_xticks(rank, names)
