"""Does padding leave a text alone?"""

import pytest
from tests.probes.agreement.examined_alone import broken, finding
from tests.probes.agreement.small_layers import Rotating, attention

torch = pytest.importorskip("torch", reason="needs torch")


class Deaf(Rotating):
    def forward(self, x, attention_mask=None):
        return super().forward(x)


class Inverted(Rotating):
    def forward(self, x, attention_mask=None):
        return super().forward(x, None if attention_mask is None else 1 - attention_mask)


class InvertedFlags(torch.nn.Module):
    """PyTorch's own layer, whose flags mean padding; a text without any is then all padding."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        hidden = None if key_padding_mask is None else ~key_padding_mask
        return self.inner(x, x, x, key_padding_mask=hidden, need_weights=False)[0]


class WeakFill(Rotating):
    """Hidden logits are lowered by 20, which loud padding outweighs."""

    def weights(self, q, k, seen):
        logits = (q @ k.transpose(-1, -2)).float() / k.shape[-1] ** 0.5
        return (logits - 20.0 * ~seen).softmax(-1).to(q.dtype)


class FirstLengthForAll(Rotating):
    def forward(self, x, attention_mask=None):
        mask = None if attention_mask is None else attention_mask[:1].expand(len(x), -1)
        return super().forward(x, mask)


class PaddingAtTheEndOnly(Rotating):
    """Takes the number of real tokens for the place where they end."""

    def forward(self, x, attention_mask=None):
        if attention_mask is not None:
            lengths = attention_mask.sum(dim=1, keepdim=True)
            attention_mask = torch.arange(x.shape[1])[None] < lengths
        return super().forward(x, attention_mask)


def softened(q, k, v, attn_mask=None):
    """Flags multiply the logits."""
    return attention(q if attn_mask is None else q * attn_mask[..., -1:, :1], k, v)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (Deaf, "the mask has no effect"),
        (Inverted, "the mask seems inverted"),
        (InvertedFlags, "the mask seems inverted"),
        (WeakFill, "reaches the text"),
        (FirstLengthForAll, "unequal lengths"),
        (PaddingAtTheEndOnly, "on the left"),
        (softened, "padding on the right"),
    ],
)
def test_padding_that_reaches_the_text(layer, said):
    assert said in broken(layer, "padding").evidence


class CountsFromTheEdge(Rotating):
    """Positions that are added count the padding, and none are taken."""

    def forward(self, x, attention_mask=None):
        place = torch.arange(x.shape[1])[None, :, None].to(x.dtype)
        return super().forward(x + place, attention_mask)


def test_absolute_positions_are_named_and_not_judged():
    found = finding(CountsFromTheEdge, "padding")

    assert found.status == "unclear"
    assert "depend on positions" in found.evidence


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_right_layers_in_every_precision(dtype):
    layer = Rotating().to(getattr(torch, dtype))

    assert finding(layer, "padding").status == "holds"
    assert finding(attention, "padding", dtype=dtype).status == "holds"
    assert finding(lambda q, k, v: attention(q, k, v), "padding").status == "not applicable"
