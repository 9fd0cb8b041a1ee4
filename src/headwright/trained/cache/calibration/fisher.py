"""The Fisher signal: what a small error of every key and value does to the model's next-token
distribution, from one backward pass.

    KL(p, p~) ~ 1/2 e' E[g' g] e,   g = d log p(y) / dk,   y drawn from the model itself

to second order in errors e of mean 0 that are independent from token to token. One label is drawn
at every position and the gradient of their summed log-probabilities is taken: its products are the
sum of the positions' products and of those of different positions, which have mean 0. Some draws of
the labels are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwright.result import to_numpy
from headwright.trained.cache.calibration.sensitivity import Sensitivity, mean_sensitivity
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
    """Gathers half the mean of g'g for every key head over texts: sensitivities in nats per token
    and squared error."""

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
            found = self._sensitivities(log_p, zeros)
        self.texts.append(list(zip(found[0::2], found[1::2], strict=True)))

    def _sensitivities(
        self, log_p: Float[Array, "n words"], zeros: list[Array]
    ) -> list[Sensitivity]:
        """By every key and value, mean over draws of the labels."""
        generator = torch.Generator(device=log_p.device).manual_seed(self._seed + len(self.texts))
        p = log_p.detach().exp()
        draws = []
        for draw in range(DRAWS):
            labels = torch.multinomial(p, 1, generator=generator)
            total = log_p.gather(1, labels).sum()
            again = draw < DRAWS - 1
            gradients = torch.autograd.grad(total, zeros, retain_graph=again)
            draws.append([_forms(gradient[0].float()) for gradient in gradients])
        return [mean_sensitivity(some) for some in zip(*draws, strict=True)]


def _forms(gradient: Float[Array, "h n d"]) -> Sensitivity:
    """1/2 g'g of the first token, and of the others together, per token of the text."""
    half = 1.0 / (2.0 * gradient.shape[1])
    first = gradient[:, :1]
    others = gradient[:, 1:]
    return Sensitivity(
        to_numpy(half * first.mT @ first).astype(float),
        to_numpy(half * others.mT @ others).astype(float),
    )


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
