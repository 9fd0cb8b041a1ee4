"""Parts in threads: all of them, in order, and none after a failure."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from headwright import blocks
from headwright.blocks import in_threads

_KEYS = np.zeros(3)


@pytest.fixture(params=[1, 2, 5])
def processors(request, monkeypatch):
    monkeypatch.setattr(blocks, "_processors", lambda: request.param)
    return request.param


def _parts(count):
    return [slice(i, i + 1) for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_results_are_in_the_order_of_the_parts(processors, count):
    assert in_threads(lambda part: part.start, _parts(count), _KEYS) == list(range(count))


@pytest.mark.parametrize("bad", [0, 1, 7])
@pytest.mark.parametrize("error", [ValueError, IndexError, KeyboardInterrupt])
def test_a_failure_is_raised_and_nothing_else_is_begun(processors, bad, error):
    begun = []

    def work(part):
        begun.append(part.start)
        if part.start == bad:
            raise error(str(bad))
        time.sleep(0.001)

    with pytest.raises(error, match=str(bad)):
        in_threads(work, _parts(1000), _KEYS)
    assert len(begun) < 500


def test_the_calling_thread_is_one_of_them(processors):
    everybody = threading.Barrier(processors)

    def work(part):
        everybody.wait(10)
        return threading.get_ident()

    assert threading.get_ident() in in_threads(work, _parts(processors), _KEYS)
