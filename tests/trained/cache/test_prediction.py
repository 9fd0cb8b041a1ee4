"""The predicted output error of noisy keys, by second routes: sampled logits, sampled keys, an
integral over two logits, and the limits of little and of endless noise. Compared with the output of
the keys as they are."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import EXACT_COVARIANCE, LEADING, PREDICTED, QUADRATURE, SIGMAS

import headwright as hw
from headwright.keys import GaussianKeys
from headwright.trained import capture
from headwright.trained.batches import batches
from headwright.trained.cache import prediction, quantise
from headwright.trained.cache.prediction import predict
from headwright.trained.loading.load import load
from headwright.trained.measures.sampled import Row, Sample
from headwright.trained.preparation import output_only

_TEXT = (
    "The cat sat on the mat, and the dog sat on the log. "
    "The cat saw the dog, and the dog saw the cat."
)


def _row(rng, *, n=60, d=8, sink=6.0, softcap=None, bias=0.0):
    """A head that rests on its first key, as most heads of a trained model do."""
    q = rng.standard_normal(d)
    K = 1.5 * rng.standard_normal((n, d))
    K[0] += sink * q / (q @ q)
    V = rng.standard_normal((n, 5))
    V[0] *= 0.1  # the value of a sink is small
    return Row(q, K, V, np.full(n, bias), 1.0, softcap, np.arange(n))


def _law(row, deviation):
    """Equal noise on every coordinate of every key, so that each logit has this deviation (before
    any cap)."""
    return GaussianKeys(row.K, isotropic=(deviation / (row.scale * np.linalg.norm(row.q))) ** 2)


def _uneven_law(row, deviation):
    """Less noise on the early keys, the sink among them, and more on the late: no common lift of
    the logits."""
    shares = np.linspace(0.2, 1.8, len(row.K))
    return GaussianKeys(
        row.K, isotropic=shares * (deviation / (row.scale * np.linalg.norm(row.q))) ** 2
    )


def _by_sampled_keys(row, law, rng, draws=4000):
    """Mean and standard error of |c~ - c|^2 with the keys themselves drawn from their law."""
    c = row.output()
    moved = [np.sum((row.output(K[row.seen]) - c) ** 2) for K in law.sample(rng, draws)]
    return np.mean(moved), np.std(moved) / np.sqrt(draws)


@pytest.mark.parametrize("softcap", [None, 15.0])
@pytest.mark.parametrize("deviation", [0.1, 1.0, 4.0, 8.0, 12.0])
def test_prediction_agrees_with_sampled_keys(rng, deviation, softcap):
    row = _row(rng, softcap=softcap)
    law = _uneven_law(row, deviation)
    mean, error = _by_sampled_keys(row, law, rng)
    # Behind a cap the prediction is a mean over as many draws itself.
    assert abs(predict(row, law) - mean) < SIGMAS * error * (1.0 if softcap is None else 2**0.5)
    assert error < PREDICTED * mean


@pytest.mark.parametrize(("deviation", "softcap"), [(0.02, None), (4.0, None), (1.0, 15.0)])
def test_a_learned_sink_has_no_noise_and_takes_its_share(rng, deviation, softcap):
    row = _row(rng, softcap=softcap, sink=2.0)
    row = replace(row, sink=float(row.logits().max()))
    law = _uneven_law(row, deviation)
    mean, error = _by_sampled_keys(row, law, rng)
    assert abs(predict(row, law) - mean) < SIGMAS * error * (1.0 if softcap is None else 2**0.5)
    assert error < PREDICTED * mean


@pytest.mark.parametrize("deviation", [0.05, 4.0, 8.0, 12.0])
def test_prediction_is_that_of_the_moments_of_all_keys(rng, deviation):
    row = _row(rng, bias=0.3)
    law = _uneven_law(row, deviation)
    noisy = hw.moments(row.q, law, row.V, bias=row.bias)
    wanted = np.sum((noisy.mean - row.output()) ** 2) + np.trace(noisy.covariance)
    np.testing.assert_allclose(predict(row, law), wanted, rtol=PREDICTED, atol=EXACT_COVARIANCE)


def test_more_noise_is_never_predicted_to_be_better(rng):
    """A sink with noise from 1/16 to 256: the error grows to that of a head that picks a key by
    chance."""
    row = _row(rng)
    predicted = [predict(row, _law(row, 2.0**power)) for power in range(-4, 9)]
    assert np.all(np.diff(predicted) > 0)
    by_chance = np.mean(np.sum((row.V - row.output()) ** 2, axis=1))
    np.testing.assert_allclose(predict(row, _law(row, 1e4)), by_chance, rtol=PREDICTED)


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("deviation", [0.2, 4.0, 12.0])
def test_two_keys_are_an_integral_over_two_logits(rng, softcap, deviation):
    row = _row(rng, n=2, sink=1.0, softcap=softcap)
    node, step = np.linspace(-9.0, 9.0, 1201, retstep=True)
    weight = step * np.exp(-(node**2) / 2)
    noise = deviation * np.stack(np.meshgrid(node, node, indexing="ij"), axis=-1)
    z = row.scale * (row.K @ row.q) + noise
    z = z if softcap is None else softcap * np.tanh(z / softcap)
    first = 1.0 / (1.0 + np.exp(z[..., 1] - z[..., 0]))
    squares = (first - hw.attention.weights(row.logits())[0]) ** 2 * np.sum(
        (row.V[0] - row.V[1]) ** 2
    )
    wanted = weight @ squares @ weight / (2 * np.pi)
    tolerance = PREDICTED if softcap else QUADRATURE
    np.testing.assert_allclose(predict(row, _law(row, deviation)), wanted, rtol=tolerance)


@pytest.mark.parametrize("softcap", [None, 1.3, 0.2])
def test_leading_order_meets_the_other_routes_where_they_take_over(rng, softcap, monkeypatch):
    """At the limit of small noise, which a narrow cap makes smaller."""
    row = _row(rng, n=40, sink=1.0, softcap=softcap)
    law = _law(row, prediction.SMALL * min(1.0, softcap or 1.0) * 0.999)
    leading = predict(row, law)
    monkeypatch.setattr(prediction, "SMALL", 0.0)
    tolerance = LEADING if softcap is None else PREDICTED
    np.testing.assert_allclose(leading, predict(row, law), rtol=tolerance)


def test_a_head_that_never_lets_go_moves_by_nothing(rng):
    """A margin of 400: the covariance is rounding, of either sign, and its root is taken later."""
    row = _row(rng, sink=400.0)
    assert 0.0 <= predict(row, _law(row, 0.5)) < EXACT_COVARIANCE


_LAYERS = 10


def _real_rows(model, tokenizer, rng):
    """Two rows of every head, in ten layers where there are more: `(sample, head, row)`."""
    for batch in batches(model, _TEXT, tokenizer):
        samples = []

        def visit(layer, batch=batch, samples=samples):
            samples.append(Sample.draw(layer.text(0), batch.tokens_of(layer, 0), rng, size=2))
            return output_only(layer)

        capture.run(model, batch.arguments, visit)
        every = max(1, len(samples) // _LAYERS)
        for sample in samples[::every]:
            for head in range(sample.heads.q.shape[0]):
                yield from ((sample, head, sample.row(head, int(i))) for i in sample.rows)


def _scores(model, tokenizer, rng, bits, per):
    """Standard scores of the prediction against logits drawn from the law of rounded keys, on two
    rows per head."""
    draws, scores = 400, []
    for sample, head, row in _real_rows(model, tokenizer, rng):
        law = GaussianKeys.quantised(sample.K[sample.heads.key_head(head)], bits=bits, per=per)
        deviations = np.sqrt(law.logits_law(row.q, scale=row.scale).variances[row.seen])
        z = row.logits() + deviations * rng.standard_normal((draws, row.seen.size))
        moved = np.sum((hw.attention.weights(z) @ row.V - row.output()) ** 2, axis=1)
        scores.append((np.mean(moved) - predict(row, law)) / (np.std(moved) / np.sqrt(draws)))
    return np.asarray(scores)


def _are_normal(scores):
    # The squared errors are skewed, so single scores spread wider than normal ones; their mean does
    # not.
    assert abs(np.mean(scores)) < SIGMAS / np.sqrt(scores.size)
    assert np.max(np.abs(scores)) < 2 * SIGMAS


@pytest.mark.models
@pytest.mark.parametrize("bits", [4, 2, 1])
def test_real_heads_move_as_sampled_logits_do(minilm, rng, bits):
    scores = _scores(*load(minilm), rng, bits, "token")
    assert scores.size == 144
    _are_normal(scores)


@pytest.mark.models
def test_real_heads_with_sinks_move_as_sampled_logits_do(smollm2, rng):
    """At one bit, where a noiseless stand-in for the lighter keys is wrong by any factor."""
    scores = _scores(*smollm2, rng, 1, "channel")
    assert scores.size == 180
    _are_normal(scores)


@pytest.mark.models
def test_fewer_bits_are_predicted_to_be_worse_in_every_real_head(minilm):
    found = hw.audit(minilm, _TEXT, rows=1, key_bits=(4, 2, 1)).key_noise
    for per in quantise.PER:
        four, two, one = (s.predicted for s in found.settings if s.per == per)
        assert np.all(four < two)
        assert np.all(two < one)
