"""`headwright.testing`: in a test suite of somebody else."""

import subprocess
import sys

import pytest
from tests.probes import sample_layers

from headwright.testing import assert_attention

SUITE = """
from headwright.testing import assert_attention
from tests.probes.sample_layers import attention, random


def test_right():
    assert assert_attention(attention, only="determinism").holds


def test_wrong():
    assert_attention(random, only="determinism")
"""


def test_what_holds_is_returned():
    assert assert_attention(sample_layers.attention, only="determinism").holds


def test_what_is_broken_is_said_with_its_counterexample_and_script():
    with pytest.raises(AssertionError) as caught:
        assert_attention(sample_layers.random, "full", only="determinism")
    lines = str(caught.value).splitlines()
    assert lines[0] == "random: broken: determinism (expected: full)"
    assert lines[1].startswith("  determinism: 19 of 20 runs on the same input differ")
    assert lines[2].startswith("    smallest counterexample: 19 of 20 runs")
    assert '    layer = layer_of("tests.probes.sample_layers:random")' in lines


def test_in_a_pytest_run_of_somebody_else(tmp_path):
    (tmp_path / "test_mine.py").write_text(SUITE)
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    done = subprocess.run(
        [*line, "-c", "/dev/null", tmp_path / "test_mine.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout
    assert "E       AssertionError: random: broken: determinism" in done.stdout
    assert "testing.py" not in done.stdout
