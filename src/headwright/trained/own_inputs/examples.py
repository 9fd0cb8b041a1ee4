"""From texts with targets, images and sounds to what a model takes: one batch for each example.

A text becomes tokens by the model's tokenizer, an image or a sound what the processor beside its
weights makes of it. A decoder beside an encoder reads the target; without one it reads the text
that the encoder reads, or its start token alone where that is no text.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from math import gcd
from typing import Any

import numpy as np
from scipy.signal import resample_poly

from headwright.errors import InputError
from headwright.trained.batches import Batch, refuse, separators, token_numbers
from headwright.trained.library import torch
from headwright.trained.loading.load import Place
from headwright.trained.loading.processors import feature_extractor, image_processor
from headwright.trained.own_inputs.given import KINDS, READS, Given, Sound, reads_other


def own_batches(
    model: Any, given: Given, tokenizer: Any, place: Place | None, *, limit: int | None = None
) -> Iterator[Batch]:
    """Batches of one example each; `place` is where the model lies, None for a live one."""
    examples = given.examples()
    _refuse_unread(model, examples[0])
    reader = _Reader(model, tokenizer, place, limit)
    for example in examples:
        yield reader.batch(example)


def _refuse_unread(model: Any, example: dict[str, Any]) -> None:
    """What the model cannot read, or what it cannot do without."""
    got = " and ".join(KINDS[kind].noun for kind in example)
    needed = READS.get(model.main_input_name)
    if needed not in example:
        raise reads_other(model, got)
    taken = {READS[name] for name in _parameters(model) if name in READS}
    if model.config.is_encoder_decoder:
        taken.add("targets")
    for kind in example:
        if kind not in taken:
            raise InputError(
                wanted=" and ".join(KINDS[one].noun for one in KINDS if one in taken)
                + f", which is all that {type(model).__name__} reads",
                got=f"{KINDS[kind].noun} too",
                attempt=f"leave out {KINDS[kind].option.split()[0]}",
            )


def _parameters(model: Any) -> set[str]:
    return set(inspect.signature(model.forward).parameters)


class _Reader:
    """What is needed to read an example, each part made when the first example wants it."""

    def __init__(self, model: Any, tokenizer: Any, place: Place | None, limit: int | None) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.place = place
        self.limit = limit
        self._processors: dict[str, Any] = {}

    def batch(self, example: dict[str, Any]) -> Batch:
        arguments: dict[str, Any] = {}
        if "texts" in example:
            arguments["input_ids"] = self._ids(example["texts"])
        if "images" in example:
            arguments |= self._pixels(example["images"])
        if "sounds" in example:
            arguments |= self._features(example["sounds"])
        if self.model.config.is_encoder_decoder:
            arguments["decoder_input_ids"] = self._decoder_ids(example, arguments)

        on_device = {name: x.to(self.model.device) for name, x in arguments.items()}
        tokens = [x.ravel() for name, x in arguments.items() if name.endswith("input_ids")]
        known = torch.cat(tokens) if tokens else None
        return Batch(on_device, separators(self.tokenizer, known), self.tokenizer)

    def _ids(self, text: str) -> Any:
        row = token_numbers(text, self.tokenizer)[: self.limit]
        refuse(row, self.model.config)
        return torch.tensor([row])

    def _decoder_ids(self, example: dict[str, Any], arguments: dict[str, Any]) -> Any:
        if "targets" not in example and "texts" in example:
            return arguments["input_ids"]
        row = [self._start()]
        if "targets" in example:
            words = token_numbers(example["targets"], self.tokenizer)
            refuse(words, self.model.config)
            # What ends a text is never read: nothing comes after it.
            ends = words[-1] == self.tokenizer.eos_token_id
            words = words[:-1] if ends else words
            row = words if words[:1] == row else row + words
        row = row[: self.limit]
        refuse(row, self.model.config)
        return torch.tensor([row])

    def _start(self) -> int:
        """The token that decoding begins with."""
        config = self.model.config
        stated = [
            getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id")
        ]
        start = next((number for number in stated if number is not None), None)
        if start is None:
            raise InputError(
                wanted="decoder_start_token_id in the model's configuration",
                got="none",
                attempt="in Python: hw.audit(model, {..., 'decoder_input_ids': tokens})",
            )
        return int(start)

    def _pixels(self, image: np.ndarray) -> dict[str, Any]:
        processor = self._processor("images", image_processor)
        return self._made(processor, images=[image])

    def _features(self, sound: Sound) -> dict[str, Any]:
        extractor = self._processor("sounds", feature_extractor)
        longest = getattr(extractor, "chunk_length", None)
        if longest is not None and sound.seconds > longest:
            raise InputError(
                wanted=f"at most {longest} seconds, which this model reads at once",
                got=f"a sound of {sound.seconds:.1f} seconds",
                attempt="a part of it",
            )
        rate = extractor.sampling_rate
        samples = resampled(sound, rate)
        return self._made(extractor, raw_speech=samples, sampling_rate=rate)

    def _processor(self, reads: str, load: Any) -> Any:
        if self.place is None:
            raise reads_other(self.model, f"{reads}, and no processor to read them with")
        if reads not in self._processors:
            self._processors[reads] = load(self.place)
        return self._processors[reads]

    def _made(self, processor: Any, **words: Any) -> dict[str, Any]:
        """What the model takes of what its processor makes."""
        try:
            made = processor(**words, return_tensors="pt")
        # Its configuration may say anything.
        except Exception as reason:
            line = (str(reason).splitlines() or [type(reason).__name__])[0]
            raise InputError(
                wanted=f"a processor that makes {self.model.main_input_name}",
                got=f"{type(processor).__name__}, which answers {line[:160]}",
                attempt="install or copy the model again",
            ) from None
        parameters = _parameters(self.model)
        return {name: x for name, x in made.items() if name in parameters}


def resampled(sound: Sound, rate: int) -> np.ndarray:
    """The samples of a sound at another rate."""
    if sound.rate == rate:
        return sound.samples
    common = gcd(sound.rate, rate)
    return resample_poly(sound.samples, rate // common, sound.rate // common)
