"""From a model and texts to bits and divergences: both signals against slower routes, what decoding
reports, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.tolerances import SINGLE
from tests.trained.cache.language_models import random_llama, random_texts

from headwright.errors import InputError
from headwright.trained import capture
from headwright.trained.cache import PlannedCache
from headwright.trained.cache.budget.plan import Known, Request, planned
from headwright.trained.cache.budgeting import cache_plan, language_model, verify
from headwright.trained.cache.calibration.fisher import Fisher
from headwright.trained.cache.calibration.sensitivity import Sensitivity
from headwright.trained.cache.calibration.signals import Watch
from headwright.trained.cache.calibration.texts import Calibration, calibrated
from headwright.trained.cache.coding.turning import Turning, turning
from headwright.trained.cache.decoded.decoding import decode
from headwright.trained.cache.decoded.unseen import unseen

# What a prediction promises at four bits and more.
PROMISED = 0.3


@pytest.fixture(scope="module")
def model():
    return random_llama()


@pytest.fixture(scope="module")
def texts():
    """Enough that a fresh text hardly leaves the ranges."""
    return random_texts(count=24)


@pytest.fixture(scope="module")
def few(texts):
    """Where it does not matter how good a plan is."""
    return texts[:2]


@pytest.mark.parametrize("signal", ["energy", "fisher"])
@pytest.mark.parametrize(("bits", "values"), [(4, False), (5, True)])
def test_the_prediction_holds_on_other_text(model, texts, bits, values, signal):
    plan = cache_plan(model, texts, bits=bits, signal=signal, values=values)
    assert plan.predicted_kl == pytest.approx(_on_fresh_text(model, plan), rel=PROMISED)
    assert plan.signal == signal
    assert "predicted" not in plan.warning


def _on_fresh_text(model, plan):
    fresh = [torch.tensor([text]) for text in random_texts(count=24, seed=9)]
    return decode(model, fresh, {"plan": lambda: PlannedCache(plan)})["plan"].divergence.mean()


def test_a_plan_chosen_by_noise_is_predicted_all_the_same(model, texts):
    """Sensitivities with a large error of mean 1 in every channel and text: right for uniform bits,
    and too small wherever they choose."""
    rows = [torch.tensor([text]) for text in texts]
    turned = turning(model.base_model)
    seen = calibrated(model, rows, signal="fisher", turned=turned, seed=0, progress=None)
    generator = np.random.default_rng(0)
    by_noise = [
        [tuple(_noisy(x, generator) for x in pair) for pair in one] for one in seen.sensitivities
    ]
    seen = Calibration(seen.layers, by_noise)

    def chosen(numbers):
        known = seen.channels(numbers, keep_first=0, sizes=[1.0])
        return planned(Known(known), Request(4), "fisher", turned)

    plan = chosen(range(len(rows)))
    found = _on_fresh_text(model, plan)
    assert plan.predicted_kl < (1 - PROMISED) * found
    assert unseen(model, rows, chosen, whole=True).kl == pytest.approx(found, rel=PROMISED)


def _noisy(sensitivity, generator):
    """Of the diagonals, which are all that channels ask for."""
    spread = 4.0
    forms = (sensitivity.first, sensitivity.rest)
    noise = [generator.lognormal(-(spread**2) / 2, spread, x.shape) for x in forms]
    return Sensitivity(*[form * one for form, one in zip(forms, noise, strict=True)])


def test_bits_that_second_order_cannot_choose_get_a_warning(few):
    """Weights so large that one bit turns every head to another key."""
    model = random_llama()
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.q_proj.weight *= 30
    assert "second order" in cache_plan(model, few, bits=1).warning


@pytest.mark.parametrize(
    ("count", "length", "reason"),
    [(4, 40, "more text says more"), (1, 96, "one calibration text alone"), (1, 40, "too few")],
)
def test_too_little_calibration_gets_a_warning(model, count, length, reason):
    """Ranges of few tokens, which other texts leave: on its own text such a plan does less."""
    texts = random_texts(count=count, length=length)
    plan = cache_plan(model, texts, bits=7)
    own = decode(model, torch.tensor(texts)[:, None], {"plan": lambda: PlannedCache(plan)})
    fresh = _on_fresh_text(model, plan)
    assert own["plan"].divergence.mean() < (1 - PROMISED) * fresh
    assert "not reliable" in plan.warning
    assert reason in plan.warning


def test_key_energy_from_the_stream_is_that_of_full_weights(model, texts):
    """E[(1 - a) q'q] and E[a (1 - a) q'q] from the model's own weights, on the key heads."""
    ids = torch.tensor(texts[:1])
    watch = Watch()
    capture.run(model.base_model, {"input_ids": ids}, watch.visit)
    queries = []

    def note(layer):
        queries.append(layer.q[0] * layer.scale)
        return Watch().visit(layer)

    capture.run(model.base_model, {"input_ids": ids}, note)
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        maps = model(ids, output_attentions=True).attentions
    model.set_attn_implementation("sdpa")

    for index, (q, weights) in enumerate(zip(queries, maps, strict=True)):
        a = weights[0, :, :, :1]
        outer = q[..., :, None] * q[..., None, :]
        rest = ((1 - a)[..., None] * outer).mean(dim=1).unflatten(0, (2, 2)).sum(dim=1)
        first = ((a * (1 - a))[..., None] * outer).mean(dim=1).unflatten(0, (2, 2)).sum(dim=1)
        energy, _ = watch.layers[index].energies(0)
        np.testing.assert_allclose(energy.rest, rest.numpy(), rtol=100 * SINGLE, atol=SINGLE)
        np.testing.assert_allclose(energy.first, first.numpy(), rtol=100 * SINGLE, atol=SINGLE)


def test_fisher_leaves_the_model_as_it_came(model, texts):
    weights = next(model.parameters())
    before = weights.requires_grad
    Fisher(2, turning=Turning()).add(model, torch.tensor(texts[:1]))
    assert weights.requires_grad == before
    assert weights.grad is None


def test_fisher_is_half_the_curvature_of_the_divergence(model):
    """KL(p, p~) of one key's number moved by h, over h^2, against the mean over many draws."""
    ids = torch.tensor(random_texts(count=1, length=6, seed=3))
    sums = []
    for seed in range(40):
        fisher = Fisher(2, turning=Turning(), seed=seed)
        fisher.add(model, ids)
        keys, _ = fisher.texts[0][1]
        sums.append([keys.first[0, 0, 0], keys.rest[0, 0, 0]])
    mean = np.mean(sums, axis=0)
    error = np.std(sums, axis=0, ddof=1) / np.sqrt(len(sums))

    curvature = [_curvature(model, ids, token) for token in range(ids.shape[1])]
    expected = [curvature[0], sum(curvature[1:])]
    assert np.all(np.abs(mean - expected) <= 5 * error + 0.01 * np.asarray(expected))


def _curvature(model, ids, token, size=0.05):
    """Divergence per token when number 0 of this token's key (layer 1, key head 0) moves by `size`,
    over size^2; both directions, which takes the third order out."""
    found = []
    for move in (-size, size):

        def moved(layer, move=move):
            if layer.index == 1:
                layer.k[0, 0, token, 0] += move
            return Watch().visit(layer)

        with torch.inference_mode():
            plain = torch.log_softmax(model(ids).logits[0].double(), dim=-1)
            hidden = capture.run(model.base_model, {"input_ids": ids}, moved)[0]
            other = torch.log_softmax(model.lm_head(hidden)[0].double(), dim=-1)
        found.append(float(torch.sum(plain.exp() * (plain - other), dim=-1).mean()) / size**2)
    return np.mean(found)


def test_decoding_counts_as_one_pass_over_the_logits_would(model, few):
    plan = cache_plan(model, few, bits=2)
    ids = torch.tensor(few[:1])
    found = decode(model, [ids], {"plan": lambda: PlannedCache(plan)})
    with torch.inference_mode():
        p = torch.log_softmax(model(ids).logits[0].double(), dim=-1)
        cached = model(ids, past_key_values=PlannedCache(plan), use_cache=True)
        q = torch.log_softmax(cached.logits[0].double(), dim=-1)

    kl = torch.nn.functional.kl_div(q, p, log_target=True, reduction="sum") / len(p)
    loss = torch.nn.functional.nll_loss(q[:-1], ids[0, 1:])
    same = (p.argmax(dim=-1) == q.argmax(dim=-1)).double().mean()
    decoded = found["plan"]
    assert decoded.kl.value == pytest.approx(float(kl), rel=100 * SINGLE)
    assert decoded.perplexity.value == pytest.approx(float(loss.exp()), rel=100 * SINGLE)
    assert decoded.top1.value == pytest.approx(float(same), rel=100 * SINGLE)
    assert decoded.kl.low < decoded.kl.value < decoded.kl.high
    assert found[""].kl.value == 0


@pytest.mark.parametrize(
    "asked",
    [
        {"bits": 0.5},
        {"bits": float("nan")},
        {"bits": 17},
        {"bits": 3, "per": "row"},
        {"bits": 3, "signal": "luck"},
        {"bits": 3, "keep_first": -1},
        {"bits": 3, "keep_first": 95},
        {"bits": 1.1, "keep_first": 1},
        {"bits": 3, "widths": (-1, 2)},
        {"bits": 3, "widths": (4, 8)},
    ],
)
def test_what_cannot_be_planned_is_refused(model, few, asked):
    with pytest.raises(InputError):
        cache_plan(model, few, **asked)


@pytest.mark.parametrize("per", ["direction", "channel"])
def test_keys_that_never_move_have_no_negative_prediction(model, per):
    plan = cache_plan(model, [[7] * 40, [7] * 40], bits=3, per=per, signal="fisher")
    assert 0 <= plan.predicted_kl < SINGLE


def test_an_encoder_has_no_cache():
    import transformers

    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        vocab_size=50,
    )  # fmt: skip
    with pytest.raises(InputError, match="predicts the next token"):
        language_model(transformers.BertModel(config))


def test_verification_refuses_a_text_it_has_seen(model, few):
    plan = cache_plan(model, few, bits=3)
    with pytest.raises(InputError, match="has not seen"):
        verify(model, plan, ["the same words"], calibration=["the same words"])


def test_few_tokens_have_no_interval(model, few):
    plan = cache_plan(model, few, bits=3)
    short = [torch.tensor([few[0][:40]])]
    with pytest.raises(InputError, match="at least 64 tokens"):
        decode(model, short, {"plan": lambda: PlannedCache(plan)})["plan"].kl  # noqa: B018
