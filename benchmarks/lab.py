"""How the lab feels, in numbers: a drag in a real browser, the page's weight and start, engine
calls over HTTP, and a thousand mixed requests at once. Every time stands beside a floor measured in
the same run."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from benchmarks.telling import as_they_come

from headwright.lab.engines.calls import answer
from headwright.lab.presets import presets
from headwright.lab.serve import serving

KEYS = 32
SAMPLES = 2000
HEADS = 2

# One step of a drag, until its frame is drawn. Script time is read from the browser's own counter
# in CPU time of the page's thread: what the page costs, whatever else runs on the machine.
GRAB = """() => {
  const handle = document.querySelector(".handle.query");
  handle.setPointerCapture = () => {};
  const box = handle.querySelector(".mark").getBoundingClientRect();
  const finger = { pointerId: 1, isPrimary: true, bubbles: true };
  window.send = (kind, dx, dy) =>
    handle.dispatchEvent(
      new PointerEvent(kind, { ...finger, clientX: box.x + dx, clientY: box.y + dy }),
    );
  window.send("pointerdown", 0, 0);
}"""
MOVE = """(i) => new Promise((done) => setTimeout(() => {
  window.send("pointermove", 60 * Math.sin(i / 9), 40 * Math.cos(i / 7));
  requestAnimationFrame(() => setTimeout(done));
}))"""
# The floor: the exponentials alone, which any cloud of this size must pay.
FLOOR = """(count) => new Promise((done) => setTimeout(() => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += Math.exp(-(i % 97) / 9);
  done(sum);
}))"""
# Everything the browser has received, uncompressed: the page, its scripts, styles and data.
WEIGHT = """() => ["resource", "navigation"]
  .flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, r) => sum + r.decodedBodySize, 0)"""


def run(*, quick: bool) -> dict[str, Any]:
    def measured(address: str) -> Iterator[dict[str, Any]]:
        yield from browser_rows(address, quick)
        yield from engine_rows(address, quick)
        yield crowd_row(address, 100 if quick else 1000)

    with serving() as address:
        rows = list(as_they_come(measured(address)))
    notes = [
        f"drag: {KEYS} keys, {SAMPLES} samples, {HEADS} heads, noise on; script per frame, "
        "CPU time, all included",
        "drag floor: the same number of Math.exp in a bare loop; "
        "engine floor: the same call without HTTP and process",
        "accuracy: the browser's numbers agree with Python's to 1e-12 "
        "(tests/lab/test_agreement.py)",
    ]
    return {"title": "the lab: drag, page, engine, crowd", "rows": rows, "notes": notes}


def _row(what: str, times: list[float], floor: float | None, target: str) -> dict[str, Any]:
    times = sorted(times)
    middle = statistics.median(times)
    high = times[min(len(times) - 1, int(0.95 * len(times)))]
    ratio = None if not floor else round(middle / floor, 2)
    return {
        "what": what,
        "median": f"{middle:.2f} ms",
        "p95": f"{high:.2f} ms",
        "times floor": ratio,
        "target": target,
    }


def browser_rows(address: str, quick: bool) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        missing = {
            "median": "not measured: needs chromium",
            "p95": "",
            "times floor": None,
            "target": "",
        }
        return [{"what": "drag, page", **missing}]
    with sync_playwright() as driver:
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=args)
        rows = [
            page_row(browser, address, 2 if quick else 7),
            *drag_rows(browser, address, 30 if quick else 400),
        ]
        browser.close()
    return rows


def page_row(browser: Any, address: str, repeats: int) -> dict[str, Any]:
    """Until the plane is live and the first station can be read; the floor is one picture from the
    same server. The weight is taken twice: at that moment, and when the opening, which a newcomer
    gets afterwards, is there, too."""
    times = []
    floors = []
    weight = 0
    later = 0
    for _ in range(repeats):
        context = browser.new_context()  # cold: nothing cached
        page = context.new_page()
        page.goto(f"{address}icon.svg")
        floors.append(page.evaluate("performance.now()"))
        page.goto(address)
        page.wait_for_selector("body[data-ready] #station-text p")
        times.append(page.evaluate("performance.now()"))
        weight = page.evaluate(WEIGHT)
        page.wait_for_selector("#opening-dialog svg")
        later = page.evaluate(WEIGHT) - weight
        context.close()
    return _row(
        f"page ready, cold ({weight / 1024:.1f} KB; the opening, later: {later / 1024:.1f} KB)",
        times,
        statistics.median(floors),
        "1000 ms, 150 KB",
    )


def drag_rows(browser: Any, address: str, moves: int) -> list[dict[str, Any]]:
    rows = []
    for name, state in _states().items():
        page = browser.new_page()
        page.goto(f"{address}{state}")
        page.wait_for_selector("body[data-ready]")
        counter = page.context.new_cdp_session(page)
        counter.send("Performance.enable", {"timeDomain": "threadTicks"})
        floor = [
            _script(counter, lambda page=page: page.evaluate(FLOOR, KEYS * SAMPLES * HEADS))
            for _ in range(30)
        ]
        page.evaluate(GRAB)
        times = [
            _script(counter, lambda page=page, i=i: page.evaluate(MOVE, i))
            for i in range(30 + moves)
        ]
        # The first steps are the browser compiling.
        rows.append(_row(f"drag a query, {name}", times[30:], statistics.median(floor), "p95 8 ms"))
        page.close()
    return rows


def _script(counter: Any, work: Any) -> float:
    """Milliseconds of script the work costs the page."""

    def now() -> float:
        metrics = counter.send("Performance.getMetrics")["metrics"]
        return 1000 * next(m["value"] for m in metrics if m["name"] == "ScriptDuration")

    begin = now()
    work()
    return now() - begin


def _states() -> dict[str, str]:
    """32 keys on two circles: in the plane, with isotropic and radial noise, two heads."""
    from math import cos, sin

    def ring(size: float) -> str:
        return ";".join(
            f"{size * cos(i * 0.41):.3f},{size * sin(i * 0.41):.3f}" for i in range(KEYS)
        )

    shared = f"#preset=plane&k={ring(1)}&v={ring(0.9)}&q=1,0.2;0,1&beta=5&samples={SAMPLES}"
    both = f"{shared}&noise=0.02&radial=a:0.5,b:0.5"
    return {"isotropic and radial noise": both, "radial noise": f"{shared}&radial=a:0.5"}


def _requests() -> dict[str, tuple[str, dict[str, Any]]]:
    """What the page asks for each preset."""
    asked = {}
    for name, preset in presets().items():
        queries = [[preset["sharpness"] * x for x in u] for u in preset["directions"]]
        law = {
            "isotropic": preset["isotropic"] or 1e-3,
            "radial": preset["radial"],
            "scale": preset["scale"],
        }
        data = {"queries": queries, "keys": preset["keys"], "values": preset["values"]}
        asked[f"moments {name}"] = ("moments", {**data, **law})
        design = {"kind": "average", "target": [0, 1], "keys": preset["keys"], "leak": 0.01}
        asked[f"design {name}"] = ("design", design)
    return asked


def _connect(address: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", urlsplit(address).port, timeout=120)


def _ask(connection: http.client.HTTPConnection, name: str, body: Any) -> int:
    text = body if isinstance(body, str) else json.dumps(body)
    connection.request("POST", f"/api/{name}", text, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    return response.status


def _timed(call: Any) -> float:
    begin = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begin)


def engine_rows(address: str, quick: bool) -> list[dict[str, Any]]:
    every: dict[str, list[float]] = {}
    floors: dict[str, list[float]] = {}
    with closing(_connect(address)) as connection:
        for name, body in _requests().values():
            # Each of the two engine processes meets every preset before it is timed
            for _ in range(4):
                _ask(connection, name, body)
            for _ in range(2 if quick else 15):
                every.setdefault(name, []).append(_timed(partial(_ask, connection, name, body)))
                floors.setdefault(name, []).append(_timed(partial(answer, name, body)))
    return [
        _row(f"engine: {name}, all presets", times, statistics.median(floors[name]), "p95 100 ms")
        for name, times in every.items()
    ]


def crowd_row(address: str, count: int) -> dict[str, Any]:
    """Good, bad and malformed requests from 64 clients at once."""
    good = list(_requests().values())
    mixed = [
        *good,
        ("attend", "{"),
        ("attend", {"keys": "x"}),
        ("nothing", {}),
        ("attend", '{"a":' * 5000),
    ]

    def one(i: int) -> int:
        with closing(_connect(address)) as connection:
            return _ask(connection, *mixed[i % len(mixed)])

    begin = time.perf_counter()
    with ThreadPoolExecutor(64) as pool:
        statuses = Counter(pool.map(one, range(count)))
    seconds = time.perf_counter() - begin
    said = ", ".join(f"{n} x {status}" for status, n in sorted(statuses.items()))
    return {
        "what": f"{count} mixed requests, 64 at once: {said}",
        "median": f"{1000 * seconds / count:.1f} ms each",
        "p95": f"{seconds:.1f} s in all",
        "times floor": None,
        "target": "all answered",
    }


if __name__ == "__main__":
    print(json.dumps(run(quick=False), indent=2))
