"""What the page's scripts read: whole, small, and no way out of it."""

import base64
import json
import re

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'models'")

from tests.trained import made_up

from headwright.trained.page.embedding import embedded
from headwright.trained.page.payload import _halved, _packed, payload


def test_no_token_ends_the_data():
    html = made_up.audit(2, 2).to_html()
    (text,) = re.findall(r'<script type="application/json" id="audit">(.*?)</script>', html)
    assert made_up.HOSTILE in json.loads(text)["passages"]["model"]["keys"]
    assert "</script>" in json.loads(text)["passages"]["model"]["keys"]
    assert made_up.HOSTILE not in html
    assert "<!--" not in embedded(["<!--<script>"], "x")


def test_measures_that_nobody_knows_are_shown_too():
    """As those of a newer version, or of one's own."""
    result = made_up.audit(2, 1, beauty=0.7)
    told = payload(result.cards, result.passages, result.remarkable)
    assert {"name": "beauty", "title": "beauty", "meaning": ""} in told["measures"]
    assert told["numbers"]["beauty"] == [0.7, 0.7]


def test_pictures_are_packed_in_sixteen_shades():
    rng = np.random.default_rng(3)
    picture = rng.uniform(0.0, 1.0, (5, 7))
    height, width, text = _packed(picture)
    pairs = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    shades = np.stack([pairs >> 4, pairs & 15], axis=1).ravel()[: height * width]
    assert np.abs(shades / 15 - np.sqrt(picture).ravel()).max() <= 0.5 / 15


def test_a_coarser_picture_has_the_same_weight():
    rows = np.random.default_rng(4).dirichlet(np.ones(7), size=5)
    coarse = _halved(rows)
    assert coarse.shape == (3, 4)
    np.testing.assert_allclose(coarse.sum(axis=1), 1.0)
