"""A saved design is believed in nothing."""

import json
from contextlib import suppress

import numpy as np
import pytest
from benchmarks import adversary_saved

import headwright as hw
from headwright.design.record import document
from headwright.design.saved.document import sealed
from headwright.errors import InputError

RNG = np.random.default_rng(5)
K = RNG.standard_normal((30, 6))
FLAT = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]])
DESIGNS = {
    "copy": (hw.design.copy(0, K), K),
    "mixture with bias": (
        hw.design.mixture({0: 0.6, 4: 0.4}, K, bias=RNG.standard_normal(30), heads="auto"),
        K,
    ),
    "bfloat16": (hw.design.average([0, 1], np.eye(8), storage="bfloat16"), np.eye(8)),
    "impossible": (hw.design.copy(3, FLAT), FLAT),
    "contradiction": (
        hw.design.mixture({0: 0.2, 1: 0.8}, [[1.0], [1.0], [0.0]]),
        np.array([[1.0], [1.0], [0.0]]),
    ),
    "nearest": (
        hw.design.mixture([0.2, 0.3, 0.5], [[0.0], [1.0], [2.0]]),
        np.array([[0.0], [1.0], [2.0]]),
    ),
}


FORGED = adversary_saved.designs()


def forged(design, **fields):
    return sealed(json.loads(json.dumps(document(design))) | fields)


@pytest.mark.parametrize("name", DESIGNS)
def test_round_trip_holds(name, tmp_path):
    design, keys = DESIGNS[name]
    result = hw.design.certify(design.save(tmp_path / "D.json"), keys)
    assert result.holds, result
    assert result.status == design.status


@pytest.mark.parametrize("name", FORGED)
def test_every_kind_of_design_holds_by_both_routes(name):
    design, keys = FORGED[name]
    for method in ("float", "ball"):
        result = hw.design.certify(document(design), keys, method=method)
        assert result.holds, [check for check in result.checks if not check.holds]


@pytest.mark.parametrize("name", FORGED)
def test_no_forgery_passes_and_none_crashes(name):
    """A sample of the thousands that the benchmark tries."""
    design, keys = FORGED[name]
    body = document(design)
    for number, (path, forgery) in enumerate(adversary_saved.forgeries(body)):
        if number % 9 == 0:
            ending = adversary_saved.outcome(body, path, forgery, keys)
            assert ending in ("refused as input", "failed a check", "true"), path


@pytest.mark.parametrize(
    "status", ["Reached", "REACHED", "reached ", "done", "", None, True, ["reached"]]
)
def test_an_unknown_status_is_refused(status):
    """ "Reached" with a capital once passed with no claim checked at all."""
    design, keys = DESIGNS["copy"]
    with pytest.raises(InputError, match="status"):
        hw.design.certify(forged(design, status=status, queries=[[0.0] * 6]), keys)


SHOWN = {
    "copy": {
        "leak_error": 0.0,
        "weights_on_target": [0.5],
        "ceiling": 0.4,
        "fewest_heads": 2,
        "lower_bound": "inf",
        "proof": {"keys": [0], "coefficients": [1.0], "imbalance": 1.0, "residual": 0.0},
        "heads": [{"support": [1], "shares": [1.0]}],
        "keys": {"shape": [1, 1], "sha256": "0" * 64},
    },
    "impossible": {"ceiling": 0.01, "lower_bound": 1.0},
    "nearest": {"queries": [[0.0]], "lower_bound": 1.0},
}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, fields in SHOWN.items() for field in fields]
)
def test_every_field_that_is_shown_is_computed_again(name, field):
    design, keys = DESIGNS[name]
    assert not hw.design.certify(forged(design, **{field: SHOWN[name][field]}), keys).holds


@pytest.mark.parametrize(
    "field", ["holds", "leak_bound", "weights_error", "ratio_error", "ratio_allowed", "norm"]
)
def test_the_certificate_in_the_file_is_computed_again(field):
    design, keys = DESIGNS["copy"]
    certificate = json.loads(json.dumps(document(design)))["certificate"]
    certificate[field] = False if field == "holds" else certificate[field] + 0.1
    assert not hw.design.certify(forged(design, certificate=certificate), keys).holds


def test_a_boolean_is_no_number():
    design, keys = DESIGNS["copy"]
    for field in ("scale", "norm", "leak"):
        with pytest.raises(InputError, match=field):
            hw.design.certify(forged(design, **{field: True}), keys)


def test_what_cannot_be_shown_again_is_named():
    assert (
        "robust" in hw.design.certify(document(FORGED["robust"][0]), FORGED["robust"][1]).unchecked
    )
    several = hw.design.certify(document(FORGED["two heads"][0]), FORGED["two heads"][1])
    assert {"message", "fewest_heads", "fewest_heads_when"} <= set(several.unchecked)


def tampered(body, path, change):
    *parents, last = path
    for step in parents:
        body = body[step]
    body[last] = change(body[last])


CHANGES = {
    "the query": (["queries", 0, 0], lambda x: x * 1.01),
    "the leak": (["leak"], lambda x: x / 2),
    "the leak asked": (["leak_asked"], lambda x: x / 10),
    "the length": (["norm"], lambda x: x * 0.9),
    "the bound": (["lower_bound"], lambda x: x * 1.01),
    "the sharpness": (["sharpness"], lambda x: x + 1),
    "the target": (["target", "support", 0], lambda x: x + 1),
    "the keys' digest": (["keys", "sha256"], lambda x: "0" * 64),
}


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_any_change_is_noticed_even_when_resealed(name, resealed):
    body = json.loads(json.dumps(document(DESIGNS["copy"][0])))
    tampered(body, *CHANGES[name])
    if resealed:
        body = sealed(body)
    assert not hw.design.certify(body, K).holds


def test_a_false_proof_is_noticed_even_when_resealed():
    body = json.loads(json.dumps(document(DESIGNS["impossible"][0])))
    body["proof"]["outside_coefficients"][0] += 0.01
    assert not hw.design.certify(sealed(body), FLAT).holds


def test_impossible_cannot_be_claimed_of_the_possible():
    body = json.loads(json.dumps(document(DESIGNS["copy"][0])))
    impossible = json.loads(json.dumps(document(DESIGNS["impossible"][0])))
    body["status"] = "impossible"
    body["proof"] = impossible["proof"] | {"inside": [0]}
    assert not hw.design.certify(sealed(body), K).holds


def test_wrong_keys_fail():
    design, _ = DESIGNS["copy"]
    assert not hw.design.certify(document(design), K + 1e-12).holds
    assert not hw.design.certify(document(design), np.eye(30)).holds
    assert not hw.design.certify(document(design), K[:5]).holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "headwright-design", "version": 99}',
        '{"format": "headwright-design", "version": true}',
        "\x00",
        "[" * 10**5,
        '{"leak": NaN}',
        '{"leak": 1' + "0" * 5000 + "}",
    ],
    ids=range(9),
)
def test_hostile_files_are_refused(text, tmp_path):
    path = tmp_path / "D.json"
    path.write_text(text)
    with pytest.raises(InputError):
        hw.design.certify(path, K)


@pytest.mark.parametrize(
    "field", ["queries", "mix", "target", "heads", "leak_asked", "storage", "scale"]
)
@pytest.mark.parametrize("junk", [None, "x", [], {}, [[]], float("inf"), -1])
def test_junk_in_a_field_is_refused_or_fails(field, junk):
    body = json.loads(json.dumps(document(DESIGNS["copy"][0])))
    body[field] = junk
    with suppress(InputError):
        assert not hw.design.certify(body, K).holds
