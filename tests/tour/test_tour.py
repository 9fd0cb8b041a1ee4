"""The tour: every station holds by every route, twice the same, and its files are complete and
self-contained."""

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.cases import FLIP, INSIDE_HALF
from tests.report.test_access import SCREENS, look_at
from tests.tolerances import ROUNDING

from headwright.cli import app
from headwright.cli.tour import render
from headwright.lab.address import PORT
from headwright.lab.stations import lab_stations
from headwright.result import plain
from headwright.tour import STATIONS, Comparison, Station, walk
from headwright.tour.classic import TWO_HEADS, A, draw_weights, long_or_short
from headwright.tour.page.document import write_report, write_station
from headwright.tour.page.tables import numbers_table
from headwright.tour.station import DRAWN


@pytest.fixture(scope="module")
def stations():
    return list(walk(0))


@pytest.mark.parametrize("number", range(14), ids=lambda i: f"station-{i + 1}")
def test_station_holds_by_at_least_two_routes(stations, number):
    station = stations[number]
    for comparison in station.evidence.comparisons:
        assert comparison.agrees, comparison
        assert len(comparison.routes) >= 2
    assert all(station.evidence.facts.values()), station.evidence.facts
    record = station.record()
    assert record["verdict"] == "holds"
    assert len(record["routes"]) >= 2


def test_another_seed_holds_too():
    assert all(station.holds for station in walk(1))


def test_a_wrong_number_fails_its_station(stations):
    station = stations[0]
    wrong = Comparison("x", {"one": 1.0, "other": 1.1}, tolerance=0.05)
    broken = Station(station.text, replace(station.evidence, comparisons=(wrong,)))
    assert not broken.holds
    assert broken.record()["verdict"] == "fails"


def test_numbers_of_the_case_table(stations):
    twelve = stations[11].record()["routes"]
    seven = stations[6].record()["routes"]
    assert twelve["normal law"]["P(gamma < 0)"] == pytest.approx(FLIP, abs=ROUNDING)
    assert seven["normal law"]["P(0.5 < gamma < 1.5)"] == pytest.approx(INSIDE_HALF, abs=ROUNDING)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The command's JSON document; its files lie beside `report`."""
    folder = tmp_path_factory.mktemp("tour")
    done = CliRunner().invoke(app, ["tour", "--json", "--out", str(folder)])
    assert done.exit_code == 0
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def report(written):
    return Path(written["report"]).read_text(encoding="utf-8")


def test_command_writes_report_and_figures_and_repeats_the_numbers(stations, written, report):
    record = written
    folder = Path(written["report"]).parent
    assert record["holds"] is True
    # A second run of the same seed: identical to the last digit, after a journey through JSON.
    assert record["stations"] == json.loads(json.dumps(plain([s.record() for s in stations])))
    for station in record["stations"]:
        assert {"id", "title", "claim", "verdict", "routes", "figure"} <= set(station)
        ET.parse(folder / station["figure"])
        assert (folder / station["figure"]).with_suffix(".png").exists()
    to_the_lab = f"http://127.0.0.1:{PORT}/#"
    rest = report.replace(f'href="{to_the_lab}', "")
    assert not re.search(r"(src|href)=\"(?!#|data:)|url\((?!#)|@import", rest)
    assert report.count("<figure>") == len(STATIONS)
    identifiers = re.findall(r'\bid="([^"]+)"', report)
    assert len(identifiers) == len(set(identifiers))


def test_every_station_shows_figure_sentence_and_then_folds_the_rest(report):
    for section in report.split("<section")[1:]:
        places = [section.index(part) for part in ("<figure>", "Holds.", "<details>", "<table")]
        assert places == sorted(places)
        assert section.rindex("<details>") < section.index("<table")


def test_every_station_opens_its_scene_in_the_lab(report):
    links = re.findall(r'href="(http:[^"]+)"', report)
    scenes = [f"{card['state']}&station={card['number']}" for card in lab_stations()]
    assert [unescape(link) for link in links] == [
        f"http://127.0.0.1:{PORT}/#{scene}" for scene in scenes
    ]
    assert "<code>headwright lab</code>" in report


def test_the_stations_can_link_to_an_exported_lab(stations, tmp_path):
    link = "lab/index.html#preset=plane&station=1"
    section = write_station(stations[0], tmp_path, link)
    page = write_report([section], stations[:1], tmp_path, with_lab=True).read_text("utf-8")
    assert f'href="{escape(link)}"' in page
    assert "headwright lab" not in page


def test_no_plain_notation_is_left_on_the_page(report):
    words = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]+>", " ", report, flags=re.DOTALL)
    assert not re.search(r"\b(alpha|beta|gamma|mu|sqrt)\b|\w_\w|\^|\+-|->|\de-?\d", words)


def test_sampled_numbers_have_an_interval():
    sampled = Comparison("x", {"exact": 4.9e-5, DRAWN: 4.928e-5}, tolerance=2.46e-6)
    table = numbers_table((sampled,))
    assert "(4.93 ± 0.25) · 10<sup>−5</sup>" in table
    assert table.count("±") == 2  # and the note that says what it means


@pytest.mark.browser
def test_nothing_scrolls_sideways_on_a_phone(chromium, written):
    page = chromium.new_page(viewport={"width": 390, "height": 860})
    page.goto(Path(written["report"]).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    sizes = "[...document.querySelectorAll('html, table, .formula')].map((e) => e.scrollWidth)"
    assert max(page.evaluate(sizes)) <= 390
    page.close()


def test_terminal_output_fits_eighty_columns(stations, tmp_path):
    page = io.StringIO()
    render(Console(file=page, width=80, highlight=False), stations, tmp_path / "report.html")
    assert "14 of 14 stations hold" in page.getvalue()
    assert max(len(line) for line in page.getvalue().splitlines()) <= 80


NUMBER = re.compile(r"(?<![\w^])-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?: ?%)?")
# What a sentence says besides results: properties of its setting that its table has no row for.
GIVEN = {
    "02": {"0"},
    "03": {"100"},
    "04": {"3"},
    "07": {"1", "2"},
    "09": {"12", "2,000", "0"},
    "14": {"113"},
}


def numbers(text):
    return [found.rstrip(",") for found in NUMBER.findall(text)]


def size(number):
    return abs(float(number.replace(",", "").rstrip(" %")))


def same(number, value):
    """Is `value` what was written, to the digits that were written? A percentage may stand for a
    share."""
    digits = number.replace(",", "").rstrip(" %")
    mantissa, _, exponent = digits.partition("e")
    step = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(size(number) - (100 * value if "%" in number else value)) <= 0.5001 * step


@pytest.mark.parametrize("number", range(14), ids=lambda i: f"station-{i + 1}")
def test_sentences_say_what_the_tables_say(stations, number):
    """Every number of the verdict and the caption is in the station's table, or in the setting it
    speaks of."""
    station = stations[number]
    evidence = station.evidence
    quantities = [comparison.quantity for comparison in evidence.comparisons]
    setting = " ".join([station.text.claim, *quantities, *evidence.facts])
    known = [size(n) for n in numbers(setting)]

    found = [value for c in evidence.comparisons for value in c.routes.values()]
    if "times less" in evidence.finding:
        found += [a / b for a in found for b in found if a > b > 0]
    found += [math.exp(value) for value in found if value < 0]

    sentences = evidence.finding
    if station.id in CAPTIONS:
        sentences += " " + evidence.caption
    for said in numbers(sentences):
        share = size(said) / 100 if "%" in said else size(said)
        given = said in GIVEN.get(station.id, ()) or share in known
        assert given or any(same(said, value) for value in found), f"{said} in {sentences!r}"


CAPTIONS = {"09"}  # captions that state results; the others name the axes' settings


def test_the_dots_of_two_heads_are_where_the_caption_says(stations):
    drawn = draw_weights(TWO_HEADS, long_or_short(A), 0)[:2000, A]
    share = float(re.search(r"(\d+)%", stations[8].evidence.caption)[1]) / 100
    assert np.mean(drawn > 0.45) == pytest.approx(
        share, abs=5 * np.sqrt(share * (1 - share) / len(drawn)) + 0.005
    )
    assert drawn.min() < 0.01


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C of Unix")
def test_an_interrupted_tour_says_what_is_left(tmp_path):
    program = [
        sys.executable,
        "-c",
        "from headwright.cli import main; main()",
        "tour",
        "--out",
        str(tmp_path / "t"),
    ]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as tour:
        while not (tmp_path / "t" / "station-01.png").exists():
            assert tour.poll() is None, tour.stderr.read()
            time.sleep(0.02)
        tour.send_signal(signal.SIGINT)
        out, said = tour.communicate(timeout=60)
    assert tour.returncode == 130
    assert out == ""
    assert len(said.strip().splitlines()) == 1
    there = {str(path) for path in (tmp_path / "t").iterdir()}
    named = set(re.findall(r"\S+\.(?:svg|png|html)", said))
    more = int((re.search(r"and (\d+) more", said) or [0, "0"])[1])
    assert named <= there
    assert len(named) + more == len(there)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_the_page_is_for_everybody(written, chromium, node_modules, width, theme):
    look_at(Path(written["report"]), chromium, node_modules, width=width, theme=theme)
