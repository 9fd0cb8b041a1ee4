"""The gallery: every broken layer is caught under its name with a counterexample that reproduces,
and no right one is called broken."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from tests.probes.gallery.table import BROKEN, RIGHT, UNDECIDED

import headwright as hw
from headwright.probes.layer.given import layer_of
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Options, Sizes

torch = pytest.importorskip("torch", reason="needs torch")

# Not caught yet, or caught with a script that does not reproduce. A name leaves the list when
# that is repaired.
MISSED: set[str] = set()
# Right layers of every kind, examined in full.
EXAMINED = (
    "libraries.torch_layers:sdpa",
    "libraries.torch_layers:sdpa_plain in float16",
    "libraries.torch_layers:multihead",
    "libraries.families:llama_sdpa in bfloat16",
    "libraries.numpy_functions:numpy_causal_right",
    "masks:DocumentsRight",
    "positions:RotaryRight",
    "positions:alibi_right",
    "weights:soft_cap",
    "gradients:causal_backward_right",
)
# JAX compiles for every size: these are left to those who set HEADWRIGHT_WHOLE_GALLERY.
_SLOW = {
    "libraries.jax_functions:jax_same_key",
    "libraries.jax_functions:jax_softmax_in_half",
    "libraries.jax_functions:jax_top_left",
}
_DOCS = Path(__file__).resolve().parents[2] / "docs" / "gallery"


def _each(entries):
    if not os.environ.get("HEADWRIGHT_WHOLE_GALLERY"):
        entries = {name: entry for name, entry in entries.items() if name not in _SLOW}
    return pytest.mark.parametrize("entry", entries.values(), ids=entries.keys())


@pytest.fixture(scope="module")
def gallery():
    """What writes the page of the documentation."""
    spec = importlib.util.spec_from_file_location("attention_bugs", _DOCS / "attention_bugs.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("layer", "dtype", "seed", "name"),
    [
        ("t5_eager", "float16", 33, "permutation"),  # distances that move one pair, not another
        ("t5_eager", "bfloat16", 77, "pattern"),  # a row that one key has to itself
        ("gpt_neox_eager", "float16", 23, "gradients"),  # a softmax in single precision
    ],
)
def test_seeds_that_were_false_alarms(layer, dtype, seed, name):
    entry = RIGHT[f"libraries.families:{layer}"]
    made = entry.made().to(getattr(torch, dtype))
    finding = hw.xray(made, **entry.words, seed=seed, only=(name,))[name]
    assert finding.status in ("holds", "not applicable"), finding.evidence


def _caught(entry):
    """What is broken under an accepted name, the best of them; None where nothing is."""
    for name in entry.properties:
        finding = hw.xray(entry.made(), **entry.words, only=(name,))[name]
        if finding.status == "broken":
            return finding
    return None


def _fails(entry, script):
    """Whether the script's assertion fails, on a layer that nobody has run yet."""
    settings = {name: value for name, value in entry.words.items() if name != "expect"}
    names = {
        "layer": layer_of(entry.made(), **settings),
        "np": np,
        "Inputs": Inputs,
        "Options": Options,
        "Sizes": Sizes,
    }
    try:
        exec(compile(script, entry.name, "exec"), names)
    except AssertionError:
        return True
    return False


@_each(BROKEN)
def test_a_broken_layer_is_caught_and_its_script_fails(entry, gallery):
    finding = _caught(entry)
    if entry.name in MISSED:
        shown = None if finding is None else finding.counterexample
        assert shown is None or not _fails(entry, shown.script), f"caught: {entry.name}"
        return
    assert finding is not None, entry.what
    assert finding.counterexample is not None
    assert _fails(entry, finding.counterexample.script), finding.counterexample.script
    shown = gallery.without_numbers(gallery.line_of(finding))
    assert shown in gallery.without_numbers(gallery.PAGE.read_text(encoding="utf-8")), (
        "write the page anew: python docs/gallery/attention_bugs.py"
    )


@_each(RIGHT)
def test_what_must_hold_of_a_right_layer_does(entry):
    """The first of its properties: all of them, over many seeds, are a benchmark."""
    for name in entry.properties[:1]:
        finding = hw.xray(entry.made(), **entry.words, only=(name,))[name]

        assert finding.status == "holds", finding.evidence


@pytest.mark.parametrize("name", EXAMINED)
def test_nothing_is_broken_in_a_right_layer(name):
    entry = RIGHT[name]
    record = hw.xray(entry.made(), **entry.words)

    assert not [f"{finding.name}: {finding.evidence}" for finding in record.broken]
    assert not _failed_probes(record)
    for wanted in entry.properties:
        assert record[wanted].status == "holds", record[wanted].evidence


@_each(UNDECIDED)
def test_without_the_authors_word_nothing_is_called_broken(entry):
    record = hw.xray(entry.made(), **entry.words)

    assert not record.broken
    assert not _failed_probes(record)


def _failed_probes(record):
    """A probe that raises is a fault of ours, which the table says without stopping."""
    return [one.evidence for one in record.properties if "a fault of headwright" in one.evidence]


def test_every_broken_layer_says_what_it_does():
    for entry in BROKEN.values():
        assert entry.what, entry.name
    assert len(BROKEN) >= 45
    assert sum(bool(entry.seen) for entry in BROKEN.values()) >= 30


def test_the_list_of_what_is_missed_names_layers_of_the_gallery():
    assert set(BROKEN) >= MISSED


def test_the_page_shows_every_layer(gallery):
    """Its words are those of the layers today; the lines of the table are held layer by layer."""
    written = gallery.PAGE.read_text(encoding="utf-8")
    wanted = gallery.page(lambda entry: "")

    assert gallery.without_lines(written) == gallery.without_lines(wanted)
