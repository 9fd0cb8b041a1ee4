"""Station 4: getting v_a back out of v_a + v_b."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from headwright.report.style import ROLES, figure
from headwright.subspace import extract
from headwright.tour.station import Comparison, Station

ROUNDING = 1e-12


def one_of_a_sum(seed: int) -> Station:
    rng = np.random.default_rng(seed)
    d, m, p = 8, 3, 2
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A, B = basis[:, :m], basis[:, m : m + p]
    coefficients = rng.standard_normal(m)
    v_a, v_b = A @ coefficients, B @ rng.standard_normal(p)
    s = v_a + v_b
    exact = extract(A, B)
    solved = np.linalg.lstsq(np.column_stack([A, B]), s, rcond=None)[0][:m]
    tilted = B + 0.8 * A[:, :p]  # no longer orthogonal to A
    oblique = extract(A, tilted)
    angle = float(subspace_angles(A, tilted).min())
    return Station(
        id="04",
        title="Getting v_a out of v_a + v_b",
        claim=r"For orthonormal bases with $A^\top B = 0$ the matrix $M = A A^\top$ gives $M(v_a + v_b) = v_a$. "
        r"$A^\top$ alone gives the m coordinates of $v_a$ in the basis A, another object.",
        comparisons=(
            Comparison("distance of M s from v_a",
                       {"A A'": float(np.linalg.norm(A @ A.T @ s - v_a)),
                        "projector engine": float(np.linalg.norm(exact.matrix @ s - v_a)),
                        "least squares": float(np.linalg.norm(A @ solved - v_a))}, ROUNDING),
            Comparison("distance of A' s from the coordinates",
                       {"A'": float(np.linalg.norm(A.T @ s - coefficients)),
                        "projector engine": float(np.linalg.norm(exact.coordinates @ s - coefficients)),
                        "least squares": float(np.linalg.norm(solved - coefficients))}, ROUNDING),
            Comparison("noise amplification of tilted subspaces",
                       {"1 / sin(angle)": 1 / np.sin(angle), "projector engine": oblique.amplification,
                        "largest singular value": float(np.linalg.norm(oblique.matrix, 2))}, 1e-10),
        ),
        facts={"A' s has m = 3 entries, v_a has d = 8": (A.T @ s).shape == (m,) and v_a.shape == (d,),
               "the tilted case still returns v_a": bool(
                   np.allclose(oblique.matrix @ (v_a + tilted @ np.ones(p)), v_a, atol=1e-10))},
        finding=f"A A' returns the vector; A' only its {m} coordinates. Tilted subspaces still work and amplify noise "
        f"{oblique.amplification:.2f}-fold.",
        draw=_draw,
        caption="Noise amplification against the angle between the two subspaces: 1 when orthogonal, infinite when they meet.",
    )  # fmt: skip


def _draw() -> Any:
    degrees = np.linspace(3, 90, 60)
    computed = [
        extract(np.array([[1.0], [0.0]]), np.array([[np.cos(t)], [np.sin(t)]])).amplification
        for t in np.radians(degrees)
    ]
    with figure(6.4, 2.7) as (drawing, axis):
        axis.plot(
            degrees, 1 / np.sin(np.radians(degrees)), color=ROLES["muted"], label=r"$1/\sin\theta$"
        )
        axis.plot(
            degrees[::4],
            computed[::4],
            "o",
            color=ROLES["value"],
            markersize=4,
            label="norm of the projector",
        )
        axis.set(
            xlabel=r"angle $\theta$ between span(A) and span(B), degrees",
            ylabel="amplification",
            yscale="log",
        )
        axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        axis.minorticks_off()
        axis.legend()
    return drawing
