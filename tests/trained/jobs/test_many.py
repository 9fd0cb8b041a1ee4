"""Jobs of one text each give what one audit of all texts gives, number for number."""

import json
from concurrent.futures import Executor, Future

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

import torch
from tests.trained.small_model import saved_model

from headwright.crew.store import opened
from headwright.crew.values import text_of
from headwright.crew.worker import respond
from headwright.errors import HeadwrightError
from headwright.trained import audit
from headwright.trained.auditing import AuditOptions
from headwright.trained.jobs import one_text
from headwright.trained.jobs.as_values import read, written
from headwright.trained.jobs.many import audits

TEXTS = ["One two three, one two three. " * 4, "three two one. " * 3, "one, two."]
OPTIONS = {"rows": 2, "key_bits": (4,), "induction": True, "weights": True}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return [saved_model(tmp_path_factory.mktemp("model"), seed) for seed in (0, 1)]


class Here(Executor):
    """What a process of the crew does, in this one: starting another costs more than the tests."""

    def submit(self, fn, /, *args, **kwargs):
        task = json.loads(args[0])
        future = Future()
        future.set_result(json.dumps(respond({**task["job"], "points": task["points"]})))
        return future


def test_many_jobs_give_the_numbers_of_one_audit(models, tmp_path):
    with opened(tmp_path / "store", {"command": "audit"}) as store:
        found = list(audits(models, TEXTS, executor=Here(), store=store, **OPTIONS))
        again = list(audits(models, TEXTS, executor=_Nobody(), store=store, **OPTIONS))

    for model, one, stored in zip(models, found, again, strict=True):
        serial = audit(model, TEXTS, **OPTIONS)
        assert json.dumps(one.plain()) == json.dumps(serial.plain())
        assert one.to_html() == serial.to_html() == stored.to_html()


class _Nobody(Executor):
    """Where everything is stored, nothing may be handed over."""

    def submit(self, fn, /, *args, **kwargs):
        raise AssertionError("a stored text was read again")


def test_a_worker_with_other_weights_refuses(models):
    point = {"text": TEXTS[2], "number": 0, "options": {"key_bits": []}, "model": models[0]}
    with pytest.raises(HeadwrightError, match="other files"):
        one_text.one_text(**point, weights="0")


def test_a_text_that_the_model_cannot_read_is_said_once(models):
    with pytest.raises(HeadwrightError, match="at most 64 tokens") as told:
        list(audits(models, [TEXTS[0], "one " * 65], executor=Here()))
    assert str(told.value).count("try:") == 1


def test_what_is_drawn_from_a_text_depends_on_no_other():
    drawn = [rng.random() for rng in AuditOptions(seed=7).generators(0, 3)]

    assert AuditOptions(seed=7).generators(2, 1)[0].random() == drawn[2]
    assert np.random.default_rng(7).random() == drawn[0]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize(
    "thing",
    [
        [1, (2.5, None, "a"), {"b": [True], "a": {}}],
        np.asarray([[np.nan, -0.0], [np.inf, 5e-324]]),
        torch.arange(6, dtype=torch.float32).reshape(2, 3),
        np.zeros((0, 3), dtype=bool),
    ],
)
def test_plain_values_come_back_as_they_were(thing):
    back = read(json.loads(text_of(written(thing))))
    if isinstance(thing, list):
        assert repr(back) == repr(thing)
        return
    expected = np.asarray(thing)
    assert back.tobytes() == expected.tobytes()
    assert (back.dtype, back.shape) == (expected.dtype, expected.shape)


@pytest.mark.parametrize("name", ["Path", "os", "Watched"])
def test_no_other_class_is_made(name):
    with pytest.raises(KeyError):
        read(["class", name, ["dict"]])
