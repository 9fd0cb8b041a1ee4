"""The clock and the memory cap do stop work, and leave no trace when they do not."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from headwright.homework import limits


def test_the_clock_interrupts_a_loop():
    def busy() -> None:
        with limits.time_limit(0.05):
            while time.monotonic() - started < 60:
                pass

    started = time.monotonic()
    with pytest.raises(limits.LimitReached, match=r"longer than 0\.05 s"):
        busy()
    assert time.monotonic() - started < 60


def test_the_clock_is_silent_afterwards_and_gives_the_signal_back():
    before = signal.getsignal(signal.SIGPROF)
    with limits.time_limit(10):
        pass
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_other_threads_run_without_a_clock():
    done = []

    def work() -> None:
        with limits.time_limit(0.001):
            time.sleep(0.01)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is capped on Linux only")
def test_memory_is_capped():
    program = (
        "from headwright.homework.limits import limit_memory\nlimit_memory(100_000_000)\n"
        "try:\n    x = bytearray(400_000_000)\nexcept MemoryError:\n    print('stopped')"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "stopped"
