"""The audit on one GPU: the fused kernels' numbers, their time beside SDPA's, and the whole audit
of a random LLaMA of a billion parameters against its plain forward. The parts are in `gpu/`.

    python -m benchmarks.audit_gpu [--tokens 8192,32768] [--dtype bfloat16]
                                   [--only correct,kernel,audit,tiles]

Rows are printed as they come, one JSON object each; the last line is one JSON object with all of
them. A row that fails says why, and the others go on.
"""

from __future__ import annotations

import argparse
import json

TITLE = "Audit on a GPU"
NOTES = [
    "peaks are over the loaded model",
    "correct: largest relative difference from the present path in float32, same inputs",
    "ratios: median of interleaved repetitions",
]


def run(*, quick: bool) -> dict:
    """For `headwright bench audit_gpu`; a machine without a GPU gets a note instead of a number."""
    import torch

    if not torch.cuda.is_available():
        return {"title": TITLE, "rows": [], "notes": ["no GPU on this machine"]}
    from benchmarks.gpu.timing import taken
    from benchmarks.gpu.whole import audit_rows
    from benchmarks.telling import as_they_come

    rows = list(as_they_come(taken(audit_rows([1024 if quick else 8192], "bfloat16"))))
    return {"title": TITLE, "rows": rows, "notes": NOTES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", default="8192,32768")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--only", default="correct,kernel,audit")
    given = parser.parse_args()

    from benchmarks.gpu.correct import correct_rows
    from benchmarks.gpu.one_layer import kernel_rows, tile_rows
    from benchmarks.gpu.timing import taken
    from benchmarks.gpu.whole import audit_rows

    lengths = [int(n) for n in given.tokens.split(",")]
    kinds = {
        "correct": correct_rows,
        "kernel": lambda: kernel_rows([2048, *lengths], given.dtype),
        "audit": lambda: audit_rows(lengths, given.dtype),
        "tiles": lambda: tile_rows(lengths[0], given.dtype),
    }
    rows = []
    for name in given.only.split(","):
        for row in taken(kinds[name]()):
            print(json.dumps(row), flush=True)
            rows.append(row)
    print(json.dumps({"title": TITLE, "rows": rows, "notes": NOTES}))


if __name__ == "__main__":
    main()
