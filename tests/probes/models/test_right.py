"""Right models of every family: nothing of theirs is broken."""

import pytest
import torch
from tests.trained.families import FAMILIES, build

from headwright.probes.models import xray_model

# One of each kind: absolute positions, rotary, relative, slopes, windows, sinks, two stacks.
_QUICK = ["bert", "gpt2", "llama", "mistral", "gpt_oss, sinks", "t5", "vit", "bloom", "xlnet"]


@pytest.mark.parametrize("family", _QUICK)
def test_right_family(family):
    model, _ = build(family)
    found = xray_model(model.float())
    assert found.holds, found.broken


def test_every_family_can_be_opened():
    for family in FAMILIES:
        model, _ = build(family)
        found = xray_model(model.to(torch.bfloat16), only="determinism")
        assert found.holds
        assert found.parts
