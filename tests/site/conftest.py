"""One build of the site for all tests of `test_site.py`, without the tour, which has tests of its
own. A file runs in one worker: a test of the built site elsewhere would build it twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs the docs extra")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """What `headwright docs --json` says of the site."""
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "headwright", "docs", "--out", str(out)]
    # In a process of its own: there annotations are those of users, and warnings are no errors.
    done = subprocess.run(
        [*command, "--no-browser", "--no-tour", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def site(built):
    """The folder of the site."""
    return Path(built["front"]).parent
