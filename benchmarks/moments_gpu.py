"""Exact moments on one GPU (torch, float64): time over one forward pass on the same card and over
the bandwidth floor, for a family of laws.

    python benchmarks/moments_gpu.py [keys] [value dimension]    one JSON document a law, worst last

The floor is the time to read K and V once at the bandwidth that a plain copy on this card reaches.
The result is held against that of NumPy for the first million keys: `off` is the largest
difference of mean or covariance over the two stated errors together, so that above 1 one of them
is wrong.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.key_laws import FAMILY  # noqa: E402

import headwright as hw  # noqa: E402

_COMPARED = 1_000_000


def best(f, repeat: int = 5) -> float:
    times = []
    for _ in range(repeat):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        f()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def bandwidth() -> float:
    """Bytes per second of a large copy (read and write both counted)."""
    source = torch.empty(1 << 28, dtype=torch.float64, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / best(lambda: target.copy_(source))


def measured(name: str, K: torch.Tensor, V: torch.Tensor, rate: float) -> dict[str, Any]:
    """One law of the family."""
    n, v = K.shape
    spread, deviations = FAMILY[name]
    rng = np.random.default_rng(0)
    q = torch.as_tensor(rng.standard_normal(v), device="cuda")
    q *= spread / torch.linalg.norm(q)
    variances = torch.as_tensor((deviations(rng, n) / spread) ** 2, device="cuda")
    keys = hw.GaussianKeys(K, isotropic=variances)

    size = K.nbytes + V.nbytes
    forward = best(lambda: torch.softmax(K @ q, dim=0) @ V)
    m = hw.moments(q, keys, V)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    seconds = best(lambda: hw.moments(q, keys, V))
    extra = torch.cuda.max_memory_allocated() - before
    return {
        "law": name,
        "forward_ms": round(1e3 * forward, 2),
        "moments_ms": round(1e3 * seconds, 2),
        "over_forward": round(seconds / forward, 2),
        "over_floor": round(seconds * rate / size, 1),
        "extra_memory": round(extra / size, 3),
        "mean_error": m.mean_error,
        "covariance_error": m.covariance_error,
        "status": m.status,
        "off": off(q, K[:_COMPARED], variances[:_COMPARED], V[:_COMPARED]),
    }


def off(q: torch.Tensor, K: torch.Tensor, variances: torch.Tensor, V: torch.Tensor) -> float:
    """How far the GPU's result is from NumPy's, in stated errors."""
    here = hw.moments(q, hw.GaussianKeys(K, isotropic=variances), V)
    on_host = [x.cpu().numpy() for x in (q, K, variances, V)]
    there = hw.moments(on_host[0], hw.GaussianKeys(on_host[1], isotropic=on_host[2]), on_host[3])
    mean = np.abs(here.mean.cpu().numpy() - there.mean).max()
    covariance = np.abs(here.covariance.cpu().numpy() - there.covariance).max()
    shares = (
        mean / (here.mean_error + there.mean_error),
        covariance / (here.covariance_error + there.covariance_error),
    )
    return float(f"{max(shares):.2g}")


def main(n: int, v: int) -> None:
    kind = {"dtype": torch.float64, "device": "cuda"}
    kind["generator"] = torch.Generator(device="cuda").manual_seed(0)
    K = torch.randn((n, v), **kind)
    V = torch.randn((n, v), **kind)
    rate = bandwidth()
    sys.stdout.write(f"{torch.cuda.get_device_name()}, n = {n}, v = {v}, {rate:.3g} bytes/s\n")
    rows = []
    for name in FAMILY:
        rows.append(measured(name, K, V, rate))
        sys.stdout.write(json.dumps(rows[-1]) + "\n")
        sys.stdout.flush()
    worst = max(rows, key=lambda row: row["over_forward"])
    sys.stdout.write(f"most forward passes: {worst['over_forward']}, {worst['law']}\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    usual = ["1e7", "128"]
    keys, dimension = given + usual[len(given) :]
    main(int(float(keys)), int(float(dimension)))
