"""Station 4: getting v_a back out of v_a + v_b."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from headwright.report.style import ROLES, figure
from headwright.subspace import extract
from headwright.tour.station import ROUNDING, Comparison, Evidence

# Dimensions of the whole space and of the two subspaces
D = 8
M = 3
P = 2
# An oblique projector passes its condition, 1 / sin(angle), on to the rounding
OBLIQUE = 1e-10


def one_of_a_sum(seed: int) -> Evidence:
    """The projector against least squares, on orthogonal and on tilted subspaces."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((D, D)))[0]
    A = basis[:, :M]
    B = basis[:, M : M + P]
    coefficients = rng.standard_normal(M)
    v_a = A @ coefficients
    v_b = B @ rng.standard_normal(P)
    s = v_a + v_b

    projector = extract(A, B)
    both = np.column_stack([A, B])
    solved = np.linalg.lstsq(both, s, rcond=None)[0][:M]
    vector = Comparison(
        "distance of M s from v_a",
        {
            "A A'": _distance(A @ A.T @ s, v_a),
            "projector engine": _distance(projector.matrix @ s, v_a),
            "least squares": _distance(A @ solved, v_a),
        },
        ROUNDING,
    )
    coordinates = Comparison(
        "distance of A' s from the coordinates",
        {
            "A'": _distance(A.T @ s, coefficients),
            "projector engine": _distance(projector.coordinates @ s, coefficients),
            "least squares": _distance(solved, coefficients),
        },
        ROUNDING,
    )

    tilted = B + 0.8 * A[:, :P]  # no longer orthogonal to A
    oblique = extract(A, tilted)
    amplification = _amplification_by_routes(A, tilted)
    returned = oblique.matrix @ (v_a + tilted @ np.ones(P))
    still_right = np.allclose(returned, v_a, atol=OBLIQUE)
    fewer = (A.T @ s).shape == (M,) and v_a.shape == (D,)
    facts = {
        "A' s has m = 3 entries, v_a has d = 8": fewer,
        "the tilted case still returns v_a": bool(still_right),
    }
    finding = (
        f"A A' returns the vector; A' only its {M} coordinates. Tilted subspaces still "
        f"work and amplify noise {oblique.amplification:.2f}-fold."
    )
    return Evidence(
        comparisons=(vector, coordinates, amplification),
        facts=facts,
        finding=finding,
        draw=_draw,
        caption="Noise amplification against the angle between the two subspaces: "
        "1 when orthogonal, infinite when they meet.",
    )


def _distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.linalg.norm(x - y))


def _amplification_by_routes(A: np.ndarray, B: np.ndarray) -> Comparison:
    oblique = extract(A, B)
    angle = float(subspace_angles(A, B).min())
    routes = {
        "1 / sin(angle)": 1 / np.sin(angle),
        "projector engine": oblique.amplification,
        "largest singular value": float(np.linalg.norm(oblique.matrix, 2)),
    }
    return Comparison("noise amplification of tilted subspaces", routes, OBLIQUE)


def _draw() -> Any:
    """Noise amplification of two lines against the angle between them."""
    degrees = np.linspace(3, 90, 60)
    angles = np.radians(degrees)
    computed = [_amplification(angle) for angle in angles]
    with figure(4.8, 2.7) as (drawing, axis):
        line = axis.plot(degrees, 1 / np.sin(angles), color=ROLES["muted"])
        line[0].set_label(r"$1/\sin\theta$")
        dots = axis.plot(degrees[::4], computed[::4], "o", color=ROLES["value"], markersize=4)
        dots[0].set_label("norm of the projector")
        axis.set_xlabel(r"angle $\theta$ between span(A) and span(B), degrees")
        axis.set(ylabel="amplification", yscale="log")
        axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        axis.minorticks_off()
        axis.legend()
    return drawing


def _amplification(angle: float) -> float:
    """Of two lines in the plane."""
    first = np.array([[1.0], [0.0]])
    second = np.array([[np.cos(angle)], [np.sin(angle)]])
    return extract(first, second).amplification
