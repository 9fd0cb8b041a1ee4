"""The question itself, of a whole model: every attention layer in every implementation, then each
stack as a whole, and one table of what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwright.errors import InputError
from headwright.inputs import number
from headwright.probes.examination import Examination
from headwright.probes.examined import record_of, wanted_properties
from headwright.probes.intent import Intent, intent
from headwright.probes.layer.calling import Caller
from headwright.probes.layer.layer import OutOfTime
from headwright.probes.models.by_function import NAMES as FUNCTION_NAMES
from headwright.probes.models.by_function import ByFunction
from headwright.probes.models.explained import Design, explained
from headwright.probes.models.implementations import compared
from headwright.probes.models.merged import merged
from headwright.probes.models.parts import (
    Opened,
    is_place,
    opened_model,
    opened_stacks,
    opening_line,
    part_line,
)
from headwright.probes.models.recording.calls import Place
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    PROPERTIES,
    STATUSES,
    UNCLEAR,
    Asked,
    Finding,
    Part,
    XRay,
)

Step = Callable[[int, int], None]
_PATHS = "paths"
_CACHE = "cache"
_PATTERN = "pattern"
# What can be asked of a model as a whole: the rest is about one layer.
_OF_A_WHOLE = (_PATHS, _PATTERN, "shift", "padding", "batch", _CACHE, "history", "determinism")


@dataclass(frozen=True)
class _Question:
    """What is asked of every part."""

    expect: Intent | None
    names: tuple[str, ...]
    seed: int
    deadline: float
    opening: str  # the Python that opens the model
    functions: ByFunction


@dataclass(frozen=True)
class _Task:
    """One part: a layer, or the whole stack where there is no place; `beside` is the same stack in
    the implementation that it is compared with."""

    opened: Opened
    place: Place | None
    beside: Opened | None

    @property
    def layer(self) -> int | None:
        return None if self.place is None else self.place.index

    def subject(self, opened: Opened, question: _Question) -> Examination:
        place = None if self.place is None else opened.places[self.place.index]
        made: Any = opened.whole() if place is None else opened.layer(place)
        meant = opened.whole_intent() if place is None else opened.intent(place)
        made = replace(made, caller=Caller(question.deadline))
        return Examination(made, question.expect or meant, seed=question.seed)


def xray_model(
    model: Any,
    *,
    layer: int | None = None,
    expect: str | Intent | None = None,
    seed: int = 0,
    timeout: float | None = None,
    dtype: str | None = None,
    only: str | Sequence[str] | None = None,
    step: Step | None = None,
) -> XRay:
    """What is true of the attention of this model? A folder, a GGUF file, an installed package, or
    a transformers model.

    What a layer should do is read from the configuration unless `expect` says it. `layer` picks one
    (of each stack); the whole model is then left out. `step(done, total)` is told after every part.
    """
    seconds = float("inf") if timeout is None else number("timeout", timeout, low=1e-3)
    deadline = time.monotonic() + seconds
    source = str(model) if is_place(model) else ""
    made = opening_line(source, dtype)
    names = wanted_properties(only)
    functions = ByFunction(seed, deadline)
    question = _Question(intent(expect), names, seed, deadline, made, functions)
    found = opened_model(model, dtype)
    stacks, left_out = opened_stacks(found)
    tasks = [task for each in stacks for task in _tasks(each, layer)]
    if not tasks:
        raise _nothing(found, stacks, layer, left_out)
    parts = []
    for done, task in enumerate(tasks):
        parts.append(_part(task, question))
        if step is not None:
            step(done + 1, len(tasks))

    meant = "" if question.expect is None else str(question.expect)
    asked = Asked(source, meant, seed=seed, made=made)
    return merged(source or type(found).__name__, parts, [*left_out, *_notes(stacks, layer)], asked)


def _tasks(stack: list[Opened], layer: int | None) -> Iterator[_Task]:
    """The stack as a whole, before other calls have left anything behind; then all layers in the
    first implementation, then in the next."""
    beside = [None, *[stack[0] for _ in stack[1:]]]
    if layer is None and stack[0].stack.reads_texts:
        for opened, other in zip(stack, beside, strict=True):
            yield _Task(opened, None, other)
    for opened, other in zip(stack, beside, strict=True):
        for place in opened.places:
            if not place.skipped and layer in (None, place.index):
                yield _Task(opened, place, other)


def _part(task: _Task, question: _Question) -> Part:
    opened = task.opened
    exam = task.subject(opened, question)
    names = [name for name in question.names if name in _names(task)]
    made = part_line(opened.stack.name, task.layer, opened.implementation)
    asked = Asked(seed=question.seed, made=f"{question.opening}\n{made}")
    by_function = _by_function(task, exam.expect, names, question)
    of_the_layer = [name for name in names if name not in [each.name for each in by_function]]
    record = _with(record_of(exam, of_the_layer, asked), by_function)
    if task.beside is not None and _PATHS in names:
        other = task.subject(task.beside, question)
        line = part_line(opened.stack.name, task.layer, task.beside.implementation, "other")
        record = _with_paths(record, _compared(exam, other, line))
    design = Design.of(opened.stack.model)
    whole = task.place is None
    told = task.place is not None and opened.tells_positions(task.place)
    findings = tuple(
        explained(each, design, whole=whole, told_positions=told) for each in record.properties
    )
    holds = not any(each.status == BROKEN for each in findings)
    return Part(
        opened.stack.name,
        task.layer,
        opened.implementation,
        replace(record, properties=findings, holds=holds),
    )


def _by_function(
    task: _Task, expect: Intent | None, names: Sequence[str], question: _Question
) -> tuple[Finding, ...]:
    wanted = [name for name in FUNCTION_NAMES if name in names]
    if task.place is None or not wanted:
        return ()
    return question.functions.findings(task.opened, task.place, expect, wanted)


def _with(record: XRay, more: Sequence[Finding]) -> XRay:
    """Findings in the order of the table."""
    found = sorted((*record.properties, *more), key=lambda each: PROPERTIES.index(each.name))
    return replace(record, properties=tuple(found))


def _names(task: _Task) -> tuple[str, ...]:
    if task.place is None:
        # What the other implementation depends on, the comparison with it tells.
        compared_with = task.beside is not None
        return tuple(name for name in _OF_A_WHOLE if not (compared_with and name == _PATTERN))
    # A layer alone has no cache of its own: the model hands it on.
    return tuple(name for name in PROPERTIES if name != _CACHE)


def _compared(exam: Examination, other: Examination, line: str) -> Finding:
    try:
        return compared(exam, other, line)
    except OutOfTime:
        return Finding(_PATHS, UNCLEAR, "the time limit was reached before this was tried")


def _with_paths(record: XRay, found: Finding) -> XRay:
    """The layer against itself, and against the other implementation: the worse of the two is
    told, or both where both hold."""
    own = next((each for each in record.properties if each.name == _PATHS), None)
    if own is None:
        return replace(record, properties=(found, *record.properties))
    worse = min((own, found), key=lambda each: STATUSES.index(each.status))
    if own.status == found.status == HOLDS:
        worse = replace(own, evidence=f"{found.evidence}; {own.evidence}")
    others = tuple(each for each in record.properties if each.name != _PATHS)
    return replace(record, properties=(worse, *others))


def _notes(stacks: list[list[Opened]], layer: int | None) -> list[str]:
    """What was not probed, and why."""
    notes = []
    for stack in stacks:
        first = stack[0]
        model = type(first.stack.model).__name__
        if len(stack) == 1:
            notes.append(f"{model} has attention in {first.implementation} only.")
        if not first.stack.reads_texts and layer is None:
            reads = first.stack.model.main_input_name
            notes.append(f"{model} reads {reads}, no text: only its layers were probed.")
        notes += [f"{place.name} was left out: {place.skipped}." for place in first.left_out]
        if first.stack.name == "decoder":
            notes.append("Cross attention was left out: it reads the states of the encoder.")
        window = first.shortened_window
        if window:
            notes.append(f"Windows of {window[0]} keys were shortened to {window[1]}.")
    return notes


def _nothing(
    model: Any, stacks: list[list[Opened]], layer: int | None, left_out: list[str]
) -> InputError:
    name = type(model).__name__
    counts = [len(stack[0].places) for stack in stacks]
    if layer is not None and any(counts):
        last = max(counts) - 1
        return InputError(
            wanted=f"a layer of {name}, 0 to {last}", got=str(layer), attempt=f"--layer {last}"
        )
    return InputError(
        wanted="a model with attention layers on hidden states",
        got=left_out[0].rstrip(".") if left_out else f"none in {name}",
        attempt="headwright xray module:name with the layer itself",
    )
