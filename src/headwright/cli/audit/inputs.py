"""What `headwright audit` reads: texts, images, sounds, and texts for a decoder."""

from __future__ import annotations

import warnings
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from headwright.errors import InputError
from headwright.trained.own_inputs.given import Given, Sound
from headwright.types import Float

_IMAGES = ("PNG", "JPEG")
# Rates beyond these are no sound, and would ask for any amount of memory.
_RATES = range(4_000, 400_001)

_TEXT = "A text file; may be repeated."
_IMAGE = "A PNG or JPEG file, for a model that reads images; may be repeated."
_AUDIO = "A WAV file, for a model that reads sound; may be repeated."
_TARGET = "A text file for the decoder of a model that has an encoder too; one for each input."


def input_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--text, --image, --audio and --target, which `read_inputs` takes out of what was asked."""
    options = {
        ("--text", "texts"): _TEXT,
        ("--image", "images"): _IMAGE,
        ("--audio", "sounds"): _AUDIO,
        ("--target", "targets"): _TARGET,
    }
    for names, told in reversed(options.items()):
        function = click.option(*names, type=click.Path(), multiple=True, help=told)(function)
    return function


def read_inputs(asked: dict[str, Any]) -> list[str] | Given:
    """The files that were named; plain texts where there is nothing else."""
    paths = {kind: asked.pop(kind) for kind in ("texts", "images", "sounds", "targets")}
    if not (paths["texts"] or paths["images"] or paths["sounds"]):
        raise InputError(
            wanted="something for the model to read",
            got="no file",
            attempt="--text FILE.txt, or --image FILE.png, or --audio FILE.wav",
        )
    texts = [read_text(path) for path in paths["texts"]]
    if not (paths["images"] or paths["sounds"] or paths["targets"]):
        return texts
    return Given(
        texts=tuple(texts),
        images=tuple(read_image(path) for path in paths["images"]),
        sounds=tuple(read_sound(path) for path in paths["sounds"]),
        targets=tuple(read_text(path) for path in paths["targets"]),
    )


def read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "bytes that are not UTF-8"
    except OSError as error:
        reason = error.strerror
    got = f"{path}: {reason}"
    raise InputError(wanted="a readable text file", got=got, attempt="check the path")


def read_image(path: str) -> np.ndarray:
    """Rows x columns x red, green, blue, each 0 to 255."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # A small file can claim more pixels than fit in memory.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=_IMAGES) as image:
                return np.asarray(image.convert("RGB"))
    except OSError as error:
        reason = error.strerror or "no image of this kind, or a damaged one"
    # A damaged file fails in many ways.
    except Exception as error:
        reason = str(error) or type(error).__name__
    raise InputError(
        wanted=f"a readable image as {' or '.join(_IMAGES)}",
        got=f"{path}: {reason[:160]}",
        attempt="check the path, or save the image as PNG",
    )


def read_sound(path: str) -> Sound:
    """All channels of a WAV file as one."""
    try:
        with wave.open(path) as file:
            rate = file.getframerate()
            width = file.getsampwidth()
            channels = file.getnchannels()
            data = file.readframes(file.getnframes())
        if rate not in _RATES:
            raise wave.Error(f"{rate} samples a second")
        samples = _samples(data, width)
        whole = samples.size // channels * channels
        if not whole:
            raise wave.Error("no samples in it")
        return Sound(samples[:whole].reshape(-1, channels).mean(axis=1), rate)
    except OSError as error:
        reason = error.strerror
    except (wave.Error, EOFError, ValueError) as error:
        reason = str(error) or "a file that ends too early"
    raise InputError(
        wanted="a readable sound as WAV with whole numbers (PCM)",
        got=f"{path}: {reason}",
        attempt="check the path, or convert it: ffmpeg -i FILE -c:a pcm_s16le FILE.wav",
    )


def _samples(data: bytes, width: int) -> Float[np.ndarray, "n"]:
    """Between -1 and 1, from whole numbers of `width` bytes, least first; one byte has no sign."""
    each = np.frombuffer(data[: len(data) // width * width], dtype=np.uint8).reshape(-1, width)
    if width == 1:
        return (each[:, 0].astype(float) - 128.0) / 128.0
    # Into the upper bytes of a 32-bit number, where the sign is in its place.
    wide = np.zeros((len(each), 4), dtype=np.uint8)
    wide[:, 4 - width :] = each
    return wide.view("<i4")[:, 0] / 2.0**31
