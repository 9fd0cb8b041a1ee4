"""The exercise's answer, tested on heads: on one built by it, and on a model."""

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.tolerances import AUDIT, ROUNDING
from tests.trained.families import build

from headwright.errors import InputError
from headwright.trained.claim import CLAIMS, angles, check_claim


def test_the_claim_holds_for_a_head_built_by_it(rng):
    """Orthonormal keys and q = beta (k_a + k_b): the angle is 0 at any sharpness; a part along a
    third key opens it."""
    K = np.eye(6)
    q = 5.0 * (K[1] + K[4])
    asked = np.stack([q, q / 5.0])
    degrees, mass = angles(asked, K, asked @ K.T, CLAIMS["b.q"])
    np.testing.assert_allclose(degrees, 0.0, atol=AUDIT)
    np.testing.assert_allclose(mass[0], 2 * np.exp(5) / (2 * np.exp(5) + 4), rtol=ROUNDING)
    # A learned sink takes part of the weight and changes no angle.
    with_sink = angles(asked, K, asked @ K.T, CLAIMS["b.q"], sink=5.0)
    np.testing.assert_allclose(with_sink[0], degrees)
    np.testing.assert_allclose(with_sink[1][0], 2 * np.exp(5) / (3 * np.exp(5) + 4), rtol=ROUNDING)
    sideways = (K[1] + K[4] + 0.99 * K[2])[None]
    cosine = 2 / np.sqrt(2) / np.sqrt(2 + 0.99**2)
    np.testing.assert_allclose(
        angles(sideways, K, sideways @ K.T, CLAIMS["b.q"])[0], np.degrees(np.arccos(cosine))
    )


def test_a_query_of_zeros_points_nowhere():
    nothing = np.zeros((1, 6))
    degrees, _ = angles(nothing, np.eye(6), nothing, CLAIMS["b.q"])
    assert degrees == [90.0]


def test_the_claim_on_a_model():
    model, inputs = build("gpt2")
    report = check_claim(model, inputs, "b.q", angle=60.0)
    assert len(report.heads) == 8
    assert 0.0 <= report.within <= 1.0
    wider = check_claim(model, inputs, "b.q", angle=120.0)
    assert wider.within >= report.within
    assert "b.q" in report.sentence
    with pytest.raises(InputError, match="a claim about queries"):
        check_claim(model, inputs, "z.z")
    for short in ([3, 4], [3]):
        with pytest.raises(InputError, match="longer text"):
            check_claim(model, [short], "b.q")


def test_the_claim_is_not_tested_on_a_model_that_puts_out_no_numbers():
    model, inputs = build("llama")
    model.norm.weight.data[0] = float("nan")
    with pytest.raises(InputError, match="NaN or infinity in the output of LlamaModel"):
        check_claim(model, inputs, "b.q")
