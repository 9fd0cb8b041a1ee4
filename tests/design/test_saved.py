"""A saved design is believed in nothing."""

import json
from contextlib import suppress

import numpy as np
import pytest

import headwright as hw
from headwright.design.saved import _digest, document
from headwright.errors import InputError

RNG = np.random.default_rng(5)
K = RNG.standard_normal((30, 6))
FLAT = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]])
DESIGNS = {
    "copy": (hw.design.copy(0, K), K),
    "mixture with bias": (hw.design.mixture({0: 0.6, 4: 0.4}, K, bias=RNG.standard_normal(30), heads="auto"), K),
    "bfloat16": (hw.design.average([0, 1], np.eye(8), storage="bfloat16"), np.eye(8)),
    "impossible": (hw.design.copy(3, FLAT), FLAT),
    "contradiction": (hw.design.mixture({0: 0.2, 1: 0.8}, [[1.0], [1.0], [0.0]]), np.array([[1.0], [1.0], [0.0]])),
    "nearest": (hw.design.mixture([0.2, 0.3, 0.5], [[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]])),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_round_trip_holds(name, tmp_path):
    design, keys = DESIGNS[name]
    result = hw.design.certify(design.save(tmp_path / "D.json"), keys)
    assert result.holds, result
    assert result.status == design.status


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
        body["sha256"] = _digest({k: v for k, v in body.items() if k != "sha256"})
    assert not hw.design.certify(body, K).holds


def test_a_false_proof_is_noticed_even_when_resealed():
    body = json.loads(json.dumps(document(DESIGNS["impossible"][0])))
    body["proof"]["outside_coefficients"][0] += 0.01
    body["sha256"] = _digest({k: v for k, v in body.items() if k != "sha256"})
    assert not hw.design.certify(body, FLAT).holds


def test_impossible_cannot_be_claimed_of_the_possible():
    body = json.loads(json.dumps(document(DESIGNS["copy"][0])))
    body["status"], body["proof"] = "impossible", json.loads(json.dumps(document(DESIGNS["impossible"][0])))["proof"]
    body["proof"]["inside"] = [0]
    body["sha256"] = _digest({k: v for k, v in body.items() if k != "sha256"})
    assert not hw.design.certify(body, K).holds


def test_wrong_keys_fail():
    design, _ = DESIGNS["copy"]
    assert not hw.design.certify(document(design), K + 1e-12).holds
    assert not hw.design.certify(document(design), np.eye(30)).holds
    assert not hw.design.certify(document(design), K[:5]).holds


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "headwright-design", "version": 99}', "\x00", "[" * 10**5]
)
def test_hostile_files_are_refused(text, tmp_path):
    path = tmp_path / "D.json"
    path.write_text(text)
    with pytest.raises(InputError):
        hw.design.certify(path, K)


@pytest.mark.parametrize("field", ["queries", "mix", "target", "heads", "leak_asked", "storage", "scale"])
@pytest.mark.parametrize("junk", [None, "x", [], {}, [[]], float("inf"), -1])
def test_junk_in_a_field_is_refused_or_fails(field, junk):
    body = json.loads(json.dumps(document(DESIGNS["copy"][0])))
    body[field] = junk
    with suppress(InputError):
        assert not hw.design.certify(body, K).holds
