"""Pictures of noise: the law of a weight, the cloud of outputs with its exact ellipse, one head
beside two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from headwright.attention import multihead
from headwright.noise.moments import moments
from headwright.noise.sampling.moments import weights_drawn
from headwright.noise.sampling.noisy_keys import noisy_keys
from headwright.noise.sampling.normals import point_set
from headwright.noise.stress import NoisyHeads, Stress, WeightLaw
from headwright.report import style
from headwright.types import Float

_CLOUD = 1500
_SHOWN = 500
_RINGS = {1.0: "-", 2.0: "--"}  # standard deviations -> line
_MOST = 1e5  # times the lowest density that is drawn
_ODDS = 34.0  # log-odds beyond which a weight is 1 in double precision
_TAIL = 1e-3  # probability on either side that is not drawn
_NARROWEST = 1e-9  # log-odds across a law below which it is drawn as the point that it nearly is
_POINTS = 161


def figures(
    heads: NoisyHeads, found: Stress, folder: Path, *, beside: NoisyHeads | None = None
) -> list[Path]:
    """Write `weights`, `output` and, with other heads to compare with, `beside`, as SVG and
    PNG."""
    paths: list[Path] = []
    if found.weights:
        with style.figure(8.6, 3.2, columns=2) as (drawing, (left, right)):
            draw_density(left, found.weights)
            draw_distribution(right, found.weights)
            paths += style.save(drawing, folder / "weights")
    plane = Plane(heads, np.asarray(found.moments.weights_mean))
    with style.figure(4.8, 4.6) as (drawing, axes):
        draw_output(axes, heads, plane)
        _legend(drawing, axes, columns=2)
        paths += style.save(drawing, folder / "output")
    if beside is not None:
        with style.figure(8.6, 3.3, columns=2) as (drawing, both):
            pair = sorted([beside, heads], key=lambda one: len(one.queries))
            for axes, one in zip(both, pair, strict=True):
                draw_output(axes, one, plane)
                count = len(one.queries)
                axes.set_title(f"{count} head{'s' * (count > 1)}")
            _same_view(*both)
            _legend(drawing, both[0], columns=3)
            paths += style.save(drawing, folder / "beside")
    return paths


def draw_density(axes: Any, weights: tuple[WeightLaw, ...]) -> None:
    """The density of each head's weight. A sharp head has peaks at 0 and 1, so the scale is
    logarithmic, and peaks may be cut off where they would flatten the rest. A weight without any
    spread has no density, which is said instead."""
    shown = [one.noiseless for one in weights]
    densities = []
    for one, colour in zip(weights, _colours(len(weights)), strict=True):
        odds = _odds(one, _POINTS)
        if odds is not None:
            x = expit(odds)
            density = np.maximum(one._law.density(x).value, np.finfo(float).tiny)
            axes.plot(x, density, color=colour)
            densities += [density.min(), density.max()]
            shown += [x[0], x[-1]]
        axes.axvline(one.noiseless, color=colour, lw=0.9, ls=":")
    low, high = _with_room(shown)
    if densities:
        bottom = min(densities) / 2
        axes.set_yscale("log")
        axes.set_ylim(bottom, min(2 * max(densities), bottom * _MOST))
        axes.set_xlim(max(low, -0.02), min(high, 1.02))
    else:
        axes.set(xlim=(-0.02, 1.02), yticks=[])
        axes.text(0.5, 0.5, "no spread", ha="center", transform=axes.transAxes)
    axes.set_xlabel("weight (dotted: without noise)")
    axes.set_title("density of the weight")


def draw_distribution(axes: Any, weights: tuple[WeightLaw, ...]) -> None:
    """The distribution function over the log-odds, where both ends are spread out and nothing is a
    spike."""
    shown = []
    for one, colour in zip(weights, _colours(len(weights)), strict=True):
        centre = float(np.clip(logit(one.noiseless), -_ODDS, _ODDS))
        label = f"head {one.head + 1}, key {one.key}"
        y = _odds(one, _POINTS)
        if y is None:
            y = centre + np.array([-1.0, 0.0, 0.0, 1.0])
            below = np.array([0.0, 0.0, 1.0, 1.0])
        else:
            below = one._law.cdf(expit(y)).value
        axes.plot(y, below, color=colour, label=label)
        axes.axvline(centre, color=colour, lw=0.9, ls=":")
        shown += [centre, y[0], y[-1]]
    axes.set_xlim(*_with_room(shown))
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("log-odds of the weight,  ln α/(1 - α)")
    axes.set_title("probability of a smaller weight")
    axes.legend(loc="upper left")


def _odds(one: WeightLaw, points: int) -> Float[np.ndarray, "p"] | None:
    """Log-odds from one end of the law to the other, but for its outermost thousandths; None where
    the law is a single point."""
    ends = one._law.quantile(np.array([_TAIL, 1.0 - _TAIL])).value
    low, high = np.clip(logit(ends), -_ODDS, _ODDS)
    half = (high - low) / 2
    if one._law.deviation == 0.0 or half < _NARROWEST:
        return None
    middle = (low + high) / 2
    return np.clip(np.linspace(middle - 1.1 * half, middle + 1.1 * half, points), -_ODDS, _ODDS)


def _with_room(shown: list[float]) -> tuple[float, float]:
    low = min(shown)
    high = max(shown)
    room = 0.04 * (high - low)
    return low - room, high + room


class Plane:
    """The plane in which outputs are drawn: the coordinates themselves if v = 2, else across from
    the second strongest value to the strongest, and up towards the average of all others."""

    def __init__(self, heads: NoisyHeads, weights: Float[np.ndarray, "n"]) -> None:
        V = np.asarray(heads.values, dtype=float)
        if V.shape[1] == 2:
            self.axes = np.eye(2)
            self.names = ("first coordinate", "second coordinate")
            return
        order = np.argsort(weights)[::-1]
        a = order[0]
        b = order[min(1, len(V) - 1)]
        rest = V[order[2:]].mean(axis=0) if len(V) > 2 else V[a]
        across = _unit(V[a] - V[b])
        up = rest - (V[a] + V[b]) / 2
        upright = up - (up @ across) * across
        self.axes = np.column_stack([across, _unit(upright)])
        self.names = (f"from $v_{{{b}}}$ to $v_{{{a}}}$", "towards the other values")

    def __call__(self, points: Any) -> Float[np.ndarray, "s 2"]:
        return np.atleast_2d(points) @ self.axes

    def of_covariance(self, C: Float[np.ndarray, "v v"]) -> Float[np.ndarray, "2 2"]:
        """A covariance seen in the plane."""
        return self.axes.T @ C @ self.axes


def _unit(x: Float[np.ndarray, "v"]) -> Float[np.ndarray, "v"]:
    """A vector of length one, or zero."""
    size = np.linalg.norm(x)
    return x / size if size > 0 else x


def draw_output(axes: Any, heads: NoisyHeads, plane: Plane) -> None:
    """Sampled outputs, the exact mean and ellipses, the values that matter and the output without
    noise."""
    exact = moments(heads.queries, heads.keys, heads.values, **heads.options)
    centre = plane(exact.mean)[0]
    C = plane.of_covariance(exact.covariance)
    for ring, dash in _RINGS.items():
        label = f"exact ellipse, {ring:g} deviation{'s' * (ring > 1)}"
        axes.plot(
            *_ellipse(centre, C, ring).T,
            color=style.ROLES["noise"],
            ls=dash,
            lw=1.2,
            label=label,
            zorder=3,
        )
    cloud = plane(_cloud(heads))
    axes.scatter(
        *cloud.T, s=9, color=style.ROLES["output"], alpha=0.3, lw=0, label="sampled outputs"
    )
    axes.plot(
        *centre, "o", color=style.ROLES["noise"], mec="white", ms=7, label="exact mean", zorder=4
    )
    calm = multihead(heads.queries, heads.keys.means, heads.values, **heads.options)
    axes.plot(
        *plane(calm.output)[0],
        "P",
        color=style.ROLES["query"],
        ms=9,
        mec="white",
        label="without noise",
        zorder=4,
    )
    strongest = _name_values(axes, heads, plane, np.asarray(exact.weights_mean))
    # Values far from everything that happens would shrink the picture: they may lie outside of it.
    seen = np.concatenate([cloud, _ellipse(centre, C, max(_RINGS)), strongest])
    _view(axes, seen.min(axis=0), seen.max(axis=0))
    axes.set_xlabel(plane.names[0])
    axes.set_ylabel(plane.names[1])
    axes.set_title("output")


def _name_values(
    axes: Any, heads: NoisyHeads, plane: Plane, weights: Float[np.ndarray, "n"]
) -> np.ndarray:
    """All values (the strongest of very many), the two that matter most by name; returns where
    these two are."""
    V = np.asarray(heads.values)
    order = np.argsort(weights)[::-1]
    axes.plot(
        *plane(V[order[2:_SHOWN]]).T,
        "s",
        color=style.ROLES["value"],
        alpha=0.5,
        ms=3.5,
        lw=0,
        label="values",
    )
    for i, (x, y) in zip(order[:2], plane(V[order[:2]]), strict=True):
        axes.plot(x, y, "s", color=style.ROLES["value"], ms=6)
        axes.annotate(f"$v_{{{i}}}$", (x, y), xytext=(6, 6), textcoords="offset points")
    return plane(V[order[:2]])


def _cloud(heads: NoisyHeads) -> Float[np.ndarray, "s v"]:
    """Some outputs, drawn at random."""
    small = noisy_keys(heads.request.problem())
    points = point_set(small.dimension, samples=_CLOUD, replicates=2, kind="plain")
    clouds = []
    for _, alpha in weights_drawn(small, points):
        clouds.append(np.einsum("h,shv->sv", heads.mix, small.outputs(alpha)))
    return np.concatenate(clouds)


def _legend(drawing: Any, axes: Any, *, columns: int) -> None:
    """One legend below all pictures."""
    drawing.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def _view(axes: Any, low: Float[np.ndarray, "2"], high: Float[np.ndarray, "2"]) -> None:
    """Show this range with room around it, on equal scales and never flatter than 3 : 5."""
    # Where all is one point, any view that has it in its middle; one that the axes can count
    width = float((high - low).max()) or 1.0
    half = np.maximum(0.58 * (high - low), 0.35 * width)
    middle = (low + high) / 2
    left, bottom = middle - half
    right, top = middle + half
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal", adjustable="box")


def _same_view(first: Any, second: Any) -> None:
    """One scale for both pictures, or the smaller cloud would look as large."""
    for limits, setter in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        ends = np.array([getattr(axes, limits)() for axes in (first, second)])
        for axes in (first, second):
            low = ends[:, 0].min()
            getattr(axes, setter)(low, ends[:, 1].max())


def _ellipse(centre: Any, C: Float[np.ndarray, "2 2"], ring: float) -> Float[np.ndarray, "s 2"]:
    """The points `ring` deviations from the centre."""
    values, vectors = np.linalg.eigh(C)
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    radii = np.sqrt(np.maximum(values, 0.0))
    return centre + (ring * vectors @ (radii[:, None] * circle)).T


def _colours(count: int) -> list[str]:
    """One colour per head."""
    return [style.HEADS[i % len(style.HEADS)] for i in range(count)]
