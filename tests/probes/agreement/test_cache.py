"""Does a text fed in pieces get the answer of one pass?"""

import pytest
from tests.probes.agreement.examined_alone import broken, finding
from tests.probes.agreement.small_layers import Rotating, attention, lower

torch = pytest.importorskip("torch", reason="needs torch")


class EveryTokenFirst(Rotating):
    def places(self, position_ids, batch, tokens, past):
        return super().places(position_ids, batch, tokens, 0)


class ChunkSeesItself(Rotating):
    """With a cache nothing is hidden: right for one token at a time."""

    def seen(self, tokens, keys, attention_mask):
        seen = super().seen(tokens, keys, attention_mask)
        return seen | (tokens < keys)


class PlacesOfTheFirstText(Rotating):
    def places(self, position_ids, batch, tokens, past):
        made = super().places(position_ids, batch, tokens, past)
        return made if past == 0 else made[:1].expand(batch, tokens)


class OneCacheForAll(Rotating):
    """Keeps the keys itself and gives out a token for them."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def joined(self, past, k, v):
        self.kept = super().joined(None if past is None else self.kept, k, v)
        return self.kept


class RingOfSixteen(Rotating):
    """Forgets keys that one pass still sees."""

    def joined(self, past, k, v):
        past = None if past is None else tuple(a[..., -16:, :] for a in past)
        return super().joined(past, k, v)

    def places(self, position_ids, batch, tokens, past):
        return super().places(position_ids, batch, tokens, past)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (EveryTokenFirst, "does not count on from the cache"),
        (ChunkSeesItself, "chunks of 4, 3 and 1 tokens"),
        (PlacesOfTheFirstText, "padded on the left, positions given"),
        (OneCacheForAll, "two texts in turn"),
        (RingOfSixteen, "24 tokens one by one"),
    ],
)
def test_decoding_differs_from_one_pass(layer, said):
    assert said in broken(layer, "cache").evidence


class InADict(torch.nn.Module):
    """A dict that the layer fills."""

    def __init__(self):
        super().__init__()
        self.inner = Rotating()

    def forward(self, x, cache=None):
        past = None if cache is None else cache.get("kv")
        output, kept = self.inner(x, past_key_values=past, use_cache=True)
        if cache is not None:
            cache["kv"] = kept
        return output


class Dynamic(torch.nn.Module):
    """A DynamicCache that the layer updates under its number."""

    def __init__(self):
        super().__init__()
        self.inner = Rotating()

    def forward(self, x, past_key_values=None):
        if past_key_values is None:
            return self.inner(x)
        length = past_key_values.get_seq_length(2) if len(past_key_values.layers) > 2 else 0
        places = torch.arange(length, length + x.shape[1]).expand(len(x), -1)
        self.inner.joined = lambda past, k, v: past_key_values.update(k, v, 2)
        output = self.inner(x, position_ids=places)
        del self.inner.joined
        return output


class OwnCache(torch.nn.Module):
    """Written against an object that has `update` and `offset`."""

    def __init__(self):
        super().__init__()
        self.inner = Rotating()

    def forward(self, x, kv_cache=None):
        if kv_cache is None:
            return self.inner(x)
        places = torch.arange(kv_cache.offset, kv_cache.offset + x.shape[1]).expand(len(x), -1)
        self.inner.joined = lambda past, k, v: kv_cache.update(k, v)
        output = self.inner(x, position_ids=places)
        del self.inner.joined
        return output


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_right_caches(dtype):
    found = finding(Rotating().to(getattr(torch, dtype)), "cache")

    assert found.status == "holds", found
    assert "returned beside the output" in found.evidence


@pytest.mark.parametrize(
    ("layer", "said"),
    [(InADict, "a dict"), (Dynamic, "a DynamicCache"), (OwnCache, "an object with `update`")],
)
def test_caches_that_the_layer_fills(layer, said):
    if layer is Dynamic:
        pytest.importorskip("transformers", reason="needs transformers")
    found = finding(layer, "cache")

    assert found.status == "holds", found
    assert said in found.evidence


class NoCacheComesBack(Rotating):
    def forward(self, x, past_key_values=None, use_cache=False):
        return super().forward(x)


def test_what_cannot_be_told():
    assert finding(NoCacheComesBack, "cache").status == "unclear"
    assert finding(lambda x: x, "cache", shape=(6, 8)).status == "not applicable"
    assert finding(attention, "cache", shape=(6, 8)).status == "holds"


def upper_left(q, k, v, is_causal=False):
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return attention(q, k, v, seen if is_causal else None)


def one_key_late(q, k, v):
    seen = lower(q, k) if q.shape[-2] == k.shape[-2] else lower(q, k).roll(-1, dims=-1)
    return attention(q, k, v, seen)


def test_the_last_queries_alone():
    corner = finding(upper_left, "cache")
    found = broken(one_key_late, "cache")

    assert corner.status == "unclear"
    assert "upper left corner" in corner.evidence
    assert "of 6 queries alone" in found.evidence
    assert finding(lambda q, k, v: attention(q, k, v), "cache").status == "not applicable"
