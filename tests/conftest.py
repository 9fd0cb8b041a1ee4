"""Test runs check every shape annotation of the package (jaxtyping + beartype); users never pay for
it."""

import functools
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests import shapes
from tests.browser import Window

shapes.install("headwright")

# No deadline: a loaded machine must not fail a test. Fixed seed: two runs test the same examples.
settings.register_profile(
    "headwright", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("headwright")
os.environ.setdefault("MPLBACKEND", "Agg")
# Kernels for a GPU run in Triton's interpreter, which is chosen when Triton is first imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

# Where the environment forbids compiled modules on disk, each worker and each of the hundreds of
# programs that tests start would compile the package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets its background jobs ignore Ctrl+C, and their children inherit that. The programs
# under test are somebody's foreground.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NODE = Path(os.environ.get("HEADWRIGHT_NODE", Path.home() / ".cache" / "headwright-node"))

# What no machine of ours can have: an accelerator, and the material beside our own checkout.
_NOT_TO_BE_HAD = ("CUDA", "../shared")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported for the tests stays: to look through it again and again for what could go
    takes a sixth of the time of importing it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """One worker per core, and one thread per worker: more of them would wait for one another."""
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """A file to a worker, and the files that want the large model to the same one: loading it takes
    longer than its tests."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    @functools.cache
    def wants_large_model(file: str) -> bool:
        text = (config.rootpath / file).read_text(encoding="utf-8")
        return re.search(r"^def test_\w+\([^)]*\bsmollm2\b", text, re.MULTILINE) is not None

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "the large model" if wants_large_model(file) else file

    return Scheduling(config, log)


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


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs chromium on the path")
    with sync_api.sync_playwright() as driver:
        # The sandbox refuses to start for root, which is who runs in containers.
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def window(chromium):
    return Window(chromium)


@pytest.fixture(scope="session")
def node_modules():
    """The folder with axe-core and typescript: test tools only, never part of the tree."""
    folder = NODE / "node_modules"
    if not (folder / "axe-core").is_dir() or not (folder / "typescript").is_dir():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("needs npm for axe-core and typescript")
        packages = ["axe-core@4", "typescript@5"]
        command = [npm, "install", "--no-fund", "--no-audit", "--prefix", str(NODE), *packages]
        NODE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"npm could not install axe-core and typescript: {done.stderr[-200:]}")
    return folder
