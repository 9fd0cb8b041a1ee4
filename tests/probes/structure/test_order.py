"""Permutations and positions: the group that is found, and what may tell tokens apart."""

import numpy as np
import pytest
from tests.probes.structure.layers import WIDTH, causal, found, function, module, softmax

from headwright.probes.structure import permutation, shift


def _added(layer, positions):
    return lambda x: layer(x + positions(x.shape[1]))


def _waves(n):
    return np.sin(np.arange(n)[:, None] * np.linspace(0.1, 2, WIDTH))


def _last_doubled(x):
    output = module()(x)
    output[:, -1] *= 2
    return output


def _alibi(i, j):
    return -0.3 * abs(i - j)


@pytest.mark.parametrize(
    ("layer", "status", "says"),
    [
        (function(), "holds", "S_6 on tokens 0-5"),
        (module(), "holds", "S_6 on tokens 0-5"),
        (module(residual=True), "holds", "S_6 on tokens 0-5"),
        (function(causal), "not applicable", "only the identity: the mask (causal)"),
        (module(causal), "not applicable", "only the identity: the mask (causal)"),
        (
            function(lambda i, j: i // 3 == j // 3),
            "holds",
            "S_3 on tokens 0-2 and S_3 on tokens 3-5, also the swap of 0-2 with 3-5",
        ),
        (function(lambda i, j: abs(i - j) < 3), "holds", "the identity and the reversal"),
        (function(lambda i, j: (j <= i) | (j < 3)), "holds", "S_3 on tokens 0-2, tokens 3-5 fixed"),
        (function(bias=_alibi), "not applicable", "positions in the logits"),
        (module(bias=_alibi), "not applicable", "positions in the logits"),
        (_added(module(), _waves), "not applicable", "positions in the values, absolute ones"),
        (_last_doubled, "broken", "S_5 on tokens 0-4, token 5 fixed"),
        (module(merge=lambda heads: heads), "broken", "heads merged without a transpose"),
        (function(bias=lambda i, j: np.sin(1.7 * j)), "broken", "absolute positions inside"),
    ],
)
def test_the_group_and_what_explains_it(layer, status, says):
    finding = found(permutation.probe, layer)
    assert finding.status == status, finding.evidence
    assert says in finding.evidence


@pytest.mark.parametrize("seed", range(2))
def test_full_attention_holds_in_half_precision(seed):
    assert found(permutation.probe, function(), seed=seed, dtype="float16").status == "holds"


def test_single_precision_inside_a_double_layer_is_rounding():
    single = lambda q, k, v: function()(*[a.astype("float32") for a in (q, k, v)])  # noqa: E731
    finding = found(permutation.probe, single, dtype="float64")
    assert finding.status == "holds", finding.evidence


def _turned(x, angle):
    half = x.shape[-1] // 2
    one = x[..., :half]
    other = x[..., half:]
    return np.concatenate(
        [one * np.cos(angle) - other * np.sin(angle), one * np.sin(angle) + other * np.cos(angle)],
        axis=-1,
    )


def _rotary(angles, sees=None, turn_keys=True):
    """Positions are an input; `angles(positions)` turns them into phases."""

    def layer(x, position_ids=None):
        b, n, _ = x.shape
        ids = np.tile(np.arange(n), (b, 1)) if position_ids is None else position_ids
        phase = angles(ids[..., None] * np.array([1.0, 0.3, 0.1, 0.03]))
        q = _turned(x, phase)
        k = q if turn_keys else x
        logits = q @ k.swapaxes(1, 2) / np.sqrt(WIDTH)
        if sees is not None:
            logits = np.where(sees(np.arange(n)[:, None], np.arange(n)), logits, -np.inf)
        return softmax(logits) @ x

    return layer


def _exact(phase):
    return phase


def _in_half_precision(phase):
    return phase.astype("float16").astype(float)


def test_rotary_positions_move_along():
    layer = _rotary(_exact)
    assert found(shift.probe, layer).status == "holds"
    moving = found(permutation.probe, layer)
    assert moving.status == "holds"
    assert "when position numbers move along" in moving.evidence


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (_rotary(_in_half_precision), "change the output"),
        (_rotary(lambda phase: np.minimum(phase, 16.0)), "change the output"),
        (_rotary(_exact, turn_keys=False), "moved by 1 change the output"),
    ],
)
def test_positions_that_are_not_relative_are_broken(layer, says):
    finding = found(shift.probe, layer)
    assert finding.status == "broken"
    assert says in finding.evidence


@pytest.mark.parametrize("sees", [None, causal])
def test_functions_without_positions_of_their_own(sees):
    assert found(shift.probe, function(sees)).status == "not applicable"
    assert found(shift.probe, function(sees, bias=_alibi)).status == "holds"
    absolute = found(shift.probe, function(sees, bias=lambda i, j: np.sin(1.7 * j)))
    assert absolute.status == "broken"
    assert "absolute positions inside" in absolute.evidence


def test_layers_that_count_for_themselves():
    assert found(shift.probe, module()).status == "not applicable"
    assert found(shift.probe, module(causal, bias=_alibi)).status == "not applicable"

    def ignores(x, position_ids=None):
        return module(causal)(x)

    assert "no effect" in found(shift.probe, ignores).evidence


def test_padding_on_the_left_moves_a_text():
    def padded(positions):
        def layer(x, attention_mask=None):
            b, n, _ = x.shape
            mask = np.ones((b, n)) if attention_mask is None else attention_mask
            x = x + _waves(n)[positions(mask)]
            logits = np.where(mask[:, None].astype(bool), x @ x.swapaxes(1, 2) / WIDTH, -np.inf)
            return softmax(logits) @ x

        return layer

    from_the_first = padded(lambda mask: np.maximum(mask.cumsum(-1).astype(int) - 1, 0))
    from_the_edge = padded(lambda mask: np.tile(np.arange(mask.shape[1]), (len(mask), 1)))
    assert found(shift.probe, from_the_first).status == "holds"
    edge = found(shift.probe, from_the_edge)
    assert edge.status == "not applicable"
    assert "absolute positions" in edge.evidence
