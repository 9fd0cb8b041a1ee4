"""A head ends where it would have ended alone, and learns."""

import numpy as np
import pytest
from tests.tolerances import SINGLE

from headwright.errors import InputError
from headwright.study.toys.task import LIMIT, Toy
from headwright.study.toys.training import Member, trained

pytest.importorskip("torch", reason="needs the extra 'models'")


@pytest.mark.parametrize("queries", ["free", "additive"])
def test_company_changes_nothing(queries):
    toy = Toy(n=6, d=4, heads=2, queries=queries)
    members = [Member(0, 20), Member(1, 8, random_length=True, rate=0.1), Member(2, 20)]
    together = trained(toy, members)
    for index, member in enumerate(members):
        alone = trained(toy, [member])
        assert np.abs(alone.keys[0] - together.keys[index]).max() < SINGLE
        assert np.abs(alone.queries[0] - together.queries[index]).max() < SINGLE


def test_the_same_members_end_in_the_same_bits():
    toy = Toy(n=6, d=3)
    first = trained(toy, [Member(0, 15, random_length=True)])
    second = trained(toy, [Member(0, 15, random_length=True)])
    assert np.array_equal(first.queries, second.queries)


@pytest.mark.parametrize("loss", ["cross-entropy", "squared"])
def test_the_loss_falls(loss):
    done = trained(Toy(n=6, d=4, loss=loss), [Member(0, 2), Member(0, 200)])
    assert (done.last_loss < done.first_loss).all()
    assert done.last_loss[1] < 0.5 * done.first_loss[1]
    assert np.linalg.norm(done.queries, axis=-1).max() <= LIMIT * (1 + SINGLE)
    assert np.abs(np.linalg.norm(done.keys, axis=-1) - 1).max() < SINGLE


@pytest.mark.parametrize(
    "wrong", [{"n": 2}, {"d": 1}, {"heads": 0}, {"queries": "any"}, {"loss": "none"}]
)
def test_a_toy_that_means_nothing_is_refused(wrong):
    with pytest.raises(InputError):
        Toy(**{"n": 6, "d": 4, **wrong})


def test_no_members_no_steps_no_device():
    toy = Toy(n=4, d=3)
    for members, device in (([], "cpu"), ([Member(0, 0)], "cpu"), ([Member(0, 1)], "nowhere")):
        with pytest.raises(InputError):
            trained(toy, members, device=device)
