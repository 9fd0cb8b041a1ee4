"""The fused kernel under Triton's interpreter: the numbers of full maps in double precision, for
half-precision inputs as they are, and those of the plain operations row by row.

The interpreter multiplies float16 and not bfloat16; the kernel does not know the difference, and
`benchmarks/gpu/correct.py` compares both on a GPU.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.tolerances import FUSED, SINGLE
from tests.trained import naive
from tests.trained.random_layers import same_as_full_maps

from headwright.result import to_numpy
from headwright.trained.heads import Heads
from headwright.trained.measures.from_rows import LayerRows
from headwright.trained.measures.measured import measured
from headwright.trained.measures.tally import Tally
from headwright.trained.rows.kernels import can_fuse, plain_kernel
from headwright.trained.rows.stream import stream
from headwright.trained.rows.tokens import Tokens

torch = pytest.importorskip("torch", reason="needs torch, which comes with the extra 'models'")
pytest.importorskip("triton", reason="needs triton, which is for Linux")
from headwright.trained.rows.fused.launch import TILES, Tile, fused_rows  # noqa: E402

T = 34
SMALL = Tile(16, 16, 4, 2)
NUMBERS = ("margin", "leak", "shifted", "first", "separators")


def random_heads(rng, *, t=T, n=None, d=8, v=16, sharp=1.0, **words):
    """Two heads on one key head, in the memory order of a model: heads next to each other."""
    shape = {"q": (t, 2, d), "k": (n or t, 1, d), "v": (n or t, 1, v)}
    arrays = {}
    for name, size in shape.items():
        made = torch.from_numpy(rng.standard_normal(size)).to(torch.float16)
        arrays[name] = made.transpose(0, 1)
    return Heads(**arrays, scale=sharp * d**-0.5, **words)


def random_tokens(rng, padded=0, t=T):
    real = np.arange(t) < t - padded
    ids = rng.integers(0, 12, t)
    separators = (ids < 2) & real & (np.arange(t) > 0)
    return Tokens(real, real, separators, ids)


def in_double(heads):
    arrays = {name: getattr(heads, name).double() for name in ("q", "k", "v")}
    return replace(heads, **arrays)


def same_rows(ours, heads, tokens):
    wide = in_double(heads)
    wanted = stream(wide, tokens, kernel=plain_kernel())
    real = tokens.real_queries
    np.testing.assert_array_equal(ours.top[:, real], wanted.top[:, real])
    for name in NUMBERS:
        a = to_numpy(getattr(ours, name))[:, real]
        b = to_numpy(getattr(wanted, name))[:, real]
        np.testing.assert_allclose(a, b, rtol=SINGLE, atol=SINGLE, err_msg=name)
    for name, mass in wanted.patterns.items():
        np.testing.assert_allclose(ours.patterns[name], mass, rtol=SINGLE, err_msg=name)
    np.testing.assert_allclose(ours.output[:, real], wanted.output[:, real], atol=FUSED)
    np.testing.assert_allclose(ours.picture, wanted.picture, atol=SINGLE)
    seen = np.isfinite(naive.full_logits(wide)).sum(axis=-1)
    np.testing.assert_array_equal(np.broadcast_to(ours.seen, seen.shape), seen)


def _window(padded):
    rows = torch.arange(T)
    near = (rows[:, None] - rows[None, :]).abs() < 12
    return (near & (rows < T - padded)[None, :])[None]


def _bias():
    return torch.from_numpy(np.random.default_rng(1).standard_normal((2, T, T)))


SETTINGS = {
    "both ways": {},
    "causal": {"causal": True},
    "causal, sharp": {"causal": True, "sharp": 12.0},
    "masked": {"mask": _window(9)},
    "causal and masked": {"mask": _window(0), "causal": True},
    "biased": {"bias": _bias(), "causal": True},
    "soft cap": {"softcap": 1.5},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_fused_rows_equal_full_maps(rng, setting):
    heads = random_heads(rng, **SETTINGS[setting])
    tokens = random_tokens(rng, padded=9 if setting == "masked" else 0)
    rows = fused_rows(heads, tokens, tile=SMALL)
    same_rows(rows, heads, tokens)

    tally = Tally()
    tally.add(LayerRows(heads, tokens, rows))
    same_as_full_maps(measured([tally])[0].measures, in_double(heads), tokens, FUSED)


@pytest.mark.parametrize("d", [32, 80, 96, 112, 256])
def test_every_head_size_has_a_tile(rng, d):
    heads = random_heads(rng, t=5, d=d, v=d, causal=True)
    same_rows(fused_rows(heads, Tokens.unknown(5, 5)), heads, Tokens.unknown(5, 5))
    assert {16, 32, 64, 128, 256} == set(TILES)


@pytest.mark.parametrize("t", [1, 16, 17])
def test_queries_and_keys_of_any_number(rng, t):
    heads = random_heads(rng, t=t, n=33)
    same_rows(fused_rows(heads, Tokens.unknown(t, 33), tile=SMALL), heads, Tokens.unknown(t, 33))


def test_the_maximum_may_move_in_every_tile(rng):
    """Keys of growing size: each tile's best beats all before it."""
    heads = random_heads(rng, causal=True)
    growing = torch.linspace(0.1, 4.0, T)[None, :, None].to(torch.float16)
    heads = replace(heads, q=heads.q.abs(), k=heads.k.abs() * growing)
    tokens = random_tokens(rng)
    rows = fused_rows(heads, tokens, tile=SMALL)
    same_rows(rows, heads, tokens)
    # Otherwise nothing moved.
    assert len(set(np.asarray(rows.top[0]) // SMALL.keys)) > 2


def test_runs_beside_the_top_one_leak_too(rng):
    """A tile wide enough for a lane to hold several runs of keys."""
    heads = random_heads(rng, t=16, n=130)
    tokens = Tokens.unknown(16, 130)
    same_rows(fused_rows(heads, tokens, tile=Tile(16, 128, 4, 2)), heads, tokens)


def test_a_sharp_row_keeps_the_digits_of_its_leak(rng):
    """Leaks far below the precision of 1, which l - 1 would lose."""
    heads = random_heads(rng, causal=True, sharp=40.0)
    rows = fused_rows(heads, Tokens.unknown(T, T), tile=SMALL)
    z = naive.full_logits(in_double(heads))
    others = np.sort(np.exp(z - z.max(axis=-1, keepdims=True)), axis=-1)[..., :-1].sum(axis=-1)
    assert (others[:, 1:] < np.finfo(np.float32).eps).any()
    np.testing.assert_allclose(rows.leak[:, 1:], others[:, 1:], rtol=FUSED)


def test_ties_and_rows_of_one_key():
    """Equal logits: the first is the top, no margin, and the others leak, in the same tile and in
    later ones. One visible key: no second, and nothing leaks. None: nothing at all."""
    half = {"dtype": torch.float16}
    q = torch.ones((1, 3, 1), **half)
    k = torch.full((1, 40, 1), -1.0, **half)
    k[0, [2, 5, 39]] = 2.0
    mask = torch.ones((1, 3, 40), dtype=torch.bool)
    mask[0, 1:] = False
    mask[0, 1, 7] = True
    heads = Heads(q, k, torch.ones((1, 40, 1), **half), 1.0, mask=mask)
    rows = fused_rows(heads, Tokens.unknown(3, 40), tile=SMALL)

    np.testing.assert_array_equal(rows.margin[0, :2], [0.0, np.inf])
    leaks = [2.0 + 37 * np.exp(-3.0), 0.0]
    np.testing.assert_allclose(rows.leak[0, :2], leaks, rtol=SINGLE)
    np.testing.assert_array_equal(rows.top[0], [2, 7, 0])
    np.testing.assert_array_equal(rows.output[0, :, 0], [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(rows.seen[0], [40, 1, 0])


def test_left_padding_has_its_first_token_elsewhere(rng):
    real = np.arange(T) >= 7
    tokens = replace(random_tokens(rng), real_queries=real, real_keys=real)
    mask = torch.from_numpy(np.tri(T, dtype=bool) & real[None, :])[None]
    heads = random_heads(rng, mask=mask)
    same_rows(fused_rows(heads, tokens, tile=SMALL), heads, tokens)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_stays_nan(rng):
    heads = random_heads(rng)
    heads.q[0, 3] = np.nan
    rows = fused_rows(heads, Tokens.unknown(T, T), tile=SMALL)
    assert torch.isnan(rows.leak[0, 3])
    assert torch.isnan(rows.output[0, 3]).all()
    assert rows.top.min() >= 0
    assert rows.top.max() < T


def test_only_half_precision_on_a_gpu_is_fused(rng):
    """A tensor of the host takes the way it always took."""
    assert not can_fuse(random_heads(rng), random_tokens(rng))
