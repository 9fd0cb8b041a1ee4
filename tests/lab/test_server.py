"""The server answers everything: results as JSON, bad input and strangers in words, and it never
stops."""

import asyncio
import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests import tolerances

import headwright as hw
from headwright.lab import limits
from headwright.lab.engines.pool import EnginePool

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
    np.testing.assert_allclose(
        answer["covariance"], here.covariance, rtol=0, atol=tolerances.ROUNDING
    )


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


def test_lists_that_nest_too_deep_are_refused_even_where_nobody_reads_them(ask):
    def nested(depth):
        return {**QUERY, "extra": json.loads("[" * depth + "1" + "]" * depth)}

    assert ask("attend", nested(limits.DEPTH - 1))[0] == 200
    status, answer = ask("attend", nested(limits.DEPTH + 1))
    assert status == 400
    assert "nested" in answer["error"]


HOSTILE = [
    None,
    [],
    {},
    "",
    "x",
    True,
    -1,
    0,
    0.5,
    7,
    1e308,
    10**30,
    [[]],
    [None],
    ["a"],
    [[1, 2], [3]],
    {"a": {}},
]
TARGETS = [
    *HOSTILE,
    {"0": [], "1": 1},
    {"0": "x"},
    {"-1": 1},
    {"1e3": 1},
    {"9" * 5000: 1},
    [0, []],
    [0, "1"],
    [0, 0.5],
]
ASKED = {
    "attend": {**QUERY, "mix": [1.0], "scale": 1.0},
    "moments": {**QUERY, "isotropic": 0.1, "radial": [0, 0, 0], "mix": [1.0], "scale": 1.0},
    "reach": {"keys": K},
    "design": {"kind": "copy", "target": 0, "keys": K, "leak": 0.1, "heads": 1, "scale": 1.0},
    "check": {"text": "(c) i. $q = \\beta(\\mu_a + \\mu_b)$"},
}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, body in ASKED.items() for field in body]
)
def test_no_value_of_any_field_is_a_fault_of_ours(ask, name, field):
    for value in HOSTILE:
        status, answer = ask(name, {**ASKED[name], field: value})
        assert status in (200, 400, 413), (value, answer)


@pytest.mark.parametrize("kind", ["average", "mixture"])
def test_no_target_is_a_fault_of_ours(ask, kind):
    for target in TARGETS:
        status, answer = ask("design", {**ASKED["design"], "kind": kind, "target": target})
        assert status in (200, 400), (target, answer)


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
    assert (
        send("POST", "/api/attend", body, content_type=json_kind, origin="http://evil.example")[0]
        == 403
    )
    assert send("POST", "/api/attend", body, content_type=json_kind, origin="null")[0] == 403
    for origin in ("http://[", "http://[::1", "http://127.0.0.1:x", "", "[", "http://\uff0f"):
        assert (
            send("POST", "/api/attend", body, content_type=json_kind, origin=origin.encode())[0]
            == 403
        ), origin
    assert send("PUT", "/api/attend", body, content_type=json_kind)[0] == 405
    assert send("GET", "/api/attend")[0] in (404, 405)
    assert send("GET", "/", host="localhost")[0] == 200


@pytest.mark.parametrize(
    "path", ["/../limits.py", "/%2e%2e/limits.py", "/js/../../limits.py", "//etc/passwd"]
)
def test_only_the_page_is_served(send, path):
    assert send("GET", path)[0] == 404


@pytest.mark.parametrize(
    "path", ["/", "/check.html", "/cards.html", "/js/main.js", "/stations/01.html"]
)
def test_every_answer_is_guarded(send, path):
    status, body, headers = send("GET", path)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    directives = dict(part.split(maxsplit=1) for part in policy.split("; "))
    assert directives["frame-ancestors"] == "'none'"
    assert directives["default-src"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    if not path.endswith(".js"):
        assert b"style=" not in body
        assert b"<style" not in body
        assert b"onclick" not in body
        assert body.count(b"<script") == len(
            re.findall(rb'<script (?:type="module" )?src="js/', body)
        )


def test_a_text_is_never_taken_for_a_path(ask, tmp_path):
    secret = tmp_path / "answers.md"
    secret.write_text("b.q: $q = \\beta (k_a + k_b)$ with the secret word ossifrage")
    status, answer = ask("check", {"text": str(secret)})
    assert status == 200
    assert "ossifrage" not in json.dumps(answer)


def test_many_at_once_are_all_answered(ask):
    mixed = [
        ("attend", QUERY),
        ("attend", "{"),
        ("moments", {**QUERY, "isotropic": 0.1}),
        ("reach", {"keys": K}),
    ]
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda i: ask(*mixed[i % 4])[0], range(120)))
    assert answers == [200, 400, 200, 200] * 30


# Correlated heads, much noise: a double integral that takes seconds.
SLOW = {
    "queries": [[300.0, 10.0], [-300.0, 10.0]],
    "keys": K,
    "values": V,
    "isotropic": 1e-4,
    "radial": [0.5, 0, 0],
}


def test_visitors_who_leave_do_no_harm(lab, ask):
    for _ in range(4):
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(lab).port)
        connection.request(
            "POST", "/api/moments", json.dumps(SLOW), {"Content-Type": "application/json"}
        )
        connection.close()
    assert ask("attend", QUERY)[0] == 200


def test_a_call_given_up_ends_its_engine():
    async def run():
        pool = EnginePool(1)
        await pool.start()
        call = asyncio.ensure_future(pool.call("moments", SLOW))
        (process,) = pool._all
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.wait({call})
        ended = process.returncode is not None
        answer = await pool.call("attend", {**QUERY, "scale": 2.0})
        await pool.stop()
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
        pool = EnginePool(1, seconds=1e-4)
        await pool.start()
        slow = await pool.call("attend", QUERY)
        pool._seconds = limits.SECONDS
        fine = await pool.call("attend", {**QUERY, "scale": 2.0})
        await pool.stop()
        return slow, fine

    (slow, words), (fine, answer) = in_a_loop(run())
    assert slow == 504
    assert "timed out" in words
    assert "try a smaller problem" in words
    assert fine == 200
    # Not the late answer of the first request: this one has twice the logits.
    assert json.loads(answer)["logits"][0] == [4.0, 2.0, -6.0]


def test_an_engine_that_dies_is_replaced():
    async def run():
        pool = EnginePool(1)
        await pool.start()
        (process,) = pool._all
        process.kill()
        answers = [await pool.call("attend", QUERY) for _ in range(3)]
        await pool.stop()
        return [status for status, _ in answers]

    statuses = in_a_loop(run())
    assert statuses[0] in (200, 500)
    assert statuses[1:] == [200, 200]


def test_an_engine_has_a_memory_limit():
    resource = pytest.importorskip("resource", reason="limits of Unix")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process can be read on Linux only")

    async def run():
        pool = EnginePool(1)
        await pool.start()
        (process,) = pool._all
        limit = resource.prlimit(process.pid, resource.RLIMIT_AS)
        await pool.stop()
        return limit

    assert in_a_loop(run()) == (limits.MEMORY, limits.MEMORY)


HALVES = (
    b"G",
    b"GET / HTTP/1.1\r\nHost: 127",
    b"",
    b"POST /api/attend HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
)


def test_a_body_that_never_comes_is_answered(lab, monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", urlsplit(lab).port), timeout=30) as slow:
        slow.sendall(HALVES[-1])
        answer = b""
        while b"timed out" not in answer:
            part = slow.recv(4096)
            assert part, answer
            answer += part
    assert b" 408 " in answer.splitlines()[0]


@pytest.mark.skipif(os.name == "nt", reason="a limit of open files")
def test_half_open_connections_do_not_keep_others_out(tmp_path):
    """300 of them, at a server that may open 256 files, as on a Mac."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "from headwright.lab.serve import serve;"
        "serve(browser=False, announce=lambda a: print(a, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as lab:
        port = urlsplit(lab.stdout.readline().decode()).port
        opened = []
        try:
            for half in itertools.islice(itertools.cycle(HALVES), 300):
                one = socket.create_connection(("127.0.0.1", port), timeout=10)
                one.sendall(half)
                opened.append(one)
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            for path in ("/", "/js/main.js", "/data/site.json"):
                connection.request("GET", path)
                response = connection.getresponse()
                response.read()
                assert response.status == 200
            connection.close()
        finally:
            for one in opened:
                one.close()
            lab.terminate()


def test_the_address_is_printed_when_somebody_answers_there():
    program = [
        sys.executable,
        "-c",
        "from headwright.cli import main; main()",
        "lab",
        "--no-browser",
    ]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as lab:
        try:
            port = int(re.search(r"127\.0\.0\.1:(\d+)", lab.stderr.readline())[1])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            connection.close()
        finally:
            lab.terminate()


@pytest.fixture
def begun(monkeypatch):
    """Every process that is started, as it is started."""
    processes = []
    create = asyncio.create_subprocess_exec

    async def counted(*command, **settings):
        process = await create(*command, **settings)
        processes.append(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)
    return processes


def test_visitors_who_leave_while_an_engine_starts_leave_none_behind(begun):
    """Calls are given up while engines start in place of those that earlier calls lost: none may be
    forgotten."""

    async def run():
        pool = EnginePool(2)
        await pool.start()
        for _ in range(6):
            calls = [asyncio.ensure_future(pool.call("moments", SLOW)) for _ in range(2)]
            await asyncio.sleep(0.1)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
        alive = sum(process.returncode is None for process in begun)
        status, _ = await pool.call("attend", QUERY)
        await pool.stop()
        return alive, status

    alive, status = in_a_loop(run())
    assert alive <= 2
    assert status == 200
    assert all(process.returncode is not None for process in begun)


def test_an_engine_that_starts_while_the_lab_stops_is_ended(begun):
    async def run():
        pool = EnginePool(1)
        await pool.start()
        call = asyncio.ensure_future(pool.call("moments", SLOW))
        await asyncio.sleep(0.1)
        call.cancel()
        while len(begun) < 2:  # the one that takes its place; importing takes it a while
            await asyncio.sleep(0)
        await pool.stop()

    in_a_loop(run())
    assert [process.returncode is not None for process in begun] == [True, True]


def test_an_engine_that_cannot_start_is_said_so(monkeypatch):
    monkeypatch.setattr(
        sys, "executable", "/bin/false" if os.path.exists("/bin/false") else sys.executable + "none"
    )
    with pytest.raises((RuntimeError, OSError)):
        in_a_loop(EnginePool(1).start())
