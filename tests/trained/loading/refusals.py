"""How a file is refused: in one line, and before anything of it is loaded."""

import tracemalloc

import pytest
import transformers as tf

from headwright.errors import InputError
from headwright.trained.loading.load import load

# What reading a refused file may take: less than the smallest thing that a claim would ask for.
_FEW_BYTES = 2**24


def refused(place, monkeypatch) -> str:
    """The message; nothing was loaded, and hardly any memory used."""
    asked = []
    monkeypatch.setattr(tf.AutoModel, "from_pretrained", lambda *_, **__: asked.append(place))
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            load(place)
        assert tracemalloc.get_traced_memory()[1] < _FEW_BYTES
    finally:
        tracemalloc.stop()
    assert not asked
    assert "\n" not in str(caught.value)
    return str(caught.value)
