"""Documents judged in one fresh process, as `test_judge` does and for the same reason."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from headwright.homework import check
from headwright.result import plain
print(json.dumps([plain(check(text)) for text in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="session")
def judged_apart():
    """texts -> the report on each of them."""

    def judged(texts):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        return dict(zip(texts, json.loads(done.stdout), strict=True))

    return judged
