"""What comes back: a short repr, JSON, a page, pictures, and a script that repeats the break."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.probes import sample_layers

import headwright as hw
from headwright.errors import InputError
from headwright.probes.intent import intent
from headwright.probes.page.ranges import runs
from headwright.probes.page.several import lines
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Asked,
    Counterexample,
    Finding,
    Part,
    XRay,
)
from headwright.result import plain

ROOT = Path(__file__).resolve().parents[2]
TOKENS = 6


def made_up(**changes):
    """A window of three where two were meant, with every status and some names to escape."""
    example = Counterexample("output 2 moves by 0.2 <b>", "assert layer < 1\n", 0.2, 1e-15)
    findings = (
        Finding("pattern", BROKEN, "window=3 & more", example),
        Finding("batch", HOLDS, "alone and with others agree"),
        Finding("numbers", UNCLEAR, "weights too small to tell"),
        Finding("cache", NOT_APPLICABLE, "it has none"),
    )
    settings = {
        "layer": "<script>alert(1)</script>",
        "form": "qkv",
        "properties": findings,
        "group": "S_2 on tokens 0-1, tokens 2-5 fixed",
        "pattern": "window=3",
        "holds": False,
        "depends": intent("window=3").sees(TOKENS, TOKENS),
        "wanted": intent("window=2").sees(TOKENS, TOKENS),
        "blocks": ((0, 1), (2,), (3,), (4,), (5,)),
        "dtype": "float64",
        "tokens": TOKENS,
        "width": 8,
        "asked": Asked(source="mine:layer", expect="window=2"),
    }
    return XRay(**(settings | changes))


def test_repr_is_short():
    assert repr(made_up(layer="f")) == (
        "XRay of f, window=3: 1 broken (pattern), 1 unclear, 1 holds, 1 not applicable"
    )


def test_json_has_what_the_interface_says():
    data = json.loads(json.dumps(plain(made_up().to_json()), allow_nan=False))
    assert set(data) >= {"properties", "group", "pattern", "holds"}
    assert set(data["properties"][0]) == {"name", "status", "evidence", "counterexample"}
    assert data["properties"][1]["counterexample"] is None
    assert data["depends"][0] == [True] + [False] * 5


def test_an_unknown_property_is_said():
    with pytest.raises(KeyError, match="there are: pattern, batch"):
        made_up()["padding"]


def test_the_page_is_self_contained_and_escapes_what_came_from_outside():
    page = made_up().to_html()
    assert "<script" not in page
    assert "0.2 &lt;b&gt;" in page
    assert "window=3 &amp; more" in page
    assert re.findall(r'(?:src|href)="(?!#)', page) == []
    assert page.index("<h2>Properties") < page.index("<h2>What depends") < page.index("<h2>Perm")


def test_the_picture_marks_what_is_wrong():
    page = made_up().to_html()
    picture = page[page.index("<h2>What depends") :].partition("</svg>")[0]
    right = int(intent("window=2").sees(TOKENS, TOKENS).sum())
    extra = TOKENS - 2
    assert picture.count('fill="#0072b2"') == right
    assert picture.count('fill="#d55e00"') == extra
    assert "output 3 depends on 1-3; output 4 depends on 2-4" in picture
    assert "moves, and should not" in page
    assert "should move, and does not" not in page


def test_what_misses_a_token_is_marked_too():
    page = made_up(wanted=intent("window=5").sees(TOKENS, TOKENS)).to_html()
    assert "should move, and does not" in page
    assert "moves, and should not" not in page


def test_a_record_without_pictures_has_none():
    bare = made_up(depends=None, wanted=None, blocks=(), group="", pattern="")
    assert "<svg" not in bare.to_html()
    with pytest.raises(InputError, match="what depends on what"):
        bare.plot()


def test_many_tokens_fit_the_page():
    sees = intent("causal").sees(64, 64)
    page = made_up(depends=sees, wanted=None, blocks=(tuple(range(64)),)).to_html()
    width = int(re.search(r'What depends.*?viewBox="0 0 (\d+)', page, re.S)[1])
    assert width < 600


def test_the_notebook_shows_table_and_picture():
    shown = made_up()._repr_html_()
    assert "<table>" in shown
    assert "<svg" in shown
    assert "<script" not in shown


def test_plot_is_a_figure(tmp_path):
    made_up().plot().savefig(tmp_path / "depends.png")
    assert (tmp_path / "depends.png").stat().st_size > 1000


def test_layers_of_which_the_same_was_found_share_a_line():
    right = made_up(properties=made_up().properties[1:], holds=True, pattern="causal")
    parts = [Part("model", i, "eager", right) for i in range(3)]
    parts += [Part("model", 3, "eager", made_up()), Part("model", None, "sdpa", right)]
    assert [tuple(line) for line in lines(parts)] == [
        ("layers 0-2, eager", "causal", "", "numbers"),
        ("layer 3, eager", "window=3", "pattern", "numbers"),
        ("the whole model, sdpa", "causal", "", "numbers"),
    ]
    page = made_up(parts=tuple(parts)).to_html()
    assert "layers 0-2, eager" in page
    assert page.index("<h2>Properties") < page.index("<h2>Layers") < page.index("<h2>What depends")


def test_stretches_of_tokens():
    assert runs([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"
    assert runs([]) == ""


def test_a_script_fails_while_the_layer_is_broken_and_passes_when_it_is_repaired(tmp_path):
    layer = tmp_path / "mine.py"
    broken = "import numpy as np\n\n" + _source("random").replace("_RNG", "np.random.default_rng()")
    layer.write_text(broken)
    found = hw.xray(sample_layers.random, only="determinism")
    text = found.script().replace("tests.probes.sample_layers:random", "mine:random")
    (tmp_path / "repeat.py").write_text(text)

    again = _python("repeat.py", tmp_path)
    assert again.returncode != 0
    assert "AssertionError: the same input, another output" in again.stderr
    layer.write_text(broken.replace(" * np.random.default_rng().choice([0.0, 2.0], v.shape)", ""))
    repaired = _python("repeat.py", tmp_path)
    assert (repaired.returncode, repaired.stdout, repaired.stderr) == (0, "", "")


def test_a_layer_that_no_import_finds_leaves_a_place_in_its_script():
    def nested(q, k, v):
        return sample_layers.random(q, k, v)

    found = hw.xray(nested, only="determinism", shape=(5, 4))
    assert "layer = layer_of(YOUR_LAYER, shape=(5, 4))  #" in found.script()
    assert hw.xray(sample_layers.attention, only="determinism").script() == ""


def _source(name):
    """A sample with what it needs, as text."""
    import inspect

    return "\n\n".join(inspect.getsource(getattr(sample_layers, n)) for n in ("attention", name))


def _python(file, folder):
    """Another process in that folder, without compiled modules: the layer is rewritten at once."""
    line = [sys.executable, "-B", file]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
