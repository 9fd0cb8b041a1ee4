"""The plane page in a real browser: drag by mouse and keyboard, the address, history, stations,
data, pictures."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from tests import tolerances

import headwright as hw
from headwright.lab.presets import presets
from headwright.lab.stations import fragment, lab_stations

pytestmark = pytest.mark.browser
READ = """async (hashes) => {
  const { fromHash } = await import("/js/state/state.js");
  const site = await (await fetch("/data/site.json")).json();
  return hashes.map((hash) => fromHash(hash, site.presets));
}"""


def state(page):
    return page.evaluate(READ, [page.evaluate("location.hash")])[0]


def drag(page, selector, dx, dy):
    mark = page.locator(selector)
    mark.hover()  # waits until it is drawn and lies still, as after a change of the address
    box = mark.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def numbers(page, reading):
    text = page.locator(reading).locator("b").inner_text()
    return [float(x) for x in text.strip("()").split(",")]


def test_drag_by_mouse_moves_query_weights_and_output(open_page):
    page = open_page("#preset=plane&q=-0.6,0.2&beta=4")
    before, bars = (
        numbers(page, "#values-reading"),
        page.locator("#weights").get_attribute("aria-label"),
    )
    drag(page, ".handle.query .mark", 150, 0)
    after = state(page)
    assert after["directions"][0][0] > 0
    expected = hw.multihead(
        4 * np.array(after["directions"]), after["keys"], after["values"]
    ).output
    assert numbers(page, "#values-reading") == pytest.approx(
        expected, abs=tolerances.THREE_DECIMALS
    )
    assert numbers(page, "#values-reading") != before
    assert page.locator("#weights").get_attribute("aria-label") != bars


def test_the_picture_of_what_depends_on_what_follows_the_sharpness(open_page):
    page = open_page("#preset=ten&q=a+b&beta=5")
    picture = page.locator("#depends")
    assert picture.locator("rect").count() == 0, "it is fetched when it is scrolled to"
    picture.scroll_into_view_if_needed()
    page.wait_for_selector("#depends rect")
    assert (
        picture.get_attribute("aria-label") == "the output depends on a, b, c, d, e, f, g, h, i, j"
    )
    assert "not on their order" in page.locator("#depends-reading").inner_text()

    page.evaluate("location.hash = '#preset=ten&q=a+b&beta=60'")
    page.wait_for_function("() => document.querySelector('#beta-out').textContent.startsWith('60')")
    page.wait_for_function(
        "() => document.querySelector('#depends-reading').textContent.includes('2 of')"
    )
    assert picture.get_attribute("aria-label").startswith("the output depends on a, b; without c,")
    assert picture.locator(".moved[fill-opacity='0']").count() == 8


@pytest.mark.parametrize(
    ("selector", "field"), [(".handle.key >> nth=2", "keys"), (".handle.value >> nth=2", "values")]
)
def test_keys_and_values_can_be_dragged(open_page, selector, field):
    page = open_page("#preset=plane")
    before = state(page)[field]
    drag(page, f"{selector} >> .mark", 30, -20)
    after = state(page)[field]
    assert after[2][0] > before[2][0]
    assert after[2][1] > before[2][1]
    assert [row for i, row in enumerate(after) if i != 2] == [
        row for i, row in enumerate(before) if i != 2
    ]


def test_arrows_move_what_has_the_focus_and_shift_moves_it_finely(open_page):
    page = open_page("#preset=plane&q=0.5,0.5")
    handle = page.locator(".handle.query")
    handle.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert state(page)["directions"] == [[0.55, 0.505]]
    assert "0.55" in handle.get_attribute("aria-label")
    assert page.evaluate("document.activeElement.classList.contains('handle')")


def test_a_finger_drags_too(open_page):
    page = open_page("#preset=plane&q=0.5,0.5")
    touch = """([dx, dy]) => {
      const handle = document.querySelector(".handle.query");
      const box = handle.querySelector(".mark").getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const finger = { pointerId: 1, pointerType: "touch", isPrimary: true, bubbles: true };
      const send = (kind, clientX, clientY) =>
        handle.dispatchEvent(new PointerEvent(kind, { ...finger, clientX, clientY }));
      handle.setPointerCapture = () => {};
      send("pointerdown", x, y);
      send("pointermove", x + dx, y + dy);
      send("pointerup", x + dx, y + dy);
    }"""
    page.evaluate(touch, [40, 0])
    assert state(page)["directions"][0][0] > 0.6


def test_logits_of_many_dimensions_can_be_dragged(open_page):
    page = open_page("#preset=ten&q=a&beta=4")
    drag(page, "#logits .handle >> nth=1 >> .mark", 0, -60)
    after = state(page)["directions"][0]
    assert after[1] > 0
    assert after[0] == 1
    page.locator("#logits .handle >> nth=2").focus()
    page.keyboard.press("ArrowUp")
    assert state(page)["directions"][0][2] > 0


def test_sliders_follow_and_are_remembered(open_page):
    page = open_page("#preset=ten&q=a&beta=1")
    page.locator("#beta").fill("2")
    page.locator("#noise").fill("40")
    page.locator("#radial").fill("0.5")
    now = state(page)
    assert now["sharpness"] == 100
    assert now["isotropic"] > 0
    assert now["radial"][0] == 0.5
    assert "2000 draws" in page.locator("#values-reading").inner_text()
    page.locator("#heads").select_option("3")
    assert len(state(page)["directions"]) == 3
    assert page.locator("#logits .handle").count() == 30


def test_one_head_stands_beside_two(open_page):
    page = open_page("#preset=heads")
    assert page.locator("#single").is_visible()
    page.locator("#compare").uncheck()
    page.locator("#single").wait_for(state="hidden")


def test_a_page_finds_nothing_that_another_has_stored(open_page):
    """All tests share one window (`tests/browser.py`)."""
    first = open_page()
    first.evaluate("localStorage.setItem('mark', '1'); document.cookie = 'mark=1'")
    first.reload()
    assert first.evaluate("[localStorage.getItem('mark'), document.cookie]") == ["1", "mark=1"]
    second = open_page()
    assert second.evaluate("[localStorage.getItem('mark'), document.cookie]") == [None, ""]


def test_the_address_is_the_whole_state(open_page):
    page = open_page(
        "#preset=heads&q=a+b;a-b&beta=12.5&noise=0.01&radial=a:0.5,c:0.2&seed=7&samples=500&focus=b&station=10"
    )
    first, address = state(page), page.evaluate("location.hash")
    cloud = page.evaluate(
        "document.getElementById('histogram').querySelector('path').getAttribute('d')"
    )
    again = open_page(address)
    assert state(again) == first
    assert first["seed"] == 7
    assert first["directions"][1][:2] == [1, -1]
    assert (
        again.evaluate(
            "document.getElementById('histogram').querySelector('path').getAttribute('d')"
        )
        == cloud
    )
    other = open_page(address.replace("seed=7", "seed=8"))
    assert (
        other.evaluate(
            "document.getElementById('histogram').querySelector('path').getAttribute('d')"
        )
        != cloud
    )


UNREADABLE = [
    "preset=nope",
    "preset=__proto__",
    "preset=plane&q=x",
    "preset=plane&beta=-3",
    "preset=plane&beta=1e999",
    "preset=plane&k=1,2;3",
    "preset=plane&v=1,2",
    "preset=plane&radial=zz:1",
    "preset=plane&q=1,2,3",
    "preset=plane&beta=",
    "preset=ten&samples=1e9",
    "preset=plane&k=<script>alert(1)</script>",
    "preset=plane&mix=0.5,0.5",
]


def test_an_unreadable_address_says_why(open_page):
    page = open_page("#" + UNREADABLE[0])
    for address in UNREADABLE:
        page.evaluate("document.getElementById('toast').textContent = ''")
        page.evaluate("hash => { location.hash = hash; }", address)
        page.wait_for_function(
            "() => document.getElementById('toast').textContent.startsWith('wanted ')"
        )
        assert state(page)["station"] == 1


def test_undo_redo_and_reset(open_page):
    page = open_page("#preset=plane&q=0.5,0.5")
    assert page.locator("#undo").is_disabled()
    drag(page, ".handle.query .mark", 60, 0)
    moved = state(page)["directions"]
    drag(page, ".handle.key >> nth=0 >> .mark", -30, 0)
    page.keyboard.press("Control+z")
    assert state(page)["keys"] == presets()["plane"]["keys"]
    assert state(page)["directions"] == moved
    page.locator("#undo").click()
    assert state(page)["directions"] == [[0.5, 0.5]]
    page.keyboard.press("Control+Shift+z")
    assert state(page)["directions"] == moved
    page.locator("#reset").click()
    assert state(page)["directions"] == presets()["plane"]["directions"]


SHOWN = """(title) => document.getElementById("station-title").textContent === title
  && document.querySelector("#station-text p") !== null"""
# A state in which each station's goal is reached; its own starting state is not one.
SOLUTIONS = {
    1: "preset=plane&q=1,0.3&beta=4",
    2: "preset=ten&q=a&beta=6.8",
    3: "preset=long&q=0.4,1&beta=3",
    4: "preset=subspaces&v=1,0;1,0.3;0,0&beta=8",
    5: "preset=pair&q=a+b&beta=6.1",
    6: "preset=tiny&q=a+b&beta=8&noise=1e-6",
    7: "preset=coin&q=a+b&beta=40",
    8: "preset=coin&q=a+b&beta=20&radial=a:0.5,b:0.5",
    9: "preset=heads&q=a;b&beta=30",
    10: "preset=heads&q=a+b;b+a&beta=10&radial=&noise=0&compare=0",
    11: "preset=heads&q=a+b;a+b&beta=20",
    12: "preset=heads&q=20a+b;b-20a&beta=10&noise=0",
    13: "preset=plane&names=f,e,d,c,b,a&q=0.6,0.5&beta=3"
    "&k=0.1,0.05;0.45,-0.95;-0.75,-0.6;-0.9,0.55;0.15,1;1,0.35"
    "&v=0.65,-0.75;-0.3,-0.95;-1,-0.25;-0.7,0.85;0.35,0.95;1,0.2",
    14: "preset=positions&q=g&beta=120",
}  # fmt: skip


def test_every_station_can_be_read_and_its_goal_reached(open_page):
    page = open_page()
    assert len(lab_stations()) == len(SOLUTIONS) == 14
    for station in lab_stations():
        number = station["number"]
        page.locator(f"#dots li:nth-child({number}) a").click()
        page.wait_for_function(SHOWN, arg=station["title"])
        assert page.locator("#goal.reached").count() == 0, f"station {number} starts at its goal"
        page.evaluate("hash => { location.hash = hash; }", f"{SOLUTIONS[number]}&station={number}")
        page.wait_for_selector("#goal.reached", timeout=3000)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#dots a.reached").count() == 14


def test_the_other_remedy_of_station_twelve_is_accepted_too(open_page):
    away = "-".join(["", *"cdefghijklmnopqrst"])
    page = open_page(f"#preset=heads&q={away}&beta=1&noise=0&station=12")
    assert page.locator("#goal.reached").count() == 0
    page.evaluate(f"location.hash = '#preset=heads&q={away}&beta=7&noise=0&station=12'")
    page.wait_for_selector("#goal.reached", timeout=3000)


def test_every_link_in_the_stations_is_a_state(open_page):
    page = open_page()
    for station in lab_stations():
        root = ElementTree.fromstring(f"<div>{fragment(station['number'])}</div>")
        links = [a.get("href") for a in root.iter("a")]
        assert [s["station"] for s in page.evaluate(READ, links)] == [station["number"]] * len(
            links
        )


def test_arrows_turn_the_stations_and_space_scrolls(open_page):
    page = open_page()
    title = page.locator("#station-number")
    at = "(n) => document.getElementById('station-number').textContent.startsWith(`Station ${n}`)"
    page.keyboard.press("ArrowRight")
    page.wait_for_function(at, arg=2)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(at, arg=3)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(at, arg=2)
    page.keyboard.press("Space")
    page.wait_for_function("() => scrollY > 100")
    assert page.evaluate(at, 2)
    page.locator("#station-set").click()
    assert "of 14" in title.inner_text()


def test_copied_python_runs_and_prints_the_same_numbers(open_page):
    page = open_page("#preset=heads&q=a;0.9b&beta=3&scale=0.5&noise=0.01&radial=a:0.5&compare=0")
    page.wait_for_selector("#exact-table td")
    page.locator("#share").click()
    page.locator("#copy-python").click()
    page.wait_for_selector("#toast.shown")
    program = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    said = {
        line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1])
        for line in done.stdout.splitlines()
    }
    assert said["output"] == pytest.approx(
        numbers(page, "#values-reading"), abs=tolerances.THREE_DECIMALS
    )
    exact = [
        float(x) for x in page.locator("#exact-table tr td:nth-child(2)").all_inner_texts()[:2]
    ]
    assert said["mean"] == pytest.approx(exact, abs=tolerances.THREE_DECIMALS)


def test_copied_link_opens_the_same_state(open_page):
    page = open_page("#preset=plane&q=0.3,0.4&beta=2.5")
    page.locator("#share").click()
    page.locator("#copy-link").click()
    page.wait_for_selector("#toast.shown")
    link = page.evaluate("navigator.clipboard.readText()")
    again = open_page(link.removeprefix(page.evaluate("location.origin") + "/"))
    assert state(again) == state(page)


OWN = '{"K": [[2, 0], [0, 2], [-1, -1]], "V": [[1, 0], [0, 1], [0, 0]], "q": [1.5, 0.5]}'
OWN_CSV = "2,0\n0,2\n-1,-1\n\n1,0\n0,1\n0,0\n\n1.5,0.5\n"


def test_own_data(open_page):
    page = open_page()
    expected = hw.multihead(
        [[1.5, 0.5]], [[2, 0], [0, 2], [-1, -1]], [[1, 0], [0, 1], [0, 0]]
    ).output
    for text in (OWN, OWN_CSV):
        page.locator("#own-data").click()
        page.locator("#data-text").fill(text)
        page.locator("#data-use").click()
        assert not page.locator("#data-dialog").is_visible()
        assert numbers(page, "#values-reading") == pytest.approx(
            expected, abs=tolerances.THREE_DECIMALS
        )
        page.locator("#undo").click()


UNMEANT = [
    "", "{", "1,2\n3", '{"K": 3}', '{"K": [[1, 2]], "V": [[1], [2]], "q": [1, 2]}', "<b>x</b>",
    '{"K": [["1", 2]], "V": [[1]]}', "1,x\n\n2", '{"K": [[1e999, 2]], "V": [[1]]}',
]  # fmt: skip


def test_own_data_that_cannot_be_meant(open_page):
    page = open_page()
    page.locator("#own-data").click()
    for text in UNMEANT:
        page.evaluate("document.getElementById('data-fault').textContent = ''")
        page.locator("#data-text").fill(text)
        page.locator("#data-use").click()
        assert "try:" in page.locator("#data-fault").inner_text(), text
        assert page.locator("#data-fault b").count() == 0


def test_every_picture_can_be_saved(open_page, tmp_path):
    page = open_page("#preset=plane&noise=0.05&q=1,0.3;0,1")
    for picture in ("keys", "values", "weights", "histogram"):
        svg, png = (saved(page, picture, kind, tmp_path) for kind in ("SVG", "PNG"))
        root, text = ElementTree.parse(svg).getroot(), svg.read_text()
        assert "var(" not in text
        if picture in ("keys", "values"):
            assert 'paint-order="stroke"' in text, "or the halo would cover the name"
        assert "class=" not in text
        dots = root.findall(".//{*}circle[@r='0.8']")
        assert len(dots) == (2000 if picture == "values" else 0)
        assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert png.stat().st_size > 2000


def saved(page, picture, kind, folder):
    with page.expect_download() as download:
        page.locator(f'[data-picture="{picture}"] button', has_text=kind).click()
    file = folder / f"{picture}.{kind.lower()}"
    download.value.save_as(file)
    return file


@pytest.mark.parametrize("station", ["15", "99"])
def test_a_station_that_is_not_there_is_said_so_and_the_first_is_shown(open_page, station):
    page = open_page(f"#station={station}")
    assert (
        f"wanted a station between 1 and 14; got {station}" in page.locator("#toast").inner_text()
    )
    assert page.locator("#station-number").inner_text() == "Station 1 of 14"
    page.wait_for_function(
        "() => document.getElementById('station-text').textContent.trim() !== ''"
    )
    page.evaluate("location.hash = '#station=77'")
    page.wait_for_function("() => document.getElementById('toast').textContent.includes('got 77')")
    assert page.locator("#station-title").inner_text() != ""


PRETTY = [
    "#preset=ten&q=a+0.5b-2c&beta=6",
    "#preset=heads&q=a+b;a-b&beta=12.5",
    "#preset=heads&q=-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t&beta=7&noise=0",
    "#preset=positions&q=g&beta=120",
    "#preset=ten&q=a+b&scale=1/sqrt(d)",
    "#preset=plane&q=0.3,0.4",
]


def test_what_was_pretty_in_the_address_stays_so(open_page):
    page = open_page(PRETTY[0])
    assert page.evaluate("location.hash") == PRETTY[0]
    for address in PRETTY[1:]:
        # As a chat program may send it
        soup = address.replace("+", "%2B").replace(";", "%3B").replace(",", "%2C")
        page.evaluate("(hash) => { location.hash = hash; }", soup)
        page.wait_for_function("(hash) => location.hash === hash", arg=address)

    drag(page, ".handle.key >> nth=2 >> .mark", 30, -20)
    page.locator("#scale").select_option("root")
    page.locator("#preset").select_option("ten")
    page.locator("#design").scroll_into_view_if_needed()
    page.locator("[name=kind][value=average]").check()
    page.locator("#design-go").click()
    page.wait_for_function("() => location.hash.includes('q=a+b')")
    page.locator("#preset").select_option("plane")
    page.locator("#design-go").click()
    page.wait_for_function("() => /q=[^a]/.test(location.hash)")
    assert not re.search(r"\d{10}|%", page.evaluate("location.hash"))


def test_no_zero_has_a_minus(open_page):
    page = open_page("#preset=plane&k=-0.001,1;-0.001,-1&v=-0.00001,1;-0.00001,-1&q=-0.00001,0")
    assert numbers(page, "#values-reading") == [0, 0]
    seen = page.evaluate(
        "[document.body.innerText, ...[...document.querySelectorAll('[aria-label]')]"
        ".map((e) => e.getAttribute('aria-label'))].join(' ')"
    )
    assert not re.search(r"-0(\.0*)?(?![\d.])", seen)
    shown = page.evaluate(
        """async () => {
          const { fixed, short, percent, point } = await import("/js/numbers.js");
          const tiny = [-0, -1e-9, -4e-5];
          return [...tiny.map((x) => fixed(x, 4)), percent(-1e-9, 2), point([-1e-9], 2), short(-0)];
        }"""
    )
    assert shown == ["0.0000", "0.0000", "0.0000", "0.00%", "(0.00)", "0"]


@pytest.mark.parametrize("width", [390, 1200])
def test_no_name_of_a_setting_is_cut(open_page, width):
    page = open_page("#preset=plane", width=width)
    cut = page.evaluate(
        """() => {
          const select = document.getElementById("preset");
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = getComputedStyle(select).font;
          const style = getComputedStyle(select);
          const arrow = 20;
          const room = select.clientWidth - arrow - parseFloat(style.paddingLeft);
          const titles = [...select.options].map((option) => option.text);
          return titles.filter((title) => pen.measureText(title).width > room);
        }"""
    )
    assert cut == []
