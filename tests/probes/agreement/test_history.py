"""Does a layer answer as if nobody had asked before, and the same every time?"""

import pytest
from tests.probes.agreement.examined_alone import broken, finding
from tests.probes.agreement.small_layers import Rotating, attention

import headwright as hw

torch = pytest.importorskip("torch", reason="needs torch")


class StaleTable(Rotating):
    """The base of the angles grows with the longest text so far."""

    longest = 32

    def turned(self, x, places):
        self.longest = max(self.longest, x.shape[-2])
        return super().turned(x, places * (32 / self.longest))


class GrowsForever(Rotating):
    """Each call adds its input to what all later calls see."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen_so_far", torch.zeros(WIDTH_OF_SUM))

    def forward(self, x):
        self.seen_so_far = self.seen_so_far + x.detach().mean(dim=(0, 1))
        return super().forward(x + self.seen_so_far)


class LastInput(Rotating):
    """The answer to the call before leaks into this one."""

    last = 0.0

    def forward(self, x):
        made = super().forward(x) + self.last
        self.last = float(x.detach().mean())
        return made


class FirstMaskOfItsShape(Rotating):
    """Asking again does not show it: the first one stays for good."""

    def __init__(self):
        super().__init__()
        self.masks = {}

    def forward(self, x, attention_mask=None):
        if attention_mask is not None:
            attention_mask = self.masks.setdefault(attention_mask.shape, attention_mask)
        return super().forward(x, attention_mask)


WIDTH_OF_SUM = 12


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (StaleTable, "after a text of 96 tokens"),
        (GrowsForever, "before and after"),
        (LastInput, "after another input"),
        (FirstMaskOfItsShape, "padding first, and after"),
    ],
)
def test_what_a_layer_keeps(layer, said):
    assert said in broken(layer, "history").evidence


class Noisy(Rotating):
    def weights(self, q, k, seen):
        return torch.nn.functional.dropout(super().weights(q, k, seen), 0.3, training=True)


def test_chance_is_told_and_nothing_else():
    record = hw.xray(Noisy())
    others = {finding.status for finding in record.properties if finding.name != "determinism"}

    assert broken(Noisy, "determinism")
    assert others == {"unclear"}
    assert "see determinism" in record["paths"].evidence


@pytest.mark.parametrize("layer", [LastInput, GrowsForever])
def test_a_state_is_no_chance(layer):
    found = finding(layer, "determinism")

    assert found.status == "unclear"
    assert "see history" in found.evidence


def test_right_layers():
    for name in ("history", "determinism"):
        assert finding(Rotating, name).status == "holds"
        assert finding(attention, name).status == "holds"
