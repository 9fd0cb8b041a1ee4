"""One server and one browser for all tests of the lab. A page that reports an error, or that asks
for anything outside 127.0.0.1, fails the test it happened in."""

import functools
import http.client
import http.server
import json
import threading
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette", reason="needs the lab extra")
pytest.importorskip("uvicorn", reason="needs the lab extra")


@pytest.fixture(scope="session")
def lab():
    """The address of a running lab."""
    from headwright.lab.serve import serving

    with serving() as address:
        yield address


@pytest.fixture
def send(lab):
    """`send(method, path, body, **headers)` -> (status, answer as JSON or bytes, headers)."""
    port = urlsplit(lab).port

    def send(method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        data, received = response.read(), dict(response.getheaders())
        connection.close()
        kind = received.get("content-type", "")
        return response.status, json.loads(data) if kind == "application/json" else data, received

    return send


@pytest.fixture
def ask(send):
    """`ask(name, body)` -> (status, answer): one engine call."""

    def ask(name, body):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return send("POST", f"/api/{name}", text, content_type="application/json")[:2]

    return ask


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def static():
    """`static(folder)` -> the address of a plain static server for it."""
    with ExitStack() as stack:

        def serve(folder):
            handler = functools.partial(_Quiet, directory=folder)
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/"

        yield serve


@pytest.fixture
def open_page(window, lab):
    """`open_page(path, width=1280, theme="light", base=None)`: a page that is ready, watched for
    faults. Its visitor has seen the opening, unless `newcomer`."""
    pages, faults = [], []

    def open_page(
        path="", *, width=1280, height=860, theme="light", base=lab, motion="reduce", newcomer=False
    ):
        page = window.page(base, width=width, height=height, theme=theme, motion=motion)
        pages.append(page)
        if not newcomer:
            page.add_init_script("localStorage.setItem('headwright-opening', 'seen')")
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("console", lambda line: _note(line, faults))
        page.on("request", lambda request: _stay(request.url, faults))
        page.goto(base + path)
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert faults == []


def _note(line, faults):
    # A refused engine call is shown in the page; the browser's own line about it is no fault.
    if line.type == "error" and "Failed to load resource" not in line.text:
        faults.append(f"console: {line.text}")


def _stay(url, faults):
    parts = urlsplit(url)
    if parts.scheme not in ("blob", "data", "file") and parts.hostname != "127.0.0.1":
        faults.append(f"request left the machine: {url}")
