"""The layer agrees with itself: no mask or a mask that hides nothing, its own switch or an explicit
mask, training or evaluation, weights returned or not, views or copies. None of this needs to know
what the layer is meant to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.probes.agreement.asking.causal import changed
from headwright.probes.agreement.asking.compared import judged
from headwright.probes.agreement.asking.questions import Questions
from headwright.probes.agreement.explicit_masks import ask_about_masks, bases
from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import TRAINING, WEIGHTS, Options, Refusal
from headwright.probes.layer.signature import SWITCH_OF_CACHE, keywords_of
from headwright.probes.record import NOT_APPLICABLE, Finding
from headwright.probes.rounding import apart

NAME = "paths"
_STREAM = 10
_PLAIN = Options()
_UNBATCHED = Options(unbatched=True)
# Two runs of a layer in training mode that differ tell of a dropout that could not be put to 0.
_AGAIN = 2


def probe(exam: Examination) -> Finding:
    sizes = replace(exam.layer.sizes, batch=2)
    asked = Questions(exam, exam.draw(_STREAM, sizes), exam.draw_line(_STREAM, sizes))
    exam.layer.run(asked.given)  # a plain call that is refused is no path
    remarks = ask_about_masks(asked)
    ways = _ways(exam)
    for said, base, start in bases(asked):
        for words, change in ways.items():
            asked.agree(f"{words}{said}", base, replace(base, **change), start)
    one_text = Questions(exam, asked.given.text(0), f"{asked.draw}.text(0)")
    if _same_question(exam, one_text):
        one_text.agree("without the batch axis", _PLAIN, _UNBATCHED)
    found = [*asked.found, *one_text.found]
    if not found:
        return Finding(NAME, NOT_APPLICABLE, "there is one way to call it")
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    return judged(NAME, found, f"{len(found)} pairs of ways to ask agree{remark}")


def _ways(exam: Examination) -> dict[str, dict[str, object]]:
    """What should change nothing, by the words for it."""
    layer = exam.layer
    ways: dict[str, dict[str, object]] = {}
    if layer.library != "jax":
        ways["strided views instead of copies"] = {"strided": True}
    if layer.library == "torch":
        ways["with gradients recorded"] = {"gradient": True}
    if TRAINING in layer.takes and _is_steady(exam):
        ways["in training mode with dropout 0"] = {"training": True}
    keywords = keywords_of(layer)
    switches = {SWITCH_OF_CACHE: "use_cache"} if SWITCH_OF_CACHE in keywords.names else {}
    if WEIGHTS in layer.takes:
        switches[keywords.known[WEIGHTS]] = "weights"
    for keyword, field in switches.items():
        for value in (True, False):
            ways[f"{keyword}={value}"] = {field: value}
    return ways


def _is_steady(exam: Examination) -> bool:
    given = exam.draw(_STREAM)
    try:
        runs = [exam.layer.run(given, Options(training=True)) for _ in range(_AGAIN)]
    except Refusal:
        return False
    return apart(*runs) <= exam.rounding(given).bound


def _same_question(exam: Examination, asked: Questions) -> bool:
    """Whether the call without the batch axis mixes the tokens and the heads that the usual call
    does: a function may take the axes that are left for others, and then it was asked something
    else."""
    usual = asked.answer(_PLAIN)
    bare = asked.answer(_UNBATCHED)
    if usual is None or bare is None or usual.shape != bare.shape:
        return False
    far = changed(exam, asked.given, exam.draw(_STREAM + 1), 0)
    try:
        for other in (far, _in_one_head(asked.given, far)):
            usual_moves = _rows(exam.layer.run(other) - usual)
            bare_moves = _rows(exam.layer.run(other, _UNBATCHED) - bare)
            if not np.array_equal(usual_moves, bare_moves):
                return False
    except Refusal:
        return False
    return True


def _in_one_head(given: Inputs, other: Inputs) -> Inputs:
    """The change in the first head alone; a layer on hidden states has no axis of heads."""

    def mixed(name: str) -> np.ndarray:
        array = given[name].copy()
        array[:, :1] = other[name][:, :1]
        return array

    return given.replaced(**{name: mixed(name) for name in given.arrays})


def _rows(difference: np.ndarray) -> np.ndarray:
    """Which outputs moved, of every head."""
    return np.any(np.abs(difference) > 0, axis=-1)
