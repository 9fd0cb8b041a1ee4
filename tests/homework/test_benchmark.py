"""The benchmark of check runs, and says speed and accuracy in one table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_small_run_reports_floor_speed_memory_and_accuracy():
    """In a process of its own: the shape checks of a test run would be what is measured."""
    program = "import json; from benchmarks import check; print(json.dumps(check.run(quick=True)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    floor, one, two = json.loads(done.stdout)["rows"]
    assert floor["what"] == "read only"
    assert one["x floor"] > 1
    assert one["answers"] == two["answers"] > 100
    assert one["misjudged"] == two["misjudged"]
    assert two["MB at end"] > 0
