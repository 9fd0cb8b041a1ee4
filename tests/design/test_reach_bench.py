"""The benchmark of reach runs, and what it checks holds."""

from benchmarks import reach


def test_the_quick_benchmark_finds_no_disagreement():
    rows = reach.run(quick=True)["rows"]
    assert len(rows) == 3
    for row in rows:
        assert row["wrong"].startswith("0 of")
        proven, lost = row["proofs"].split(" of ")
        assert proven == lost
        good, sample = row["margins"].split(" of ")
        assert good == sample
        assert row["undecided"] == 0
