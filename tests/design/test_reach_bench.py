"""The benchmark of reach runs, and what it checks holds."""

import importlib.util
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "reach.py"


def test_the_quick_benchmark_finds_no_disagreement():
    spec = importlib.util.spec_from_file_location("bench_reach", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = module.run(quick=True)["rows"]
    assert len(rows) == 2
    for row in rows:
        assert row["wrong"].startswith("0 of")
        proven, lost = row["proofs"].split(" of ")
        assert proven == lost
        good, sample = row["margins"].split(" of ")
        assert good == sample
        assert row["undecided"] == 0
