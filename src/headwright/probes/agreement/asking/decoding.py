"""A text in pieces, each with the cache that the pieces before it left.

A cache is had as the layer gives it: returned beside the output, or an object that the layer fills
(a transformers DynamicCache, a dict, a list, an object with `update`). Which one is found by
trying.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwright.probes.agreement.asking.growing import Growing
from headwright.probes.layer.inputs import TOKENS, Inputs
from headwright.probes.layer.layer import CACHE, POSITIONS, Options, OutOfTime, Refusal
from headwright.probes.layer.library import is_array
from headwright.probes.layer.signature import SWITCH_OF_CACHE, keywords_of

_PLAIN = Options()
_FEWEST = 4  # tokens
# Names under which a record or a dict keeps what it returns.
_ATTRIBUTES = ("past_key_values", "past_key_value", "present", "cache", "kv_cache", "layer_past")
# Keywords whose objects transformers defines.
_TRANSFORMERS = ("past_key_values", "past_key_value")

Pick = Callable[[Any], Any]


@dataclass(frozen=True)
class Way:
    """How a cache is had: made empty and filled by the layer, or picked out of what it returns."""

    words: str
    made: Callable[[], Any] | None = None
    pick: Pick | None = None


@dataclass
class Decoding:
    """One batch of texts on its way through the layer."""

    layer: Any
    way: Way
    cache: Any = field(default=None, init=False)
    tokens: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.cache = self.way.made() if self.way.made is not None else None

    def feed(self, piece: Inputs, options: Options = _PLAIN) -> np.ndarray:
        """The outputs of the next tokens."""
        made = _called(self.layer, piece, options, self.cache)
        if self.way.pick is not None:
            self.cache = self.way.pick(made)
        self.tokens += piece.tokens
        return self.layer.output(made, options)


def decoded(
    layer: Any,
    given: Inputs,
    pieces: Sequence[int],
    whole: Options = _PLAIN,
    way: Way | None = None,
) -> np.ndarray:
    """The outputs of a text that is fed in pieces of so many tokens. `whole` are the options of the
    whole text: positions and mask are cut to what each piece has come to."""
    run = Decoding(layer, way or way_of(layer))
    rows = []
    for size in pieces:
        stop = run.tokens + size
        options = cut_options(whole, run.tokens, stop)
        rows.append(run.feed(given.cut(run.tokens, stop), options))
    return np.concatenate(rows, axis=TOKENS)


def in_turn(
    layer: Any,
    given: Inputs,
    pieces: Sequence[int],
    whole: Options = _PLAIN,
    way: Way | None = None,
) -> np.ndarray:
    """The texts of a batch decoded each for itself, a piece of one after a piece of the other, each
    with a cache of its own."""
    way = way or way_of(layer)
    runs = [Decoding(layer, way) for _ in range(given.batch)]
    rows: list[list[np.ndarray]] = [[] for _ in runs]
    for size in pieces:
        for text, run in enumerate(runs):
            stop = run.tokens + size
            own = cut_options(_of_text(whole, text), run.tokens, stop)
            rows[text].append(run.feed(given.text(text).cut(run.tokens, stop), own))
    return np.concatenate([np.concatenate(own, axis=TOKENS) for own in rows])


def _of_text(whole: Options, text: int) -> Options:
    positions = None if whole.positions is None else whole.positions[text : text + 1]
    mask = None if whole.mask is None else whole.mask[text : text + 1]
    return replace(whole, positions=positions, mask=mask)


def cut_options(whole: Options, start: int, stop: int) -> Options:
    """Positions of the tokens themselves, the mask of all keys so far."""
    positions = None if whole.positions is None else whole.positions[:, start:stop]
    mask = None if whole.mask is None else whole.mask[:, :stop]
    return replace(whole, positions=positions, mask=mask)


def way_of(layer: Any) -> Way:
    """The first way in which a second call takes the cache of the first; a Refusal where there is
    none."""
    sizes = replace(layer.sizes, tokens=max(layer.sizes.tokens, _FEWEST))
    given = layer.draw(np.random.default_rng(0), sizes)
    places = np.arange(given.tokens)[None]
    whole = Options(positions=places) if POSITIONS in layer.takes else _PLAIN
    reason = ""
    for way in _ways(layer, given.cut(0, given.tokens - 1), whole):
        refused = _refused(layer, way, given, whole)
        if refused is None:
            return way
        reason = reason or refused
    raise Refusal(f"no cache could be had: {reason}")


def _refused(layer: Any, way: Way, given: Inputs, whole: Options) -> str | None:
    """Why the last token does not take the cache of those before it; None where it does."""
    last = given.tokens - 1
    try:
        run = Decoding(layer, way)
        run.feed(given.cut(0, last), cut_options(whole, 0, last))
        if run.cache is None or (way.made is not None and not _is_filled(run.cache)):
            return "with a cache it returns nothing but its output"
        output = run.feed(given.cut(last), cut_options(whole, last, last + 1))
    except OutOfTime:
        raise
    except Refusal as refusal:
        return str(refusal)
    is_one = output.shape[TOKENS] == 1
    return None if is_one else "with a cache it returns more outputs than it gets tokens"


def _called(layer: Any, piece: Inputs, options: Options, cache: Any) -> Any:
    keywords = keywords_of(layer)
    if SWITCH_OF_CACHE in keywords.names:
        options = replace(options, use_cache=True)
    words = {} if cache is None else {keywords.known[CACHE]: cache}
    return layer.raw(piece, options, **words)


def _ways(layer: Any, before: Inputs, whole: Options) -> Iterator[Way]:
    try:
        made = _called(layer, before, cut_options(whole, 0, before.tokens), None)
    except Refusal:
        made = None
    yield from _returned(made)
    keyword = keywords_of(layer).known[CACHE]
    if keyword in _TRANSFORMERS and importlib.util.find_spec("transformers") is not None:
        yield Way("a DynamicCache of transformers", made=_dynamic)
    yield Way("a dict that it fills", made=dict)
    yield Way("a list that it fills", made=list)
    yield Way("an object with `update`", made=Growing)


def _returned(made: Any) -> Iterator[Way]:
    """What may be the cache among all that a call returned: by name, then what is no array (weights
    are), the last first."""
    if made is None or is_array(made):
        return
    for name in _ATTRIBUTES:
        if _named(made, name) is not None:
            yield Way(f"returned as {name}", pick=lambda made, name=name: _named(made, name))
    if not isinstance(made, (tuple, list)):
        return
    places = [place for place in range(1, len(made)) if made[place] is not None]
    for place in sorted(places, key=lambda at: (is_array(made[at]), -at)):
        yield Way("returned beside the output", pick=lambda made, place=place: made[place])


def _named(made: Any, name: str) -> Any:
    return made.get(name) if isinstance(made, dict) else getattr(made, name, None)


def _dynamic() -> Any:
    from transformers import DynamicCache

    return DynamicCache()


def _is_filled(cache: Any) -> bool:
    return len(getattr(cache, "layers", cache)) > 0
