"""A real scheduler, two workers and a driver, each killed once; `headwright bench crew` does it
with more of everything."""

import pytest
from benchmarks import crew_kills

pytest.importorskip("distributed", reason="needs the cluster extra")


def test_kills_lose_nothing(tmp_path):
    found = crew_kills.survived(tmp_path, 400, 3.0, ["worker", "driver", "scheduler"])

    assert found["kills"].total() == 3
    assert found["identical"]
    assert found["lost"] == 0
    # A worker's own batch; nothing for the driver; with the scheduler, the batch of each worker
    assert found["repeated batches"] <= 1 + crew_kills.WORKERS
