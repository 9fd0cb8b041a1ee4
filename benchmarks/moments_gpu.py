"""Exact moments on one GPU (torch, float64): time over one forward pass on the same card and over
the bandwidth floor.

    python benchmarks/moments_gpu.py [keys] [value dimension]        prints one JSON document

The floor is the time to read K and V once at the bandwidth that a plain copy on this card reaches.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import headwright as hw


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


def main(n: int, v: int) -> None:
    generator = torch.Generator(device="cuda").manual_seed(0)
    kind = {"dtype": torch.float64, "device": "cuda", "generator": generator}
    K = torch.randn((n, v), **kind)
    V = torch.randn((n, v), **kind)
    q = torch.randn(v, **kind)
    q /= torch.linalg.norm(q)
    deviations = 0.5 + 1.5 * torch.rand(n, **kind)
    keys = hw.GaussianKeys(K, isotropic=deviations**2)

    rate = bandwidth()
    size = K.nbytes + V.nbytes
    floor = size / rate
    forward = best(lambda: torch.softmax(K @ q, dim=0) @ V)
    m = hw.moments(q, keys, V)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    seconds = best(lambda: hw.moments(q, keys, V), 3)
    extra = torch.cuda.max_memory_allocated() - before
    report = {
        "card": torch.cuda.get_device_name(),
        "n": n,
        "v": v,
        "forward_ms": 1e3 * forward,
        "moments_ms": 1e3 * seconds,
        "over_forward": seconds / forward,
        "floor_ms": 1e3 * floor,
        "over_floor": seconds / floor,
        "copy_bytes_per_s": rate,
        "extra_memory": extra / size,
        "mean_error": m.mean_error,
        "covariance_error": m.covariance_error,
        "status": m.status,
        "weights_sum_minus_one": float(m.weights_mean.sum() - 1),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    given = sys.argv[1:]
    usual = ["1e7", "128"]
    keys, dimension = given + usual[len(given) :]
    main(int(float(keys)), int(float(dimension)))
