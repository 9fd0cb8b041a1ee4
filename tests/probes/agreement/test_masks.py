"""Masks and positions are written as each layer wants them."""

import pytest
from tests.probes.agreement.examined_alone import finding
from tests.probes.agreement.small_layers import Rotating, attention

from headwright.probes import layer_of
from headwright.probes.layer.layer import MASK, PAIRS, POSITIONS

torch = pytest.importorskip("torch", reason="needs torch")


class Flags(Rotating):
    """Refuses numbers."""

    def forward(self, x, attention_mask=None):
        return super().forward(x, None if attention_mask is None else ~~attention_mask & True)

    def seen(self, tokens, keys, attention_mask):
        if attention_mask is not None and attention_mask.dtype != torch.bool:
            raise TypeError("flags, please")
        return super().seen(tokens, keys, attention_mask)


class Added(Rotating):
    """(b, 1, t, n), added to the logits."""

    def forward(self, x, attention_mask=None):
        self.added = 0.0 if attention_mask is None else attention_mask
        return super().forward(x)

    def weights(self, q, k, seen):
        logits = (q @ k.transpose(-1, -2)).float() / k.shape[-1] ** 0.5 + self.added
        return logits.masked_fill(~seen, -1e30).softmax(-1).to(q.dtype)


class HidesByTokens(Rotating):
    """`mask` (b, n), True where a token is padding."""

    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else ~mask.reshape(len(x), -1))


class OneRowOfPlaces(Rotating):
    def forward(self, x, input_pos=None):
        if input_pos is None:
            return super().forward(x)
        (tokens,) = input_pos.shape
        return super().forward(x, position_ids=input_pos.expand(len(x), tokens))


def hidden_pairs(q, k, v, mask=None):
    """(t, n), True where a key is hidden."""
    return attention(q, k, v, None if mask is None else ~mask.view(q.shape[-2], k.shape[-2]))


@pytest.mark.parametrize(
    ("layer", "meaning", "form"),
    [
        (Rotating, MASK, ("bn", "numbers")),
        (Flags, MASK, ("bn", "flags")),
        (Added, MASK, ("b1tn", "added")),
        (HidesByTokens, PAIRS, ("bn", "hides")),
        (hidden_pairs, PAIRS, ("tn", "hides")),
        (attention, PAIRS, ("b1tn", "flags")),
    ],
)
def test_the_form_of_a_mask_is_found(layer, meaning, form):
    made = layer() if isinstance(layer, type) else layer
    found = layer_of(made).signature.form(meaning)

    assert (found.axes, found.kind) == form
    assert finding(layer, "padding").status == "holds"
    assert finding(layer, "paths").status == "holds"


def test_positions_of_one_row_are_found():
    layer = layer_of(OneRowOfPlaces())

    assert POSITIONS in layer.takes
    assert layer.signature.one_row
    assert not layer_of(Rotating()).signature.one_row
    assert finding(OneRowOfPlaces, "batch").status == "holds"
