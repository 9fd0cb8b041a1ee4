"""What depends on what: named, judged, and shown to leak."""

import numpy as np
import pytest
from tests.probes.structure.layers import WIDTH, causal, found, function, module, places, window

import headwright as hw
from headwright.probes.structure import pattern
from headwright.probes.structure.visible.shapes import documents

NAMES = {
    "full": None,
    "causal": causal,
    "strictly causal (not its own)": lambda i, j: j < i,
    "causal, one token ahead": lambda i, j: j <= i + 1,
    "window=3": window(3),
    "window=40": window(40),
    "window=3 both sides": lambda i, j: abs(i - j) < 3,
    "prefix=3": lambda i, j: (j <= i) | (j < 3),
    "documents, causal inside": lambda i, j: (i // 4 == j // 4) & (j <= i),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [function, module])
def test_what_is_seen_has_a_name(name, form):
    finding = found(pattern.probe, form(NAMES[name]))
    assert finding.status == "holds"
    assert finding.evidence.startswith(f"{name}, at 6")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_right_masks_hold_in_every_dtype(seed, dtype):
    for name, expect in (("causal", "causal"), ("window=3", "window=3"), ("prefix=3", "prefix=3")):
        finding = found(pattern.probe, function(NAMES[name]), expect, seed, dtype)
        assert finding.status == "holds", finding.evidence


def test_a_residual_stream_and_fading_weights_do_not_hide_the_mask():
    assert found(pattern.probe, module(causal, residual=True), "causal").status == "holds"
    fading = module(causal, bias=lambda i, j: -0.7 * abs(i - j))
    assert found(pattern.probe, fading, "causal").status == "holds"
    steep = function(causal, bias=lambda i, j: -0.5 * abs(i - j))
    assert found(pattern.probe, steep, "causal").status == "holds"


@pytest.mark.parametrize(
    ("sees", "expect", "says"),
    [
        (lambda i, j: j <= i + 1, "causal", "output 0 moves with token 1, which it must not"),
        (lambda i, j: j < i, "causal", "output 0 does not move with token 0, which it should"),
        (window(5), "window=4", "of 5 tokens, output 4 moves with token 0"),
        (window(3), "window=4", "of 4 tokens, output 3 does not move with token 0"),
        (window(40), "causal", "of 65 tokens, output 40 does not move with token 0"),
        (lambda i, j: (j <= i) | (j < 4), "prefix=3", "of 4 tokens, output 0 moves with token 3"),
        (causal, "full", "output 0 does not move with token 1"),
        (causal, "documents", "output 3 moves with token 0"),
        (lambda i, j: (j <= i) | (j >= 64), "causal", "of 65 tokens, output 0 moves with token 64"),
    ],
)
@pytest.mark.parametrize("form", [function, module])
def test_against_an_intent_the_smallest_pair_is_shown(sees, expect, says, form):
    finding = found(pattern.probe, form(sees), expect)
    assert finding.status == "broken"
    assert says in finding.evidence


def test_a_finite_fill_value_leaks_at_large_logits():
    for fill, logit in ((-1e4, "1e+04"), (-1e5, "1e+06"), (-1e9, "1e+10")):
        finding = found(pattern.probe, function(causal, fill))
        assert finding.status == "broken"
        assert logit in finding.evidence


def test_what_no_intent_explains_is_broken():
    def one_head(q, k, v):
        hidden = function(causal)(q, k, v)
        hidden[:, 1:] = function()(q, k, v)[:, 1:]
        return hidden

    def one_text(q, k, v):
        hidden = function(causal)(q, k, v)
        hidden[1:] = function()(q, k, v)[1:]
        return hidden

    long_only = function(lambda i, j: (j <= i) | (j >= 64))
    says = {one_head: "some heads", one_text: "texts of one batch", long_only: "in shorter inputs"}
    for layer, words in says.items():
        finding = found(pattern.probe, layer)
        assert finding.status == "broken"
        assert words in finding.evidence


def test_one_head_that_does_not_see_is_shown():
    def one_head(q, k, v):
        output = function(causal)(q, k, v)
        output[:, 1:] = function(window(2))(q, k, v)[:, 1:]
        return output

    assert found(pattern.probe, one_head).evidence == "heads differ: causal, window=2"
    finding = found(pattern.probe, one_head, "causal")
    assert finding.status == "broken"
    assert "output 2 does not move with token 0" in finding.evidence


def test_what_has_no_name_is_unclear():
    odd = function(lambda i, j: (i + j) % 3 != 1)
    assert found(pattern.probe, odd).status == "unclear"
    nothing = found(pattern.probe, lambda x: x * 1.5)
    assert nothing.status == "unclear"
    assert "no output moves with another token" in nothing.evidence


def test_the_corner_and_rows_that_see_nothing_are_named():
    upper = found(pattern.probe, function(causal), "causal")
    assert upper.status == "holds"
    assert "aligned at the upper left corner" in upper.evidence

    def lower(q, k, v):
        shift = k.shape[-2] - q.shape[-2]
        return function(lambda i, j: j <= i + shift)(q, k, v)

    finding = found(pattern.probe, lower, "causal")
    assert "aligned at the lower right corner" in finding.evidence
    assert "a row that sees nothing gives NaN" in finding.evidence
    spread = found(pattern.probe, function(lambda i, j: j < i, -1e30))
    assert "gives the mean of all values" in spread.evidence


def test_a_causal_switch_is_used_where_the_intent_needs_it():
    def switched(q, k, v, is_causal=False):
        return function(causal if is_causal else None)(q, k, v)

    def wrong(q, k, v, is_causal=False):
        return function((lambda i, j: j <= i + 1) if is_causal else None)(q, k, v)

    assert "with its causal switch on" in found(pattern.probe, switched, "causal").evidence
    assert found(pattern.probe, switched).evidence.startswith("full")
    assert found(pattern.probe, wrong).status == "broken"


def test_documents_by_number():
    def layer(x, document_ids=None, leaks=False):
        b, n, _ = x.shape
        ids = np.zeros((b, n)) if document_ids is None else document_ids
        same = (ids[:, :, None] == ids[:, None, :]) | leaks
        i, j = places(n, n)
        logits = np.where(same & (j <= i), x @ x.swapaxes(1, 2) / WIDTH, -np.inf)
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ x

    def leaking(x, document_ids=None):
        return layer(x, document_ids, leaks=True)

    def of_the_first_text(x, document_ids=None):
        ids = None if document_ids is None else document_ids[:1].repeat(len(x), axis=0)
        return layer(x, ids)

    assert found(pattern.probe, layer, "documents").status == "holds"
    assert found(pattern.probe, layer).evidence.startswith("causal")
    assert found(pattern.probe, leaking, "documents").status == "broken"
    assert found(pattern.probe, of_the_first_text, "documents").status == "broken"


def test_the_record_has_the_picture():
    record = hw.xray(function(causal), only=["pattern", "permutation"])
    assert record.pattern == "causal"
    assert record.group == "only the identity"
    np.testing.assert_array_equal(record.depends, np.tri(6, dtype=bool))


def test_blocks_of_a_picture():
    assert documents(np.kron(np.eye(2), np.ones((3, 3))).astype(bool)).borders == (3,)
    assert documents(np.eye(4, dtype=bool)) is None
    assert documents(np.ones((4, 4), bool)) is None


def test_the_picture_shows_a_window_that_is_one_too_wide():
    seen = hw.xray(function(window(5)), expect="window=4", only="pattern").depends
    further_back = np.tril(np.ones(seen.shape, bool), -4)
    assert (seen & further_back).any()
