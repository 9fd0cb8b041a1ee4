"""A padded text gets the answer it gets alone, whatever stands in the padding: on the right, on the
left, and in a batch of unequal lengths. What happens in the padding itself is reported, not
judged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headwright.probes.agreement.asking.compared import Compared, compared, judged
from headwright.probes.agreement.asking.padded import LEFT, RIGHT, Padded, PaddedTexts, masked
from headwright.probes.examination import Examination
from headwright.probes.layer.layer import MASK, PAIRS, POSITIONS, Refusal
from headwright.probes.record import BROKEN, HOLDS, NOT_APPLICABLE, UNCLEAR, Finding
from headwright.probes.rounding import Rounding, apart

NAME = "padding"
_STREAM = 500
_TEXTS = 3
_PADS = 2
_LEAKS = "what stands in the padding reaches the text"
_PLACES = "its answers depend on positions, and it takes none"


def probe(exam: Examination) -> Finding:
    takes = exam.layer.takes
    if MASK not in takes and PAIRS not in takes:
        return Finding(NAME, NOT_APPLICABLE, "it takes no mask")
    texts = PaddedTexts.drawn(exam, _STREAM, _TEXTS)
    bound = _rounding(texts)
    found = []
    for side in (RIGHT, LEFT):
        one_text = _one_text(texts, side, bound)
        if any(one.status == BROKEN for one in one_text):
            reason = _reason(texts, side, bound)
            one_text = [replace(one, why=reason or one.why) for one in one_text]
        found += one_text
    for side in (RIGHT, LEFT):
        found += _unequal_texts(texts, side, bound)
    if not found:
        return Finding(NAME, UNCLEAR, "the layer refused every padded text")
    held = f"right, left and unequal padding leave the text as it is alone{_in_padding(texts)}"
    return judged(NAME, found, held)


def _rounding(texts: PaddedTexts) -> Rounding:
    """What rounding explains for a text without padding, with a mask and without one: a mask that
    is read the other way round leaves no numbers."""
    n = texts.tokens
    text = texts.texts.text(0)
    told = texts.exam.rounding(text, masked(texts.exam.layer, Padded((n,), n)))
    return Rounding(max(told.bound, texts.exam.rounding(text).bound))


def _one_text(texts: PaddedTexts, side: str, bound: Rounding) -> list[Compared]:
    """One filling of the padding against another, and padded against alone."""
    shape = _usual(texts, side)
    rows = shape.rows(0)
    first = texts.answer(shape, 0)
    second = texts.answer(shape, 1)
    if first is None or second is None:
        return []
    cut = f"[..., {rows.start}:{rows.stop}, :]"
    first = first[..., rows, :]
    calls = texts.call("one", shape, 0, (0,)) + texts.call("other", shape, 1, (0,))
    script = f"{texts.head(0, 1)}{calls}one = one{cut}\nother = other{cut}\n"
    words = f"two fillings of the padding on the {side}"
    leak = compared(words, first, second[..., rows, :], bound, script)
    leak = leak if leak.status == HOLDS else replace(leak, why=_LEAKS)

    alone = texts.alone(shape)
    if alone is None:
        return [leak]
    calls = texts.alone_call("one", shape) + texts.call("other", shape, 0, (0,))
    script = f"{texts.head(0)}{calls}other = other{cut}\n"
    own = compared(f"a text alone, and padded on the {side}", alone, first, bound, script)
    return [leak, _excused(texts, own, leak, side)]


def _unequal_texts(texts: PaddedTexts, side: str, bound: Rounding) -> list[Compared]:
    """Every text of a batch against itself padded alike, alone in its batch."""
    n = texts.tokens
    together = Padded((n, n - _PADS, max(n // 2, 1)), n, side)
    everyone = tuple(range(_TEXTS))
    answer = texts.answer(together, 0, everyone)
    if answer is None:
        return []
    found = []
    for place, length in enumerate(together.lengths):
        single = Padded((length,), n, side)
        own = texts.answer(single, 0, (place,))
        if own is None:
            continue
        rows = single.rows(0)
        cut = f"..., {rows.start}:{rows.stop}, :]"
        calls = texts.call("one", single, 0, (place,)) + texts.call("other", together, 0, everyone)
        script = f"{texts.head(0)}{calls}one = one[0, {cut}\nother = other[{place}, {cut}\n"
        words = f"a padded text alone, and in a batch of unequal lengths, padded on the {side}"
        there = answer[place][..., rows, :]
        found.append(compared(words, own[0][..., rows, :], there, bound, script))
    return found


def _usual(texts: PaddedTexts, side: str) -> Padded:
    return Padded((texts.tokens - _PADS,), texts.tokens, side)


def _reason(texts: PaddedTexts, side: str, bound: Rounding) -> str:
    """What the break looks like: the mask without effect, or the other way round."""
    layer = texts.exam.layer
    shape = _usual(texts, side)
    rows = shape.rows(0)
    # Loud padding would outweigh a mask that hides too little; here the padding is no louder.
    quiet = texts.texts.text(0)
    options = masked(layer, shape)
    try:
        here = layer.run(quiet, options)
        bare = layer.run(quiet, replace(options, mask=None, pairs=None))
        turned = layer.run(texts.given(shape, 0, (0,)), masked(layer, shape, ~shape.real))
    except Refusal:
        return ""
    if apart(here, bare) <= bound.bound:
        return "the mask has no effect"
    # A mask that is read the other way round hides all of a text without padding: its own answer
    # is the plain one.
    plain = layer.run(quiet.cut(rows.start, rows.stop))
    wanted = [one for one in (texts.alone(shape), plain) if one is not None]
    gaps = [apart(turned[..., rows, :], one) for one in wanted]
    return "the mask seems inverted" if min(gaps) <= bound.bound else ""


def _in_padding(texts: PaddedTexts) -> str:
    answer = texts.answer(_usual(texts, RIGHT))
    if answer is None:
        return ""
    rows = answer[..., texts.tokens - _PADS :, :]
    if np.isnan(rows).any():
        return " (outputs in the padding are NaN)"
    return " (outputs in the padding are 0)" if not rows.any() else ""


def _excused(texts: PaddedTexts, own: Compared, leak: Compared, side: str) -> Compared:
    """On the left, a layer that counts tokens from the first on may answer otherwise."""
    is_number = math.isfinite(own.difference)
    stands = own.status == HOLDS or side == RIGHT or leak.status != HOLDS or not is_number
    if stands or POSITIONS in texts.exam.layer.takes or _ignores_order(texts):
        return own
    return replace(own, status=UNCLEAR, why=_PLACES)


def _ignores_order(texts: PaddedTexts) -> bool:
    """Two tokens that change places change their outputs' places, and nothing else."""
    given = texts.texts.text(0)
    order = np.arange(texts.tokens)
    order[1:3] = order[[2, 1]]
    here = texts.exam.layer.run(given)[..., order, :]
    there = texts.exam.layer.run(given.ordered(order))
    return apart(here, there) <= texts.exam.rounding(given).bound
