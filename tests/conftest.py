"""Test runs check every shape annotation of the package (jaxtyping + beartype); users never pay for
it."""

import os
import signal
import sys

import jaxtyping
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests import shapes

jaxtyping.install_import_hook("headwright", f"{shapes.__name__}.check")
sys.meta_path.insert(0, shapes.Unchecked)

# No deadline: a loaded machine must not fail a test. Fixed seed: two runs test the same examples.
settings.register_profile(
    "headwright", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("headwright")
os.environ.setdefault("MPLBACKEND", "Agg")
# Kernels for a GPU run in Triton's interpreter, which is chosen when Triton is first imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

# A shell lets its background jobs ignore Ctrl+C, and their children inherit that. The programs
# under test are somebody's foreground.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What no machine of ours can have: an accelerator, and the material beside our own checkout.
_NOT_TO_BE_HAD = ("CUDA", "../shared")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Continuous integration sets HEADWRIGHT_REQUIRE_ALL: a skip there is a hole in the tests, not
    a courtesy."""
    if not os.environ.get("HEADWRIGHT_REQUIRE_ALL"):
        return
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    holes = [reason for reason in reasons if not any(word in reason for word in _NOT_TO_BE_HAD)]
    if holes:
        terminalreporter.write_line(
            f"{len(holes)} skipped where nothing may be skipped: {holes[0]}", red=True
        )
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)
