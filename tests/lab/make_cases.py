"""Writes cases.json, the instances on which the browser's and Python's numbers must agree:

    python tests/lab/make_cases.py

Only inputs are in the file; both sides compute their own outputs.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("cases.json")
SHAPES = [
    (1, 2, 1, 1),
    (2, 2, 2, 1),
    (3, 2, 2, 2),
    (6, 2, 2, 1),
    (10, 10, 2, 2),
    (20, 12, 3, 2),
    (32, 4, 2, 4),
    (40, 8, 5, 6),
]
SIZES = [0.01, 1.0, 30.0, 1e4]  # of the queries: logits from nothing to far beyond overflow


def cases():
    rng = np.random.default_rng(20261115)
    for n, d, v, h in SHAPES:
        for size in SIZES:
            keys = rng.standard_normal((n, d))
            if n > 2:
                keys[1] = keys[0]  # duplicates share their weight
            yield {
                "queries": (size * rng.standard_normal((h, d))).round(4).tolist(),
                "keys": keys.round(4).tolist(),
                "values": rng.standard_normal((n, v)).round(4).tolist(),
                "mix": rng.dirichlet(np.ones(h)).tolist(),
                "scale": float(rng.choice([1.0, d**-0.5])),
                "isotropic": float(rng.choice([0.0, 1e-4, 0.3])),
                "radial": (rng.random(n) * (rng.random(n) < 0.3)).round(3).tolist(),
            }


if __name__ == "__main__":
    FILE.write_text(json.dumps(list(cases()), separators=(",", ":")) + "\n")
