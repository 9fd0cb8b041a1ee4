"""The same mask said in different ways: not at all, with everything shown, by a switch, by flags or
by numbers, by tokens or by pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.probes.agreement.asking.causal import sees
from headwright.probes.agreement.asking.questions import Questions
from headwright.probes.layer.layer import CAUSAL, MASK, PAIRS, Options
from headwright.probes.layer.masks import FLAGS, HIDES, SHOWN, MaskForm, effect_of
from headwright.probes.layer.signature import keywords_of
from headwright.probes.record import HOLDS

_PLAIN = Options()
_HIDDEN = 2  # tokens at the beginning, which causal layers see too


def ask_about_masks(asked: Questions) -> list[str]:
    """Puts the comparisons into `asked`; returns remarks on how masks are read."""
    layer = asked.exam.layer
    remarks = []
    if MASK in layer.takes:
        _of_tokens(asked)
    if PAIRS in layer.takes:
        remarks += _of_pairs(asked)
    if CAUSAL in layer.takes:
        _switch(asked)
    if {MASK, PAIRS} <= layer.takes:
        hidden = seen_alike(asked, _start_hidden(asked)[:1])
        columns = Options(pairs=hidden)
        own = Options(pairs=hidden & _own(asked))
        masked = Options(mask=_start_hidden(asked))
        either(asked, "tokens hidden by a mask of pairs", masked, (columns, own), _HIDDEN)
    return remarks


def bases(asked: Questions) -> list[tuple[str, Options, int]]:
    """Questions under which every other switch must change nothing: with what is said of them, and
    the first output that counts."""
    takes = asked.exam.layer.takes
    n = asked.given.tokens
    made: list[tuple[str, Options, int]] = [("", _PLAIN, 0)]
    if CAUSAL in takes and not _is_hint(asked):
        made.append((" with the causal switch on", Options(causal=True), 0))
    if MASK in takes and n > _HIDDEN:
        made.append((" with padding", Options(mask=_start_hidden(asked)), _HIDDEN))
    if PAIRS in takes:
        made.append((" with a mask of pairs", Options(pairs=_every_other(n)), 0))
    if PAIRS in takes and CAUSAL in takes:
        lower = Options(pairs=_lower(n), causal=True)
        made.append((" with the causal switch and a mask", lower, 0))
    return made


def either(
    asked: Questions, words: str, one: Options, others: tuple[Options, ...], start: int = 0
) -> int | None:
    """One of the others must be the same: an explicit mask may come on top of the layer's own, or
    stand in its place. Which one it was, where it is told."""
    found = [asked.difference(words, one, other, start) for other in others]
    taken = [(place, made) for place, made in enumerate(found) if made is not None]
    if not taken:
        return None
    place, best = min(taken, key=lambda pair: pair[1].difference)
    asked.found.append(best)
    return place if best.status == HOLDS else None


def seen_alike(asked: Questions, tokens: np.ndarray) -> np.ndarray:
    """A mask of pairs that hides tokens from all queries."""
    n = asked.given.tokens
    return np.broadcast_to(tokens[:, None, None, :], (len(tokens), 1, n, n)).copy()


def _of_tokens(asked: Questions) -> None:
    keyword = keywords_of(asked.exam.layer).known[MASK]
    ones = Options(mask=np.ones((asked.given.batch, asked.given.tokens), bool))
    asked.agree(f"{keyword} that hides nothing, and none", _PLAIN, ones)


def _of_pairs(asked: Questions) -> list[str]:
    layer = asked.exam.layer
    keyword = keywords_of(layer).known[PAIRS]
    n = asked.given.tokens
    shown = Options(pairs=np.ones((1, 1, n, n), bool))
    words = f"{keyword} that hides nothing, and none"
    first = asked.difference(words, _PLAIN, shown)
    if first is not None and first.status == HOLDS:
        asked.found.append(first)
    else:
        either(asked, words, _PLAIN, (shown, Options(pairs=_own(asked))))
    form = keywords_of(layer).form(PAIRS)
    remarks = [] if form.axes == "bn" else [f"{keyword}: {form.words}"]
    return remarks + _as_numbers(asked, form)


def _as_numbers(asked: Questions, form: MaskForm) -> list[str]:
    """Flags against numbers to add, where both hide what they say."""
    layer = asked.exam.layer
    keyword = keywords_of(layer).known[PAIRS]
    is_flags = form.kind in (FLAGS, HIDES)
    if not is_flags or effect_of(layer, PAIRS, Options(additive=True)) != SHOWN:
        return []
    for words, flags in _said_of_masks(asked.given.tokens):
        one = Options(pairs=flags)
        asked.agree(f"{keyword} as flags and as numbers, {words}", one, replace(one, additive=True))
    return []


def _said_of_masks(n: int) -> list[tuple[str, np.ndarray]]:
    return [
        ("nothing hidden", np.ones((1, 1, n, n), bool)),
        ("every other key hidden", _every_other(n)),
        ("later keys hidden", _lower(n)),
    ]


def _switch(asked: Questions) -> None:
    """The causal switch: what the plain call has, and what it means beside a mask."""
    takes = asked.exam.layer.takes
    keyword = keywords_of(asked.exam.layer).known[CAUSAL]
    on = Options(causal=True)
    either(asked, f"{keyword} given, and none", _PLAIN, (Options(causal=False), on))
    n = asked.given.tokens
    if PAIRS not in takes:
        return
    lower = Options(pairs=_lower(n))
    asked.agree(f"{keyword} on top of the mask that says it", lower, replace(lower, causal=True))
    if _is_hint(asked):
        return
    asked.agree(f"{keyword} and the mask that hides later keys", on, lower)
    hidden = seen_alike(asked, _start_hidden(asked)[:1])
    both = Options(pairs=hidden & _lower(n))
    words = f"{keyword} together with a mask, and one mask for both"
    asked.agree(words, both, Options(pairs=hidden, causal=True), _HIDDEN)
    if MASK in takes:
        asked.agree(words, both, Options(mask=_start_hidden(asked), causal=True), _HIDDEN)


def _is_hint(asked: Questions) -> bool:
    """The switch says something about a mask that must be there too, as in PyTorch's
    MultiheadAttention: alone it is refused, be it only where gradients are recorded."""
    on = Options(causal=True)
    n = asked.given.tokens
    alone = [asked.answer(on), asked.answer(replace(on, gradient=True))]
    refused = any(answer is None for answer in alone)
    has_pairs = PAIRS in asked.exam.layer.takes
    return refused and has_pairs and asked.answer(replace(on, pairs=_lower(n))) is not None


def _own(asked: Questions) -> np.ndarray:
    return asked.exam.once("keys that the plain call sees", lambda: sees(asked.exam))


def _start_hidden(asked: Questions) -> np.ndarray:
    """(b, n): the first tokens are padding."""
    mask = np.ones((asked.given.batch, asked.given.tokens), bool)
    mask[:, :_HIDDEN] = False
    return mask


def _lower(n: int) -> np.ndarray:
    return np.tril(np.ones((1, 1, n, n), bool))


def _every_other(n: int) -> np.ndarray:
    """Each query sees itself and every other key before and after it."""
    place = np.arange(n)
    return ((place[:, None] - place[None, :]) % 2 == 0)[None, None]
