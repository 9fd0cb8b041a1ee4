"""How a layer wants masks and positions written, found by running it: which axes, and whether 1
shows or hides.

Probes write every mask as flags, True where a key may be seen. Libraries disagree: for PyTorch's
`scaled_dot_product_attention` True shows a key, for its `MultiheadAttention` True hides it, others
add numbers to the logits. Every key next to an even distance from the last token is hidden; a form
is right when the last output moves with what it should see and not with what it should not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import MASK, PAIRS, POSITIONS, Options, OutOfTime, Refusal

NUMBERS = "numbers"  # 1 where a key may be seen
FLAGS = "flags"  # True where a key may be seen
HIDES = "hides"  # True where it may not
ADDED = "added"  # 0 where a key may be seen, -inf where it may not: added to the logits

SHOWN = "shown"  # the mask hides what it says
OPPOSITE = "opposite"  # and this one what it does not say
NEITHER = "neither"

# Of these the meaning of True is agreed on: the other one is a fault, not a dialect.
_AGREED = ("attention_mask", "key_padding_mask")
_AXES = {MASK: ("bn", "b11n", "b1tn"), PAIRS: ("b1tn", "tn", "btn", "bn")}
_KINDS = {MASK: (NUMBERS, FLAGS), PAIRS: (FLAGS, ADDED, NUMBERS)}
# What is hidden moves the output by rounding alone: this share of what a seen key does, at most.
_STILL = 0.03
_CHANGE = 3.0  # deviations


@dataclass(frozen=True)
class MaskForm:
    """`axes` in order: b texts, t queries, n keys, 1 for an axis of length 1."""

    axes: str
    kind: str

    def written(self, seen: np.ndarray, queries: int) -> np.ndarray:
        """From flags (b, n) or (b, 1, t, n)."""
        if seen.ndim == 2 and self.axes != "bn":
            seen = seen[:, None, None, :]
        if seen.ndim == 4:
            seen = self._placed(seen, queries)
        if self.kind == ADDED:
            return np.where(seen, 0.0, -np.inf)
        if self.kind == NUMBERS:
            return seen.astype(np.int64)
        return ~seen if self.kind == HIDES else seen

    def _placed(self, seen: np.ndarray, queries: int) -> np.ndarray:
        if self.axes == "bn":
            return _alike(seen, 2, "takes no mask of query and key")[:, 0, 0]
        if self.axes == "b11n":
            return _alike(seen, 2, "takes no mask of query and key")[:, :, :1]
        wide = np.broadcast_to(seen, (*seen.shape[:2], queries, seen.shape[3]))
        if self.axes == "tn":
            return _alike(wide, 0, "takes one mask for all texts")[0, 0]
        return wide[:, 0] if self.axes == "btn" else wide

    @property
    def words(self) -> str:
        says = {
            NUMBERS: "1 = may be seen",
            FLAGS: "True = may be seen",
            HIDES: "True = hidden",
            ADDED: "added to the logits",
        }
        return says[self.kind]


def usual(meaning: str, hiding: bool) -> MaskForm:
    """Before anything is known about the layer."""
    if meaning == MASK:
        return MaskForm("bn", HIDES if hiding else NUMBERS)
    return MaskForm("b1tn", FLAGS)


def with_positions(layer: Any) -> Any:
    """The layer, with positions (b, n) or (n,), whichever it takes; with none where it takes
    neither."""
    if POSITIONS not in layer.signature.known:
        return layer
    sizes = replace(layer.sizes, batch=2)
    given = layer.draw(np.random.default_rng(0), sizes)
    options = Options(positions=np.tile(np.arange(sizes.tokens), (2, 1)))
    for one_row in (False, True):
        trial = replace(layer, signature=replace(layer.signature, one_row=one_row))
        try:
            output = trial.run(given, options)
        except OutOfTime:
            raise
        except Refusal:
            continue
        if output.shape[0] == given.batch:
            return trial
    known = {name: word for name, word in layer.signature.known.items() if name != POSITIONS}
    return replace(layer, signature=replace(layer.signature, known=known))


def with_mask_forms(layer: Any) -> Any:
    """The layer, with masks written as it wants them."""
    for meaning in (MASK, PAIRS):
        if meaning in layer.signature.known:
            layer = _with(layer, meaning, _found(layer, meaning))
    return layer


def _with(layer: Any, meaning: str, form: MaskForm) -> Any:
    forms = layer.signature.forms | {meaning: form}
    return replace(layer, signature=replace(layer.signature, forms=forms))


def _found(layer: Any, meaning: str) -> MaskForm:
    """The first form that hides what it says, else the first that is taken at all."""
    keyword = layer.signature.known[meaning]
    default = layer.signature.form(meaning)
    taken = None
    for form in _candidates(meaning, default):
        effect = effect_of(_with(layer, meaning, form), meaning)
        if effect is None:
            continue
        taken = taken or form
        agreed = keyword in _AGREED and form.axes == default.axes
        if effect == SHOWN or (effect == OPPOSITE and agreed):
            return form
        if effect == OPPOSITE and form.kind in (FLAGS, HIDES):
            return replace(form, kind=FLAGS if form.kind == HIDES else HIDES)
    return taken or default


def _candidates(meaning: str, default: MaskForm) -> Iterator[MaskForm]:
    yield default
    kinds = (default.kind,) if default.kind == HIDES else _KINDS[meaning]
    for kind in kinds:
        for axes in _AXES[meaning]:
            form = MaskForm(axes, kind)
            if form != default:
                yield form
    if meaning == MASK:
        yield MaskForm("b1tn", ADDED)


def effect_of(layer: Any, meaning: str, options: Options = Options()) -> str | None:  # noqa: B008
    """What a mask in the form that the layer has now does; None where it is refused, or where
    neither key moves the output."""
    rng = np.random.default_rng(0)
    sizes = replace(layer.sizes, batch=2)
    tokens = max(sizes.tokens, 3)
    given = layer.draw(rng, replace(sizes, tokens=tokens))
    other = layer.draw(rng, replace(sizes, tokens=tokens))
    seen = (tokens - 1 - np.arange(tokens)) % 2 == 0
    flags = np.broadcast_to(seen, (2, tokens))
    pairs = np.broadcast_to(seen, (2, 1, tokens, tokens))
    options = replace(options, **{meaning: flags if meaning == MASK else pairs})
    try:
        here = layer.run(given, options)
        hidden = _moved(layer, options, here, (given, other, tokens - 2))
        shown = _moved(layer, options, here, (given, other, tokens - 3))
    except OutOfTime:
        raise
    except Refusal:
        return None
    largest = max(hidden, shown)
    if not np.isfinite(largest) or largest <= layer.eps * np.abs(here).max():
        return None
    if hidden <= _STILL * shown:
        return SHOWN
    return OPPOSITE if shown <= _STILL * hidden else NEITHER


def _moved(
    layer: Any, options: Options, here: np.ndarray, change: tuple[Inputs, Inputs, int]
) -> float:
    """How far the last output goes with the key and the value of a token."""
    given, other, token = change
    names = ("k", "v") if layer.form == "qkv" else ("x",)
    far = other.each(lambda a: layer.lib.rounded(_CHANGE * a), *names)
    there = layer.run(given.with_token(token, far, *names), options)
    return float(np.abs(there - here)[..., -1, :].max())


def _alike(seen: np.ndarray, axis: int, reason: str) -> np.ndarray:
    if not (seen == np.take(seen, [0], axis=axis)).all():
        raise Refusal(reason)
    return seen
