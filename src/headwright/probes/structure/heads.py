"""Which query head reads which key head, and does every head do the same?

One head of the queries, keys or values is changed, and the output heads that move are those that
read it. 6 query heads on 2 and on 3 key heads tell `h // (H / G)` from `h % G` and from `h // G`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import Refusal, Sizes
from headwright.probes.record import (
    BROKEN,
    HOLDS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
)
from headwright.probes.rounding import Rounding, apart
from headwright.probes.structure.visible.found import found

NAME = "heads"
_STREAM = 900
_GROUPED = ((6, 2), (6, 3))
_EQUAL = 3
_LOUD = 16.0
_WORDS = {"q": "queries", "k": "keys", "v": "values"}


@dataclass(frozen=True)
class Reading:
    """`moved[h, g]`: output head h moves when head g of array `name` changes; NaN-free."""

    sizes: Sizes
    name: str
    moved: np.ndarray
    bound: float

    @property
    def expected(self) -> np.ndarray:
        heads, groups = self.moved.shape
        return np.arange(heads)[:, None] // (heads // groups) == np.arange(groups)

    @property
    def wrong(self) -> tuple[int, int] | None:
        """The first output head and key head that do not belong together, or should."""
        places = np.argwhere(self.moved != self.expected)
        return None if not len(places) else (int(places[0, 0]), int(places[0, 1]))

    def reads(self, head: int) -> str:
        seen = [str(g) for g in np.flatnonzero(self.moved[head])]
        return " and ".join(seen) if seen else "none"


def probe(exam: Examination) -> Finding:
    if exam.layer.form != "qkv":
        why = "heads of a layer on hidden states cannot be told apart from outside"
        return Finding(NAME, NOT_APPLICABLE, why)
    said = []
    for sizes in _sizes(exam):
        try:
            readings = [reading(exam, sizes, name) for name in ("v", "k", "q")]
        except Refusal:
            said.append(_refused(sizes))
            continue
        if not any(one.moved.any() for one in readings):
            why = "no output moves with any head: are its weights zero, or too small to see?"
            return Finding(NAME, UNCLEAR, why)
        for one in readings:
            if one.wrong is not None:
                return _misread(exam, one)
        said.append(_shown(sizes))
    if not any(words.startswith("each") for words in said):
        return Finding(NAME, UNCLEAR, "; ".join(said))
    differing = _values_of_another_size(exam)
    if differing is not None and differing.counterexample is not None:
        return differing
    said += [differing.evidence] if differing is not None else []
    return Finding(NAME, HOLDS, "; ".join([*said, _exchanged(exam)]))


def _sizes(exam: Examination) -> Iterator[Sizes]:
    plain = replace(found(exam).smallest.sizes, batch=1)
    many = exam.layer.sizes.heads
    yield replace(plain, heads=_EQUAL if many < _EQUAL else many)
    for heads, groups in _GROUPED:
        yield replace(plain, heads=heads, key_heads=groups)


def _shown(sizes: Sizes) -> str:
    if sizes.key_heads is None:
        return f"each of {sizes.heads} heads reads its own queries, keys and values"
    return f"each of {sizes.heads} query heads reads its own of {sizes.key_heads} key heads"


def _refused(sizes: Sizes) -> str:
    if sizes.key_heads is None:
        return f"{sizes.heads} heads were refused"
    return f"{sizes.heads} query heads on {sizes.key_heads} key heads were refused"


def reading(exam: Examination, sizes: Sizes, name: str) -> Reading:
    """Change one head after the other of one array."""
    x = exam.draw(_STREAM, sizes)
    other = exam.draw(_STREAM + 1, sizes)
    before = exam.layer.run(x)
    bound = exam.rounding(x)
    columns = []
    for head in range(x[name].shape[1]):
        changed = x[name].copy()
        changed[:, head] = _LOUD * other[name][:, head]
        after = exam.layer.run(x.replaced(**{name: changed}))
        if after.shape != before.shape:
            raise Refusal(f"returned {after.shape} where it returned {before.shape} before")
        columns.append([_moves(after[:, h], before[:, h], bound) for h in range(sizes.heads)])
    return Reading(sizes, name, np.array(columns).T, bound.bound)


def _moves(after: np.ndarray, before: np.ndarray, bound: Rounding) -> bool:
    return bound.verdict(apart(after, before)) == BROKEN


def _misread(exam: Examination, one: Reading) -> Finding:
    assert one.wrong is not None
    head, group = one.wrong
    heads, groups = one.moved.shape
    wanted = int(np.flatnonzero(one.expected[head])[0])
    what = _WORDS[one.name]
    words = (
        f"with {heads} query heads on {groups} key heads, output head {head} reads the {what} of "
        f"head {one.reads(head)}, not of {wanted}"
    )
    script = (
        f"x = {exam.draw_line(_STREAM, one.sizes)}\n"
        f"other = {exam.draw_line(_STREAM + 1, one.sizes)}\n"
        f'changed = x["{one.name}"].copy()\n'
        f'changed[:, {group}] = {_LOUD} * other["{one.name}"][:, {group}]\n'
        f"difference = np.abs(layer.run(x.replaced({one.name}=changed)) - layer.run(x))\n"
        f"moved = difference.max(axis=(0, 2, 3)) > {one.bound:.3g}\n"
        f"assert moved.tolist() == {one.expected[:, group].tolist()}, moved\n"
    )
    table = ", ".join(one.reads(h) for h in range(heads))
    shown = Counterexample(words, script, 1.0, one.bound)
    return Finding(NAME, BROKEN, f"{words} (heads 0-{heads - 1} read {table})", shown)


def _values_of_another_size(exam: Examination) -> Finding | None:
    """More channels of values change nothing for those that were there. None where refused, without
    a counterexample where it holds."""
    sizes = replace(found(exam).smallest.sizes, batch=1)
    wide = replace(sizes, value_width=sizes.width + 3)
    try:
        x = exam.draw(_STREAM + 2, wide)
        all_channels = exam.layer.run(x)
        narrow = x.each(lambda a: a[..., : sizes.width], "v")
        some = exam.layer.run(narrow)
    except Refusal:
        return None
    if all_channels.shape[-1] != sizes.width + 3:
        return None
    bound = exam.rounding(narrow)
    difference = apart(all_channels[..., : sizes.width], some)
    if bound.verdict(difference) != BROKEN:
        return Finding(NAME, HOLDS, f"values of size {sizes.width + 3} on keys of {sizes.width}")
    words = (
        f"with values of size {sizes.width + 3} on keys of size {sizes.width} the first channels "
        f"change by {difference:.2g}"
    )
    script = (
        f"x = {exam.draw_line(_STREAM + 2, wide)}\n"
        f'narrow = x.each(lambda a: a[..., :{sizes.width}], "v")\n'
        f"difference = np.abs(layer.run(x)[..., :{sizes.width}] - layer.run(narrow)).max()\n"
        f'assert difference <= {bound.bound:.3g}, f"more channels: {{difference:.2g}}"\n'
    )
    hint = "is the scale taken from the values?"
    shown = Counterexample(words, script, difference, bound.bound)
    return Finding(NAME, BROKEN, f"{words}: {hint}", shown)


def _exchanged(exam: Examination) -> str:
    """Heads in another order give outputs in that order, unless each has a bias of its own."""
    sizes = replace(found(exam).smallest.sizes, batch=1)
    x = exam.draw(_STREAM + 3, sizes)
    turned = x.each(lambda a: a[:, ::-1])
    difference = apart(exam.layer.run(turned)[:, ::-1], exam.layer.run(x))
    if exam.rounding(x).verdict(difference) == BROKEN:
        return f"heads differ, by {difference:.2g}: a bias per head?"
    return "heads in another order give outputs in that order"
