"""The server answers everything: results as JSON, bad input and strangers in words, and it never stops."""

import asyncio
import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pytest

import headwright as hw
import tolerances
from headwright.lab import limits
from headwright.lab.workers import Workers

K = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
V = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
QUERY = {"queries": [[2.0, 1.0]], "keys": K, "values": V}


def test_attend_is_the_package(ask):
    status, answer = ask("attend", QUERY)
    here = hw.multihead(QUERY["queries"], K, V)
    assert status == 200
    np.testing.assert_allclose(answer["output"], here.output, rtol=0, atol=tolerances.ROUNDING)
    np.testing.assert_allclose(answer["weights"], here.weights, rtol=0, atol=tolerances.ROUNDING)


def test_moments_are_the_package(ask):
    status, answer = ask("moments", {**QUERY, "isotropic": 0.1, "radial": [0.5, 0, 0]})
    here = hw.moments([[2.0, 1.0]], hw.GaussianKeys(K, isotropic=0.1).radial([0.5, 0, 0]), V)
    assert status == 200
    np.testing.assert_allclose(answer["mean"], here.mean, rtol=0, atol=tolerances.ROUNDING)
    np.testing.assert_allclose(answer["covariance"], here.covariance, rtol=0, atol=tolerances.ROUNDING)


def test_design_comes_with_its_certificate(ask):
    status, answer = ask("design", {"kind": "average", "target": [0, 1], "keys": K, "leak": 0.01})
    assert status == 200
    assert answer["status"] == "reached"
    assert answer["certificate"]["holds"] is True
    weights = hw.multihead(answer["queries"], K, V).weights
    assert weights[0, :2].sum() >= 1 - 0.01


def test_the_impossible_comes_with_its_proof(ask):
    keys = [*K, [0.0, 0.0]]
    status, answer = ask("design", {"kind": "copy", "target": 3, "keys": keys, "leak": 0.01})
    assert status == 200
    assert answer["status"] == "impossible"
    proof = answer["proof"]
    combined = np.array(proof["outside_coefficients"]) @ np.array(keys)[proof["outside"]]
    np.testing.assert_allclose(combined, keys[3], rtol=0, atol=tolerances.ROUNDING)


def test_reach_counts_the_corners(ask):
    status, answer = ask("reach", {"keys": [*K, [0.0, 0.0]]})
    assert status == 200
    assert answer == {"reachable": [True, True, True, False], "count": 3}


BAD = {
    "no fields": ("attend", {}),
    "not an object": ("attend", [1, 2]),
    "not JSON": ("attend", "{"),
    "empty": ("attend", ""),
    "infinity": ("attend", '{"queries": [[Infinity, 0]], "keys": [[1, 0]], "values": [[1]]}'),
    "not a number": ("attend", '{"queries": [[NaN, 0]], "keys": [[1, 0]], "values": [[1]]}'),
    "too large a float": ("attend", '{"queries": [[1e999, 0]], "keys": [[1, 0]], "values": [[1]]}'),
    "words": ("attend", {**QUERY, "queries": "abc"}),
    "ragged": ("attend", {**QUERY, "keys": [[1, 0], [1]]}),
    "wrong shape": ("attend", {**QUERY, "queries": [[1, 2, 3]]}),
    "empty array": ("attend", {**QUERY, "keys": []}),
    "nulls": ("attend", {**QUERY, "keys": [[None, 1]]}),
    "objects": ("attend", {**QUERY, "keys": [{"a": 1}]}),
    "negative noise": ("moments", {**QUERY, "isotropic": -1}),
    "noise of the wrong length": ("moments", {**QUERY, "radial": [1]}),
    "noise as text": ("moments", {**QUERY, "isotropic": "much"}),
    "no such design": ("design", {"kind": "steal", "target": 0, "keys": K}),
    "no such key": ("design", {"kind": "copy", "target": 7, "keys": K}),
    "target of the wrong kind": ("design", {"kind": "average", "target": 3, "keys": K}),
    "mixture without keys": ("design", {"kind": "mixture", "target": {"x": 1}, "keys": K}),
    "leak of one": ("design", {"kind": "copy", "target": 0, "keys": K, "leak": 1}),
    "leak as a list": ("design", {"kind": "copy", "target": 0, "keys": K, "leak": [1]}),
    "heads as text": ("design", {"kind": "copy", "target": 0, "keys": K, "heads": "many"}),
    "text that is no text": ("check", {"text": 3}),
    "no such endpoint": ("__class__", {}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_answered_in_words(ask, case):
    name, body = BAD[case]
    status, answer = ask(name, body)
    assert status == 400, answer
    assert "wanted" in answer["error"], answer
    assert "try:" in answer["error"], answer
    assert "Traceback" not in answer["error"]


def test_limits_are_answered_in_words(ask):
    deep = "[" * 50 + "]" * 50
    assert ask("attend", f'{{"queries": {deep}}}')[0] == 400
    assert ask("attend", '{"a":' * 100_000)[0] == 400
    status, answer = ask("attend", {**QUERY, "keys": [[0.0] * 10] * (limits.ENTRIES // 10 + 1)})
    assert status == 400
    assert "numbers in one request" in answer["error"]
    status, answer = ask("attend", b"x" * (limits.BODY_BYTES + 1))
    assert status == 413
    assert "bytes" in answer["error"]
    status, answer = ask("check", {"text": "x" * (limits.TEXT + 1)})
    assert status == 400


def test_a_stream_without_length_is_cut_at_the_limit(send):
    parts = (b"x" * 65536 for _ in range(limits.BODY_BYTES // 65536 + 2))
    status, answer, _ = send("POST", "/api/attend", parts, content_type="application/json")
    assert status == 413
    assert "bytes" in answer["error"]


def test_strangers_are_refused(send):
    body = json.dumps(QUERY)
    json_kind = "application/json"
    assert send("POST", "/api/attend", body, content_type="text/plain")[0] == 415
    assert send("POST", "/api/attend", body)[0] == 415
    assert send("POST", "/api/attend", body, content_type=json_kind, host="evil.example")[0] == 403
    assert send("GET", "/", host="evil.example:80")[0] == 403
    assert send("GET", "/", host="127.0.0.1.evil.example")[0] == 403
    assert send("GET", "/", host="[")[0] in (400, 403)
    assert send("POST", "/api/attend", body, content_type=json_kind, origin="http://evil.example")[0] == 403
    assert send("POST", "/api/attend", body, content_type=json_kind, origin="null")[0] == 403
    assert send("PUT", "/api/attend", body, content_type=json_kind)[0] == 405
    assert send("GET", "/api/attend")[0] in (404, 405)
    assert send("GET", "/", host="localhost")[0] == 200


@pytest.mark.parametrize("path", ["/../engine.py", "/%2e%2e/engine.py", "/js/../../engine.py", "//etc/passwd"])
def test_only_the_page_is_served(send, path):
    assert send("GET", path)[0] == 404


@pytest.mark.parametrize("path", ["/", "/check.html", "/cards.html", "/js/main.js", "/stations/01.html"])
def test_every_answer_is_guarded(send, path):
    status, body, headers = send("GET", path)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    if not path.endswith(".js"):
        assert b"style=" not in body
        assert b"<style" not in body
        assert b"onclick" not in body
        assert body.count(b"<script") == body.count(b'<script type="module" src=')


def test_a_text_is_never_taken_for_a_path(ask, tmp_path):
    secret = tmp_path / "answers.md"
    secret.write_text("b.q: $q = \\beta (k_a + k_b)$ with the secret word ossifrage")
    status, answer = ask("check", {"text": str(secret)})
    assert status == 200
    assert "ossifrage" not in json.dumps(answer)


def test_many_at_once_are_all_answered(ask):
    mixed = [("attend", QUERY), ("attend", "{"), ("moments", {**QUERY, "isotropic": 0.1}), ("reach", {"keys": K})]
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda i: ask(*mixed[i % 4])[0], range(120)))
    assert answers == [200, 400, 200, 200] * 30


# Correlated heads, much noise: a double integral that takes seconds.
SLOW = {"queries": [[300.0, 10.0], [-300.0, 10.0]], "keys": K, "values": V, "isotropic": 1e-4, "radial": [0.5, 0, 0]}


def test_visitors_who_leave_do_no_harm(lab, ask):
    for _ in range(4):
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(lab).port)
        connection.request("POST", "/api/moments", json.dumps(SLOW), {"Content-Type": "application/json"})
        connection.close()
    assert ask("attend", QUERY)[0] == 200


def test_a_call_given_up_ends_its_engine():
    async def run():
        workers = Workers(1)
        await workers.start()
        call = asyncio.ensure_future(workers.call("moments", SLOW))
        (process,) = workers._all
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.wait({call})
        ended = process.returncode is not None
        answer = await workers.call("attend", {**QUERY, "scale": 2.0})
        await workers.stop()
        return ended, answer

    ended, (status, answer) = in_a_loop(run())
    assert ended
    assert status == 200
    assert json.loads(answer)["logits"][0] == [4.0, 2.0, -6.0]


def in_a_loop(work):
    """In a thread: the browser's driver keeps a loop of its own running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def test_a_slow_engine_is_ended_and_replaced():
    async def run():
        workers = Workers(1, seconds=1e-4)
        await workers.start()
        slow = await workers.call("attend", QUERY)
        workers._seconds = limits.SECONDS
        fine = await workers.call("attend", {**QUERY, "scale": 2.0})
        await workers.stop()
        return slow, fine

    (slow, words), (fine, answer) = in_a_loop(run())
    assert slow == 504
    assert "try: a smaller problem" in words
    assert fine == 200
    # Not the late answer of the first request: this one has twice the logits.
    assert json.loads(answer)["logits"][0] == [4.0, 2.0, -6.0]


def test_an_engine_that_dies_is_replaced():
    async def run():
        workers = Workers(1)
        await workers.start()
        (process,) = workers._all
        process.kill()
        answers = [await workers.call("attend", QUERY) for _ in range(3)]
        await workers.stop()
        return [status for status, _ in answers]

    statuses = in_a_loop(run())
    assert statuses[0] in (200, 500)
    assert statuses[1:] == [200, 200]
