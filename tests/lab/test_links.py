"""Links that live: a port that stays, and a state that any link to a lab brings along."""

import re
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from headwright.cli.lab import command
from headwright.errors import InputError
from headwright.lab import serve
from headwright.lab.address import address, place
from headwright.lab.serve import serving

STATE = "preset=heads&q=a+b;a-b&beta=12.5&radial=a:0.5"


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        (STATE, f"#{STATE}"),
        (f"#{STATE}", f"#{STATE}"),
        (f"?{STATE}", f"#{STATE}"),
        (f"http://127.0.0.1:9/#{STATE}", f"#{STATE}"),
        (f"https://example.org/course/lab/index.html?embed=plane#{STATE}", f"#{STATE}"),
        (f"file:///home/me/lab/index.html#{STATE}", f"#{STATE}"),
        ("q=1,0&beta=3", "#q=1,0&beta=3"),
        ("http://127.0.0.1:8642/check.html", "check.html"),
        ("check.html", "check.html"),
        ("http://127.0.0.1:8642/", ""),
    ],
)
def test_a_link_is_a_page_and_a_state(link, meant):
    assert place(link) == meant


@pytest.mark.parametrize("link", ["nonsense", "preset=nope", "=3", "http://x/#y", "http://[", "#"])
def test_what_is_no_link_is_said_so(link):
    with pytest.raises(InputError, match="try: headwright lab"):
        place(link)
    done = CliRunner().invoke(command, [link, "--no-browser"])
    assert done.exit_code == 2
    assert "Traceback" not in done.output


@pytest.mark.browser
def test_the_lab_opens_a_link_from_elsewhere(open_page, lab):
    link = f"http://127.0.0.1:9/#{STATE}&station=10"
    page = open_page(place(link))
    assert page.evaluate("location.hash") == f"#{STATE}&station=10".replace("&radial=a:0.5", "")


def test_a_taken_port_is_bad_input():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = CliRunner().invoke(command, ["--no-browser", "--port", str(taken.getsockname()[1])])
    assert done.exit_code == 2
    assert "try: another --port" in done.stderr


def test_without_a_port_the_next_free_one_is_taken(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        usual = taken.getsockname()[1]
        monkeypatch.setattr(serve, "PORT", usual)
        monkeypatch.setattr(serve, "_NEIGHBOURS", range(usual + 1, usual + 50))
        with serving(port=None) as found:
            assert usual < int(re.search(r":(\d+)/", found)[1]) < usual + 50


_WITH_ANOTHER_USUAL_PORT = """
import sys
from headwright.lab import address
address.PORT = int(sys.argv.pop(1))
from headwright.cli import main
main()
"""


def test_the_command_prints_the_link_and_says_when_the_port_is_another():
    """The usual port is one that this test has taken: the real one may be somebody's lab, and free
    a moment later."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        usual = taken.getsockname()[1]
        argv = [sys.executable, "-c", _WITH_ANOTHER_USUAL_PORT, str(usual)]
        argv += ["lab", STATE, "--no-browser"]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as running:
            said = [running.stderr.readline() for _ in range(2)]
            running.terminate()
    port = int(re.search(r"this lab has port (\d+)", said[0])[1])
    assert port != usual
    assert said[0].startswith(f"Port {usual} is in use")
    assert said[1] == f"headwright lab: {address(port, STATE)} (Ctrl+C ends it)\n"
