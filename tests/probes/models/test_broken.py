"""Models with one mistake each: found under the right name, in the right place, with a script that
fails."""

import pytest

pytest.importorskip("torch", reason="the models extra is not installed")

import numpy as np
import torch
from tests.probes.models import broken_models

from headwright.probes import Inputs, Options, Sizes
from headwright.probes.models import function_of, part_of, xray_model

# name of the property, the mistake, the layer (None: the model as a whole), where it is broken
CASES = {
    "not causal on sdpa": ("pattern", broken_models.not_causal_on_sdpa, 0, {"sdpa"}),
    "eager is not sdpa": ("paths", broken_models.not_causal_on_sdpa, 0, {"sdpa"}),
    "window": ("pattern", broken_models.window_one_too_wide, 1, {"eager", "sdpa"}),
    "key heads": ("heads", broken_models.key_heads_tiled, 0, {"eager"}),
    "padding": ("padding", broken_models.padding_seen_in_eager, 0, {"eager"}),
    "decoding": ("cache", broken_models.decodes_at_zero, None, {"eager", "sdpa"}),
    "stale angles": ("history", broken_models.rotation_kept, None, {"eager"}),
}


@pytest.mark.parametrize("case", CASES)
def test_mistake_is_found(case, monkeypatch):
    torch.set_num_threads(1)
    name, broken, layer, where = CASES[case]
    found = xray_model(broken(monkeypatch), layer=layer, only=name)
    assert not found.holds
    parts = [part for part in found.parts if not part.record.holds and part.layer == layer]
    assert {part.implementation for part in parts} == where

    script = found[name].counterexample.script
    names = {"np": np, "Inputs": Inputs, "Options": Options, "Sizes": Sizes}
    names |= {"part_of": part_of, "function_of": function_of, "model": broken(monkeypatch)}
    with pytest.raises(AssertionError):
        exec(compile(script, case, "exec"), names)
