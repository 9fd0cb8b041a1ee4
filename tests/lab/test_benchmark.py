"""The benchmark runs, and what it measures is there: no request of a crowd is lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks import lab as benchmark

pytestmark = pytest.mark.browser


def test_a_quick_run(chromium):
    # In a thread of its own: the tests' browser driver keeps a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(benchmark.run, quick=True).result()
    what = " ".join(row["what"] for row in report["rows"])
    for part in (
        "page ready",
        "drag a query",
        "engine: moments",
        "engine: design",
        "100 mixed requests",
    ):
        assert part in what
    assert all(row["times floor"] is None or row["times floor"] > 0 for row in report["rows"])
    weight = float(report["rows"][0]["what"].split("(")[1].split(" KB")[0])
    assert weight < 150
