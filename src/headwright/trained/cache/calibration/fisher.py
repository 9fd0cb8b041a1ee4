"""The Fisher signal: what a small error of every key and value does to the model's next-token
distribution, from one backward pass.

    KL(p, p~) ~ 1/2 sum_c E[(d log p(y) / d k_c)^2] e_c^2,   y drawn from the model itself

to second order in independent errors e of mean 0. One label is drawn at every position and the
gradient of their summed log-probabilities is taken: its square is the sum of the positions' squares
and of products of different positions, which have mean 0. Some draws of the labels are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwright.result import to_numpy
from headwright.trained.cache.coding.channels import Sensitivity
from headwright.trained.cache.coding.turning import Turning
from headwright.trained.library import torch, transformers
from headwright.types import Array, Float

_library = transformers.cache_utils

# Draws of all labels: the sensitivities of single channels are noisy with one.
DRAWS = 2


class _Noted(_library.DynamicLayer):
    """Adds zeros to what arrives, so that there is something to take the gradient by."""

    zeros: tuple[Array, Array]

    def __init__(self, turning: Turning) -> None:
        super().__init__()
        self._turning = turning

    def update(self, key_states: Array, value_states: Array, *args: Any, **kwargs: Any) -> Any:
        keys = torch.zeros_like(key_states, requires_grad=True)
        values = torch.zeros_like(value_states, requires_grad=True)
        self.zeros = (keys, values)
        turned = self._turning.forth(keys).to(keys.dtype)
        return super().update(key_states + turned, value_states + values)


class Fisher:
    """Gathers half the mean squared gradient of every channel over texts: sensitivities in nats per
    token and squared error."""

    def __init__(self, layers: int, *, turning: Turning, seed: int = 0) -> None:
        self._count = layers
        self._turning = turning
        self._seed = seed
        # By text, then by layer: of the keys and of the values.
        self.texts: list[list[tuple[Sensitivity, Sensitivity]]] = []

    def add(self, model: Any, ids: Array) -> None:
        """`ids` is (1, n)."""
        layers = [_Noted(self._turning) for _ in range(self._count)]
        with _only_activations(model):
            cache = _library.Cache(layers=[*layers])
            logits = model(input_ids=ids, past_key_values=cache, use_cache=True).logits
            log_p = torch.log_softmax(logits[0].float(), dim=-1)
            zeros = [one for layer in layers for one in layer.zeros]
            squares = self._squares(log_p, zeros)
        found = [_per_channel(square) for square in squares]
        self.texts.append(list(zip(found[0::2], found[1::2], strict=True)))

    def _squares(self, log_p: Float[Array, "n words"], zeros: list[Array]) -> list[Array]:
        """Squared gradients by every key and value, mean over draws of the labels."""
        generator = torch.Generator(device=log_p.device).manual_seed(self._seed + len(self.texts))
        p = log_p.detach().exp()
        squares = [torch.zeros_like(one, dtype=torch.float32) for one in zeros]
        for draw in range(DRAWS):
            labels = torch.multinomial(p, 1, generator=generator)
            total = log_p.gather(1, labels).sum()
            again = draw < DRAWS - 1
            gradients = torch.autograd.grad(total, zeros, retain_graph=again)
            for square, gradient in zip(squares, gradients, strict=True):
                square += gradient.float() ** 2 / DRAWS
        return squares


def _per_channel(square: Float[Array, "1 h n d"]) -> Sensitivity:
    """1/2 of the first token's and of the others' together, per token of the text."""
    half = to_numpy(square[0]).astype(float) / (2.0 * square.shape[2])
    return Sensitivity(half[:, 0], half[:, 1:].sum(axis=1))


@contextmanager
def _only_activations(model: Any) -> Iterator[None]:
    """No gradients by the weights; whatever happens inside, the model leaves as it came."""
    before = [(weight, weight.requires_grad) for weight in model.parameters()]
    training = model.training
    try:
        model.eval()
        model.requires_grad_(False)
        with torch.enable_grad():
            yield
    finally:
        for weight, wanted in before:
            weight.requires_grad_(wanted)
        model.train(training)
