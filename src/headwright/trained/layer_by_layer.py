"""The layers of one forward pass as an iterator, one at a time.

The library calls us, layer by layer, and the consumer calls us too: one of them needs a thread. The
model runs in a thread that puts a layer down and then waits until the next one is asked for, so
that no more than one layer is there at once. Rejected: collecting all layers first, which keeps
every layer's queries, keys and values.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any

from headwright.trained import capture
from headwright.trained.heads import Layer
from headwright.trained.preparation import output_only


class _NoMoreWanted(BaseException):
    """The consumer wants no more layers. Not an `Exception`, so that no model takes it for one of
    its own."""


@dataclass(frozen=True)
class _PassEnded:
    error: BaseException | None = None


def layers(model: Any, words: Mapping[str, Any]) -> Generator[Layer, None, None]:
    """Every attention layer of one forward pass of `model` on `words` (the model's own arguments),
    in turn.

    The pass waits while the consumer has a layer: the model is not to be used meanwhile. It is
    restored at the end, after an error, and when the iterator is closed early, which stops the
    pass. The arrays are the model's own activations, without gradients: copy what is to be kept,
    and do not write into them.
    """
    next_wanted: SimpleQueue[bool] = SimpleQueue()
    ready: SimpleQueue[Layer | _PassEnded] = SimpleQueue()

    def visit(layer: Layer) -> Any:
        ready.put(layer)
        if not next_wanted.get():
            raise _NoMoreWanted
        return output_only(layer)

    def forward_pass() -> None:
        try:
            capture.run(model, words, visit)
        except BaseException as error:
            ready.put(_PassEnded(error))
        else:
            ready.put(_PassEnded())

    # A daemon, so that an iterator left half-way does not keep the interpreter from ending.
    thread = Thread(target=forward_pass, name="headwright layers", daemon=True)
    thread.start()
    try:
        while isinstance(got := ready.get(), Layer):
            yield got
            del got  # before the next layer is made
            next_wanted.put(True)
    finally:
        next_wanted.put(False)
        thread.join()
    if got.error is not None:
        raise got.error
