"""Test runs check every shape annotation of the package (jaxtyping + beartype); users never pay for it."""

import os

import jaxtyping
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

jaxtyping.install_import_hook("headwright", "shapes.check")

# No deadline: a loaded machine must not fail a test. Fixed seed: two runs test the same examples.
settings.register_profile("headwright", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("headwright")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)
