"""The tour: every station holds by every route, twice the same, and its files are complete and self-contained."""

import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from rich.console import Console

from cases import FLIP, INSIDE_HALF
from headwright.cli import app
from headwright.cli.tour import render
from headwright.result import plain
from headwright.tour import STATIONS, Comparison, Station, walk
from tolerances import ROUNDING


@pytest.fixture(scope="module")
def stations():
    return list(walk(0))


@pytest.mark.parametrize("number", range(14), ids=lambda i: f"station-{i + 1}")
def test_station_holds_by_at_least_two_routes(stations, number):
    station = stations[number]
    for comparison in station.comparisons:
        assert comparison.agrees, comparison
        assert len(comparison.routes) >= 2
    assert all(station.facts.values()), station.facts
    record = station.record()
    assert record["verdict"] == "holds"
    assert len(record["routes"]) >= 2


def test_another_seed_holds_too():
    assert all(station.holds for station in walk(1))


def test_a_wrong_number_fails_its_station(stations):
    station = stations[0]
    wrong = Comparison("x", {"one": 1.0, "other": 1.1}, tolerance=0.05)
    broken = Station(**{**station.__dict__, "comparisons": (wrong,)})
    assert not broken.holds
    assert broken.record()["verdict"] == "fails"


def test_numbers_of_the_case_table(stations):
    twelve, seven = stations[11].record()["routes"], stations[6].record()["routes"]
    assert twelve["normal law"]["P(gamma < 0)"] == pytest.approx(FLIP, abs=ROUNDING)
    assert seven["normal law"]["P(0.5 < gamma < 1.5)"] == pytest.approx(INSIDE_HALF, abs=ROUNDING)


def test_command_writes_report_and_figures_and_repeats_the_numbers(stations, tmp_path):
    done = CliRunner().invoke(app, ["tour", "--json", "--out", str(tmp_path)])
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record["holds"] is True
    # A second run of the same seed: identical to the last digit, after a journey through JSON.
    assert record["stations"] == json.loads(json.dumps(plain([s.record() for s in stations])))
    for station in record["stations"]:
        assert {"id", "title", "claim", "verdict", "routes", "figure"} <= set(station)
        ET.parse(tmp_path / station["figure"])
        assert (tmp_path / station["figure"]).with_suffix(".png").exists()
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=\"(?!#|data:)|url\((?!#)|@import", report)
    assert report.count("<figure>") == len(STATIONS)
    identifiers = re.findall(r'\bid="([^"]+)"', report)
    assert len(identifiers) == len(set(identifiers))


def test_terminal_output_fits_eighty_columns(stations, tmp_path):
    page = io.StringIO()
    render(Console(file=page, width=80, highlight=False), stations, tmp_path / "report.html")
    assert "14 of 14 stations hold" in page.getvalue()
    assert max(len(line) for line in page.getvalue().splitlines()) <= 80
