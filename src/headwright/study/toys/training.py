"""Gradient descent on many toy heads at once, in one tensor program.

    q   <- q min(1, limit / |q|),      k <- k / |k|
    z   =  q.k,   the random key's logit times its length gamma ~ N(1, 1/2), drawn at every step
    loss = -1/2 (ln alpha_a + ln alpha_b)      or      |alpha - target|^2,   mean over the pairs

with alpha averaged over the heads of a pair. The members of a batch share their shape (`Toy`) and
differ in seed, budget, learning rate and noise. Each has its own random numbers, and its rate
falls to zero along a cosine over its own budget; the optimiser is Adam. So a member ends where it
would have ended alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headwright.errors import InputError, MissingExtra
from headwright.study.toys.random_length import LENGTH_VARIANCE
from headwright.study.toys.task import LIMIT, Toy, all_pairs
from headwright.types import Array, Float

if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = Any

# Adam's averages of the gradient and of its square, and what keeps the quotient finite
_MEAN = 0.9
_SQUARE = 0.999
_TINY = 1e-8
# Steps for which the lengths are drawn at a time
_AHEAD = 64


@dataclass(frozen=True)
class Member:
    """One trained head (or group of heads on the same keys)."""

    seed: int
    steps: int
    random_length: bool = False
    rate: float = 0.02


@dataclass(frozen=True)
class Trained:
    """Unit keys, queries no longer than the limit, and each member's loss at its first and at its
    last step."""

    keys: Float[Array, "b n d"]
    queries: Float[Array, "b h p d"]
    first_loss: Float[Array, "b"]
    last_loss: Float[Array, "b"]


def trained(toy: Toy, members: Sequence[Member], *, device: str = "cpu") -> Trained:
    """Train every member to the end of its own budget. On a CPU with one thread, so that the same
    members end in the same bits."""
    torch = _torch()
    _insist_on_members(members)
    batch = _Batch(torch, toy, members, _place(torch, device))
    with _one_thread(torch):
        return _descent(torch, batch)


def _descent(torch: Any, batch: _Batch) -> Trained:
    members = batch.members
    place = batch.place
    parameters = [batch.keys, batch.table]
    adam = _Adam(torch, parameters)
    steps = torch.tensor([member.steps for member in members], device=place)
    rates = torch.tensor([member.rate for member in members], device=place)
    first = None
    last = torch.zeros(len(members), device=place)
    for step in range(int(steps.max())):
        losses = batch.losses(step)
        gradients = torch.autograd.grad(losses.sum(), parameters)
        # rate/2 (1 + cos(pi t / budget)), and 0 when the budget is spent
        done = torch.clamp(step / steps, max=1.0)
        adam.descend(gradients, rates / 2 * (1 + torch.cos(math.pi * done)))
        last = torch.where(step < steps, losses.detach(), last)
        first = last if first is None else first
    assert first is not None
    return Trained(
        keys=_host(batch.unit_keys()),
        queries=_host(batch.queries()),
        first_loss=_host(first),
        last_loss=_host(last),
    )


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "models") from None
    return torch


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _insist_on_members(members: Sequence[Member]) -> None:
    budgets = [member.steps for member in members]
    if not budgets or min(budgets) < 1:
        raise InputError(
            wanted="at least one head with a budget of at least 1 step",
            got=f"budgets {budgets}"[:80],
            attempt="steps = 1000",
        )


def _place(torch: Any, device: str) -> Any:
    try:
        place = torch.device(device)
    except RuntimeError:
        raise InputError(wanted="a device", got=repr(device), attempt="cpu or cuda") from None
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InputError(wanted="a GPU with CUDA", got="none", attempt="device = cpu")
    return place


def _host(tensor: Tensor) -> Array:
    return tensor.detach().cpu().double().numpy()


class _Batch:
    """The parameters of all members, and the loss of each. Random numbers are drawn on the host,
    by one generator per member, so that they depend on neither the device nor the company."""

    def __init__(self, torch: Any, toy: Toy, members: Sequence[Member], place: Any) -> None:
        self.torch = torch
        self.toy = toy
        self.place = place
        self.pairs = torch.from_numpy(all_pairs(toy.n)).to(place)
        self.rows = torch.arange(len(self.pairs), device=place)
        self.members = members
        self.generators = [np.random.default_rng([member.seed, 0]) for member in members]
        table_rows = len(self.pairs) if toy.queries == "free" else toy.n
        self.keys = self._drawn(toy.n, toy.d).requires_grad_()
        self.table = self._drawn(toy.heads, table_rows, toy.d).requires_grad_()
        self.target = torch.zeros(len(self.pairs), toy.n, device=place)
        self.target[self.rows[:, None], self.pairs] = 0.5
        # The factor of every logit: 1, but the random length where there is one
        self.noisy = any(member.random_length for member in members)
        self.factor = torch.ones(len(members), 1, *self.target.shape, device=place)

    def _drawn(self, *shape: int) -> Tensor:
        drawn = [rng.standard_normal(shape, dtype=np.float32) for rng in self.generators]
        return self.torch.from_numpy(np.stack(drawn)).to(self.place)

    def unit_keys(self) -> Tensor:
        return self.torch.nn.functional.normalize(self.keys, dim=-1)

    def queries(self) -> Tensor:
        """(b, h, p, d), each pulled back to the limit."""
        queries = self.table
        if self.toy.queries == "additive":
            queries = self.table[:, :, self.pairs[:, 0]] + self.table[:, :, self.pairs[:, 1]]
        length = self.torch.linalg.vector_norm(queries, dim=-1, keepdim=True)
        return queries * (LIMIT / length).clamp(max=1.0)

    def losses(self, step: int) -> Tensor:
        """The mean loss over the pairs, of each member."""
        keys = self.unit_keys()[:, None]
        logits = self.queries() @ keys.transpose(-1, -2)
        if self.noisy:
            self._draw_lengths(step)
            logits = logits * self.factor
        if self.toy.loss == "squared":
            alpha = logits.softmax(-1).mean(1)
            return (alpha - self.target).square().sum(-1).mean(-1)
        # ln alpha of the mixed heads: ln mean_h exp(ln alpha_h)
        on_the_pair = self.pairs.expand(*logits.shape[:2], -1, -1)
        log_alpha = logits.log_softmax(-1).gather(-1, on_the_pair)
        mixed = log_alpha.logsumexp(1) - math.log(self.toy.heads)
        return -mixed.mean((-1, -2))

    def _draw_lengths(self, step: int) -> None:
        if step % _AHEAD == 0:
            self.ahead = self._drawn_lengths()
        self.factor[:, 0, self.rows, self.pairs[:, 0]] = self.ahead[:, step % _AHEAD]

    def _drawn_lengths(self) -> Tensor:
        deviation = math.sqrt(LENGTH_VARIANCE)
        lengths = 1 + deviation * self._drawn(_AHEAD, len(self.pairs))
        random = [member.random_length for member in self.members]
        lengths[~self.torch.tensor(random)] = 1.0
        return lengths


class _Adam:
    """Adam with one learning rate per member. (torch's own has one per parameter.)"""

    def __init__(self, torch: Any, parameters: list[Tensor]) -> None:
        self.parameters = parameters
        self.means = [torch.zeros_like(one) for one in parameters]
        self.squares = [torch.zeros_like(one) for one in parameters]
        self.step = 0

    def descend(self, gradients: Sequence[Tensor], rate: Tensor) -> None:
        # m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2, both divided by 1 - b^t
        # p <- p - rate m / (sqrt(v) + tiny)
        self.step += 1
        unbiased = (1 - _MEAN**self.step) / math.sqrt(1 - _SQUARE**self.step)
        everything = zip(self.parameters, gradients, self.means, self.squares, strict=True)
        for parameter, gradient, mean, square in everything:
            mean.lerp_(gradient, 1 - _MEAN)
            square.mul_(_SQUARE).addcmul_(gradient, gradient, value=1 - _SQUARE)
            per_member = rate.reshape(-1, *[1] * (parameter.ndim - 1)) / unbiased
            parameter.data.sub_(per_member * mean / square.sqrt().add_(_TINY))
