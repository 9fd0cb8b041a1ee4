"""Does a layer agree with itself?"""

import math

import pytest
from tests.probes.agreement.examined_alone import broken, finding
from tests.probes.agreement.small_layers import Rotating, attention, lower

torch = pytest.importorskip("torch", reason="needs torch")


class ForgetsTheFutureWithWeights(Rotating):
    """Weights asked for: another code path, without the causal mask."""

    def forward(self, x, output_attentions=False):
        keep = self.seen
        if output_attentions:
            self.seen = lambda t, n, mask: torch.ones(1, 1, t, n, dtype=torch.bool)
        made = super().forward(x, output_attentions=output_attentions)
        self.seen = keep
        return made


class ForgetsPaddingInTraining(Rotating):
    def forward(self, x, attention_mask=None):
        return super().forward(x, None if self.training else attention_mask)


class ScalesItsInput(Rotating):
    def forward(self, x):
        x *= 2
        return super().forward(x)


class ClearsItsMask(Rotating):
    def forward(self, x, attention_mask=None):
        made = super().forward(x, attention_mask)
        if attention_mask is not None:
            attention_mask.zero_()
        return made


def causal_without_a_mask_only(q, k, v, attn_mask=None, is_causal=False):
    return attention(q, k, v, attn_mask, is_causal and attn_mask is None)


def causal_one_late(q, k, v, attn_mask=None, is_causal=False):
    shifted = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(1)
    return attention(q, k, v, shifted if is_causal else attn_mask)


def numbers_with_another_scale(q, k, v, attn_mask=None):
    is_flags = attn_mask is None or attn_mask.dtype == torch.bool
    return attention(q if is_flags else 2 * q, k, v, attn_mask)


def memory_as_it_lies(q, k, v):
    """Reads rows as if they lay one after another."""

    def flat(a):
        return torch.as_strided(a, a.shape, torch.empty(a.shape).stride())

    return attention(flat(q), flat(k), flat(v))


def keys_shifted_without_a_batch(q, k, v):
    return attention(q, k.roll(1, dims=-2) if q.dim() == 3 else k, v)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (ForgetsTheFutureWithWeights, "output_attentions=True"),
        (ForgetsPaddingInTraining, "training mode with dropout 0 with padding"),
        (ScalesItsInput, "changes its input"),
        (ClearsItsMask, "changes its input, with Options(mask="),
        (causal_without_a_mask_only, "together with a mask"),
        (causal_one_late, "is_causal"),
        (numbers_with_another_scale, "as flags and as numbers"),
        (memory_as_it_lies, "strided"),
        (keys_shifted_without_a_batch, "without the batch axis"),
    ],
)
def test_a_layer_that_contradicts_itself(layer, said):
    assert said in broken(layer, "paths").evidence


def added_only(q, k, v, attn_mask=None):
    """A mask of numbers alone: flags would be added as 0 and 1."""
    logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return (logits if attn_mask is None else logits + attn_mask).softmax(-1) @ v


def zero_hides(query, key, value, mask=None):
    """As tutorials have it: flags alone, though numbers are not refused."""
    logits = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        logits = logits.masked_fill(mask == 0, -1e9)
    return logits.softmax(-1) @ value


def own_mask_unless_told(q, k, v, attn_mask=None):
    """Causal where nothing is said; a mask stands in its place."""
    return attention(q, k, v, lower(q, k) if attn_mask is None else attn_mask)


def tokens_before_heads(query, key, value):
    """Without the batch axis it would mix along heads."""
    turned = [a.transpose(1, 2) for a in (query, key, value)]
    return attention(*turned).transpose(1, 2)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (Rotating, ""),
        (attention, "True = may be seen"),
        (torch.nn.functional.scaled_dot_product_attention, "True = may be seen"),
        (lambda: torch.nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True), "True = hidden"),
        (lambda: torch.nn.MultiheadAttention(8, 2), "True = hidden"),
        (added_only, "added to the logits"),
        (zero_hides, "True = may be seen"),
        (own_mask_unless_told, ""),
        (tokens_before_heads, ""),
    ],
)
def test_masks_are_read_in_many_ways_and_none_is_wrong(layer, said):
    found = finding(layer, "paths")

    assert found.status == "holds", found
    assert said in found.evidence
