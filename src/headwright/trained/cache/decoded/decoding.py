"""What a model says when it decodes through a quantised cache, against what it says as it is.

The text goes through the cache a part at a time, and every token reads the stored keys and values,
its own included, as in generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from headwright.errors import InputError
from headwright.result import to_numpy
from headwright.trained.library import torch, transformers
from headwright.types import Array, Float

# Tokens that go through the cache together, and tokens of a block, whose means are taken as
# independent for the intervals.
_AT_ONCE = 128
BLOCK = 32
_CONFIDENCE = 0.95

MakeCache = Callable[[], Any]


@dataclass(frozen=True)
class Mean:
    """A mean over tokens with its 95% interval, from the spread of block means."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> list[float]:
        return [self.low, self.high]


@dataclass(frozen=True)
class Decoded:
    """Per token, all texts one after the other: the divergence from the model as it is (nats), the
    negative logarithm of the next token's probability (NaN after the last), whether the most likely
    token is the same; and the text that each token belongs to."""

    divergence: Float[np.ndarray, "n"]
    surprise: Float[np.ndarray, "n"]
    agrees: Float[np.ndarray, "n"]
    text: np.ndarray

    @property
    def kl(self) -> Mean:
        return _mean(self.divergence, self.text)

    @property
    def perplexity(self) -> Mean:
        logarithm = _mean(self.surprise, self.text)
        exponentials = np.exp([logarithm.value, logarithm.low, logarithm.high])
        return Mean(*exponentials.tolist())

    @property
    def top1(self) -> Mean:
        share = _mean(self.agrees, self.text)
        return Mean(share.value, max(share.low, 0.0), min(share.high, 1.0))


def decode(
    model: Any, texts: Iterable[Array], caches: Mapping[str, MakeCache]
) -> dict[str, Decoded]:
    """Every text (1, n) through every cache, side by side with the model as it is, which comes
    first as `""`."""
    made: Mapping[str, MakeCache] = {"": transformers.DynamicCache, **caches}
    gathered: dict[str, list[np.ndarray]] = {name: [] for name in made}
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for number, ids in enumerate(texts):
                for name, columns in _one_text(model, ids, made).items():
                    numbered = np.full((1, columns.shape[1]), number)
                    gathered[name].append(np.concatenate([columns, numbered]))
    finally:
        model.train(training)
    return {name: Decoded(*np.concatenate(parts, axis=1)) for name, parts in gathered.items()}


def _one_text(
    model: Any, ids: Array, made: Mapping[str, MakeCache]
) -> dict[str, Float[np.ndarray, "3 n"]]:
    caches = {name: make() for name, make in made.items()}
    found: dict[str, list[np.ndarray]] = {name: [] for name in made}
    for start in range(0, ids.shape[1], _AT_ONCE):
        some = ids[:, start : start + _AT_ONCE]
        following = ids[0, start + 1 : start + _AT_ONCE + 1]
        plain = None
        for name, cache in caches.items():
            answer = model(input_ids=some, past_key_values=cache, use_cache=True)
            log_q = torch.log_softmax(answer.logits[0].float(), dim=-1)
            plain = log_q if plain is None else plain
            found[name].append(_columns(plain, log_q, following))
    return {name: np.concatenate(parts, axis=1) for name, parts in found.items()}


def _columns(
    log_p: Float[Array, "n words"], log_q: Float[Array, "n words"], following: Array
) -> Float[np.ndarray, "3 n"]:
    """KL(p, q) = sum p (log p - log q), -log q of the following token, and the same top token."""
    divergence = torch.sum(log_p.exp() * (log_p - log_q), dim=-1)
    surprise = torch.full_like(divergence, torch.nan)
    known = following.shape[0]
    surprise[:known] = -log_q[:known].gather(1, following[:, None])[:, 0]
    agrees = (log_p.argmax(dim=-1) == log_q.argmax(dim=-1)).to(divergence.dtype)
    return to_numpy(torch.stack([divergence, surprise, agrees])).astype(float)


def _mean(values: Float[np.ndarray, "n"], text: np.ndarray) -> Mean:
    blocks = _block_means(values, text)
    mean = float(np.nanmean(values))
    error = float(np.std(blocks, ddof=1) / np.sqrt(len(blocks)))
    reach = float(student.ppf(0.5 + _CONFIDENCE / 2, len(blocks) - 1)) * error
    return Mean(mean, mean - reach, mean + reach)


def _block_means(values: Float[np.ndarray, "n"], text: np.ndarray) -> Float[np.ndarray, "blocks"]:
    """Means over the whole blocks of every text; a shorter rest takes no part in the spread."""
    means = []
    for number in np.unique(text):
        own = values[text == number]
        whole = own[: len(own) - len(own) % BLOCK].reshape(-1, BLOCK)
        means += [float(np.nanmean(block)) for block in whole]
    if len(means) < 2:
        raise InputError(
            wanted=f"at least {2 * BLOCK} tokens to verify on",
            got=str(len(values)),
            attempt="--verify with a longer text",
        )
    return np.asarray(means)
