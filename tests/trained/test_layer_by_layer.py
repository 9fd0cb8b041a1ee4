"""The layers as an iterator: what the visitor sees, one at a time, and nothing left behind after an
early end."""

# ruff: noqa: E402

import threading
from contextlib import closing

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'models'")
pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.trained.families import build

from headwright.errors import InputError
from headwright.trained import capture, layers
from headwright.trained.preparation import output_only


def _threads():
    return sum(thread.name == "headwright layers" for thread in threading.enumerate())


def _idle(model):
    return model.config._attn_implementation == "sdpa" and _threads() == 0


@pytest.mark.parametrize("family", ["llama", "bert", "t5"])
def test_the_layers_are_those_of_the_visitor_in_order(family):
    model, inputs = build(family)
    wanted = []

    def visit(layer):
        wanted.append(layer)
        return output_only(layer)

    capture.run(model, inputs, visit)
    seen = list(layers(model, inputs))
    assert [(x.stack, x.index, x.module) for x in seen] == [
        (x.stack, x.index, x.module) for x in wanted
    ]
    for a, b in zip(seen, wanted, strict=True):
        assert all(torch.equal(getattr(a, name), getattr(b, name)) for name in "qkv")
    assert _idle(model)


def test_the_model_waits_for_the_consumer():
    model, inputs = build("llama")
    done = []
    for i, layer in enumerate(model.layers):
        layer.register_forward_hook(lambda *_, i=i: done.append(i))
    for i, _ in enumerate(layers(model, inputs)):
        assert done == list(range(i))
    assert done == [0, 1]


@pytest.mark.parametrize("error", [None, ZeroDivisionError])
def test_an_early_end_leaves_the_model_as_it_was(error):
    model, inputs = build("llama")
    with torch.inference_mode():
        before = model(**inputs).last_hidden_state
    with closing(layers(model, inputs)) as each:
        assert next(each).index == 0
        assert _threads() == 1
        if error is not None:
            with pytest.raises(error):
                each.throw(error())
    assert _idle(model)
    with torch.inference_mode():
        assert torch.equal(model(**inputs).last_hidden_state, before)


def test_an_error_inside_the_model_reaches_the_consumer():
    model, inputs = build("llama")
    model.layers[1].self_attn.k_proj.weight.data[3, 5] = float("nan")
    each = layers(model, inputs)
    assert next(each).index == 0
    with pytest.raises(InputError, match="NaN or infinity in layer 1"):
        next(each)
    assert _idle(model)
