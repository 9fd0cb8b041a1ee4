"""Layers in NumPy that people may give to X-ray, named as `tests.probes.sample_layers:NAME`."""

import time

import numpy as np

NUMBER = 3
_RNG = np.random.default_rng(0)


def attention(q, k, v):
    logits = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def random(q, k, v):
    """Dropout that nobody turned off."""
    return attention(q, k, v) * _RNG.choice([0.0, 2.0], v.shape)


def prints(q, k, v):
    print("shape", q.shape)  # noqa: T201
    return attention(q, k, v)


def tuples(q, k, v):
    return attention(q, k, v), None


def writes(q, k, v):
    output = attention(q, k, v)
    q *= 2
    return output


def only_short(q, k, v):
    if q.shape[-2] > 3:
        raise ValueError("at most 3 tokens,\nplease")
    return attention(q, k, v)


def ends_the_program(q, k, v):
    raise SystemExit(0)


def one_row(q, k, v):
    return attention(q, k, v)[..., :1, :]


def no_array(q, k, v):
    return "done"


def complex_numbers(q, k, v):
    return attention(q, k, v) * 1j


def slow(q, k, v):
    time.sleep(0.05)
    return attention(q, k, v)


def endless(q, k, v):
    while True:
        time.sleep(0.01)


class NeedsArguments:
    def __init__(self, width):
        self.width = width

    def __call__(self, q, k, v):
        return attention(q, k, v)


class Ready:
    def __call__(self, q, k, v):
        return attention(q, k, v)


def factory():
    return Ready()


def factory_of_nothing():
    return None
